//! Deletes: each covers the rows that were in the list when it came, and no later ones.
//!
//! No bit of a block changes. A tombstone says "rows below `row_floor` whose time is in `range`": of all rows, or of the
//! cells of one column. Whoever reads turns the tombstones of interest into [`Floors`], a step function over time.

use std::sync::Arc;

use tsloom_model::TimeRange;

use crate::block::ARC_BYTES;
use crate::pool::{Charge, Ledger};

/// One delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    pub(crate) range: TimeRange,
    /// The column whose cells are deleted; `None`: the rows are.
    pub(crate) column: Option<u32>,
    /// Rows that came before the delete.
    pub(crate) row_floor: u32,
}

/// The deletes of a list, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Tombstones {
    list: Vec<Tombstone>,
    charge: Charge,
}

impl Tombstones {
    pub(crate) fn new(ledger: &Arc<Ledger>) -> Self {
        let mut tombstones = Self { list: Vec::new(), charge: Charge::new(ledger, 0) };
        tombstones.note();
        tombstones
    }

    fn note(&mut self) {
        self.charge.set(size_of::<Self>() + ARC_BYTES + self.list.capacity() * size_of::<Tombstone>());
    }

    /// Adds a delete; earlier ones that it covers whole are forgotten.
    pub(crate) fn push(&mut self, new: Tombstone) {
        self.list.retain(|old| !(old.column == new.column && new.range.covers(old.range)));
        self.list.push(new);
        self.note();
    }

    pub(crate) fn as_slice(&self) -> &[Tombstone] {
        &self.list
    }
}

impl Clone for Tombstones {
    fn clone(&self) -> Self {
        let mut copy = Self { list: self.list.clone(), charge: Charge::new(self.charge.ledger(), 0) };
        copy.note();
        copy
    }
}

/// For each time the number of rows, counted from the first, that a delete covers. 0 where none does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floors {
    /// Disjoint, ascending.
    steps: Vec<(TimeRange, u32)>,
}

impl Floors {
    /// Those of the tombstones that concern `column` (`None`: whole rows) and a time in `within`.
    pub(crate) fn new(tombstones: &[Tombstone], column: Option<u32>, within: TimeRange) -> Self {
        let mut relevant: Vec<Tombstone> = tombstones
            .iter()
            .filter(|tombstone| tombstone.column == column && tombstone.range.overlaps(within))
            .copied()
            .collect();
        // A later delete has the higher floor and hides an earlier one where both apply.
        relevant.sort_by_key(|tombstone| std::cmp::Reverse(tombstone.row_floor));
        let mut floors = Self::default();
        for tombstone in relevant {
            floors.fill_gaps(tombstone.range, tombstone.row_floor);
        }
        floors
    }

    /// Gives `floor` to the times of `range` that have none yet.
    fn fill_gaps(&mut self, range: TimeRange, floor: u32) {
        let mut steps = Vec::with_capacity(self.steps.len() + 2);
        // First time not yet dealt with; `None` when the range is done.
        let mut next = Some(range.start);
        for &(taken, taken_floor) in &self.steps {
            if let Some(start) = next.filter(|start| *start < taken.start) {
                let end = range.end.min(taken.start - 1);
                if start <= end {
                    steps.push((TimeRange { start, end }, floor));
                }
            }
            steps.push((taken, taken_floor));
            next = next.and_then(|start| if start > taken.end { Some(start) } else { taken.end.checked_add(1) });
        }
        if let Some(start) = next.filter(|start| *start <= range.end) {
            steps.push((TimeRange { start, end: range.end }, floor));
        }
        steps.sort_unstable_by_key(|(range, _)| range.start);
        self.steps = steps;
    }

    /// True when no delete applies anywhere.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Rows below this number are deleted at `time`.
    pub(crate) fn at(&self, time: i64) -> u32 {
        let index = self.steps.partition_point(|(range, _)| range.end < time);
        self.steps.get(index).filter(|(range, _)| range.start <= time).map_or(0, |(_, floor)| *floor)
    }

    /// True when a delete applies to some time of `range`.
    pub(crate) fn touches(&self, range: TimeRange) -> bool {
        let index = self.steps.partition_point(|(step, _)| step.end < range.start);
        self.steps.get(index).is_some_and(|(step, _)| step.overlaps(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_delete_of_a_time_counts() {
        const MIN: i64 = i64::MIN;
        const MAX: i64 = i64::MAX;
        let ranges = [(0, 5), (3, 3), (-2, 0), (4, 9), (MIN, -7), (8, MAX), (2, 1), (-20, 20), (6, 6)];
        // Every subset of at most three deletes in every order against the definition.
        let times: Vec<i64> = (-25..25).chain([MIN, MIN + 1, MAX - 1, MAX]).collect();
        for a in ranges {
            for b in ranges {
                for c in ranges {
                    let tombstones: Vec<Tombstone> = [a, b, c]
                        .iter()
                        .zip([3, 7, 8])
                        .map(|(&(start, end), row_floor)| Tombstone { range: TimeRange { start, end }, column: None, row_floor })
                        .collect();
                    let floors = Floors::new(&tombstones, None, TimeRange::ALL);
                    for &time in &times {
                        let covering = tombstones.iter().filter(|tombstone| tombstone.range.contains(time));
                        let expected = covering.map(|tombstone| tombstone.row_floor).max().unwrap_or(0);
                        assert_eq!(floors.at(time), expected, "{tombstones:?} at {time}");
                        assert_eq!(floors.touches(TimeRange { start: time, end: time }), expected > 0);
                    }
                }
            }
        }
    }

    #[test]
    fn columns_and_rows_are_apart() {
        let tombstone = |column, row_floor| Tombstone { range: TimeRange::ALL, column, row_floor };
        let all = [tombstone(Some(1), 5), tombstone(None, 2)];
        assert_eq!(Floors::new(&all, Some(1), TimeRange::ALL).at(0), 5);
        assert_eq!(Floors::new(&all, None, TimeRange::ALL).at(0), 2);
        assert!(Floors::new(&all, Some(2), TimeRange::ALL).is_empty());
    }
}
