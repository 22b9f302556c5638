//! Where the columns of a projection lie in the blocks at hand.

use std::sync::Arc;

use crate::layout::Layout;

/// Finds the columns of a projection in a layout, and remembers them while the layout stays the same.
#[derive(Debug)]
pub(crate) struct Projector {
    ids: Vec<Option<u32>>,
    layout: Option<Arc<Layout>>,
    positions: Vec<Option<usize>>,
}

impl Projector {
    /// `None` is a column that no block has.
    pub(crate) fn new(ids: impl Iterator<Item = Option<u32>>) -> Self {
        Self { ids: ids.collect(), layout: None, positions: Vec::new() }
    }

    /// For each column of the projection its position in `layout`; `None` when the layout has it not.
    pub(crate) fn positions(&mut self, layout: &Arc<Layout>) -> &[Option<usize>] {
        if !self.layout.as_ref().is_some_and(|known| Arc::ptr_eq(known, layout)) {
            self.positions.clear();
            self.positions.extend(self.ids.iter().map(|id| id.and_then(|id| layout.position(id))));
            self.layout = Some(Arc::clone(layout));
        }
        &self.positions
    }

    /// The positions of the layout last asked for.
    pub(crate) fn last_positions(&self) -> &[Option<usize>] {
        &self.positions
    }
}
