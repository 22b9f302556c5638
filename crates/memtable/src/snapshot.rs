//! A memtable as it was at one moment.

use std::sync::Arc;

use tsloom_model::{DataType, DeviceId, TimeRange};

use crate::block::ARC_BYTES;
use crate::columns::ColumnSet;
use crate::cursor::DeviceCursor;
use crate::listview::ListView;
use crate::pool::{Charge, Ledger};
use crate::query::Query;
use crate::state::{ColumnCounts, ColumnState};
use crate::table::Table;

/// All devices at one moment. Later writes and deletes do not change it; a clone is one reference count.
#[derive(Clone, Debug)]
pub struct MemtableSnapshot {
    /// Ascending by name.
    tables: Arc<[TableSnapshot]>,
}

#[derive(Debug)]
struct TableSnapshot {
    name: Box<str>,
    /// Ascending by device.
    devices: Vec<DeviceSnapshot>,
    _charge: Charge,
}

/// One device at one moment.
#[derive(Clone, Debug)]
pub struct DeviceSnapshot {
    device: Arc<DeviceId>,
    columns: Arc<ColumnSet>,
    view: Arc<ListView>,
}

impl MemtableSnapshot {
    pub(crate) fn new(ledger: &Arc<Ledger>, tables: &[Box<Table>]) -> Self {
        let mut by_name: Vec<&Table> = tables.iter().map(|table| &**table).collect();
        by_name.sort_by(|left, right| left.name().cmp(right.name()));
        let groups = by_name.chunk_by(|left, right| left.name() == right.name());
        // The counts of the shared list are charged with its first table.
        let shared = std::iter::once(ARC_BYTES).chain(std::iter::repeat(0));
        let tables: Vec<TableSnapshot> =
            groups.zip(shared).map(|(tables, extra)| TableSnapshot::new(ledger, tables, extra)).collect();
        Self { tables: tables.into() }
    }

    /// Names of the tables, ascending. Devices of the tree model stand under the first segment of their id.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tables.iter().map(|table| &*table.name)
    }

    fn table(&self, name: &str) -> &[DeviceSnapshot] {
        match self.tables.binary_search_by(|table| (*table.name).cmp(name)) {
            Ok(index) => &self.tables[index].devices,
            Err(_) => &[],
        }
    }

    /// Devices of a table, ascending; none for a table that is not there.
    pub fn devices(&self, table: &str) -> impl ExactSizeIterator<Item = &DeviceId> {
        self.table(table).iter().map(DeviceSnapshot::device)
    }

    /// The same devices with their rows.
    pub fn device_snapshots(&self, table: &str) -> impl ExactSizeIterator<Item = DeviceSnapshot> {
        self.table(table).iter().cloned()
    }

    /// One device.
    pub fn device(&self, device: &DeviceId) -> Option<DeviceSnapshot> {
        let devices = self.table(device.table());
        let index = devices.binary_search_by(|other| other.device().cmp(device)).ok()?;
        Some(devices[index].clone())
    }

    /// Number of devices.
    pub fn device_count(&self) -> usize {
        self.tables.iter().map(|table| table.devices.len()).sum()
    }
}

impl TableSnapshot {
    /// Of tables of one name.
    fn new(ledger: &Arc<Ledger>, tables: &[&Table], extra_bytes: usize) -> Self {
        let mut devices = Vec::with_capacity(tables.iter().map(|table| table.devices().len()).sum());
        for table in tables {
            devices.extend(table.devices().iter().map(|device| DeviceSnapshot {
                device: Arc::clone(&device.id),
                columns: Arc::clone(table.columns()),
                view: Arc::clone(device.view()),
            }));
        }
        devices.sort_unstable_by(|left, right| left.device.cmp(&right.device));
        let name: Box<str> = tables[0].name().into();
        let bytes = extra_bytes + size_of::<Self>() + name.len() + devices.capacity() * size_of::<DeviceSnapshot>();
        Self { name, devices, _charge: Charge::new(ledger, bytes) }
    }
}

impl DeviceSnapshot {
    /// Whose rows these are.
    pub fn device(&self) -> &DeviceId {
        &self.device
    }

    /// The FIELD and ATTRIBUTE columns of its table, in the order in which they were first seen; this device need not have
    /// values in all of them.
    pub fn columns(&self) -> impl Iterator<Item = (&str, DataType)> {
        self.columns.live().map(|(_, column)| (&*column.name, column.data_type))
    }

    /// Rows written, deleted ones and repeated times included.
    pub fn row_count(&self) -> usize {
        self.view.row_count()
    }

    /// The times written, deleted ones included.
    pub fn time_range(&self) -> TimeRange {
        self.view.time_range()
    }

    /// The state of a column in a block: for reports and tests.
    pub fn column_state(&self, column: &str, block: usize) -> ColumnState {
        self.columns.find(column).map_or(ColumnState::Absent, |(id, _)| self.view.column_state(id, block))
    }

    /// How much of a column is in memory; nothing of one that is not there.
    pub fn column_counts(&self, column: &str) -> ColumnCounts {
        self.columns.find(column).map_or_else(ColumnCounts::default, |(id, _)| self.view.column_counts(id))
    }

    /// One bit for each row in the order of arrival, low bit first: 1 when no column has a value there.
    pub fn all_null_rows(&self) -> Vec<u64> {
        self.view.all_null_rows(&self.column_ids())
    }

    /// What a point takes at most on average, in bytes: that of the text column with the most bytes, at least 8.
    pub fn largest_point_size(&self) -> usize {
        self.view.largest_point_size(&self.column_ids())
    }

    pub(crate) fn find(&self, column: &str) -> Option<(u32, DataType)> {
        self.columns.find(column)
    }

    pub(crate) fn view(&self) -> &Arc<ListView> {
        &self.view
    }

    fn column_ids(&self) -> Vec<u32> {
        self.columns.live().map(|(id, _)| id).collect()
    }

    /// Number of blocks.
    pub fn block_count(&self) -> usize {
        self.view.block_count()
    }

    /// Bytes of the blocks of this device. O(1).
    pub fn byte_count(&self) -> usize {
        self.view.byte_count()
    }

    /// All rows whose time is in `range`, ascending. A name that the memtable has not is an absent column.
    pub fn cursor(&self, projection: &[&str], range: TimeRange) -> DeviceCursor {
        self.query(projection).time(range).cursor()
    }

    /// The same with more choices.
    pub fn query(&self, projection: &[&str]) -> DeviceQuery {
        let columns = projection.iter().map(|name| self.columns.find(name)).collect();
        Query::of(Arc::clone(&self.view), columns)
    }
}

/// What to read of one device in one memtable. See [`DeviceSnapshot::query`].
pub type DeviceQuery = Query<Arc<ListView>>;

impl ListView {
    /// What to read of a list: columns by id, with the type their views are to have; `None` is an absent column.
    pub fn query(self: &Arc<Self>, columns: &[Option<(u32, DataType)>]) -> DeviceQuery {
        Query::of(Arc::clone(self), columns.to_vec())
    }
}

impl DeviceQuery {
    /// Starts reading.
    pub fn cursor(self) -> DeviceCursor {
        DeviceCursor::new(self.source, self.request)
    }
}
