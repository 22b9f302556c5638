//! Pieces of the metadata area, read ahead.

use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Result};

use super::FileReader;

/// An area up to this size is read whole.
const WHOLE_AREA_MAX: u64 = 8 << 20;
/// Of a larger one, this much at a time.
const PIECE_SIZE: u64 = 1 << 20;

/// A walk that goes forward reads the area about once. One that has read it so many times goes back and forth, and reads
/// no more than it is asked for from then on.
const READ_AHEAD_TIMES_MAX: u64 = 4;

/// A piece of the metadata area, kept until another is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    offset: u64,
    /// Only the first `size` bytes are of the file.
    bytes: Vec<u8>,
    size: usize,
    read_total: u64,
}

impl Window {
    /// True when the metadata area is read, or kept, as a whole.
    pub(super) fn holds_all<R: ReadAt>(reader: &FileReader<R>) -> bool {
        let size = reader.footer_offset - reader.metadata.meta_offset;
        reader.area.is_some() || size <= WHOLE_AREA_MAX.min(reader.options.limits.read_bytes_max)
    }

    /// The bytes `start..end` of the file, which must lie in the metadata area.
    pub(super) fn get<'a, R: ReadAt>(&'a mut self, reader: &'a FileReader<R>, start: u64, end: u64) -> Result<&'a [u8]> {
        let (area_start, area_end) = (reader.metadata.meta_offset, reader.footer_offset);
        if start < area_start || end > area_end || start > end {
            let message = format!(
                "bytes up to {} are outside the metadata, {} to {}",
                Grouped(end),
                Grouped(area_start),
                Grouped(area_end)
            );
            return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)));
        }
        if let Some(area) = &reader.area {
            return Ok(&area[(start - area_start) as usize..(end - area_start) as usize]);
        }
        if start < self.offset || end > self.offset + self.size as u64 {
            self.fill(reader, start, end)?;
        }
        Ok(&self.bytes[(start - self.offset) as usize..(end - self.offset) as usize])
    }

    fn fill<R: ReadAt>(&mut self, reader: &FileReader<R>, start: u64, end: u64) -> Result<()> {
        let (area_start, area_end) = (reader.metadata.meta_offset, reader.footer_offset);
        let (from, to) = if Self::holds_all(reader) {
            (area_start, area_end)
        } else {
            reader.options.limits.read_size(end - start).map_err(|error| error.at(FileOffset::new(start)))?;
            let goes_forward = self.read_total / READ_AHEAD_TIMES_MAX <= area_end - area_start;
            let piece_size = if goes_forward { PIECE_SIZE.min(reader.options.limits.read_bytes_max) } else { 0 };
            (start, end.max(area_end.min(start.saturating_add(piece_size))))
        };
        let size = (to - from) as usize;
        self.size = 0;
        if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
        reader.read_exact(from, &mut self.bytes[..size])?;
        (self.offset, self.size) = (from, size);
        self.read_total = self.read_total.saturating_add(size as u64);
        Ok(())
    }
}
