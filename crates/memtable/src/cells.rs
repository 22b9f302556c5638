//! The memory of a block: slabs and arenas.

mod fill;

use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};
use tsloom_bitmap::words;
use tsloom_model::{PhysicalType, TextRef, ValuesRef};

use crate::layout::{Layout, Slot};
use crate::pool::{Ledger, Slab, slab_bytes};

/// A value of fixed width.
pub(crate) trait Number: Copy + Default {
    /// A column from its first row on, and whatever lies behind it.
    fn all<'a>(cells: &'a Cells, slot: &Slot) -> &'a [Self];
    /// The values, if they are of this form.
    fn of(values: ValuesRef<'_>) -> Option<&[Self]>;
}

impl Number for bool {
    fn all<'a>(cells: &'a Cells, slot: &Slot) -> &'a [Self] {
        cells.bools(slot)
    }
    fn of(values: ValuesRef<'_>) -> Option<&[Self]> {
        if let ValuesRef::Boolean(values) = values { Some(values) } else { None }
    }
}

/// One `impl` for each number that lies in words.
macro_rules! number {
    ($($type:ty, $form:ident;)+) => {
        $(impl Number for $type {
            #[inline]
            fn all<'a>(cells: &'a Cells, slot: &Slot) -> &'a [Self] {
                cast_slice(&cells.part(slot.part)[slot.values as usize..])
            }
            #[inline]
            fn of(values: ValuesRef<'_>) -> Option<&[Self]> {
                if let ValuesRef::$form(values) = values { Some(values) } else { None }
            }
        })+
    };
}

number! { i32, Int32; i64, Int64; f32, Float; f64, Double; }

/// The memory of a block, without knowledge of what is written.
#[derive(Debug)]
pub(crate) struct Cells {
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

impl Cells {
    /// Memory for the last part of `layout`, null in the first `row_count` rows.
    pub(crate) fn add_part(&mut self, layout: &Layout, row_count: usize) {
        let part = layout.parts().len() - 1;
        let (ledger, before) = (Arc::clone(self.ledger()), self.rest_bytes());
        let rest = self.rest.get_or_insert_default();
        rest.parts.reserve_exact(1);
        rest.parts.push(Slab::new(&ledger, layout.parts()[part].words as usize));
        ledger.charge(self.rest_bytes() - before);
        self.begin_rest(layout, part as u16);
        let (start, count) = layout.null_area(part as u16);
        let slab = self.part_mut(part as u16);
        slab[start..start + count].fill(0);
        for slot in layout.slots().iter().filter(|slot| slot.part as usize == part) {
            words::set_range(&mut slab[slot.nulls as usize..], 0, row_count);
            if slot.physical == PhysicalType::Text {
                cast_slice_mut::<u64, u32>(&mut slab[slot.values as usize..])[..=row_count].fill(0);
            }
        }
    }

    /// Makes what the booleans and texts of a part need beside its slab.
    fn begin_rest(&mut self, layout: &Layout, part: u16) {
        let bools = layout.parts()[part as usize].bools as usize;
        let arena_count = self.rest.as_ref().map_or(0, |rest| rest.arenas.len());
        if bools > 0 || layout.text_count() > arena_count {
            let (ledger, before) = (Arc::clone(self.ledger()), self.rest_bytes());
            let rest = self.rest.get_or_insert_default();
            if bools > 0 {
                rest.bools.reserve_exact(part as usize + 1 - rest.bools.len());
                rest.bools.resize_with(part as usize, || None);
                rest.bools.push(Some(Slab::new(&ledger, bools)));
            }
            rest.arenas.reserve_exact(layout.text_count() - arena_count);
            rest.arenas.resize_with(layout.text_count(), || Arena { slab: None, used: 0 });
            ledger.charge(self.rest_bytes() - before);
        }
    }

    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
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
}

impl Cells {
    pub(crate) fn times(&self, row_count: usize) -> &[i64] {
        &cast_slice(&self.slab)[..row_count]
    }

    /// The null words of a column.
    pub(crate) fn null_words(&self, slot: &Slot) -> &[u64] {
        &self.part(slot.part)[slot.nulls as usize..]
    }

    /// `count` rows of a column from `start` on; slots of null rows hold anything.
    pub(crate) fn values(&self, slot: &Slot, start: usize, count: usize) -> ValuesRef<'_> {
        let (from, rows) = (slot.values as usize, start..start + count);
        let words = self.part(slot.part);
        match slot.physical {
            PhysicalType::Boolean => ValuesRef::Boolean(&self.bools(slot)[rows]),
            PhysicalType::Int32 => ValuesRef::Int32(&cast_slice(&words[from..])[rows]),
            PhysicalType::Int64 => ValuesRef::Int64(&cast_slice(&words[from..])[rows]),
            PhysicalType::Float => ValuesRef::Float(&cast_slice(&words[from..])[rows]),
            PhysicalType::Double => ValuesRef::Double(&cast_slice(&words[from..])[rows]),
            PhysicalType::Text => {
                let offsets = &cast_slice(&words[from..])[start..=start + count];
                ValuesRef::Text(TextRef::new(offsets, self.arena(slot).bytes()).expect("offsets rise and end within the arena"))
            }
        }
    }

    /// End offsets of a text column, the first 0, and its bytes.
    pub(crate) fn text(&self, slot: &Slot) -> (&[u32], &[u8]) {
        (cast_slice(&self.part(slot.part)[slot.values as usize..]), self.arena(slot).bytes())
    }

    fn arena(&self, slot: &Slot) -> &Arena {
        &self.rest.as_ref().expect("text makes a rest").arenas[slot.text as usize]
    }

    /// Bytes of text in a column.
    pub(crate) fn text_bytes(&self, slot: &Slot) -> usize {
        self.arena(slot).used
    }

    /// Bytes of text that the fullest column holds.
    pub(crate) fn text_bytes_max(&self) -> usize {
        let arenas = self.rest.as_ref().map_or(&[][..], |rest| &rest.arenas);
        arenas.iter().map(|arena| arena.used).max().unwrap_or(0)
    }

    /// Bytes of the slabs and lists.
    pub(crate) fn byte_count(&self) -> usize {
        let rest = self.rest.as_ref().map_or(0, |rest| {
            let parts: usize = rest.parts.iter().map(|slab| size_of_val(&**slab)).sum();
            let bools: usize = rest.bools.iter().flatten().map(|slab| size_of_val(&**slab)).sum();
            let arenas: usize = rest.arenas.iter().flat_map(|arena| &arena.slab).map(|slab| size_of_val(&**slab)).sum();
            parts + bools + arenas + rest.heap_bytes()
        });
        size_of_val(&*self.slab) + rest
    }

    /// The first rows in memory of its own.
    pub(crate) fn copy(&self, layout: &Layout, row_count: usize) -> Self {
        let (ledger, parts) = (self.ledger(), layout.parts());
        let rest = self.rest.as_ref().map(|rest| {
            Box::new(Rest {
                parts: parts[1..].iter().map(|part| Slab::new(ledger, part.words as usize)).collect(),
                bools: rest.bools.iter().map(|slab| slab.as_ref().map(|slab| Slab::new(ledger, slab.len()))).collect(),
                arenas: rest.arenas.iter().map(|arena| arena.copy(ledger)).collect(),
            })
        });
        let mut copy = Self { slab: Slab::new(ledger, parts[0].words as usize), rest };
        ledger.charge(copy.rest_bytes());
        copy.copy_rows(self, layout, row_count);
        copy
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.ledger().release(self.rest_bytes());
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

/// The lists of a [`Rest`] as they will be, to know what a part takes before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RestState {
    is_there: bool,
    parts: usize,
    bools: usize,
    arenas: usize,
}

impl RestState {
    pub(crate) fn of(cells: &Cells) -> Self {
        cells.rest.as_ref().map_or_else(Self::default, |rest| Self {
            is_there: true,
            parts: rest.parts.capacity(),
            bools: rest.bools.capacity(),
            arenas: rest.arenas.capacity(),
        })
    }

    fn heap_bytes(self) -> usize {
        let lists =
            self.parts * size_of::<Slab<u64>>() + self.bools * size_of::<Option<Slab<bool>>>() + self.arenas * size_of::<Arena>();
        if self.is_there { size_of::<Rest>() + lists } else { 0 }
    }

    /// The last part of `layout` is made; returns the bytes more.
    pub(crate) fn add_part(&mut self, layout: &Layout) -> usize {
        let before = self.heap_bytes();
        let part = layout.parts().len() - 1;
        let size = layout.parts()[part];
        let mut slabs = slab_bytes::<u64>(size.words as usize);
        self.is_there |= part > 0 || size.bools > 0 || layout.text_count() > 0;
        self.parts = self.parts.max(part);
        if size.bools > 0 {
            slabs += slab_bytes::<bool>(size.bools as usize);
            self.bools = self.bools.max(part + 1);
        }
        self.arenas = self.arenas.max(layout.text_count());
        slabs + self.heap_bytes() - before
    }
}
