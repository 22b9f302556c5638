//! Many devices, of tables and of the tree model, behind one write and one snapshot.

use std::sync::{Arc, OnceLock};

use tsloom_bitmap::NullWords;
use tsloom_model::{DeviceId, Error, ErrorKind, Result, TimeRange};
use tsloom_tablet::Tablet;

use crate::geometry::BlockRows;
use crate::pool::{Charge, Ledger, SlabPool};
use crate::snapshot::MemtableSnapshot;
use crate::table::{Table, check_names, hull};

/// How a [`Memtable`] is made.
#[derive(Clone, Debug)]
pub struct MemtableOptions {
    block_rows: BlockRows,
    pool: Option<Arc<SlabPool>>,
    flush_threshold_bytes: usize,
}

impl Default for MemtableOptions {
    /// Blocks by width, no pool, and a flush due at 64 MiB.
    fn default() -> Self {
        Self { block_rows: BlockRows::ByWidth, pool: None, flush_threshold_bytes: 64 << 20 }
    }
}

impl MemtableOptions {
    /// Rows of a block.
    #[must_use]
    pub fn block_rows(mut self, block_rows: BlockRows) -> Self {
        self.block_rows = block_rows;
        self
    }

    /// Where slabs come from and go back to: one pool for all memtables of a store.
    #[must_use]
    pub fn pool(mut self, pool: Arc<SlabPool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// From how many bytes on a flush is due: the [`WriteReport`] of each write says so, and [`Memtable::is_flush_due`] to whoever
    /// asks in between. 64 MiB if never said.
    #[must_use]
    pub fn flush_threshold_bytes(mut self, bytes: usize) -> Self {
        self.flush_threshold_bytes = bytes;
        self
    }
}

/// What a write did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteReport {
    /// Rows written, failed ones included.
    pub rows: usize,
    /// Rows that had failed before: they keep their time and are null in every column.
    pub failed_rows: usize,
    /// Devices seen for the first time.
    pub new_devices: usize,
    /// Columns seen for the first time.
    pub new_columns: usize,
    /// Columns without a value in the blocks that were opened, counted once a block: what owns nothing there. See
    /// [`reference::avoided_bitmap_bytes`](crate::reference::avoided_bitmap_bytes).
    pub implicit_columns: usize,
    /// Devices whose rows were in time order until this write.
    pub devices_out_of_order: usize,
    /// The memtable holds as many bytes as its options allow: flush it. It is for the caller to
    /// [`freeze`](Memtable::freeze) it and to write to a new one; until then writes go on as before and say so again.
    pub is_flush_due: bool,
}

/// What a memtable holds, or one device of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemUsage {
    /// Rows written, deleted ones and repeated times included.
    pub rows: u64,
    /// Of the memtable all bytes, see [`Memtable::byte_count`]; of a device those of its blocks.
    pub bytes: usize,
}

/// What is written and not yet in a file.
///
/// One writer at a time; snapshots read beside it without a lock.
///
/// ```
/// use tsloom_memtable::{Memtable, MemtableOptions};
/// use tsloom_model::{DataType, TableSchema, TimeRange, Value};
/// use tsloom_tablet::Tablet;
///
/// let weather = TableSchema::builder("weather").tag("city").field("temp", DataType::Double).build()?;
/// let mut tablet = Tablet::with_capacity(&weather, 3);
/// tablet.push_row(2_000, &["Oslo".into(), 4.0.into()])?;
/// tablet.push_row(1_000, &["Oslo".into(), 3.5.into()])?;
/// tablet.push_row(2_000, &["Oslo".into(), Value::Null])?; // a null takes nothing away
///
/// let mut memtable = Memtable::new(MemtableOptions::default());
/// memtable.write(&tablet)?;
///
/// let snapshot = memtable.snapshot();
/// let oslo = snapshot.device_snapshots("weather").next().expect("one device was written");
/// let mut cursor = oslo.cursor(&["temp"], TimeRange::ALL);
/// let rows = cursor.next_rows(100).expect("it has rows");
/// assert_eq!(rows.times(), [1_000, 2_000]);
/// assert_eq!(rows.column(0).expect("it has values").value(1), 4.0.into());
/// # Ok::<(), tsloom_model::Error>(())
/// ```
#[derive(Debug)]
pub struct Memtable {
    options: MemtableOptions,
    ledger: Arc<Ledger>,
    /// The list of tables, and what the ledger itself takes.
    charge: Charge,
    /// Ascending by target.
    #[expect(clippy::vec_box, reason = "the tree model has a table per device; inserting moves pointers, not tables")]
    tables: Vec<Box<Table>>,
    row_count: u64,
    time_range: TimeRange,
    /// The snapshot since the last change, made when it is first asked for.
    snapshot: OnceLock<MemtableSnapshot>,
}

/// Rows of a list are numbered with 32 bits; so no list can have too many.
const ROWS_MAX: u64 = u32::MAX as u64;

impl Memtable {
    /// An empty memtable.
    pub fn new(options: MemtableOptions) -> Self {
        let pool = options.pool.clone().unwrap_or_else(|| SlabPool::new(0));
        let ledger = Ledger::new(pool);
        let charge = Charge::new(&ledger, Ledger::BYTES);
        Self {
            options,
            ledger,
            charge,
            tables: Vec::new(),
            row_count: 0,
            time_range: TimeRange::EMPTY,
            snapshot: OnceLock::new(),
        }
    }

    /// Writes all rows of a tablet, each to its device.
    ///
    /// # Errors
    /// Nothing is changed then. [`ErrorKind::SchemaMismatch`] when a column has another type than before or two have one
    /// name; [`ErrorKind::InvalidArgument`] for a tablet without a target; [`ErrorKind::LimitExceeded`] past 2^32 - 1 rows.
    pub fn write(&mut self, tablet: &Tablet) -> Result<WriteReport> {
        self.write_marked(tablet, None)
    }

    /// As [`write`](Self::write); rows marked in `failed` keep their time and are null in every column.
    ///
    /// # Panics
    /// When `failed` does not speak of every row.
    pub fn write_marked(&mut self, tablet: &Tablet, failed: Option<NullWords<'_>>) -> Result<WriteReport> {
        assert!(failed.is_none_or(|failed| failed.row_count() == tablet.row_count()), "one bit a row");
        let found = self.check(tablet)?;

        // From here on nothing can fail.
        self.snapshot.take();
        let mut report = WriteReport { rows: tablet.row_count(), ..WriteReport::default() };
        report.failed_rows = failed.map_or(0, |failed| failed.null_count());
        let index = found.unwrap_or_else(|index| {
            let table = Table::new(&self.ledger, self.options.block_rows, tablet);
            self.tables.insert(index, Box::new(table));
            self.charge.set(Ledger::BYTES + self.tables.capacity() * size_of::<Box<Table>>());
            index
        });
        let range = self.tables[index].write(tablet, failed, &mut report);
        self.row_count += tablet.row_count() as u64;
        self.time_range = hull(self.time_range, range);
        report.is_flush_due = self.is_flush_due();
        Ok(report)
    }

    /// Bytes that writing the tablet will add to [`byte_count`](Self::byte_count): to be reserved before it is written. Exact for
    /// devices that are there and columns of fixed width. Not in it: text, and the books about new devices and tables. The table
    /// learns the tablet's columns now.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn reserve(&mut self, tablet: &Tablet, failed: Option<NullWords<'_>>) -> Result<usize> {
        let found = self.check(tablet)?;
        self.snapshot.take(); // as a write does: what only the memtable itself holds is not copied
        match found {
            Ok(index) => Ok(self.tables[index].reserve(tablet, failed)),
            Err(_) => Ok(Table::new(&self.ledger, self.options.block_rows, tablet).reserve(tablet, failed)),
        }
    }

    /// The index of the tablet's table, or where it belongs; an error when the tablet cannot be written.
    fn check(&self, tablet: &Tablet) -> Result<std::result::Result<usize, usize>> {
        let Some(target) = tablet.target() else {
            return Err(Error::new(ErrorKind::InvalidArgument, "a tablet without a target names no table"));
        };
        let row_count = self.row_count + tablet.row_count() as u64;
        if row_count > ROWS_MAX {
            let message = format!("a memtable takes {ROWS_MAX} rows, this write would make it {row_count}");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let found = self.tables.binary_search_by(|table| table.target().cmp(target));
        match found {
            Ok(index) => self.tables[index].check(tablet)?,
            Err(_) => check_names(tablet)?,
        }
        Ok(found)
    }

    /// Deletes the rows that are there now, of the devices that `is_meant` picks, in `range`. Rows written later stay.
    /// Returns for how many devices a delete was recorded; where there is nothing to delete none is.
    pub fn delete_rows(&mut self, table: &str, is_meant: impl Fn(&DeviceId) -> bool, range: TimeRange) -> usize {
        self.delete(table, is_meant, range, None)
    }

    /// Makes the cells of `column` null that are there now, of the devices that `is_meant` picks, in `range`. Rows stay, and
    /// values written later too. Returns for how many devices a delete was recorded.
    pub fn delete_cells(&mut self, table: &str, column: &str, is_meant: impl Fn(&DeviceId) -> bool, range: TimeRange) -> usize {
        self.delete(table, is_meant, range, Some(column))
    }

    fn delete(&mut self, name: &str, is_meant: impl Fn(&DeviceId) -> bool, range: TimeRange, column: Option<&str>) -> usize {
        self.snapshot.take();
        let mut recorded = 0;
        for table in self.tables.iter_mut().filter(|table| table.name() == name) {
            let id = match column.map(|column| table.columns().find(column)) {
                Some(None) => continue,
                Some(Some((id, _))) => Some(id),
                None => None,
            };
            for device in table.devices_mut().iter_mut().filter(|device| is_meant(&device.id)) {
                recorded += usize::from(device.list_mut().delete(range, id));
            }
        }
        recorded
    }

    /// Deletes a column of a table (of all devices of this first segment in the tree model). Its cells are out of reach; a
    /// column of this name written later is a new one, of any type. Returns false when there is none.
    pub fn delete_column(&mut self, table: &str, column: &str) -> bool {
        self.snapshot.take();
        let mut is_found = false;
        for table in self.tables.iter_mut().filter(|other| other.name() == table) {
            is_found |= table.delete_column(column);
        }
        is_found
    }

    /// Forgets a table with all its rows; what is written under this name later is a new one. Returns false when there is none.
    pub fn drop_table(&mut self, table: &str) -> bool {
        self.snapshot.take();
        let before = self.tables.len();
        self.tables.retain(|other| other.name() != table);
        if self.tables.len() == before {
            return false;
        }
        let rows = |table: &Table| table.devices().iter().map(|device| device.list().row_count() as u64).sum::<u64>();
        self.row_count = self.tables.iter().map(|table| rows(table)).sum();
        true
    }

    /// What is in the memtable now. O(devices) after a change, O(1) otherwise; it stays as it is for ever.
    pub fn snapshot(&self) -> MemtableSnapshot {
        self.snapshot.get_or_init(|| MemtableSnapshot::new(&self.ledger, &self.tables)).clone()
    }

    /// Ends writing. O(1): nothing is copied; what is frozen can be read until its file is in place.
    pub fn freeze(self) -> Frozen {
        Frozen { memtable: self }
    }

    /// Bytes held, as charged by whoever allocated them; snapshots included. O(1).
    pub fn byte_count(&self) -> usize {
        self.ledger.bytes()
    }

    /// What the memtable holds. O(1).
    pub fn usage(&self) -> MemUsage {
        MemUsage { rows: self.row_count, bytes: self.byte_count() }
    }

    /// What the blocks of a device hold; `None` when it was never written. Nothing is allocated to find it.
    pub fn device_usage(&self, device: &DeviceId) -> Option<MemUsage> {
        let list = self.tables_named(device.table()).find_map(|table| table.list_of(device))?;
        Some(MemUsage { rows: list.row_count() as u64, bytes: list.byte_count() })
    }

    /// The table of this name, or the devices of the tree model whose first segment it is.
    fn tables_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Table> {
        // No target with this beginning stands before the name itself.
        let first = self.tables.partition_point(|table| table.target() < name);
        let tables = self.tables[first..].iter().map(|table| &**table);
        tables.take_while(move |table| table.target().starts_with(name)).filter(move |table| table.name() == name)
    }

    /// True from the threshold on that the options name.
    pub fn is_flush_due(&self) -> bool {
        self.byte_count() >= self.options.flush_threshold_bytes
    }

    /// Rows written, deleted ones and repeated times included.
    pub fn row_count(&self) -> u64 {
        self.row_count
    }

    /// Number of devices.
    pub fn device_count(&self) -> usize {
        self.tables.iter().map(|table| table.devices().len()).sum()
    }

    /// True before the first row.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// The times written, deleted ones included; those of dropped tables may be in it. Empty before the first row.
    pub fn time_range(&self) -> TimeRange {
        self.time_range
    }
}

/// A memtable that takes no more rows, on its way to a file.
#[derive(Debug)]
pub struct Frozen {
    memtable: Memtable,
}

impl Frozen {
    /// What is in it.
    pub fn snapshot(&self) -> MemtableSnapshot {
        self.memtable.snapshot()
    }

    /// As [`Memtable::delete_rows`]: deletes reach what is frozen too. A file that was begun from an earlier snapshot has to be told.
    pub fn delete_rows(&mut self, table: &str, is_meant: impl Fn(&DeviceId) -> bool, range: TimeRange) -> usize {
        self.memtable.delete_rows(table, is_meant, range)
    }

    /// As [`Memtable::delete_cells`].
    pub fn delete_cells(&mut self, table: &str, column: &str, is_meant: impl Fn(&DeviceId) -> bool, range: TimeRange) -> usize {
        self.memtable.delete_cells(table, column, is_meant, range)
    }

    /// As [`Memtable::delete_column`].
    pub fn delete_column(&mut self, table: &str, column: &str) -> bool {
        self.memtable.delete_column(table, column)
    }

    /// As [`Memtable::drop_table`].
    pub fn drop_table(&mut self, table: &str) -> bool {
        self.memtable.drop_table(table)
    }

    /// Bytes held; they go back to the pool when this and the last snapshot are dropped.
    pub fn byte_count(&self) -> usize {
        self.memtable.byte_count()
    }

    /// Rows written, deleted ones and repeated times included.
    pub fn row_count(&self) -> u64 {
        self.memtable.row_count()
    }

    /// Number of devices.
    pub fn device_count(&self) -> usize {
        self.memtable.device_count()
    }

    /// The times written.
    pub fn time_range(&self) -> TimeRange {
        self.memtable.time_range()
    }
}
