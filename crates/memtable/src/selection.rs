//! Which rows are there, and in which order: the one answer that drives queries, page encoding and log snapshots.
//!
//! A [`Selection`] is computed once for a view, a time range and a projection. It lists *pieces* of positions in time order:
//!
//! ```text
//! span    positions p .. p + n     n rows of different times, each a row of the result
//! group   positions p .. p + n     rows of one time: one row of the result, per column the latest value
//! ```
//!
//! A position is a row number when the rows came in order, and an index into the permutation otherwise. Deleted rows are in
//! no piece: a delete covers the rows that came before it, so of the rows of one time it takes the first ones.

use tsloom_model::{RowPolicy, TimeRange};

use crate::listview::ListView;
use crate::projection::Projector;
use crate::query::Request;
use crate::timefacts::all_pairs;
use crate::tombstone::Floors;

/// Positions that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) position: u32,
    pub(crate) count: u32,
    /// All of one time.
    pub(crate) is_group: bool,
}

impl Piece {
    /// Rows of the result.
    pub(crate) fn row_count(self) -> usize {
        if self.is_group { 1 } else { self.count as usize }
    }
}

/// The rows of the result, ascending by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pieces: Vec<Piece>,
    row_count: usize,
}

impl Selection {
    /// The rows of `view` that `request` asks for; `floors` are those of its columns.
    pub(crate) fn new(view: &ListView, request: &Request, floors: &[Floors]) -> Self {
        let positions = view.positions(request.range);
        let mut selection = Self::default();
        if positions.is_empty() {
            return selection;
        }
        let row_floors = Floors::new(view.tombstones(), None, request.range);
        let drops_null = request.policy == RowPolicy::DropAllNull;
        if row_floors.is_empty() && !drops_null && !view.has_duplicates() {
            selection.push_span(positions.start, positions.len());
        } else {
            let projector = Projector::new(request.columns.iter().map(|column| column.map(|(id, _)| id)));
            let mut walk = Walk { view, row_floors, floors, projector: drops_null.then_some(projector), group: None, selection };
            walk.run(positions);
            selection = walk.selection;
        }
        selection.trim(request);
        selection
    }

    /// Number of rows of the result.
    pub(crate) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Ascending by time.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    fn push_span(&mut self, position: usize, count: usize) {
        if count == 0 {
            return;
        }
        self.row_count += count;
        if let Some(last) = self.pieces.last_mut()
            && !last.is_group
            && (last.position + last.count) as usize == position
        {
            last.count += count as u32;
            return;
        }
        self.pieces.push(Piece { position: position as u32, count: count as u32, is_group: false });
    }

    fn push_group(&mut self, position: usize, count: usize) {
        self.row_count += 1;
        self.pieces.push(Piece { position: position as u32, count: count as u32, is_group: true });
    }

    /// Applies offset and limit, which count from the end when the order is descending.
    fn trim(&mut self, request: &Request) {
        let skipped = usize::try_from(request.offset).unwrap_or(usize::MAX).min(self.row_count);
        let kept = usize::try_from(request.limit).unwrap_or(usize::MAX).min(self.row_count - skipped);
        let from = if request.is_descending { self.row_count - skipped - kept } else { skipped };
        self.keep(from, kept);
    }

    /// Keeps `count` rows of the result from `from` on.
    fn keep(&mut self, from: usize, count: usize) {
        if count == self.row_count {
            return;
        }
        let (mut row, mut kept) = (0, Self::default());
        for piece in &self.pieces {
            let rows = piece.row_count();
            let (start, end) = (from.max(row), (from + count).min(row + rows));
            if start < end {
                match piece.is_group {
                    true => kept.push_group(piece.position as usize, piece.count as usize),
                    false => kept.push_span(piece.position as usize + start - row, end - start),
                }
            }
            row += rows;
        }
        *self = kept;
    }
}

/// Positions of one time that are still being collected.
#[derive(Clone, Copy)]
struct Group {
    time: i64,
    position: usize,
    count: usize,
}

/// One pass over the positions of the range.
struct Walk<'a> {
    view: &'a ListView,
    row_floors: Floors,
    floors: &'a [Floors],
    /// Present when rows without a value are dropped.
    projector: Option<Projector>,
    group: Option<Group>,
    selection: Selection,
}

/// How many positions of a permutation are looked at together: so many are taken whole when no time comes twice.
const STRIDE: usize = 64;

impl Walk<'_> {
    fn run(&mut self, positions: std::ops::Range<usize>) {
        let view = self.view;
        match view.sorted() {
            Some(sorted) => {
                for start in positions.clone().step_by(STRIDE) {
                    let chunk = start..positions.end.min(start + STRIDE);
                    let times = &sorted.times()[chunk.clone()];
                    let is_plain = self.projector.is_none() && all_pairs(times, |left, right| left < right);
                    self.take(start, times, |index| sorted.rows()[chunk.start + index], is_plain);
                }
            }
            None => {
                let blocks = view.blocks();
                let mut position = positions.start;
                while position < positions.end {
                    let (index, offset) = blocks.locate(position);
                    let block = blocks.get(index);
                    let end = block.row_count().min(offset + positions.end - position);
                    let is_strict = block.is_strict() && self.has_no_null_row(index);
                    self.take(position, &block.times()[offset..end], |index| (position + index) as u32, is_strict);
                    position += end - offset;
                }
            }
        }
        self.close_group();
    }

    /// True when no row of the block can be dropped for being null.
    fn has_no_null_row(&mut self, index: usize) -> bool {
        let Some(projector) = &mut self.projector else { return true };
        let block = self.view.blocks().get(index);
        let positions = projector.positions(block.layout());
        positions.iter().zip(self.floors).any(|(position, floors)| {
            position.is_some_and(|position| !block.nulls(position).any_null()) && !floors.touches(block.time_range())
        })
    }

    /// Takes neighbouring positions. `is_plain`: times rise strictly and no row is null.
    fn take(&mut self, position: usize, times: &[i64], row_of: impl Fn(usize) -> u32, is_plain: bool) {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
        let deletes = self.row_floors.touches(TimeRange { start: first, end: last });
        if is_plain && !deletes {
            self.add(first, position);
            if times.len() > 1 {
                self.close_group();
                self.selection.push_span(position + 1, times.len() - 2);
                self.add(last, position + times.len() - 1);
            }
            return;
        }
        for (index, &time) in times.iter().enumerate() {
            if !deletes || row_of(index) >= self.row_floors.at(time) {
                self.add(time, position + index);
            }
        }
    }

    /// Adds a row that is there.
    fn add(&mut self, time: i64, position: usize) {
        match &mut self.group {
            Some(group) if group.time == time => group.count += 1,
            _ => {
                self.close_group();
                self.group = Some(Group { time, position, count: 1 });
            }
        }
    }

    fn close_group(&mut self) {
        let Some(group) = self.group.take() else { return };
        if !self.has_value(group) {
            return;
        }
        match group.count {
            1 => self.selection.push_span(group.position, 1),
            _ => self.selection.push_group(group.position, group.count),
        }
    }

    /// True when a column of the projection has a value in the rows of the group, or nobody asks.
    fn has_value(&mut self, group: Group) -> bool {
        let Some(projector) = &mut self.projector else { return true };
        let sorted = self.view.sorted();
        (group.position..group.position + group.count).any(|position| {
            let row = sorted.map_or(position, |sorted| sorted.rows()[position] as usize);
            let (index, offset) = self.view.blocks().locate(row);
            let block = self.view.blocks().get(index);
            projector.positions(block.layout()).iter().zip(self.floors).any(|(position, floors)| {
                position.is_some_and(|position| !block.nulls(position).is_null(offset))
                    && (floors.is_empty() || row as u32 >= floors.at(group.time))
            })
        })
    }
}
