//! Moving values between slots: keep some, blank the slots of null rows; and text, whose cells move by their offsets.

use tsloom_bitmap::{NullWords, place, words};

use super::TextValues;

pub(super) fn keep_range<T: Copy>(values: &mut Vec<T>, from: usize, skip: usize, count: usize) {
    if skip > 0 {
        values.copy_within(from + skip..from + skip + count, from);
    }
    values.truncate(from + count);
}

pub(super) fn keep_marked<T: Copy>(values: &mut Vec<T>, from: usize, kept: &[u64]) {
    let count = place::gather(&mut values[from..], kept);
    values.truncate(from + count);
}

pub(super) fn clear_slots<T: Copy + Default>(values: &mut [T], nulls: NullWords<'_>) {
    for run in nulls.runs().filter(|run| run.set) {
        values[run.start..run.start + run.count].fill(T::default());
    }
}

/// The null bits of 64 rows, and how many rows those are.
fn word_of(nulls: NullWords<'_>, index: usize) -> (u64, usize) {
    (nulls.word(index), (nulls.row_count() - index * 64).min(64))
}

impl TextValues {
    /// See [`Values::keep_range`](super::Values::keep_range).
    pub(super) fn keep_range(&mut self, from: usize, skip: usize, count: usize) {
        self.truncate(from + skip + count);
        if skip > 0 {
            let (start, end) = (self.offsets[from], self.offsets[from + skip]);
            self.bytes.drain(start as usize..end as usize);
            self.offsets.drain(from + 1..=from + skip);
            self.offsets[from + 1..].iter_mut().for_each(|offset| *offset -= end - start);
        }
    }

    /// See [`Values::keep_marked`](super::Values::keep_marked).
    pub(super) fn keep_marked(&mut self, from: usize, kept: &[u64]) {
        let mut end = self.offsets[from] as usize;
        let mut next = from;
        for row in words::ones(kept, 0, self.len() - from) {
            let cell = self.offsets[from + row] as usize..self.offsets[from + row + 1] as usize;
            let size = cell.len();
            self.bytes.copy_within(cell, end);
            end += size;
            next += 1;
            self.offsets[next] = end as u32;
        }
        self.offsets.truncate(next + 1);
        self.bytes.truncate(end);
    }

    /// Inserts empty cells at the null rows, in place from the back. See [`Values::spread`](super::Values::spread).
    pub(super) fn spread(&mut self, from: usize, nulls: NullWords<'_>) {
        // An empty cell ends where the one before it ends, so only the ends move, and a null row repeats the last one.
        let mut source = self.offsets.len();
        self.offsets.resize(from + 1 + nulls.row_count(), 0);
        for index in (0..nulls.word_count()).rev() {
            let (word, row_count) = word_of(nulls, index);
            let row = from + 1 + index * 64;
            let present = row_count - word.count_ones() as usize;
            source -= present;
            if word == 0 {
                self.offsets.copy_within(source..source + row_count, row);
                continue;
            }
            let mut ends = [0_u32; 65];
            ends[..=present].copy_from_slice(&self.offsets[source - 1..source + present]);
            let mut next = 0;
            for (bit, slot) in self.offsets[row..row + row_count].iter_mut().enumerate() {
                next += usize::from(word >> bit & 1 == 0);
                *slot = ends[next];
            }
        }
    }
}
