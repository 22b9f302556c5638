//! Payloads of callers who write bytes: [`PresizedWriter`] for a known size, [`ChunkedWriter`] for an unknown one.
//!
//! ```text
//! presized   one buffer of exactly n bytes ─────────────────▶ finish: it must be full
//! chunked    buffer │ buffer │ buffer │ ...   (pooled) ─────▶ into_chunks: as they are
//! ```
//!
//! Neither ever copies what it has into something larger: a growing vector of 256 KiB moves 786 KiB on its way.

use std::io::{self, Write};

use tsloom_model::{Error, ErrorKind, Grouped, Result};

use crate::pool::{Buffer, BufferMut, BufferPool};

/// Fills one pooled buffer of a known size.
#[derive(Debug)]
pub struct PresizedWriter {
    buffer: BufferMut,
    filled: usize,
}

impl PresizedWriter {
    /// Room for exactly `len` bytes.
    ///
    /// # Errors
    /// `LimitExceeded` when the pool has no room.
    pub fn new(pool: &BufferPool, len: usize) -> Result<Self> {
        Ok(Self { buffer: pool.take(len)?, filled: 0 })
    }

    /// The bytes that are still to be written, for callers that write in place; [`advance`](Self::advance) says how many were.
    pub fn rest(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[self.filled..]
    }

    /// Counts `count` bytes of [`rest`](Self::rest) as written.
    ///
    /// # Errors
    /// `InvalidArgument` when that is more than are left.
    pub fn advance(&mut self, count: usize) -> Result<()> {
        let left = self.buffer.as_ref().len() - self.filled;
        if count > left {
            return Err(Error::new(ErrorKind::InvalidArgument, format!("{count} bytes written where {left} are left")));
        }
        self.filled += count;
        Ok(())
    }

    /// The full buffer.
    ///
    /// # Errors
    /// `InvalidArgument` when bytes are missing.
    pub fn finish(self) -> Result<Buffer> {
        let size = self.buffer.as_ref().len();
        if self.filled != size {
            let message = format!("{} bytes written, {} were announced", Grouped(self.filled as u64), Grouped(size as u64));
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(self.buffer.freeze())
    }
}

impl Write for PresizedWriter {
    /// Writes what has room; nothing once it is full.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.rest();
        let count = bytes.len().min(rest.len());
        rest[..count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fills one pooled buffer after the other.
#[derive(Debug)]
pub struct ChunkedWriter {
    pool: BufferPool,
    chunk_bytes: usize,
    full: Vec<Buffer>,
    last: Option<PresizedWriter>,
    byte_count: usize,
}

impl ChunkedWriter {
    /// Chunks of `chunk_bytes` bytes; the last one may be shorter.
    pub fn new(pool: &BufferPool, chunk_bytes: usize) -> Self {
        Self { pool: pool.clone(), chunk_bytes: chunk_bytes.max(1), full: Vec::new(), last: None, byte_count: 0 }
    }

    /// Bytes written so far.
    pub fn byte_count(&self) -> usize {
        self.byte_count
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// `LimitExceeded` when the pool has no room; what was written before is still there.
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let mut chunk = match self.last.take() {
                Some(chunk) => chunk,
                None => PresizedWriter::new(&self.pool, self.chunk_bytes)?,
            };
            let rest = chunk.rest();
            let count = rest.len().min(bytes.len());
            rest[..count].copy_from_slice(&bytes[..count]);
            chunk.filled += count;
            self.byte_count += count;
            bytes = &bytes[count..];
            if chunk.rest().is_empty() {
                self.full.push(chunk.buffer.freeze());
            } else {
                self.last = Some(chunk);
            }
        }
        Ok(())
    }

    /// The chunks, none of them empty.
    pub fn into_chunks(mut self) -> Vec<Buffer> {
        if let Some(PresizedWriter { buffer, filled }) = self.last.take() {
            self.full.push(Buffer::from(buffer.freeze().slice(0..filled)));
        }
        self.full
    }
}

impl Write for ChunkedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes around the chunk size, where a paged stream once made an empty page (apache/pinot#14375).
    #[test]
    fn chunks_are_full_but_the_last_and_never_empty() {
        let pool = BufferPool::new(1 << 20);
        for size in [0, 1, 99, 100, 101, 199, 200, 201, 1_000] {
            for step in [1, 7, 100, 333] {
                let bytes: Vec<u8> = (0..size).map(|index| index as u8).collect();
                let mut writer = ChunkedWriter::new(&pool, 100);
                for part in bytes.chunks(step) {
                    writer.write_all(part).unwrap();
                }
                assert_eq!(writer.byte_count(), size);
                let chunks = writer.into_chunks();
                assert_eq!(chunks.len(), size.div_ceil(100));
                assert!(chunks.iter().rev().skip(1).all(|chunk| chunk.as_ref().len() == 100));
                assert_eq!(chunks.iter().flat_map(AsRef::as_ref).copied().collect::<Vec<u8>>(), bytes);
            }
        }
        assert_eq!(pool.usage().used_bytes, 0);
    }

    #[test]
    fn a_presized_buffer_takes_exactly_its_size() {
        let pool = BufferPool::new(1 << 20);
        let mut writer = PresizedWriter::new(&pool, 10).unwrap();
        writer.rest()[..4].copy_from_slice(b"0123");
        writer.advance(4).unwrap();
        assert_eq!(writer.advance(7).unwrap_err().to_string(), "7 bytes written where 6 are left");
        assert_eq!(writer.write(b"456789abc").unwrap(), 6);
        assert!(writer.write_all(b"x").is_err());
        assert_eq!(writer.finish().unwrap().as_ref(), b"0123456789");
        let error = PresizedWriter::new(&pool, 3).unwrap().finish().unwrap_err();
        assert_eq!(error.to_string(), "0 bytes written, 3 were announced");
    }

    #[test]
    fn a_pool_without_room_is_an_error_and_keeps_what_was_written() {
        let pool = BufferPool::new(5_000);
        let mut writer = ChunkedWriter::new(&pool, 4_096);
        let error = writer.put(&[7; 5_000]).unwrap_err();
        assert_eq!((error.kind(), writer.byte_count()), (ErrorKind::LimitExceeded, 4_096));
    }
}
