//! One block: some rows of one list in the order in which they came, only the columns that have a value in it.
//!
//! A cell is written once and never changes. A block that a snapshot holds is not written at all: the writer replaces
//! it by a copy first (`Clone`), which takes its slabs from the pool and copies the written rows only.

use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnView, DataType, PhysicalType, TimeRange, Value, ValuesRef};

use crate::cells::Cells;
use crate::layout::Layout;
use crate::pool::Ledger;
use crate::timefacts::TimeFacts;
use crate::write::WriteColumns;

/// What an `Arc` adds to what it holds: two counts.
pub(crate) const ARC_BYTES: usize = 16;

/// Rows with their directory. 64 bytes, so that a block costs 80 beside its slab.
#[derive(Debug)]
pub(crate) struct Block {
    cells: Cells,
    layout: Arc<Layout>,
    min_time: i64,
    max_time: i64,
    row_count: u32,
    /// Every time is above the one before it.
    is_strict: bool,
    /// Every time is at least the one before it.
    is_ordered: bool,
    /// Some cell of a column of the layout may be null.
    may_have_nulls: bool,
}

const _: () = assert!(size_of::<Block>() == 64);

/// One column that a write brings, as it concerns some rows: where it is in the source and whether it has nulls there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) index: u32,
    pub(crate) id: u32,
    pub(crate) has_nulls: bool,
}

impl Block {
    /// A block whose columns are those of `layout`, with its first rows in it: `times`, and the rows of `source` from `start` on.
    /// `place` tells which column of the source is at a position of the layout.
    pub(crate) fn open<C: WriteColumns + ?Sized>(
        ledger: &Arc<Ledger>,
        layout: Arc<Layout>,
        times: &[i64],
        facts: &TimeFacts,
        source: &C,
        start: usize,
        place: impl Fn(usize) -> usize,
    ) -> Self {
        let (cells, may_have_nulls) = Cells::open(ledger, &layout, size_of::<Self>() + ARC_BYTES, times, source, start, place);
        let TimeFacts { min, max, is_strict, is_ordered, .. } = *facts;
        let row_count = times.len() as u32;
        Self { cells, layout, min_time: min, max_time: max, row_count, is_strict, is_ordered, may_have_nulls }
    }

    /// Makes the first rows null in every column where `failed`, which has a bit for each, marks them.
    pub(crate) fn mark_failed(&mut self, failed: NullWords<'_>) {
        if failed.any_null() {
            self.may_have_nulls = true;
            for slot in self.layout.slots() {
                self.cells.mark(slot, 0, failed, 0, failed.row_count());
            }
        }
    }

    /// Adds the columns that `wide` has more, null in all rows so far.
    pub(crate) fn extend(&mut self, wide: Arc<Layout>) {
        self.layout = wide;
        self.may_have_nulls = true;
        self.cells.add_part(&self.layout, self.row_count as usize);
    }

    /// Writes the rows from row `start` of `source` on, whose columns are exactly those of the layout. They count from
    /// [`note_rows`](Self::note_rows) on.
    pub(crate) fn append_same<C: WriteColumns + ?Sized>(&mut self, times: &[i64], source: &C, start: usize) {
        let (at, count) = (self.row_count(), times.len());
        let Self { layout, cells, may_have_nulls, .. } = self;
        cells.write_times(at, times);
        if !layout.runs().is_empty() {
            *may_have_nulls |= cells.write_runs(layout, at, source, start, count);
            return;
        }
        for (index, slot) in layout.slots().iter().enumerate() {
            let Some(values) = source.values(index) else { continue };
            cells.write_values(slot, at, values, start, count);
            if let Some(nulls) = source.nulls(index) {
                cells.mark(slot, at, nulls, start, count);
                *may_have_nulls = true;
            }
        }
    }

    /// Writes one row whose columns are exactly those of the layout. Returns false, and nothing counts, when a value is null, is
    /// text, or has another form than its column: those take the long way.
    pub(crate) fn push_row(&mut self, time: i64, ids: &[u32], values: &[Value<'_>]) -> bool {
        let at = self.row_count();
        let Self { layout, cells, .. } = self;
        layout.ids() == ids && values.len() == ids.len() && cells.push_row(layout, at, time, values)
    }

    /// Writes the rows from row `start` of `source` on. Every column of `active` is in the layout; the other columns of the
    /// layout become null in these rows. `failed` marks rows of the source that are null in every column. The rows count from
    /// [`note_rows`](Self::note_rows) on.
    pub(crate) fn append<C: WriteColumns + ?Sized>(
        &mut self,
        times: &[i64],
        source: &C,
        start: usize,
        active: &[Active],
        failed: Option<NullWords<'_>>,
    ) {
        let (at, count) = (self.row_count(), times.len());
        let Self { layout, cells, .. } = self;
        cells.write_times(at, times);
        let failed = failed.filter(|failed| failed.slice(start, count).any_null());
        self.may_have_nulls |= failed.is_some() || active.len() < layout.ids().len() || active.iter().any(|one| one.has_nulls);
        let mut active = active.iter().peekable();
        for (&id, slot) in layout.ids().iter().zip(layout.slots()) {
            let Some(column) = active.next_if(|column| column.id == id) else {
                cells.write_absent(slot, at, count);
                continue;
            };
            let index = column.index as usize;
            let values = source.values(index).expect("an active column is present");
            cells.write_values(slot, at, values, start, count);
            if column.has_nulls
                && let Some(nulls) = source.nulls(index)
            {
                cells.mark(slot, at, nulls, start, count);
            }
            if let Some(failed) = failed {
                cells.mark(slot, at, failed, start, count);
            }
        }
        debug_assert!(active.next().is_none(), "every active column is in the layout");
    }

    /// `count` rows were written, with these times.
    #[inline]
    pub(crate) fn note_rows(&mut self, count: usize, facts: &TimeFacts) {
        // While the times rise, the highest is the last.
        self.is_strict = self.is_strict && facts.is_strict && self.max_time < facts.first;
        self.is_ordered = self.is_ordered && facts.is_ordered && self.max_time <= facts.first;
        self.min_time = self.min_time.min(facts.min);
        self.max_time = self.max_time.max(facts.max);
        self.row_count += count as u32;
    }

    /// Bytes of text that the fullest column holds.
    pub(crate) fn text_bytes_max(&self) -> usize {
        self.cells.text_bytes_max()
    }

    /// Number of rows written.
    #[inline]
    pub(crate) fn row_count(&self) -> usize {
        self.row_count as usize
    }

    /// Number of rows that still fit.
    pub(crate) fn room(&self) -> usize {
        self.layout.row_max() - self.row_count()
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(crate) fn times(&self) -> &[i64] {
        self.cells.times(self.row_count())
    }

    pub(crate) fn time_range(&self) -> TimeRange {
        TimeRange { start: self.min_time, end: self.max_time }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// False when no cell of the columns of the layout is null.
    pub(crate) fn may_have_nulls(&self) -> bool {
        self.may_have_nulls
    }

    /// The null bits of the column at `position` of the layout, all rows written.
    pub(crate) fn nulls(&self, position: usize) -> NullWords<'_> {
        let slot = self.layout.slot(position);
        NullWords::new(self.cells.null_words(&slot), 0, self.row_count())
    }

    /// `count` rows from `start` on of the column at `position` of the layout.
    pub(crate) fn column(&self, position: usize, data_type: DataType, start: usize, count: usize) -> ColumnView<'_> {
        let nulls = self.nulls(position).slice(start, count);
        ColumnView::new(data_type, self.values(position, start, count), nulls.any_null().then_some(nulls))
    }

    /// The values alone: slots of null rows hold anything.
    pub(crate) fn values(&self, position: usize, start: usize, count: usize) -> ValuesRef<'_> {
        assert!(start + count <= self.row_count(), "rows {start} and {count} on, of {}", self.row_count);
        self.cells.values(&self.layout.slot(position), start, count)
    }
}

impl Block {
    /// True when the column at `position` of the layout is text.
    pub(crate) fn is_text(&self, position: usize) -> bool {
        self.layout.slot(position).physical == PhysicalType::Text
    }

    /// Bytes of text in the column at `position` of the layout.
    pub(crate) fn text_bytes(&self, position: usize) -> usize {
        self.cells.text_bytes(&self.layout.slot(position))
    }

    /// Bytes of the longest text.
    pub(crate) fn longest_text(&self) -> usize {
        let texts = self.layout.slots().iter().filter(|slot| slot.physical == PhysicalType::Text);
        let lengths =
            texts.flat_map(|slot| self.cells.text(slot).0[..=self.row_count()].windows(2).map(|ends| ends[1] - ends[0]));
        lengths.max().unwrap_or(0) as usize
    }

    /// Bytes it holds, itself included.
    pub(crate) fn byte_count(&self) -> usize {
        size_of::<Self>() + ARC_BYTES + self.cells.byte_count()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.cells.ledger().release(size_of::<Self>() + ARC_BYTES);
    }
}

/// The written rows in slabs of their own.
impl Clone for Block {
    fn clone(&self) -> Self {
        let cells = self.cells.copy(&self.layout, self.row_count());
        cells.ledger().charge(size_of::<Self>() + ARC_BYTES);
        Self { cells, layout: Arc::clone(&self.layout), ..*self }
    }
}
