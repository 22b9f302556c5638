//! Going on with a file whose writer did not finish.
//!
//! Its whole chunk groups are decoded, since a chunk of one page has no statistics in the body, and what the metadata needs
//! is gathered from them: only rows that are there, only values that are not null.

use std::io::Write;
use std::path::Path;

use tsloom_format::{ChunkKind, Statistics, VERSION};
use tsloom_io::{AppendFile, LogFile, ReadAt};
use tsloom_model::{DeviceSchema, Error, ErrorKind, FileOffset, Limits, Result, TableSchema};

use super::{FileWriter, Sink, WriterOptions};
use crate::pages::{PageDecoder, check_rise};
use crate::{ChunkRef, ReadOptions, RecoveredChunk, RecoveredGroup, Recovery};

/// The chunk in memory, and the times of its group.
struct Decoder {
    bytes: Vec<u8>,
    pages: PageDecoder,
    /// Times of an aligned group, page by page.
    times: Vec<Vec<i64>>,
    /// Times of the other groups, of all columns together.
    plain_times: Vec<i64>,
}

impl FileWriter<std::io::BufWriter<AppendFile>> {
    /// Goes on with the unfinished file at `path`: cuts it after its last whole chunk group and takes rows again. `tables`, and
    /// `devices` of the tree model, are the schemas, which an unfinished file does not have yet;
    /// [`Recovery::schemas`] makes some of what is there. `read` says how the pages that are there are read. The result is the
    /// file itself, in place; [`finish`](Self::finish) it, then sync the sink.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a file that has its end; [`ErrorKind::Unsupported`] for one of version 3;
    /// [`ErrorKind::NotFound`] and [`ErrorKind::SchemaMismatch`] when it has devices or columns that the schemas do not have; else
    /// what reading and decoding say. The file is cut only when all went well.
    pub fn resume(
        path: impl AsRef<Path>,
        options: WriterOptions,
        tables: &[TableSchema],
        devices: &[DeviceSchema],
        read: impl Into<ReadOptions>,
    ) -> Result<Self> {
        let path = path.as_ref();
        Self::resume_file(path, options, tables, devices, &read.into()).map_err(|error| error.in_file(path))
    }

    fn resume_file(
        path: &Path,
        options: WriterOptions,
        tables: &[TableSchema],
        devices: &[DeviceSchema],
        read: &ReadOptions,
    ) -> Result<Self> {
        let mut file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        let recovery = Recovery::of(&file, &read.limits)?;
        if recovery.version != VERSION {
            let message = format!("a file of version {} is read, and not gone on with", recovery.version);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if let Some(separator) = recovery.separator {
            let message = "the file is finished; only one that is not can be gone on with";
            return Err(Error::new(ErrorKind::InvalidArgument, message).at(FileOffset::new(separator)));
        }
        let mut writer = FileWriter::new(std::io::sink(), options)?;
        tables.iter().try_for_each(|table| writer.add_table(table))?;
        devices.iter().try_for_each(|device| writer.add_device(device))?;
        writer.take_groups(&recovery, &file, read)?;
        LogFile::truncate(&mut file, recovery.whole_size)?;
        let inner = std::io::BufWriter::new(AppendFile::at(Box::new(file), recovery.whole_size));
        let FileWriter { options, tables, devices, workers, buffered, metadata_bytes, spill, summary, .. } = writer;
        let sink = Sink { inner, position: recovery.whole_size, failed: false };
        Ok(FileWriter { sink, options, tables, devices, workers, buffered, metadata_bytes, spill, summary })
    }
}

impl<W: Write> FileWriter<W> {
    /// Takes note of chunk groups that are in the file already.
    fn take_groups<R: ReadAt>(&mut self, recovery: &Recovery, source: &R, read: &ReadOptions) -> Result<()> {
        let pages = PageDecoder::new(read);
        let mut decoder = Decoder { bytes: Vec::new(), pages, times: Vec::new(), plain_times: Vec::new() };
        for group in &recovery.groups {
            self.take_group(group, source, &read.limits, &mut decoder)
                .map_err(|error| error.at(FileOffset::new(group.offset)).in_place("chunk group"))?;
        }
        Ok(())
    }

    fn take_group<R: ReadAt>(
        &mut self,
        group: &RecoveredGroup,
        source: &R,
        limits: &Limits,
        decoder: &mut Decoder,
    ) -> Result<()> {
        let device = self.device_index(group)?;
        let table_index = self.devices.get(device).table;
        decoder.times.clear();
        decoder.plain_times.clear();
        for chunk in &group.chunks {
            decoder.bytes.resize(limits.read_size(chunk.size)?, 0);
            source.read_exact_at(&mut decoder.bytes, chunk.offset)?;
            let bytes = std::mem::take(&mut decoder.bytes);
            let statistics = match (chunk.kind, self.tables[table_index].is_aligned) {
                (ChunkKind::Time, true) => decoder.time_chunk(&bytes, chunk),
                (ChunkKind::Value, true) => decoder.value_chunk(&bytes, chunk),
                (ChunkKind::Plain, false) => decoder.plain_chunk(&bytes, chunk),
                (_, is_aligned) => {
                    let what = if is_aligned { "aligned, and the chunk is not" } else { "not aligned, and the chunk is" };
                    Err(Error::new(ErrorKind::SchemaMismatch, format!("the device is {what}")))
                }
            };
            decoder.bytes = bytes;
            let statistics = statistics.map_err(|error| error.in_column(&chunk.measurement))?;

            let table = &self.tables[table_index];
            let device = self.devices.get_mut(device);
            let rank = match chunk.kind {
                ChunkKind::Time => {
                    device.reach(decoder.times.iter().rev().find_map(|page| page.last()).copied());
                    self.summary.row_count += u64::from(statistics.count());
                    0
                }
                _ => table.rank(&chunk.measurement, chunk.series_type)?,
            };
            device.add_chunk(rank, chunk.offset, &statistics);
            self.summary.chunk_count += 1;
        }
        let times = &mut decoder.plain_times;
        times.sort_unstable();
        times.dedup();
        self.devices.get_mut(device).reach(times.last().copied());
        self.summary.row_count += times.len() as u64;
        self.devices.get_mut(device).pass_group();
        self.keep_metadata(device)
    }

    /// The device of a group: one of a table, or one of the tree model that was added.
    fn device_index(&mut self, group: &RecoveredGroup) -> Result<usize> {
        let (name, tags) = (group.device.table(), group.device.segments().skip(1));
        match (self.table_index(name), self.devices.find(name, &tags)) {
            (Ok(table), _) => Ok(self.devices.find_or_add(table, name, tags)),
            (Err(_), Some(device)) => Ok(device),
            (Err(error), None) if !group.is_tree() => Err(error),
            (Err(_), None) => {
                Err(Error::new(ErrorKind::NotFound, format!("the device {} was not added to the file", group.device)))
            }
        }
    }
}

impl Decoder {
    fn time_chunk(&mut self, bytes: &[u8], chunk: &RecoveredChunk) -> Result<Statistics> {
        let mut statistics = Statistics::new(chunk.series_type);
        let parsed = ChunkRef::parse(bytes, chunk.offset)?;
        for page in parsed.pages() {
            let page = page?;
            let said = page.statistics.map(|statistics| statistics.count());
            let mut times = Vec::new();
            self.pages.times(&page, parsed.header(), said, &mut times)?;
            check_rise(&times)?;
            if let (Some(last), Some(first)) = (self.times.last().and_then(|page| page.last()), times.first()) {
                check_rise(&[*last, *first])?;
            }
            statistics.add_times(&times);
            self.times.push(times);
        }
        Ok(statistics)
    }

    fn value_chunk(&mut self, bytes: &[u8], chunk: &RecoveredChunk) -> Result<Statistics> {
        let mut statistics = Statistics::new(chunk.series_type);
        let parsed = ChunkRef::parse(bytes, chunk.offset)?;
        if chunk.page_count > 0 && chunk.page_count != self.times.len() {
            let message = format!("{} pages of values for {} pages of times", chunk.page_count, self.times.len());
            return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(chunk.offset)));
        }
        for (page, times) in parsed.pages().zip(&self.times) {
            statistics.merge(&self.pages.values(&page?, parsed.header(), times)?);
        }
        Ok(statistics)
    }

    fn plain_chunk(&mut self, bytes: &[u8], chunk: &RecoveredChunk) -> Result<Statistics> {
        let mut statistics = Statistics::new(chunk.series_type);
        let parsed = ChunkRef::parse(bytes, chunk.offset)?;
        for page in parsed.pages() {
            statistics.merge(&self.pages.plain(&page?, parsed.header(), &mut self.plain_times)?);
        }
        Ok(statistics)
    }
}
