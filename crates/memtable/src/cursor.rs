//! Reading a list: rows in time order, some at a time, each time once.
//!
//! Rows that lie side by side in a block, need no merging and have no deleted cell are lent as slices of the block. All
//! others are gathered into buffers of the cursor, column by column, and lent from there.

use std::sync::Arc;

use tsloom_model::{ColumnView, TimeRange};

use crate::block::Block;
use crate::buffer::ColumnBuffer;
use crate::gather::{Group, Picks};
use crate::listview::ListView;
use crate::projection::Projector;
use crate::query::Request;
use crate::selection::{Piece, Selection};
use crate::textlimit;
use crate::tombstone::Floors;

/// Shorter slices of a block are gathered together with their neighbours.
const SLICE_ROWS_MIN: usize = 64;

/// Rows of one device, ascending or descending in time, no time twice. It owns what it reads: keep it as long as you like.
#[derive(Debug)]
pub struct DeviceCursor {
    view: Arc<ListView>,
    request: Request,
    /// Deletes of cells, one a column of the projection.
    floors: Vec<Floors>,
    selection: Selection,
    /// Rows that are given at once at most.
    rows_max: usize,
    /// Rows given out, counted from the end at which reading began.
    next: Place,
    projector: Projector,
    /// What was gathered last.
    picks: Picks,
    buffers: Vec<Option<ColumnBuffer>>,
    lent: Lent,
}

/// Where the rows are that were given out last.
#[derive(Clone, Copy, Debug)]
enum Lent {
    Slice { block: usize, offset: usize, count: usize },
    Buffers,
}

/// A place between two rows of a selection: `rows` of piece `piece` are before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    piece: usize,
    rows: usize,
}

/// Rows lent by [`DeviceCursor::next_rows`] until its next call.
#[derive(Clone, Copy, Debug)]
pub struct RowsView<'a> {
    times: &'a [i64],
    source: Source<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Slice { block: &'a Block, start: usize, request: &'a Request, positions: &'a [Option<usize>] },
    Buffers { buffers: &'a [Option<ColumnBuffer>], start: usize },
}

impl<'a> RowsView<'a> {
    /// One time a row; none comes twice.
    pub fn times(&self) -> &'a [i64] {
        self.times
    }

    /// Number of rows; never 0.
    pub fn row_count(&self) -> usize {
        self.times.len()
    }

    /// Number of columns of the projection.
    pub fn column_count(&self) -> usize {
        match self.source {
            Source::Slice { positions, .. } => positions.len(),
            Source::Buffers { buffers, .. } => buffers.len(),
        }
    }

    /// Column `index` of the projection; `None` when none of these rows has a value in it.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column(&self, index: usize) -> Option<ColumnView<'a>> {
        let column = match self.source {
            Source::Buffers { buffers, start } => buffers[index].as_ref()?.view()?.slice(start, self.row_count()),
            Source::Slice { block, start, request, positions } => {
                let (position, (_, data_type)) = positions[index].zip(request.columns[index])?;
                block.column(position, data_type, start, self.row_count())
            }
        };
        let all_null = column.nulls().is_some_and(|nulls| nulls.all_null());
        (!all_null).then_some(column)
    }

    /// `count` rows from `start` on.
    ///
    /// # Panics
    /// When they are not all among these rows, or there is none.
    #[must_use]
    pub fn slice(&self, start: usize, count: usize) -> Self {
        assert!(count > 0, "a view has a row");
        let source = match self.source {
            Source::Buffers { buffers, start: first } => Source::Buffers { buffers, start: first + start },
            Source::Slice { block, start: first, request, positions } => {
                Source::Slice { block, start: first + start, request, positions }
            }
        };
        Self { times: &self.times[start..start + count], source }
    }

    pub(crate) fn of_buffers(times: &'a [i64], buffers: &'a [Option<ColumnBuffer>]) -> Self {
        Self { times, source: Source::Buffers { buffers, start: 0 } }
    }

    /// All columns of the projection.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = Option<ColumnView<'a>>> + use<'a> {
        let rows = *self;
        (0..self.column_count()).map(move |index| rows.column(index))
    }
}

impl DeviceCursor {
    pub(crate) fn new(view: Arc<ListView>, request: Request) -> Self {
        let floors: Vec<Floors> = request
            .columns
            .iter()
            .map(|column| match column {
                Some((id, _)) => Floors::new(view.tombstones(), Some(*id), request.range),
                None => Floors::default(),
            })
            .collect();
        let selection = Selection::new(&view, &request, &floors);
        let projector = Projector::new(request.columns.iter().map(|column| column.map(|(id, _)| id)));
        let buffers = request.columns.iter().map(|column| column.map(|(_, data_type)| ColumnBuffer::new(data_type))).collect();
        Self {
            rows_max: textlimit::rows_max(std::iter::once(&*view)),
            view,
            request,
            floors,
            selection,
            next: Place::default(),
            projector,
            picks: Picks::default(),
            buffers,
            lent: Lent::Buffers,
        }
    }

    /// Number of rows of the whole answer.
    pub fn row_count(&self) -> usize {
        self.selection.row_count()
    }

    /// The next rows, at most `row_max` (at least 1 is taken); `None` at the end. There can be fewer rows than asked for.
    pub fn next_rows(&mut self, row_max: usize) -> Option<RowsView<'_>> {
        self.step(row_max.clamp(1, self.rows_max)).then(|| self.last_rows())
    }

    /// The rows of the last call of [`next_rows`](Self::next_rows) that had some.
    pub(crate) fn last_rows(&self) -> RowsView<'_> {
        match self.lent {
            Lent::Buffers => RowsView::of_buffers(&self.picks.times, &self.buffers),
            Lent::Slice { block, offset, count } => {
                let block = self.view.blocks().get(block);
                let positions = self.projector.last_positions();
                let source = Source::Slice { block, start: offset, request: &self.request, positions };
                RowsView { times: &block.times()[offset..offset + count], source }
            }
        }
    }

    /// Moves on to the next rows; false at the end.
    fn step(&mut self, row_max: usize) -> bool {
        if self.request.is_descending {
            return self.step_backwards(row_max);
        }
        let Some(&piece) = self.selection.pieces().get(self.next.piece) else { return false };
        if let Some((block, offset, count)) = self.slice(piece, self.next.rows, row_max)
            && (count >= SLICE_ROWS_MIN.min(row_max) || self.is_last(count))
        {
            self.next = self.advance(self.next, count);
            self.projector.positions(self.view.blocks().get(block).layout());
            self.lent = Lent::Slice { block, offset, count };
            return true;
        }

        self.picks.clear();
        while self.picks.rows.len() < row_max
            && let Some(&piece) = self.selection.pieces().get(self.next.piece)
        {
            let left = row_max - self.picks.rows.len();
            let has_slice = self.slice(piece, self.next.rows, row_max).is_some_and(|(_, _, count)| count >= SLICE_ROWS_MIN);
            if !self.picks.rows.is_empty() && has_slice {
                break;
            }
            let count = left.min(piece.row_count() - self.next.rows);
            let (start, end) = (self.next.rows, self.next.rows + count);
            self.pick(piece, start, end);
            self.next = self.advance(self.next, count);
        }
        self.gather();
        true
    }

    fn step_backwards(&mut self, row_max: usize) -> bool {
        let pieces = self.selection.pieces();
        // `next` counts from the end: pieces done, then rows of the next one done.
        let (mut from, mut left) = (self.next, row_max);
        let mut ranges = 0;
        while left > 0 && from.piece < pieces.len() {
            let rows = pieces[pieces.len() - 1 - from.piece].row_count();
            let count = left.min(rows - from.rows);
            left -= count;
            ranges += 1;
            from = if from.rows + count == rows {
                Place { piece: from.piece + 1, rows: 0 }
            } else {
                Place { rows: from.rows + count, ..from }
            };
        }
        if ranges == 0 {
            return false;
        }
        self.picks.clear();
        let (first, last) = (self.next.piece, self.next.piece + ranges - 1);
        for back in (first..=last).rev() {
            let piece = self.selection.pieces()[self.selection.pieces().len() - 1 - back];
            let rows = piece.row_count();
            let end = if back == first { rows - self.next.rows } else { rows };
            let start = if back == from.piece { rows - from.rows } else { 0 };
            self.pick(piece, start, end);
        }
        self.next = from;
        self.picks.reverse();
        self.gather();
        true
    }

    fn advance(&self, from: Place, count: usize) -> Place {
        let rows = from.rows + count;
        if rows == self.selection.pieces()[from.piece].row_count() {
            Place { piece: from.piece + 1, rows: 0 }
        } else {
            Place { rows, ..from }
        }
    }

    /// True when `count` rows more are the end of the answer.
    fn is_last(&self, count: usize) -> bool {
        let end = self.advance(self.next, count);
        end.piece == self.selection.pieces().len()
    }

    /// Block, offset and number of rows that can be lent as they are from row `done` of the piece on.
    fn slice(&self, piece: Piece, done: usize, row_max: usize) -> Option<(usize, usize, usize)> {
        if piece.is_group || !self.view.is_ordered() {
            return None;
        }
        let (index, offset) = self.view.blocks().locate(piece.position as usize + done);
        let block = self.view.blocks().get(index);
        let count = row_max.min(piece.count as usize - done).min(block.row_count() - offset);
        let times = &block.times()[offset..offset + count];
        let range = TimeRange { start: times[0], end: times[count - 1] };
        let is_whole = self.floors.iter().all(|floors| floors.is_empty() || !floors.touches(range));
        is_whole.then_some((index, offset, count))
    }

    /// Notes rows `start..end` of a piece for gathering.
    fn pick(&mut self, piece: Piece, start: usize, end: usize) {
        let Self { view, picks, .. } = self;
        let position = piece.position as usize;
        let mut positions = position + start..position + end;
        if piece.is_group {
            let count = piece.count as usize;
            picks.groups.push(Group { index: picks.rows.len(), position, count });
            // One row of the answer stands for all: the last.
            positions = position + count - 1..position + count;
        }
        if let Some(sorted) = view.sorted() {
            picks.rows.extend_from_slice(&sorted.rows()[positions.clone()]);
            picks.times.extend_from_slice(&sorted.times()[positions]);
            return;
        }
        picks.rows.extend(positions.start as u32..positions.end as u32);
        while !positions.is_empty() {
            let (index, offset) = view.blocks().locate(positions.start);
            let times = &view.blocks().get(index).times()[offset..];
            let count = times.len().min(positions.len());
            picks.times.extend_from_slice(&times[..count]);
            positions.start += count;
        }
    }

    /// Fills the buffers with what was picked.
    fn gather(&mut self) {
        self.lent = Lent::Buffers;
        let Self { view, request, floors, picks, projector, buffers, .. } = self;
        picks.gather(view, projector, &request.columns, floors, buffers);
    }
}
