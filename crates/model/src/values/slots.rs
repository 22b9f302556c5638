//! Moving values between slots: scatter present values to their rows, keep a range, blank the slots of null rows.

use tsloom_bitmap::NullWords;

use super::TextValues;

pub(super) fn keep_range<T: Copy>(values: &mut Vec<T>, from: usize, skip: usize, count: usize) {
    if skip > 0 {
        values.copy_within(from + skip..from + skip + count, from);
    }
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

/// Word by word from the back: rows without null move as one slice, rows without value are one fill, and mixed ones go through
/// a copy of their at most 64 values, without a branch a row.
pub(super) fn spread<T: Copy + Default>(values: &mut Vec<T>, from: usize, nulls: NullWords<'_>) {
    let mut source = values.len();
    values.resize(from + nulls.row_count(), T::default());
    for index in (0..nulls.word_count()).rev() {
        let (word, row_count) = word_of(nulls, index);
        let row = from + index * 64;
        let present = row_count - word.count_ones() as usize;
        source -= present;
        if word == 0 {
            values.copy_within(source..source + row_count, row);
        } else if present == 0 {
            values[row..row + row_count].fill(T::default());
        } else {
            let mut packed = [T::default(); 64];
            packed[..present].copy_from_slice(&values[source..source + present]);
            let mut next = 0;
            for (bit, slot) in values[row..row + row_count].iter_mut().enumerate() {
                let is_present = word >> bit & 1 == 0;
                *slot = if is_present { packed[next % 64] } else { T::default() };
                next += usize::from(is_present);
            }
        }
    }
}

impl TextValues {
    /// See [`Values::keep_range`].
    pub(super) fn keep_range(&mut self, from: usize, skip: usize, count: usize) {
        self.truncate(from + skip + count);
        if skip > 0 {
            let (start, end) = (self.offsets[from], self.offsets[from + skip]);
            self.bytes.drain(start as usize..end as usize);
            self.offsets.drain(from + 1..=from + skip);
            self.offsets[from + 1..].iter_mut().for_each(|offset| *offset -= end - start);
        }
    }

    /// Inserts empty cells at the null rows, in place from the back. See [`Values::spread`].
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
