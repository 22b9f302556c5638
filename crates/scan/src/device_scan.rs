//! Rows of devices that have no table: the tree model. [`DeviceScan`] gives each device its own columns.

use std::fs::File;
use std::sync::Arc;

use tsloom_block::{Block, BlockLayout, BlockSource};
use tsloom_file::{DeviceCursor, DeviceSeries, FileReader};
use tsloom_io::ReadAt;
use tsloom_model::{ColumnSchema, DeviceId, Error, ErrorKind, Result, TableSchema};

use crate::devices::{DeviceEntry, DeviceList, list_file};
use crate::reads::{ByteRange, FileIo};
use crate::request::SourceRows;
use crate::{ScanRequest, ScanStats, Source, TableScan};

/// Rows of tree-model devices, ordered by device and time, in blocks that are lent one after the other.
///
/// A block holds rows of one device, and its columns are that device's: [`layout`](Self::layout) and [`schema`](Self::schema) change
/// with [`device`](Self::device). Where the columns of a device have times of their own, a row is made of the values that have the same
/// time. Everything else is as in [`TableScan`]: of several files the later is newer, and each column gets the latest value that is not
/// null. In the tree model rows in which every column is null do not exist: ask for
/// [`RowPolicy::DropAllNull`](tsloom_model::RowPolicy::DropAllNull) to have them left out of aligned devices, too.
///
/// Table-model devices can be read this way, too: their fields are the columns.
///
/// ```
/// # fn sum(path: &std::path::Path) -> tsloom_model::Result<f64> {
/// use tsloom_file::FileReader;
/// use tsloom_model::DeviceId;
/// use tsloom_scan::{DeviceScan, ScanRequest};
///
/// let reader = std::sync::Arc::new(FileReader::open(path)?);
/// let device = DeviceId::from_path("root.sg.d1");
/// let mut scan = DeviceScan::open([reader], Some(&[device]), &ScanRequest::new().columns(["temp"]))?;
/// let mut sum = 0.0;
/// while let Some(block) = scan.next_block()? {
///     sum += (0..block.row_count()).filter_map(|row| block.column(0).f64(row)).sum::<f64>();
/// }
/// # Ok(sum)
/// # }
/// ```
pub struct DeviceScan<R: ReadAt = File> {
    files: Vec<Arc<FileReader<R>>>,
    request: ScanRequest,
    devices: DeviceList,
    next_device: usize,
    /// One for each file: it keeps what it read of the metadata.
    cursors: Vec<DeviceCursor>,
    series: DeviceSeries,
    scan: TableScan<R>,
    is_ended: bool,
}

impl<R: ReadAt> DeviceScan<R> {
    /// Starts a scan of these devices, or of all, over files, oldest first.
    ///
    /// The columns of the request are measurement names; a device gives those that it has, and a device that has none of them, or not
    /// all of those that a condition on values asks for, is passed over. Its condition on tags is not asked.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a source that is no file and for an order by time, [`ErrorKind::NotFound`] for a device that is in none of the files; damaged or unreadable device indexes.
    pub fn open<S: Into<Source<R>>>(
        files: impl IntoIterator<Item = S>,
        devices: Option<&[DeviceId]>,
        request: &ScanRequest,
    ) -> Result<Self> {
        if request.order.is_by_time() {
            return Err(Error::new(ErrorKind::InvalidArgument, "devices with columns of their own come by device, not by time"));
        }
        let sources: Vec<Source<R>> = files.into_iter().map(Into::into).collect();
        let files: Vec<_> = sources.iter().map(file_of).collect::<Result<_>>()?;
        let mut cursors: Vec<DeviceCursor> = files.iter().map(|file| file.all_devices()).collect();
        let devices = match devices {
            None => list_all(&files)?,
            Some(wanted) => find(&files, &mut cursors, wanted)?,
        };
        let scan = TableScan::of_none(sources, request)?;
        let series = DeviceSeries::default();
        Ok(Self { files, request: request.clone(), devices, next_device: 0, cursors, series, scan, is_ended: false })
    }

    /// The next block, lent until the next call; `None` at the end. It has at least one row, and rows of one device.
    ///
    /// # Errors
    /// What is damaged or cannot be read, with file, offset and column. The scan is over then.
    pub fn next_block(&mut self) -> Result<Option<&Block>> {
        if self.is_ended {
            return Ok(None);
        }
        // Found out first, so that the block can be lent at the end of the loop.
        self.is_ended = true;
        while !self.scan.advance()? {
            if self.scan.is_done() || !self.turn_to_next()? {
                return Ok(None);
            }
        }
        self.is_ended = false;
        Ok(self.scan.lent())
    }

    /// Has the inner scan read the next device that has wanted columns. False when there is none.
    fn turn_to_next(&mut self) -> Result<bool> {
        while self.next_device < self.devices.len() {
            let device = match self.request.order.is_backwards() {
                false => self.next_device,
                true => self.devices.len() - 1 - self.next_device,
            };
            self.next_device += 1;
            let schema = self.schema_of(device)?;
            let Some(columns) = self.wanted_columns(&schema) else { continue };
            let request = ScanRequest { columns: Some(columns), filter: None, ..self.request.clone() };
            self.scan.turn_to(schema, self.devices.only(device), &request)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The columns of a device in all files, by name; of a column with several types the newest file tells.
    fn schema_of(&mut self, device: usize) -> Result<TableSchema> {
        let mut columns: Vec<ColumnSchema> = Vec::new();
        for &DeviceEntry { source, node, .. } in self.devices.entries(device).iter().rev() {
            let (file, cursor) = (&self.files[source as usize], &mut self.cursors[source as usize]);
            cursor.read_series_at(file, (node.start, node.end), &mut self.series)?;
            let known = columns.len();
            for (name, data_type) in self.series.columns() {
                if columns[..known].binary_search_by(|column| column.name.as_str().cmp(name)).is_err() {
                    columns.push(ColumnSchema::field(name, data_type));
                }
            }
            columns.sort_by(|left, right| left.name.cmp(&right.name));
        }
        TableSchema::from_stored(self.devices.id(device).to_string(), columns)
    }

    /// Those of the wanted columns that the device has; `None` when it is to be passed over.
    fn wanted_columns(&self, schema: &TableSchema) -> Option<Vec<String>> {
        let has = |name: &String| schema.columns().binary_search_by(|column| column.name.cmp(name)).is_ok();
        if self.request.values.as_ref().is_some_and(|values| values.resolve(schema).is_err()) {
            return None;
        }
        let columns: Vec<String> = match &self.request.columns {
            Some(names) => names.iter().filter(|name| has(name)).cloned().collect(),
            None => schema.columns().iter().map(|column| column.name.clone()).collect(),
        };
        (!columns.is_empty()).then_some(columns)
    }

    /// The block that was lent last, moved out; the next one is built anew.
    pub fn take(&mut self) -> Option<Block> {
        self.scan.take()
    }

    /// The device whose rows the block that was lent last holds.
    pub fn device(&self) -> Option<&DeviceId> {
        self.scan.device()
    }

    /// What the block that was lent last looks like.
    pub fn layout(&self) -> &BlockLayout {
        self.scan.layout()
    }

    /// All columns of the device whose block was lent last, as FIELDs of a table of its name. Their encodings are the defaults of
    /// their types: the metadata of a file does not say more.
    pub fn schema(&self) -> &TableSchema {
        self.scan.schema()
    }

    /// Number of devices that the scan visits.
    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// What the scan did so far. The metadata that tells a device's columns is read once more, which is not counted.
    pub fn stats(&self) -> ScanStats {
        self.scan.stats()
    }
}

impl<R: ReadAt> BlockSource for DeviceScan<R> {
    type Error = Error;

    fn next_block(&mut self) -> Result<Option<&Block>> {
        self.next_block()
    }
}

impl<R: ReadAt> std::fmt::Debug for DeviceScan<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceScan")
            .field("files", &self.files.len())
            .field("devices", &self.devices.len())
            .field("next_device", &self.next_device)
            .field("scan", &self.scan)
            .finish_non_exhaustive()
    }
}

fn file_of<R: ReadAt>(source: &Source<R>) -> Result<Arc<FileReader<R>>> {
    match &source.rows {
        SourceRows::File(reader) => Ok(Arc::clone(reader)),
        SourceRows::Memtable(_) => {
            Err(Error::new(ErrorKind::InvalidArgument, "devices without a table are read from files, not from a memtable"))
        }
    }
}

fn list_all<R: ReadAt>(files: &[Arc<FileReader<R>>]) -> Result<DeviceList> {
    let mut devices = DeviceList::default();
    for (source, file) in files.iter().enumerate() {
        list_file(&mut devices, source as u32, &mut FileIo::new(Arc::clone(file)), None, None)
            .map_err(|error| file.blame(error))?;
    }
    arrange(devices, files)
}

/// The places of some devices, by search.
fn find<R: ReadAt>(files: &[Arc<FileReader<R>>], cursors: &mut [DeviceCursor], wanted: &[DeviceId]) -> Result<DeviceList> {
    let mut wanted: Vec<&DeviceId> = wanted.iter().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut devices = DeviceList::default();
    for device in wanted {
        let mut is_somewhere = false;
        for (source, (file, cursor)) in files.iter().zip(&mut *cursors).enumerate() {
            if cursor.seek(file, device)? {
                let (start, end) = cursor.node();
                devices.push(source as u32, ByteRange { start, end }, device.segments(), None)?;
                is_somewhere = true;
            }
        }
        if !is_somewhere {
            let error = Error::new(ErrorKind::NotFound, format!("there is no device {device}"));
            return Err(match files {
                [file] => file.blame(error),
                _ => error,
            });
        }
    }
    arrange(devices, files)
}

fn arrange<R: ReadAt>(mut devices: DeviceList, files: &[Arc<FileReader<R>>]) -> Result<DeviceList> {
    match devices.arrange() {
        Ok(()) => Ok(devices),
        Err((source, error)) => Err(files[source as usize].blame(error)),
    }
}
