//! Going on with a file whose writer did not finish.
//!
//! Its whole chunk groups are decoded, since a chunk of one page has no statistics in the body, and what the metadata needs
//! is gathered from them: only rows that are there, only values that are not null.

use std::io::Write;
use std::path::Path;

use tsloom_codec::DecodeOptions;
use tsloom_format::{ChunkKind, Statistics};
use tsloom_io::{AppendFile, LogFile, ReadAt};
use tsloom_model::{Error, ErrorKind, FileOffset, Limits, Result, TableSchema};

use super::{FileWriter, Sink, WriterOptions};
use crate::pages::PageDecoder;
use crate::{ChunkRef, RecoveredChunk, RecoveredGroup, Recovery};

/// The chunk in memory, and the times of its group.
struct Decoder {
    bytes: Vec<u8>,
    pages: PageDecoder,
    /// Times of the group, page by page.
    times: Vec<Vec<i64>>,
}

impl FileWriter<std::io::BufWriter<AppendFile>> {
    /// Goes on with the unfinished file at `path`: cuts it after its last whole chunk group and takes rows again. `tables`
    /// are the schemas, which an unfinished file does not have yet. The result is the file itself, in place;
    /// [`finish`](Self::finish) it, then sync the sink.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a file that has its end; [`ErrorKind::SchemaMismatch`] when it has devices or columns
    /// that are not of these tables; else what reading and decoding say. The file is cut only when all went well.
    pub fn resume(path: impl AsRef<Path>, options: WriterOptions, tables: &[TableSchema], limits: &Limits) -> Result<Self> {
        let path = path.as_ref();
        Self::resume_file(path, options, tables, limits).map_err(|error| error.in_file(path))
    }

    fn resume_file(path: &Path, options: WriterOptions, tables: &[TableSchema], limits: &Limits) -> Result<Self> {
        let mut file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        let recovery = Recovery::of(&file, limits)?;
        if let Some(separator) = recovery.separator {
            let message = "the file is finished; only one that is not can be gone on with";
            return Err(Error::new(ErrorKind::InvalidArgument, message).at(FileOffset::new(separator)));
        }
        let mut writer = FileWriter::new(std::io::sink(), options)?;
        writer.take_groups(&recovery, &file, tables, limits)?;
        LogFile::truncate(&mut file, recovery.whole_size)?;
        let inner = std::io::BufWriter::new(AppendFile::at(Box::new(file), recovery.whole_size));
        let FileWriter { options, tables, devices, workers, buffered, metadata_bytes, spill, summary, .. } = writer;
        let sink = Sink { inner, position: recovery.whole_size, failed: false };
        Ok(FileWriter { sink, options, tables, devices, workers, buffered, metadata_bytes, spill, summary })
    }
}

impl<W: Write> FileWriter<W> {
    /// Takes note of chunk groups that are in the file already.
    fn take_groups<R: ReadAt>(&mut self, recovery: &Recovery, source: &R, tables: &[TableSchema], limits: &Limits) -> Result<()> {
        for table in tables {
            self.add_table(table)?;
        }
        let pages = PageDecoder::new(*limits, DecodeOptions::default());
        let mut decoder = Decoder { bytes: Vec::new(), pages, times: Vec::new() };
        for group in &recovery.groups {
            self.take_group(group, source, limits, &mut decoder)
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
        let table_index = self.table_index(group.device.table())?;
        let device = self.devices.find_or_add(table_index, group.device.table(), group.device.segments().skip(1));
        decoder.times.clear();
        for chunk in &group.chunks {
            decoder.bytes.resize(limits.read_size(chunk.size)?, 0);
            source.read_exact_at(&mut decoder.bytes, chunk.offset)?;
            let bytes = std::mem::take(&mut decoder.bytes);
            let statistics = match chunk.kind {
                ChunkKind::Time => decoder.time_chunk(&bytes, chunk),
                ChunkKind::Value => decoder.value_chunk(&bytes, chunk),
                ChunkKind::Plain => Err(Error::new(ErrorKind::Unsupported, "a chunk that is not aligned cannot be gone on with")),
            };
            decoder.bytes = bytes;
            let statistics = statistics.map_err(|error| error.in_column(&chunk.measurement))?;

            let table = &self.tables[table_index];
            let device = self.devices.get_mut(device);
            let rank = match chunk.kind {
                ChunkKind::Time => {
                    decoder.times.iter().try_for_each(|times| device.pass(times))?;
                    self.summary.row_count += u64::from(statistics.count());
                    0
                }
                _ => table.rank(&chunk.measurement, chunk.series_type)?,
            };
            device.add_chunk(rank, chunk.offset, &statistics);
            self.summary.chunk_count += 1;
        }
        self.devices.get_mut(device).pass_group();
        self.keep_metadata(device)
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
}
