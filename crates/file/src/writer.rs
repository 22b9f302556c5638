//! Writing a file: rows in, chunk groups out, metadata at the end.
//!
//! ```text
//! rows ──▶ open pages of a device ──full──▶ encoded, compressed pages ──memory bound──▶ chunk group in the file
//!          one time buffer, one buffer      of one chunk a column                       then offsets and statistics
//!          for each column with a value                                                 are all that is kept
//! ```
//!
//! All columns of a device are cut into pages at the same rows. Devices may interleave; the rows of each must rise
//! strictly in time over the whole file. A column that no row of a device has a value in costs nothing at all, as long
//! as the device has one chunk group; in a device of several groups every group has a chunk for every column of the
//! table, empty if need be, since the readers of Java and C++ match chunks by their place in the list.
//!
//! SPRINTZ cannot hold every step between values. A page that it refuses is PLAIN, and so is the rest of its chunk; pages that
//! are SPRINTZ already go into a chunk group before.
//!
//! With [`EncodingChoice::Auto`] a column waits in two encodings, and the smaller one is written: see `auto`.
//!
//! The bytes depend on the rows, the options and the calls of [`FileWriter::flush_groups`] alone, not on how rows were
//! grouped into tablets.

mod auto;
mod chunk;
mod column;
mod device;
mod group;
mod index;
mod new_file;
mod options;
mod resume;
mod rows;
mod table;
mod workers;

pub use auto::EncodingChoice;
pub use new_file::NewFile;
pub use options::{WriterOptions, WriterOptionsBuilder};
pub use table::check_table;

use std::io::Write;
use std::path::Path;

use tsloom_codec::EncodeScratch;
use tsloom_codec::compress::CompressScratch;
use tsloom_format::{MAGIC, VERSION};
use tsloom_model::{DeviceId, Error, ErrorKind, Result, TableSchema};

use device::Devices;
use table::Table;
use workers::Workers;

/// What a finished file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// Bytes of the file.
    pub size: u64,
    /// Devices with a row.
    pub device_count: u64,
    /// Series, the time columns included.
    pub series_count: u64,
    /// Rows.
    pub row_count: u64,
    /// Chunks, the time chunks included.
    pub chunk_count: u64,
}

/// Writes one TsFile, front to back, into anything that takes bytes.
///
/// ```
/// use tsloom_file::{FileReader, FileWriter, WriterOptions};
/// use tsloom_model::{ColumnView, DataType, DeviceId, Limits, TableSchema, ValuesRef};
///
/// let weather = TableSchema::builder("weather").tag("city").field("temp", DataType::Double).build()?;
/// let mut writer = FileWriter::new(Vec::new(), WriterOptions::default())?;
/// writer.add_table(&weather)?;
/// let oslo = DeviceId::new("weather", [Some("Oslo")]);
/// let temp = ColumnView::new(DataType::Double, ValuesRef::Double(&[3.5, 4.0]), None);
/// writer.write_rows("weather", &oslo, &[1_000, 2_000], &[Some(temp)])?;
/// let (bytes, summary) = writer.finish()?;
/// assert_eq!((summary.row_count, summary.series_count), (2, 2));
///
/// let reader = FileReader::new(bytes, "weather", Limits::default())?;
/// assert_eq!(reader.tables().next(), Some(&weather));
/// # Ok::<(), tsloom_model::Error>(())
/// ```
#[derive(Debug)]
pub struct FileWriter<W> {
    sink: Sink<W>,
    options: WriterOptions,
    tables: Vec<Table>,
    devices: Devices,
    workers: Workers,
    /// Bytes in the buffers of all open groups.
    buffered: usize,
    summary: FileSummary,
}

/// Where bytes go, and how many went.
#[derive(Debug)]
struct Sink<W> {
    inner: W,
    position: u64,
    /// An earlier write did not succeed: the file cannot become whole any more.
    failed: bool,
}

impl<W: Write> Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.inner.write_all(bytes).inspect_err(|_| self.failed = true)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.failed {
            return Err(Error::new(ErrorKind::Closed, "an earlier write to this file did not succeed"));
        }
        Ok(())
    }
}

/// Buffers that all pages share which one thread encodes.
#[derive(Debug, Default)]
struct Scratch {
    body: Vec<u8>,
    encode: EncodeScratch,
    compress: CompressScratch,
    /// A compressed page of which only the size counts.
    trial: Vec<u8>,
}

impl FileWriter<NewFile> {
    /// Starts the file `path` under a temporary name beside it. Finish with [`commit`](Self::commit); a writer that is
    /// dropped before leaves nothing behind.
    ///
    /// # Errors
    /// What the operating system says, with the path.
    pub fn create(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        Self::new(NewFile::create(path)?, options)
    }

    /// Finishes the file, makes it durable and gives it its name. A file of that name is replaced.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); then nothing is left behind.
    pub fn commit(self) -> Result<FileSummary> {
        let (file, summary) = self.finish()?;
        file.commit()?;
        Ok(summary)
    }
}

impl<W: Write> FileWriter<W> {
    /// Starts a file at the current end of `sink`, which is byte 0 of the file. Small writes go to `sink` one by one: give
    /// it a buffer.
    ///
    /// # Errors
    /// When the first bytes cannot be written.
    pub fn new(sink: W, options: WriterOptions) -> Result<Self> {
        let mut sink = Sink { inner: sink, position: 0, failed: false };
        sink.write(&[&MAGIC[..], &[VERSION]].concat())?;
        Ok(Self {
            sink,
            workers: Workers::new(options.threads),
            options,
            tables: Vec::new(),
            devices: Devices::default(),
            buffered: 0,
            summary: FileSummary::default(),
        })
    }

    /// Adds a table. The same schema again is no error.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when the file has a table of this name with another schema;
    /// [`ErrorKind::Unsupported`] or [`ErrorKind::InvalidArgument`] for a column whose encoding or compression cannot be
    /// written.
    pub fn add_table(&mut self, schema: &TableSchema) -> Result<()> {
        match self.tables.iter().find(|table| table.schema.name() == schema.name()) {
            Some(table) if table.schema == *schema => Ok(()),
            Some(_) => {
                let message = format!("the file has a table {} with another schema", schema.name());
                Err(Error::new(ErrorKind::AlreadyExists, message))
            }
            None => {
                self.tables.push(Table::new(schema, &self.options, &mut self.workers.own)?);
                Ok(())
            }
        }
    }

    /// The schemas of all tables, in the order they were added.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &TableSchema> {
        self.tables.iter().map(|table| &table.schema)
    }

    /// Bytes that rows, pages and chunks take which are not in the file yet, with their buffers but without spare room in them.
    pub fn buffered_byte_count(&self) -> usize {
        self.buffered
    }

    /// Time of the last row of a device, which the next must pass; `None` for a device without rows.
    pub fn last_time(&self, device: &DeviceId) -> Option<i64> {
        let table = self.table_index(device.table()).ok()?;
        let index = self.devices.find(table, device.table(), &device.segments().skip(1))?;
        self.devices.get(index).last_time()
    }

    /// Writes out the open chunk groups of all devices, in device order.
    ///
    /// # Errors
    /// When the sink takes no more bytes; the writer is then closed.
    pub fn flush_groups(&mut self) -> Result<()> {
        self.flush_all(false)
    }

    /// Writes what is left: open chunk groups, metadata, footer. Returns the sink, flushed but not synced, and what the
    /// file holds.
    ///
    /// # Errors
    /// When the sink takes no more bytes.
    pub fn finish(mut self) -> Result<(W, FileSummary)> {
        self.flush_all(true)?;
        let order = self.devices.in_order();
        index::write(&mut self.sink, &self.options, &self.tables, &self.devices, &order, &mut self.summary)?;
        self.sink.inner.flush()?;
        self.summary.size = self.sink.position;
        Ok((self.sink.inner, self.summary))
    }

    fn table_index(&self, name: &str) -> Result<usize> {
        self.tables.iter().position(|table| table.schema.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.tables().map(TableSchema::name).collect();
            Error::new(ErrorKind::NotFound, format!("no table {name} was added to the file; it has {}", names.join(", ")))
        })
    }

    /// `last` says that no more groups follow.
    fn flush_all(&mut self, last: bool) -> Result<()> {
        for index in self.devices.open_in_order() {
            self.flush_device(index, last)?;
        }
        Ok(())
    }

    fn flush_device(&mut self, index: usize, last: bool) -> Result<()> {
        if self.devices.get(index).group.as_ref().is_some_and(|group| !group.page_is_empty()) {
            self.end_page(index)?;
        }
        self.write_group(index, last)?;
        let device = self.devices.get_mut(index);
        if let Some(group) = device.group.take() {
            self.buffered -= group.byte_count();
            self.tables[device.table].keep(group);
        }
        Ok(())
    }

    /// Ends the open page of a device, which has a row.
    fn end_page(&mut self, index: usize) -> Result<()> {
        let device = self.devices.get_mut(index);
        let Some(group) = &mut device.group else {
            return Ok(());
        };
        let is_wide = group.prepare_page();
        let needs_new_chunk = group.needs_new_chunk(&self.tables[device.table], &mut self.workers.own);
        if (is_wide || group.has_wide_page || needs_new_chunk) && group.time_chunk.pages.count() > 0 {
            self.write_group(index, false)?;
        }
        let device = self.devices.get_mut(index);
        if let Some(group) = &mut device.group {
            let before = group.byte_count();
            group.encode_page(&mut self.tables[device.table], is_wide, &mut self.workers)?;
            self.buffered = self.buffered + group.byte_count() - before;
        }
        Ok(())
    }

    /// Writes the finished pages of a device as one chunk group.
    fn write_group(&mut self, index: usize, last: bool) -> Result<()> {
        self.sink.check()?;
        let device = self.devices.get_mut(index);
        let Some(mut group) = device.group.take() else {
            return Ok(());
        };
        self.summary.chunk_count += device.write_group(&group, &self.tables[device.table], &mut self.sink, last)?;
        self.buffered -= group.byte_count();
        group.clear_chunks();
        self.buffered += group.byte_count();
        device.group = Some(group);
        Ok(())
    }
}
