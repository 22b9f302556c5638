//! Few reads for many ranges: neighbours are merged, and what was read stays until the next plan.

use std::cell::Cell;
use std::sync::Arc;

use tsloom_file::FileReader;
use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Result};

/// Bytes of one read that is merged from several ranges. One range alone may be longer.
const READ_SIZE_MAX: u64 = 2 << 20;
/// A gap up to this size is read along: copying it costs less than another system call.
const GAP_SIZE_MAX: u64 = 1 << 10;

/// Some bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl ByteRange {
    pub(crate) fn size(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// A file, and how much was read from it.
pub(crate) struct FileIo<R: ReadAt> {
    pub(crate) reader: Arc<FileReader<R>>,
    pub(crate) reads: u64,
    pub(crate) bytes_read: u64,
}

impl<R: ReadAt> FileIo<R> {
    pub(crate) fn new(reader: Arc<FileReader<R>>) -> Self {
        Self { reader, reads: 0, bytes_read: 0 }
    }

    /// Appends the bytes of a range to `buffer` and returns where they begin there.
    fn read(&mut self, range: ByteRange, buffer: &mut Buffer) -> Result<usize> {
        let file_size = self.reader.size();
        if range.start >= range.end || range.end > file_size {
            return Err(out_of_file(range, file_size));
        }
        let at = FileOffset::new(range.start);
        let size = self.reader.limits().read_size(range.size()).map_err(|error| error.at(at))?;
        let start = buffer.used;
        let into = buffer.grow(size);
        self.reader.read_exact(range.start, into)?;
        self.reads += 1;
        self.bytes_read += size as u64;
        Ok(start)
    }
}

#[cold]
fn out_of_file(range: ByteRange, file_size: u64) -> Error {
    let message =
        format!("{} to {} is not inside the file of {} bytes", Grouped(range.start), Grouped(range.end), Grouped(file_size));
    Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(range.start))
}

/// Bytes that are written once and never cleared: clearing costs as much as decoding.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    fn grow(&mut self, size: usize) -> &mut [u8] {
        let start = self.used;
        self.used += size;
        if self.bytes.len() < self.used {
            // Fresh zeroed memory costs nothing until it is written; growing the old one would clear it byte by byte.
            let mut longer = vec![0; self.used.max(start * 2)];
            longer[..start].copy_from_slice(&self.bytes[..start]);
            self.bytes = longer;
        }
        &mut self.bytes[start..self.used]
    }
}

/// Bytes of several places of one file, in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    buffer: Buffer,
    pieces: Vec<Piece>,
    /// The piece that was asked for last.
    last: Cell<usize>,
    /// Ranges that were noted and not read yet.
    ranges: Vec<ByteRange>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    range: ByteRange,
    /// Where its bytes begin in the buffer.
    at: usize,
}

impl Pieces {
    /// Forgets everything that was read, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.buffer.used = 0;
        self.pieces.clear();
        self.ranges.clear();
        self.last.set(0);
    }

    /// Reads these ranges, merging each with the ones that follow it closely.
    pub(crate) fn load<R: ReadAt>(&mut self, ranges: impl IntoIterator<Item = ByteRange>, file: &mut FileIo<R>) -> Result<()> {
        let mut ranges = ranges.into_iter();
        let Some(mut current) = ranges.next() else { return Ok(()) };
        for range in ranges {
            let end = current.end.max(range.end);
            let follows = current.start <= range.start && range.start <= current.end.saturating_add(GAP_SIZE_MAX);
            if follows && end - current.start <= READ_SIZE_MAX {
                current.end = end;
            } else {
                self.read(current, file)?;
                current = range;
            }
        }
        self.read(current, file)
    }

    /// Notes a range for [`load_wanted`](Self::load_wanted).
    pub(crate) fn want(&mut self, range: ByteRange) {
        self.ranges.push(range);
    }

    /// Reads the ranges that were noted, in the order of the file.
    pub(crate) fn load_wanted<R: ReadAt>(&mut self, file: &mut FileIo<R>) -> Result<()> {
        let mut sorted = std::mem::take(&mut self.ranges);
        if !sorted.is_sorted_by_key(|range| range.start) {
            sorted.sort_unstable_by_key(|range| range.start);
        }
        let outcome = self.load(sorted.iter().copied().filter(|range| range.size() > 0), file);
        sorted.clear();
        self.ranges = sorted;
        outcome
    }

    /// Reads one range behind everything else, for whoever keeps the place that comes back.
    pub(crate) fn append<R: ReadAt>(&mut self, range: ByteRange, file: &mut FileIo<R>) -> Result<usize> {
        file.read(range, &mut self.buffer)
    }

    fn read<R: ReadAt>(&mut self, range: ByteRange, file: &mut FileIo<R>) -> Result<()> {
        let at = file.read(range, &mut self.buffer)?;
        self.pieces.push(Piece { range, at });
        Ok(())
    }

    /// Where in [`bytes`](Self::bytes) the `size` bytes at `offset` of the file are. Reads them when they are not there as one.
    pub(crate) fn ensure<R: ReadAt>(&mut self, offset: u64, size: u64, file: &mut FileIo<R>) -> Result<usize> {
        let range = ByteRange { start: offset, end: offset.saturating_add(size) };
        if let Some(at) = self.locate(range) {
            return Ok(at);
        }
        self.read(range, file)?;
        let last = self.pieces.len() - 1;
        self.last.set(last);
        Ok(self.pieces[last].at)
    }

    /// Where a range begins in the buffer, if one piece holds it whole.
    #[inline]
    pub(crate) fn locate(&self, range: ByteRange) -> Option<usize> {
        let holds = |piece: &Piece| piece.range.start <= range.start && range.end <= piece.range.end;
        let mut index = self.last.get();
        if !self.pieces.get(index).is_some_and(holds) {
            index = match self.pieces.get(index + 1) {
                Some(next) if holds(next) => index + 1,
                _ => self.pieces.iter().rposition(holds)?,
            };
            self.last.set(index);
        }
        let piece = self.pieces[index];
        Some(piece.at + (range.start - piece.range.start) as usize)
    }

    /// The bytes of a range that was loaded.
    pub(crate) fn get(&self, range: ByteRange) -> Option<&[u8]> {
        let at = self.locate(range)?;
        Some(&self.buffer.bytes[at..at + range.size() as usize])
    }

    /// The whole buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer.bytes[..self.buffer.used]
    }
}
