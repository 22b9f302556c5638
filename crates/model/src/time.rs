//! Positions and ranges: file offsets, time ranges with both ends included, and what becomes of empty rows.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use crate::Grouped;

/// Byte position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileOffset(u64);

impl FileOffset {
    /// The position `offset` bytes from the start.
    pub const fn new(offset: u64) -> Self {
        Self(offset)
    }

    /// Bytes from the start.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The position `size` bytes further on, or `None` past `u64::MAX`.
    pub fn checked_add(self, size: u64) -> Option<Self> {
        self.0.checked_add(size).map(Self)
    }
}

impl fmt::Display for FileOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Grouped(self.0).fmt(f)
    }
}

/// A range of times with **both ends included**, so that `i64::MAX` can be reached. Empty when `start > end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// First time inside.
    pub start: i64,
    /// Last time inside.
    pub end: i64,
}

impl TimeRange {
    /// Every time there is.
    pub const ALL: Self = Self { start: i64::MIN, end: i64::MAX };
    /// No time at all.
    pub const EMPTY: Self = Self { start: i64::MAX, end: i64::MIN };

    /// From any Rust range. An excluded end that has no neighbour gives the empty range.
    ///
    /// ```
    /// # use tsloom_model::TimeRange;
    /// assert_eq!(TimeRange::from_bounds(0..10), TimeRange { start: 0, end: 9 });
    /// assert_eq!(TimeRange::from_bounds(..), TimeRange::ALL);
    /// assert!(TimeRange::from_bounds(5..5).is_empty());
    /// ```
    pub fn from_bounds(bounds: impl RangeBounds<i64>) -> Self {
        let start = match bounds.start_bound() {
            Bound::Included(&time) => Some(time),
            Bound::Excluded(&time) => time.checked_add(1),
            Bound::Unbounded => Some(i64::MIN),
        };
        let end = match bounds.end_bound() {
            Bound::Included(&time) => Some(time),
            Bound::Excluded(&time) => time.checked_sub(1),
            Bound::Unbounded => Some(i64::MAX),
        };
        match (start, end) {
            (Some(start), Some(end)) if start <= end => Self { start, end },
            _ => Self::EMPTY,
        }
    }

    /// True when no time is inside.
    pub const fn is_empty(self) -> bool {
        self.start > self.end
    }

    /// True when `time` is inside.
    pub const fn contains(self, time: i64) -> bool {
        self.start <= time && time <= self.end
    }

    /// True when some time is in both.
    pub const fn overlaps(self, other: Self) -> bool {
        !self.is_empty() && !other.is_empty() && self.start <= other.end && other.start <= self.end
    }

    /// True when every time of `other` is in `self`.
    pub const fn covers(self, other: Self) -> bool {
        other.is_empty() || (self.start <= other.start && other.end <= self.end)
    }
}

/// What becomes of a row whose projected columns are all null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowPolicy {
    /// The row exists by its time alone: the table model.
    KeepAllNull,
    /// The row does not exist: the tree model.
    DropAllNull,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_can_be_reached() {
        assert!(TimeRange::from_bounds(0..=i64::MAX).contains(i64::MAX));
        assert!(!TimeRange::from_bounds(0..i64::MAX).contains(i64::MAX));
        assert!(TimeRange::from_bounds(..i64::MIN).is_empty());
        assert!(TimeRange::from_bounds((Bound::Excluded(i64::MAX), Bound::Unbounded)).is_empty());
    }

    #[test]
    fn empty_ranges_overlap_nothing() {
        assert!(!TimeRange::ALL.overlaps(TimeRange::EMPTY));
        assert!(TimeRange { start: 1, end: 5 }.overlaps(TimeRange { start: 5, end: 9 }));
        assert!(!TimeRange { start: 1, end: 4 }.overlaps(TimeRange { start: 5, end: 9 }));
        assert!(TimeRange::EMPTY.covers(TimeRange::EMPTY));
    }
}
