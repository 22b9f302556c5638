//! Rows in time order, and one row for each time.

use crate::tablet::Tablet;

impl Tablet {
    /// True when no time is smaller than the one before it.
    pub fn is_sorted_by_time(&self) -> bool {
        self.times.is_sorted()
    }

    /// Sorts the rows by time. Rows of equal time keep their order; every column and every null moves along.
    pub fn sort_by_time(&mut self) {
        if self.is_sorted_by_time() {
            return;
        }
        let mut rows = self.all_rows();
        rows.sort_by_key(|row| self.times[*row as usize]);
        self.take_rows(&rows);
    }

    /// Sorts the rows by device, then by time, so that all rows of a device are together. Rows equal in both keep their order.
    pub fn sort_by_device_and_time(&mut self) {
        if self.is_single_device() {
            return self.sort_by_time();
        }
        let mut rows = self.all_rows();
        let key = |row: &u32| (self.tags_of(*row as usize), self.times[*row as usize]);
        rows.sort_by(|a, b| {
            let ((a_tags, a_time), (b_tags, b_time)) = (key(a), key(b));
            a_tags.cmp(b_tags).then(a_time.cmp(&b_time))
        });
        if !rows.is_sorted() {
            self.take_rows(&rows);
        }
    }

    /// Merges neighbouring rows that have the same device and time: each column keeps its latest value that is not null.
    /// Sort first when equal rows are not next to each other. Returns how many rows went away.
    pub fn dedup(&mut self) -> usize {
        let before = self.row_count();
        // Last row of each group.
        let mut ends: Vec<usize> = Vec::with_capacity(before);
        for row in 0..before {
            let is_last = row + 1 == before || self.times[row] != self.times[row + 1] || !self.same_device(row, row + 1);
            if is_last {
                ends.push(row);
            }
        }
        if ends.len() == before {
            return 0;
        }
        let mut sources: Vec<Option<u32>> = Vec::with_capacity(ends.len());
        for index in self.touched.clone() {
            let column = &mut self.columns[index as usize];
            let nulls = column.nulls(before);
            sources.clear();
            let mut start = 0;
            for end in &ends {
                let latest = (start..=*end).rev().find(|row| nulls.is_none_or(|nulls| !nulls.is_null(*row)));
                sources.push(latest.map(|row| row as u32));
                start = end + 1;
            }
            column.gather(&sources);
        }
        let times: Vec<i64> = ends.iter().map(|row| self.times[*row]).collect();
        self.times = times;
        self.settle_rows();
        before - self.row_count()
    }

    fn same_device(&self, a: usize, b: usize) -> bool {
        self.is_single_device() || self.tags_of(a).eq(self.tags_of(b))
    }

    fn all_rows(&self) -> Vec<u32> {
        let row_count = u32::try_from(self.row_count()).expect("a tablet has fewer than 2^32 rows");
        (0..row_count).collect()
    }

    fn take_rows(&mut self, rows: &[u32]) {
        self.times = rows.iter().map(|row| self.times[*row as usize]).collect();
        let sources: Vec<Option<u32>> = rows.iter().copied().map(Some).collect();
        for index in &self.touched {
            self.columns[*index as usize].gather(&sources);
        }
        self.settle_rows();
    }
}
