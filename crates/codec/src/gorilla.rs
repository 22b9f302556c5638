//! GORILLA: each value as the bits in which it differs from the one before.
//!
//! ```text
//! first value     W bits                                          W = 32 or 64; L = 5 or 6
//! then each       0                                               the value before, again
//!                 10 + bits between the kept lead and trail       of value ^ value before
//!                 11 + L bits lead + L bits (length - 1) + length bits, which set the kept lead and trail
//! end             a sentinel coded like a value, then the byte in the making, even when it is empty
//! ```
//!
//! The sentinel is MIN for integers and the canonical NaN for floats. Both can be real values, so pages are read by count
//! and never by their sentinel. Float bits pass as they are, NaN payloads included.
//!
//! Source of truth: `GorillaEncoderV2` family of apache/tsfile (Java). Fixtures `enc_gorilla_*`.

use tsloom_encoding::{CANONICAL_NAN_32, CANONICAL_NAN_64};
use tsloom_model::Result;

use crate::bits::{BitReader, BitWriter, PUT_MAX, Stage, WINDOW_BITS};
use crate::cell::Cell;
use crate::error::{corrupt, truncated};

/// The value that ends a stream.
pub(crate) trait Sentinel: Cell {
    /// Its bits.
    const END: u64;
}

impl Sentinel for i32 {
    const END: u64 = 1 << 31;
}

impl Sentinel for i64 {
    const END: u64 = 1 << 63;
}

impl Sentinel for f32 {
    const END: u64 = CANONICAL_NAN_32 as u64;
}

impl Sentinel for f64 {
    const END: u64 = CANONICAL_NAN_64;
}

/// Bits of the two fields after `11`.
pub(crate) const fn field_bits<T: Cell>() -> u32 {
    if T::WIDTH == 32 { 5 } else { 6 }
}

pub(crate) fn encode<T: Sentinel>(values: &[T], out: &mut Vec<u8>) {
    let mut stage = Stage::new();
    let mut bits = BitWriter::new(out, &mut stage);
    let mut kept = Kept::NONE;
    let mut previous = values.first().map_or(T::END, |value| value.to_bits());
    bits.put_long(previous, T::WIDTH);
    // Zeros of a run of equal values, put together.
    let mut same = 0;
    for value in values.get(1..).unwrap_or(&[]) {
        let xor = value.to_bits() ^ previous;
        if xor == 0 {
            same += 1;
            if same == PUT_MAX {
                bits.put(0, same);
                same = 0;
            }
            continue;
        }
        if same > 0 {
            bits.put(0, same);
            same = 0;
        }
        kept = put::<T>(xor, kept, &mut bits);
        previous = value.to_bits();
    }
    bits.put(0, same);
    if !values.is_empty() {
        match T::END ^ previous {
            0 => bits.put(0, 1),
            xor => _ = put::<T>(xor, kept, &mut bits),
        }
    }
    bits.end_with_byte();
}

/// The bit range that `10` uses again.
#[derive(Clone, Copy)]
struct Kept {
    /// Ones outside of the range.
    outside: u64,
    trail: u32,
    length: u32,
}

impl Kept {
    /// A range that nothing but zero fits.
    const NONE: Self = Self { outside: u64::MAX, trail: 0, length: 0 };
}

/// Appends a difference that is not zero.
#[inline(always)]
fn put<T: Cell>(xor: u64, kept: Kept, bits: &mut BitWriter<'_>) -> Kept {
    if xor & kept.outside == 0 {
        bits.put_pair(0b10, 2, xor >> kept.trail, kept.length);
        return kept;
    }
    let (lead, trail) = (xor.leading_zeros() - (64 - T::WIDTH), xor.trailing_zeros());
    let length = T::WIDTH - lead - trail;
    let field = field_bits::<T>();
    let head = 0b11 << (2 * field) | u64::from(lead) << field | u64::from(length - 1);
    bits.put_pair(head, 2 + 2 * field, xor >> trail, length);
    Kept { outside: !(u64::MAX >> (64 - length) << trail), trail, length }
}

/// Fills `out` from the stream that starts at byte `start`; what follows it is not looked at.
///
/// A value needs one window of 64 bits, rarely two. Runs of zeros are found by counting them, and the decoder stays in a
/// loop of its own while `10` follows `10`: the position then moves by a constant, so that loads of later values overlap.
pub(crate) fn decode<T: Cell>(bytes: &[u8], start: usize, out: &mut [T]) -> Result<()> {
    let Some((first, mut slots)) = out.split_first_mut() else {
        return Ok(());
    };
    let mut bits = BitReader::new(bytes, start);
    let mut previous = bits.take(T::WIDTH);
    *first = T::from_bits(previous);
    // Length 0 says that no `11` came yet.
    let (mut length, mut trail) = (0, 0);
    while !slots.is_empty() {
        let window = bits.window();
        if window >> 63 == 0 {
            let run = window.leading_zeros().min(WINDOW_BITS) as usize;
            let (same, rest) = slots.split_at_mut(run.min(slots.len()));
            same.fill(T::from_bits(previous));
            bits.skip(same.len() as u32);
            slots = rest;
        } else if window >> 62 == 0b10 {
            if length == 0 {
                return Err(corrupt(bits.byte_position(), "a value refers to a bit range before any was given"));
            }
            let done = same_range(&mut bits, &mut previous, length, trail, slots);
            slots = &mut slots[done..];
        } else {
            let field = field_bits::<T>();
            let lead = (window << 2 >> (64 - field)) as u32;
            length = (window << (2 + field) >> (64 - field)) as u32 + 1;
            if lead + length > T::WIDTH {
                return Err(corrupt(bits.byte_position(), format!("{lead} leading zeros and {length} bits in {}", T::WIDTH)));
            }
            trail = T::WIDTH - lead - length;
            let head = 2 + 2 * field;
            let payload = if length <= WINDOW_BITS - head {
                bits.skip(head + length);
                window << head >> (64 - length)
            } else {
                bits.skip(head);
                bits.take(length)
            };
            previous ^= payload << trail;
            slots[0] = T::from_bits(previous);
            slots = &mut slots[1..];
        }
    }
    bits.check()
}

/// Values of code `10`, one after the other while there are more; at least one. Gives their number.
#[inline(always)]
fn same_range<T: Cell>(bits: &mut BitReader<'_>, previous: &mut u64, length: u32, trail: u32, slots: &mut [T]) -> usize {
    let mut value = *previous;
    let mut done = 0;
    if length <= WINDOW_BITS - 2 {
        let mut window = bits.window();
        for slot in slots {
            if window >> 62 != 0b10 {
                break;
            }
            value ^= window << 2 >> (64 - length) << trail;
            *slot = T::from_bits(value);
            done += 1;
            bits.skip(2 + length);
            window = bits.window();
        }
    } else if length <= 62 {
        let mut window = bits.window64();
        for slot in slots {
            if window >> 62 != 0b10 {
                break;
            }
            value ^= window << 2 >> (64 - length) << trail;
            *slot = T::from_bits(value);
            done += 1;
            bits.skip(2 + length);
            window = bits.window64();
        }
    } else {
        for slot in slots {
            if bits.window() >> 62 != 0b10 {
                break;
            }
            bits.skip(2);
            value ^= bits.window64() >> (64 - length) << trail;
            *slot = T::from_bits(value);
            done += 1;
            bits.skip(length);
        }
    }
    *previous = value;
    done
}

/// Appends `count` values; see [`decode`].
pub(crate) fn decode_to<T: Cell>(bytes: &[u8], start: usize, count: usize, out: &mut Vec<T>) -> Result<()> {
    // One bit a value is the least there can be.
    let least = (T::WIDTH as usize - 1).saturating_add(count).div_ceil(8);
    if bytes.len().saturating_sub(start) < least {
        return Err(truncated(start, least, bytes.len()));
    }
    let from = out.len();
    out.resize(from + count, T::default());
    decode(bytes, start, &mut out[from..])
}
