//! Ranges of times in order: what was deleted.

use std::ops::Range;

use crate::TimeRange;

/// Time ranges that are sorted, not empty, and do not touch each other.
///
/// ```
/// # use tsloom_model::{TimeRange, TimeRanges};
/// let range = |start, end| TimeRange { start, end };
/// let ranges = TimeRanges::new([range(5, 9), range(1, 2), range(8, 12), range(3, 3), range(7, 6)]);
/// assert_eq!(ranges.as_slice(), [range(1, 3), range(5, 12)]);
/// assert_eq!(ranges.within(range(3, 4)), [range(1, 3)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeRanges(Vec<TimeRange>);

impl TimeRanges {
    /// No time at all.
    pub const NONE: &'static Self = &Self(Vec::new());

    /// Every time that one of these ranges has.
    pub fn new(ranges: impl IntoIterator<Item = TimeRange>) -> Self {
        let mut all = Self::default();
        all.set(ranges);
        all
    }

    /// Becomes every time that one of these ranges has; keeps its memory.
    pub fn set(&mut self, from: impl IntoIterator<Item = TimeRange>) {
        let ranges = &mut self.0;
        ranges.clear();
        ranges.extend(from.into_iter().filter(|range| !range.is_empty()));
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let joins = next.start <= range.end.saturating_add(1);
            if joins {
                range.end = range.end.max(next.end);
            }
            joins
        });
    }

    /// The ranges, ascending.
    pub fn as_slice(&self) -> &[TimeRange] {
        &self.0
    }

    /// True when there is no time in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those ranges that have a time in common with `range`.
    #[inline]
    pub fn within(&self, range: TimeRange) -> &[TimeRange] {
        if self.0.is_empty() || range.is_empty() {
            return &[];
        }
        let from = self.0.partition_point(|one| one.end < range.start);
        let count = self.0[from..].partition_point(|one| one.start <= range.end);
        &self.0[from..from + count]
    }

    /// True when every time of `range` is in one of them.
    pub fn covers(&self, range: TimeRange) -> bool {
        range.is_empty() || matches!(self.within(range), [one] if one.covers(range))
    }

    /// Splits times that ascend into runs: rows, and whether their times are inside.
    pub fn runs<'a>(&'a self, times: &'a [i64]) -> impl Iterator<Item = (Range<usize>, bool)> + 'a {
        let span = match times {
            [first, .., last] => TimeRange { start: *first, end: *last },
            [only] => TimeRange { start: *only, end: *only },
            [] => TimeRange::EMPTY,
        };
        let mut ranges = self.within(span).iter();
        let mut next = ranges.next();
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at;
            while start < times.len() {
                let Some(range) = next else {
                    at = times.len();
                    return Some((start..at, false));
                };
                let is_inside = range.contains(times[start]);
                let end = if is_inside {
                    times[start..].partition_point(|time| *time <= range.end)
                } else {
                    times[start..].partition_point(|time| *time < range.start)
                };
                if is_inside || end == 0 {
                    next = ranges.next();
                }
                if end > 0 {
                    at = start + end;
                    return Some((start..at, is_inside));
                }
            }
            None
        })
    }

    /// True when `time` is in one of them.
    pub fn contains(&self, time: i64) -> bool {
        !self.within(TimeRange { start: time, end: time }).is_empty()
    }
}

impl FromIterator<TimeRange> for TimeRanges {
    fn from_iter<I: IntoIterator<Item = TimeRange>>(ranges: I) -> Self {
        Self::new(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_time_can_be_reached() {
        let all = TimeRanges::new([TimeRange { start: i64::MIN, end: -1 }, TimeRange { start: 0, end: i64::MAX }]);
        assert_eq!(all.as_slice(), [TimeRange::ALL]);
        assert!(all.contains(i64::MIN) && all.contains(i64::MAX) && !TimeRanges::NONE.contains(0));
        assert!(all.within(TimeRange::EMPTY).is_empty());
    }

    /// Every set of up to three ranges over a few times has the times that they have.
    #[test]
    fn ranges_have_the_times_of_their_parts() {
        let ranges: Vec<TimeRange> = (0..6).flat_map(|start| (0..6).map(move |end| TimeRange { start, end })).collect();
        for one in &ranges {
            for two in &ranges {
                for three in ranges.iter().step_by(5) {
                    let parts = [*one, *two, *three];
                    let joined = TimeRanges::new(parts);
                    assert!(joined.as_slice().windows(2).all(|pair| pair[0].end + 1 < pair[1].start), "{joined:?}");
                    for range in &ranges {
                        assert_eq!(joined.covers(*range), (range.start..=range.end).all(|time| joined.contains(time)));
                    }
                    let times: Vec<i64> = (-1..7).filter(|time| time % 3 != one.start % 3).collect();
                    let mut at = 0;
                    for (rows, is_inside) in joined.runs(&times) {
                        assert!(rows.start == at && !rows.is_empty());
                        at = rows.end;
                        assert!(times[rows].iter().all(|time| joined.contains(*time) == is_inside));
                    }
                    assert_eq!(at, times.len());
                    for time in -1..7 {
                        assert_eq!(joined.contains(time), parts.iter().any(|part| part.contains(time)), "{parts:?} {time}");
                    }
                }
            }
        }
    }
}
