//! Chunks of one mailbox on their way to a whole block: [`Assembly`].
//!
//! A block is whole when its chunks `0..chunk_count` came in order under one `block_seq`. The count may be left open (0) until the
//! last chunk. Anything else is an error, so a block can never be made of the pieces of two, nor of a piece and a control frame: whatever
//! ends a mailbox drops what is here ([`Assembly::reset`]).

use tsloom_model::{Error, ErrorKind, Grouped, Result};

use crate::frame::{Frame, FrameHead, FrameKind};
use crate::pool::Buffer;

/// The payload of a whole block, in one or more buffers; borrowed from the [`Assembly`] until its next chunk.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    parts: &'a [Buffer],
}

impl<'a> Chunks<'a> {
    /// The buffers in order, as they came.
    pub fn new(parts: &'a [Buffer]) -> Self {
        Self { parts }
    }

    /// The buffers in order.
    pub fn parts(self) -> &'a [Buffer] {
        self.parts
    }

    /// Bytes in all buffers.
    pub fn byte_count(self) -> usize {
        self.parts.iter().map(|part| part.as_ref().len()).sum()
    }
}

/// Collects the chunks of one mailbox.
#[derive(Debug)]
pub struct Assembly {
    parts: Vec<Buffer>,
    byte_count: usize,
    /// Of the block that is being collected, or of the next one.
    block_seq: u32,
    chunk_count: u16,
    whole: bool,
    block_bytes_max: usize,
}

impl Assembly {
    /// Expects block 0. A block of more than `block_bytes_max` bytes is an error.
    pub fn new(block_bytes_max: usize) -> Self {
        Self { parts: Vec::new(), byte_count: 0, block_seq: 0, chunk_count: 0, whole: false, block_bytes_max }
    }

    /// Takes a chunk in. The block, when it is whole with it; its buffers stay here until the next call.
    ///
    /// # Errors
    /// `Corrupt` when the frame is not the chunk that has to come next, `LimitExceeded` when the block becomes too large. The mailbox is of
    /// no more use then.
    pub fn push(&mut self, frame: Frame) -> Result<Option<Chunks<'_>>> {
        if self.whole {
            self.start_next();
        }
        self.check(frame.head)?;
        let byte_count = self.byte_count.saturating_add(frame.payload.as_ref().len());
        if byte_count > self.block_bytes_max {
            let message = format!(
                "block {} has {} bytes or more, past the limit block_bytes_max = {}",
                self.block_seq,
                Grouped(byte_count as u64),
                Grouped(self.block_bytes_max as u64)
            );
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        self.byte_count = byte_count;
        self.chunk_count = frame.head.chunk_count;
        self.parts.push(frame.payload);
        self.whole = usize::from(self.chunk_count) == self.parts.len();
        Ok(self.whole.then_some(Chunks { parts: &self.parts }))
    }

    /// Drops the chunks of an unfinished block; the sender counts on with the next block number. True when there were any.
    pub fn reset(&mut self) -> bool {
        let partial = !self.whole && !self.parts.is_empty();
        if partial || self.whole {
            self.start_next();
        }
        partial
    }

    /// True between the first and the last chunk of a block.
    pub fn is_partial(&self) -> bool {
        !self.whole && !self.parts.is_empty()
    }

    /// Gives the buffers of the whole block away and takes `empty` in their place, so that neither side allocates.
    pub fn swap_parts(&mut self, empty: &mut Vec<Buffer>) {
        std::mem::swap(&mut self.parts, empty);
        self.start_next();
    }

    fn start_next(&mut self) {
        self.parts.clear();
        (self.byte_count, self.chunk_count, self.whole) = (0, 0, false);
        self.block_seq = self.block_seq.wrapping_add(1);
    }

    fn check(&self, head: FrameHead) -> Result<()> {
        let index = self.parts.len();
        let refused = if head.kind != FrameKind::Data {
            format!("a frame of kind {:?} is no chunk", head.kind)
        } else if head.block_seq != self.block_seq {
            format!("chunk of block {}, expected block {}", head.block_seq, self.block_seq)
        } else if usize::from(head.chunk_index) != index {
            format!("chunk {} of block {}, expected chunk {index}", head.chunk_index, self.block_seq)
        } else if self.chunk_count != 0 && head.chunk_count != self.chunk_count {
            format!("block {} of {} chunks, before of {}", self.block_seq, head.chunk_count, self.chunk_count)
        } else if head.chunk_count != 0 && head.chunk_index >= head.chunk_count {
            format!("chunk {} of a block of {} chunks", head.chunk_index, head.chunk_count)
        } else if head.chunk_index == u16::MAX {
            format!("block {} has more than 65,535 chunks", self.block_seq)
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Corrupt, refused))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn chunk(block_seq: u32, chunk_index: u16, chunk_count: u16) -> Frame {
        let head = FrameHead { kind: FrameKind::Data, mailbox: 1, block_seq, chunk_index, chunk_count };
        Frame { head, payload: Bytes::from(vec![chunk_index as u8; 10]).into() }
    }

    fn push(assembly: &mut Assembly, frame: Frame) -> Result<Option<usize>> {
        Ok(assembly.push(frame)?.map(Chunks::byte_count))
    }

    #[test]
    fn blocks_come_one_after_the_other() {
        let mut assembly = Assembly::new(100);
        assert_eq!(push(&mut assembly, chunk(0, 0, 1)).unwrap(), Some(10));
        assert_eq!(push(&mut assembly, chunk(1, 0, 3)).unwrap(), None);
        assert_eq!(push(&mut assembly, chunk(1, 1, 3)).unwrap(), None);
        assert!(assembly.is_partial());
        assert_eq!(push(&mut assembly, chunk(1, 2, 3)).unwrap(), Some(30));
        assert_eq!(push(&mut assembly, chunk(2, 0, 0)).unwrap(), None); // the count comes with the last one
        assert_eq!(push(&mut assembly, chunk(2, 1, 2)).unwrap(), Some(20));
        assert_eq!(push(&mut assembly, chunk(3, 0, 0)).unwrap(), None);
        assert!(assembly.reset() && !assembly.is_partial());
        assert_eq!(push(&mut assembly, chunk(4, 0, 1)).unwrap(), Some(10));
        assert!(!assembly.reset());
        assert_eq!(push(&mut assembly, chunk(5, 0, 1)).unwrap(), Some(10));
    }

    #[test]
    fn a_chunk_out_of_place_is_refused() {
        let refused = |frames: &[(u32, u16, u16)]| {
            let mut assembly = Assembly::new(25);
            let (last, first) = frames.split_last().unwrap();
            for &(block, index, count) in first {
                assert_eq!(push(&mut assembly, chunk(block, index, count)).unwrap(), None);
            }
            push(&mut assembly, chunk(last.0, last.1, last.2)).unwrap_err().to_string()
        };
        assert_eq!(refused(&[(1, 0, 1)]), "chunk of block 1, expected block 0");
        assert_eq!(refused(&[(0, 1, 2)]), "chunk 1 of block 0, expected chunk 0");
        assert_eq!(refused(&[(0, 0, 2), (1, 0, 2)]), "chunk of block 1, expected block 0");
        assert_eq!(refused(&[(0, 0, 2), (0, 0, 2)]), "chunk 0 of block 0, expected chunk 1");
        assert_eq!(refused(&[(0, 0, 3), (0, 1, 2)]), "block 0 of 2 chunks, before of 3");
        assert_eq!(refused(&[(0, 0, 0), (0, 1, 1)]), "chunk 1 of a block of 1 chunks");
        let large = "block 0 has 30 bytes or more, past the limit block_bytes_max = 25";
        assert_eq!(refused(&[(0, 0, 9), (0, 1, 9), (0, 2, 9)]), large);
        let mut assembly = Assembly::new(25);
        let mut ping = chunk(0, 0, 1);
        ping.head.kind = FrameKind::Ping;
        assert_eq!(push(&mut assembly, ping).unwrap_err().to_string(), "a frame of kind Ping is no chunk");
    }
}
