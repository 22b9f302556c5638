//! SPRINTZ: blocks of nine values, the last eight as errors of a prediction.
//!
//! ```text
//! u8  width w of an error, 0..=64           blocks follow each other, then at most one tail
//! first value: INT32 uvar, else 4 or 8 bytes
//! w bytes: eight errors of w bits, high bit first
//!
//! u8  80 | k                                tail of k = 1..=8 values; none when nothing is left
//! integers: RLE segment; floats: GORILLA stream with its sentinel
//! ```
//!
//! An error e is stored as -2e when it is not above 0, else as 2e - 1; floats count as their bits. The prediction is the value
//! before plus a part of the last difference, which learns within a block (FIRE):
//!
//! ```text
//! prediction = before + ((acc >> S) * delta >> B)     acc = delta = 0; S, B = 2, 8 (32 bits) or 3, 16 (64 bits)
//! acc += delta when the value came out above the prediction, else -delta; delta = value - before
//! ```
//!
//! **This encoding loses data upstream** when 2e leaves the width, and Java and libtsfile read different values when the
//! product does. The encoder here refuses such values; the decoder wraps, as Java does.
//!
//! Source of truth: the `*SprintzEncoder`, `*SprintzDecoder` and `*Fire` classes of apache/tsfile (Java).
//! Fixtures `enc_sprintz_*`.

use bytes::BufMut;
use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::Result;

use crate::cell::{Cell, Int};
use crate::error::{corrupt, invalid, trailing, truncated, wrong_count};
use crate::gorilla::{self, Sentinel};
use crate::pack::{PackStage, Packed, pack, unpack_group};
use crate::rle;

/// Errors of a block.
const ERRORS: usize = 8;

/// Marks a tail.
const TAIL: u8 = 0x80;

/// A value, the integer with its bits, and what is particular about its type.
pub(crate) trait Sprintz: Sentinel {
    /// The integer of the same width.
    type Bits: Packed;

    fn put_first(self, out: &mut Vec<u8>);

    fn read_first(wire: &mut WireReader<'_>) -> Result<Self>;

    fn put_tail(values: &[Self], body: &mut Vec<u8>, out: &mut Vec<u8>);

    fn read_tail(bytes: &[u8], start: usize, count: usize, out: &mut Vec<Self>) -> Result<()>;
}

macro_rules! sprintz {
    ($($type:ty as $bits:ty: $put:ident $read:ident, $put_tail:expr, $read_tail:expr;)*) => { $(
        impl Sprintz for $type {
            type Bits = $bits;

            fn put_first(self, out: &mut Vec<u8>) {
                out.$put(self as _);
            }

            fn read_first(wire: &mut WireReader<'_>) -> Result<Self> {
                Ok(wire.$read()? as Self)
            }

            fn put_tail(values: &[Self], body: &mut Vec<u8>, out: &mut Vec<u8>) {
                $put_tail(values, body, out);
            }

            fn read_tail(bytes: &[u8], start: usize, count: usize, out: &mut Vec<Self>) -> Result<()> {
                $read_tail(bytes, start, count, out)
            }
        }
    )* };
}

sprintz! {
    i32 as i32: put_uvar uvar, put_rle, rle::decode;
    i64 as i64: put_i64 i64, put_rle, rle::decode;
    f32 as i32: put_f32 f32, put_gorilla, gorilla::decode_to;
    f64 as i64: put_f64 f64, put_gorilla, gorilla::decode_to;
}

fn put_rle<T: Int>(values: &[T], body: &mut Vec<u8>, out: &mut Vec<u8>) {
    rle::encode(values.iter().copied(), body, out);
}

fn put_gorilla<T: Sentinel>(values: &[T], _body: &mut Vec<u8>, out: &mut Vec<u8>) {
    gorilla::encode(values, out);
}

/// The predictor, at the width of `T`.
struct Fire {
    learned: i32,
    delta: i64,
}

/// Whether the product of the prediction stayed within the width.
struct Prediction {
    value: i64,
    is_exact: bool,
}

impl Fire {
    const NEW: Self = Self { learned: 0, delta: 0 };

    fn predict<T: Int>(&self, before: i64) -> Prediction {
        let (learn_shift, product_shift) = if T::WIDTH == 32 { (2, 8) } else { (3, 16) };
        let product = i128::from(self.learned >> learn_shift) * i128::from(self.delta);
        let wrapped = wrap::<T>(product as i64);
        Prediction { value: wrap::<T>(before.wrapping_add(wrapped >> product_shift)), is_exact: i128::from(wrapped) == product }
    }

    fn learn<T: Int>(&mut self, before: i64, value: i64, error: i64) {
        let step = self.delta as i32;
        self.learned = if error > 0 { self.learned.wrapping_add(step) } else { self.learned.wrapping_sub(step) };
        self.delta = wrap::<T>(value.wrapping_sub(before));
    }
}

/// Cuts to the width of `T`, with its sign.
fn wrap<T: Int>(value: i64) -> i64 {
    T::from_bits(value as u64).widen()
}

/// Values of a float type as the integers with their bits.
fn as_integer<T: Sprintz>(value: T) -> i64 {
    T::Bits::from_bits(value.to_bits()).widen()
}

fn stored<T: Int>(error: i64) -> i64 {
    wrap::<T>(if error <= 0 { error.wrapping_mul(-2) } else { error.wrapping_mul(2).wrapping_sub(1) })
}

fn error_of<T: Int>(stored: i64) -> i64 {
    // Java divides, so that halves are cut towards zero.
    wrap::<T>(if stored % 2 == 0 { (stored / 2).wrapping_neg() } else { wrap::<T>(stored.wrapping_add(1)) / 2 })
}

pub(crate) fn encode<T: Sprintz>(values: &[T], body: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
    let (blocks, tail) = values.as_chunks::<{ ERRORS + 1 }>();
    let mut stage = PackStage::default();
    for block in blocks {
        encode_block(block, &mut stage, out)?;
    }
    if !tail.is_empty() {
        out.push(TAIL | tail.len() as u8);
        T::put_tail(tail, body, out);
    }
    Ok(())
}

fn encode_block<T: Sprintz>(block: &[T; ERRORS + 1], stage: &mut PackStage, out: &mut Vec<u8>) -> Result<()> {
    let mut fire = Fire::NEW;
    let mut errors = [0; ERRORS];
    let mut before = as_integer(block[0]);
    let mut any = 0;
    for (slot, value) in errors.iter_mut().zip(&block[1..]) {
        let value = as_integer(*value);
        let prediction = fire.predict::<T::Bits>(before);
        let error = wrap::<T::Bits>(value.wrapping_sub(prediction.value));
        let code = stored::<T::Bits>(error);
        if !prediction.is_exact || error_of::<T::Bits>(code) != error {
            return Err(invalid("SPRINTZ cannot hold a step of these values: it is too wide; choose another encoding"));
        }
        fire.learn::<T::Bits>(before, value, error);
        *slot = code & (u64::MAX >> (64 - T::WIDTH)) as i64;
        any |= *slot as u64;
        before = value;
    }
    // Upstream never writes 0.
    let width = (64 - any.leading_zeros()).max(1);
    out.put_u8(width as u8);
    block[0].put_first(out);
    pack(&errors, width, stage, out);
    Ok(())
}

pub(crate) fn decode<T: Sprintz>(bytes: &[u8], count: usize, out: &mut Vec<T>) -> Result<()> {
    let mut wire = WireReader::new(bytes);
    let mut left = count;
    while left > 0 {
        let at = wire.position();
        let head = wire.u8()?;
        let values = if head & TAIL == 0 { ERRORS + 1 } else { usize::from(head & !TAIL) };
        if values > left {
            return Err(wrong_count(at, count, format_args!("more: a block of {values} where {left} are left")));
        }
        if head & TAIL != 0 {
            // The tail is the last there is; how far it goes is its own matter.
            if values < left || values > ERRORS {
                return Err(wrong_count(at, count, format_args!("{} with a tail of {values}", count - left + values)));
            }
            return T::read_tail(bytes, wire.position(), values, out);
        }
        decode_block(u32::from(head), at, &mut wire, out)?;
        left -= values;
    }
    if !wire.is_empty() {
        return Err(trailing(wire.position(), count, wire.remaining()));
    }
    Ok(())
}

fn decode_block<T: Sprintz>(width: u32, at: usize, wire: &mut WireReader<'_>, out: &mut Vec<T>) -> Result<()> {
    if width > T::WIDTH {
        return Err(corrupt(at, format!("errors of {width} bits in a {}-bit type", T::WIDTH)));
    }
    let first = T::read_first(wire)?;
    let size = width as usize;
    if size > wire.remaining() {
        return Err(truncated(wire.position(), size, wire.position() + wire.remaining()));
    }
    let mut errors = [T::Bits::default(); ERRORS];
    if width > 0 {
        errors = unpack_group(wire.rest(), width);
    }
    wire.skip(size)?;
    let mut fire = Fire::NEW;
    let mut before = as_integer(first);
    out.push(first);
    for code in errors {
        let error = error_of::<T::Bits>(code.widen());
        let value = wrap::<T::Bits>(fire.predict::<T::Bits>(before).value.wrapping_add(error));
        fire.learn::<T::Bits>(before, value, error);
        out.push(T::from_bits(value as u64));
        before = value;
    }
    Ok(())
}
