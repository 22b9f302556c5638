//! The rows of one device in the order in which they came: blocks, exact order tracking and tombstones.
//!
//! Writing never sorts, and deleting never touches a block. Every row has a number, its position of arrival ("row" below),
//! which never changes.

use std::ops::Range;
use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_model::{TimeRange, Value};

use crate::block::Block;
use crate::blocks::Blocks;
use crate::forecast::Forecast;
use crate::listview::ListView;
use crate::pool::Ledger;
use crate::shape::ListShape;
use crate::sorted::SortedRows;
use crate::timefacts::{TimeFacts, prefix};
use crate::tombstone::{Tombstone, Tombstones};
use crate::write::{RowColumns, WriteColumns};

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

    /// `times` follow `before` rows.
    fn note(&mut self, before: usize, times: &[i64], facts: &TimeFacts) {
        if self.strict_rows == before && (before == 0 || self.last_time < facts.first) {
            self.strict_rows += if facts.is_strict { times.len() } else { prefix(times, |left, right| left < right) };
        }
        if self.ordered_rows == before && (before == 0 || self.last_time <= facts.first) {
            self.ordered_rows += if facts.is_ordered { times.len() } else { prefix(times, |left, right| left <= right) };
        }
        self.range = TimeRange { start: self.range.start.min(facts.min), end: self.range.end.max(facts.max) };
        self.last_time = facts.last;
    }
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
    tombstones: Option<Arc<Tombstones>>,
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

    /// Bytes of the blocks. O(1).
    pub fn byte_count(&self) -> usize {
        self.blocks.byte_count()
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
            let room = self.blocks.tail().map_or(0, Block::room);
            let count = if room > 0 {
                self.append_to_tail(shape, times, start..start + left.min(room), source, failed)
            } else {
                self.append_to_new_block(shape, times, start..end, source, failed)
            };
            start += count;
        }
    }

    /// Bytes that appending these rows will add to [`ListShape::byte_count`], exactly, if no column is text and the layouts are
    /// those of earlier writes or reservations.
    pub fn reserve<C: WriteColumns + ?Sized>(
        &self,
        shape: &mut ListShape,
        rows: Range<usize>,
        source: &C,
        failed: Option<NullWords<'_>>,
    ) -> usize {
        Forecast::new(self).append(shape, rows, source, failed)
    }

    pub(crate) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    pub(crate) fn full_block_rows(&self) -> usize {
        self.full_block_rows
    }

    /// Appends one row: one value for each of `ids`, which rise strictly. Columns left out, and those whose value is null, are
    /// null.
    ///
    /// # Panics
    /// When there are more or fewer values than ids, or a column changes its form: mistakes of the calling code.
    pub fn push_row(&mut self, shape: &mut ListShape, time: i64, ids: &[u32], values: &[Value<'_>]) {
        assert_eq!(ids.len(), values.len(), "one value a column");
        if self.blocks.tail().is_some_and(|tail| tail.room() > 0) {
            let before = self.blocks.row_count();
            let tail = self.blocks.tail_mut();
            if tail.push_row(time, ids, values) {
                let facts = TimeFacts::of_one(time);
                tail.note_rows(1, &facts);
                self.order.note(before, &[time], &facts);
                self.blocks.note_rows(1);
                return;
            }
        }
        self.append(shape, &[time], 0..1, &RowColumns::new(ids, values), None);
    }

    /// Appends rows for which the tail has room. Returns how many were appended.
    fn append_to_tail<C: WriteColumns + ?Sized>(
        &mut self,
        shape: &mut ListShape,
        times: &[i64],
        rows: Range<usize>,
        source: &C,
        failed: Option<NullWords<'_>>,
    ) -> usize {
        let tail = self.blocks.tail().expect("there is room in it");
        if failed.is_none() && tail.layout().is_of(source) {
            self.write(times, rows.clone(), |tail, times| tail.append_same(times, source, rows.start));
            return rows.len();
        }
        shape.select(source, rows.start, rows.len(), failed);
        if shape.text_bytes_max() > 0 && tail.text_bytes_max() + shape.text_bytes_max() > u32::MAX as usize {
            // Offsets are 32 bits wide: the block is closed before it is full.
            return self.append_to_new_block(shape, times, rows, source, failed);
        }
        if let Some(wide) = shape.widen(source, tail.layout()) {
            self.blocks.tail_mut().extend(wide);
        }
        self.write(times, rows.clone(), |tail, times| tail.append(times, source, rows.start, shape.active(), failed));
        rows.len()
    }

    /// Opens a block and appends what it has room for. Returns how many rows were appended.
    fn append_to_new_block<C: WriteColumns + ?Sized>(
        &mut self,
        shape: &mut ListShape,
        times: &[i64],
        rows: Range<usize>,
        source: &C,
        failed: Option<NullWords<'_>>,
    ) -> usize {
        let row_max = shape.block_rows.next(self.full_block_rows, self.row_count(), rows.len());
        let rows = rows.start..rows.start + rows.len().min(row_max);
        let (times, start) = (&times[rows.clone()], rows.start);
        let Some(facts) = TimeFacts::of(times) else { return 0 };
        let same = if failed.is_none() { shape.same_again(source, row_max) } else { None };
        let block = if let Some(layout) = same.filter(|_| all_have_values(source, &rows)) {
            Block::open(&self.ledger, Arc::clone(layout), times, &facts, source, start, |index| index)
        } else {
            shape.select(source, start, times.len(), failed);
            let layout = shape.layout_of_selected(source, row_max);
            let active = shape.active();
            let mut block = Block::open(&self.ledger, layout, times, &facts, source, start, |index| active[index].index as usize);
            if let Some(failed) = failed {
                block.mark_failed(failed.slice(start, times.len()));
            }
            block
        };
        shape.note_block(block.layout().ids().len());
        self.order.note(self.blocks.row_count(), times, &facts);
        self.blocks.open(&self.ledger, block);
        self.blocks.note_rows(times.len());
        times.len()
    }

    /// Notes the times of the rows and has the tail write them.
    #[inline]
    fn write(&mut self, times: &[i64], rows: Range<usize>, write: impl FnOnce(&mut Block, &[i64])) {
        let times = &times[rows];
        let Some(facts) = TimeFacts::of(times) else { return };
        self.order.note(self.blocks.row_count(), times, &facts);
        let tail = self.blocks.tail_mut();
        write(tail, times);
        tail.note_rows(times.len(), &facts);
        self.blocks.note_rows(times.len());
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
        let tombstones = self.tombstones.get_or_insert_with(|| Arc::new(Tombstones::new(&self.ledger)));
        Arc::make_mut(tombstones).push(Tombstone { range, column, row_floor });
        true
    }
}

/// True when every column, all of them present, has a value in these rows.
fn all_have_values<C: WriteColumns + ?Sized>(source: &C, rows: &Range<usize>) -> bool {
    (0..source.count()).all(|index| source.nulls(index).is_none_or(|nulls| !nulls.slice(rows.start, rows.len()).all_null()))
}
