//! Requests and bytes of a batch of 64 INT32 rows in steady state, one word of rows a block: what is written costs, nothing else.

use tsloom_alloc_probe::{Counts, Probe, measure};
use tsloom_bitmap::NullWords;
use tsloom_memtable::{AlignedList, BlockRows, ListShape, SlabPool};
use tsloom_model::{ColumnView, DataType, ValuesRef};

#[global_allocator]
static PROBE: Probe = Probe::new();

/// Batches of one node of blocks: its list is asked for once.
const BATCHES: u64 = 256;
/// A node and its list of blocks.
const NODE_BYTES: u64 = 56 + 256 * 8;
/// A block beside its slab.
const BLOCK_BYTES: u64 = 80;

/// What one node full of batches asks for, in a list that has filled one already.
fn steady(pool_bytes: usize, schema_columns: usize, append: impl Fn(&mut AlignedList, &mut ListShape)) -> Counts {
    let pool = SlabPool::new(pool_bytes);
    let mut shape = ListShape::new(&pool, BlockRows::Fixed(64), schema_columns);
    let mut list = AlignedList::new(&shape);
    if pool_bytes > 0 {
        (0..3 * BATCHES).for_each(|_| append(&mut list, &mut shape)); // fill the pool
        list = AlignedList::new(&shape);
    }
    (0..=BATCHES + 1).for_each(|_| append(&mut list, &mut shape));
    measure(|| (0..BATCHES).for_each(|_| append(&mut list, &mut shape))).1
}

fn check(name: &str, counts: Counts, requests_a_batch: u64, bytes_a_batch: u64) {
    assert_eq!(counts.requests(), requests_a_batch * BATCHES + 2, "{name}: {counts}");
    assert_eq!(counts.bytes_requested, bytes_a_batch * BATCHES + NODE_BYTES, "{name}: {counts}");
}

#[test]
fn a_batch_costs_what_it_writes() {
    let times: Vec<i64> = (0..64).collect();
    let values: Vec<i32> = (0..64).collect();
    let column = |id| (id, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), None));
    let columns: Vec<(u32, ColumnView<'_>)> = (0..64).map(column).collect();
    let write =
        |columns: &[(u32, ColumnView<'_>)], rows: std::ops::Range<usize>, list: &mut AlignedList, shape: &mut ListShape| {
            list.append(shape, &times, rows, columns, None);
        };

    // Slabs: times 512, null words 8 a column, values 256 a column.
    let dense = |pool| steady(pool, 64, |list, shape| write(&columns, 0..64, list, shape));
    check("dense", dense(0), 2, 17_408 + BLOCK_BYTES);
    check("dense, warm pool", dense(1 << 30), 1, BLOCK_BYTES);
    assert!(dense(0).bytes_requested <= 17_500 * BATCHES);

    for width in [64, 3_000] {
        // 776 bytes are of the class 800.
        let sparse = steady(0, width, |list, shape| write(&columns[..1], 0..64, list, shape));
        check("sparse", sparse, 2, 800 + BLOCK_BYTES);
        assert!(sparse.bytes_requested <= 900 * BATCHES);
        let last = [column(width as u32 - 1)];
        check("sparse, last column", steady(0, width, |list, shape| write(&last, 0..64, list, shape)), 2, 800 + BLOCK_BYTES);
    }

    let all_null = |pool| steady(pool, 64, |list, shape| write(&[], 0..64, list, shape));
    check("all-null", all_null(0), 2, 512 + BLOCK_BYTES);
    check("all-null, warm pool", all_null(1 << 30), 1, BLOCK_BYTES);
    assert!(all_null(0).bytes_requested <= 620 * BATCHES);

    // The same without a value: views that are there, and every bit set.
    let marks = [u64::MAX];
    let nulls = NullWords::new(&marks, 0, 64);
    let marked = [(0, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), Some(nulls)))];
    check("marked all-null", steady(0, 64, |list, shape| write(&marked, 0..64, list, shape)), 2, 512 + BLOCK_BYTES);

    // 63 rows of nulls, then a value: the column gets a part of its own (nulls 8 bytes, values 256: class 272), the block its rest.
    let null_prefix = steady(0, 64, |list, shape| {
        write(&[], 0..63, list, shape);
        write(&columns[..1], 63..64, list, shape);
    });
    let (rest, list_of_parts) = (72, 24);
    check("null prefix", null_prefix, 5, 512 + BLOCK_BYTES + 272 + rest + list_of_parts);
    assert!(null_prefix.bytes_requested <= 1_100 * BATCHES);
}
