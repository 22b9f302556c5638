//! Gathering rows from wherever they lie into one buffer a column.
//!
//! Where the rows lie is found out for 64 of them at a time, once for all columns: a [`Chunk`]. Then each column copies its
//! values in a loop that does nothing else, so that many loads are under way at once: rows in random order cost a miss of
//! the caches each, and what counts is how many of those overlap.
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
        for (start, times) in (0..).step_by(CHUNK_ROWS).zip(self.times.chunks(CHUNK_ROWS)) {
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

/// Rows of a chunk: one null word.
const CHUNK_ROWS: usize = 64;

/// Where some rows lie, in blocks of one layout.
struct Chunk<'a> {
    layout: &'a Arc<Layout>,
    cells: [&'a Cells; CHUNK_ROWS],
    offsets: [u32; CHUNK_ROWS],
    count: usize,
    /// The rows follow each other in one block.
    is_run: bool,
}

impl<'a> Chunk<'a> {
    /// The first of `rows`: 64, fewer where the layout changes or a run ends with its block.
    #[inline]
    fn new(blocks: &'a Blocks, rows: &[u32]) -> Self {
        let rows = &rows[..rows.len().min(CHUNK_ROWS)];
        let (mut index, offset) = blocks.locate(rows[0] as usize);
        let mut block = blocks.get(index);
        let mut chunk = Self {
            layout: block.layout(),
            cells: [block.cells(); CHUNK_ROWS],
            offsets: [offset as u32; CHUNK_ROWS],
            count: rows.len().min(block.row_count() - offset),
            is_run: rows.windows(2).fold(true, |all, pair| all & (pair[0].wrapping_add(1) == pair[1])),
        };
        if chunk.is_run {
            return chunk;
        }
        for (count, &row) in rows.iter().enumerate() {
            let (row_index, offset) = blocks.locate(row as usize);
            if row_index != index {
                index = row_index;
                block = blocks.get(index);
                if !Arc::ptr_eq(block.layout(), chunk.layout) {
                    chunk.count = count;
                    return chunk;
                }
            }
            chunk.cells[count] = block.cells();
            chunk.offsets[count] = offset as u32;
        }
        chunk.count = rows.len();
        chunk
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
        let bits = self.null_bits(slot);
        if bits != 0 {
            words::or_at(nulls, at, &[bits], 0, self.count);
        }
    }

    fn copy_values<T: Number>(&self, slot: &Slot, target: &mut [T]) {
        let offset = self.offsets[0] as usize;
        if self.is_run {
            target.copy_from_slice(&T::all(self.cells[0], slot)[offset..offset + self.count]);
            return;
        }
        for ((target, cells), offset) in target.iter_mut().zip(self.cells).zip(self.offsets) {
            *target = T::all(cells, slot)[offset as usize];
        }
    }

    fn null_bits(&self, slot: &Slot) -> u64 {
        if self.is_run {
            return words::load(self.cells[0].null_words(slot), self.offsets[0] as usize) & words::low_mask(self.count);
        }
        let places = self.cells[..self.count].iter().zip(self.offsets).enumerate();
        places.fold(0, |bits, (index, (cells, offset))| {
            bits | u64::from(words::get(cells.null_words(slot), offset as usize)) << index
        })
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
