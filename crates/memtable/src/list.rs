//! The rows of one device in the order in which they came: blocks, exact order tracking and tombstones.
//!
//! Writing never sorts, and deleting never touches a block. Every row has a number, its position of arrival ("row" below),
//! which never changes.

use std::ops::Range;
use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_model::TimeRange;

use crate::block::WriteColumns;
use crate::blocks::Blocks;
use crate::listview::ListView;
use crate::pool::Ledger;
use crate::shape::ListShape;
use crate::sorted::SortedRows;
use crate::tombstone::Tombstone;

/// What is known about the order of the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeOrder {
    /// Length of the longest prefix in which no time is below the one before it.
    pub(crate) ordered_rows: usize,
    /// Length of the longest prefix in which every time is above the one before it.
    pub(crate) strict_rows: usize,
    last_time: i64,
    /// All times written, deleted rows included.
    pub(crate) range: TimeRange,
}

impl TimeOrder {
    const EMPTY: Self = Self { ordered_rows: 0, strict_rows: 0, last_time: i64::MIN, range: TimeRange::EMPTY };

    /// `times` follow `row_count` rows.
    fn note(&mut self, row_count: usize, times: &[i64]) {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
        let (before, last_time) = (row_count, self.last_time);
        if self.strict_rows == before && (before == 0 || last_time < first) {
            self.strict_rows += prefix(times, |left, right| left < right);
        }
        if self.ordered_rows == before && (before == 0 || last_time <= first) {
            self.ordered_rows +=
                if self.strict_rows == before + times.len() { times.len() } else { prefix(times, |left, right| left <= right) };
        }
        let (min, max) = if self.ordered_rows == before + times.len() {
            (first, last)
        } else {
            times.iter().fold((first, first), |(min, max), &time| (min.min(time), max.max(time)))
        };
        self.range = TimeRange { start: self.range.start.min(min), end: self.range.end.max(max) };
        self.last_time = last;
    }
}

/// Length of the longest prefix in which each neighbour pair holds.
fn prefix(times: &[i64], holds: impl Fn(i64, i64) -> bool) -> usize {
    if times.windows(2).fold(true, |all, pair| all & holds(pair[0], pair[1])) {
        return times.len();
    }
    1 + times.windows(2).take_while(|pair| holds(pair[0], pair[1])).count()
}

/// The list that one device is written to.
///
/// Columns have ids, which the caller gives; ids of one list may be any numbers. This is the layer below
/// [`Memtable`](crate::Memtable), which knows names, types and devices.
#[derive(Debug)]
pub struct AlignedList {
    ledger: Arc<Ledger>,
    full_block_rows: usize,
    blocks: Blocks,
    order: TimeOrder,
    tombstones: Option<Arc<Vec<Tombstone>>>,
}

impl AlignedList {
    /// An empty list; it owns nothing until the first row.
    pub fn new(shape: &ListShape) -> Self {
        Self {
            ledger: Arc::clone(&shape.ledger),
            full_block_rows: shape.full_block_rows(),
            blocks: Blocks::default(),
            order: TimeOrder::EMPTY,
            tombstones: None,
        }
    }

    /// Number of rows written, deleted ones and repeated times included.
    pub fn row_count(&self) -> usize {
        self.blocks.row_count()
    }

    /// The times written, deleted ones included; empty before the first row.
    pub fn time_range(&self) -> TimeRange {
        self.order.range
    }

    /// Length of the longest prefix of rows whose times do not fall.
    pub fn ordered_rows(&self) -> usize {
        self.order.ordered_rows
    }

    /// True when the rows came in time order, repeated times allowed.
    pub fn is_ordered(&self) -> bool {
        self.order.ordered_rows == self.row_count()
    }

    /// Appends the rows `rows` of `source` with their `times` (one for every row of the source). Rows marked in `failed`
    /// keep their time and are null in every column.
    ///
    /// A column without a value in these rows costs nothing.
    ///
    /// # Panics
    /// When a view has fewer rows than `times`, or a column changes its form: both are mistakes of the calling code.
    pub fn append<C: WriteColumns + ?Sized>(
        &mut self,
        shape: &mut ListShape,
        times: &[i64],
        rows: Range<usize>,
        source: &C,
        failed: Option<NullWords<'_>>,
    ) {
        let Range { mut start, end } = rows;
        while start < end {
            let left = end - start;
            let room = match self.blocks.tail() {
                Some(tail) => tail.layout().row_max() - tail.row_count(),
                None => 0,
            };
            let row_max = shape.block_rows.next(self.full_block_rows, self.row_count(), left);
            let mut count = left.min(if room == 0 { row_max } else { room });
            shape.select(source, start, count, failed);
            let overflows = self.would_overflow(shape);
            if overflows {
                count = left.min(row_max);
                shape.select(source, start, count, failed);
            }
            if room == 0 || overflows {
                let block = shape.new_block(source, row_max);
                self.blocks.open(&self.ledger, block);
            } else if let Some(wide) = self.blocks.tail().and_then(|tail| shape.widen(source, tail.layout())) {
                self.blocks.tail_mut().extend(wide);
            }
            let times = &times[start..start + count];
            self.order.note(self.blocks.row_count(), times);
            self.blocks.tail_mut().append(times, source, start, shape.active(), failed);
            self.blocks.note_rows(count);
            start += count;
        }
    }

    /// True when a text column of the tail could not take the text last selected: offsets are 32 bits wide.
    fn would_overflow(&self, shape: &ListShape) -> bool {
        let added = shape.text_bytes_max();
        added > 0 && self.blocks.tail().is_some_and(|tail| tail.text_bytes_max() + added > u32::MAX as usize)
    }

    /// An immutable view of the rows so far, in O(1). `prior` is what an earlier view of this list has sorted.
    pub(crate) fn view_after(&self, prior: Option<Arc<SortedRows>>) -> ListView {
        ListView::new(&self.ledger, self.blocks.clone(), self.order, self.tombstones.clone(), prior)
    }

    /// An immutable view of the rows so far, in O(1).
    pub fn view(&self) -> ListView {
        self.view_after(None)
    }

    /// Deletes what is in the list now: the rows of `range`, or their cells in `column`. Returns false, and records
    /// nothing, when no block has such a row or cell.
    pub fn delete(&mut self, range: TimeRange, column: Option<u32>) -> bool {
        let is_there = self.blocks.iter().any(|(_, block)| {
            block.time_range().overlaps(range) && column.is_none_or(|id| block.layout().position(id).is_some())
        });
        if !is_there {
            return false;
        }
        let row_floor = self.row_count() as u32;
        let tombstones = Arc::make_mut(self.tombstones.get_or_insert_default());
        tombstones.retain(|old| !(old.column == column && range.covers(old.range)));
        tombstones.push(Tombstone { range, column, row_floor });
        true
    }
}
