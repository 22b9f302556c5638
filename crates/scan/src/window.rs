//! Which rows of an answer are wanted: the time range, then offset and limit.

use tsloom_model::TimeRange;
use tsloom_page_reader::PageReader;

use crate::deletions::Gone;

/// What is still wanted. Offset and limit go down as rows are passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowWindow {
    times: TimeRange,
    offset: u64,
    limit: u64,
}

impl RowWindow {
    pub(crate) fn new(times: TimeRange, offset: u64, limit: Option<u64>) -> Self {
        Self { times, offset, limit: limit.unwrap_or(u64::MAX) }
    }

    /// The time range alone: for rows that are merged before they are counted.
    pub(crate) fn of_times(self) -> Self {
        Self::new(self.times, 0, None)
    }

    pub(crate) fn times(&self) -> TimeRange {
        self.times
    }

    /// True when no row is wanted any more.
    pub(crate) fn is_done(&self) -> bool {
        self.limit == 0 || self.times.is_empty()
    }

    /// Rows that are still to be passed: left out or given.
    pub(crate) fn rows_wanted(&self) -> u64 {
        self.offset.saturating_add(self.limit)
    }

    /// True when none of these rows is wanted; those that only the offset leaves out are counted.
    pub(crate) fn passes_over(&mut self, row_count: u64, times: TimeRange, gone: &Gone) -> bool {
        if !self.times.overlaps(times) || gone.rows.covers(times) {
            return true;
        }
        let is_skipped = row_count <= self.offset && self.times.covers(times) && !gone.touches_rows(times);
        if is_skipped {
            self.offset -= row_count;
        }
        is_skipped
    }

    /// True when all of these rows are wanted; there is at least one.
    pub(crate) fn wants_all(&self, row_count: u64, times: TimeRange) -> bool {
        self.offset == 0 && (1..=self.limit).contains(&row_count) && self.times.covers(times)
    }

    /// Narrows a page's selected rows down by offset and limit, and counts them.
    pub(crate) fn take(&mut self, pages: &mut PageReader) {
        self.offset -= pages.skip(self.offset);
        pages.limit(self.limit);
        self.limit -= pages.selected_count() as u64;
    }

    /// Of `count` rows in the time range: how many to leave out, and how many to give then.
    pub(crate) fn take_rows(&mut self, count: usize) -> (usize, usize) {
        self.take_rows_into(count, usize::MAX)
    }

    /// The same when no more than `room` can be given now; rows past that are not passed.
    pub(crate) fn take_rows_into(&mut self, count: usize, room: usize) -> (usize, usize) {
        let skipped = usize::try_from(self.offset).unwrap_or(usize::MAX).min(count);
        self.offset -= skipped as u64;
        let given = usize::try_from(self.limit).unwrap_or(usize::MAX).min(count - skipped).min(room);
        self.limit -= given as u64;
        (skipped, given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_leaves_out_whole_pages_only_inside_the_range() {
        let range = |start, end| TimeRange { start, end };
        let mut window = RowWindow::new(range(10, 99), 5, Some(4));
        let mut gone = Gone::default();
        assert!(window.passes_over(9, range(0, 9), &gone), "outside: not counted");
        assert!(!window.passes_over(3, range(5, 12), &gone), "partly inside: who knows how many rows");
        gone.rows.set([range(17, 24)]);
        assert!(!window.passes_over(3, range(13, 20), &gone), "some of them are deleted");
        assert!(window.passes_over(3, range(18, 20), &gone), "all of them are: not counted");
        gone.clear();
        assert!(window.passes_over(3, range(13, 20), &gone));
        assert!(!window.passes_over(3, range(21, 30), &gone), "two of three are left out");
        assert_eq!(window.take_rows(3), (2, 1));
        assert_eq!((window.take_rows(3), window.is_done()), ((0, 3), true));
        assert!(RowWindow::new(TimeRange::EMPTY, 0, None).is_done());
    }
}
