//! A list as it was at one moment: what snapshots are made of.

use std::sync::{Arc, OnceLock};

use tsloom_model::TimeRange;

use crate::block::ARC_BYTES;
use crate::blocks::Blocks;
use crate::list::TimeOrder;
use crate::pool::{Charge, Ledger};
use crate::sorted::SortedRows;
use crate::tombstone::{Tombstone, Tombstones};

/// An immutable view of an [`AlignedList`](crate::AlignedList). Later writes, deletes and other readers do not change it.
///
/// If the rows are not in time order, the first reader that needs them so sorts a permutation, which all readers of the
/// view share.
#[derive(Debug)]
pub struct ListView {
    charge: Charge,
    blocks: Blocks,
    order: TimeOrder,
    tombstones: Option<Arc<Tombstones>>,
    prior: Option<Arc<SortedRows>>,
    sorted: OnceLock<Arc<SortedRows>>,
}

impl ListView {
    pub(crate) fn new(
        ledger: &Arc<Ledger>,
        blocks: Blocks,
        order: TimeOrder,
        tombstones: Option<Arc<Tombstones>>,
        prior: Option<Arc<SortedRows>>,
    ) -> Self {
        let charge = Charge::new(ledger, size_of::<Self>() + ARC_BYTES);
        Self { charge, blocks, order, tombstones, prior, sorted: OnceLock::new() }
    }

    /// Number of rows written, deleted ones and repeated times included.
    pub fn row_count(&self) -> usize {
        self.blocks.row_count()
    }

    /// The times written, deleted ones included; empty without rows.
    pub fn time_range(&self) -> TimeRange {
        self.order.range
    }

    /// Number of blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// True when the rows came in time order, repeated times allowed.
    pub fn is_ordered(&self) -> bool {
        self.order.ordered_rows == self.row_count()
    }

    pub(crate) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    pub(crate) fn tombstones(&self) -> &[Tombstone] {
        self.tombstones.as_ref().map_or(&[], |tombstones| tombstones.as_slice())
    }

    /// The permutation; `None` when the rows are in order as they are.
    pub(crate) fn sorted(&self) -> Option<&SortedRows> {
        if self.is_ordered() {
            return None;
        }
        Some(self.sorted.get_or_init(|| {
            Arc::new(SortedRows::new(self.charge.ledger(), &self.blocks, self.order.ordered_rows, self.prior.as_deref()))
        }))
    }

    /// The permutation, if somebody needed it.
    pub(crate) fn sorted_so_far(&self) -> Option<&Arc<SortedRows>> {
        self.sorted.get().or(self.prior.as_ref())
    }

    /// True when some time comes twice.
    pub(crate) fn has_duplicates(&self) -> bool {
        match self.sorted() {
            Some(sorted) => sorted.has_duplicates(),
            None => self.order.strict_rows < self.row_count(),
        }
    }

    /// The positions, in time order, whose times are in `range`.
    pub(crate) fn positions(&self, range: TimeRange) -> std::ops::Range<usize> {
        let (before_start, up_to_end) = if range.is_empty() {
            (0, 0)
        } else if range.covers(self.time_range()) {
            (0, self.row_count())
        } else {
            (self.count_before(|time| time < range.start), self.count_before(|time| time <= range.end))
        };
        before_start..up_to_end.max(before_start)
    }

    /// How many leading rows, in time order, meet a condition that holds up to some time.
    fn count_before(&self, holds: impl Fn(i64) -> bool) -> usize {
        if let Some(sorted) = self.sorted() {
            return sorted.times().partition_point(|time| holds(*time));
        }
        // In order as they are: find the block in which the condition ends, then the row.
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.blocks.get(middle).time_range().end) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == self.blocks.len() {
            return self.row_count();
        }
        self.blocks.first_row(low) + self.blocks.get(low).times().partition_point(|time| holds(*time))
    }
}
