//! Gathering rows from wherever they lie into one buffer a column.
//!
//! Spans of sorted rows are short: seven rows where one in twenty came late. A span of up to sixteen values is copied as sixteen,
//! without a loop; what is too much is overwritten by the next span.

use tsloom_bitmap::words;
use tsloom_model::{TextValues, Values};

use crate::block::Block;
use crate::blocks::Blocks;
use crate::buffer::ColumnBuffer;
use crate::cells::{Cells, Number};
use crate::layout::{Layout, Slot};
use crate::listview::ListView;
use crate::tombstone::Floors;

/// What is gathered next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pick {
    /// Neighbouring rows of a block; `row` is the number of the first.
    Run { block: usize, offset: usize, row: usize, count: usize },
    /// Rows of one time, merged.
    Group { position: usize, count: usize, time: i64 },
}

/// Values up to here are copied as so many.
const SPAN_MAX: usize = 16;

/// What is gathered, and from where.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a> {
    pub(crate) view: &'a ListView,
    pub(crate) picks: &'a [Pick],
    /// One time a row of the result.
    pub(crate) times: &'a [i64],
}

impl<'a> Gather<'a> {
    /// Fills `buffer` with column `id`, in which `floors` are deleted.
    pub(crate) fn column(self, id: u32, floors: &Floors, buffer: &mut ColumnBuffer) {
        let (values, nulls) = buffer.begin(self.times.len());
        let finder = Finder { blocks: self.view.blocks(), id, block: usize::MAX, layout: None, found: None };
        match values {
            Values::Boolean(values) => self.numbers(finder, floors, values, nulls),
            Values::Int32(values) => self.numbers(finder, floors, values, nulls),
            Values::Int64(values) => self.numbers(finder, floors, values, nulls),
            Values::Float(values) => self.numbers(finder, floors, values, nulls),
            Values::Double(values) => self.numbers(finder, floors, values, nulls),
            Values::Text(values) => self.texts(finder, floors, values, nulls),
        }
        if !floors.is_empty() {
            self.mark_deleted(floors, nulls);
        }
        buffer.end();
    }

    fn numbers<T: Number>(self, mut finder: Finder<'a>, floors: &Floors, values: &mut Vec<T>, nulls: &mut [u64]) {
        values.clear();
        values.resize(self.times.len(), T::default());
        let mut done = 0;
        for pick in self.picks {
            match *pick {
                Pick::Run { block, offset, count, .. } => {
                    match finder.find(block) {
                        None => set_null(nulls, done, count),
                        Some((cells, slot)) => {
                            copy_span(&mut values[done..], T::all(cells, slot), offset, count);
                            copy_nulls(nulls, done, cells.null_words(slot), offset, count);
                        }
                    }
                    done += count;
                }
                Pick::Group { position, count, time } => {
                    match self.latest(&mut finder, position, count, floors.at(time) as usize) {
                        None => set_null(nulls, done, 1),
                        Some((cells, slot, offset)) => values[done] = T::all(cells, slot)[offset],
                    }
                    done += 1;
                }
            }
        }
    }

    fn texts(self, mut finder: Finder<'a>, floors: &Floors, values: &mut TextValues, nulls: &mut [u64]) {
        values.clear();
        let mut done = 0;
        for pick in self.picks {
            match *pick {
                Pick::Run { block, offset, count, .. } => {
                    match finder.find(block) {
                        None => {
                            set_null(nulls, done, count);
                            values.push_repeated(&[], count);
                        }
                        Some((cells, slot)) => {
                            push_texts(values, cells.text(slot), offset, count);
                            copy_nulls(nulls, done, cells.null_words(slot), offset, count);
                        }
                    }
                    done += count;
                }
                Pick::Group { position, count, time } => {
                    match self.latest(&mut finder, position, count, floors.at(time) as usize) {
                        None => {
                            set_null(nulls, done, 1);
                            values.push(&[]);
                        }
                        Some((cells, slot, offset)) => push_texts(values, cells.text(slot), offset, 1),
                    }
                    done += 1;
                }
            }
        }
    }

    /// Where the latest row is that has a value, of rows of one time, above the floor of a delete.
    fn latest(
        self,
        finder: &mut Finder<'a>,
        position: usize,
        count: usize,
        floor: usize,
    ) -> Option<(&'a Cells, &'a Slot, usize)> {
        let sorted = self.view.sorted();
        for position in (position..position + count).rev() {
            let row = sorted.map_or(position, |sorted| sorted.rows()[position] as usize);
            if row < floor {
                return None;
            }
            let (block, offset) = self.view.blocks().locate(row);
            if let Some((cells, slot)) = finder.find(block)
                && !words::get(cells.null_words(slot), offset)
            {
                return Some((cells, slot, offset));
            }
        }
        None
    }

    /// Marks the cells that a delete covers; those of merged rows were left out before.
    fn mark_deleted(self, floors: &Floors, nulls: &mut [u64]) {
        let mut done = 0;
        for pick in self.picks {
            let Pick::Run { row, count, .. } = *pick else {
                done += 1;
                continue;
            };
            for (index, &time) in self.times[done..done + count].iter().enumerate() {
                if row + index < floors.at(time) as usize {
                    words::set(nulls, done + index);
                }
            }
            done += count;
        }
    }
}

/// Finds one column in block after block.
struct Finder<'a> {
    blocks: &'a Blocks,
    id: u32,
    /// The block found last.
    block: usize,
    /// Its layout, and the slot in it.
    layout: Option<(&'a Layout, Option<&'a Slot>)>,
    found: Option<(&'a Cells, &'a Slot)>,
}

impl<'a> Finder<'a> {
    /// The column in a block; `None` when it is implicit there.
    #[inline]
    fn find(&mut self, index: usize) -> Option<(&'a Cells, &'a Slot)> {
        if index != self.block {
            self.block = index;
            self.turn_to(self.blocks.get(index));
        }
        self.found
    }

    fn turn_to(&mut self, block: &'a Block) {
        let layout: &'a Layout = block.layout();
        let slot = match self.layout {
            Some((known, slot)) if std::ptr::eq(known, layout) => slot,
            _ => layout.position(self.id).map(|position| &layout.slots()[position]),
        };
        self.layout = Some((layout, slot));
        self.found = slot.map(|slot| (block.cells(), slot));
    }
}

#[inline]
fn copy_span<T: Copy>(target: &mut [T], source: &[T], offset: usize, count: usize) {
    let source = &source[offset..];
    if count == 1 {
        target[0] = source[0];
    } else if count <= SPAN_MAX
        && let (Some(target), Some(source)) = (target.first_chunk_mut::<SPAN_MAX>(), source.first_chunk::<SPAN_MAX>())
    {
        *target = *source;
    } else {
        target[..count].copy_from_slice(&source[..count]);
    }
}

#[inline]
fn copy_nulls(target: &mut [u64], at: usize, source: &[u64], offset: usize, count: usize) {
    if count > 64 {
        words::or_at(target, at, source, offset, count);
        return;
    }
    let bits = words::load(source, offset) & words::low_mask(count);
    if bits != 0 {
        target[at / 64] |= bits << (at % 64);
        if at % 64 + count > 64 {
            target[at / 64 + 1] |= bits >> (64 - at % 64);
        }
    }
}

fn set_null(nulls: &mut [u64], at: usize, count: usize) {
    words::set_range(nulls, at, count);
}

/// Appends `count` cells from `offset` on.
fn push_texts(values: &mut TextValues, (offsets, bytes): (&[u32], &[u8]), offset: usize, count: usize) {
    let offsets = &offsets[offset..=offset + count];
    let (from, to) = (offsets[0] as usize, offsets[count] as usize);
    let (ends, text) = values.parts_mut();
    let base = text.len();
    u32::try_from(base + (to - from)).expect("the rows of one answer stay below 4 GiB of text");
    text.extend_from_slice(&bytes[from..to]);
    ends.extend(offsets[1..].iter().map(|end| (base + (*end as usize - from)) as u32));
}
