//! The same copies without any structure: what a memtable that does nothing else would take.

use std::hint::black_box;

use tsloom_tablet::Tablet;

use super::batches::{Batch, batch_max};
use super::{Pin, values};
use crate::data::time;
use crate::registry::{Case, Params, Result};

/// Times and columns as words, two INT32 in each.
fn words(columns: usize, rows: usize) -> Vec<Vec<u64>> {
    let times = (0..rows).map(|row| time(row) as u64).collect();
    let pairs =
        |values: Vec<i32>| values.chunks(2).map(|pair| pair.iter().fold(0, |word, half| word << 32 | *half as u64)).collect();
    std::iter::once(times).chain((0..columns).map(|column| pairs(values(column, 0, rows)))).collect()
}

/// One piece of memory, every column copied into it.
fn copied(columns: &[Vec<u64>]) -> Vec<u64> {
    let mut slab = Vec::with_capacity(columns.iter().map(Vec::len).sum());
    columns.iter().for_each(|column| slab.extend_from_slice(column));
    slab
}

/// Slabs as those of blocks of `bare-block-rows` rows, with a cache line after each column. As many as a list would have, each
/// made before and written again and again.
pub(super) fn appended(params: &Params, batch: Batch) -> Result<Case> {
    let (batch, block_rows) = (batch(params)?, params.count("bare-block-rows")?);
    let batch_max = batch_max(params, batch.iter().map(Tablet::value_byte_count).sum())?;
    let row_count = batch.iter().map(Tablet::row_count).sum::<usize>();
    let columns = words(batch.iter().map(|tablet| tablet.present_columns().count()).sum(), row_count);
    let parts = (block_rows / row_count).max(1);
    let places: Vec<usize> =
        columns.iter().scan(0, |place, column| Some(std::mem::replace(place, *place + parts * column.len() + 8))).collect();
    let slab_size = places.last().map_or(0, |last| last + parts * columns[0].len() + 8);
    let mut slabs = vec![vec![1_u64; slab_size]; batch_max.div_ceil(parts)];
    let mut batch_count = 0;
    Ok(Case::new(8 * columns.iter().map(Vec::len).sum::<usize>(), move || {
        let (slab, part) = (&mut slabs[batch_count / parts], batch_count % parts);
        for (column, place) in black_box(&columns).iter().zip(&places) {
            slab[place + part * column.len()..][..column.len()].copy_from_slice(column);
        }
        batch_count = (batch_count + 1) % batch_max;
        Ok(row_count as u64)
    }))
}

/// A batch into a slab of its own, which is given back at once.
pub(super) fn fresh(params: &Params) -> Result<Case> {
    let columns = words(params.count("columns")?, params.count("rows")?);
    let slab = copied(&columns);
    let pin = Pin::new();
    drop(slab);
    Ok(Case::new(8 * columns.iter().map(Vec::len).sum::<usize>(), move || {
        let _ = &pin;
        Ok(black_box(copied(black_box(&columns))).len() as u64)
    }))
}

/// One cell of each column, at the distance that columns of 256 rows have with a cache line between them.
pub(super) fn row_by_row(params: &Params) -> Result<Case> {
    const ROWS: usize = 256;
    const STRIDE: usize = ROWS + 16;
    let column_count = params.count("columns")?;
    let cells: Vec<i32> = (0..column_count as i32).collect();
    let slab_count = params.count("rows")?.div_ceil(ROWS);
    let mut slabs = vec![(vec![0_i64; ROWS], vec![0_i32; STRIDE * column_count]); slab_count];
    let mut row = 0;
    Ok(Case::new(8 + 4 * column_count, move || {
        let (times, columns) = &mut slabs[row / ROWS % slab_count];
        times[row % ROWS] = row as i64;
        for (column, cell) in columns.chunks_exact_mut(STRIDE).zip(black_box(&cells)) {
            column[row % ROWS] = *cell;
        }
        row += 1;
        Ok(1)
    }))
}
