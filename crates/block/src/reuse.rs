//! One block for a million devices: [`ReusableBlock`].

use crate::{Block, BlockLayout};

/// Keeps a block and gives it back for as long as the layout stays the same.
///
/// ```
/// use tsloom_block::{BlockLayout, ReusableBlock};
/// use tsloom_model::DataType;
///
/// let mut reusable = ReusableBlock::default();
/// reusable.acquire(&BlockLayout::new(1024, [("temp", DataType::Double)]));
/// reusable.acquire(&BlockLayout::new(1024, [("rain", DataType::Double)])); // another name: kept and renamed
/// assert_eq!(reusable.build_count(), 1);
/// reusable.acquire(&BlockLayout::new(1024, [("rain", DataType::Int32)])); // another type: rebuilt
/// assert_eq!(reusable.build_count(), 2);
/// ```
#[derive(Debug, Default)]
pub struct ReusableBlock {
    block: Option<Block>,
    build_count: u64,
}

impl ReusableBlock {
    /// The empty block for `layout`: the same one as before when row budget, column count and column types are the same
    /// (names are refreshed in place), a new one otherwise.
    pub fn acquire(&mut self, layout: &BlockLayout) -> &mut Block {
        if !self.block.as_ref().is_some_and(|block| fits(block, layout)) {
            self.block = None;
            self.build_count += 1;
        }
        let block = self.block.get_or_insert_with(|| Block::new(layout));
        block.clear();
        for (column, wanted) in block.columns.iter_mut().zip(&layout.columns) {
            column.rename(&wanted.name);
        }
        block
    }

    /// The block as it was last filled, if there is one.
    pub fn current(&self) -> Option<&Block> {
        self.block.as_ref()
    }

    /// Gives the block away; the next [`acquire`](Self::acquire) builds a new one.
    pub fn take(&mut self) -> Option<Block> {
        self.block.take()
    }

    /// Frees the block.
    pub fn release(&mut self) {
        self.block = None;
    }

    /// How many blocks were built so far.
    pub fn build_count(&self) -> u64 {
        self.build_count
    }
}

fn fits(block: &Block, layout: &BlockLayout) -> bool {
    block.row_budget == layout.row_budget
        && block.columns.len() == layout.columns.len()
        && block.columns.iter().zip(&layout.columns).all(|(column, wanted)| column.data_type() == wanted.data_type)
}

#[cfg(test)]
mod tests {
    use tsloom_model::DataType;

    use super::*;

    fn layout(row_budget: usize, columns: &[(&str, DataType)]) -> BlockLayout {
        BlockLayout::new(row_budget, columns.iter().copied())
    }

    #[test]
    fn rebuilds_only_for_another_budget_count_or_type() {
        let mut reusable = ReusableBlock::default();
        let mut check = |layout: &BlockLayout, builds: u64| {
            let block = reusable.acquire(layout);
            assert_eq!((block.row_count(), block.columns().len()), (0, layout.columns.len()));
            block.times_mut().push(1);
            for index in 0..layout.columns.len() {
                assert_eq!(block.column(index).name(), layout.columns[index].name);
                block.column_mut(index).push_nulls(1);
            }
            assert!(block.check());
            assert_eq!(reusable.build_count(), builds);
        };
        check(&layout(8, &[("a", DataType::Int32)]), 1);
        check(&layout(8, &[("a", DataType::Int32)]), 1);
        check(&layout(8, &[("b", DataType::Int32)]), 1);
        check(&layout(9, &[("b", DataType::Int32)]), 2);
        check(&layout(9, &[("b", DataType::Date)]), 3);
        check(&layout(9, &[("b", DataType::Date), ("c", DataType::Date)]), 4);
    }

    #[test]
    fn a_taken_block_stays_with_its_taker() {
        let mut reusable = ReusableBlock::default();
        let wanted = layout(2, &[("a", DataType::Boolean)]);
        reusable.acquire(&wanted).times_mut().push(7);
        let kept = reusable.take().unwrap();
        reusable.acquire(&wanted);
        assert_eq!((kept.times(), reusable.build_count()), (&[7][..], 2));
    }
}
