//! The reusable output block: the times of many rows and their columns.
//!
//! A block is what a scan lends, what the page reader fills, what the memtable answers with and what exchange and Arrow
//! take over. It knows no reader and no Arrow type, but its buffers are shaped like Arrow's:
//!
//! ```text
//! times      Vec<i64>                      one per row
//! column     values    native endian, or offsets + bytes for text; a slot for every row
//!            validity  64-bit words, low bit first, 1 = valid; absent until the first null
//! ```
//!
//! [`ReusableBlock`] keeps one block alive over any number of devices and counts how often it had to build a new one; a
//! [`BlockFactory`] lets a caller supply the blocks.
//!
//! Debug builds write nonsense over what a cleared block held, so that rows of the time before cannot pass for new ones.
#![forbid(unsafe_code)]

mod column;
mod layout;
mod reuse;

pub use column::Column;
pub use layout::{BlockColumn, BlockLayout};
pub use reuse::{BlockFactory, ReusableBlock};

/// The rows of one answer: times and columns of equal length.
#[derive(Clone, Debug)]
pub struct Block {
    times: Vec<i64>,
    columns: Vec<Column>,
    row_budget: usize,
    /// Rows that there is room for in all columns.
    room: usize,
}

/// Rows that a new block has room for: what is never filled is never touched, and many devices have few rows.
const FIRST_ROOM: usize = 64;

impl Block {
    /// An empty block. It has room for some rows and gets more as they come, up to its row budget: see
    /// [`reserve`](Self::reserve).
    pub fn new(layout: &BlockLayout) -> Self {
        let room = layout.row_budget.min(FIRST_ROOM);
        Self {
            times: Vec::with_capacity(room),
            columns: layout.columns.iter().map(|column| Column::new(&column.name, column.data_type, room)).collect(),
            row_budget: layout.row_budget,
            room,
        }
    }

    /// Makes room for `row_count` rows more in all columns at once, and then for at least twice as many as before: filling them
    /// asks the allocator for nothing but the bytes of texts.
    pub fn reserve(&mut self, row_count: usize) {
        let needed = self.row_count().saturating_add(row_count);
        if needed <= self.room {
            return;
        }
        self.room = needed.max(self.row_budget.min(self.room.saturating_mul(2)));
        self.times.reserve_exact(self.room - self.times.len());
        for column in &mut self.columns {
            column.reserve(self.room);
        }
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.times.len()
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// How many rows whoever fills it may put in. A page set is not cut in the middle of decoding by less than this.
    pub fn row_budget(&self) -> usize {
        self.row_budget
    }

    /// The time of every row, in the unit of the table.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// All columns, in the order of the projection.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// One column of the projection.
    ///
    /// # Panics
    /// When there is no such column, as slices do.
    pub fn column(&self, index: usize) -> &Column {
        &self.columns[index]
    }

    /// The column with this name.
    pub fn column_by_name(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// The times, for whoever fills the block. [`check`](Self::check) tells when the columns agree again.
    pub fn times_mut(&mut self) -> &mut Vec<i64> {
        &mut self.times
    }

    /// One column, for whoever fills the block.
    pub fn column_mut(&mut self, index: usize) -> &mut Column {
        &mut self.columns[index]
    }

    /// Times and columns at once, for whoever fills the block.
    pub fn parts_mut(&mut self) -> (&mut Vec<i64>, &mut [Column]) {
        (&mut self.times, &mut self.columns)
    }

    /// Forgets all rows, keeps the memory.
    pub fn clear(&mut self) {
        if cfg!(debug_assertions) {
            self.times.fill(i64::from_ne_bytes([0xa5; 8]));
        }
        self.times.clear();
        for column in &mut self.columns {
            column.clear();
        }
    }

    /// Cuts to the first `row_count` rows.
    pub fn truncate(&mut self, row_count: usize) {
        self.times.truncate(row_count);
        for column in &mut self.columns {
            column.truncate(row_count);
        }
    }

    /// True when the block has the row budget, the column count and the column types of `layout`. Names do not matter.
    pub fn fits(&self, layout: &BlockLayout) -> bool {
        self.row_budget == layout.row_budget
            && self.columns.len() == layout.columns.len()
            && self.columns.iter().zip(&layout.columns).all(|(column, wanted)| column.data_type() == wanted.data_type)
    }

    /// Turns the order of the rows round.
    pub fn reverse(&mut self) {
        self.times.reverse();
        for column in &mut self.columns {
            column.reverse();
        }
    }

    /// True when every column has as many rows as there are times: what holds whenever a block is lent.
    pub fn check(&self) -> bool {
        self.columns.iter().all(|column| column.row_count() == self.times.len())
    }
}

/// Lends blocks one after the other; each is valid until the next call.
///
/// ```compile_fail,E0499
/// fn two_blocks<S: tsloom_block::BlockSource>(source: &mut S) -> Result<(), S::Error> {
///     let first = source.next_block()?;
///     let second = source.next_block()?;
///     println!("{:?} {:?}", first.map(|block| block.row_count()), second.map(|block| block.row_count()));
///     Ok(())
/// }
/// ```
pub trait BlockSource {
    /// Why there is no next block.
    type Error;

    /// The next block, or `None` at the end. The block is never empty.
    fn next_block(&mut self) -> Result<Option<&Block>, Self::Error>;
}
