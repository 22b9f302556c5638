//! Ranges of times in order: what was deleted.

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
        let mut ranges: Vec<TimeRange> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let joins = next.start <= range.end.saturating_add(1);
            if joins {
                range.end = range.end.max(next.end);
            }
            joins
        });
        Self(ranges)
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
    pub fn within(&self, range: TimeRange) -> &[TimeRange] {
        if range.is_empty() {
            return &[];
        }
        let from = self.0.partition_point(|one| one.end < range.start);
        let count = self.0[from..].partition_point(|one| one.start <= range.end);
        &self.0[from..from + count]
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
                    for time in -1..7 {
                        assert_eq!(joined.contains(time), parts.iter().any(|part| part.contains(time)), "{parts:?} {time}");
                    }
                }
            }
        }
    }
}
