//! The list of one device alone, below names, types and devices.

use std::hint::black_box;
use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_memtable::{AlignedList, BlockRows, ListShape, WriteColumns};
use tsloom_model::{ColumnView, DataType, Value, ValuesRef};

use super::{Pin, Slabs, values};
use crate::clock::aside;
use crate::data::time;
use crate::registry::{Case, Params, Result};

/// Which cells of a batch are null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    None,
    /// Every other cell, in columns of even number those of the even rows.
    Half,
    /// Every eighth cell.
    Eighth,
}

/// A batch with values in all columns.
pub(super) struct Columns {
    times: Vec<i64>,
    values: Vec<Vec<i32>>,
    nulls: Option<[Vec<u64>; 2]>,
}

impl Columns {
    pub(super) fn new(columns: usize, start: usize, rows: usize, nulls: Nulls) -> Self {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        const EIGHTH: u64 = 0x0101_0101_0101_0101;
        Self {
            times: (start..start + rows).map(time).collect(),
            values: (0..columns).map(|column| values(column, start, rows)).collect(),
            nulls: match nulls {
                Nulls::None => None,
                Nulls::Half => Some([EVEN, !EVEN]),
                Nulls::Eighth => Some([EIGHTH; 2]),
            }
            .map(|words| words.map(|word| vec![word; rows.div_ceil(64)])),
        }
    }

    fn payload_size(&self) -> usize {
        size_of_val(&*self.times) + self.values.iter().map(|values| size_of_val(&**values)).sum::<usize>()
    }

    /// A column.
    pub(super) fn view_of(&self, index: usize) -> ColumnView<'_> {
        ColumnView::new(DataType::Int32, ValuesRef::Int32(&self.values[index]), self.nulls(index))
    }

    pub(super) fn append(&self, list: &mut AlignedList, shape: &mut ListShape) {
        list.append(shape, &self.times, 0..self.times.len(), self, None);
    }
}

impl WriteColumns for Columns {
    fn count(&self) -> usize {
        self.values.len()
    }
    fn id(&self, index: usize) -> u32 {
        index as u32
    }
    fn values(&self, index: usize) -> Option<ValuesRef<'_>> {
        Some(ValuesRef::Int32(&self.values[index]))
    }
    fn nulls(&self, index: usize) -> Option<NullWords<'_>> {
        self.nulls.as_ref().map(|nulls| NullWords::new(&nulls[index % 2], 0, self.times.len()))
    }
    fn is_present(&self, _: usize) -> bool {
        true
    }
}

/// Each batch into a list of its own, which is dropped at once.
pub(super) fn fresh(params: &Params, nulls: Nulls, slabs: Slabs) -> Result<Case> {
    let (columns, rows) = (params.count("columns")?, params.count("rows")?);
    let batch = Columns::new(columns, 0, rows, nulls);
    let mut shape = ListShape::new(&slabs.pool(), BlockRows::ByWidth, columns);
    let mut list = AlignedList::new(&shape);
    batch.append(&mut list, &mut shape);
    let pin = Pin::new();
    drop(list);
    Ok(Case::new(batch.payload_size(), move || {
        let _ = &pin;
        let mut list = AlignedList::new(&shape);
        black_box(&batch).append(&mut list, &mut shape);
        Ok(list.row_count() as u64)
    }))
}

/// Rows of one value a column, one by one.
pub(super) fn row_by_row(params: &Params) -> Result<Case> {
    let (columns, rows) = (params.count("columns")?, params.count("rows")?);
    let ids: Vec<u32> = (0..columns as u32).collect();
    let cells: Vec<Value<'_>> = (0..columns as i32).map(Value::Int32).collect();
    let mut shape = ListShape::new(&Slabs::OfAllocator.pool(), BlockRows::ByWidth, columns);
    let mut list = AlignedList::new(&shape);
    for row in 0..rows {
        list.push_row(&mut shape, time(row), &ids, &cells);
    }
    let pin = Pin::new();
    Ok(Case::new(8 + 4 * columns, move || {
        let _ = &pin;
        if list.row_count() == rows {
            aside(|| list = AlignedList::new(&shape));
        }
        list.push_row(&mut shape, time(list.row_count()), &ids, black_box(&cells));
        Ok(1)
    }))
}

/// How many of `rows` rows a list has that others are read from: at most 256 MiB of cells. How long a list is makes no operation
/// another one.
pub(super) fn rows_that_fit(columns: usize, rows: usize) -> usize {
    const CELLS_MAX: usize = 64 << 20;
    rows.min(CELLS_MAX / columns.max(1)).max(1)
}

/// A list of `rows` rows in order, or of as many as fit.
pub(super) fn in_order(columns: usize, rows: usize, nulls: Nulls) -> (AlignedList, ListShape) {
    const BATCH_ROWS: usize = 10_000;
    let rows = rows_that_fit(columns, rows);
    let mut shape = ListShape::new(&Slabs::OfWarmPool.pool(), BlockRows::ByWidth, columns);
    let mut list = AlignedList::new(&shape);
    for start in (0..rows).step_by(BATCH_ROWS) {
        Columns::new(columns, start, BATCH_ROWS.min(rows - start), nulls).append(&mut list, &mut shape);
    }
    (list, shape)
}

/// A snapshot of a list, and its end.
pub(super) fn snapshot(params: &Params) -> Result<Case> {
    let (list, shape) = in_order(params.count("columns")?, params.count("historical-rows")?, Nulls::None);
    Ok(Case::new(8, move || {
        let _ = &shape;
        Ok(black_box(black_box(&list).view()).row_count() as u64)
    }))
}

/// A row after a snapshot, which is held until the next: the tail is copied before it is written.
pub(super) fn row_and_snapshot(params: &Params) -> Result<Case> {
    let columns = params.count("columns")?;
    let (mut list, mut shape) = in_order(columns, params.count("historical-rows")?, Nulls::None);
    let row = Columns::new(columns, 0, 1, Nulls::None);
    let mut held = Arc::new(list.view());
    Ok(Case::new(row.payload_size(), move || {
        row.append(&mut list, &mut shape);
        drop(std::mem::replace(&mut held, Arc::new(list.view())));
        Ok(u64::from(held.row_count() > 0))
    }))
}
