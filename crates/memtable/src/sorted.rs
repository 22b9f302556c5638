//! The rows of a list in time order, for lists that are not: a permutation, made by readers and never by the writer.
//!
//! Order is by (time, row number), so equal times keep the order in which they came. Times are compared, never
//! subtracted, except where their distance is known to fit.
//!
//! Which way is taken, in the order of trial:
//!
//! ```text
//! at most 1/4 late       rows at or above the running maximum are a backbone; the late ones are sorted and merged in
//! few long runs          the standard stable sort, which finds runs
//! time and row fit u64   LSD radix sort over the bytes of (time - minimum) << row bits | row
//! anything else          sort of (time, row) pairs
//! ```

use std::sync::Arc;

use crate::blocks::Blocks;
use crate::pool::{Charge, Ledger};

/// Row numbers in time order, and their times.
#[derive(Debug)]
pub(crate) struct SortedRows {
    times: Vec<i64>,
    rows: Vec<u32>,
    has_duplicates: bool,
    _charge: Charge,
}

/// Rows in time order while they are being put together.
#[derive(Default)]
struct Sequence {
    times: Vec<i64>,
    rows: Vec<u32>,
}

impl Sequence {
    fn with_capacity(count: usize) -> Self {
        Self { times: Vec::with_capacity(count), rows: Vec::with_capacity(count) }
    }

    fn push(&mut self, time: i64, row: u32) {
        self.times.push(time);
        self.rows.push(row);
    }

    /// Appends rows that are in order, and before each the late rows that come before it. Pieces between are copied whole.
    fn merge(&mut self, times: &[i64], row_of: impl Fn(usize) -> u32, late: &mut Late<'_>) {
        let Some(&last_time) = times.last() else { return };
        let last = (last_time, row_of(times.len() - 1));
        let mut done = 0;
        while let Some(&(time, row)) = late.next_if(|key| **key < last) {
            let end = done + gallop(&times[done..], |index| row_of(done + index), (time, row));
            self.times.extend_from_slice(&times[done..end]);
            self.rows.extend((done..end).map(&row_of));
            self.push(time, row);
            done = end;
        }
        self.times.extend_from_slice(&times[done..]);
        self.rows.extend((done..times.len()).map(&row_of));
    }

    /// Appends the late rows that come after all others.
    fn finish(mut self, late: Late<'_>) -> Self {
        late.for_each(|(time, row)| self.push(*time, *row));
        self
    }
}

/// Late rows, sorted, that are not merged yet.
type Late<'a> = std::iter::Peekable<std::slice::Iter<'a, (i64, u32)>>;

impl SortedRows {
    /// All rows of `blocks`, of which the first `ordered_rows` are in order. `prior` holds some first rows, sorted.
    pub(crate) fn new(ledger: &Arc<Ledger>, blocks: &Blocks, ordered_rows: usize, prior: Option<&Self>) -> Self {
        let sequence = match prior {
            Some(prior) if prior.rows.len() >= ordered_rows => extend(prior, blocks),
            _ => sort(blocks, ordered_rows),
        };
        let has_duplicates = sequence.times.windows(2).fold(false, |any, pair| any | (pair[0] == pair[1]));
        let bytes = sequence.times.capacity() * 8 + sequence.rows.capacity() * 4 + size_of::<Self>() + 16;
        let _charge = Charge::new(ledger, bytes);
        Self { times: sequence.times, rows: sequence.rows, has_duplicates, _charge }
    }

    /// Times in order.
    pub(crate) fn times(&self) -> &[i64] {
        &self.times
    }

    /// Row numbers in the order of their times.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// True when a time comes twice.
    pub(crate) fn has_duplicates(&self) -> bool {
        self.has_duplicates
    }
}

/// Sorts the rows that came after `prior` and merges them in.
fn extend(prior: &SortedRows, blocks: &Blocks) -> Sequence {
    let known = prior.rows.len();
    let mut late = Vec::with_capacity(blocks.row_count() - known);
    for_each_time(blocks, known, |time, row| late.push((time, row)));
    late.sort_unstable();
    let (mut merged, mut late) = (Sequence::with_capacity(known + late.len()), late.iter().peekable());
    merged.merge(&prior.times, |index| prior.rows[index], &mut late);
    merged.finish(late)
}

fn for_each_time(blocks: &Blocks, from: usize, mut take: impl FnMut(i64, u32)) {
    if from == blocks.row_count() {
        return;
    }
    let (first_block, mut offset) = blocks.locate(from);
    let mut row = from as u32;
    for index in first_block..blocks.len() {
        for &time in &blocks.get(index).times()[offset..] {
            take(time, row);
            row += 1;
        }
        offset = 0;
    }
}

fn sort(blocks: &Blocks, ordered_rows: usize) -> Sequence {
    let row_count = blocks.row_count();
    if let Some(late) = late_rows(blocks, ordered_rows) {
        return merge_late(blocks, &late);
    }
    let mut times = Vec::with_capacity(row_count);
    blocks.iter().for_each(|(_, block)| times.extend_from_slice(block.times()));
    let descents = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    if descents <= row_count / 1024 && descents < 32 {
        return sort_pairs(&times, <[_]>::sort);
    }
    radix(&times).unwrap_or_else(|| sort_pairs(&times, <[_]>::sort_unstable))
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

/// All other rows are in order as they lie: stretches of blocks between the late ones.
fn merge_late(blocks: &Blocks, late: &[(i64, u32)]) -> Sequence {
    let mut sorted = late.to_vec();
    sorted.sort_unstable();
    let (mut merged, mut sorted) = (Sequence::with_capacity(blocks.row_count()), sorted.iter().peekable());
    let mut gaps = late.iter().map(|(_, row)| *row as usize).peekable();
    for (first_row, block) in blocks.iter() {
        let times = block.times();
        let mut start = 0;
        while start < times.len() {
            let gap = gaps.next_if(|row| *row < first_row + times.len());
            let end = gap.map_or(times.len(), |row| row - first_row);
            let row = (first_row + start) as u32;
            merged.merge(&times[start..end], |index| row + index as u32, &mut sorted);
            start = end + usize::from(gap.is_some());
        }
    }
    merged.finish(sorted)
}

/// How many leading rows come before `key`: steps that double, then a search within the last one.
fn gallop(times: &[i64], row_of: impl Fn(usize) -> u32, key: (i64, u32)) -> usize {
    let is_before = |index: usize| (times[index], row_of(index)) < key;
    let (mut low, mut step) = (0, 1);
    while low + step <= times.len() && is_before(low + step - 1) {
        low += step;
        step *= 2;
    }
    let mut high = (low + step - 1).min(times.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn sort_pairs(times: &[i64], sort: impl FnOnce(&mut [(i64, u32)])) -> Sequence {
    let mut pairs: Vec<(i64, u32)> = times.iter().copied().zip(0..).collect();
    sort(&mut pairs);
    let mut sequence = Sequence::with_capacity(pairs.len());
    pairs.iter().for_each(|&(time, row)| sequence.push(time, row));
    sequence
}

/// Sorts keys of time and row by the bytes of the time; rows are in order from the start, and every pass keeps ties.
/// `None` when a time and a row do not fit in 64 bits.
fn radix(times: &[i64]) -> Option<Sequence> {
    let (&minimum, &maximum) = (times.iter().min()?, times.iter().max()?);
    let width = u64::BITS - maximum.abs_diff(minimum).leading_zeros();
    let row_bits = usize::BITS - (times.len() - 1).leading_zeros();
    if width + row_bits > u64::BITS || row_bits == 0 {
        return None;
    }
    let mut keys: Vec<u64> = times.iter().zip(0_u64..).map(|(time, row)| time.abs_diff(minimum) << row_bits | row).collect();
    let mut other = vec![0_u64; keys.len()];
    let digit_count = width.div_ceil(8);
    let mut counts = vec![[0_u32; 256]; digit_count as usize];
    for key in &keys {
        let mut digits = key >> row_bits;
        for counts in &mut counts {
            counts[(digits & 255) as usize] += 1;
            digits >>= 8;
        }
    }
    for (shift, counts) in (row_bits..).step_by(8).zip(&counts) {
        if counts.iter().any(|count| *count as usize == keys.len()) {
            continue;
        }
        let mut starts = [0_u32; 256];
        let mut start = 0;
        for (slot, count) in starts.iter_mut().zip(counts) {
            *slot = start;
            start += count;
        }
        for &key in &keys {
            let slot = &mut starts[(key >> shift & 255) as usize];
            other[*slot as usize] = key;
            *slot += 1;
        }
        std::mem::swap(&mut keys, &mut other);
    }
    let row_mask = (1_u64 << row_bits) - 1;
    Some(Sequence {
        times: keys.iter().map(|key| minimum.wrapping_add((key >> row_bits) as i64)).collect(),
        rows: keys.iter().map(|key| (key & row_mask) as u32).collect(),
    })
}

#[cfg(test)]
mod tests;
