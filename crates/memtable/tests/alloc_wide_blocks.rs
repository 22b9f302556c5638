//! Fresh lists of 64 columns and 256 rows in blocks of 256: two requests, one when the pool is warm.

use tsloom_alloc_probe::{Probe, measure};
use tsloom_memtable::{AlignedList, BlockRows, ListShape, SlabPool};
use tsloom_model::{ColumnView, DataType, ValuesRef};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[test]
fn a_fresh_list_asks_for_a_block_and_a_slab() {
    let times: Vec<i64> = (0..256).collect();
    let values: Vec<i32> = (0..256).collect();
    let columns: Vec<(u32, ColumnView<'_>)> =
        (0..64).map(|id| (id, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), None))).collect();
    for (pool_bytes, requests, bytes) in [(0, 2, 73_728 + 80), (1 << 20, 1, 80)] {
        // By width 64 columns have blocks of 256 rows; a list that gets them at once needs no smaller ones first.
        let mut shape = ListShape::new(&SlabPool::new(pool_bytes), BlockRows::ByWidth, 64);
        let mut append = || {
            let mut list = AlignedList::new(&shape);
            list.append(&mut shape, &times, 0..256, columns.as_slice(), None);
            list
        };
        drop(append()); // layout, scratch and, if it is kept, the slab
        let (list, counts) = measure(append);
        assert_eq!((counts.requests(), counts.bytes_requested), (requests, bytes));
        assert!(counts.bytes_requested <= 74_500);
        drop(list);
    }
}
