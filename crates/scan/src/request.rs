//! What to scan, and which rows of it.

use std::fs::File;
use std::ops::RangeBounds;
use std::sync::Arc;

use tsloom_file::FileReader;
use tsloom_io::ReadAt;
use tsloom_memtable::MemtableSnapshot;
use tsloom_model::{Deletion, Predicate, RowFilter, RowPolicy, TimeRange};

/// Where rows come from, and what was deleted of them since. In a list of sources the later one is newer: its value wins where both
/// have one. What was deleted of one source says nothing about the others.
pub struct Source<R: ReadAt = File> {
    pub(crate) rows: SourceRows<R>,
    pub(crate) deletions: Arc<[Deletion]>,
}

/// What holds the rows of a source.
pub(crate) enum SourceRows<R: ReadAt> {
    File(Arc<FileReader<R>>),
    Memtable(MemtableSnapshot),
}

impl<R: ReadAt> Source<R> {
    /// A TsFile.
    pub fn file(reader: Arc<FileReader<R>>) -> Self {
        Self { rows: SourceRows::File(reader), deletions: Arc::default() }
    }

    /// What was written but not flushed yet.
    pub fn memtable(snapshot: MemtableSnapshot) -> Self {
        Self { rows: SourceRows::Memtable(snapshot), deletions: Arc::default() }
    }

    /// All of these were deleted: those that name columns make cells null, the others remove rows.
    ///
    /// ```
    /// # fn open(reader: std::sync::Arc<tsloom_file::FileReader>) -> tsloom_model::Result<tsloom_scan::TableScan> {
    /// use tsloom_model::Deletion;
    /// use tsloom_scan::{ScanRequest, Source, TableScan};
    ///
    /// let schema = reader.table("weather").expect("the file has it").clone();
    /// let source = Source::file(reader).without([Deletion::of_table("weather", ..1_000)]);
    /// TableScan::open(schema, [source], &ScanRequest::new())
    /// # }
    /// ```
    #[must_use]
    pub fn without(self, deletions: impl Into<Arc<[Deletion]>>) -> Self {
        Self { deletions: deletions.into(), ..self }
    }
}

impl<R: ReadAt> From<Arc<FileReader<R>>> for Source<R> {
    fn from(reader: Arc<FileReader<R>>) -> Self {
        Self::file(reader)
    }
}

impl<R: ReadAt> From<MemtableSnapshot> for Source<R> {
    fn from(snapshot: MemtableSnapshot) -> Self {
        Self::memtable(snapshot)
    }
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By device, then time.
    #[default]
    Ascending,
    /// The reverse: the last device first, and of each device the latest time. Memory is bounded: files are read forward, so rows are
    /// held a slice of time at a time, and a page that reaches into several slices is read for each.
    Descending,
    /// By time, then device. Memory is bounded: rows are gathered a slice of time at a time, and a page that reaches into several
    /// slices is read for each. Blocks have rows of several devices, whatever [`ScanRequest::devices_apart`] says.
    ByTime,
    /// The reverse of that.
    ByTimeDescending,
}

impl Order {
    pub(crate) fn is_by_time(self) -> bool {
        matches!(self, Self::ByTime | Self::ByTimeDescending)
    }

    pub(crate) fn is_backwards(self) -> bool {
        matches!(self, Self::Descending | Self::ByTimeDescending)
    }
}

/// Which columns and rows of a table a scan gives.
///
/// ```
/// use tsloom_model::tag;
/// use tsloom_scan::ScanRequest;
///
/// let request = ScanRequest::new().columns(["city", "temp"]).time(0..10_000).filter(tag("city").eq("Oslo")).limit(10);
/// assert_eq!(request.row_budget, 10_000);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScanRequest {
    /// Names of TAG and FIELD columns, in the order of the blocks; `None` is all of them, in the order of the schema.
    pub columns: Option<Vec<String>>,
    /// Only rows whose time is inside.
    pub time: TimeRange,
    /// Only devices whose tags meet this.
    pub filter: Option<Predicate>,
    /// Only rows whose values meet this. Its columns need not be among `columns`.
    pub values: Option<RowFilter>,
    /// What becomes of rows whose projected fields are all null; a projection without fields keeps every row.
    pub row_policy: RowPolicy,
    /// Statistics of chunks and pages may rule out what cannot meet `values`. Off, every page is decoded: for tests and doubts.
    pub prune: bool,
    /// In which order rows come.
    pub order: Order,
    /// At most so many rows in a block.
    pub row_budget: usize,
    /// Bytes of the chunks of this device and those after it that are read at once, so that the next ones are there when they are
    /// asked for: 256 KiB as a rule, which stay in the fast cache of the core. More pays where a read has latency; 2 MiB is the most
    /// that one read has, and one chunk group alone may have more.
    pub read_ahead_bytes: u64,
    /// A block ends where a device ends. Off, small devices share one.
    pub devices_apart: bool,
    /// Leave out so many rows of the answer first.
    pub offset: u64,
    /// Give at most so many rows in all.
    pub limit: Option<u64>,
}

impl Default for ScanRequest {
    /// Everything, in blocks of up to 10,000 rows: one page of upstream's writers.
    fn default() -> Self {
        Self {
            columns: None,
            time: TimeRange::ALL,
            filter: None,
            values: None,
            row_policy: RowPolicy::KeepAllNull,
            prune: true,
            order: Order::Ascending,
            row_budget: 10_000,
            read_ahead_bytes: 256 << 10,
            devices_apart: false,
            offset: 0,
            limit: None,
        }
    }
}

impl ScanRequest {
    /// A request for everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only these columns.
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Only rows in this range.
    #[must_use]
    pub fn time(mut self, range: impl RangeBounds<i64>) -> Self {
        self.time = TimeRange::from_bounds(range);
        self
    }

    /// Only devices that meet this condition.
    #[must_use]
    pub fn filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Only rows whose values meet this condition.
    #[must_use]
    pub fn values(mut self, values: RowFilter) -> Self {
        self.values = Some(values);
        self
    }

    /// Whether rows whose projected fields are all null exist.
    #[must_use]
    pub fn row_policy(mut self, row_policy: RowPolicy) -> Self {
        self.row_policy = row_policy;
        self
    }

    /// Whether statistics may rule out chunks and pages.
    #[must_use]
    pub fn prune(mut self, prune: bool) -> Self {
        self.prune = prune;
        self
    }

    /// In which order rows come; offset and limit count in it.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Whether each block has rows of one device only.
    #[must_use]
    pub fn devices_apart(mut self, apart: bool) -> Self {
        self.devices_apart = apart;
        self
    }

    /// At most so many rows in a block; 0 counts as 1.
    #[must_use]
    pub fn row_budget(mut self, row_count: usize) -> Self {
        self.row_budget = row_count;
        self
    }

    /// How many bytes of chunks are read at once, those of the next devices among them.
    #[must_use]
    pub fn read_ahead_bytes(mut self, size: u64) -> Self {
        self.read_ahead_bytes = size;
        self
    }

    /// Leave out so many rows first.
    #[must_use]
    pub fn offset(mut self, row_count: u64) -> Self {
        self.offset = row_count;
        self
    }

    /// At most so many rows in all.
    #[must_use]
    pub fn limit(mut self, row_count: u64) -> Self {
        self.limit = Some(row_count);
        self
    }
}
