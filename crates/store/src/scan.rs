//! Reading: one moment of the store, oldest source first.

use std::ops::RangeBounds;
use std::sync::Arc;

use tsloom_io::ReadAt;
use tsloom_model::{Predicate, Result, RowFilter, TableSchema};
use tsloom_scan::{Order, ScanRequest, TableScan};

use crate::store::Store;

/// A scan over a store.
pub type StoreScan = TableScan<Arc<dyn ReadAt>>;

/// What to scan. [`open`](Self::open) fixes the moment: rows written later are not seen.
#[derive(Clone, Debug)]
#[must_use = "nothing is read until it is opened"]
pub struct ScanBuilder<'a> {
    store: &'a Store,
    table: String,
    request: ScanRequest,
}

impl<'a> ScanBuilder<'a> {
    pub(crate) fn new(store: &'a Store, table: &str) -> Self {
        Self { store, table: table.to_owned(), request: ScanRequest::new() }
    }

    /// Only these columns, in this order.
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.request = self.request.columns(names);
        self
    }

    /// Only rows whose time is in the range; `..=` reaches `i64::MAX`.
    pub fn time(mut self, range: impl RangeBounds<i64>) -> Self {
        self.request = self.request.time(range);
        self
    }

    /// Only devices whose tags meet the predicate.
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.request = self.request.filter(predicate);
        self
    }

    /// Only rows whose values meet the condition; its columns need not be among those that are asked for.
    pub fn values(mut self, condition: RowFilter) -> Self {
        self.request = self.request.values(condition);
        self
    }

    /// At most so many rows in a block.
    pub fn row_budget(mut self, row_count: usize) -> Self {
        self.request = self.request.row_budget(row_count);
        self
    }

    /// In which order rows come.
    pub fn order(mut self, order: Order) -> Self {
        self.request = self.request.order(order);
        self
    }

    /// Whether each block has rows of one device only, so that [`TableScan::device`] tells which.
    pub fn devices_apart(mut self, apart: bool) -> Self {
        self.request = self.request.devices_apart(apart);
        self
    }

    /// Leave out so many rows of the answer first.
    pub fn offset(mut self, row_count: u64) -> Self {
        self.request = self.request.offset(row_count);
        self
    }

    /// Give at most so many rows.
    pub fn limit(mut self, row_count: u64) -> Self {
        self.request = self.request.limit(row_count);
        self
    }

    /// Opens the scan.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](tsloom_model::ErrorKind::NotFound) for a table or column that is not there, and what reading
    /// the files says.
    pub fn open(self) -> Result<StoreScan> {
        let shared = self.store.shared();
        let (schema, sources) = {
            let memory = shared.memory.lock();
            let schema = Arc::clone(&memory.catalog.require(&self.table)?.schema);
            let sources = memory.sources(schema.name(), self.request.time);
            (schema, sources)
        };
        TableScan::open(TableSchema::clone(&schema), sources, &self.request)
    }
}
