//! What a list holds, seen from outside: states of columns, counts, all-null rows. For reports, planning and tests.

use tsloom_bitmap::words;
use tsloom_model::TimeRange;

use crate::block::Block;
use crate::listview::ListView;
use crate::tombstone::Floors;

/// What one column holds in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnState {
    /// The block, or the column, is not there.
    Absent,
    /// Every row written is null and nothing is allocated.
    Implicit,
    /// No row is null.
    Plain,
    /// There are values in memory, and some rows are null or deleted.
    Masked,
}

/// How much of a column is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnCounts {
    /// Cells that are neither null nor deleted; cells of a time that comes twice count twice.
    pub values: usize,
    /// Blocks in which nothing is allocated for it.
    pub implicit_blocks: usize,
    /// Blocks in which no row is null.
    pub plain_blocks: usize,
    /// Blocks in which some rows are null or deleted.
    pub masked_blocks: usize,
}

/// The smallest point: eight bytes of time or number.
const POINT_SIZE_MIN: usize = 8;

impl ListView {
    /// The state of a column in a block.
    pub fn column_state(&self, id: u32, block: usize) -> ColumnState {
        if block >= self.blocks().len() {
            return ColumnState::Absent;
        }
        match self.nulls(id, block, &self.deletes(id)) {
            None => ColumnState::Implicit,
            Some(nulls) if nulls.iter().all(|word| *word == 0) => ColumnState::Plain,
            Some(_) => ColumnState::Masked,
        }
    }

    /// How much of a column is in memory.
    pub fn column_counts(&self, id: u32) -> ColumnCounts {
        let deletes = self.deletes(id);
        let mut counts = ColumnCounts::default();
        for index in 0..self.blocks().len() {
            let Some(nulls) = self.nulls(id, index, &deletes) else {
                counts.implicit_blocks += 1;
                continue;
            };
            let row_count = self.blocks().get(index).row_count();
            let null_count = words::count_ones(&nulls, 0, row_count);
            counts.values += row_count - null_count;
            counts.plain_blocks += usize::from(null_count == 0);
            counts.masked_blocks += usize::from(null_count > 0);
        }
        counts
    }

    /// One bit for each row in the order of arrival, low bit first: 1 when it has no value in any of the columns. Deleted
    /// cells are no values. Without columns every row is null.
    pub fn all_null_rows(&self, ids: &[u32]) -> Vec<u64> {
        let deletes: Vec<[Floors; 2]> = ids.iter().map(|id| self.deletes(*id)).collect();
        let mut all = vec![0_u64; words::word_count(self.row_count())];
        let mut first_row = 0;
        for index in 0..self.blocks().len() {
            let row_count = self.blocks().get(index).row_count();
            let mut null_rows = vec![u64::MAX; words::word_count(row_count)];
            for (id, deletes) in ids.iter().zip(&deletes) {
                if let Some(nulls) = self.nulls(*id, index, deletes) {
                    null_rows.iter_mut().zip(&nulls).for_each(|(word, nulls)| *word &= nulls);
                }
            }
            words::copy_at(&mut all, first_row, &null_rows, 0, row_count);
            first_row += row_count;
        }
        all
    }

    /// What a point takes at most on average, in bytes: that of the text column of `ids` with the most bytes, at least 8.
    pub fn largest_point_size(&self, ids: &[u32]) -> usize {
        let text_bytes = |id: u32| -> usize {
            let texts = self.blocks().iter().filter_map(|(_, block)| block.layout().position(id).map(|at| (block, at)));
            texts.filter(|(block, at)| block.is_text(*at)).map(|(block, at)| block.text_bytes(at)).sum()
        };
        let fullest = ids.iter().map(|id| (text_bytes(*id), *id)).max();
        let size = fullest.and_then(|(bytes, id)| bytes.checked_div(self.column_counts(id).values));
        size.unwrap_or(0).max(POINT_SIZE_MIN)
    }

    /// Bytes of the blocks. O(1).
    pub fn byte_count(&self) -> usize {
        self.blocks().byte_count()
    }

    /// Deletes of rows, and of cells of the column.
    fn deletes(&self, id: u32) -> [Floors; 2] {
        [None, Some(id)].map(|column| Floors::new(self.tombstones(), column, TimeRange::ALL))
    }

    /// Null words of a column in a block, deleted cells among them, bits past the last row 0; `None` when it is implicit.
    fn nulls(&self, id: u32, index: usize, deletes: &[Floors; 2]) -> Option<Vec<u64>> {
        let block = self.blocks().get(index);
        let nulls = block.nulls(block.layout().position(id)?);
        let mut words: Vec<u64> = (0..nulls.word_count()).map(|index| nulls.word(index)).collect();
        for floors in deletes.iter().filter(|floors| floors.touches(block.time_range())) {
            mark_deleted(block, self.blocks().first_row(index), floors, &mut words);
        }
        Some(words)
    }
}

fn mark_deleted(block: &Block, first_row: usize, floors: &Floors, nulls: &mut [u64]) {
    for (offset, &time) in block.times().iter().enumerate() {
        if first_row + offset < floors.at(time) as usize {
            words::set(nulls, offset);
        }
    }
}
