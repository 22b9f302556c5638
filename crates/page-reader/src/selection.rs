//! Which rows of a page set, or of any run of rows, are wanted: [`Selection`].

use std::ops::Range;

use tsloom_bitmap::words;

/// Rows among some, ascending: a run of rows, and bits for those of the run once not all of them are wanted.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// First and last wanted row lie at its ends.
    rows: Range<usize>,
    /// Bit r is row r, within `rows`; means nothing unless `is_sparse`.
    chosen: Vec<u64>,
    is_sparse: bool,
}

impl Selection {
    /// Selects rows `0..row_count`.
    pub(crate) fn select_all(&mut self, row_count: usize) {
        self.rows = 0..row_count;
        self.is_sparse = false;
    }

    /// The run of rows that the selected ones lie in.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// True when all rows of the run are selected.
    pub(crate) fn is_run(&self) -> bool {
        !self.is_sparse
    }

    /// Number of selected rows.
    pub(crate) fn count(&self) -> usize {
        if self.is_sparse { words::count_ones(&self.chosen, self.rows.start, self.rows.len()) } else { self.rows.len() }
    }

    /// Selected bits of up to 64 rows from the `64 * index`-th of the run on.
    pub(crate) fn word(&self, index: usize) -> u64 {
        let start = index * 64;
        let within = words::low_mask(self.rows.len() - start);
        if self.is_sparse { words::load(&self.chosen, self.rows.start + start) & within } else { within }
    }

    /// The selected rows as runs, ascending.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let whole = (!self.is_sparse && !self.rows.is_empty()).then(|| self.rows.clone());
        let sparse = if self.is_sparse { self.rows.len() } else { 0 };
        let first = self.rows.start;
        let runs = words::runs(&self.chosen, first, sparse).filter(|run| run.set);
        whole.into_iter().chain(runs.map(move |run| first + run.start..first + run.start + run.count))
    }

    /// Keeps only rows of `wanted`.
    pub(crate) fn narrow(&mut self, wanted: Range<usize>) {
        let start = wanted.start.clamp(self.rows.start, self.rows.end);
        self.rows = start..wanted.end.clamp(start, self.rows.end);
        self.tighten();
    }

    /// Leaves out the rows of `gone`.
    pub(crate) fn remove(&mut self, gone: Range<usize>) {
        let (start, end) = (gone.start.max(self.rows.start), gone.end.min(self.rows.end));
        if start >= end {
            return;
        }
        if start == self.rows.start {
            return self.narrow(end..self.rows.end);
        }
        if end == self.rows.end {
            return self.narrow(self.rows.start..start);
        }
        self.need_bits();
        words::clear_range(&mut self.chosen, start, end - start);
    }

    /// Keeps those selected rows whose bit is set: bit i is the i-th selected row.
    pub(crate) fn retain(&mut self, kept: &[u64]) {
        if self.is_sparse {
            let mut index = 0;
            for row in self.rows.clone() {
                if words::get(&self.chosen, row) {
                    if !words::get(kept, index) {
                        words::clear(&mut self.chosen, row);
                    }
                    index += 1;
                }
            }
        } else if !words::all_set(kept, 0, self.rows.len()) {
            self.need_bits();
            words::copy_at(&mut self.chosen, self.rows.start, kept, 0, self.rows.len());
        }
        self.tighten();
    }

    /// Keeps those selected rows whose bit is set: bit i is row i.
    pub(crate) fn intersect(&mut self, kept: &[u64]) {
        if !words::all_set(kept, self.rows.start, self.rows.len()) {
            self.need_bits();
            for (chosen, kept) in self.chosen.iter_mut().zip(kept) {
                *chosen &= kept;
            }
            self.tighten();
        }
    }

    /// Leaves out the first `count` selected rows; returns how many there were to leave out.
    pub(crate) fn skip(&mut self, count: u64) -> u64 {
        let skipped = usize::try_from(count).unwrap_or(usize::MAX).min(self.count());
        self.narrow(self.row_of(skipped)..self.rows.end);
        skipped as u64
    }

    /// Keeps at most the first `count` selected rows.
    pub(crate) fn limit(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count < self.count() {
            self.narrow(self.rows.start..self.row_of(count));
        }
    }

    /// The `index`-th selected row, or the end of the run when there are not so many.
    fn row_of(&self, index: usize) -> usize {
        if !self.is_sparse {
            return (self.rows.start + index).min(self.rows.end);
        }
        let mut selected = words::ones(&self.chosen, self.rows.start, self.rows.len());
        selected.nth(index).map_or(self.rows.end, |row| self.rows.start + row)
    }

    fn need_bits(&mut self) {
        if !self.is_sparse {
            self.is_sparse = true;
            self.chosen.clear();
            self.chosen.resize(words::word_count(self.rows.end), 0);
            words::set_range(&mut self.chosen, self.rows.start, self.rows.len());
        }
    }

    /// Lets the run begin and end with a selected row; bits go when all of it is selected.
    fn tighten(&mut self) {
        if !self.is_sparse {
            return;
        }
        let mut runs = words::runs(&self.chosen, self.rows.start, self.rows.len()).filter(|run| run.set);
        let Some(first) = runs.next() else {
            self.rows = self.rows.start..self.rows.start;
            self.is_sparse = false;
            return;
        };
        let last = runs.last();
        self.is_sparse = last.is_some();
        let last = last.unwrap_or(first);
        let base = self.rows.start;
        self.rows = base + first.start..base + last.start + last.count;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any steps give what they give on a list of rows.
        #[test]
        fn steps_are_those_on_a_list(row_count in 0_usize..300, steps in prop::collection::vec((0_u8..6, any::<u16>(), any::<u64>()), 0..8)) {
            let mut selection = Selection::default();
            selection.select_all(row_count);
            let mut rows: Vec<usize> = (0..row_count).collect();
            for (kind, at, bits) in steps {
                let range = usize::from(at) % 300..usize::from(at) % 300 + bits as usize % 120;
                match kind {
                    0 => {
                        selection.narrow(range.clone());
                        rows.retain(|row| range.contains(row));
                    }
                    1 => {
                        selection.remove(range.clone());
                        rows.retain(|row| !range.contains(row));
                    }
                    2 => {
                        let kept: Vec<u64> = (0..5_u64).map(|word| if at % 3 == 0 { u64::MAX } else { bits.rotate_left(word as u32) }).collect();
                        selection.retain(&kept);
                        let mut index = 0..;
                        rows.retain(|_| words::get(&kept, index.next().unwrap()));
                    }
                    4 => {
                        let kept: Vec<u64> = (0..5_u64).map(|word| bits.rotate_left(word as u32 * 7) | u64::from(at)).collect();
                        selection.intersect(&kept);
                        rows.retain(|row| words::get(&kept, *row));
                    }
                    3 => {
                        let count = (bits % 150) as usize;
                        prop_assert_eq!(selection.skip(count as u64), count.min(rows.len()) as u64);
                        rows.drain(..count.min(rows.len()));
                    }
                    _ => {
                        selection.limit(bits % 200);
                        rows.truncate((bits % 200) as usize);
                    }
                }
                prop_assert_eq!(selection.count(), rows.len());
                prop_assert_eq!(selection.runs().flatten().collect::<Vec<_>>(), rows.clone());
                let run = selection.rows();
                let by_word: Vec<usize> = run.clone().filter(|row| selection.word((row - run.start) / 64) >> ((row - run.start) % 64) & 1 == 1).collect();
                prop_assert_eq!(&by_word, &rows);
                prop_assert!(rows.is_empty() == run.is_empty());
                if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
                    prop_assert_eq!(run, *first..last + 1);
                }
            }
        }
    }
}
