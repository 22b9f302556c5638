//! Reading a list: page after page in time order, and finding that order.

use std::hint::black_box;
use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_memtable::{AlignedList, BlockRows, DeviceCursor, ListShape};
use tsloom_model::{ColumnView, DataType, ValuesRef};

use super::Slabs;
use super::lists::{Columns, Nulls, in_order, rows_that_fit};
use crate::data::time;
use crate::registry::{Case, Params, Result};

/// Rows of a page.
const PAGE_ROWS: usize = 1_024;

fn cursor(list: &AlignedList, columns: usize) -> DeviceCursor {
    let ids: Vec<_> = (0..columns as u32).map(|id| Some((id, DataType::Int32))).collect();
    Arc::new(list.view()).query(&ids).cursor()
}

/// What an encoder does with a column of a page: it reads every value once. Where rows are null it wants the others side by side.
fn consume(column: ColumnView<'_>, present: &mut Vec<i32>) -> i32 {
    let ValuesRef::Int32(values) = column.values() else { return 0 };
    let all = |values: &[i32]| values.iter().fold(0, |all, value| all ^ value);
    let Some(nulls) = column.nulls() else { return all(values) };
    present.clear();
    gather(values, nulls, present);
    all(present)
}

/// Appends the values of the rows that are not null.
fn gather(values: &[i32], nulls: NullWords<'_>, present: &mut Vec<i32>) {
    for (index, values) in values.chunks(64).enumerate() {
        let nulls = nulls.word(index);
        if nulls == 0 {
            present.extend_from_slice(values);
            continue;
        }
        let start = present.len();
        present.resize(start + values.len(), 0);
        let mut kept = start;
        for (row, value) in values.iter().enumerate() {
            present[kept] = *value;
            kept += usize::from(nulls >> row & 1 == 0);
        }
        present.truncate(kept);
    }
}

/// A page of all columns, handed to what stands for their encoders. After the last page comes the first.
pub(super) fn feed(params: &Params, nulls: Nulls) -> Result<Case> {
    let columns = params.count("columns")?;
    let (list, shape) = in_order(columns, params.count("rows")?, nulls);
    let mut pages = cursor(&list, columns);
    let mut present = Vec::with_capacity(PAGE_ROWS);
    Ok(Case::new(4 * columns * PAGE_ROWS, move || {
        let _ = &shape;
        let mut page = pages.next_rows(PAGE_ROWS);
        if page.is_none() {
            pages = cursor(&list, columns);
            page = pages.next_rows(PAGE_ROWS);
        }
        let all = page.map_or(0, |page| page.columns().flatten().fold(0, |all, column| all ^ consume(column, &mut present)));
        black_box(all);
        Ok(columns as u64)
    }))
}

/// The same from arrays as long as the list.
pub(super) fn feed_flat(params: &Params, nulls: Nulls) -> Result<Case> {
    let columns = params.count("columns")?;
    let rows = rows_that_fit(columns, params.count("rows")?);
    let flat = Columns::new(columns, 0, rows, nulls);
    let mut present = Vec::with_capacity(PAGE_ROWS);
    let mut start = 0;
    Ok(Case::new(4 * columns * PAGE_ROWS, move || {
        let count = PAGE_ROWS.min(rows - start);
        let views = (0..columns).map(|column| flat.view_of(column).slice(start, count));
        black_box(views.fold(0, |all, view| all ^ consume(view, &mut present)));
        start = if start + count == rows { 0 } else { start + count };
        Ok(columns as u64)
    }))
}

/// How the times of rows come.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// One row in twenty comes late by less than a thousand rows.
    Late,
    /// Any row at any time.
    Random,
}

impl Order {
    fn times(self, rows: usize) -> Vec<i64> {
        let mut state = 7_u64;
        let mut noise = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let one = |row: usize| match self {
            Self::Late if noise(100) < 5 => time(row) - 1_000 * (1 + noise(1_000) as i64) - 1,
            Self::Late => time(row),
            Self::Random => time(0) + noise(1 << 30) as i64,
        };
        (0..rows).map(one).collect()
    }
}

/// Rows are put in time order, all of them anew: a view of a list that nobody has read before, and a query of it.
pub(super) fn sort(params: &Params, order: Order) -> Result<Case> {
    let rows = params.count("rows")?;
    let times = order.times(rows);
    let mut shape = ListShape::new(&Slabs::OfWarmPool.pool(), BlockRows::ByWidth, 1);
    let mut list = AlignedList::new(&shape);
    let values: Vec<i32> = (0..rows as i32).collect();
    let column = [(0, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), None))];
    list.append(&mut shape, &times, 0..rows, column.as_slice(), None);
    Ok(Case::new(12 * rows, move || {
        let _ = &shape;
        Ok(cursor(&list, 1).row_count() as u64)
    }))
}

/// The stable sort of the standard library.
pub(super) fn sort_by_std(params: &Params, order: Order) -> Result<Case> {
    let times = order.times(params.count("rows")?);
    let mut pairs: Vec<(i64, u32)> = Vec::with_capacity(times.len());
    Ok(Case::new(12 * times.len(), move || {
        pairs.clear();
        pairs.extend(black_box(&times).iter().copied().zip(0..));
        pairs.sort_by_key(|pair| pair.0);
        Ok(black_box(&pairs).len() as u64)
    }))
}
