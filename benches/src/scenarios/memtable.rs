//! The memtable: one device, INT32 columns, the same batch again and again.
//!
//! As upstream measures it (`AlignedSparseWritePerformanceTest`): the batch repeats its times, so the list is out of order,
//! and nothing is sorted. Slabs come from the allocator. A list is given up after so many batches that memory stays bounded.

use tsloom_memtable::{Memtable, MemtableOptions};
use tsloom_model::{ColumnSchema, DataType, TimeRange, Value};
use tsloom_tablet::Tablet;

use crate::data::time;
use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("memtable/dense/64x64", "batch", |params| appended(params, dense))
        .params(NARROW)
        .op_count(1_024)
        .upstream(java((18_783, 5_200), (18_783, 5_100))),
    Scenario::new("memtable/sparse/64x64", "batch", |params| appended(params, sparse))
        .params(NARROW)
        .op_count(1_024)
        .upstream(java((5_493, 2_400), (1_647, 1_600))),
    Scenario::new("memtable/all_null/64x64", "batch", |params| appended(params, all_null))
        .params(NARROW)
        .op_count(1_024)
        .upstream(java((5_282, 2_100), (1_375, 1_000))),
    Scenario::new("memtable/null_prefix/64x64", "batch", |params| appended(params, null_prefix))
        .params(NARROW)
        .op_count(1_024)
        .upstream(java((5_554, 3_000), (1_708, 1_400))),
    Scenario::new("memtable/sparse/3000x64", "batch", |params| appended(params, sparse))
        .params(&[("columns", 3_000), ("written-columns", 1), ("rows", 64), ("batches", 8_192)])
        .op_count(1_024)
        .upstream(java((229_172, 108_000), (42_814, 43_000))),
    Scenario::new("memtable/dense/64x256", "batch into a fresh list", |params| fresh(params, dense))
        .params(LONG)
        .upstream(java((80_952, 19_400), (80_952, 22_000))),
    Scenario::new("memtable/null_heavy/64x256", "batch into a fresh list", |params| fresh(params, null_heavy))
        .params(LONG)
        .upstream(java((102_240, 28_000), (102_240, 38_000))),
    Scenario::new("memtable/delete_implicit", "delete", delete_implicit).params(&[("columns", 64), ("historical-rows", 65_536)]),
    Scenario::new("memtable/accounting/single_device", "tablet", single_device)
        .params(&[("columns", 64), ("rows", 256)])
        .upstream(java((264, 76), (32, 46))),
    Scenario::new("memtable/snapshot/1Mx10", "row and snapshot", snapshot)
        .params(&[("columns", 10), ("historical-rows", 1_000_000)])
        .op_count(4_096),
];

const NARROW: &[(&str, u64)] = &[("columns", 64), ("written-columns", 1), ("rows", 64), ("batches", 8_192)];
const LONG: &[(&str, u64)] = &[("columns", 64), ("rows", 256)];

/// Bytes and nanoseconds, before and after.
const fn java(before: (u64, u64), after: (u64, u64)) -> Upstream {
    Upstream {
        source: "apache/iotdb#18358 (Java; times of a re-implementation)",
        before: Figures { allocs: None, bytes: Some(before.0), ns: Some(before.1) },
        after: Figures { allocs: None, bytes: Some(after.0), ns: Some(after.1) },
    }
}

/// The tablets of one batch.
type Batch = fn(&Params) -> Result<Vec<Tablet>>;

const DEVICE: &str = "root.sg.bench";

fn empty(columns: usize) -> Tablet {
    let schema = (0..columns).map(|column| ColumnSchema::field(format!("s{column:04}"), DataType::Int32));
    Tablet::for_device(DEVICE, schema.collect())
}

/// Rows `start..start + rows` with values in the first `written` columns.
fn tablet(columns: usize, written: usize, start: usize, rows: usize) -> Result<Tablet> {
    let mut tablet = empty(columns);
    tablet.extend_times(&(start..start + rows).map(time).collect::<Vec<_>>());
    for column in 0..written {
        let values: Vec<i32> = (start..start + rows).map(|row| (row + column) as i32).collect();
        tablet.column_mut(column).extend_i32s(&values)?;
    }
    Ok(tablet)
}

fn dense(params: &Params) -> Result<Vec<Tablet>> {
    let columns = params.count("columns")?;
    Ok(vec![tablet(columns, columns, 0, params.count("rows")?)?])
}

fn sparse(params: &Params) -> Result<Vec<Tablet>> {
    Ok(vec![tablet(params.count("columns")?, params.count("written-columns")?, 0, params.count("rows")?)?])
}

fn all_null(params: &Params) -> Result<Vec<Tablet>> {
    Ok(vec![tablet(params.count("columns")?, 0, 0, params.count("rows")?)?])
}

/// All rows but the last without any value, then the last with the written columns.
fn null_prefix(params: &Params) -> Result<Vec<Tablet>> {
    let (columns, written, rows) = (params.count("columns")?, params.count("written-columns")?, params.count("rows")?);
    Ok(vec![tablet(columns, 0, 0, rows - 1)?, tablet(columns, written, rows - 1, 1)?])
}

/// Every other cell is null, in columns of even number the even rows.
fn null_heavy(params: &Params) -> Result<Vec<Tablet>> {
    let columns = params.count("columns")?;
    let mut tablet = empty(columns);
    let mut cells = vec![Value::Null; columns];
    for row in 0..params.count("rows")? {
        for (column, cell) in cells.iter_mut().enumerate() {
            *cell = if (row + column) % 2 == 0 { Value::Null } else { Value::Int32(row as i32) };
        }
        tablet.push_row(time(row), &cells)?;
    }
    Ok(vec![tablet])
}

fn payload_size(batch: &[Tablet]) -> usize {
    batch.iter().map(|tablet| 8 * tablet.row_count() + tablet.value_byte_count()).sum()
}

/// Batches appended to one list.
fn appended(params: &Params, batch: Batch) -> Result<Case> {
    let (batch, batch_max) = (batch(params)?, params.count("batches")?);
    let mut memtable = Memtable::new(MemtableOptions::default());
    let mut batch_count = 0;
    Ok(Case::new(payload_size(&batch), move || {
        if batch_count == batch_max {
            memtable = Memtable::new(MemtableOptions::default());
            batch_count = 0;
        }
        batch_count += 1;
        batch.iter().try_fold(0, |rows, tablet| Ok(rows + memtable.write(tablet)?.rows as u64))
    }))
}

/// Each batch into a memtable of its own.
fn fresh(params: &Params, batch: Batch) -> Result<Case> {
    let batch = batch(params)?;
    Ok(Case::new(payload_size(&batch), move || {
        let mut memtable = Memtable::new(MemtableOptions::default());
        batch.iter().try_fold(0, |rows, tablet| Ok(rows + memtable.write(tablet)?.rows as u64))
    }))
}

/// Deletes cells of a column that has no value anywhere: there is nothing to record.
fn delete_implicit(params: &Params) -> Result<Case> {
    let columns = params.count("columns")?;
    let mut memtable = Memtable::new(MemtableOptions::default());
    memtable.write(&tablet(columns, columns - 1, 0, params.count("historical-rows")?)?)?;
    let absent = format!("s{:04}", columns - 1);
    Ok(Case::new(8, move || Ok(memtable.delete_cells(DEVICE, &absent, |_| true, TimeRange::ALL) as u64)))
}

/// Which devices a tablet of one device is for: asked once a write.
fn single_device(params: &Params) -> Result<Case> {
    let columns = params.count("columns")?;
    let tablet = tablet(columns, columns, 0, params.count("rows")?)?;
    Ok(Case::new(8, move || Ok(std::hint::black_box(&tablet).device_runs().count() as u64)))
}

/// A row is written and a snapshot is taken, over a million rows that are there already: the tail is copied, nothing else.
fn snapshot(params: &Params) -> Result<Case> {
    let (columns, rows) = (params.count("columns")?, params.count("historical-rows")?);
    let mut memtable = Memtable::new(MemtableOptions::default());
    for start in (0..rows).step_by(10_000) {
        memtable.write(&tablet(columns, columns, start, 10_000.min(rows - start))?)?;
    }
    let row = tablet(columns, columns, 0, 1)?;
    Ok(Case::new(4 * columns + 8, move || {
        memtable.write(&row)?;
        Ok(memtable.snapshot().device_count() as u64)
    }))
}
