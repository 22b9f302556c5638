//! The handle that users hold.

use std::path::Path;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, RwLock};
use tsloom_io::{Dir, DirLock, StdDir};
use tsloom_model::{Error, ErrorKind, Limits, Result};
use tsloom_tablet::{Tablet, TabletView};
use tsloom_wal::Log;

use crate::catalog::Table;
use crate::delete::DeleteBuilder;
use crate::manifest::Manifest;
use crate::memory::Memory;
use crate::open;
use crate::options::{Durability, StoreOptions, WriteOptions};
use crate::report::{RecoveryReport, StoreStats};
use crate::scan::ScanBuilder;
use crate::worker::{Signal, Worker};

/// A directory of tables, open for writing or for reading. Clones are the same store; all methods may be called from many
/// threads at once.
///
/// ```
/// use tsloom_model::{DataType, TableSchema, Value};
/// use tsloom_store::{Store, StoreOptions};
/// use tsloom_tablet::{Tablet, TabletView};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("lab.tsloom");
/// let weather = TableSchema::builder("weather").tag("city").field("temp", DataType::Double).build()?;
/// let store = Store::open(&path, StoreOptions::default())?;
/// store.create_table(&weather)?;
///
/// let mut batch = Tablet::new(&weather);
/// batch.push_row(1_000, &["Oslo".into(), 3.5.into()])?;
/// store.write(&batch)?; // on disk when it returns
/// drop(store);
///
/// let store = Store::open(&path, StoreOptions::default())?;
/// assert_eq!(store.recovery().replayed_rows, 1);
/// let mut scan = store.scan("weather").columns(["temp"]).open()?;
/// let block = scan.next_block()?.expect("the row is still there");
/// assert_eq!((block.times(), block.column(0).f64(0)), (&[1_000][..], Some(3.5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    handle: Arc<Handle>,
}

/// Ends the worker when the last clone is dropped.
struct Handle {
    shared: Arc<Shared>,
    _worker: Option<Worker>,
}

/// What the threads of a store share.
pub(crate) struct Shared {
    pub(crate) dir: Arc<dyn Dir>,
    pub(crate) options: StoreOptions,
    /// `None`: opened read-only.
    pub(crate) log: Option<Log>,
    /// Whoever writes holds it for reading from the check of a tablet until it is applied; whoever changes a table holds it alone.
    pub(crate) ddl: RwLock<()>,
    pub(crate) memory: Mutex<Memory>,
    /// [`Memory::applied`] has moved on.
    pub(crate) applied: Condvar,
    /// [`Memory::frozen`] has become shorter.
    pub(crate) flushed: Condvar,
    /// Whoever compacts holds it all the while.
    pub(crate) compacting: Mutex<()>,
    /// The manifest on disk. Whoever flushes holds the lock all the while; locked after `compacting` and before `memory`.
    pub(crate) manifest: Mutex<Manifest>,
    pub(crate) flushes: Mutex<FlushStats>,
    pub(crate) signal: Signal,
    pub(crate) recovery: RecoveryReport,
    pub(crate) _lock: Option<Box<dyn DirLock>>,
}

#[derive(Default)]
pub(crate) struct FlushStats {
    pub(crate) count: u64,
    pub(crate) compactions: u64,
    /// Why the last one in the background failed.
    pub(crate) error: Option<String>,
    pub(crate) compaction_error: Option<String>,
}

impl Store {
    /// Opens the store at `path` for writing, and makes it when it is not there.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] when another process writes to it, [`ErrorKind::Corrupt`] when something that was on disk once is
    /// damaged (a torn end of the log is no error: see [`recovery`](Self::recovery)), and what the operating system says.
    pub fn open(path: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        let path = path.as_ref();
        let dir = StdDir::create(path).map_err(|error| Error::from(error).in_file(path))?;
        Self::open_dir(Arc::new(dir), options)
    }

    /// Opens the store at `path` as it is now, for reading. A process may write to it meanwhile; what it writes later is
    /// not seen.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none; else as [`open`](Self::open).
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let dir = StdDir::open(path).map_err(|error| Error::from(error).in_file(path))?;
        Self::open_dir_read_only(Arc::new(dir), Limits::default())
    }

    /// As [`open`](Self::open), over any implementation of [`Dir`].
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_dir(dir: Arc<dyn Dir>, options: StoreOptions) -> Result<Self> {
        let shared = Arc::new(open::for_writing(dir, options)?);
        let worker = Worker::start(&shared)?;
        Ok(Self { handle: Arc::new(Handle { shared, _worker: Some(worker) }) })
    }

    /// As [`open_read_only`](Self::open_read_only), over any implementation of [`Dir`].
    ///
    /// # Errors
    /// As [`open_read_only`](Self::open_read_only).
    pub fn open_dir_read_only(dir: Arc<dyn Dir>, limits: Limits) -> Result<Self> {
        let shared = Arc::new(open::for_reading(dir, StoreOptions { limits, ..StoreOptions::default() })?);
        Ok(Self { handle: Arc::new(Handle { shared, _worker: None }) })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.handle.shared
    }

    /// Writes the rows of a tablet: all of them or none. Columns are matched by name; those the tablet has not are null. When
    /// this returns, every later scan sees the rows, and they are as durable as [`Durability`] says.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table or column that is not there, [`ErrorKind::SchemaMismatch`] for a column of another
    /// type, [`ErrorKind::Unsupported`] for a tablet of the tree model or a store that was opened read-only, for a table of
    /// [`RecoveryReport::unwritable_tables`] what [`create_table`](Self::create_table) would say,
    /// [`ErrorKind::Closed`] after a failed sync, and what the operating system says. Nothing is written then; after a failed
    /// sync only opening the store again tells.
    pub fn write(&self, tablet: &Tablet) -> Result<()> {
        self.write_with(tablet, &WriteOptions::default())
    }

    /// As [`write`](Self::write), with a say in how long it may wait for memory.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when memory is full for longer than that, and as [`write`](Self::write). Nothing is written then.
    pub fn write_with(&self, tablet: &Tablet, options: &WriteOptions) -> Result<()> {
        self.shared().write(tablet, options)
    }

    /// As [`write`](Self::write), of a tablet that lies in bytes in its wire form.
    ///
    /// # Errors
    /// Bytes that are no tablet, and as [`write`](Self::write).
    pub fn write_view(&self, view: &TabletView<'_>) -> Result<()> {
        self.write(&view.to_tablet()?)
    }

    /// Starts a delete of rows or cells of a table.
    pub fn delete(&self, table: &str) -> DeleteBuilder<'_> {
        DeleteBuilder::new(self, table)
    }

    /// Moves all rows that were written before into files. Writes and scans go on meanwhile.
    ///
    /// # Errors
    /// What the operating system says. The rows stay in memory and in the log then; flush again.
    pub fn flush(&self) -> Result<()> {
        self.shared().flush()
    }

    /// Makes all rows that were written before durable.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`] when the disk did not take them: nobody knows what it has until the store is opened again.
    pub fn sync(&self) -> Result<()> {
        self.shared().log()?.sync()
    }

    /// Starts a scan of a table.
    pub fn scan(&self, table: &str) -> ScanBuilder<'_> {
        ScanBuilder::new(self, table)
    }

    /// What was found when the store was opened.
    pub fn recovery(&self) -> &RecoveryReport {
        &self.shared().recovery
    }

    /// Plain numbers.
    pub fn stats(&self) -> StoreStats {
        self.shared().stats()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("dir", &self.shared().dir.name()).field("stats", &self.stats()).finish()
    }
}

impl Shared {
    /// The log of a store that is open for writing.
    pub(crate) fn log(&self) -> Result<&Log> {
        self.log
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("store {} is open read-only", self.dir.name())))
    }

    pub(crate) fn table_of(&self, tablet: &Tablet) -> Result<Arc<Table>> {
        self.log()?;
        let target = tablet.target().unwrap_or_default();
        if !tablet.head().is_table() {
            let message = format!("a store keeps tables; this tablet is of the device {target} of the tree model");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.catalog().require(target).cloned()
    }

    fn stats(&self) -> StoreStats {
        let log = self.log.as_ref().map(Log::stats).unwrap_or_default();
        let memory = self.memory.lock();
        let flushes = self.flushes.lock();
        let frozen_rows: u64 = memory.frozen.iter().map(|part| part.frozen.row_count()).sum();
        let frozen_bytes: usize = memory.frozen.iter().map(|part| part.frozen.byte_count()).sum();
        StoreStats {
            tables: memory.catalog.tables().len() as u64,
            files: memory.files.len() as u64,
            late_files: memory.files.iter().filter(|file| file.entry.is_late).count() as u64,
            file_bytes: memory.files.iter().map(|file| file.entry.size).sum(),
            file_rows: memory.files.iter().map(|file| file.entry.row_count).sum(),
            memtable_rows: memory.active.row_count() + frozen_rows,
            memtable_bytes: (memory.active.byte_count() + frozen_bytes) as u64,
            frozen_memtables: memory.frozen.len() as u64,
            flushes: flushes.count,
            compactions: flushes.compactions,
            flushed_sequence: memory.flushed,
            erasures: memory.erasures.len() as u64,
            flush_error: flushes.error.clone(),
            compaction_error: flushes.compaction_error.clone(),
            log,
        }
    }

    /// How often the log is synced, when it is not by every write.
    pub(crate) fn sync_interval(&self) -> Option<std::time::Duration> {
        match self.options.durability {
            Durability::Interval(interval) => Some(interval),
            Durability::Always | Durability::OnFlush | Durability::Never => None,
        }
    }
}
