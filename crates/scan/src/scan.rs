//! All rows of a table that are asked for, device by device: [`TableScan`].

use std::cell::OnceCell;
use std::fs::File;
use std::sync::Arc;

use tsloom_block::{Block, BlockFactory, BlockLayout, BlockSource, ReusableBlock};
use tsloom_file::FileReader;
use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Error, ErrorKind, Result, RowPolicy, TableSchema, Value};

use crate::deletions::{Gone, SourceDeletions};
use crate::devices::{DeviceList, list_file};
use crate::filter::FilteredRows;
use crate::group::GroupReader;
use crate::plan::FilePlan;
use crate::projection::Projection;
use crate::reads::{ByteRange, FileIo};
use crate::request::SourceRows;
use crate::rows::DeviceRows;
use crate::sources::{FileSource, MemtableSource, OpenSource, Step};
use crate::window::RowWindow;
use crate::{Order, ScanRequest, ScanStats, Source};

/// Bytes of tag values that one block may repeat: a block of long tags gets fewer rows.
const TAG_BYTES_MAX: usize = 64 << 20;

/// Cells with which a block is full enough: no other device joins it. More would not stay in the fast cache of the core between
/// being decoded and being read.
const SHARED_CELLS_MAX: usize = 8 << 10;

/// Rows of one table, ordered by device and time, in blocks that are lent one after the other.
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
    devices: DeviceList,
    window: RowWindow,
    rows: DeviceRows,
    /// Rows between `rows` and the block, when not all of them pass.
    filtered: Option<FilteredRows>,
    /// The device that is being read.
    current: Option<Current>,
    /// The device of the lent block, and its id once somebody asked.
    lent_device: Option<usize>,
    lent_id: OnceCell<DeviceId>,
    next_device: usize,
    block: ReusableBlock,
    keeps_devices_apart: bool,
    is_descending: bool,
    is_lent: bool,
    is_ended: bool,
    stats: ScanStats,
}

/// A device that is being read.
#[derive(Clone, Copy)]
struct Current {
    device: usize,
    /// Bytes of its tags in a row; at least one.
    tag_bytes: usize,
    has_rows: bool,
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
                    let mut file = FileIo::new(reader);
                    if !window.is_done() {
                        list_file(&mut devices, index, &mut file, Some(schema.name()), filter.as_ref())
                            .map_err(|error| file.reader.blame(error))?;
                    }
                    let readers = vec![GroupReader::new(file.reader.options())];
                    let test_count = projection.test.as_ref().map_or(0, |test| test.columns.len());
                    let plan = FilePlan::new(projection.fields.len(), test_count, request.time, file.reader.size());
                    OpenSource::File(Box::new(FileSource { file, plan, deletions, visited: 0, groups_pruned: 0, readers }))
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
        let is_descending = request.order == Order::Descending;
        let mut visit = |device: usize| {
            for entry in devices.entries(device) {
                if let OpenSource::File(file) = &mut opened[entry.source as usize] {
                    file.plan.add_device(entry.node);
                }
            }
        };
        if is_descending {
            (0..devices.len()).rev().for_each(&mut visit);
        } else {
            (0..devices.len()).for_each(&mut visit);
        }
        let is_filtered = projection.test.is_some() || request.row_policy == RowPolicy::DropAllNull;
        let filtered = is_filtered.then(|| FilteredRows::new(&projection, request.row_policy));
        Ok(Self {
            schema,
            projection,
            sources: opened,
            devices,
            window,
            rows: DeviceRows::new(is_descending),
            filtered,
            current: None,
            lent_device: None,
            lent_id: OnceCell::new(),
            next_device: 0,
            block: ReusableBlock::default(),
            keeps_devices_apart: request.devices_apart,
            is_descending,
            is_lent: false,
            is_ended: false,
            stats: ScanStats::default(),
        })
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
        self.devices = device;
        self.rows.forget();
        let test_count = self.projection.test.as_ref().map_or(0, |test| test.columns.len());
        for source in &mut self.sources {
            if let OpenSource::File(file) = source {
                file.plan.restart(self.projection.fields.len(), test_count, file.file.reader.size());
                file.readers.iter_mut().for_each(GroupReader::forget);
                file.visited = 0;
            }
        }
        for entry in (0..self.devices.len()).flat_map(|device| self.devices.entries(device)) {
            if let OpenSource::File(file) = &mut self.sources[entry.source as usize] {
                file.plan.add_device(entry.node);
            }
        }
        let is_filtered = self.projection.test.is_some() || request.row_policy == RowPolicy::DropAllNull;
        self.filtered = is_filtered.then(|| FilteredRows::new(&self.projection, request.row_policy));
        (self.current, self.lent_device, self.next_device) = (None, None, 0);
        self.lent_id.take();
        (self.is_lent, self.is_ended) = (false, false);
        Ok(())
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
        if !self.is_ended {
            self.is_ended = true;
            self.is_lent = self.fill()?;
            self.is_ended = !self.is_lent;
        }
        Ok(self.is_lent)
    }

    /// The block that was filled last, if there was one.
    pub(crate) fn lent(&self) -> Option<&Block> {
        self.block.current().filter(|_| self.is_lent)
    }

    /// Fills the block with the next rows. False when there are none.
    fn fill(&mut self) -> Result<bool> {
        let block = self.block.acquire(&self.projection.layout);
        self.lent_device = None;
        self.lent_id.take();
        let mut tag_bytes_left = TAG_BYTES_MAX;
        loop {
            let mut current = match self.current.take() {
                Some(current) => current,
                None if self.window.is_done() || self.next_device == self.devices.len() => break,
                None => {
                    let device = self.next_device;
                    self.next_device += 1;
                    let place = if self.is_descending { self.devices.len() - 1 - device } else { device };
                    self.rows.open(&self.devices, place, &mut self.sources, &self.projection, &self.window)?;
                    if let Some(filtered) = &mut self.filtered {
                        filtered.clear();
                    }
                    Current { device: place, tag_bytes: tag_bytes(&self.devices, place, &self.projection), has_rows: false }
                }
            };
            let from = block.row_count();
            // A block always takes a row, however long its tags are.
            let fitting = (tag_bytes_left / current.tag_bytes).max(usize::from(from == 0));
            let end = self.projection.layout.row_budget.min(from.saturating_add(fitting));
            let mut is_at_end = false;
            while block.row_count() < end {
                let room = end - block.row_count();
                let (sources, window) = (&mut self.sources, &mut self.window);
                let step = match &mut self.filtered {
                    None => self.rows.next(sources, &self.projection, window, block, room)?,
                    Some(filtered) => {
                        let row_budget = self.projection.layout.row_budget;
                        filtered.next(&mut self.rows, sources, &self.projection, window, block, room, row_budget)?
                    }
                };
                match step {
                    Step::Rows => {}
                    Step::Full => break,
                    Step::End => {
                        is_at_end = true;
                        break;
                    }
                }
            }
            let row_count = block.row_count() - from;
            if row_count > 0 {
                tag_bytes_left -= (row_count * current.tag_bytes).min(tag_bytes_left);
                self.stats.devices += u64::from(!current.has_rows);
                current.has_rows = true;
                fill_tags(block, row_count, &self.devices, current.device, &self.projection);
                self.lent_device = if from == 0 { Some(current.device) } else { None };
            }
            if !is_at_end {
                self.current = Some(current);
                break;
            }
            let is_full = block.row_count() * self.projection.layout.columns.len() >= SHARED_CELLS_MAX;
            if !block.is_empty() && (self.keeps_devices_apart || is_full) {
                break;
            }
        }
        self.stats.rows += block.row_count() as u64;
        assert!(block.check(), "every column has a cell for each time");
        Ok(!block.is_empty())
    }

    /// The block that was lent last, moved out; the next one is built anew.
    pub fn take(&mut self) -> Option<Block> {
        if std::mem::take(&mut self.is_lent) { self.block.take() } else { None }
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
        let mut stats = ScanStats { block_builds: self.block.build_count(), ..self.stats };
        for source in &self.sources {
            if let OpenSource::File(file) = source {
                stats.reads += file.file.reads;
                stats.bytes_read += file.file.bytes_read;
                stats.groups_pruned += file.groups_pruned;
                stats.pages_decoded += file.readers.iter().map(|reader| reader.pages_decoded).sum::<u64>();
                stats.pages_pruned += file.readers.iter().map(|reader| reader.pages_pruned).sum::<u64>();
            }
        }
        stats
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
            .field("next_device", &self.next_device)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Bytes that the tags of a device take in each row.
fn tag_bytes(devices: &DeviceList, device: usize, projection: &Projection) -> usize {
    let tags = projection.tags.iter().filter_map(|column| devices.tag(device, column.tag));
    tags.map(str::len).sum::<usize>().max(1)
}

/// Gives the last `row_count` rows the tags of their device.
fn fill_tags(block: &mut Block, row_count: usize, devices: &DeviceList, device: usize, projection: &Projection) {
    for column in &projection.tags {
        let into = block.column_mut(column.column);
        let value: Value<'_> = devices.tag(device, column.tag).into();
        assert!(into.push_repeated(value, row_count), "a TAG column holds text");
    }
}
