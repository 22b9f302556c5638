//! Where the columns of a block lie: a directory of the columns present, shared by every block of the same shape.
//!
//! ```text
//! part 0   | times, i64 x rows | null words of all columns together | values, column by column |
//! part n   |                   | null words of its columns          | values, column by column |
//! ```
//!
//! Part 0 is what the first write to the block brought; a later part is made when a column gets its first value in a
//! block that is already open. Each area begins at a multiple of 64 bytes, unless there are fewer than eight null words. Blocks of more than 64 rows leave 64 bytes
//! after each column: at a distance of a power of two a row would hit the same few sets of the first cache.
//! Text columns keep their end offsets (rows + 1 u32) in the slab and their bytes in an arena; booleans have a slab of
//! their own, because no byte but 0 and 1 is a `bool`.

use std::sync::Arc;

use tsloom_bitmap::words;
use tsloom_model::PhysicalType;

use crate::block::ARC_BYTES;
use crate::pool::{Charge, Ledger};
use crate::write::WriteColumns;

/// How many layouts of each kind a table remembers; a table in steady use has one or two.
const REMEMBERED_MAX: usize = 8;

/// Where one column lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// First word of the nulls, in the slab of `part`.
    pub(crate) nulls: u32,
    /// First word of the values (text: of the offsets) in the slab of `part`; a boolean's first cell in its bool slab.
    pub(crate) values: u32,
    /// Number of the arena, text only.
    pub(crate) text: u32,
    pub(crate) part: u16,
    pub(crate) physical: PhysicalType,
}

/// What a part takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartSize {
    pub(crate) words: u32,
    pub(crate) bools: u32,
    null_start: u32,
    null_count: u32,
}

/// Neighbouring columns of one form, at equal distances: what the row path writes in one loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) physical: PhysicalType,
    /// First value of the first column, in words or, for booleans, cells.
    pub(crate) values: usize,
    /// From one column to the next.
    pub(crate) stride: usize,
    pub(crate) column_count: usize,
}

/// The columns present in a block, ascending by id, and their places.
#[derive(Debug)]
pub(crate) struct Layout {
    row_max: u32,
    text_count: u32,
    ids: Box<[u32]>,
    slots: Box<[Slot]>,
    parts: Box<[PartSize]>,
    /// Of a layout of one part.
    runs: Box<[Run]>,
    _charge: Charge,
}

/// Rounds up to whole cache lines.
fn line_words(word_count: usize) -> usize {
    word_count.next_multiple_of(8)
}

fn small(count: usize) -> u32 {
    u32::try_from(count).expect("a block stays below 32 GiB")
}

/// Words (text: of the offsets) or cells (booleans) that a column of `row_max` rows takes, padding included.
fn value_units(physical: PhysicalType, row_max: usize) -> usize {
    let padding = if row_max > 64 { 8 } else { 0 };
    match physical {
        PhysicalType::Boolean => row_max.next_multiple_of(64) + 8 * padding,
        PhysicalType::Text => line_words((row_max + 1).div_ceil(2)) + padding,
        PhysicalType::Int32 | PhysicalType::Float => line_words(row_max.div_ceil(2)) + padding,
        PhysicalType::Int64 | PhysicalType::Double => line_words(row_max) + padding,
    }
}

impl Layout {
    /// `ids` rise strictly; `physical_of` is asked by position in `ids`.
    fn new(ledger: &Arc<Ledger>, row_max: usize, ids: &[u32], physical_of: impl Fn(usize) -> PhysicalType) -> Arc<Self> {
        let mut slots = Vec::with_capacity(ids.len());
        let mut text_count = 0;
        let size = place(line_words(row_max), 0, row_max, ids, physical_of, &mut text_count, &mut slots);
        Self::build(ledger, row_max, text_count, ids.into(), slots.into(), [size].into())
    }

    /// The same columns at the same places, and `added` ones in a part of their own.
    fn extended(&self, ledger: &Arc<Ledger>, added: &[u32], physical_of: impl Fn(usize) -> PhysicalType) -> Arc<Self> {
        let part = u16::try_from(self.parts.len()).expect("a part has at least one row more than the one before");
        let mut new_slots = Vec::with_capacity(added.len());
        let mut text_count = self.text_count;
        let size = place(0, part, self.row_max(), added, physical_of, &mut text_count, &mut new_slots);
        let mut ids = Vec::with_capacity(self.ids.len() + added.len());
        let mut slots = Vec::with_capacity(ids.capacity());
        let mut mine = self.ids.iter().zip(&self.slots).peekable();
        for (id, slot) in added.iter().zip(new_slots) {
            while let Some((mine_id, mine_slot)) = mine.next_if(|(mine_id, _)| *mine_id < id) {
                ids.push(*mine_id);
                slots.push(*mine_slot);
            }
            ids.push(*id);
            slots.push(slot);
        }
        for (id, slot) in mine {
            ids.push(*id);
            slots.push(*slot);
        }
        let parts = self.parts.iter().copied().chain([size]).collect();
        Self::build(ledger, self.row_max(), text_count, ids.into(), slots.into(), parts)
    }

    fn build(
        ledger: &Arc<Ledger>,
        row_max: usize,
        text_count: u32,
        ids: Box<[u32]>,
        slots: Box<[Slot]>,
        parts: Box<[PartSize]>,
    ) -> Arc<Self> {
        let runs = if parts.len() == 1 { runs_of(&slots, row_max) } else { Box::default() };
        let lists = size_of_val(&*ids) + size_of_val(&*slots) + size_of_val(&*parts) + size_of_val(&*runs);
        let _charge = Charge::new(ledger, size_of::<Self>() + ARC_BYTES + lists);
        Arc::new(Self { row_max: small(row_max), text_count, ids, slots, parts, runs, _charge })
    }

    /// Rows a block of this layout has room for.
    pub(crate) fn row_max(&self) -> usize {
        self.row_max as usize
    }

    /// The columns present, ascending.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    pub(crate) fn slot(&self, position: usize) -> Slot {
        self.slots[position]
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn parts(&self) -> &[PartSize] {
        &self.parts
    }

    /// Runs of columns of one form; empty when there are later parts.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(crate) fn text_count(&self) -> usize {
        self.text_count as usize
    }

    /// True when the columns present in `source` are exactly those of the layout, and none is text.
    #[inline]
    pub(crate) fn is_of<C: WriteColumns + ?Sized>(&self, source: &C) -> bool {
        source.count() == self.ids.len()
            && self.text_count == 0
            && (0..source.count()).all(|index| source.id(index) == self.ids[index] && source.is_present(index))
    }

    /// The position of a column in [`ids`](Self::ids).
    pub(crate) fn position(&self, id: u32) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// First word and length of the null words of a part: those of all its columns lie together.
    pub(crate) fn null_area(&self, part: u16) -> (usize, usize) {
        let size = &self.parts[part as usize];
        (size.null_start as usize, size.null_count as usize)
    }
}

fn runs_of(slots: &[Slot], row_max: usize) -> Box<[Run]> {
    let run = |slots: &[Slot]| Run {
        physical: slots[0].physical,
        values: slots[0].values as usize,
        stride: value_units(slots[0].physical, row_max),
        column_count: slots.len(),
    };
    slots.chunk_by(|left, right| left.physical == right.physical).map(run).collect()
}

/// Gives each column its place in a part whose first `used` words are taken.
fn place(
    used: usize,
    part: u16,
    row_max: usize,
    ids: &[u32],
    physical_of: impl Fn(usize) -> PhysicalType,
    text_count: &mut u32,
    slots: &mut Vec<Slot>,
) -> PartSize {
    let null_words = words::word_count(row_max);
    // A few null words are not rounded up: a sparse block is little more than its times and one column.
    let null_area = ids.len() * null_words;
    let mut word = used + if null_area < 8 { null_area } else { line_words(null_area) };
    let mut bool_cell = 0;
    for index in 0..ids.len() {
        let physical = physical_of(index);
        let units = value_units(physical, row_max);
        let values = match physical {
            PhysicalType::Boolean => {
                bool_cell += units;
                bool_cell - units
            }
            _ => {
                word += units;
                word - units
            }
        };
        slots.push(Slot { nulls: small(used + index * null_words), values: small(values), text: *text_count, part, physical });
        *text_count += u32::from(physical == PhysicalType::Text);
    }
    PartSize { words: small(word), bools: small(bool_cell), null_start: small(used), null_count: small(null_area) }
}

/// The layouts a table used last, so that its devices and their blocks share them.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    bases: Vec<Arc<Layout>>,
    extensions: Vec<(Arc<Layout>, Arc<Layout>)>,
}

impl Layouts {
    /// Bytes of the lists of layouts; the layouts charge for themselves.
    pub(crate) fn list_bytes(&self) -> usize {
        self.bases.capacity() * size_of::<Arc<Layout>>() + self.extensions.capacity() * size_of::<(Arc<Layout>, Arc<Layout>)>()
    }

    /// The layout of the block opened last.
    pub(crate) fn latest(&self) -> Option<&Arc<Layout>> {
        self.bases.first()
    }

    /// The one-part layout of these columns.
    pub(crate) fn base(
        &mut self,
        ledger: &Arc<Ledger>,
        row_max: usize,
        ids: &[u32],
        physical_of: impl Fn(usize) -> PhysicalType,
    ) -> Arc<Layout> {
        let known = self.bases.iter().position(|layout| layout.row_max() == row_max && layout.ids() == ids);
        match known {
            Some(index) => self.bases[..=index].rotate_right(1),
            None => {
                self.bases.truncate(REMEMBERED_MAX - 1);
                self.bases.insert(0, Layout::new(ledger, row_max, ids, physical_of));
            }
        }
        Arc::clone(&self.bases[0])
    }

    /// `from` with `added` columns, which it has not and which rise strictly.
    pub(crate) fn extended(
        &mut self,
        ledger: &Arc<Ledger>,
        from: &Arc<Layout>,
        added: &[u32],
        physical_of: impl Fn(usize) -> PhysicalType,
    ) -> Arc<Layout> {
        let known = self.extensions.iter().position(|(base, wide)| {
            Arc::ptr_eq(base, from)
                && wide.ids.len() == from.ids.len() + added.len()
                && added.iter().all(|id| wide.position(*id).is_some())
        });
        match known {
            Some(index) => self.extensions[..=index].rotate_right(1),
            None => {
                self.extensions.truncate(REMEMBERED_MAX - 1);
                self.extensions.insert(0, (Arc::clone(from), from.extended(ledger, added, physical_of)));
            }
        }
        Arc::clone(&self.extensions[0].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::SlabPool;

    fn ledger() -> Arc<Ledger> {
        Ledger::new(SlabPool::new(0))
    }

    #[test]
    fn sizes_are_those_of_the_design() {
        let ids: Vec<u32> = (0..64).collect();
        let bytes = |row_max, ids: &[u32]| 8 * Layout::new(&ledger(), row_max, ids, |_| PhysicalType::Int32).parts()[0].words;
        assert_eq!(bytes(64, &ids), 17_408);
        assert_eq!(bytes(256, &ids), 73_728);
        assert_eq!(bytes(64, &ids[..1]), 776);
        assert_eq!(bytes(64, &[]), 512);
    }

    #[test]
    fn areas_do_not_overlap() {
        for row_max in [8, 64, 256, 1024] {
            let physical_of = |id: usize| match id % 6 {
                0 => PhysicalType::Boolean,
                1 => PhysicalType::Int32,
                2 => PhysicalType::Int64,
                3 => PhysicalType::Text,
                4 => PhysicalType::Float,
                _ => PhysicalType::Double,
            };
            let base = Layout::new(&ledger(), row_max, &[1, 3, 5, 6], |index| physical_of([1, 3, 5, 6][index]));
            let wide = base.extended(&ledger(), &[0, 2, 4, 9], |index| physical_of([0, 2, 4, 9][index]));
            assert_eq!(wide.ids(), [0, 1, 2, 3, 4, 5, 6, 9]);
            assert_eq!(wide.text_count(), 2);
            let mut areas = vec![(0, 0, row_max)];
            for slot in wide.slots() {
                areas.push((slot.part, slot.nulls as usize, words::word_count(row_max)));
                let words = match slot.physical {
                    PhysicalType::Boolean => continue,
                    PhysicalType::Text => (row_max + 1).div_ceil(2),
                    PhysicalType::Int32 | PhysicalType::Float => row_max / 2,
                    PhysicalType::Int64 | PhysicalType::Double => row_max,
                };
                areas.push((slot.part, slot.values as usize, words));
            }
            areas.sort_unstable();
            for pair in areas.windows(2) {
                assert!(pair[0].0 < pair[1].0 || pair[0].1 + pair[0].2 <= pair[1].1, "{pair:?}");
            }
            for (part, start, count) in areas {
                assert!(start + count <= wide.parts()[part as usize].words as usize);
            }
        }
    }

    #[test]
    fn the_same_columns_share_one_layout() {
        let (ledger, mut layouts) = (ledger(), Layouts::default());
        let mut base = |ids: &[u32]| layouts.base(&ledger, 64, ids, |_| PhysicalType::Int32);
        let first = base(&[1, 2]);
        assert!(!Arc::ptr_eq(&first, &base(&[1])));
        assert!(Arc::ptr_eq(&first, &base(&[1, 2])));
        let wide = layouts.extended(&ledger, &first, &[0], |_| PhysicalType::Int32);
        assert!(Arc::ptr_eq(&wide, &layouts.extended(&ledger, &first, &[0], |_| PhysicalType::Int32)));
        assert!(!Arc::ptr_eq(&wide, &layouts.extended(&ledger, &first, &[3], |_| PhysicalType::Int32)));
        drop((first, wide, layouts));
        assert_eq!(ledger.bytes(), 0);
    }
}
