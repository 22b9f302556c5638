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
#[derive(Default)]
pub struct ReusableBlock {
    block: Option<Block>,
    factory: Option<Box<dyn BlockFactory>>,
    build_count: u64,
    supplied_count: u64,
}

/// Supplies blocks to a reader, such as those that a consumer took earlier and has done with.
///
/// ```
/// use tsloom_block::{Block, BlockFactory, BlockLayout, ReusableBlock};
/// use tsloom_model::DataType;
///
/// struct Pool(Vec<Block>);
/// impl BlockFactory for Pool {
///     fn supply(&mut self, layout: &BlockLayout) -> Option<Block> {
///         let index = self.0.iter().position(|block| block.fits(layout))?;
///         Some(self.0.swap_remove(index))
///     }
/// }
///
/// let layout = BlockLayout::new(8, [("v", DataType::Int32)]);
/// let mut reusable = ReusableBlock::with_factory(Pool(vec![Block::new(&layout)]));
/// reusable.acquire(&layout);
/// drop(reusable.take());
/// reusable.acquire(&layout); // the pool is empty: this one is built
/// assert_eq!((reusable.supplied_count(), reusable.build_count()), (1, 1));
/// ```
pub trait BlockFactory: Send {
    /// A block that fits `layout`, whatever it holds; `None` leaves it to the reader to build one. A block that does not fit is
    /// dropped, and the reader builds one, too.
    fn supply(&mut self, layout: &BlockLayout) -> Option<Block>;
}

impl ReusableBlock {
    /// Asks `factory` whenever a new block is needed.
    pub fn with_factory(factory: impl BlockFactory + 'static) -> Self {
        Self { factory: Some(Box::new(factory)), ..Self::default() }
    }

    /// The empty block for `layout`: the same one as before when row budget, column count and column types are the same
    /// (names are refreshed in place), a new one otherwise.
    pub fn acquire(&mut self, layout: &BlockLayout) -> &mut Block {
        if !self.block.as_ref().is_some_and(|block| block.fits(layout)) {
            // Not before the old one is gone: both at once are more than was asked for.
            self.block = None;
            let supplied = self.factory.as_mut().and_then(|factory| factory.supply(layout));
            self.block = supplied.filter(|block| block.fits(layout));
            self.supplied_count += u64::from(self.block.is_some());
            self.build_count += u64::from(self.block.is_none());
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

    /// How many blocks the factory supplied so far.
    pub fn supplied_count(&self) -> u64 {
        self.supplied_count
    }
}

impl std::fmt::Debug for ReusableBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReusableBlock")
            .field("block", &self.block)
            .field("has_factory", &self.factory.is_some())
            .field("build_count", &self.build_count)
            .field("supplied_count", &self.supplied_count)
            .finish()
    }
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

    /// Upstream's cases: the same layout and a rename keep the very memory, whatever was in the block.
    #[test]
    fn a_block_that_is_kept_is_the_same_memory_and_empty() {
        let mut reusable = ReusableBlock::default();
        let (one, renamed) = (layout(64, &[("a", DataType::Int64)]), layout(64, &[("b", DataType::Int64)]));
        let mut places = Vec::new();
        for layout in [&one, &one, &renamed] {
            let block = reusable.acquire(layout);
            assert!(block.is_empty() && block.check() && block.column(0).validity().is_none());
            block.times_mut().extend(0..64);
            block.column_mut(0).push_nulls(3);
            assert!(block.column_mut(0).push_repeated(7_i64.into(), 61));
            assert_eq!((block.column(0).null_count(), block.column(0).i64(2), block.column(0).i64(3)), (3, None, Some(7)));
            places.push(block.times().as_ptr());
        }
        assert_eq!((reusable.build_count(), places[0], places[0]), (1, places[1], places[2]));
        reusable.release();
        assert!(reusable.current().is_none());
        reusable.acquire(&one);
        assert_eq!(reusable.build_count(), 2);
    }

    /// Supplies the given blocks, then declines.
    struct Supply(Vec<Block>);

    impl BlockFactory for Supply {
        fn supply(&mut self, _: &BlockLayout) -> Option<Block> {
            self.0.pop()
        }
    }

    #[test]
    fn supplied_blocks_are_emptied_and_must_fit() {
        let wanted = layout(4, &[("a", DataType::Double)]);
        let mut used = Block::new(&layout(4, &[("other", DataType::Double)]));
        used.times_mut().push(1);
        used.column_mut(0).push_nulls(1);
        let too_small = Block::new(&layout(3, &[("a", DataType::Double)]));
        let mut reusable = ReusableBlock::with_factory(Supply(vec![too_small, used]));
        for counts in [(1, 0), (1, 1), (1, 2)] {
            let block = reusable.acquire(&wanted);
            assert_eq!((block.row_count(), block.column(0).name(), block.row_budget()), (0, "a", 4));
            assert!(block.check() && block.column(0).validity().is_none());
            assert_eq!((reusable.supplied_count(), reusable.build_count()), counts);
            reusable.release();
        }
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
