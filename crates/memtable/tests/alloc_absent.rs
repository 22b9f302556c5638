//! What touches nothing asks for nothing: new columns, deletes of what is not there, snapshots; and a snapshot costs the writer the
//! tail, once.

use std::sync::Arc;

use tsloom_alloc_probe::{Probe, measure};
use tsloom_memtable::{AlignedList, BlockRows, ColumnState, ListShape, SlabPool};
use tsloom_model::{ColumnView, DataType, TimeRange, ValuesRef};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[test]
fn nothing_costs_nothing() {
    let times: Vec<i64> = (0..65_536).collect();
    let values: Vec<i32> = (0..65_536).collect();
    let column = |id: u32| [(id, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), None))];
    let mut shape = ListShape::new(&SlabPool::new(1 << 30), BlockRows::Fixed(64), 64);
    let mut list = AlignedList::new(&shape);
    list.append(&mut shape, &times, 0..65_536, column(0).as_slice(), None);

    // A column that was never written is implicit in every block, and stays so for free.
    let view = list.view();
    let counts = view.column_counts(1);
    assert_eq!((counts.implicit_blocks, counts.values), (1_024, 0));
    assert_eq!(view.column_state(1, 7), ColumnState::Implicit);
    drop(view);

    // A delete of its cells, of times nobody wrote, and of an empty range.
    let (recorded, counts) = measure(|| {
        [
            list.delete(TimeRange::ALL, Some(1)),
            list.delete(TimeRange { start: 65_536, end: i64::MAX }, Some(0)),
            list.delete(TimeRange { start: -9, end: -1 }, None),
            list.delete(TimeRange::EMPTY, None),
        ]
    });
    assert_eq!((recorded, counts.requests()), ([false; 4], 0));

    // The first value of the new column: one block of its own, no block before it is touched.
    let (_, counts) = measure(|| list.append(&mut shape, &times, 0..1, column(1).as_slice(), None));
    assert!(counts.bytes_requested < 2_500, "{counts}"); // layout, block, slab, node
    assert_eq!(list.view().column_counts(1).implicit_blocks, 1_024);

    // Snapshots ask for nothing; the write after one copies the tail, the next does not.
    let (views, counts) = measure(|| [list.view(), list.view()]);
    assert_eq!(counts.requests(), 0);
    let mut append = || measure(|| list.append(&mut shape, &times, 1..2, column(1).as_slice(), None)).1;
    let copy = append();
    assert_eq!((copy.requests(), copy.bytes_requested), (2, 800 + 80));
    assert_eq!(append().requests(), 0);
    assert_eq!(views[0].row_count(), 65_537);
    drop(views);
    assert_eq!(append().requests(), 0);

    // A query that is not asked of many columns costs its own buffers only.
    let view = Arc::new(list.view());
    let mut cursor = view.query(&[Some((0, DataType::Int32))]).time(TimeRange { start: 100, end: 60_000 }).cursor();
    cursor.next_rows(64);
    let (rows, counts) = measure(|| std::iter::from_fn(|| cursor.next_rows(64).map(|rows| rows.row_count())).sum::<usize>());
    assert_eq!((rows, counts.requests()), (59_901 - 64, 0));
}
