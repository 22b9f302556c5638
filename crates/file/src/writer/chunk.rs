//! The finished pages of a chunk, and what is known about them.
//!
//! ```text
//! pages   page headers and bodies as they will be in the file; every page header has statistics, also that of the first
//!         page, which are left out when the chunk turns out to have one page only
//! ```

use std::io::Write;
use std::ops::Range;

use tsloom_codec::compress::{CompressScratch, compress};
use tsloom_encoding::{ToWire, WirePut, uvar_size};
use tsloom_format::{ChunkHeader, ChunkKind, SeriesType, Statistics};
use tsloom_model::{Compression, Encoding, Error, ErrorKind, Result};

use super::Sink;

/// Pages in the bytes of the file.
#[derive(Debug, Default)]
pub(super) struct Pages {
    bytes: Vec<u8>,
    count: u32,
    /// Where the statistics of the first page are; empty when that page is empty.
    first_statistics: Range<usize>,
}

impl Pages {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
        self.first_statistics = 0..0;
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes in the chunk: without the statistics of the one page.
    fn data_size(&self) -> usize {
        self.bytes.len() - self.skipped().len()
    }

    fn skipped(&self) -> Range<usize> {
        if self.count <= 1 { self.first_statistics.clone() } else { 0..0 }
    }

    /// Adds pages in which every row is null.
    pub(super) fn push_empty(&mut self, count: u32) {
        self.bytes.resize(self.bytes.len() + count as usize, 0);
        self.count += count;
    }

    /// Adds a page. The body is compressed in place, behind its header.
    pub(super) fn push(
        &mut self,
        statistics: &Statistics,
        body: &[u8],
        compression: Compression,
        scratch: &mut CompressScratch,
    ) -> Result<()> {
        let uncompressed_size = page_size(body.len())?;
        self.bytes.put_uvar(uncompressed_size);
        // Room for the size that is not known yet; what is compressed is rarely larger, and then the rest moves.
        let size_at = self.bytes.len();
        let reserved = uvar_size(uncompressed_size);
        self.bytes.resize(size_at + reserved, 0);
        statistics.write_to(&mut self.bytes);
        let body_at = self.bytes.len();
        compress(compression, body, &mut self.bytes, scratch)?;
        let compressed_size = page_size(self.bytes.len() - body_at)?;

        let needed = uvar_size(compressed_size);
        let rest = size_at + reserved..self.bytes.len();
        if needed != reserved {
            self.bytes.resize(self.bytes.len() + needed.saturating_sub(reserved), 0);
            self.bytes.copy_within(rest.clone(), size_at + needed);
            self.bytes.truncate(size_at + needed + rest.len());
        }
        (&mut self.bytes[size_at..size_at + needed]).put_uvar(compressed_size);
        if self.count == 0 {
            let start = size_at + needed;
            self.first_statistics = start..start + statistics.wire_size();
        }
        self.count += 1;
        Ok(())
    }

    /// Writes the chunk and returns the offset of its marker.
    pub(super) fn write<W: Write>(&self, parts: ChunkParts<'_>, sink: &mut Sink<W>) -> Result<u64> {
        let offset = sink.position;
        let header = ChunkHeader {
            kind: parts.kind,
            one_page: self.count <= 1,
            measurement: parts.measurement,
            data_size: page_size(self.data_size())?,
            series_type: parts.series_type,
            compression: parts.compression,
            encoding: parts.encoding,
        };
        sink.write(&header.to_vec())?;
        let skipped = self.skipped();
        sink.write(&self.bytes[..skipped.start])?;
        sink.write(&self.bytes[skipped.end..])?;
        Ok(offset)
    }
}

/// What a chunk header says besides what its pages do.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkParts<'a> {
    pub(super) kind: ChunkKind,
    pub(super) measurement: &'a str,
    pub(super) series_type: SeriesType,
    pub(super) compression: Compression,
    pub(super) encoding: Encoding,
}

/// Sizes in the file are 32 bits wide, and other readers take them as signed.
fn page_size(size: usize) -> Result<u32> {
    if size > i32::MAX as usize {
        let message = format!("{size} bytes in one page or chunk are more than the format can say");
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    Ok(size as u32)
}

/// The pages of a chunk and their statistics.
#[derive(Debug)]
pub(super) struct ChunkBuffer {
    pub(super) pages: Pages,
    /// Of all pages.
    pub(super) statistics: Statistics,
    /// Of the page that is being finished.
    pub(super) page_statistics: Statistics,
}

impl ChunkBuffer {
    /// Bytes of the statistics of the page that is being finished.
    pub(super) fn page_statistics_size(&self) -> usize {
        self.page_statistics.wire_size()
    }

    pub(super) fn new(series_type: SeriesType) -> Self {
        Self { pages: Pages::default(), statistics: Statistics::new(series_type), page_statistics: Statistics::new(series_type) }
    }

    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.statistics.clear();
    }

    /// Adds the page whose body and statistics are ready.
    pub(super) fn push_page(&mut self, body: &[u8], compression: Compression, scratch: &mut CompressScratch) -> Result<()> {
        self.pages.push(&self.page_statistics, body, compression, scratch)?;
        self.statistics.merge(&self.page_statistics);
        Ok(())
    }
}
