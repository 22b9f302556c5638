//! The frame: what travels on a connection.
//!
//! ```text
//! offset in the stream, all numbers little-endian
//!   0  u32 magic "TSX1"        4  u8 kind       5  u8 flags (0)      6  u16 header_len (32)
//!   8  u64 mailbox             assigned by who opens it, dense per connection and side; 0 = the connection itself
//!  16  u32 block_seq          20  u16 chunk_index                   22  u16 chunk_count (0 = not known yet)
//!  24  u32 payload_len        28  u32 crc32c of the header without these four bytes, then of the payload
//!  ..  zeros until the stream position is a multiple of 64, then the payload, then zeros until a multiple of 8
//! ```
//!
//! A frame without payload is its header alone. Data frames are chunks of a block: the block is whole when chunks `0..chunk_count`
//! with the same `block_seq` came in order ([`Assembly`](crate::Assembly) checks it). A header may be longer than 32 bytes, for
//! later versions: what follows the known fields is skipped, but is under the checksum.
//!
//! What it is not: a connection. [`FrameWriter`] and [`FrameReader`] keep the position of one direction and nothing else.

use std::io::{self, IoSlice, Read, Write};

use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Result};

use crate::pool::{Buffer, BufferPool};

/// Size of a header of this version in bytes.
pub const HEADER_LEN: usize = 32;
/// Payloads start at multiples of this many bytes in the stream.
pub const PAYLOAD_ALIGN: usize = 64;

const MAGIC: [u8; 4] = *b"TSX1";
const HEADER_LEN_MAX: usize = 256;
const FRAME_ALIGN: usize = 8;
const ZEROS: [u8; PAYLOAD_ALIGN] = [0; PAYLOAD_ALIGN];

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum FrameKind {
    /// Makes a mailbox: id, schema, codec, deadline, credit.
    Open = 1,
    /// The other side has it too; carries its credit.
    Accept = 2,
    /// One chunk of a block.
    Data = 3,
    /// No more blocks, all went well; carries statistics.
    Eos = 4,
    /// No more blocks, something went wrong; carries code, origin, text, statistics.
    Error = 5,
    /// Room for more: bytes and blocks.
    Credit = 6,
    /// The reader wants no more blocks, but still the statistics.
    EarlyTerminate = 7,
    /// Either side gives up; carries the reason.
    Cancel = 8,
    /// The chunks of the unfinished block are void.
    ResetBlock = 9,
    /// Asks for the same frame back; tells a silent peer from a dead one.
    Ping = 10,
}

impl FrameKind {
    /// Every kind, in the order of its code.
    pub const ALL: [Self; 10] = [
        Self::Open,
        Self::Accept,
        Self::Data,
        Self::Eos,
        Self::Error,
        Self::Credit,
        Self::EarlyTerminate,
        Self::Cancel,
        Self::ResetBlock,
        Self::Ping,
    ];

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// True for every kind but data: these frames never queue behind data.
    pub fn is_control(self) -> bool {
        self != Self::Data
    }
}

/// What must be known of a frame to write it; length and checksum come from the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// What the frame says.
    pub kind: FrameKind,
    /// Whom it is for.
    pub mailbox: u64,
    /// Which block a chunk belongs to; 0 in other frames.
    pub block_seq: u32,
    /// Place of a chunk in its block.
    pub chunk_index: u16,
    /// Number of chunks of the block, or 0 when the sender does not know yet.
    pub chunk_count: u16,
}

impl FrameHead {
    /// A control frame.
    pub fn control(kind: FrameKind, mailbox: u64) -> Self {
        Self { kind, mailbox, block_seq: 0, chunk_index: 0, chunk_count: 0 }
    }

    /// The header bytes of a frame with this payload.
    ///
    /// # Errors
    /// `InvalidArgument` when the payload is longer than `u32::MAX` bytes.
    fn to_bytes<'a>(self, payload: impl Iterator<Item = &'a [u8]>, len: usize) -> Result<[u8; HEADER_LEN]> {
        let len = u32::try_from(len).map_err(|_| Error::new(ErrorKind::InvalidArgument, "a payload of more than 4 GiB"))?;
        let mut out = [0; HEADER_LEN];
        out[..4].copy_from_slice(&MAGIC);
        out[4] = self.kind as u8;
        out[6..8].copy_from_slice(&(HEADER_LEN as u16).to_le_bytes());
        out[8..16].copy_from_slice(&self.mailbox.to_le_bytes());
        out[16..20].copy_from_slice(&self.block_seq.to_le_bytes());
        out[20..22].copy_from_slice(&self.chunk_index.to_le_bytes());
        out[22..24].copy_from_slice(&self.chunk_count.to_le_bytes());
        out[24..28].copy_from_slice(&len.to_le_bytes());
        let crc = payload.fold(crc32c::crc32c(&out[..28]), crc32c::crc32c_append);
        out[28..].copy_from_slice(&crc.to_le_bytes());
        Ok(out)
    }
}

/// A header as it came in, before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    head: FrameHead,
    header_len: usize,
    payload_len: usize,
    crc: u32,
}

impl Header {
    fn parse(bytes: &[u8; HEADER_LEN]) -> Result<Self> {
        let corrupt = |message: String| Error::new(ErrorKind::Corrupt, message);
        if bytes[..4] != MAGIC {
            return Err(corrupt(format!("magic {:02x?}, expected \"TSX1\"", &bytes[..4])));
        }
        let kind = FrameKind::from_code(bytes[4]).ok_or_else(|| corrupt(format!("unknown kind {}", bytes[4])))?;
        if bytes[5] != 0 {
            return Err(Error::new(ErrorKind::Unsupported, format!("flags {:#04x}; none is known", bytes[5])));
        }
        let header_len = usize::from(u16_at(bytes, 6));
        if !(HEADER_LEN..=HEADER_LEN_MAX).contains(&header_len) || !header_len.is_multiple_of(FRAME_ALIGN) {
            return Err(corrupt(format!(
                "header of {header_len} bytes; {HEADER_LEN} to {HEADER_LEN_MAX} in steps of 8 are possible"
            )));
        }
        let head = FrameHead {
            kind,
            mailbox: u64::from(u32_at(bytes, 8)) | u64::from(u32_at(bytes, 12)) << 32,
            block_seq: u32_at(bytes, 16),
            chunk_index: u16_at(bytes, 20),
            chunk_count: u16_at(bytes, 22),
        };
        Ok(Self { head, header_len, payload_len: u32_at(bytes, 24) as usize, crc: u32_at(bytes, 28) })
    }
}

fn u16_at(bytes: &[u8; HEADER_LEN], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8; HEADER_LEN], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn padding(position: u64, align: usize) -> usize {
    (position.wrapping_neg() % align as u64) as usize
}

/// A frame as it came in.
#[derive(Debug)]
pub struct Frame {
    /// Its fixed fields.
    pub head: FrameHead,
    /// Its payload, at a 64-byte boundary in memory.
    pub payload: Buffer,
}

/// Writes frames and keeps the stream position, from which the padding follows.
#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    position: u64,
}

impl<W: Write> FrameWriter<W> {
    /// A writer at the start of a stream.
    pub fn new(out: W) -> Self {
        Self { out, position: 0 }
    }

    /// Bytes written so far, padding included.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes a frame; the parts of its payload are joined on the wire, not in memory.
    ///
    /// # Errors
    /// `Io` when the stream fails; the stream is of no more use then. `InvalidArgument` for more than 4 GiB.
    pub fn write<'a>(&mut self, head: FrameHead, payload: impl Iterator<Item = &'a [u8]> + Clone) -> Result<()> {
        let payload_len: usize = payload.clone().map(<[u8]>::len).sum();
        let header = head.to_bytes(payload.clone(), payload_len)?;
        let (before, after) = if payload_len == 0 {
            (0, 0)
        } else {
            let before = padding(self.position + HEADER_LEN as u64, PAYLOAD_ALIGN);
            (before, padding((HEADER_LEN + before + payload_len) as u64 + self.position, FRAME_ALIGN))
        };
        let payload = payload.map(|part| -> &[u8] { part }); // of the header's lifetime from here on
        let parts = [&header, &ZEROS[..before]].into_iter().chain(payload).chain([&ZEROS[..after]]);
        write_all(&mut self.out, parts)?;
        self.position += (HEADER_LEN + before + payload_len + after) as u64;
        Ok(())
    }

    /// Flushes the stream.
    ///
    /// # Errors
    /// `Io` when the stream fails.
    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// The stream.
    pub fn get_ref(&self) -> &W {
        &self.out
    }
}

/// Writes all parts with as few calls as the stream allows.
fn write_all<'a>(out: &mut impl Write, parts: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    const BATCH: usize = 64;
    let mut parts = parts.filter(|part| !part.is_empty()).peekable();
    while parts.peek().is_some() {
        let mut slices = [IoSlice::new(&[]); BATCH];
        let mut count = 0;
        while let (true, Some(part)) = (count < BATCH, parts.peek()) {
            slices[count] = IoSlice::new(part);
            count += 1;
            parts.next();
        }
        let mut left = &mut slices[..count];
        while !left.is_empty() {
            match out.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Reads frames and keeps the stream position.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: R,
    position: u64,
    payload_bytes_max: usize,
}

impl<R: Read> FrameReader<R> {
    /// A reader at the start of a stream. A payload of more than `payload_bytes_max` bytes is an error before anything is
    /// allocated for it.
    pub fn new(input: R, payload_bytes_max: usize) -> Self {
        Self { input, position: 0, payload_bytes_max }
    }

    /// Bytes read so far, padding included.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next frame, its payload in a buffer of the pool; `None` when the stream ends between two frames.
    ///
    /// # Errors
    /// `Truncated` when the stream ends inside a frame, `Corrupt` for bytes that are no frame (magic, kind, checksum, padding),
    /// `Unsupported` for flags of a later version, `LimitExceeded` for a payload over the limit or a pool without room, `Io` when the
    /// stream fails. All but the last say where in the stream. The stream is of no more use afterwards.
    pub fn read(&mut self, pool: &BufferPool) -> Result<Option<Frame>> {
        let start = self.position;
        self.read_frame(pool).map_err(|error| error.shifted(FileOffset::new(start)).in_place("frame"))
    }

    fn read_frame(&mut self, pool: &BufferPool) -> Result<Option<Frame>> {
        let mut bytes = [0; HEADER_LEN_MAX];
        if !self.fill_or_end(&mut bytes[..HEADER_LEN])? {
            return Ok(None);
        }
        let fixed: &[u8; HEADER_LEN] = bytes.first_chunk().expect("the array is longer");
        let header = Header::parse(fixed)?;
        if header.payload_len > self.payload_bytes_max {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!(
                    "payload of {} bytes is past the limit frame_bytes_max = {}",
                    Grouped(header.payload_len as u64),
                    Grouped(self.payload_bytes_max as u64)
                ),
            ));
        }
        self.fill(&mut bytes[HEADER_LEN..header.header_len])?;
        let mut payload = pool.take(header.payload_len)?;
        if header.payload_len > 0 {
            self.skip_zeros(PAYLOAD_ALIGN)?;
            self.fill(payload.as_mut())?;
            self.skip_zeros(FRAME_ALIGN)?;
        }
        let crc = crc32c::crc32c(&bytes[..28]);
        let crc = crc32c::crc32c_append(crc, &bytes[HEADER_LEN..header.header_len]);
        let crc = crc32c::crc32c_append(crc, payload.as_ref());
        if crc != header.crc {
            return Err(Error::new(ErrorKind::Corrupt, format!("checksum {crc:08x}, expected {:08x}", header.crc)));
        }
        Ok(Some(Frame { head: header.head, payload: payload.freeze() }))
    }

    /// Fills `into`, or returns false when the stream ends before its first byte.
    fn fill_or_end(&mut self, into: &mut [u8]) -> Result<bool> {
        let mut filled = 0;
        while filled < into.len() {
            match self.input.read(&mut into[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => {
                    let message = format!("the stream ends {} bytes before the end of the frame", into.len() - filled);
                    return Err(Error::new(ErrorKind::Truncated, message));
                }
                Ok(count) => {
                    filled += count;
                    self.position += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn fill(&mut self, into: &mut [u8]) -> Result<()> {
        if into.is_empty() || self.fill_or_end(into)? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Truncated, format!("the stream ends {} bytes before the end of the frame", into.len())))
    }

    fn skip_zeros(&mut self, align: usize) -> Result<()> {
        let mut bytes = [0; PAYLOAD_ALIGN];
        let bytes = &mut bytes[..padding(self.position, align)];
        self.fill(bytes)?;
        if bytes.iter().any(|&byte| byte != 0) {
            return Err(Error::new(ErrorKind::Corrupt, "padding is not zero"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
