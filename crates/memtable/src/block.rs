//! One block: some rows of one list in the order in which they came, only the columns that have a value in it.
//!
//! A cell is written once and never changes. A block that a snapshot holds is not written at all: the writer replaces
//! it by a copy first (`Clone`), which takes its slabs from the pool and copies the written rows only.

use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};
use tsloom_bitmap::{NullWords, words};
use tsloom_model::{ColumnView, DataType, PhysicalType, TextRef, TimeRange, Value, ValuesRef};

use crate::layout::{Layout, Run, Slot};
use crate::pool::{Ledger, Slab};
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
}

const _: () = assert!(size_of::<Block>() == 64);

/// The memory of a block, without knowledge of what is written.
#[derive(Debug)]
struct Cells {
    slab: Slab<u64>,
    rest: Option<Box<Rest>>,
}

/// What most blocks have not: later parts, booleans, text.
#[derive(Debug, Default)]
struct Rest {
    parts: Vec<Slab<u64>>,
    /// One a part that has booleans, in the order of the parts; `None` for a part that has none.
    bools: Vec<Option<Slab<bool>>>,
    arenas: Vec<Arena>,
}

impl Rest {
    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.parts.capacity() * size_of::<Slab<u64>>()
            + self.bools.capacity() * size_of::<Option<Slab<bool>>>()
            + self.arenas.capacity() * size_of::<Arena>()
    }
}

/// The bytes of one text column, appended to only.
#[derive(Debug)]
struct Arena {
    slab: Option<Slab<u64>>,
    used: usize,
}

impl Arena {
    fn bytes(&self) -> &[u8] {
        self.slab.as_ref().map_or(&[], |slab| &cast_slice(slab)[..self.used])
    }

    fn append(&mut self, ledger: &Arc<Ledger>, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let need = self.used + bytes.len();
        let capacity = self.slab.as_ref().map_or(0, |slab| size_of_val(&**slab));
        if need > capacity {
            let mut wider: Slab<u64> = Slab::new(ledger, need.max(2 * capacity).div_ceil(8));
            cast_slice_mut(&mut wider)[..self.used].copy_from_slice(self.bytes());
            self.slab = Some(wider);
        }
        let slab = self.slab.as_mut().expect("there is room for at least one byte now");
        cast_slice_mut(slab)[self.used..need].copy_from_slice(bytes);
        self.used = need;
    }
}

/// One column that a write brings, as it concerns some rows: where it is in the source and whether it has nulls there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) index: u32,
    pub(crate) id: u32,
    pub(crate) has_nulls: bool,
}

impl Cells {
    fn ledger(&self) -> &Arc<Ledger> {
        self.slab.ledger()
    }

    fn rest_bytes(&self) -> usize {
        self.rest.as_ref().map_or(0, |rest| rest.heap_bytes())
    }

    #[inline]
    fn part_mut(&mut self, part: u16) -> &mut [u64] {
        match part.checked_sub(1) {
            None => &mut self.slab,
            Some(index) => &mut self.rest.as_mut().expect("a later part is in the rest").parts[index as usize],
        }
    }

    #[inline]
    fn part(&self, part: u16) -> &[u64] {
        match part.checked_sub(1) {
            None => &self.slab,
            Some(index) => &self.rest.as_ref().expect("a later part is in the rest").parts[index as usize],
        }
    }

    fn bools(&self, slot: &Slot) -> &[bool] {
        let rest = self.rest.as_ref().expect("booleans make a rest");
        let slab = rest.bools[slot.part as usize].as_ref().expect("a part with booleans has their slab");
        &slab[slot.values as usize..]
    }

    fn bools_mut(&mut self, slot: &Slot) -> &mut [bool] {
        let rest = self.rest.as_mut().expect("booleans make a rest");
        let slab = rest.bools[slot.part as usize].as_mut().expect("a part with booleans has their slab");
        &mut slab[slot.values as usize..]
    }

    /// Numbers of one column from its first row on.
    #[inline]
    fn numbers_mut<T: bytemuck::Pod>(&mut self, slot: &Slot) -> &mut [T] {
        cast_slice_mut(&mut self.part_mut(slot.part)[slot.values as usize..])
    }

    /// Writes rows `start..start + count` of `values` to the rows from `at` on.
    #[inline(always)]
    fn write_values(&mut self, slot: &Slot, at: usize, values: ValuesRef<'_>, start: usize, count: usize) {
        match values {
            ValuesRef::Int32(values) => copy_cells(self.numbers_mut(slot), at, values, start, count),
            ValuesRef::Int64(values) => copy_cells(self.numbers_mut(slot), at, values, start, count),
            ValuesRef::Float(values) => copy_cells(self.numbers_mut(slot), at, values, start, count),
            ValuesRef::Double(values) => copy_cells(self.numbers_mut(slot), at, values, start, count),
            ValuesRef::Boolean(values) => copy_cells(self.bools_mut(slot), at, values, start, count),
            ValuesRef::Text(text) => self.write_text(slot, at, text.slice(start, count)),
        }
    }

    fn write_text(&mut self, slot: &Slot, at: usize, text: TextRef<'_>) {
        let ledger = Arc::clone(self.ledger());
        let from = text.offsets()[0];
        let bytes = &text.bytes()[from as usize..from as usize + text.byte_count()];
        let arena = &mut self.rest.as_mut().expect("text makes a rest").arenas[slot.text as usize];
        let base = u32::try_from(arena.used).expect("the list opens a new block before 4 GiB");
        arena.append(&ledger, bytes);
        let offsets = self.numbers_mut::<u32>(slot);
        for (target, offset) in offsets[at + 1..].iter_mut().zip(&text.offsets()[1..]) {
            *target = offset - from + base;
        }
    }

    /// `count` null rows from `at` on.
    fn write_absent(&mut self, slot: &Slot, at: usize, count: usize) {
        words::set_range(&mut self.part_mut(slot.part)[slot.nulls as usize..], at, count);
        if slot.physical == PhysicalType::Text {
            let offsets = self.numbers_mut::<u32>(slot);
            let end = offsets[at];
            offsets[at + 1..=at + count].fill(end);
        }
    }

    /// ORs the bits of rows `start..start + count` into those of the rows from `at` on.
    #[inline]
    fn mark(&mut self, slot: &Slot, at: usize, nulls: NullWords<'_>, start: usize, count: usize) {
        let nulls = nulls.slice(start, count);
        let target = &mut self.part_mut(slot.part)[slot.nulls as usize..];
        if at.is_multiple_of(64) {
            for (index, word) in target[at / 64..].iter_mut().take(nulls.word_count()).enumerate() {
                *word |= nulls.word(index);
            }
        } else {
            nulls.or_to(target, at);
        }
    }
}

/// Writes row `at` of the columns of a run. False when a value is null or has another form.
#[inline(always)]
fn set_run<T>(cells: &mut [T], run: &Run, at: usize, values: &[Value<'_>], get: impl Fn(Value<'_>) -> Option<T>) -> bool {
    // A run is counted in words, except booleans: those have a slab of their own.
    let scale = if run.physical == PhysicalType::Boolean { 1 } else { 8 / size_of::<T>() };
    let mut index = run.values * scale + at;
    for value in values {
        let Some(value) = get(*value) else { return false };
        cells[index] = value;
        index += run.stride * scale;
    }
    true
}

#[inline(always)]
fn copy_cells<T: Copy>(target: &mut [T], at: usize, source: &[T], start: usize, count: usize) {
    if count == 1 {
        target[at] = source[start]; // a row: no call for a few bytes
    } else {
        target[at..at + count].copy_from_slice(&source[start..start + count]);
    }
}

impl Block {
    /// An empty block whose columns are those of `layout`.
    pub(crate) fn new(ledger: &Arc<Ledger>, layout: Arc<Layout>) -> Self {
        ledger.charge(size_of::<Self>() + ARC_BYTES);
        let slab = Slab::new(ledger, layout.parts()[0].words as usize);
        let mut block = Self {
            cells: Cells { slab, rest: None },
            layout,
            min_time: i64::MAX,
            max_time: i64::MIN,
            row_count: 0,
            is_strict: true,
            is_ordered: true,
        };
        block.begin_part(0);
        block
    }

    /// Makes the nulls and text offsets of the columns of a part right for the rows written so far: all null.
    fn begin_part(&mut self, part: u16) {
        let row_count = self.row_count();
        let Self { layout, cells, .. } = self;
        let bools = layout.parts()[part as usize].bools as usize;
        let arena_count = cells.rest.as_ref().map_or(0, |rest| rest.arenas.len());
        if bools > 0 || layout.text_count() > arena_count {
            let (ledger, before) = (Arc::clone(cells.ledger()), cells.rest_bytes());
            let rest = cells.rest.get_or_insert_default();
            if bools > 0 {
                rest.bools.reserve_exact(part as usize + 1 - rest.bools.len());
                rest.bools.resize_with(part as usize, || None);
                rest.bools.push(Some(Slab::new(&ledger, bools)));
            }
            rest.arenas.reserve_exact(layout.text_count() - arena_count);
            rest.arenas.resize_with(layout.text_count(), || Arena { slab: None, used: 0 });
            ledger.charge(cells.rest_bytes() - before);
        }
        let (start, count) = layout.null_area(part);
        let slab = cells.part_mut(part);
        slab[start..start + count].fill(0);
        if row_count == 0 && layout.text_count() == 0 {
            return;
        }
        for slot in layout.slots().iter().filter(|slot| slot.part == part) {
            words::set_range(&mut slab[slot.nulls as usize..], 0, row_count);
            if slot.physical == PhysicalType::Text {
                cast_slice_mut::<u64, u32>(&mut slab[slot.values as usize..])[..=row_count].fill(0);
            }
        }
    }

    /// Adds the columns that `wide` has more, null in all rows so far.
    pub(crate) fn extend(&mut self, wide: Arc<Layout>) {
        let part = wide.parts().len() - 1;
        let (ledger, before) = (Arc::clone(self.cells.ledger()), self.cells.rest_bytes());
        let rest = self.cells.rest.get_or_insert_default();
        rest.parts.reserve_exact(1);
        rest.parts.push(Slab::new(&ledger, wide.parts()[part].words as usize));
        ledger.charge(self.cells.rest_bytes() - before);
        self.layout = wide;
        self.begin_part(part as u16);
    }

    /// Writes the rows from row `start` of `source` on, whose columns are exactly those of the layout. They count from
    /// [`note_rows`](Self::note_rows) on.
    pub(crate) fn append_same<C: WriteColumns + ?Sized>(&mut self, times: &[i64], source: &C, start: usize) {
        let (at, count) = (self.row_count(), times.len());
        let Self { layout, cells, .. } = self;
        copy_cells(cast_slice_mut(&mut cells.slab), at, times, 0, count);
        for (index, slot) in layout.slots().iter().enumerate() {
            let Some(view) = source.view(index) else { continue };
            cells.write_values(slot, at, view.values(), start, count);
            if let Some(nulls) = view.nulls() {
                cells.mark(slot, at, nulls, start, count);
            }
        }
    }

    /// Writes one row whose columns are exactly those of the layout. Returns false, and nothing counts, when a value is null, is
    /// text, or has another form than its column: those take the long way.
    pub(crate) fn push_row(&mut self, time: i64, ids: &[u32], values: &[Value<'_>]) -> bool {
        let at = self.row_count();
        let Self { layout, cells: Cells { slab, rest }, .. } = self;
        if layout.ids() != ids || values.len() != ids.len() || (layout.runs().is_empty() && !ids.is_empty()) {
            return false;
        }
        slab[at] = time as u64;
        let mut values = values;
        layout.runs().iter().all(|run| {
            let (mine, others) = values.split_at(run.column_count);
            values = others;
            match run.physical {
                PhysicalType::Int32 => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Int32(value) => Some(value),
                    _ => None,
                }),
                PhysicalType::Int64 => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Int64(value) => Some(value),
                    _ => None,
                }),
                PhysicalType::Float => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Float(value) => Some(value),
                    _ => None,
                }),
                PhysicalType::Double => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Double(value) => Some(value),
                    _ => None,
                }),
                PhysicalType::Boolean => {
                    let slab = rest.as_mut().and_then(|rest| rest.bools[0].as_mut());
                    set_run(slab.expect("a part with booleans has their slab"), run, at, mine, |value| match value {
                        Value::Boolean(value) => Some(value),
                        _ => None,
                    })
                }
                PhysicalType::Text => false,
            }
        })
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
        copy_cells(cast_slice_mut(&mut cells.slab), at, times, 0, count);
        let failed = failed.filter(|failed| failed.slice(start, count).any_null());
        let mut active = active.iter().peekable();
        for (&id, slot) in layout.ids().iter().zip(layout.slots()) {
            let Some(column) = active.next_if(|column| column.id == id) else {
                cells.write_absent(slot, at, count);
                continue;
            };
            let view = source.view(column.index as usize).expect("an active column is present");
            cells.write_values(slot, at, view.values(), start, count);
            if column.has_nulls
                && let Some(nulls) = view.nulls()
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
        let is_first = self.row_count == 0;
        // While the times rise, the highest is the last.
        self.is_strict = self.is_strict && facts.is_strict && (is_first || self.max_time < facts.first);
        self.is_ordered = self.is_ordered && facts.is_ordered && (is_first || self.max_time <= facts.first);
        self.min_time = self.min_time.min(facts.min);
        self.max_time = self.max_time.max(facts.max);
        self.row_count += count as u32;
    }

    /// Bytes of text that the fullest column holds.
    pub(crate) fn text_bytes_max(&self) -> usize {
        let arenas = self.cells.rest.as_ref().map_or(&[][..], |rest| &rest.arenas);
        arenas.iter().map(|arena| arena.used).max().unwrap_or(0)
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

    pub(crate) fn times(&self) -> &[i64] {
        &cast_slice(&self.cells.slab)[..self.row_count()]
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

    /// The null bits of the column at `position` of the layout, all rows written.
    pub(crate) fn nulls(&self, position: usize) -> NullWords<'_> {
        let slot = self.layout.slot(position);
        NullWords::new(&self.cells.part(slot.part)[slot.nulls as usize..], 0, self.row_count())
    }

    /// `count` rows from `start` on of the column at `position` of the layout.
    pub(crate) fn column(&self, position: usize, data_type: DataType, start: usize, count: usize) -> ColumnView<'_> {
        let nulls = self.nulls(position).slice(start, count);
        ColumnView::new(data_type, self.values(position, start, count), nulls.any_null().then_some(nulls))
    }

    /// The values alone: slots of null rows hold anything.
    pub(crate) fn values(&self, position: usize, start: usize, count: usize) -> ValuesRef<'_> {
        assert!(start + count <= self.row_count(), "rows {start} and {count} on, of {}", self.row_count);
        let slot = self.layout.slot(position);
        let (from, rows) = (slot.values as usize, start..start + count);
        let words = self.cells.part(slot.part);
        match slot.physical {
            PhysicalType::Boolean => ValuesRef::Boolean(&self.cells.bools(&slot)[rows]),
            PhysicalType::Int32 => ValuesRef::Int32(&cast_slice(&words[from..])[rows]),
            PhysicalType::Int64 => ValuesRef::Int64(&cast_slice(&words[from..])[rows]),
            PhysicalType::Float => ValuesRef::Float(&cast_slice(&words[from..])[rows]),
            PhysicalType::Double => ValuesRef::Double(&cast_slice(&words[from..])[rows]),
            PhysicalType::Text => {
                let bytes = self.cells.rest.as_ref().expect("text makes a rest").arenas[slot.text as usize].bytes();
                let offsets = &cast_slice(&words[from..])[start..=start + count];
                ValuesRef::Text(TextRef::new(offsets, bytes).expect("offsets rise and end within the arena"))
            }
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.cells.ledger().release(size_of::<Self>() + ARC_BYTES + self.cells.rest_bytes());
    }
}

/// The written rows in slabs of their own.
impl Clone for Block {
    fn clone(&self) -> Self {
        let ledger = self.cells.ledger();
        let parts = self.layout.parts();
        let rest = self.cells.rest.as_ref().map(|rest| {
            Box::new(Rest {
                parts: parts[1..].iter().map(|part| Slab::new(ledger, part.words as usize)).collect(),
                bools: rest.bools.iter().map(|slab| slab.as_ref().map(|slab| Slab::new(ledger, slab.len()))).collect(),
                arenas: rest.arenas.iter().map(|arena| arena.copy(ledger)).collect(),
            })
        });
        let mut cells = Cells { slab: Slab::new(ledger, parts[0].words as usize), rest };
        ledger.charge(size_of::<Self>() + ARC_BYTES + cells.rest_bytes());
        cells.copy_rows(&self.cells, &self.layout, self.row_count());
        Self { cells, layout: Arc::clone(&self.layout), ..*self }
    }
}

impl Arena {
    fn copy(&self, ledger: &Arc<Ledger>) -> Self {
        let mut copy = Self { slab: None, used: 0 };
        copy.append(ledger, self.bytes());
        copy
    }
}

impl Cells {
    /// Copies times, null words and the first rows of every column; arenas were copied before.
    fn copy_rows(&mut self, from: &Self, layout: &Layout, row_count: usize) {
        self.slab[..row_count].copy_from_slice(&from.slab[..row_count]);
        for part in 0..layout.parts().len() as u16 {
            let (start, count) = layout.null_area(part);
            self.part_mut(part)[start..start + count].copy_from_slice(&from.part(part)[start..start + count]);
        }
        for slot in layout.slots() {
            let word_count = match slot.physical {
                PhysicalType::Boolean => {
                    self.bools_mut(slot)[..row_count].copy_from_slice(&from.bools(slot)[..row_count]);
                    continue;
                }
                PhysicalType::Text => (row_count + 1).div_ceil(2),
                PhysicalType::Int32 | PhysicalType::Float => row_count.div_ceil(2),
                PhysicalType::Int64 | PhysicalType::Double => row_count,
            };
            let words = slot.values as usize..slot.values as usize + word_count;
            self.part_mut(slot.part)[words.clone()].copy_from_slice(&from.part(slot.part)[words]);
        }
    }
}
