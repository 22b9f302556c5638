//! How values get into the cells of a block: batches column by column, rows cell by cell.

use std::sync::Arc;

use bytemuck::cast_slice_mut;
use tsloom_bitmap::{NullWords, words};
use tsloom_model::{PhysicalType, TextRef, Value, ValuesRef};

use super::{Cells, Number};
use crate::front::Front;
use crate::layout::{Layout, Run, Slot};
use crate::pool::{Ledger, Slab};
use crate::write::WriteColumns;

impl Cells {
    /// Memory for `layout`, which has one part, with its first rows in it: `times`, and of each column of the layout the rows from
    /// `start` on of the column of `source` that `place` names. `bytes` more are charged, which the caller releases. Returns also
    /// whether a row is null somewhere.
    ///
    /// # Panics
    /// When a column of the source is absent or has another form than that of the layout.
    pub(crate) fn open<C: WriteColumns + ?Sized>(
        ledger: &Arc<Ledger>,
        layout: &Layout,
        bytes: usize,
        times: &[i64],
        source: &C,
        start: usize,
        place: impl Fn(usize) -> usize,
    ) -> (Self, bool) {
        let count = times.len();
        let mut any_nulls = false;
        let slab = Slab::filled(ledger, layout.parts()[0].words as usize, bytes, |front| {
            front.put(times);
            front.skip_to(layout.null_area(0).0);
            front.put_zeros(layout.null_area(0).1);
            let rows = Rows { at: 0, start, count };
            let mut first = 0;
            for run in layout.runs() {
                let slots = &layout.slots()[first..first + run.column_count];
                any_nulls |= match run.physical {
                    PhysicalType::Int32 => put_run::<i32, C>(front, slots, (first..).map(&place), source, rows),
                    PhysicalType::Int64 => put_run::<i64, C>(front, slots, (first..).map(&place), source, rows),
                    PhysicalType::Float => put_run::<f32, C>(front, slots, (first..).map(&place), source, rows),
                    PhysicalType::Double => put_run::<f64, C>(front, slots, (first..).map(&place), source, rows),
                    PhysicalType::Boolean | PhysicalType::Text => {
                        let is_text = run.physical == PhysicalType::Text;
                        slots.iter().filter(|_| is_text).for_each(|slot| front.put_at(slot.values as usize, &[0_u32]));
                        (first..)
                            .zip(slots)
                            .fold(false, |any, (index, slot)| any | put_nulls(front, slot, source.nulls(place(index)), rows))
                    }
                };
                first += run.column_count;
            }
        });
        let mut cells = Self { slab, rest: None };
        cells.begin_rest(layout, 0);
        if cells.rest.is_some() {
            for (index, slot) in layout.slots().iter().enumerate() {
                if let PhysicalType::Boolean | PhysicalType::Text = slot.physical {
                    let values = source.values(place(index)).expect(PRESENT);
                    cells.write_values(slot, 0, values, start, count);
                }
            }
        }
        (cells, any_nulls)
    }

    /// Writes the times of the rows from `at` on.
    #[inline]
    pub(crate) fn write_times(&mut self, at: usize, times: &[i64]) {
        copy_cells(cast_slice_mut(&mut self.slab), at, times, 0, times.len());
    }

    /// Writes row `at`, one value a column. False, and the row must not count, when a value is null, is text, or has another form
    /// than its column.
    pub(crate) fn push_row(&mut self, layout: &Layout, at: usize, time: i64, values: &[Value<'_>]) -> bool {
        let Self { slab, rest } = self;
        if layout.runs().is_empty() && !values.is_empty() {
            return false;
        }
        slab[at] = time as u64;
        let mut values = values;
        layout.runs().iter().all(|run| {
            let (mine, others) = values.split_at(run.column_count);
            values = others;
            match run.physical {
                PhysicalType::Int32 => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Int32(value) => Some(*value),
                    _ => None,
                }),
                PhysicalType::Int64 => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Int64(value) => Some(*value),
                    _ => None,
                }),
                PhysicalType::Float => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Float(value) => Some(*value),
                    _ => None,
                }),
                PhysicalType::Double => set_run(cast_slice_mut(slab), run, at, mine, |value| match value {
                    Value::Double(value) => Some(*value),
                    _ => None,
                }),
                PhysicalType::Boolean => {
                    let slab = rest.as_mut().and_then(|rest| rest.bools[0].as_mut());
                    set_run(slab.expect("a part with booleans has their slab"), run, at, mine, |value| match value {
                        Value::Boolean(value) => Some(*value),
                        _ => None,
                    })
                }
                PhysicalType::Text => false,
            }
        })
    }

    /// Writes rows `start..start + count` of `values` to the rows from `at` on.
    #[inline(always)]
    pub(crate) fn write_values(&mut self, slot: &Slot, at: usize, values: ValuesRef<'_>, start: usize, count: usize) {
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
    pub(crate) fn write_absent(&mut self, slot: &Slot, at: usize, count: usize) {
        words::set_range(&mut self.part_mut(slot.part)[slot.nulls as usize..], at, count);
        if slot.physical == PhysicalType::Text {
            let offsets = self.numbers_mut::<u32>(slot);
            let end = offsets[at];
            offsets[at + 1..=at + count].fill(end);
        }
    }

    /// ORs the bits of rows `start..start + count` into those of the rows from `at` on.
    #[inline]
    pub(crate) fn mark(&mut self, slot: &Slot, at: usize, nulls: NullWords<'_>, start: usize, count: usize) {
        mark(&mut self.part_mut(slot.part)[slot.nulls as usize..], at, nulls.slice(start, count));
    }

    /// Writes rows `start..start + count` of `source`, whose columns are those of a layout with runs, to the rows from `at` on. The
    /// form of the values is decided once a run. True when one of them has null bits.
    #[inline]
    pub(crate) fn write_runs<C>(&mut self, layout: &Layout, at: usize, source: &C, start: usize, count: usize) -> bool
    where
        C: WriteColumns + ?Sized,
    {
        let rows = Rows { at, start, count };
        let mut first = 0;
        let mut any_nulls = false;
        for run in layout.runs() {
            let slots = &layout.slots()[first..first + run.column_count];
            match run.physical {
                PhysicalType::Int32 => any_nulls |= self.write_run::<i32, C>(slots, run, first, source, rows),
                PhysicalType::Int64 => any_nulls |= self.write_run::<i64, C>(slots, run, first, source, rows),
                PhysicalType::Float => any_nulls |= self.write_run::<f32, C>(slots, run, first, source, rows),
                PhysicalType::Double => any_nulls |= self.write_run::<f64, C>(slots, run, first, source, rows),
                PhysicalType::Boolean | PhysicalType::Text => {
                    for (index, slot) in (first..).zip(slots) {
                        let Some(values) = source.values(index) else { continue };
                        self.write_values(slot, at, values, start, count);
                        if let Some(nulls) = source.nulls(index) {
                            self.mark(slot, at, nulls, start, count);
                            any_nulls = true;
                        }
                    }
                }
            }
            first += run.column_count;
        }
        any_nulls
    }

    /// The columns of one run, which are those of `source` from `first` on.
    #[inline(always)]
    fn write_run<T, C>(&mut self, slots: &[Slot], run: &Run, first: usize, source: &C, rows: Rows) -> bool
    where
        T: Number + bytemuck::Pod,
        C: WriteColumns + ?Sized,
    {
        let Rows { at, start, count } = rows;
        let slab = &mut *self.slab;
        let mut any_nulls = false;
        for (index, slot) in (first..).zip(slots) {
            let Some(values) = source.values(index) else { continue };
            let values = T::of(values).expect("a column keeps its form");
            let place = slot.values as usize;
            copy_cells(cast_slice_mut(&mut slab[place..place + run.stride]), at, values, start, count);
            if let Some(nulls) = source.nulls(index) {
                mark(&mut slab[slot.nulls as usize..], at, nulls.slice(start, count));
                any_nulls = true;
            }
        }
        any_nulls
    }
}

/// Why a column of a layout has values in the source that a block is opened with.
const PRESENT: &str = "the columns of a layout are present";

/// Values and nulls of the columns of one run of a new block. True when one of them has null bits.
#[inline(always)]
fn put_run<T, C>(front: &mut Front, slots: &[Slot], indexes: impl Iterator<Item = usize>, source: &C, rows: Rows) -> bool
where
    T: Number + bytemuck::Pod,
    C: WriteColumns + ?Sized,
{
    let mut any_nulls = false;
    for (slot, index) in slots.iter().zip(indexes) {
        let values = T::of(source.values(index).expect(PRESENT)).expect("a column keeps its form");
        front.put_at(slot.values as usize, &values[rows.start..rows.start + rows.count]);
        any_nulls |= put_nulls(front, slot, source.nulls(index), rows);
    }
    any_nulls
}

/// Marks the null rows of one column of a new block. True when it has null bits.
#[inline(always)]
fn put_nulls(front: &mut Front, slot: &Slot, nulls: Option<NullWords<'_>>, rows: Rows) -> bool {
    let Some(nulls) = nulls else { return false };
    mark(&mut front.written()[slot.nulls as usize..], rows.at, nulls.slice(rows.start, rows.count));
    true
}

/// Where rows lie in a block and in what is written to it.
#[derive(Clone, Copy)]
struct Rows {
    at: usize,
    start: usize,
    count: usize,
}

/// ORs the bits of `nulls` into those of the rows from `at` on.
#[inline]
fn mark(target: &mut [u64], at: usize, nulls: NullWords<'_>) {
    match nulls.aligned() {
        Some(words) if at.is_multiple_of(64) && !words.is_empty() => {
            let (target, last) = (&mut target[at / 64..], words.len() - 1);
            for (word, nulls) in target[..last].iter_mut().zip(words) {
                *word |= nulls;
            }
            target[last] |= nulls.word(last); // without what lies behind the last row
        }
        _ => nulls.or_to(target, at),
    }
}

/// Writes row `at` of the columns of a run. False when a value is null or has another form.
#[inline(always)]
fn set_run<T>(cells: &mut [T], run: &Run, at: usize, values: &[Value<'_>], get: impl Fn(&Value<'_>) -> Option<T>) -> bool {
    // A run is counted in words, except booleans: those have a slab of their own.
    let scale = if run.physical == PhysicalType::Boolean { 1 } else { 8 / size_of::<T>() };
    let stride = run.stride * scale;
    let columns = cells[run.values * scale..][..stride * values.len()].chunks_exact_mut(stride);
    let mut is_whole = true;
    for (column, value) in columns.zip(values) {
        match get(value) {
            Some(value) => column[at] = value,
            None => is_whole = false,
        }
    }
    is_whole
}

#[inline(always)]
fn copy_cells<T: Copy>(target: &mut [T], at: usize, source: &[T], start: usize, count: usize) {
    if count == 1 {
        target[at] = source[start]; // a row: no call for a few bytes
    } else {
        target[at..at + count].copy_from_slice(&source[start..start + count]);
    }
}
