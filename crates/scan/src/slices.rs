//! Slices of time that hold about as many rows as are wanted: what a scan in time order gathers at once, and what a worker of a
//! parallel scan is given of a long device.

use tsloom_block::Block;
use tsloom_model::{TimeRange, ValuesRef};

/// Cells, times among them, and bytes of text that are held at once. However many columns there are, some rows are.
const HELD_CELLS_MAX: usize = 4 << 20;
const HELD_TEXT_BYTES_MAX: usize = 64 << 20;
const HELD_ROWS_MIN: usize = 1 << 10;

/// Spans that are kept apart. With more of them neighbours are taken together: they only serve to guess.
const SPAN_COUNT_MAX: usize = 64 << 10;

/// Rows, as far as metadata say where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) times: TimeRange,
    pub(crate) row_count: u64,
}

/// Where the rows of a scan lie in time, in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<Span>);

impl Spans {
    /// Adds rows; an empty range has none.
    pub(crate) fn push(&mut self, times: TimeRange, row_count: u64) {
        if times.is_empty() {
            return;
        }
        if self.0.len() == SPAN_COUNT_MAX {
            self.0.sort_unstable_by_key(|span| span.times.start);
            let join = |pair: &[Span]| {
                let (first, last) = (pair[0], pair[pair.len() - 1]);
                let times = TimeRange { start: first.times.start, end: first.times.end.max(last.times.end) };
                Span { times, row_count: pair.iter().fold(0, |sum, span| sum.saturating_add(span.row_count)) }
            };
            self.0 = self.0.chunks(2).map(join).collect();
        }
        self.0.push(Span { times, row_count });
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn row_count(&self) -> u64 {
        self.0.iter().fold(0, |sum, span| sum.saturating_add(span.row_count))
    }

    /// Rows in a range, if those of a span are spread evenly.
    fn estimate(&self, range: TimeRange) -> f64 {
        let share = |span: &Span| {
            let (start, end) = (span.times.start.max(range.start), span.times.end.min(range.end));
            if start > end {
                0.0
            } else {
                span.row_count as f64 * (width(start, end) + 1.0) / (width(span.times.start, span.times.end) + 1.0)
            }
        };
        self.0.iter().map(share).sum()
    }

    /// The first slice of `left` (the last one, backwards) with about `row_count` rows; it begins where there may be rows. `None`
    /// when there are none. Every slice has at least one time.
    pub(crate) fn slice(&self, left: TimeRange, row_count: u64, is_backwards: bool) -> Option<TimeRange> {
        let clipped = self.0.iter().filter(|span| span.times.overlaps(left));
        let left = clipped.fold(TimeRange::EMPTY, |all, span| TimeRange {
            start: all.start.min(span.times.start.max(left.start)),
            end: all.end.max(span.times.end.min(left.end)),
        });
        if left.is_empty() {
            return None;
        }
        let of_length = |length: u64| {
            if is_backwards {
                TimeRange { start: left.end.wrapping_sub_unsigned(length), ..left }
            } else {
                TimeRange { end: left.start.wrapping_add_unsigned(length), ..left }
            }
        };
        let (mut fits, mut end) = (0, left.end.wrapping_sub(left.start) as u64);
        while fits < end {
            let middle = fits + (end - fits).div_ceil(2);
            if self.estimate(of_length(middle)) <= row_count as f64 {
                fits = middle;
            } else {
                end = middle - 1;
            }
        }
        Some(of_length(fits))
    }
}

fn width(start: i64, end: i64) -> f64 {
    end.wrapping_sub(start) as u64 as f64
}

/// What is left of a range behind a slice of it, or before it when slices come backwards.
pub(crate) fn behind(left: TimeRange, slice: TimeRange, is_backwards: bool) -> TimeRange {
    let rest = if is_backwards {
        slice.start.checked_sub(1).map(|end| TimeRange { end, ..left })
    } else {
        slice.end.checked_add(1).map(|start| TimeRange { start, ..left })
    };
    rest.filter(|rest| !rest.is_empty()).unwrap_or(TimeRange::EMPTY)
}

/// How many rows of so many columns are held at once.
pub(crate) fn held_rows_max(column_count: usize) -> usize {
    (HELD_CELLS_MAX / (column_count + 1)).max(HELD_ROWS_MIN)
}

/// True when a block has more text than is held at once.
pub(crate) fn is_much_text(block: &Block) -> bool {
    let bytes = |values: ValuesRef<'_>| if let ValuesRef::Text(text) = values { text.byte_count() } else { 0 };
    block.columns().iter().map(|column| bytes(column.values().as_values())).sum::<usize>() > HELD_TEXT_BYTES_MAX
}

/// The part of a slice in which the half of these times lies that comes first. They are of its first rows; there are more than can be
/// held.
pub(crate) fn part_that_comes_first(times: &[i64], slice: TimeRange, is_backwards: bool) -> TimeRange {
    let mut times = times.to_vec();
    let middle = times.len() / 2;
    let (_, &mut time, _) = times.select_nth_unstable(middle);
    let part = if is_backwards { TimeRange { start: time, ..slice } } else { TimeRange { end: time, ..slice } };
    if part == slice { half(slice, is_backwards) } else { part }
}

/// The half of a slice that comes first.
pub(crate) fn half(slice: TimeRange, is_backwards: bool) -> TimeRange {
    let length = slice.end.wrapping_sub(slice.start) as u64 / 2;
    if is_backwards {
        TimeRange { start: slice.end.wrapping_sub_unsigned(length), ..slice }
    } else {
        TimeRange { end: slice.start.wrapping_add_unsigned(length), ..slice }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start, end }
    }

    /// Slices follow each other without a gap in which there are rows, whichever way, and end.
    #[test]
    fn slices_have_every_row_once() {
        let mut spans = Spans::default();
        let ranges = [range(0, 99), range(50, 59), range(500, 500), range(i64::MIN, i64::MIN + 9), range(1_000, i64::MAX)];
        ranges.iter().for_each(|times| spans.push(*times, 100));
        for is_backwards in [false, true] {
            for row_count in [1, 30, 100, 1_000] {
                let (mut left, mut slices) = (TimeRange::ALL, Vec::new());
                while let Some(slice) = spans.slice(left, row_count, is_backwards) {
                    assert!(!slice.is_empty() && left.covers(slice));
                    slices.push(slice);
                    left = behind(left, slice, is_backwards);
                    if slices.len() > 2_000 {
                        break;
                    }
                }
                let holds = |time: i64| slices.iter().filter(|slice| slice.contains(time)).count();
                for time in [0, 50, 59, 99, 500, i64::MIN, i64::MIN + 9, i64::MAX, 1_000] {
                    assert_eq!(holds(time), 1, "{time} {row_count} {is_backwards}");
                }
            }
        }
        assert_eq!(spans.slice(range(0, 99), 55, false), Some(range(0, 49)));
        assert_eq!(spans.slice(range(200, 400), 55, false), None);
    }

    #[test]
    fn halves_shrink_to_one_time() {
        for is_backwards in [false, true] {
            let mut slice = TimeRange::ALL;
            for _ in 0..64 {
                slice = half(slice, is_backwards);
            }
            let first = if is_backwards { i64::MAX } else { i64::MIN };
            assert_eq!(slice, range(first, first));
        }
        assert!(behind(TimeRange::ALL, TimeRange::ALL, false).is_empty());
    }

    #[test]
    fn many_spans_take_bounded_memory() {
        let mut spans = Spans::default();
        for time in 0..200_000 {
            spans.push(range(time, time), 1);
        }
        assert!(spans.0.len() <= SPAN_COUNT_MAX);
        assert_eq!(spans.row_count(), 200_000);
    }
}
