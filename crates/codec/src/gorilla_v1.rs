//! GORILLA_V1: an early XOR form of Java for FLOAT and DOUBLE. Read only.
//!
//! ```text
//! first value     4 or 8 bytes, LITTLE-endian
//! then each       0                                         the value before, again
//!                 10 + bits between lead and trail          of the *value before itself*, not of a difference
//!                 11 + 5 or 6 bits lead + 6 or 7 bits length + length bits       of value ^ value before
//! end             a NaN coded like a value, zero padded to a byte
//! ```
//!
//! Java's reader stops at the first NaN and so loses what follows one in the data. The bytes hold the values: this reader
//! counts and returns them.
//!
//! Source of truth: `SinglePrecisionDecoderV1` and `DoublePrecisionDecoderV1` of apache/tsfile (Java).
//! Fixtures `enc_gorilla_v1_*`.

use tsloom_model::Result;

use crate::bits::BitReader;
use crate::cell::Cell;
use crate::error::{corrupt, truncated};
use crate::gorilla::field_bits;

pub(crate) fn decode<T: Cell>(bytes: &[u8], count: usize, out: &mut Vec<T>) -> Result<()> {
    let least = (count - 1).div_ceil(8).saturating_add(T::BYTES);
    if bytes.len() < least {
        return Err(truncated(0, least, bytes.len()));
    }
    let mut value = bytes[..T::BYTES].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    let mut bits = BitReader::new(bytes, T::BYTES);
    out.reserve(count);
    out.push(T::from_bits(value));
    let field = field_bits::<T>();
    for _ in 1..count {
        let at = bits.byte_position();
        if bits.take(1) == 1 {
            let (lead, length) = if bits.take(1) == 0 {
                let lead = value.leading_zeros() - (64 - T::WIDTH);
                (lead, T::WIDTH.saturating_sub(lead + value.trailing_zeros()))
            } else {
                (bits.take(field) as u32, bits.take(field + 1) as u32)
            };
            if length == 0 || lead + length > T::WIDTH {
                return Err(corrupt(at, format!("{lead} leading zeros and {length} bits in {}", T::WIDTH)));
            }
            value ^= bits.take(length) << (T::WIDTH - lead - length);
        }
        out.push(T::from_bits(value));
    }
    bits.check()
}
