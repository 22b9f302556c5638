//! The rows of a list in time order, for lists that are not: a permutation, made by readers and never by the writer.
//!
//! Order is by (time, row number), so equal times keep the order in which they came. Times are compared, never
//! subtracted, except where their distance is known to fit.
//!
//! Which way is taken, in the order of trial:
//!
//! ```text
//! at most 1/4 late       rows at or above the running maximum are a backbone; the late ones are sorted and merged in
//! time and row fit u64   keys of (time - minimum) << row bits | row: few long runs by the standard stable sort, which finds
//!                        runs; anything else by `keys`
//! anything else          the same with pairs of (time, row), by comparing
//! ```
//!
//! Result and scratch are slabs: fresh pages would cost as much as the sorting.

mod keys;

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};

use crate::block::ARC_BYTES;
use crate::blocks::Blocks;
use crate::pool::{Charge, Ledger, Slab};
use crate::timefacts::all_pairs;

/// Row numbers in time order, and their times.
#[derive(Debug)]
pub(crate) struct SortedRows {
    sequence: Sequence,
    has_duplicates: bool,
    _charge: Charge,
}

impl SortedRows {
    /// All rows of `blocks`, of which the first `ordered_rows` are in order. `prior` holds some first rows, sorted.
    pub(crate) fn new(ledger: &Arc<Ledger>, blocks: &Blocks, ordered_rows: usize, prior: Option<&Self>) -> Self {
        let sequence = match prior {
            Some(prior) if prior.rows().len() >= ordered_rows => extend(ledger, &prior.sequence, blocks),
            _ => match late_rows(blocks, ordered_rows) {
                Some(late) => merge_late(ledger, blocks, late),
                None => sort(ledger, blocks),
            },
        };
        let has_duplicates = !all_pairs(sequence.times(), |left, right| left != right);
        Self { sequence, has_duplicates, _charge: Charge::new(ledger, size_of::<Self>() + ARC_BYTES) }
    }

    /// Times in order.
    pub(crate) fn times(&self) -> &[i64] {
        self.sequence.times()
    }

    /// Row numbers in the order of their times.
    pub(crate) fn rows(&self) -> &[u32] {
        self.sequence.rows()
    }

    /// True when a time comes twice.
    pub(crate) fn has_duplicates(&self) -> bool {
        self.has_duplicates
    }
}

/// Rows in time order, or the first of them while they are put together.
#[derive(Debug)]
struct Sequence {
    /// `i64` times; there may be more room than rows.
    times: Slab<u64>,
    /// `u32` row numbers.
    rows: Slab<u64>,
    count: usize,
}

/// Pieces up to here are copied as so many: what is too much is overwritten by the next.
const PIECE_MAX: usize = 16;

/// Late rows, sorted, that are not merged yet.
type Late<'a> = std::iter::Peekable<std::slice::Iter<'a, (i64, u32)>>;

impl Sequence {
    fn with_room(ledger: &Arc<Ledger>, row_count: usize) -> Self {
        Self { times: Slab::new(ledger, row_count), rows: Slab::new(ledger, row_count.div_ceil(2)), count: 0 }
    }

    fn times(&self) -> &[i64] {
        &cast_slice(&self.times)[..self.count]
    }

    fn rows(&self) -> &[u32] {
        &cast_slice(&self.rows)[..self.count]
    }

    #[inline]
    fn push(&mut self, time: i64, row: u32) {
        self.times[self.count] = time as u64;
        cast_slice_mut::<u64, u32>(&mut self.rows)[self.count] = row;
        self.count += 1;
    }

    /// Appends `times[start..end]` and their rows, which `row_at` tells for every index of `times`.
    #[inline]
    fn append(&mut self, times: &[i64], start: usize, end: usize, row_at: impl Fn(usize) -> u32) {
        let count = end - start;
        let target_times = &mut cast_slice_mut::<u64, i64>(&mut self.times)[self.count..];
        let target_rows = &mut cast_slice_mut::<u64, u32>(&mut self.rows)[self.count..];
        self.count += count;
        if count <= PIECE_MAX
            && let Some(source) = times[start..].first_chunk::<PIECE_MAX>()
            && let Some(target_times) = target_times.first_chunk_mut::<PIECE_MAX>()
            && let Some(target_rows) = target_rows.first_chunk_mut::<PIECE_MAX>()
        {
            *target_times = *source;
            *target_rows = std::array::from_fn(|index| row_at(start + index));
            return;
        }
        target_times[..count].copy_from_slice(&times[start..end]);
        target_rows[..count].iter_mut().zip(start..).for_each(|(row, index)| *row = row_at(index));
    }

    /// Appends the rows `rows` of `times`, which are in order, and before each the late rows that come before it.
    ///
    /// No late row comes before a row of the same time: when it came, that one was there already, or it would not be late.
    fn merge(&mut self, times: &[i64], rows: Range<usize>, row_at: impl Fn(usize) -> u32, late: &mut Late<'_>) {
        let Some(&last) = times[rows.clone()].last() else { return };
        let mut done = rows.start;
        while let Some(&(time, row)) = late.next_if(|(time, _)| *time < last) {
            let end = done + count_up_to(&times[done..rows.end], time);
            self.append(times, done, end, &row_at);
            self.push(time, row);
            done = end;
        }
        self.append(times, done, rows.end, row_at);
    }

    /// Appends the late rows that come after all others.
    fn finish(mut self, late: Late<'_>) -> Self {
        late.for_each(|(time, row)| self.push(*time, *row));
        self
    }
}

/// How many leading times are at most `time`: a few are counted without a branch, more in steps that double.
fn count_up_to(times: &[i64], time: i64) -> usize {
    let count = times[..times.len().min(PIECE_MAX)].iter().filter(|other| **other <= time).count();
    if count < PIECE_MAX {
        return count;
    }
    let mut end = PIECE_MAX;
    while end < times.len() && times[end - 1] <= time {
        end *= 2;
    }
    let end = end.min(times.len());
    times[..end].partition_point(|other| *other <= time)
}

/// Sorts the rows that came after `prior` and merges them in.
fn extend(ledger: &Arc<Ledger>, prior: &Sequence, blocks: &Blocks) -> Sequence {
    let known = prior.count;
    let mut late = Vec::with_capacity(blocks.row_count() - known);
    for (first_row, block) in blocks.iter().filter(|(first_row, block)| first_row + block.row_count() > known) {
        let start = known.saturating_sub(first_row);
        late.extend(block.times()[start..].iter().copied().zip((first_row + start) as u32..));
    }
    sort_pairs(ledger, &mut late);
    let (mut merged, mut late) = (Sequence::with_room(ledger, blocks.row_count()), late.iter().peekable());
    merged.merge(prior.times(), 0..known, |index| prior.rows()[index], &mut late);
    merged.finish(late)
}

/// The rows below the running maximum, in the order in which they came; `None` when they are more than a quarter.
fn late_rows(blocks: &Blocks, ordered_rows: usize) -> Option<Vec<(i64, u32)>> {
    let late_max = blocks.row_count() / 4;
    let mut late: Vec<(i64, u32)> = Vec::new();
    let mut maximum = i64::MIN;
    for (first_row, block) in blocks.iter() {
        let range = block.time_range();
        let follows = block.is_ordered() && block.times().first().is_some_and(|time| *time >= maximum);
        if follows || first_row + block.row_count() <= ordered_rows {
            maximum = range.end;
            continue;
        }
        for (row, &time) in (first_row as u32..).zip(block.times()) {
            if time >= maximum {
                maximum = time;
            } else {
                late.push((time, row));
            }
        }
        if late.len() > late_max {
            return None;
        }
    }
    Some(late)
}

/// All rows but the late ones are in order as they lie: stretches of blocks between those.
fn merge_late(ledger: &Arc<Ledger>, blocks: &Blocks, late: Vec<(i64, u32)>) -> Sequence {
    let mut sorted = late.clone();
    sort_pairs(ledger, &mut sorted);
    let (mut merged, mut sorted) = (Sequence::with_room(ledger, blocks.row_count()), sorted.iter().peekable());
    let mut gaps = late.into_iter().map(|(_, row)| row as usize).peekable();
    for (first_row, block) in blocks.iter() {
        let times = block.times();
        let mut start = 0;
        while start < times.len() {
            let gap = gaps.next_if(|row| *row < first_row + times.len());
            let end = gap.map_or(times.len(), |row| row - first_row);
            merged.merge(times, start..end, |index| (first_row + index) as u32, &mut sorted);
            start = end + usize::from(gap.is_some());
        }
    }
    merged.finish(sorted)
}

/// How a time and a row share 64 bits.
#[derive(Clone, Copy)]
struct Packing {
    minimum: i64,
    row_bits: u32,
}

impl Packing {
    /// `None` when the times from `minimum` to `maximum` leave no room for so many rows.
    fn new(minimum: i64, maximum: i64, row_count: usize) -> Option<Self> {
        let width = u64::BITS - maximum.abs_diff(minimum).leading_zeros();
        let row_bits = usize::BITS - row_count.leading_zeros();
        (width + row_bits <= u64::BITS).then_some(Self { minimum, row_bits })
    }

    #[inline]
    fn key(self, time: i64, row: u32) -> u64 {
        time.abs_diff(self.minimum) << self.row_bits | u64::from(row)
    }

    #[inline]
    fn time(self, key: u64) -> i64 {
        self.minimum.wrapping_add((key >> self.row_bits) as i64)
    }

    #[inline]
    fn row(self, key: u64) -> u32 {
        (key & ((1 << self.row_bits) - 1)) as u32
    }
}

/// Sorts all rows.
fn sort(ledger: &Arc<Ledger>, blocks: &Blocks) -> Sequence {
    let row_count = blocks.row_count();
    let ranges = || blocks.iter().map(|(_, block)| block.time_range());
    let (minimum, maximum) = (ranges().map(|range| range.start).min(), ranges().map(|range| range.end).max());
    let packing = Packing::new(minimum.unwrap_or(0), maximum.unwrap_or(0), row_count);
    let Some(packing) = packing else {
        let mut pairs: Vec<(i64, u32)> = Vec::with_capacity(row_count);
        blocks.iter().for_each(|(_, block)| pairs.extend(block.times().iter().copied().zip(pairs.len() as u32..)));
        if has_long_runs(blocks) {
            pairs.sort();
        } else {
            pairs.sort_unstable();
        }
        return Sequence::with_room(ledger, row_count).finish(pairs.iter().peekable());
    };

    let mut sequence = Sequence::with_room(ledger, row_count);
    sequence.count = row_count;
    let keys = &mut sequence.times[..row_count];
    for (first_row, block) in blocks.iter() {
        let rows = first_row as u32..;
        keys[first_row..].iter_mut().zip(block.times()).zip(rows).for_each(|((key, time), row)| *key = packing.key(*time, row));
    }
    if has_long_runs(blocks) {
        keys.sort();
    } else {
        keys::sort(keys, &mut Slab::new(ledger, row_count)[..row_count], packing.row_bits);
    }
    for (row, key) in cast_slice_mut::<u64, u32>(&mut sequence.rows).iter_mut().zip(keys) {
        *row = packing.row(*key);
        *key = packing.time(*key) as u64;
    }
    sequence
}

/// True when the rows are few long stretches that are in order.
fn has_long_runs(blocks: &Blocks) -> bool {
    let descents_max = (blocks.row_count() / 1024).min(32);
    let (mut descents, mut last) = (0, i64::MIN);
    for (_, block) in blocks.iter() {
        let times = block.times();
        descents += usize::from(times.first().is_some_and(|first| *first < last));
        if !block.is_ordered() {
            descents += times.windows(2).filter(|pair| pair[1] < pair[0]).count();
        }
        if descents > descents_max {
            return false;
        }
        last = times.last().copied().unwrap_or(last);
    }
    true
}

/// Sorts by time, then row; rows rise from the start.
fn sort_pairs(ledger: &Arc<Ledger>, pairs: &mut [(i64, u32)]) {
    let times = || pairs.iter().map(|(time, _)| *time);
    let (Some(minimum), Some(maximum), Some(&(_, last_row))) = (times().min(), times().max(), pairs.last()) else { return };
    let Some(packing) = Packing::new(minimum, maximum, last_row as usize) else { return pairs.sort_unstable() };
    let (mut keys, mut other) = (Slab::new(ledger, pairs.len()), Slab::new(ledger, pairs.len()));
    let (keys, other) = (&mut keys[..pairs.len()], &mut other[..pairs.len()]);
    keys.iter_mut().zip(&*pairs).for_each(|(key, (time, row))| *key = packing.key(*time, *row));
    keys::sort(keys, other, packing.row_bits);
    pairs.iter_mut().zip(keys).for_each(|(pair, key)| *pair = (packing.time(*key), packing.row(*key)));
}

#[cfg(test)]
mod tests;
