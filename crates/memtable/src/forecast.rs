//! What a write will take, before it is made.
//!
//! Numbers are exact for columns of fixed width: the same layouts, size classes and lists are gone through as in the write
//! itself. Text is not in them: arenas grow with their content, see [`Tablet::value_byte_count`](tsloom_tablet::Tablet::value_byte_count).
//! Layouts that a table has not used before are made now and charged to it.

use std::ops::Range;
use std::sync::Arc;

use tsloom_bitmap::NullWords;

use crate::block::{ARC_BYTES, Block};
use crate::blocks::Growth;
use crate::cells::RestState;
use crate::layout::Layout;
use crate::list::AlignedList;
use crate::shape::ListShape;
use crate::write::WriteColumns;

/// A list as it will be after the writes foreseen so far.
#[derive(Debug)]
pub(crate) struct Forecast {
    full_block_rows: usize,
    row_count: usize,
    growth: Growth,
    tail: Option<Tail>,
    /// Bytes of the tail when a snapshot holds it: it is copied at the first write.
    copied_bytes: usize,
}

#[derive(Debug)]
struct Tail {
    layout: Arc<Layout>,
    row_count: usize,
    rest: RestState,
}

impl Forecast {
    pub(crate) fn new(list: &AlignedList) -> Self {
        let blocks = list.blocks();
        let tail = blocks.tail();
        let is_copied = blocks.is_tail_shared() && tail.is_some_and(|tail| tail.room() > 0);
        Self {
            full_block_rows: list.full_block_rows(),
            row_count: list.row_count(),
            growth: blocks.growth(),
            copied_bytes: tail.filter(|_| is_copied).map_or(0, Block::byte_count),
            tail: tail.map(|tail| Tail {
                layout: Arc::clone(tail.layout()),
                row_count: tail.row_count(),
                rest: RestState::of(tail.cells()),
            }),
        }
    }

    /// Bytes that appending the rows will add.
    pub(crate) fn append<C: WriteColumns + ?Sized>(
        &mut self,
        shape: &mut ListShape,
        rows: Range<usize>,
        source: &C,
        failed: Option<NullWords<'_>>,
    ) -> usize {
        let mut bytes = if rows.is_empty() { 0 } else { std::mem::take(&mut self.copied_bytes) };
        let Range { mut start, end } = rows;
        while start < end {
            let room = self.tail.as_ref().map_or(0, |tail| tail.layout.row_max() - tail.row_count);
            let row_max = shape.block_rows.next(self.full_block_rows, self.row_count, end - start);
            let count = (end - start).min(if room == 0 { row_max } else { room });
            shape.select(source, start, count, failed);
            match &mut self.tail {
                Some(tail) if room > 0 => {
                    if let Some(wide) = shape.widen(source, &tail.layout) {
                        bytes += tail.rest.add_part(&wide);
                        tail.layout = wide;
                    }
                    tail.row_count += count;
                }
                _ => {
                    let layout = shape.layout_of_selected(source, row_max);
                    let mut rest = RestState::default();
                    bytes += size_of::<Block>() + ARC_BYTES + rest.add_part(&layout) + self.growth.open();
                    self.tail = Some(Tail { layout, row_count: count, rest });
                }
            }
            self.row_count += count;
            start += count;
        }
        bytes
    }
}
