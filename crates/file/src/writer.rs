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
//! Devices of the tree model are added one by one ([`FileWriter::add_device`]); the columns of one that is not aligned have
//! pages of their own, of the rows in which they have a value. One file can have tables and tree-model devices.
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
mod plain;
mod resume;
mod rows;
mod series;
mod spill;
mod table;
mod workers;

pub use auto::EncodingChoice;
pub use new_file::NewFile;
pub use options::{WriterOptions, WriterOptionsBuilder};
pub use table::{check_table, writable};

use std::io::Write;
use std::path::Path;

use tsloom_codec::EncodeScratch;
use tsloom_codec::compress::CompressScratch;
use tsloom_format::{MAGIC, VERSION};
use tsloom_model::{DeviceId, DeviceSchema, Error, ErrorKind, Result, TableSchema};

use device::{Devices, OpenGroup};
use spill::Spill;
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
    /// FLOAT and DOUBLE values that come back otherwise, since the encoding of their column rounds to decimals.
    pub changed_value_count: u64,
    /// Values of ATTRIBUTE columns that were left out; see [`WriterOptionsBuilder::drop_attributes`].
    pub dropped_attribute_count: u64,
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
    /// Bytes of the series metadata in memory, and where the rest of it is.
    metadata_bytes: usize,
    spill: Option<Spill>,
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
    /// Values that scaled encodings have changed.
    changed_count: u64,
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
            workers: Workers::new(options.threads, options.compress),
            options,
            tables: Vec::new(),
            devices: Devices::default(),
            buffered: 0,
            metadata_bytes: 0,
            spill: None,
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
        if schema.name().is_empty() {
            return Err(Error::new(ErrorKind::InvalidArgument, "a table needs a name"));
        }
        let schema = self.options.applied_to(schema)?;
        match self.tables.iter().find(|table| table.schema.name() == schema.name()) {
            Some(table) if table.schema == schema => Ok(()),
            Some(_) => {
                let message = format!("the file has a table {} with another schema", schema.name());
                Err(Error::new(ErrorKind::AlreadyExists, message))
            }
            None => {
                self.tables.push(Table::new(schema, true, &self.options, &mut self.workers.own)?);
                Ok(())
            }
        }
    }

    /// Adds a device of the tree model. The same schema again is no error; devices with the same measurements share it.
    ///
    /// # Errors
    /// As [`add_table`](Self::add_table).
    pub fn add_device(&mut self, device: &DeviceSchema) -> Result<()> {
        let (id, is_aligned) = (device.device(), device.is_aligned());
        if self.table_index(id.table()).is_ok() {
            let message = format!("device {id} would be one of the table {} of the file", id.table());
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        let schema = self.options.applied_to(device.as_table())?;
        let is_same = |table: &Table| table.is_aligned == is_aligned && table.schema == schema;
        let tags = id.segments().skip(1);
        if let Some(index) = self.devices.find(id.table(), &tags) {
            if is_same(&self.tables[self.devices.get(index).table]) {
                return Ok(());
            }
            let message = format!("the file has the device {id} with other measurements");
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        // As a rule it is like the one before.
        let known = self.tables.iter().rposition(is_same);
        let table = match known {
            Some(table) => table,
            None => {
                self.tables.push(Table::new(schema, is_aligned, &self.options, &mut self.workers.own)?);
                self.tables.len() - 1
            }
        };
        self.devices.find_or_add(table, id.table(), tags);
        Ok(())
    }

    /// The schemas of all tables, in the order they were added.
    pub fn tables(&self) -> impl Iterator<Item = &TableSchema> {
        self.tables.iter().map(|table| &table.schema).filter(|schema| !schema.name().is_empty())
    }

    /// Bytes that rows, pages and chunks take which are not in the file yet, with their buffers but without spare room in them.
    pub fn buffered_byte_count(&self) -> usize {
        self.buffered
    }

    /// Time of the last row of a device, which the next must pass; `None` for a device without rows.
    pub fn last_time(&self, device: &DeviceId) -> Option<i64> {
        let index = self.devices.find(device.table(), &device.segments().skip(1))?;
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
        if self.spill.is_some() {
            self.spill_metadata()?;
        }
        let runs = self.spill.take().map(Spill::into_runs).transpose()?;
        index::write(&mut self.sink, &self.options, &self.tables, &self.devices, runs, &mut self.summary)?;
        self.sink.inner.flush()?;
        self.summary.size = self.sink.position;
        self.summary.changed_value_count = self.workers.changed_count();
        Ok((self.sink.inner, self.summary))
    }

    fn table_index(&self, name: &str) -> Result<usize> {
        // Tree-model devices have tables without a name.
        let found = self.tables.iter().position(|table| table.schema.name() == name && !name.is_empty());
        found.ok_or_else(|| {
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
        match &self.devices.get(index).group {
            Some(OpenGroup::Aligned(group)) => {
                if !group.page_is_empty() {
                    self.end_page(index)?;
                }
                self.write_group(index, last)?;
            }
            Some(OpenGroup::Plain(_)) => self.write_plain_group(index)?,
            None => {}
        }
        let device = self.devices.get_mut(index);
        if let Some(group) = device.group.take() {
            self.buffered -= group.byte_count();
            self.tables[device.table].keep(group);
        }
        Ok(())
    }

    /// Writes all rows of a device whose columns have times of their own.
    fn write_plain_group(&mut self, index: usize) -> Result<()> {
        self.sink.check()?;
        let device = self.devices.get_mut(index);
        let table = &self.tables[device.table];
        if let Some(OpenGroup::Plain(mut group)) = device.group.take() {
            self.buffered -= group.byte_count();
            group.end_pages(table, &mut self.workers.own)?;
            self.summary.chunk_count += device.write_plain_group(&group, table, &mut self.sink)?;
            group.clear();
            self.buffered += group.byte_count();
            device.group = Some(OpenGroup::Plain(group));
        }
        self.keep_metadata(index)
    }

    /// Counts the metadata of the group that was written, and makes room when there is too much of it.
    fn keep_metadata(&mut self, index: usize) -> Result<()> {
        self.metadata_bytes += self.devices.get_mut(index).take_grown();
        if self.metadata_bytes > self.options.metadata_bytes_max { self.spill_metadata() } else { Ok(()) }
    }

    fn spill_metadata(&mut self) -> Result<()> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new()?),
        };
        self.metadata_bytes = 0;
        // What is half in the temporary file cannot be told apart any more.
        spill.add_run(&mut self.devices).inspect_err(|_| self.sink.failed = true)
    }

    /// Ends the open page of a device, which has a row.
    fn end_page(&mut self, index: usize) -> Result<()> {
        let device = self.devices.get_mut(index);
        let Some(OpenGroup::Aligned(group)) = &mut device.group else {
            return Ok(());
        };
        let is_wide = group.prepare_page();
        let needs_new_chunk = group.needs_new_chunk(&self.tables[device.table], &mut self.workers.own);
        if (is_wide || group.has_wide_page || needs_new_chunk) && group.time_chunk.pages.count() > 0 {
            self.write_group(index, false)?;
        }
        let device = self.devices.get_mut(index);
        if let Some(OpenGroup::Aligned(group)) = &mut device.group {
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
        let Some(OpenGroup::Aligned(mut group)) = device.group.take() else {
            return Ok(());
        };
        self.summary.chunk_count += device.write_group(&group, &self.tables[device.table], &mut self.sink, last)?;
        self.buffered -= group.byte_count();
        group.clear_chunks();
        self.buffered += group.byte_count();
        device.group = Some(OpenGroup::Aligned(group));
        self.keep_metadata(index)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use tsloom_io::ReadAt;
    use tsloom_model::{ColumnView, DataType, Limits, ValuesRef};

    use super::*;
    use crate::{ChunkRef, DeviceSeries, FileReader};

    /// A file whose body begins after a gap, as if so much had been written before.
    struct Far {
        bytes: Vec<u8>,
        gap: u64,
    }

    impl ReadAt for Far {
        fn size(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64 + self.gap)
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            for (at, byte) in (offset..).zip(buf) {
                let head_size = MAGIC.len() as u64 + 1;
                let at = if at < head_size { Some(at) } else { at.checked_sub(self.gap).filter(|at| *at >= head_size) };
                *byte = at.map_or(0, |at| self.bytes[at as usize]);
            }
            Ok(())
        }
    }

    fn check_far(gap: u64) {
        let table = TableSchema::builder("t").tag("id").field("v", DataType::Int32).build().unwrap();
        let options = WriterOptions::builder().index_degree(2).build().unwrap();
        let mut writer = FileWriter::new(Vec::new(), options).unwrap();
        writer.sink.position += gap;
        writer.add_table(&table).unwrap();
        let devices: Vec<DeviceId> = ["a", "b", "c", "d", "e"].map(|tag| DeviceId::new("t", [Some(tag)])).into();
        for round in 0..2 {
            for device in &devices {
                let column = ColumnView::new(DataType::Int32, ValuesRef::Int32(&[7, 8]), None);
                writer.write_rows("t", device, &[round * 10, round * 10 + 1], &[Some(column)]).unwrap();
            }
            writer.flush_groups().unwrap();
        }
        let (bytes, summary) = writer.finish().unwrap();
        assert_eq!(summary.size, bytes.len() as u64 + gap);

        let reader = FileReader::new(Far { bytes, gap }, "far", Limits::default()).unwrap();
        assert!(reader.body_end() > gap);
        let (mut cursor, mut series, mut seen) = (reader.all_devices(), DeviceSeries::default(), Vec::new());
        while cursor.advance(&reader).unwrap() {
            cursor.read_series(&reader, &mut series).unwrap();
            seen.push(cursor.device().to_id());
            assert!(reader.find_device(&seen[seen.len() - 1], &mut series).unwrap());
            for chunk in series.iter().flat_map(|series| series.chunks()) {
                assert!(chunk.offset > gap && chunk.statistics.count() == 2);
                let mut bytes = Vec::new();
                reader.read_range(chunk.offset, 40.min(reader.body_end() - chunk.offset), &mut bytes).unwrap();
                ChunkRef::parse(&bytes, chunk.offset).unwrap();
            }
        }
        assert_eq!(seen, devices);
    }

    #[test]
    fn offsets_beyond_two_and_four_gibibytes() {
        for gap in [0, (2 << 30) - 40, 2 << 30, (4 << 30) - 40, 5 << 30, 1 << 45] {
            check_far(gap);
        }
    }
}
