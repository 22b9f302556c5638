//! Gathering rows from wherever they lie into one buffer a column.
//!
//! Where the rows lie is found out once for all columns: a [`Chunk`]. Then each column copies its values in a loop that does
//! nothing else, so that many loads are under way at once: rows in random order cost a miss of the caches each, and what
//! counts is how many of those overlap.
//!
//! Text has no fixed place in a buffer and is appended row by row.

use std::sync::Arc;

use tsloom_bitmap::words;
use tsloom_model::{TextValues, TimeRange, Values};

use crate::block::Block;
use crate::blocks::Blocks;
use crate::buffer::ColumnBuffer;
use crate::cells::{Cells, Number};
use crate::layout::{Layout, Slot};
use crate::listview::ListView;
use crate::projection::Projector;
use crate::query::Wanted;
use crate::tombstone::Floors;

/// What is gathered, in the order of the answer.
#[derive(Debug, Default)]
pub(crate) struct Picks {
    pub(crate) times: Vec<i64>,
    /// One a time; of several rows of one time the last.
    pub(crate) rows: Vec<u32>,
    /// Where several rows of one time are merged; ascending by index.
    pub(crate) groups: Vec<Group>,
}

/// Rows of one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Of the row that they make.
    pub(crate) index: usize,
    /// Their first place in time order.
    pub(crate) position: usize,
    pub(crate) count: usize,
}

impl Picks {
    pub(crate) fn clear(&mut self) {
        self.times.clear();
        self.rows.clear();
        self.groups.clear();
    }

    /// Turns the order round.
    pub(crate) fn reverse(&mut self) {
        self.times.reverse();
        self.rows.reverse();
        self.groups.reverse();
        self.groups.iter_mut().for_each(|group| group.index = self.rows.len() - 1 - group.index);
    }

    /// Fills the buffers of `columns`, in which `floors` are deleted.
    pub(crate) fn gather(
        &self,
        view: &ListView,
        projector: &mut Projector,
        columns: &[Wanted],
        floors: &[Floors],
        buffers: &mut [Option<ColumnBuffer>],
    ) {
        let row_count = self.rows.len();
        buffers.iter_mut().flatten().for_each(|buffer| buffer.begin(row_count));
        let mut done = 0;
        while done < row_count {
            let chunk = Chunk::new(view.blocks(), &self.rows[done..]);
            for (buffer, position) in buffers.iter_mut().zip(projector.positions(chunk.layout)) {
                let Some(buffer) = buffer else { continue };
                match position {
                    Some(position) => chunk.copy_to(buffer, done, &chunk.layout.slot(*position)),
                    None => words::set_range(buffer.parts().1, done, chunk.count),
                }
            }
            done += chunk.count;
        }
        for ((buffer, column), floors) in buffers.iter_mut().zip(columns).zip(floors) {
            if let (Some(buffer), Some((id, _))) = (buffer, column) {
                self.finish(view, *id, floors, buffer);
            }
        }
    }

    /// Appends what is text, merges rows of one time, and makes deleted cells null.
    fn finish(&self, view: &ListView, id: u32, floors: &Floors, buffer: &mut ColumnBuffer) {
        let finder = Finder { view, id, block: usize::MAX, layout: None, found: None };
        let (values, nulls) = buffer.parts();
        match values {
            Values::Boolean(values) => self.merge(finder, floors, values, nulls),
            Values::Int32(values) => self.merge(finder, floors, values, nulls),
            Values::Int64(values) => self.merge(finder, floors, values, nulls),
            Values::Float(values) => self.merge(finder, floors, values, nulls),
            Values::Double(values) => self.merge(finder, floors, values, nulls),
            Values::Text(values) => self.texts(finder, floors, values, nulls),
        }
        if !floors.is_empty() {
            self.mark_deleted(floors, nulls);
        }
        buffer.end();
    }

    /// What was copied is the last row of each group: it stands if it has a value and no delete comes into it.
    fn merge<T: Number>(&self, mut finder: Finder<'_>, floors: &Floors, values: &mut [T], nulls: &mut [u64]) {
        for group in &self.groups {
            let index = group.index;
            if floors.is_empty() && !words::get(nulls, index) {
                continue;
            }
            match finder.latest(group, floors.at(self.times[index])) {
                None => words::set(nulls, index),
                Some((cells, slot, offset)) => {
                    values[index] = T::all(cells, slot)[offset];
                    words::clear(nulls, index);
                }
            }
        }
    }

    fn texts(&self, mut finder: Finder<'_>, floors: &Floors, values: &mut TextValues, nulls: &mut [u64]) {
        let blocks = finder.view.blocks();
        let mut groups = self.groups.iter().peekable();
        let mut index = 0;
        nulls.fill(0);
        while index < self.rows.len() {
            if let Some(group) = groups.next_if(|group| group.index == index) {
                match finder.latest(group, floors.at(self.times[index])) {
                    None => {
                        words::set(nulls, index);
                        values.push(&[]);
                    }
                    Some((cells, slot, offset)) => push_texts(values, cells.text(slot), offset, 1),
                }
                index += 1;
                continue;
            }
            let rows = &self.rows[index..groups.peek().map_or(self.rows.len(), |group| group.index)];
            let (block, offset) = blocks.locate(rows[0] as usize);
            let rises = 1 + rows.windows(2).take_while(|pair| pair[0] + 1 == pair[1]).count();
            let count = rises.min(blocks.get(block).row_count() - offset);
            match finder.find(block) {
                None => {
                    words::set_range(nulls, index, count);
                    values.push_repeated(&[], count);
                }
                Some((cells, slot)) => {
                    push_texts(values, cells.text(slot), offset, count);
                    words::or_at(nulls, index, cells.null_words(slot), offset, count);
                }
            }
            index += count;
        }
    }

    /// Marks the cells that a delete covers; those of merged rows were left out before.
    fn mark_deleted(&self, floors: &Floors, nulls: &mut [u64]) {
        let mut groups = self.groups.iter().peekable();
        for (start, times) in (0..).step_by(PART_ROWS).zip(self.times.chunks(PART_ROWS)) {
            let (first, last) = (times[0], times[times.len() - 1]);
            if !floors.touches(TimeRange { start: first.min(last), end: first.max(last) }) {
                continue;
            }
            for (index, &time) in (start..).zip(times) {
                while groups.next_if(|group| group.index < index).is_some() {}
                if groups.peek().is_none_or(|group| group.index > index) && self.rows[index] < floors.at(time) {
                    words::set(nulls, index);
                }
            }
        }
    }
}

/// Rows of a chunk: as many as a page has, so that a column is read in one go and not in turn with its neighbours.
const CHUNK_ROWS: usize = 1024;

/// Rows of a part of a chunk: one null word.
const PART_ROWS: usize = 64;

/// Where some rows lie, in blocks of one layout.
struct Chunk<'a> {
    layout: &'a Arc<Layout>,
    cells: [&'a Cells; CHUNK_ROWS],
    offsets: [u32; CHUNK_ROWS],
    spreads: [Spread; CHUNK_ROWS / PART_ROWS],
    count: usize,
    may_have_nulls: bool,
}

/// How far the rows of a part are from each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// They follow each other in one block.
    Run,
    /// They are in one block.
    Block,
    Anywhere,
}

/// The block at hand while rows are located.
struct At<'a> {
    blocks: &'a Blocks,
    index: usize,
    block: &'a Block,
}

impl<'a> Chunk<'a> {
    /// The first of `rows`, up to where the layout changes.
    fn new(blocks: &'a Blocks, rows: &[u32]) -> Self {
        let (index, _) = blocks.locate(rows[0] as usize);
        let mut at = At { blocks, index, block: blocks.get(index) };
        let mut chunk = Self {
            layout: at.block.layout(),
            cells: [at.block.cells(); CHUNK_ROWS],
            offsets: [0; CHUNK_ROWS],
            spreads: [Spread::Block; CHUNK_ROWS / PART_ROWS],
            count: 0,
            may_have_nulls: at.block.may_have_nulls(),
        };
        for part in rows[..rows.len().min(CHUNK_ROWS)].chunks(PART_ROWS) {
            if !chunk.take_part(&mut at, part) {
                break;
            }
        }
        chunk
    }

    /// Locates the rows of the next part. False when the layout changes on the way.
    fn take_part(&mut self, at: &mut At<'a>, rows: &[u32]) -> bool {
        let spread = &mut self.spreads[self.count / PART_ROWS];
        let places = self.cells[self.count..].iter_mut().zip(&mut self.offsets[self.count..]);
        let before = self.count;
        for (&row, (cells, place)) in rows.iter().zip(places) {
            let (index, offset) = at.blocks.locate(row as usize);
            if index != at.index {
                (at.index, at.block) = (index, at.blocks.get(index));
                if !Arc::ptr_eq(at.block.layout(), self.layout) {
                    return false;
                }
                self.may_have_nulls |= at.block.may_have_nulls();
                if self.count > before {
                    *spread = Spread::Anywhere;
                }
            }
            (*cells, *place) = (at.block.cells(), offset as u32);
            self.count += 1;
        }
        if *spread == Spread::Block && rows.windows(2).fold(true, |all, pair| all & (pair[0].wrapping_add(1) == pair[1])) {
            *spread = Spread::Run;
        }
        true
    }

    /// Copies values and null bits of a column to the rows from `at` on; text is appended later.
    fn copy_to(&self, buffer: &mut ColumnBuffer, at: usize, slot: &Slot) {
        let (values, nulls) = buffer.parts();
        let rows = at..at + self.count;
        match values {
            Values::Boolean(values) => self.copy_values(slot, &mut values[rows]),
            Values::Int32(values) => self.copy_values(slot, &mut values[rows]),
            Values::Int64(values) => self.copy_values(slot, &mut values[rows]),
            Values::Float(values) => self.copy_values(slot, &mut values[rows]),
            Values::Double(values) => self.copy_values(slot, &mut values[rows]),
            Values::Text(_) => return,
        }
        if self.may_have_nulls {
            self.copy_nulls(slot, nulls, at);
        }
    }

    /// The parts: spread, cells and offsets of each.
    fn parts(&self) -> impl Iterator<Item = (Spread, &[&'a Cells], &[u32])> {
        let cells = self.cells[..self.count].chunks(PART_ROWS);
        let offsets = self.offsets[..self.count].chunks(PART_ROWS);
        self.spreads.iter().zip(cells).zip(offsets).map(|((spread, cells), offsets)| (*spread, cells, offsets))
    }

    fn copy_values<T: Number>(&self, slot: &Slot, target: &mut [T]) {
        for (target, (spread, cells, offsets)) in target.chunks_mut(PART_ROWS).zip(self.parts()) {
            let source = T::all(cells[0], slot);
            match spread {
                Spread::Run => target.copy_from_slice(&source[offsets[0] as usize..][..target.len()]),
                Spread::Block => {
                    target.iter_mut().zip(offsets).for_each(|(target, offset)| *target = source[*offset as usize]);
                }
                Spread::Anywhere => {
                    let places = cells.iter().zip(offsets);
                    let get = |(cells, offset): (&&Cells, &u32)| T::all(cells, slot)[*offset as usize];
                    target.iter_mut().zip(places).for_each(|(target, place)| *target = get(place));
                }
            }
        }
    }

    fn copy_nulls(&self, slot: &Slot, nulls: &mut [u64], at: usize) {
        for (start, (spread, cells, offsets)) in (at..).step_by(PART_ROWS).zip(self.parts()) {
            if spread == Spread::Run {
                words::or_at(nulls, start, cells[0].null_words(slot), offsets[0] as usize, offsets.len());
                continue;
            }
            let places = cells.iter().zip(offsets).enumerate();
            let bits = places.fold(0, |bits, (index, (cells, offset))| {
                bits | u64::from(words::get(cells.null_words(slot), *offset as usize)) << index
            });
            words::or_at(nulls, start, &[bits], 0, offsets.len());
        }
    }
}

/// Finds one column in block after block.
struct Finder<'a> {
    view: &'a ListView,
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
            self.turn_to(self.view.blocks().get(index));
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

    /// Where the latest row of a group is that has a value; rows below `floor` are deleted.
    fn latest(&mut self, group: &Group, floor: u32) -> Option<(&'a Cells, &'a Slot, usize)> {
        let sorted = self.view.sorted();
        for position in (group.position..group.position + group.count).rev() {
            let row = sorted.map_or(position, |sorted| sorted.rows()[position] as usize);
            if row < floor as usize {
                return None;
            }
            let (block, offset) = self.view.blocks().locate(row);
            if let Some((cells, slot)) = self.find(block)
                && !words::get(cells.null_words(slot), offset)
            {
                return Some((cells, slot, offset));
            }
        }
        None
    }
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
