//! What the lists of one table share: their layouts, their block geometry, and the scratch of the writer.

use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_model::ValuesRef;

use crate::block::Active;
use crate::geometry::BlockRows;
use crate::layout::{Layout, Layouts};
use crate::pool::{Ledger, SlabPool};
use crate::write::WriteColumns;

/// Shared by all lists of a table and by nothing else. A writer borrows it for every append.
#[derive(Debug)]
pub struct ListShape {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) block_rows: BlockRows,
    column_count: usize,
    layouts: Layouts,
    /// Columns with a value in the rows at hand.
    active: Vec<Active>,
    /// Their ids.
    ids: Vec<u32>,
    /// Most bytes of text that one column brings in the rows at hand.
    text_bytes_max: usize,
    implicit_columns: usize,
}

impl ListShape {
    /// For lists of `column_count` columns whose slabs come from `pool`.
    pub fn new(pool: &Arc<SlabPool>, block_rows: BlockRows, column_count: usize) -> Self {
        Self::with_ledger(&Ledger::new(Arc::clone(pool)), block_rows, column_count)
    }

    pub(crate) fn with_ledger(ledger: &Arc<Ledger>, block_rows: BlockRows, column_count: usize) -> Self {
        Self {
            ledger: Arc::clone(ledger),
            block_rows,
            column_count,
            layouts: Layouts::default(),
            active: Vec::new(),
            ids: Vec::new(),
            text_bytes_max: 0,
            implicit_columns: 0,
        }
    }

    /// The table has this many columns now; lists made from now on go by it.
    pub(crate) fn set_column_count(&mut self, column_count: usize) {
        self.column_count = column_count;
    }

    /// Rows of a full block of a list made now.
    pub(crate) fn full_block_rows(&self) -> usize {
        self.block_rows.full(self.column_count)
    }

    /// Bytes that the lists of this shape hold, their snapshots included.
    pub fn byte_count(&self) -> usize {
        self.ledger.bytes()
    }

    /// Bytes of what the writer keeps between writes, layouts apart.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.active.capacity() * size_of::<Active>() + self.ids.capacity() * size_of::<u32>() + self.layouts.list_bytes()
    }

    /// A block was opened with `present` columns.
    pub(crate) fn note_block(&mut self, present: usize) {
        self.implicit_columns += self.column_count.saturating_sub(present);
    }

    /// Columns that were implicit in the blocks opened since the last call, counted once a block.
    pub(crate) fn take_implicit_columns(&mut self) -> usize {
        std::mem::take(&mut self.implicit_columns)
    }

    /// Finds the columns that have a value in `count` rows from `start` on.
    pub(crate) fn select<C: WriteColumns + ?Sized>(
        &mut self,
        source: &C,
        start: usize,
        count: usize,
        failed: Option<NullWords<'_>>,
    ) {
        self.active.clear();
        self.text_bytes_max = 0;
        let failed = failed.map(|failed| failed.slice(start, count)).filter(NullWords::any_null);
        if failed.is_some_and(|failed| failed.all_null()) {
            return;
        }
        for index in 0..source.count() {
            let Some(values) = source.values(index) else { continue };
            let nulls = source.nulls(index).map(|nulls| nulls.slice(start, count)).filter(NullWords::any_null);
            if nulls.is_some_and(|nulls| is_all_null(nulls, failed)) {
                continue;
            }
            if let ValuesRef::Text(text) = values {
                self.text_bytes_max = self.text_bytes_max.max(text.slice(start, count).byte_count());
            }
            self.active.push(Active { index: index as u32, id: source.id(index), has_nulls: nulls.is_some() });
        }
    }

    /// The layout of the block opened last, if a block of `row_max` rows of all columns of `source` has the same.
    pub(crate) fn same_again<C: WriteColumns + ?Sized>(&self, source: &C, row_max: usize) -> Option<&Arc<Layout>> {
        self.layouts.latest().filter(|layout| layout.row_max() == row_max && layout.is_of(source))
    }

    pub(crate) fn active(&self) -> &[Active] {
        &self.active
    }

    pub(crate) fn text_bytes_max(&self) -> usize {
        self.text_bytes_max
    }

    /// The layout of a block of `row_max` rows with the columns last selected.
    pub(crate) fn layout_of_selected<C: WriteColumns + ?Sized>(&mut self, source: &C, row_max: usize) -> Arc<Layout> {
        self.ids.clear();
        self.ids.extend(self.active.iter().map(|column| column.id));
        let active = &self.active;
        let physical_of = |position: usize| physical(source, active[position]);
        self.layouts.base(&self.ledger, row_max, &self.ids, physical_of)
    }

    /// The layout with which a block of layout `from` can take the columns last selected; `None` when it can already.
    pub(crate) fn widen<C: WriteColumns + ?Sized>(&mut self, source: &C, from: &Arc<Layout>) -> Option<Arc<Layout>> {
        let same =
            from.ids().len() == self.active.len() && from.ids().iter().zip(&self.active).all(|(id, column)| *id == column.id);
        if same {
            return None;
        }
        let mut present = from.ids().iter().peekable();
        // `active` is rearranged no further: `ids` holds the missing ids, in the order of `active`.
        self.ids.clear();
        for column in &self.active {
            while present.next_if(|id| **id < column.id).is_some() {}
            if present.next_if(|id| **id == column.id).is_none() {
                self.ids.push(column.id);
            }
        }
        if self.ids.is_empty() {
            return None;
        }
        let (active, ids) = (&self.active, &self.ids);
        let physical_of = |position: usize| {
            let column = active.binary_search_by_key(&ids[position], |column| column.id).expect("missing columns are active");
            physical(source, active[column])
        };
        Some(self.layouts.extended(&self.ledger, from, ids, physical_of))
    }
}

fn physical<C: WriteColumns + ?Sized>(source: &C, column: Active) -> tsloom_model::PhysicalType {
    source.values(column.index as usize).expect("an active column is present").physical()
}

/// True when every row is null or failed.
fn is_all_null(nulls: NullWords<'_>, failed: Option<NullWords<'_>>) -> bool {
    let Some(failed) = failed else { return nulls.all_null() };
    (0..nulls.word_count()).all(|index| {
        let rows = nulls.row_count() - 64 * index;
        nulls.word(index) | failed.word(index) == tsloom_bitmap::words::low_mask(rows)
    })
}
