//! Reading one segment: whole entries one after another, and what to make of the bytes where they end.
//!
//! ```text
//! after the last whole entry                                   means
//! nothing, zeros, bytes of an older use                        the end
//! an entry that is cut or damaged, nothing behind it           torn tail: it was being written, nobody was told it is safe
//! the same, and behind it an entry with the bit 0x80           damage: the disk had it once
//! ```

use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Result};

use crate::frame::{self, ENTRY_BYTES_MAX, HEAD_SIZE, Head};
use crate::segment::{HEADER_SIZE, Header};

/// Bytes read at once.
const WINDOW_SIZE: usize = 1 << 20;

/// A whole entry, its checksum verified.
pub(crate) struct Frame<'a> {
    pub(crate) head: Head,
    /// Position of the payload in the segment.
    pub(crate) payload_at: u64,
    pub(crate) payload: &'a [u8],
}

/// Where the whole entries of a segment end, and why there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) offset: u64,
    /// Number of whole entries before it.
    pub(crate) entry_count: u64,
    /// What is wrong with the bytes here; `None` when they were never meant to be an entry.
    pub(crate) torn: Option<String>,
    /// Sequence of the entry that would have come next.
    pub(crate) sequence: u64,
}

impl End {
    /// The error for an end that should not be there.
    #[cold]
    pub(crate) fn damage(&self) -> Error {
        let why = self.torn.as_deref().unwrap_or("no entry begins here, but later ones are there");
        let message = match self.entry_count {
            0 => format!("entry 1 at offset {}: {why}", Grouped(self.offset)),
            1 => format!("entry 2 at offset {}: {why}; 1 entry before it is intact", Grouped(self.offset)),
            count => {
                format!("entry {} at offset {}: {why}; {count} entries before it are intact", count + 1, Grouped(self.offset))
            }
        };
        Error::new(ErrorKind::Corrupt, message)
    }
}

/// A segment that is read from its first entry on.
pub(crate) struct SegmentReader<'a> {
    window: Window<'a>,
    header: Header,
    seed: u32,
    offset: u64,
    entry_count: u64,
}

impl<'a> SegmentReader<'a> {
    pub(crate) fn new(source: &'a dyn ReadAt, size: u64, header: Header) -> Self {
        let window = Window { source, size, start: 0, bytes: Vec::new() };
        Self { window, header, seed: header.seed(), offset: HEADER_SIZE as u64, entry_count: 0 }
    }

    /// Sequence of the next entry.
    pub(crate) fn sequence(&self) -> u64 {
        self.header.first_sequence.saturating_add(self.entry_count)
    }

    /// The next whole entry, or where they end.
    pub(crate) fn next_frame(&mut self) -> Result<Result<Frame<'_>, End>> {
        let (offset, sequence) = (self.offset, self.sequence());
        let left = self.window.size.saturating_sub(offset);
        let Some(head) = self.window.head_at(offset)? else {
            let rest = self.window.bytes_at(offset, left as usize)?;
            let cut = (!self.header.recycled && rest.iter().any(|byte| *byte != 0)).then(|| format!("{left} bytes are no head"));
            return Ok(Err(self.end(cut)));
        };
        if head.sequence != sequence {
            // A recycled segment goes on with what it held before; a new one with zeros at most.
            let is_zero = head == Head::parse(&[0; HEAD_SIZE]);
            let foreign = (!self.header.recycled && !is_zero).then(|| format!("sequence {}, expected {sequence}", head.sequence));
            return Ok(Err(self.end(foreign)));
        }
        let payload_size = u64::from(head.payload_size);
        if payload_size > left - HEAD_SIZE as u64 || head.payload_size as usize > ENTRY_BYTES_MAX {
            let cut = format!("it has {} bytes, {} are left", Grouped(payload_size), Grouped(left - HEAD_SIZE as u64));
            return Ok(Err(self.end(Some(cut))));
        }
        let found = frame::checksum(self.seed, self.window.bytes_at(offset, HEAD_SIZE + head.payload_size as usize)?);
        if found != head.checksum {
            return Ok(Err(self.end(Some(format!("checksum {found:08x}, expected {:08x}", head.checksum)))));
        }
        self.offset = offset + HEAD_SIZE as u64 + payload_size;
        self.entry_count += 1;
        let whole = self.window.bytes_at(offset, HEAD_SIZE + head.payload_size as usize)?;
        Ok(Ok(Frame { head, payload_at: offset + HEAD_SIZE as u64, payload: &whole[HEAD_SIZE..] }))
    }

    /// The end, here.
    pub(crate) fn end(&self, torn: Option<String>) -> End {
        End { offset: self.offset, entry_count: self.entry_count, torn, sequence: self.sequence() }
    }

    /// True when an entry behind the end proves that the one at the end was on disk once.
    ///
    /// Every position may be the head of such an entry; the sequence it must have leaves next to none. Bytes made to have
    /// many are not searched for ever: past a budget the answer is yes, which is the safe one.
    pub(crate) fn is_damaged(&mut self) -> Result<bool> {
        let sequence = self.sequence();
        let left = self.window.size.saturating_sub(self.offset);
        let later = sequence.saturating_add(1)..=sequence.saturating_add(left / HEAD_SIZE as u64);
        let mut budget = left.saturating_mul(4).saturating_add(1 << 20);
        let mut offset = self.offset + 1;
        while let Some((at, head)) = self.window.find_head(offset, |head| head.after_sync && later.contains(&head.sequence))? {
            offset = at + 1;
            let payload_left = self.window.size - at - HEAD_SIZE as u64;
            if u64::from(head.payload_size) > payload_left || head.payload_size as usize > ENTRY_BYTES_MAX {
                continue;
            }
            let size = HEAD_SIZE + head.payload_size as usize;
            let Some(rest) = budget.checked_sub(size as u64) else {
                return Ok(true);
            };
            budget = rest;
            if frame::checksum(self.seed, self.window.bytes_at(at, size)?) == head.checksum {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Some bytes of a segment, read ahead.
struct Window<'a> {
    source: &'a dyn ReadAt,
    size: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// The head that would begin at `offset`; `None` when fewer bytes are left.
    fn head_at(&mut self, offset: u64) -> Result<Option<Head>> {
        if self.size.saturating_sub(offset) < HEAD_SIZE as u64 {
            return Ok(None);
        }
        Ok(self.bytes_at(offset, HEAD_SIZE)?.first_chunk().map(Head::parse))
    }

    /// The first position from `offset` on whose bytes are a head that `is_wanted`.
    fn find_head(&mut self, mut offset: u64, is_wanted: impl Fn(&Head) -> bool) -> Result<Option<(u64, Head)>> {
        while self.size.saturating_sub(offset) >= HEAD_SIZE as u64 {
            self.bytes_at(offset, HEAD_SIZE)?;
            let here = &self.bytes[(offset - self.start) as usize..];
            let heads = here.windows(HEAD_SIZE).filter_map(<[u8]>::first_chunk).map(Head::parse);
            let count = here.len() - HEAD_SIZE + 1;
            if let Some((index, head)) = heads.enumerate().find(|(_, head)| is_wanted(head)) {
                return Ok(Some((offset + index as u64, head)));
            }
            offset += count as u64;
        }
        Ok(None)
    }

    /// `count` bytes that are known to be there.
    fn bytes_at(&mut self, offset: u64, count: usize) -> Result<&[u8]> {
        let is_here = offset >= self.start && offset + count as u64 <= self.start + self.bytes.len() as u64;
        if !is_here {
            let left = usize::try_from(self.size - offset).unwrap_or(usize::MAX);
            self.bytes.resize(left.min(count.max(WINDOW_SIZE)), 0);
            self.start = offset;
            if let Err(error) = self.source.read_exact_at(&mut self.bytes, offset) {
                self.bytes.clear();
                return Err(Error::from(error).at(FileOffset::new(offset)));
            }
        }
        let from = (offset - self.start) as usize;
        Ok(&self.bytes[from..from + count])
    }
}
