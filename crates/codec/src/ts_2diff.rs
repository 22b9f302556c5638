//! TS_2DIFF: differences above their minimum, bit-packed in blocks of up to 129 values.
//!
//! ```text
//! offset  size            field                       blocks follow each other to the end of the column
//! 0       4               count of differences, i32   0..=128; the block holds count + 1 values
//! 4       4               width w of one, i32         0..=32 (i32) or 0..=64 (i64)
//! 8       4 or 8          minimum m of the differences
//! ..      4 or 8          first value
//! ..      ceil(count*w/8) differences minus m, w bits each, high bit first, zero padded
//! ```
//!
//! value\[i\] = value\[i - 1\] + m + packed\[i - 1\], wrapping at 32 or 64 bits. Values 0, 129, 258, ... are first values.
//! In a block of one value m means nothing: we write 0 as libtsfile does, Java writes MAX. Pad bits are written as zeros and
//! not looked at (Java leaves old bits there).
//!
//! Source of truth: `DeltaBinaryEncoder` and `DeltaBinaryDecoder` of apache/tsfile (Java). Fixtures `enc_ts_2diff_*`.

use std::ops::Range;

use bytes::BufMut;
use tsloom_encoding::WireReader;
use tsloom_model::Result;

use crate::cell::Int;
use crate::dispatch::append_sums;
use crate::error::{corrupt, trailing, truncated, wrong_count};
use crate::pack::{PACK_MAX, PackStage, Packed, pack};

/// Differences of a full block.
const DIFFS: usize = PACK_MAX;

/// Differences of one block and their packed form, used again from block to block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    diffs: [i64; DIFFS],
    stage: PackStage,
}

impl Default for Block {
    #[inline]
    fn default() -> Self {
        Self { diffs: [0; DIFFS], stage: PackStage::default() }
    }
}

pub(crate) fn encode<T: Int>(values: &[T], block: &mut Block, out: &mut Vec<u8>) {
    for values in values.chunks(DIFFS + 1) {
        encode_block(values, block, out);
    }
}

fn encode_block<T: Int>(values: &[T], block: &mut Block, out: &mut Vec<u8>) {
    let [first, rest @ ..] = values else {
        return;
    };
    // Differences of both widths as i64: what is above the minimum then needs no wrapping at 32 bits.
    let diffs = &mut block.diffs[..rest.len()];
    for ((diff, value), previous) in diffs.iter_mut().zip(rest).zip(values) {
        *diff = value.wrapping_diff(*previous).widen();
    }
    let minimum = minimum(diffs);
    let mut any = 0;
    for diff in &mut *diffs {
        *diff = diff.wrapping_sub(minimum);
        any |= *diff as u64;
    }
    let width = 64 - any.leading_zeros();

    out.put_u32(rest.len() as u32);
    out.put_u32(width);
    out.put_int(minimum, T::BYTES);
    out.put_uint(first.to_bits(), T::BYTES);
    pack(diffs, width, &mut block.stage, out);
}

/// The smallest, in four chains; 0 of none.
fn minimum(diffs: &[i64]) -> i64 {
    let mut lanes = [diffs.first().copied().unwrap_or(0); 4];
    let (quads, rest) = diffs.as_chunks::<4>();
    for quad in quads {
        for (lane, diff) in lanes.iter_mut().zip(quad) {
            *lane = (*lane).min(*diff);
        }
    }
    lanes.iter().chain(rest).fold(lanes[0], |minimum, diff| minimum.min(*diff))
}

/// Appends those of `count` values that are `wanted`; `bytes` from `start` on are the whole column. Blocks without a wanted
/// value are checked and stepped over.
pub(crate) fn decode<T: Packed>(bytes: &[u8], start: usize, count: usize, wanted: Range<usize>, out: &mut Vec<T>) -> Result<()> {
    let mut wire = WireReader::with_base(bytes.get(start..).unwrap_or(&[]), start);
    if count > most_values::<T>(wire.remaining()) {
        return Err(wrong_count(start, count, format_args!("{} at most", most_values::<T>(wire.remaining()))));
    }
    decode_blocks(&mut wire, count, count, wanted, out)?;
    if !wire.is_empty() {
        return Err(trailing(wire.position(), count, wire.remaining()));
    }
    Ok(())
}

/// [`decode`] of a column of which only the beginning is there: blocks behind the wanted values are not looked at.
pub(crate) fn decode_start<T: Packed>(bytes: &[u8], count: usize, wanted: Range<usize>, out: &mut Vec<T>) -> Result<()> {
    decode_blocks(&mut WireReader::new(bytes), count, wanted.end, wanted, out)
}

/// Bytes that the first `count` values take at most, to the end of their block.
pub(crate) fn start_size_max<T: Int>(count: usize) -> usize {
    count.div_ceil(DIFFS + 1).saturating_mul(8 + 2 * T::BYTES + DIFFS * T::BYTES)
}

/// Takes blocks until the first `end` of `count` values are behind.
fn decode_blocks<T: Packed>(
    wire: &mut WireReader<'_>,
    count: usize,
    end: usize,
    wanted: Range<usize>,
    out: &mut Vec<T>,
) -> Result<()> {
    // What is unpacked last goes to the end of its group of eight.
    out.reserve(wanted.len() + 8);
    let mut done = 0;
    while done < end {
        let block = BlockRef::read::<T>(wire)?;
        let block_end = done + block.diffs + 1;
        if block_end > count {
            let more = format_args!("more: a block of {} where {} are left", block.diffs + 1, count - done);
            return Err(wrong_count(block.at, count, more));
        }
        // Where the wanted values lie in this block.
        let (from, to) = (wanted.start.clamp(done, block_end) - done, wanted.end.clamp(done, block_end) - done);
        if from < to {
            block.append(from..to, out);
        }
        done = block_end;
    }
    Ok(())
}

/// The most values that so many bytes can hold: full blocks of equal differences.
fn most_values<T: Int>(size: usize) -> usize {
    (size / (8 + 2 * T::BYTES)).saturating_mul(DIFFS + 1)
}

/// Number of values in a whole column, from the block headers alone.
pub(crate) fn count<T: Int>(bytes: &[u8]) -> Result<usize> {
    let mut wire = WireReader::new(bytes);
    let mut count = 0;
    while !wire.is_empty() {
        count += BlockRef::read::<T>(&mut wire)?.diffs + 1;
    }
    Ok(count)
}

/// A block whose numbers are checked against each other.
struct BlockRef<'a> {
    /// Position of the header.
    at: usize,
    diffs: usize,
    width: u32,
    minimum: u64,
    first: u64,
    /// The packed bytes, and what follows them.
    packed: &'a [u8],
}

impl<'a> BlockRef<'a> {
    #[inline]
    fn read<T: Int>(wire: &mut WireReader<'a>) -> Result<Self> {
        let at = wire.position();
        let (diffs, width) = (wire.u32()?, wire.u32()?);
        if diffs as usize > DIFFS {
            return Err(corrupt(at, format!("a block of {} differences, {DIFFS} at most", diffs as i32)));
        }
        if width > T::WIDTH {
            return Err(corrupt(at + 4, format!("differences of {} bits in a {}-bit type", width as i32, T::WIDTH)));
        }
        let (minimum, first) =
            if T::WIDTH == 32 { (u64::from(wire.u32()?), u64::from(wire.u32()?)) } else { (wire.u64()?, wire.u64()?) };
        let size = (diffs * width).div_ceil(8) as usize;
        if size > wire.remaining() {
            return Err(truncated(wire.position(), size, wire.position() + wire.remaining()));
        }
        let packed = wire.rest();
        wire.skip(size)?;
        Ok(Self { at, diffs: diffs as usize, width, minimum, first, packed })
    }

    /// Appends the values `wanted` of the block.
    fn append<T: Packed>(&self, wanted: Range<usize>, out: &mut Vec<T>) {
        let (first, minimum) = (T::from_bits(self.first), T::from_bits(self.minimum));
        let start = out.len();
        out.push(first);
        // Sums cannot begin in the middle.
        let count = wanted.end - 1;
        if self.width == 0 {
            append_line(first, minimum, count, out);
        } else {
            append_sums(self.packed, self.width, first, minimum, count, out);
        }
        if wanted.start > 0 {
            out.drain(start..start + wanted.start);
        }
    }
}

/// Appends `first` plus once, twice, three times ... `step`.
fn append_line<T: Int>(first: T, step: T, count: usize, out: &mut Vec<T>) {
    let mut value = first;
    out.extend((0..count).map(|_| {
        value = value.wrapping_sum(step);
        value
    }));
}
