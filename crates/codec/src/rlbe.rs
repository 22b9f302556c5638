//! RLBE: differences in runs of equal bit length.
//!
//! ```text
//! 32 bits  values of the block, up to 10,000            blocks follow each other, each padded to a byte
//! segments until so many values are there:
//!   6 or 7 bits   bit length w of each difference       6 for 32-bit types, 7 for 64-bit ones
//!   Fibonacci     number of differences n               terms 1, 2, 3, 5, ..., the lowest first, then one more 1
//!   n x w bits    the differences; the top bit of a full width is left out as 0 and means 1
//! ```
//!
//! The first difference is the first value; later ones wrap. 0 has length 1. A difference of full width has its top bit set
//! by the meaning of width, so nothing is lost.
//!
//! FLOAT and DOUBLE have two meanings that no byte tells apart. New (libtsfile, Java from 2025 on): differences of the bits,
//! as for integers. Old (Java up to October 2024): the values are subtracted as floats and the bits of the results stored.
//!
//! Source of truth: `IntRLBE`, `LongRLBE`, `FloatRLBE` and `DoubleRLBE` of apache/tsfile (Java). Fixtures `enc_rlbe_*`.

use tsloom_model::Result;

use crate::bits::{BitReader, BitWriter, Stage};
use crate::cell::Cell;
use crate::error::{corrupt, trailing, truncated, wrong_count};

/// Values of a full block.
const BLOCK: usize = 10_000;

/// 1, 2, 3, 5, ...: enough for runs of any block that is read.
const FIBONACCI: [u64; 46] = {
    let mut terms = [1; 46];
    terms[1] = 2;
    let mut index = 2;
    while index < terms.len() {
        terms[index] = terms[index - 1] + terms[index - 2];
        index += 1;
    }
    terms
};

const fn length_bits<T: Cell>() -> u32 {
    if T::WIDTH == 32 { 6 } else { 7 }
}

/// `WIDTH` ones.
const fn mask<T: Cell>() -> u64 {
    u64::MAX >> (64 - T::WIDTH)
}

pub(crate) fn encode<T: Cell>(values: &[T], diffs: &mut Vec<u64>, out: &mut Vec<u8>) {
    for block in values.chunks(BLOCK) {
        diffs.clear();
        let mut before = 0;
        diffs.extend(block.iter().map(|value| {
            let bits = value.to_bits();
            let diff = bits.wrapping_sub(before) & mask::<T>();
            before = bits;
            diff
        }));
        let mut stage = Stage::new();
        let mut bits = BitWriter::new(out, &mut stage);
        bits.put(block.len() as u64, 32);
        for run in diffs.chunk_by(|a, b| length_of(*a) == length_of(*b)) {
            let length = length_of(run[0]);
            bits.put(u64::from(length), length_bits::<T>());
            put_fibonacci(run.len() as u64, &mut bits);
            let implied = if length == T::WIDTH { 1 << (T::WIDTH - 1) } else { 0 };
            for diff in run {
                bits.put_long(diff & !implied, length);
            }
        }
        bits.end();
    }
}

fn length_of(diff: u64) -> u32 {
    64 - (diff | 1).leading_zeros()
}

fn put_fibonacci(number: u64, bits: &mut BitWriter<'_>) {
    let highest = FIBONACCI.iter().rposition(|term| *term <= number).unwrap_or(0);
    let mut code = 0;
    let mut rest = number;
    for (index, term) in FIBONACCI[..=highest].iter().enumerate().rev() {
        if *term <= rest {
            rest -= term;
            code |= 1_u64 << (highest - index);
        }
    }
    bits.put(code << 1 | 1, highest as u32 + 2);
}

/// Appends `count` values; `add` gives the next value from the bits before and the stored bits.
pub(crate) fn decode<T: Cell>(bytes: &[u8], count: usize, out: &mut Vec<T>, add: impl Fn(T, u64) -> T) -> Result<()> {
    let mut start = 0;
    let mut left = count;
    while left > 0 {
        let mut bits = BitReader::new(bytes, start);
        if bits.remaining() < 32 {
            return Err(truncated(start, 4, bytes.len()));
        }
        let block = bits.take(32) as usize;
        if block == 0 || block > left {
            return Err(wrong_count(start, count, format_args!("a block of {block} where {left} are left")));
        }
        // One bit a value is the least there can be.
        if bits.remaining() < block {
            return Err(truncated(bits.byte_position(), block.div_ceil(8), bytes.len()));
        }
        decode_block(&mut bits, block, out, &add)?;
        left -= block;
        start = bits.bit_position().div_ceil(8);
    }
    if start < bytes.len() {
        return Err(trailing(start, count, bytes.len() - start));
    }
    Ok(())
}

fn decode_block<T: Cell>(bits: &mut BitReader<'_>, block: usize, out: &mut Vec<T>, add: &impl Fn(T, u64) -> T) -> Result<()> {
    let mut left = block;
    let mut value = T::default();
    let mut is_first = true;
    out.reserve(block);
    while left > 0 {
        let at = bits.byte_position();
        let length = bits.take(length_bits::<T>()) as u32;
        if length == 0 || length > T::WIDTH {
            return Err(corrupt(at, format!("differences of {length} bits in a {}-bit type", T::WIDTH)));
        }
        let run = take_fibonacci(bits, left)?;
        if run.saturating_mul(length as usize) > bits.remaining() {
            return Err(truncated(bits.byte_position(), run.saturating_mul(length as usize).div_ceil(8), bits.size()));
        }
        let implied = if length == T::WIDTH { 1 << (T::WIDTH - 1) } else { 0 };
        out.extend((0..run).map(|_| {
            let diff = bits.take(length) | implied;
            value = if is_first { T::from_bits(diff) } else { add(value, diff) };
            is_first = false;
            value
        }));
        left -= run;
    }
    bits.check()
}

/// A number of 1..=`most`.
fn take_fibonacci(bits: &mut BitReader<'_>, most: usize) -> Result<usize> {
    let at = bits.byte_position();
    let mut number = 0;
    let mut was_set = false;
    for term in FIBONACCI {
        let is_set = bits.take(1) == 1;
        if is_set && was_set {
            return Ok(number as usize);
        }
        number += if is_set { term } else { 0 };
        if number > most as u64 {
            break;
        }
        was_set = is_set;
    }
    bits.check()?;
    Err(corrupt(at, format!("a run of {number} differences or more where {most} values are left")))
}

/// Differences of the bits, wrapping.
pub(crate) fn add_bits<T: Cell>(before: T, diff: u64) -> T {
    T::from_bits(before.to_bits().wrapping_add(diff))
}
