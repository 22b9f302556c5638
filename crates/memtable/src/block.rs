//! One block: some rows of one list in the order in which they came, only the columns that have a value in it.
//!
//! A cell is written once and never changes. A block that a snapshot holds is not written at all: the writer replaces
//! it by a copy first (`Clone`), which takes its slabs from the pool and copies the written rows only.

use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};
use tsloom_bitmap::{NullWords, words};
use tsloom_model::{ColumnView, DataType, PhysicalType, TextRef, TimeRange, ValuesRef};

use crate::layout::{Layout, Slot};
use crate::pool::{Ledger, Slab};

/// What an `Arc` adds to what it holds: two counts.
pub(crate) const ARC_BYTES: usize = 16;

/// Rows with their directory. 64 bytes, so that a block costs 80 beside its slab.
#[derive(Debug)]
pub(crate) struct Block {
    slab: Slab<u64>,
    layout: Arc<Layout>,
    rest: Option<Box<Rest>>,
    min_time: i64,
    max_time: i64,
    row_count: u32,
    /// Every time is above the one before it.
    is_strict: bool,
    /// Every time is at least the one before it.
    is_ordered: bool,
}

const _: () = assert!(size_of::<Block>() == 64);

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

/// Present columns of a write, ascending by column id. A column without a value anywhere is `None` or left out.
pub trait WriteColumns {
    /// Number of columns.
    fn count(&self) -> usize;
    /// The id of column `index`; ids rise strictly with the index.
    fn id(&self, index: usize) -> u32;
    /// All rows of column `index`, or `None` when it is absent.
    fn view(&self, index: usize) -> Option<ColumnView<'_>>;
}

impl WriteColumns for [(u32, ColumnView<'_>)] {
    fn count(&self) -> usize {
        self.len()
    }
    fn id(&self, index: usize) -> u32 {
        self[index].0
    }
    fn view(&self, index: usize) -> Option<ColumnView<'_>> {
        Some(self[index].1)
    }
}

impl Block {
    /// An empty block whose columns are those of `layout`.
    pub(crate) fn new(ledger: &Arc<Ledger>, layout: Arc<Layout>) -> Self {
        ledger.charge(size_of::<Self>() + ARC_BYTES);
        let slab = Slab::new(ledger, layout.parts()[0].words as usize);
        let mut block = Self {
            slab,
            layout,
            rest: None,
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
    fn begin_part(&mut self, part: usize) {
        let layout = Arc::clone(&self.layout);
        let (row_count, ledger) = (self.row_count(), Arc::clone(self.slab.ledger()));
        let bools = layout.parts()[part].bools as usize;
        if bools > 0 || layout.text_count() > self.rest.as_ref().map_or(0, |rest| rest.arenas.len()) {
            let before = self.rest.as_ref().map_or(0, |rest| rest.heap_bytes());
            let rest = self.rest.get_or_insert_default();
            if bools > 0 {
                rest.bools.resize_with(part, || None);
                rest.bools.push(Some(Slab::new(&ledger, bools)));
            }
            rest.arenas.reserve_exact(layout.text_count() - rest.arenas.len());
            rest.arenas.resize_with(layout.text_count(), || Arena { slab: None, used: 0 });
            ledger.charge(rest.heap_bytes() - before);
        }
        let (start, count) = layout.null_area(part);
        let slab = self.part_mut(part);
        slab[start..start + count].fill(0);
        for slot in layout.slots().iter().filter(|slot| slot.part as usize == part) {
            if row_count > 0 {
                words::set_range(&mut slab[slot.nulls as usize..], 0, row_count);
            }
            if slot.physical == PhysicalType::Text {
                cast_slice_mut::<u64, u32>(&mut slab[slot.values as usize..])[..=row_count].fill(0);
            }
        }
    }

    /// Adds the columns that `wide` has more, null in all rows so far.
    pub(crate) fn extend(&mut self, wide: Arc<Layout>) {
        let part = wide.parts().len() - 1;
        let ledger = Arc::clone(self.slab.ledger());
        let before = self.rest.as_ref().map_or(0, |rest| rest.heap_bytes());
        let rest = self.rest.get_or_insert_default();
        rest.parts.reserve_exact(1);
        rest.parts.push(Slab::new(&ledger, wide.parts()[part].words as usize));
        ledger.charge(rest.heap_bytes() - before);
        self.layout = wide;
        self.begin_part(part);
    }

    fn part_mut(&mut self, part: usize) -> &mut [u64] {
        match part.checked_sub(1) {
            None => &mut self.slab,
            Some(index) => &mut self.rest.as_mut().expect("a later part is in the rest").parts[index],
        }
    }

    fn part(&self, part: usize) -> &[u64] {
        match part.checked_sub(1) {
            None => &self.slab,
            Some(index) => &self.rest.as_ref().expect("a later part is in the rest").parts[index],
        }
    }

    /// Appends the rows `start..start + times.len()` of `source`. Every column of `active` is in the layout; the other
    /// columns of the layout become null in these rows. `failed` marks rows of the source that are null in every column.
    pub(crate) fn append<C: WriteColumns + ?Sized>(
        &mut self,
        times: &[i64],
        source: &C,
        start: usize,
        active: &[Active],
        failed: Option<NullWords<'_>>,
    ) {
        let at = self.row_count();
        let count = times.len();
        cast_slice_mut::<u64, i64>(&mut self.slab)[at..at + count].copy_from_slice(times);
        self.note_times(times);
        if active.is_empty() && self.layout.ids().is_empty() {
            self.row_count += count as u32;
            return;
        }

        let failed = failed.map(|failed| failed.slice(start, count)).filter(NullWords::any_null);
        let layout = Arc::clone(&self.layout);
        let mut active = active.iter().peekable();
        for (&id, slot) in layout.ids().iter().zip(layout.slots()) {
            match active.next_if(|column| column.id == id) {
                Some(column) => {
                    let view = source.view(column.index as usize).expect("an active column is present");
                    self.write_values(slot, at, view.values(), start, count);
                    if column.has_nulls
                        && let Some(nulls) = view.nulls()
                    {
                        self.mark(slot, at, nulls.slice(start, count));
                    }
                    if let Some(failed) = failed {
                        self.mark(slot, at, failed);
                    }
                }
                None => self.write_absent(slot, at, count),
            }
        }
        debug_assert!(active.next().is_none(), "every active column is in the layout");
        self.row_count += count as u32;
    }

    fn note_times(&mut self, times: &[i64]) {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
        let follows = |strict: bool| self.row_count == 0 || if strict { self.max_time < first } else { self.max_time <= first };
        let is_strict = times.windows(2).all(|pair| pair[0] < pair[1]);
        let is_ordered = is_strict || times.is_sorted();
        self.is_strict = self.is_strict && is_strict && follows(true);
        self.is_ordered = self.is_ordered && is_ordered && follows(false);
        let (min, max) = if is_ordered { (first, last) } else { extremes(times) };
        self.min_time = self.min_time.min(min);
        self.max_time = self.max_time.max(max);
    }

    fn write_values(&mut self, slot: &Slot, at: usize, values: ValuesRef<'_>, start: usize, count: usize) {
        let from = slot.values as usize;
        let (target, source) = (at..at + count, start..start + count);
        match values {
            ValuesRef::Boolean(values) => self.bools_mut(slot)[target].copy_from_slice(&values[source]),
            ValuesRef::Text(text) => self.write_text(slot, at, text.slice(start, count)),
            ValuesRef::Int32(values) => {
                cast_slice_mut::<u64, i32>(&mut self.part_mut(slot.part.into())[from..])[target].copy_from_slice(&values[source]);
            }
            ValuesRef::Int64(values) => {
                cast_slice_mut::<u64, i64>(&mut self.part_mut(slot.part.into())[from..])[target].copy_from_slice(&values[source]);
            }
            ValuesRef::Float(values) => {
                cast_slice_mut::<u64, f32>(&mut self.part_mut(slot.part.into())[from..])[target].copy_from_slice(&values[source]);
            }
            ValuesRef::Double(values) => {
                cast_slice_mut::<u64, f64>(&mut self.part_mut(slot.part.into())[from..])[target].copy_from_slice(&values[source]);
            }
        }
    }

    fn write_text(&mut self, slot: &Slot, at: usize, text: TextRef<'_>) {
        let ledger = Arc::clone(self.slab.ledger());
        let from = text.offsets()[0];
        let bytes = &text.bytes()[from as usize..from as usize + text.byte_count()];
        let arena = &mut self.rest.as_mut().expect("text makes a rest").arenas[slot.text as usize];
        let base = u32::try_from(arena.used).expect("the list opens a new block before 4 GiB");
        arena.append(&ledger, bytes);
        let offsets = cast_slice_mut::<u64, u32>(&mut self.part_mut(slot.part.into())[slot.values as usize..]);
        for (target, offset) in offsets[at + 1..].iter_mut().zip(&text.offsets()[1..]) {
            *target = offset - from + base;
        }
    }

    /// `count` null rows of a column that is in the block.
    fn write_absent(&mut self, slot: &Slot, at: usize, count: usize) {
        let slab = self.part_mut(slot.part.into());
        words::set_range(&mut slab[slot.nulls as usize..], at, count);
        if slot.physical == PhysicalType::Text {
            let offsets = cast_slice_mut::<u64, u32>(&mut slab[slot.values as usize..]);
            let end = offsets[at];
            offsets[at + 1..=at + count].fill(end);
        }
    }

    fn mark(&mut self, slot: &Slot, at: usize, nulls: NullWords<'_>) {
        nulls.or_to(&mut self.part_mut(slot.part.into())[slot.nulls as usize..], at);
    }

    fn bools_mut(&mut self, slot: &Slot) -> &mut [bool] {
        let rest = self.rest.as_mut().expect("booleans make a rest");
        let slab = rest.bools[slot.part as usize].as_mut().expect("a part with booleans has their slab");
        &mut slab[slot.values as usize..]
    }

    /// Bytes of text that the fullest column holds.
    pub(crate) fn text_bytes_max(&self) -> usize {
        self.rest.as_ref().map_or(0, |rest| rest.arenas.iter().map(|arena| arena.used).max().unwrap_or(0))
    }

    /// Number of rows written.
    pub(crate) fn row_count(&self) -> usize {
        self.row_count as usize
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    pub(crate) fn times(&self) -> &[i64] {
        &cast_slice(&self.slab)[..self.row_count()]
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
        NullWords::new(&self.part(slot.part.into())[slot.nulls as usize..], 0, self.row_count())
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
        let words = self.part(slot.part.into());
        match slot.physical {
            PhysicalType::Boolean => {
                let rest = self.rest.as_ref().expect("booleans make a rest");
                let slab = rest.bools[slot.part as usize].as_ref().expect("a part with booleans has their slab");
                ValuesRef::Boolean(&slab[from..][rows])
            }
            PhysicalType::Int32 => ValuesRef::Int32(&cast_slice(&words[from..])[rows]),
            PhysicalType::Int64 => ValuesRef::Int64(&cast_slice(&words[from..])[rows]),
            PhysicalType::Float => ValuesRef::Float(&cast_slice(&words[from..])[rows]),
            PhysicalType::Double => ValuesRef::Double(&cast_slice(&words[from..])[rows]),
            PhysicalType::Text => {
                let bytes = self.rest.as_ref().expect("text makes a rest").arenas[slot.text as usize].bytes();
                let offsets = &cast_slice(&words[from..])[start..=start + count];
                ValuesRef::Text(TextRef::new(offsets, bytes).expect("offsets rise and end within the arena"))
            }
        }
    }
}

fn extremes(times: &[i64]) -> (i64, i64) {
    times.iter().fold((i64::MAX, i64::MIN), |(min, max), &time| (min.min(time), max.max(time)))
}

impl Drop for Block {
    fn drop(&mut self) {
        let rest = self.rest.as_ref().map_or(0, |rest| rest.heap_bytes());
        self.slab.ledger().release(size_of::<Self>() + ARC_BYTES + rest);
    }
}

/// The written rows in slabs of their own.
impl Clone for Block {
    fn clone(&self) -> Self {
        let ledger = self.slab.ledger();
        ledger.charge(size_of::<Self>() + ARC_BYTES);
        let rest = self.rest.as_ref().map(|rest| {
            let parts = self.layout.parts();
            let copy = Rest {
                parts: parts[1..].iter().map(|part| Slab::new(ledger, part.words as usize)).collect(),
                bools: rest.bools.iter().map(|slab| slab.as_ref().map(|slab| Slab::new(ledger, slab.len()))).collect(),
                arenas: rest.arenas.iter().map(|arena| arena.copy(ledger)).collect(),
            };
            ledger.charge(copy.heap_bytes());
            Box::new(copy)
        });
        let slab = Slab::new(ledger, self.layout.parts()[0].words as usize);
        let mut copy = Self { slab, layout: Arc::clone(&self.layout), rest, ..*self };
        copy.copy_rows(self);
        copy
    }
}

impl Arena {
    fn copy(&self, ledger: &Arc<Ledger>) -> Self {
        let mut copy = Self { slab: None, used: 0 };
        copy.append(ledger, self.bytes());
        copy
    }
}

impl Block {
    fn copy_rows(&mut self, from: &Self) {
        let row_count = self.row_count();
        self.slab[..row_count].copy_from_slice(&from.slab[..row_count]);
        let layout = Arc::clone(&self.layout);
        for part in 0..layout.parts().len() {
            let (start, count) = layout.null_area(part);
            self.part_mut(part)[start..start + count].copy_from_slice(&from.part(part)[start..start + count]);
        }
        for slot in layout.slots() {
            let word_count = match slot.physical {
                PhysicalType::Boolean => {
                    let cells = slot.values as usize..slot.values as usize + row_count;
                    let rest = from.rest.as_ref().expect("booleans make a rest");
                    let slab = rest.bools[slot.part as usize].as_ref().expect("a part with booleans has their slab");
                    self.bools_mut(slot)[..row_count].copy_from_slice(&slab[cells]);
                    continue;
                }
                PhysicalType::Text => (row_count + 1).div_ceil(2),
                PhysicalType::Int32 | PhysicalType::Float => row_count.div_ceil(2),
                PhysicalType::Int64 | PhysicalType::Double => row_count,
            };
            let words = slot.values as usize..slot.values as usize + word_count;
            self.part_mut(slot.part.into())[words.clone()].copy_from_slice(&from.part(slot.part.into())[words]);
        }
    }
}
