//! The memtable: one device, INT32 columns, the same batch again and again.
//!
//! As upstream measures it (`AlignedSparseWritePerformanceTest`): the batch repeats its times, so the list is out of order,
//! and nothing is sorted. A list is given up after so many batches that memory stays bounded.
//!
//! Giving it up and beginning the next is no part of an operation and is left out of the times.
//!
//! Slabs come from the allocator; the scenarios that end in `/pool` take them from a pool that holds enough already. Both find
//! memory that was used before, as in a process that has run for a while: see [`Pin`]. Beside them run the same column copies
//! without any structure, to the same places in slabs of the same age that nobody allocates or fills with zeros: those of blocks of
//! `bare-block-rows` rows. (Set it to 64, and each batch has a slab of its own, its columns without a gap.)

mod bare;
mod batches;
mod flush;
mod lists;
mod reading;

use std::sync::Arc;

use tsloom_memtable::{Memtable, MemtableOptions, SlabPool};
use tsloom_model::{ColumnSchema, DataType, DeviceId, TimeRange};
use tsloom_tablet::{Tablet, TabletHead};

use crate::data::time;
use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream};
use batches::{all_null, appended, dense, null_prefix, sparse};
use lists::Nulls;
use reading::Order;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("memtable/dense/64x64", "batch", |params| appended(params, dense, Slabs::OfAllocator))
        .params(NARROW)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, dense))
        .upstream(java((18_783, 5_200), (18_783, 5_100))),
    Scenario::new("memtable/dense/64x64/pool", "batch", |params| appended(params, dense, Slabs::OfWarmPool))
        .params(NARROW)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, dense)),
    Scenario::new("memtable/sparse/64x64", "batch", |params| appended(params, sparse, Slabs::OfAllocator))
        .params(NARROW)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, sparse))
        .upstream(java((5_493, 2_400), (1_647, 1_600))),
    Scenario::new("memtable/sparse/64x64/pool", "batch", |params| appended(params, sparse, Slabs::OfWarmPool))
        .params(NARROW)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, sparse)),
    Scenario::new("memtable/all_null/64x64", "batch", |params| appended(params, all_null, Slabs::OfAllocator))
        .params(NARROW)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, all_null))
        .upstream(java((5_282, 2_100), (1_375, 1_000))),
    Scenario::new("memtable/all_null/64x64/pool", "batch", |params| appended(params, all_null, Slabs::OfWarmPool))
        .params(NARROW)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, all_null)),
    Scenario::new("memtable/null_prefix/64x64", "batch", |params| appended(params, null_prefix, Slabs::OfAllocator))
        .params(NARROW)
        .op_count(1_024)
        .upstream(java((5_554, 3_000), (1_708, 1_400))),
    Scenario::new("memtable/null_prefix/64x64/pool", "batch", |params| appended(params, null_prefix, Slabs::OfWarmPool))
        .params(NARROW)
        .op_count(1_024),
    Scenario::new("memtable/sparse/3000x64", "batch", |params| appended(params, sparse, Slabs::OfAllocator))
        .params(WIDE)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, sparse))
        .upstream(java((229_172, 108_000), (42_814, 43_000))),
    Scenario::new("memtable/sparse/3000x64/pool", "batch", |params| appended(params, sparse, Slabs::OfWarmPool))
        .params(WIDE)
        .op_count(1_024)
        .beside(BARE, |params| bare::appended(params, sparse)),
    Scenario::new("memtable/dense/64x256", "batch into a fresh list", |params| {
        lists::fresh(params, Nulls::None, Slabs::OfAllocator)
    })
    .params(LONG)
    .beside(BARE, bare::fresh)
    .upstream(java((80_952, 19_400), (80_952, 22_000))),
    Scenario::new("memtable/dense/64x256/pool", "batch into a fresh list", |params| {
        lists::fresh(params, Nulls::None, Slabs::OfWarmPool)
    })
    .params(LONG)
    .beside(BARE, bare::fresh),
    Scenario::new("memtable/null_heavy/64x256", "batch into a fresh list", |params| {
        lists::fresh(params, Nulls::Half, Slabs::OfAllocator)
    })
    .params(LONG)
    .beside("dense", |params| lists::fresh(params, Nulls::None, Slabs::OfAllocator))
    .upstream(java((102_240, 28_000), (102_240, 38_000))),
    Scenario::new("memtable/null_heavy/64x256/pool", "batch into a fresh list", |params| {
        lists::fresh(params, Nulls::Half, Slabs::OfWarmPool)
    })
    .params(LONG)
    .beside("dense", |params| lists::fresh(params, Nulls::None, Slabs::OfWarmPool)),
    Scenario::new("memtable/rows/64", "row", lists::row_by_row).params(ROWS).op_count(4_096).beside(BARE, bare::row_by_row),
    Scenario::new("memtable/feed/1Mx10", "page of all columns", |params| reading::feed(params, Nulls::None))
        .params(READ)
        .op_count(1_954)
        .beside("flat arrays", |params| reading::feed_flat(params, Nulls::None)),
    Scenario::new("memtable/feed_nulls/1Mx10", "page of all columns", |params| reading::feed(params, Nulls::Eighth))
        .params(READ)
        .op_count(1_954)
        .beside("flat arrays", |params| reading::feed_flat(params, Nulls::Eighth)),
    Scenario::new("memtable/sort/late/1M", "list", |params| reading::sort(params, Order::Late))
        .params(SORT)
        .op_count(2)
        .beside("sort of the standard library", |params| reading::sort_by_std(params, Order::Late)),
    Scenario::new("memtable/sort/random/1M", "list", |params| reading::sort(params, Order::Random))
        .params(SORT)
        .op_count(2)
        .beside("sort of the standard library", |params| reading::sort_by_std(params, Order::Random)),
    Scenario::new("memtable/freeze_and_encode/1Mx10", "memtable", flush::freeze_and_encode)
        .params(SORT)
        .op_count(1)
        .beside("the encoders alone", flush::encode),
    Scenario::new("memtable/extend/65536", "column", extend)
        .params(&[("historical-rows", 65_536)])
        .op_count(1_024)
        .upstream(java((57_452, 35_000), (8_286, 10_000))),
    Scenario::new("memtable/delete_implicit", "delete", delete_implicit).params(&[("columns", 64), ("historical-rows", 65_536)]),
    Scenario::new("memtable/accounting/single_device", "tablet", accounting)
        .params(&[("columns", 64), ("rows", 256)])
        .upstream(java((264, 76), (32, 46))),
    Scenario::new("memtable/snapshot/1Mx10", "snapshot", lists::snapshot).params(HISTORY),
    Scenario::new("memtable/snapshot/row_between/1Mx10", "row and snapshot", row_and_snapshot)
        .params(HISTORY)
        .op_count(4_096)
        .beside("list alone", lists::row_and_snapshot),
];

const NARROW: &[(&str, u64)] =
    &[("columns", 64), ("written-columns", 1), ("rows", 64), ("batches", 8_192), ("bare-block-rows", 256)];
const WIDE: &[(&str, u64)] =
    &[("columns", 3_000), ("written-columns", 1), ("rows", 64), ("batches", 8_192), ("bare-block-rows", 64)];
const LONG: &[(&str, u64)] = &[("columns", 64), ("rows", 256)];
const ROWS: &[(&str, u64)] = &[("columns", 64), ("rows", 65_536)];
const READ: &[(&str, u64)] = &[("columns", 10), ("rows", 1_000_000)];
const SORT: &[(&str, u64)] = &[("rows", 1_000_000)];
const HISTORY: &[(&str, u64)] = &[("columns", 10), ("historical-rows", 1_000_000)];

const BARE: &str = "bare copies";

/// Bytes and nanoseconds, before and after.
const fn java(before: (u64, u64), after: (u64, u64)) -> Upstream {
    Upstream {
        source: "apache/iotdb#18358 (Java; times of a re-implementation)",
        before: Figures { allocs: None, bytes: Some(before.0), ns: Some(before.1) },
        after: Figures { allocs: None, bytes: Some(after.0), ns: Some(after.1) },
    }
}

/// Where slabs come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slabs {
    OfAllocator,
    OfWarmPool,
}

impl Slabs {
    /// A pool that is warm once something was written and dropped.
    fn pool(self) -> Arc<SlabPool> {
        SlabPool::new(if self == Self::OfWarmPool { 1 << 30 } else { 0 })
    }

    fn options(self) -> MemtableOptions {
        MemtableOptions::default().pool(self.pool())
    }
}

/// Memory above everything else that a case holds, made when that holds the most. An allocator gives memory at the end of its
/// heap back to the system, and the next operations would measure how fast the system hands out fresh pages.
struct Pin {
    _memory: Box<[u8]>,
}

impl Pin {
    fn new() -> Self {
        // Large enough not to find a gap below, small enough to lie on the heap.
        Self { _memory: vec![1; 100_000].into() }
    }
}

const DEVICE: &str = "root.sg.bench";

fn head(columns: usize) -> Arc<TabletHead> {
    let schema = (0..columns).map(|column| ColumnSchema::field(format!("s{column:04}"), DataType::Int32));
    Arc::new(TabletHead::for_device(Some(DEVICE.to_owned()), schema.collect()))
}

/// Rows `start..start + rows` with values in the first `written` columns.
fn tablet(head: &Arc<TabletHead>, written: usize, start: usize, rows: usize) -> Result<Tablet> {
    let mut tablet = Tablet::from_head(Arc::clone(head), rows);
    tablet.extend_times(&(start..start + rows).map(time).collect::<Vec<_>>());
    for column in 0..written {
        tablet.column_mut(column).extend_i32s(&values(column, start, rows))?;
    }
    Ok(tablet)
}

fn values(column: usize, start: usize, rows: usize) -> Vec<i32> {
    (start..start + rows).map(|row| (row + column) as i32).collect()
}

/// A memtable of rows of all columns but the last `absent`.
fn filled(columns: usize, absent: usize, rows: usize) -> Result<Memtable> {
    let mut memtable = Memtable::new(MemtableOptions::default());
    let head = head(columns);
    for start in (0..rows).step_by(10_000) {
        memtable.write(&tablet(&head, columns - absent, start, 10_000.min(rows - start))?)?;
    }
    Ok(memtable)
}

/// A column is added to a device that has rows, and taken away again: no row and no block is touched.
fn extend(params: &Params) -> Result<Case> {
    let mut memtable = filled(1, 0, params.count("historical-rows")?)?;
    let added = Tablet::for_device(DEVICE, vec![ColumnSchema::field("added", DataType::Int32)]);
    let device = DeviceId::from_path(DEVICE);
    Ok(Case::new(8, move || {
        let before = memtable.device_usage(&device);
        let column_count = memtable.write(&added)?.new_columns as u64;
        let is_deleted = memtable.delete_column(device.table(), "added");
        // 1 column, and no byte more in the blocks.
        Ok(if is_deleted && memtable.device_usage(&device) == before { column_count } else { 0 })
    }))
}

/// Deletes cells of a column that has no value anywhere: there is nothing to record.
fn delete_implicit(params: &Params) -> Result<Case> {
    let columns = params.count("columns")?;
    let mut memtable = filled(columns, 1, params.count("historical-rows")?)?;
    let absent = format!("s{:04}", columns - 1);
    Ok(Case::new(8, move || Ok(memtable.delete_cells(DEVICE, &absent, |_| true, TimeRange::ALL) as u64)))
}

/// What a store does about a tablet of one device beside writing it: which device, and the bytes of that device and of all
/// before and after.
fn accounting(params: &Params) -> Result<Case> {
    let columns = params.count("columns")?;
    let tablet = tablet(&head(columns), columns, 0, params.count("rows")?)?;
    let mut memtable = Memtable::new(MemtableOptions::default());
    memtable.write(&tablet)?;
    Ok(Case::new(8, move || {
        let tablet = std::hint::black_box(&tablet);
        let before = memtable.byte_count();
        let runs = tablet.device_runs().count();
        let after = std::hint::black_box(&memtable).byte_count();
        Ok((after - before + runs) as u64 + u64::from(memtable.is_flush_due()))
    }))
}

/// A row is written and a snapshot is taken, over a million rows that are there already: the tail is copied, nothing else.
fn row_and_snapshot(params: &Params) -> Result<Case> {
    let columns = params.count("columns")?;
    let mut memtable = filled(columns, 0, lists::rows_that_fit(columns, params.count("historical-rows")?))?;
    let row = tablet(&head(columns), columns, 0, 1)?;
    Ok(Case::new(4 * columns + 8, move || {
        memtable.write(&row)?;
        Ok(memtable.snapshot().device_count() as u64)
    }))
}
