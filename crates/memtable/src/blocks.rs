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

/// The capacity that a full list of pointers grows to.
fn grown(len: usize) -> usize {
    4 * len.max(1)
}

/// Capacity of the first list of pointers, and of a list of nodes.
const FIRST_CAPACITY: usize = 4;

impl<T> Node<T> {
    /// A node with its list.
    fn bytes(capacity: usize) -> usize {
        size_of::<Self>() + ARC_BYTES + capacity * size_of::<Arc<T>>()
    }

    fn new(ledger: &Arc<Ledger>, capacity: usize) -> Self {
        let mut node = Self { items: Vec::with_capacity(capacity), charge: Charge::new(ledger, 0) };
        node.note();
        node
    }

    fn note(&mut self) {
        self.charge.set(Self::bytes(self.items.capacity()));
    }

    fn push(&mut self, item: Arc<T>) {
        if self.items.len() == self.items.capacity() {
            self.items.reserve_exact(grown(self.items.len()) - self.items.len());
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
    /// Of the closed blocks: those do not change any more.
    closed_bytes: usize,
}

impl Blocks {
    /// Bytes of all blocks.
    pub(crate) fn byte_count(&self) -> usize {
        self.closed_bytes + self.tail().map_or(0, Block::byte_count)
    }

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
            self.closed_bytes += closed.byte_count();
            // The first node of a list grows with it; a list that has filled one will fill more.
            let capacity = if self.full.is_some() { NODE_BLOCKS } else { FIRST_CAPACITY };
            let partial = self.partial.get_or_insert_with(|| Arc::new(Node::new(ledger, capacity)));
            Arc::make_mut(partial).push(closed);
            if partial.items.len() == NODE_BLOCKS {
                let node = self.partial.take().expect("it was just filled");
                let full = self.full.get_or_insert_with(|| Arc::new(Node::new(ledger, FIRST_CAPACITY)));
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

/// What opening blocks will take for the lists of pointers, found out without opening them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    has_tail: bool,
    partial: Option<NodeState>,
    full: Option<NodeState>,
}

#[derive(Clone, Copy, Debug)]
struct NodeState {
    len: usize,
    capacity: usize,
    /// A snapshot holds it: it is copied before it is changed.
    is_shared: bool,
}

impl NodeState {
    fn of<T>(node: &Arc<Node<T>>) -> Self {
        Self { len: node.items.len(), capacity: node.items.capacity(), is_shared: Arc::strong_count(node) > 1 }
    }

    /// Pushes; returns the bytes more.
    fn push<T>(&mut self) -> usize {
        let before = if self.is_shared { 0 } else { Node::<T>::bytes(self.capacity) };
        if self.is_shared {
            self.capacity = self.len + 1;
            self.is_shared = false;
        } else if self.len == self.capacity {
            self.capacity = grown(self.len);
        }
        self.len += 1;
        Node::<T>::bytes(self.capacity) - before
    }
}

impl Growth {
    /// Opens a block; returns the bytes more, the block itself not among them.
    pub(crate) fn open(&mut self) -> usize {
        if !self.has_tail {
            self.has_tail = true;
            return 0;
        }
        let mut bytes = 0;
        let capacity = if self.full.is_some() { NODE_BLOCKS } else { FIRST_CAPACITY };
        let partial = self.partial.get_or_insert_with(|| {
            bytes += Node::<Block>::bytes(capacity);
            NodeState { len: 0, capacity, is_shared: false }
        });
        bytes += partial.push::<Block>();
        if partial.len == NODE_BLOCKS {
            self.partial = None;
            let full = self.full.get_or_insert_with(|| {
                bytes += Node::<Node<Block>>::bytes(FIRST_CAPACITY);
                NodeState { len: 0, capacity: FIRST_CAPACITY, is_shared: false }
            });
            bytes += full.push::<Node<Block>>();
        }
        bytes
    }
}

impl Blocks {
    pub(crate) fn growth(&self) -> Growth {
        Growth {
            has_tail: self.tail.is_some(),
            partial: self.partial.as_ref().map(NodeState::of),
            full: self.full.as_ref().map(NodeState::of),
        }
    }

    /// True when a snapshot holds the tail: the next write copies it.
    pub(crate) fn is_tail_shared(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| Arc::strong_count(tail) > 1)
    }
}
