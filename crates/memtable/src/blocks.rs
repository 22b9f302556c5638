//! The blocks of a list, shared between the list and its snapshots.
//!
//! ```text
//! full     Arc<Vec<Arc<Node>>>   nodes of 256 blocks each
//! partial  Arc<Node>             up to 255 full blocks
//! tail     Arc<Block>            the block that is written
//! ```
//!
//! A snapshot is three reference counts. The writer changes each level through `Arc::make_mut`: what a snapshot still
//! holds is copied first (a tail's rows, at most 255 pointers, or one pointer for 256 blocks), everything else in place.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::block::{ARC_BYTES, Block};
use crate::pool::{Charge, Ledger};

/// Blocks of a full node.
const NODE_BLOCKS: usize = 256;

/// Pointers, charged with the capacity of their vector.
#[derive(Debug)]
struct Node<T> {
    items: Vec<Arc<T>>,
    charge: Charge,
}

impl<T> Node<T> {
    fn new(ledger: &Arc<Ledger>, capacity: usize) -> Self {
        let mut node = Self { items: Vec::with_capacity(capacity), charge: Charge::new(ledger, 0) };
        node.note();
        node
    }

    fn note(&mut self) {
        self.charge.set(size_of::<Self>() + ARC_BYTES + self.items.capacity() * size_of::<Arc<T>>());
    }

    fn push(&mut self, item: Arc<T>) {
        if self.items.len() == self.items.capacity() {
            self.items.reserve_exact(3 * self.items.len().max(1));
        }
        self.items.push(item);
        self.note();
    }
}

impl<T> Clone for Node<T> {
    fn clone(&self) -> Self {
        let mut node = Self { items: Vec::with_capacity(self.items.len() + 1), charge: Charge::new(self.charge.ledger(), 0) };
        node.items.extend(self.items.iter().cloned());
        node.note();
        node
    }
}

/// Blocks that follow each other and have the same number of rows.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first_row: u32,
    first_block: u32,
    block_rows: u32,
}

/// The blocks in the order of their rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    full: Option<Arc<Node<Node<Block>>>>,
    partial: Option<Arc<Node<Block>>>,
    tail: Option<Arc<Block>>,
    /// A growing list has up to five sizes before it becomes regular; one more for a block closed early.
    stretches: SmallVec<[Stretch; 6]>,
    block_count: usize,
    row_count: usize,
}

impl Blocks {
    /// Number of blocks, the tail included.
    pub(crate) fn len(&self) -> usize {
        self.block_count
    }

    /// Rows in all blocks.
    pub(crate) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Block `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &Block {
        if index + 1 == self.block_count {
            return self.tail.as_ref().expect("the last block is the tail");
        }
        let (node, item) = (index / NODE_BLOCKS, index % NODE_BLOCKS);
        match &self.full {
            Some(full) if node < full.items.len() => &full.items[node].items[item],
            _ => &self.partial.as_ref().expect("a closed block is in a node").items[item],
        }
    }

    /// All blocks with their first row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Block)> {
        let mut row = 0;
        (0..self.len()).map(move |index| {
            let block = self.get(index);
            row += block.row_count();
            (row - block.row_count(), block)
        })
    }

    /// The block of a row, and the row's place in it.
    #[inline]
    pub(crate) fn locate(&self, row: usize) -> (usize, usize) {
        debug_assert!(row < self.row_count);
        let stretch = self.stretches.iter().rev().find(|stretch| stretch.first_row as usize <= row).expect("rows begin at 0");
        let (offset, block_rows) = (row - stretch.first_row as usize, stretch.block_rows as usize);
        if block_rows.is_power_of_two() {
            let shift = block_rows.trailing_zeros();
            return (stretch.first_block as usize + (offset >> shift), offset & (block_rows - 1));
        }
        (stretch.first_block as usize + offset / block_rows, offset % block_rows)
    }

    /// The first row of block `index`.
    pub(crate) fn first_row(&self, index: usize) -> usize {
        let stretch = self.stretches.iter().rev().find(|stretch| stretch.first_block as usize <= index);
        let stretch = stretch.expect("blocks begin at 0");
        stretch.first_row as usize + (index - stretch.first_block as usize) * stretch.block_rows as usize
    }

    /// The block that is written; `None` before the first.
    pub(crate) fn tail(&self) -> Option<&Block> {
        self.tail.as_deref()
    }

    /// The tail, alone with the writer: copied when a snapshot holds it.
    pub(crate) fn tail_mut(&mut self) -> &mut Block {
        Arc::make_mut(self.tail.as_mut().expect("a block was opened"))
    }

    /// `count` rows were written to the tail.
    pub(crate) fn note_rows(&mut self, count: usize) {
        self.row_count += count;
    }

    /// Makes `block` the tail.
    pub(crate) fn open(&mut self, ledger: &Arc<Ledger>, block: Block) {
        let block_rows = block.layout().row_max() as u32;
        if let Some(closed) = self.tail.replace(Arc::new(block)) {
            // The first node of a list grows with it; a list that has filled one will fill more.
            let capacity = if self.full.is_some() { NODE_BLOCKS } else { 4 };
            let partial = self.partial.get_or_insert_with(|| Arc::new(Node::new(ledger, capacity)));
            Arc::make_mut(partial).push(closed);
            if partial.items.len() == NODE_BLOCKS {
                let node = self.partial.take().expect("it was just filled");
                let full = self.full.get_or_insert_with(|| Arc::new(Node::new(ledger, 4)));
                Arc::make_mut(full).push(node);
            }
        }
        let (row, index) = (self.row_count as u32, self.block_count as u32);
        self.block_count += 1;
        let follows = self
            .stretches
            .last()
            .is_some_and(|last| last.block_rows == block_rows && row - last.first_row == (index - last.first_block) * block_rows);
        if !follows {
            self.stretches.push(Stretch { first_row: row, first_block: index, block_rows });
        }
    }
}
