//! All rows of a table that are asked for, device by device: [`TableScan`].

mod pass;

use std::cell::OnceCell;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use tsloom_block::{Block, BlockFactory, BlockLayout, BlockSource, ReusableBlock};
use tsloom_file::FileReader;
use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Error, ErrorKind, Result, RowPolicy, TableSchema};

use self::pass::Current;
use crate::by_time::ByTime;
use crate::deletions::{Gone, SourceDeletions};
use crate::devices::{DeviceList, list_file};
use crate::filter::FilteredRows;
use crate::parallel::{self, Parallel};
use crate::projection::Projection;
use crate::reads::ByteRange;
use crate::request::SourceRows;
use crate::rows::DeviceRows;
use crate::slices::Spans;
use crate::sources::{FileSource, MemtableSource, OpenSource};
use crate::window::RowWindow;
use crate::{Order, ScanRequest, ScanStats, Source};

/// Rows of one table, ordered by device and time (or by time: [`Order`]), in blocks that are lent one after the other.
///
/// A block holds rows of one device or of several; its TAG columns hold the tags of each row's device. Rows exist by their time: one whose projected fields are
/// all null is given too. Where several sources, or chunk groups of a file, have the same time, each column gets the latest value that
/// is not null.
///
/// A block is valid until the next call; that is checked by the compiler:
///
/// ```compile_fail,E0499
/// fn two_blocks(scan: &mut tsloom_scan::TableScan) -> tsloom_model::Result<()> {
///     let first = scan.next_block()?;
///     let second = scan.next_block()?;
///     println!("{:?} {:?}", first.map(|block| block.row_count()), second.map(|block| block.row_count()));
///     Ok(())
/// }
/// ```
///
/// ```
/// fn one_block_kept(scan: &mut tsloom_scan::TableScan) -> tsloom_model::Result<()> {
///     scan.next_block()?;
///     let first = scan.take(); // moved out; the scan builds another
///     let second = scan.next_block()?;
///     println!("{:?} {:?}", first.map(|block| block.row_count()), second.map(|block| block.row_count()));
///     Ok(())
/// }
/// ```
pub struct TableScan<R: ReadAt = File> {
    schema: TableSchema,
    projection: Projection,
    sources: Vec<OpenSource<R>>,
    devices: Arc<DeviceList>,
    window: RowWindow,
    /// Rows that one pass of several gives at most.
    pass_limit: Option<u64>,
    row_policy: RowPolicy,
    order: Order,
    rows: DeviceRows,
    /// Rows between `rows` and the block, when not all of them pass.
    filtered: Option<FilteredRows>,
    /// The device that is being read.
    current: Option<Current>,
    /// The device of the lent block, and its id once somebody asked.
    lent_device: Option<usize>,
    lent_id: OnceCell<DeviceId>,
    /// Devices that are still to be visited, from which end.
    left: Range<usize>,
    is_backwards: bool,
    block: ReusableBlock,
    mode: Mode,
    keeps_devices_apart: bool,
    is_lent: bool,
    is_ended: bool,
    stats: ScanStats,
}

/// How rows come to the lent block.
#[derive(Default)]
enum Mode {
    /// As they are read.
    #[default]
    ByDevice,
    ByTime(Box<ByTime>),
    Parallel(Box<Parallel>),
}

impl<R: ReadAt> TableScan<R> {
    /// Starts a scan of the table `schema` over these sources, oldest first. Devices are listed now; chunks are read as blocks are
    /// asked for.
    ///
    /// A column of the schema that a source does not have is null there.
    ///
    /// # Errors
    /// A projection or filter that does not fit the schema, and damaged or unreadable device indexes.
    pub fn open<S: Into<Source<R>>>(
        schema: TableSchema,
        sources: impl IntoIterator<Item = S>,
        request: &ScanRequest,
    ) -> Result<Self> {
        let projection = Projection::new(&schema, request)?;
        let filter = request.filter.as_ref().map(|filter| filter.resolve(&schema)).transpose()?;
        let window = RowWindow::new(request.time, request.offset, request.limit);
        let mut devices = DeviceList::default();
        let mut opened = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            let index = index as u32;
            let Source { rows, deletions } = source.into();
            let deletions = SourceDeletions::new(deletions);
            opened.push(match rows {
                SourceRows::File(reader) => {
                    let mut source = FileSource::new(reader, deletions, request.read_ahead_bytes);
                    let file = &mut source.file;
                    if !window.is_done() {
                        list_file(&mut devices, index, file, Some(schema.name()), filter.as_ref())
                            .map_err(|error| file.reader.blame(error))?;
                    }
                    OpenSource::File(Box::new(source))
                }
                SourceRows::Memtable(snapshot) => {
                    let snapshots: Vec<_> = snapshot.device_snapshots(schema.name()).collect();
                    for (at, device) in snapshots.iter().enumerate() {
                        let place = ByteRange { start: at as u64, end: at as u64 };
                        devices.push(index, place, device.device().segments(), filter.as_ref())?;
                    }
                    OpenSource::Memtable(MemtableSource { devices: snapshots, deletions, gone: Gone::default() })
                }
            });
        }
        devices.arrange().map_err(|(source, error)| match &opened[source as usize] {
            OpenSource::File(file) => file.file.reader.blame(error),
            OpenSource::Memtable(_) => error,
        })?;
        let mut scan = Self::new(schema, projection, opened, Arc::new(devices), window, request);
        if request.order.is_by_time() {
            let spans = if window.is_done() { Spans::default() } else { scan.spans(0..scan.devices.len())? };
            let held = Block::new(&scan.projection.layout);
            scan.mode = Mode::ByTime(Box::new(ByTime::new(spans, window, held, scan.is_backwards)));
        } else {
            scan.visit(0..scan.devices.len());
        }
        Ok(scan)
    }

    fn new(
        schema: TableSchema,
        projection: Projection,
        sources: Vec<OpenSource<R>>,
        devices: Arc<DeviceList>,
        window: RowWindow,
        request: &ScanRequest,
    ) -> Self {
        let order = request.order;
        Self {
            schema,
            filtered: FilteredRows::new(&projection, request.row_policy),
            projection,
            sources,
            devices,
            window,
            pass_limit: None,
            row_policy: request.row_policy,
            order,
            rows: DeviceRows::new(order == Order::Descending),
            current: None,
            lent_device: None,
            lent_id: OnceCell::new(),
            left: 0..0,
            is_backwards: order.is_backwards(),
            block: ReusableBlock::default(),
            mode: Mode::ByDevice,
            keeps_devices_apart: request.devices_apart,
            is_lent: false,
            is_ended: false,
            stats: ScanStats::default(),
        }
    }

    /// Starts a scan over files that has no device yet: [`turn_to`](Self::turn_to) gives it one after the other.
    pub(crate) fn of_none(files: impl IntoIterator<Item = Source<R>>, request: &ScanRequest) -> Result<Self> {
        let schema = TableSchema::from_stored("", Vec::new())?;
        let request = ScanRequest { columns: Some(Vec::new()), filter: None, values: None, ..request.clone() };
        Self::open(schema, files, &request)
    }

    /// Goes on with another device, whose columns are another schema. Offset and limit go on counting; so does what was done.
    pub(crate) fn turn_to(&mut self, schema: TableSchema, device: DeviceList, request: &ScanRequest) -> Result<()> {
        self.projection = Projection::new(&schema, request)?;
        self.schema = schema;
        self.devices = Arc::new(device);
        self.rows.forget();
        self.filtered = FilteredRows::new(&self.projection, request.row_policy);
        self.visit(0..self.devices.len());
        self.lent_device = None;
        self.lent_id.take();
        (self.is_lent, self.is_ended) = (false, false);
        Ok(())
    }

    pub(crate) fn window(&self) -> RowWindow {
        self.window
    }

    pub(crate) fn is_backwards(&self) -> bool {
        self.is_backwards
    }

    /// True when no more rows are wanted, whatever the devices have.
    pub(crate) fn is_done(&self) -> bool {
        self.window.is_done()
    }

    /// Starts a scan of one table of one file, by the schema that the file has.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when the file has no such table; see [`open`](Self::open).
    pub fn of_file(reader: Arc<FileReader<R>>, table: &str, request: &ScanRequest) -> Result<Self> {
        let Some(schema) = reader.table(table).cloned() else {
            let names: Vec<&str> = reader.tables().map(TableSchema::name).collect();
            let message = format!("there is no table {table}; there is {}", names.join(", "));
            return Err(reader.blame(Error::new(ErrorKind::NotFound, message)));
        };
        Self::open(schema, [reader], request)
    }

    /// Asks `factory` for a block whenever the scan needs a new one; where it declines, the scan builds one.
    #[must_use]
    pub fn with_block_factory(mut self, factory: impl BlockFactory + 'static) -> Self {
        self.block = ReusableBlock::with_factory(factory);
        self
    }

    /// The next block, lent until the next call; `None` at the end. It has at least one row.
    ///
    /// # Errors
    /// What is damaged or cannot be read, with file, offset and column. The scan is over then.
    pub fn next_block(&mut self) -> Result<Option<&Block>> {
        self.advance()?;
        Ok(self.lent())
    }

    /// Fills the next block. False when there is none.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.is_lent = false;
        self.lent_device = None;
        self.lent_id.take();
        if !self.is_ended {
            self.is_ended = true;
            self.is_lent = self.advance_mode()?;
            self.is_ended = !self.is_lent;
            self.stats.rows += self.lent().map_or(0, |block| block.row_count() as u64);
        }
        Ok(self.is_lent)
    }

    fn advance_mode(&mut self) -> Result<bool> {
        if let Mode::Parallel(parallel) = &mut self.mode {
            let next = parallel.advance()?;
            self.lent_device = next.flatten();
            return Ok(next.is_some());
        }
        // Taken out, so that it can be filled by the scan that has it.
        let mut reusable = std::mem::take(&mut self.block);
        let block = reusable.acquire(&self.projection.layout);
        let outcome = match std::mem::take(&mut self.mode) {
            Mode::ByTime(mut by_time) => {
                let outcome = by_time.fill(self, block);
                self.lent_device = None;
                self.mode = Mode::ByTime(by_time);
                outcome
            }
            Mode::ByDevice | Mode::Parallel(_) => self.fill_block(block),
        };
        self.block = reusable;
        outcome
    }

    /// The block that was filled last, if there was one.
    pub(crate) fn lent(&self) -> Option<&Block> {
        let block = match &self.mode {
            Mode::Parallel(parallel) => parallel.lent(),
            Mode::ByDevice | Mode::ByTime(_) => self.block.current(),
        };
        block.filter(|_| self.is_lent)
    }

    /// The block that was lent last, moved out; the next one is built anew.
    pub fn take(&mut self) -> Option<Block> {
        match &mut self.mode {
            _ if !std::mem::take(&mut self.is_lent) => None,
            Mode::Parallel(parallel) => parallel.take(),
            Mode::ByDevice | Mode::ByTime(_) => self.block.take(),
        }
    }

    /// The device whose rows the block that was lent last holds; `None` when they are of several devices, which
    /// [`ScanRequest::devices_apart`] rules out.
    pub fn device(&self) -> Option<&DeviceId> {
        let device = self.lent_device?;
        Some(self.lent_id.get_or_init(|| self.devices.id(device)))
    }

    /// Number of devices that the scan visits: those that meet the filter. Not all of them need have a row in the time range.
    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// What every block looks like.
    pub fn layout(&self) -> &BlockLayout {
        &self.projection.layout
    }

    /// The table.
    pub fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// What the scan did so far.
    pub fn stats(&self) -> ScanStats {
        let mut stats = self.stats;
        stats.block_builds += self.block.build_count();
        for source in &self.sources {
            if let OpenSource::File(file) = source {
                stats.reads += file.file.reads;
                stats.bytes_read += file.file.bytes_read;
                stats.groups_pruned += file.groups_pruned;
                stats.pages_decoded += file.readers.iter().map(|reader| reader.pages_decoded).sum::<u64>();
                stats.pages_pruned += file.readers.iter().map(|reader| reader.pages_pruned).sum::<u64>();
            }
        }
        if let Mode::Parallel(parallel) = &self.mode {
            parallel.stats().for_each(|worker| stats.add(&worker));
        }
        stats
    }
}

impl<R: ReadAt + 'static> TableScan<R> {
    /// Has so many threads read and decode: other devices each, or other times of one device when there are few. Rows and their order
    /// stay the same; blocks may end elsewhere. At most a few blocks a thread are held. One thread, or an order by time, changes
    /// nothing; a [`BlockFactory`] is not asked.
    ///
    /// To be called before the first block is asked for. The threads end with the scan.
    ///
    /// # Errors
    /// Damaged or unreadable metadata; threads that cannot be started.
    pub fn threads(mut self, threads: usize) -> Result<Self> {
        if threads > 1 && matches!(self.mode, Mode::ByDevice) && !self.window.is_done() {
            let wanted = self.window;
            let tasks = parallel::tasks(&mut self, threads)?;
            self.window = wanted;
            self.mode = Mode::Parallel(Box::new(Parallel::start(&self, tasks, threads)?));
        }
        Ok(self)
    }
}

impl<R: ReadAt> BlockSource for TableScan<R> {
    type Error = Error;

    fn next_block(&mut self) -> Result<Option<&Block>> {
        self.next_block()
    }
}

impl<R: ReadAt> std::fmt::Debug for TableScan<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableScan")
            .field("table", &self.schema.name())
            .field("sources", &self.sources.len())
            .field("devices", &self.devices.len())
            .field("left", &self.left)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
