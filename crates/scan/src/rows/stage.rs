//! Rows between their sources and the lent block.

use tsloom_block::{Block, BlockLayout, Column};

use crate::projection::{FieldColumn, Projection};

/// A block for the fields that a run has, and how many of its rows were passed. It has no columns until it is needed for the first
/// time.
pub(super) struct Stage {
    pub(super) block: Block,
    /// The field that its only column is of; `None` for all fields.
    field: Option<usize>,
    /// The next row.
    at: usize,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { block: Block::new(&BlockLayout { row_budget: 0, columns: Vec::new() }), field: None, at: 0 }
    }

    /// Forgets its rows, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.block.clear();
        self.at = 0;
    }

    /// Makes it an empty block for one field, or for all.
    pub(super) fn empty(&mut self, projection: &Projection, field: Option<usize>) {
        if self.block.columns().is_empty() || self.field != field {
            self.block = Block::new(&projection.stage_layout(field));
            self.field = field;
        }
        self.clear();
    }

    /// Turns the order of the rows round; none was passed yet.
    pub(super) fn reverse(&mut self) {
        self.block.reverse();
    }

    /// Times of the rows that are left.
    pub(super) fn times(&self) -> &[i64] {
        &self.block.times()[self.at..]
    }

    /// Number of rows that are left.
    pub(super) fn left(&self) -> usize {
        self.times().len()
    }

    /// The next time.
    pub(super) fn head(&self) -> Option<i64> {
        self.times().first().copied()
    }

    /// The next row in [`column_of`](Self::column_of).
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Passes over rows.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// The column of a field, if there is one.
    pub(super) fn column_of(&self, field: &FieldColumn) -> Option<&Column> {
        match self.field {
            None => Some(self.block.column(field.column)),
            Some(only) => (only == field.index).then(|| self.block.column(0)),
        }
    }

    /// Moves the next `count` rows to `out`.
    pub(super) fn give(&mut self, count: usize, projection: &Projection, out: &mut Block) {
        out.reserve(count);
        let (times, columns) = out.parts_mut();
        times.extend_from_slice(&self.times()[..count]);
        for field in &projection.fields {
            let into = &mut columns[field.column];
            match self.column_of(field) {
                Some(from) => assert!(into.extend_from(from, self.at, count), "the stage has the types of the block"),
                None => into.push_nulls(count),
            }
        }
        self.at += count;
    }
}
