//! LZ4: a raw block.
//!
//! Written by the C library at its default level, as libtsfile does, so that pages are no larger than its; lz4_flex has half
//! the table and finds less. Read by lz4_flex, which is safe and on small pages the faster one.

use std::io;

use lz4_flex::block::decompress_into as decompress_block;
use tsloom_model::{Compression, Result};

use super::{damaged, room};
use crate::error::{corrupt, invalid, truncated};

/// `staged` is room for the block, used again from page to page: only what it holds in the end is appended.
pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, staged: &mut Vec<u8>) -> Result<()> {
    let too_large = |error: io::Error| invalid("a page is too large for LZ4").with_source(error);
    let most = lz4::block::compress_bound(input.len()).map_err(too_large)?;
    let staged = room(staged, most);
    let size = lz4::block::compress_to_buffer(input, None, false, staged).map_err(too_large)?;
    out.extend_from_slice(&staged[..size]);
    Ok(())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    decompress_block(input, out).map_err(|error| damaged(Compression::Lz4, error))
}

/// Bytes that are copied at once where there is room for them; more are copied than count, and written over by what follows.
const WIDE: usize = 16;

/// Fills `out` with the first bytes of a block, which may have more.
pub(super) fn decompress_start(input: &[u8], out: &mut [u8]) -> Result<()> {
    let mut read = 0;
    let mut done = 0;
    while done < out.len() {
        let token = *input.get(read).ok_or_else(|| truncated(read, 1, input.len()))?;
        read += 1;
        let literals = length(input, &mut read, usize::from(token >> 4))?;
        let wanted = literals.min(out.len() - done);
        let from = input.get(read..).filter(|rest| rest.len() >= wanted);
        let from = from.ok_or_else(|| truncated(read, wanted, input.len()))?;
        match (out[done..].first_chunk_mut::<WIDE>(), from.first_chunk::<WIDE>()) {
            (Some(into), Some(from)) if wanted <= WIDE => *into = *from,
            _ => out[done..done + wanted].copy_from_slice(&from[..wanted]),
        }
        (read, done) = (read + wanted, done + wanted);
        if done == out.len() {
            break;
        }
        let offset_at = read;
        let offset = input.get(read..).and_then(<[u8]>::first_chunk).ok_or_else(|| truncated(read, 2, input.len()))?;
        let offset = usize::from(u16::from_le_bytes(*offset));
        read += 2;
        if offset == 0 || offset > done {
            return Err(corrupt(offset_at, format!("LZ4 data is damaged: a match {offset} bytes back from byte {done}")));
        }
        let matched = length(input, &mut read, usize::from(token & 0xf))?.saturating_add(MATCH_MIN);
        repeat(out, done, offset, matched.min(out.len() - done));
        done += matched.min(out.len() - done);
    }
    Ok(())
}

/// The shortest match.
const MATCH_MIN: usize = 4;

/// A length whose first four bits are these: 15 says that bytes follow, each adding up to 255.
#[inline(always)]
fn length(input: &[u8], read: &mut usize, nibble: usize) -> Result<usize> {
    let mut length = nibble;
    let mut goes_on = nibble == 15;
    while goes_on {
        let byte = *input.get(*read).ok_or_else(|| truncated(*read, 1, input.len()))?;
        *read += 1;
        length = length.saturating_add(usize::from(byte));
        goes_on = byte == 255;
    }
    Ok(length)
}

/// Writes `count` bytes at `at`, each the same as the one `offset` bytes before it.
#[inline(always)]
fn repeat(out: &mut [u8], at: usize, offset: usize, count: usize) {
    let from = at - offset;
    if offset >= WIDE && count <= WIDE && at + WIDE <= out.len() {
        out.copy_within(from..from + WIDE, at);
    } else if offset == 1 {
        let byte = out[from];
        out[at..at + count].fill(byte);
    } else {
        // What was copied can be copied in turn: pieces double.
        let mut copied = 0;
        while copied < count {
            let piece = (offset + copied).min(count - copied);
            out.copy_within(from..from + piece, at + copied);
            copied += piece;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::CompressScratch;

    /// Whatever the block, its first bytes are those of the whole; cut or damaged ones are errors or bytes, not panics.
    #[test]
    fn the_start_of_a_block_is_the_start_of_the_whole() {
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) as usize % below.max(1)
        };
        let mut scratch = CompressScratch::default();
        for round in 1..300 {
            let mut plain = Vec::new();
            while plain.len() < round * 13 {
                match random(3) {
                    0 => (0..random(40)).for_each(|_| plain.push(random(256) as u8)),
                    1 => plain.resize(plain.len() + random(700), random(4) as u8),
                    _ => {
                        let start = plain.len().saturating_sub(random(60));
                        (0..random(90)).for_each(|index| plain.extend(plain.get(start + index).copied()));
                    }
                }
            }
            let mut block = Vec::new();
            compress(&plain, &mut block, &mut scratch.staged).unwrap();
            for size in [0, 1, plain.len() / 3, plain.len().saturating_sub(1), plain.len(), random(plain.len())] {
                let mut out = vec![0xa5; size];
                decompress_start(&block, &mut out).unwrap();
                assert_eq!(out, plain[..size], "{size} of {}", plain.len());
            }
            let mut longer = vec![0; plain.len() + 1];
            assert!(decompress_start(&block, &mut longer).is_err());
            for _ in 0..20 {
                let mut damaged = block[..random(block.len() + 1)].to_vec();
                if let Some(byte) = damaged.len().checked_sub(1).map(|_| random(damaged.len())) {
                    damaged[byte] = random(256) as u8;
                }
                let _ = decompress_start(&damaged, &mut longer);
            }
        }
    }
}
