//! What is whole in a file whose writer did not finish.
//!
//! The body is walked marker by marker, which needs no metadata. A chunk group is whole when every chunk that was begun in it
//! is there to its last byte; what follows the last whole group is not data, be it half a chunk, garbage, or the zeros that
//! a file system leaves where nothing was written. A chunk whose last bytes cannot be told from such zeros is not whole
//! either: values would come out wrong and nothing could say so. The walk works on finished files too and ends at their
//! separator.

mod schemas;

use std::path::Path;

use tsloom_encoding::WireReader;
use tsloom_format::{ChunkKind, DeviceKey, HEAD_SIZE, OperationIndexRange, SeriesType, VERSION_3, marker};
use tsloom_io::ReadAt;
use tsloom_model::{Compression, DeviceId, Encoding, Error, ErrorKind, FileOffset, Limits, Result};

use crate::ChunkRef;
use crate::reader::check_head;

/// Bytes read at once to see which record comes next.
const PREFIX_SIZE: u64 = 4 << 10;

/// The whole chunk groups of a file, and where they end.
#[derive(Debug)]
pub struct Recovery {
    /// The format's version.
    pub version: u8,
    /// The whole chunk groups in the order of the file.
    pub groups: Vec<RecoveredGroup>,
    /// One past the last byte that is whole: a writer can go on from here.
    pub whole_size: u64,
    /// Offset of the separator, when the body has its end.
    pub separator: Option<u64>,
    /// What ended the walk, if it was neither the separator nor the end of the file.
    pub stopped_by: Option<Error>,
}

/// One chunk group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredGroup {
    /// Whose rows they are.
    pub device: DeviceId,
    /// Offset of the group's marker byte.
    pub offset: u64,
    /// Bytes of the group.
    pub size: u64,
    /// Its chunks in the order of the file; at least one.
    pub chunks: Vec<RecoveredChunk>,
}

/// One chunk, as its header and page headers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredChunk {
    /// Offset of the chunk's marker byte.
    pub offset: u64,
    /// Bytes of the chunk, its header included.
    pub size: u64,
    /// What the chunk is part of.
    pub kind: ChunkKind,
    /// The column's name; empty for times.
    pub measurement: String,
    /// What the values are.
    pub series_type: SeriesType,
    /// How its pages are encoded.
    pub encoding: Encoding,
    /// How its pages are compressed.
    pub compression: Compression,
    /// Pages, empty ones included.
    pub page_count: usize,
}

/// What a record of the body does to the walk.
enum Step {
    Group(DeviceId, u64),
    Chunk(RecoveredChunk),
    OperationIndexRange,
    Separator,
}

impl Recovery {
    /// Walks the body of the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, or does not begin as a TsFile.
    pub fn of_file(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        let path = path.as_ref();
        let file = std::fs::File::open(path).map_err(|error| Error::from(error).in_file(path))?;
        Self::of(&file, limits).map_err(|error| error.in_file(path))
    }

    /// Walks the body of a file that lies in `source`.
    ///
    /// # Errors
    /// As [`of_file`](Self::of_file).
    pub fn of<R: ReadAt + ?Sized>(source: &R, limits: &Limits) -> Result<Self> {
        let size = source.size()?;
        let mut head = vec![0; size.min(HEAD_SIZE as u64 + 5) as usize];
        source.read_exact_at(&mut head, 0)?;
        let version = check_head(&head)?;
        let zeros_from = zeros_from(source, size)?;
        let mut walk = Walk { source, size, zeros_from, version, limits, at: HEAD_SIZE as u64, buffer: Vec::new() };
        let mut recovery = Self { version, groups: Vec::new(), whole_size: walk.at, separator: None, stopped_by: None };
        let mut open: Option<RecoveredGroup> = None;
        loop {
            let start = walk.at;
            if start == size {
                recovery.close(open, start);
                return Ok(recovery);
            }
            match walk.step() {
                Ok(Step::Chunk(chunk)) => match &mut open {
                    Some(group) => group.chunks.push(chunk),
                    None => {
                        let message = "a chunk that belongs to no chunk group";
                        let error = Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start));
                        recovery.stopped_by = Some(error.in_place("chunk header"));
                        return Ok(recovery);
                    }
                },
                Ok(Step::Group(device, offset)) => {
                    recovery.close(open.take(), start);
                    open = Some(RecoveredGroup { device, offset, size: 0, chunks: Vec::new() });
                }
                Ok(Step::OperationIndexRange) => {
                    recovery.close(open.take(), start);
                    recovery.whole_size = walk.at;
                }
                Ok(Step::Separator) => {
                    recovery.close(open, start);
                    recovery.whole_size = start;
                    recovery.separator = Some(start);
                    return Ok(recovery);
                }
                Err(error) if error.kind() == ErrorKind::Io || error.kind() == ErrorKind::LimitExceeded => return Err(error),
                Err(error) => {
                    // Half a chunk makes its group unsure; anything else only shows that the group before it ended.
                    if !walk.is_chunk() {
                        recovery.close(open, start);
                    }
                    recovery.stopped_by = Some(error);
                    return Ok(recovery);
                }
            }
        }
    }

    /// Takes a group that ends at `end`, if it has a chunk.
    fn close(&mut self, group: Option<RecoveredGroup>, end: u64) {
        if let Some(mut group) = group.filter(|group| !group.chunks.is_empty()) {
            group.size = end - group.offset;
            self.whole_size = end;
            self.groups.push(group);
        }
    }
}

/// One past the last byte that is not zero.
fn zeros_from<R: ReadAt + ?Sized>(source: &R, size: u64) -> Result<u64> {
    let mut block = vec![0; size.min(64 << 10) as usize];
    let mut end = size;
    while end > 0 {
        let part = &mut block[..end.min(64 << 10) as usize];
        source.read_exact_at(part, end - part.len() as u64)?;
        if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
            return Ok(end - part.len() as u64 + last as u64 + 1);
        }
        end -= part.len() as u64;
    }
    Ok(0)
}

struct Walk<'a, R: ?Sized> {
    source: &'a R,
    size: u64,
    /// From here on the file has zeros only.
    zeros_from: u64,
    version: u8,
    limits: &'a Limits,
    /// Offset of the next record; stays at a record that cannot be read.
    at: u64,
    buffer: Vec<u8>,
}

impl<R: ReadAt + ?Sized> Walk<'_, R> {
    /// Has up to `size` bytes from the next record on.
    fn fill(&mut self, size: u64) -> Result<()> {
        let size = self.limits.read_size(size.min(self.size - self.at))?;
        self.buffer.resize(size, 0);
        self.source.read_exact_at(&mut self.buffer, self.at)?;
        Ok(())
    }

    /// True when the next record begins as a chunk does.
    fn is_chunk(&self) -> bool {
        self.buffer.first().is_some_and(|byte| matches!(byte & 0x3f, marker::ONE_PAGE | marker::MANY_PAGES))
    }

    fn step(&mut self) -> Result<Step> {
        let offset = self.at;
        let mut prefix_size = PREFIX_SIZE;
        loop {
            self.fill(prefix_size)?;
            let read_all = self.at + self.buffer.len() as u64 == self.size;
            match self.parse(offset) {
                // The header goes past the prefix, not past the file.
                Err(error) if error.kind() == ErrorKind::Truncated && !read_all => prefix_size *= 2,
                step => return step,
            }
        }
    }

    fn parse(&mut self, offset: u64) -> Result<Step> {
        let mut wire = WireReader::with_base(&self.buffer, offset as usize);
        match self.buffer.first() {
            Some(&marker::SEPARATOR) => Ok(Step::Separator),
            Some(&marker::OPERATION_INDEX_RANGE) => {
                OperationIndexRange::parse(&mut wire).map_err(|error| error.in_place("operation index range"))?;
                self.at = wire.position() as u64;
                Ok(Step::OperationIndexRange)
            }
            Some(&marker::CHUNK_GROUP) => {
                let device = self.parse_group(&mut wire).map_err(|error| error.in_place("chunk group header"))?;
                self.at = wire.position() as u64;
                Ok(Step::Group(device, offset))
            }
            _ => self.parse_chunk(offset),
        }
    }

    fn parse_group(&self, wire: &mut WireReader<'_>) -> Result<DeviceId> {
        wire.u8()?;
        let key = if self.version == VERSION_3 { DeviceKey::read_path(wire)? } else { DeviceKey::read(wire)? };
        if key.table().is_empty() {
            let message = "a chunk group without a device, as zeros would be";
            return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(self.at)));
        }
        Ok(key.to_id())
    }

    fn parse_chunk(&mut self, offset: u64) -> Result<Step> {
        let Some(size) = ChunkRef::size_of(&self.buffer, offset)? else {
            return Err(Error::new(ErrorKind::Truncated, "the header is cut")
                .at(FileOffset::new(offset))
                .in_place("chunk header"));
        };
        let end = offset.saturating_add(size);
        if self.zeros_from < end && end < self.size {
            let message = "the end of the chunk cannot be told from the zeros at the end of the file";
            return Err(Error::new(ErrorKind::Truncated, message).at(FileOffset::new(offset)).in_place("chunk"));
        }
        self.fill(size)?;
        let chunk = ChunkRef::parse(&self.buffer, offset)?;
        let mut page_count = 0;
        for page in chunk.pages() {
            page_count += 1;
            if page?.is_empty() && chunk.header().kind == ChunkKind::Time {
                let message = "a page without times";
                return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(offset)).in_place("time chunk"));
            }
        }
        let header = chunk.header();
        let chunk = RecoveredChunk {
            offset,
            size,
            kind: header.kind,
            measurement: header.measurement.to_owned(),
            series_type: header.series_type,
            encoding: header.encoding,
            compression: header.compression,
            page_count,
        };
        self.at = offset + size;
        Ok(Step::Chunk(chunk))
    }
}
