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

use crate::bits::{BitReader, BitWriter};
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
    let mut bits = BitWriter::new(out);
    let mut coder = Coder { previous: 0, lead: u32::MAX, trail: 0, length: 0 };
    let mut values = values.iter().map(|value| value.to_bits());
    let first = values.next().unwrap_or(T::END);
    bits.put_long(first, T::WIDTH);
    coder.previous = first;
    for value in values {
        coder.put::<T>(value, &mut bits);
    }
    coder.put::<T>(T::END, &mut bits);
    bits.end_with_byte();
}

struct Coder {
    previous: u64,
    /// Leading zeros that `10` leaves out; more than there can be before the first `11`.
    lead: u32,
    trail: u32,
    length: u32,
}

impl Coder {
    #[inline(always)]
    fn put<T: Cell>(&mut self, value: u64, bits: &mut BitWriter<'_>) {
        let xor = value ^ self.previous;
        self.previous = value;
        if xor == 0 {
            bits.put(0, 1);
            return;
        }
        let (lead, trail) = (xor.leading_zeros() - (64 - T::WIDTH), xor.trailing_zeros());
        if lead >= self.lead && trail >= self.trail {
            let payload = xor >> self.trail;
            if self.length <= 54 {
                bits.put(0b10 << self.length | payload, 2 + self.length);
            } else {
                bits.put(0b10, 2);
                bits.put_long(payload, self.length);
            }
            return;
        }
        let length = T::WIDTH - lead - trail;
        (self.lead, self.trail, self.length) = (lead, trail, length);
        let field = field_bits::<T>();
        let head = 0b11 << (2 * field) | u64::from(lead) << field | u64::from(length - 1);
        bits.put(head, 2 + 2 * field);
        bits.put_long(xor >> trail, length);
    }
}

/// Fills `out` from the stream at the start of `bytes`; what follows is not looked at.
pub(crate) fn decode<T: Cell>(bytes: &[u8], start: usize, out: &mut [T]) -> Result<()> {
    let Some((first, rest)) = out.split_first_mut() else {
        return Ok(());
    };
    let mut bits = BitReader::new(bytes, start);
    // One bit a value is the least there can be.
    if bits.remaining() < T::WIDTH as usize + rest.len() {
        return Err(truncated(start, (T::WIDTH as usize + rest.len()).div_ceil(8), bytes.len()));
    }
    let mut previous = bits.take(T::WIDTH);
    *first = T::from_bits(previous);
    // Length 0 says that no `11` came yet.
    let (mut length, mut trail) = (0, 0);
    for slot in rest {
        let window = bits.window();
        if window >> 63 == 0 {
            bits.skip(1);
        } else if window >> 62 == 0b10 {
            if length == 0 {
                return Err(corrupt(bits.byte_position(), "a value refers to a bit range before any was given"));
            }
            bits.skip(2);
            previous ^= bits.take(length) << trail;
        } else {
            let field = field_bits::<T>();
            let lead = (window << 2 >> (64 - field)) as u32;
            length = (window << (2 + field) >> (64 - field)) as u32 + 1;
            if lead + length > T::WIDTH {
                return Err(corrupt(bits.byte_position(), format!("{lead} leading zeros and {length} bits in {}", T::WIDTH)));
            }
            trail = T::WIDTH - lead - length;
            bits.skip(2 + 2 * field);
            previous ^= bits.take(length) << trail;
        }
        *slot = T::from_bits(previous);
    }
    bits.check()
}

/// Appends `count` values; see [`decode`].
pub(crate) fn decode_to<T: Cell>(bytes: &[u8], start: usize, count: usize, out: &mut Vec<T>) -> Result<()> {
    let bits = bytes.len().saturating_sub(start).saturating_mul(8);
    if count > 0 && bits < (T::WIDTH as usize - 1).saturating_add(count) {
        return Err(truncated(start, (T::WIDTH as usize - 1).saturating_add(count).div_ceil(8), bytes.len()));
    }
    let from = out.len();
    out.resize(from + count, T::default());
    decode(bytes, start, &mut out[from..])
}
