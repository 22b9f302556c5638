//! CAMEL: doubles of few decimals as an integer part and a fraction, others as GORILLA does.
//!
//! ```text
//! svar   bits that follow                                       blocks follow each other; a page is one
//! 64 bits  first value; I = its integer part
//! then each: 1 bit sign, 1 bit kind, and for the magnitude
//!   kind 1   varlong d                 I += d
//!            4 bits c - 1              decimals, 1..=15
//!            1 bit                     1: c bits X follow
//!            varlong m                 fraction of the value, see below
//!   kind 0   0 | 10 + bits | 11 + 6 bits lead + 6 bits (length - 1) + bits
//!                                      as GORILLA, against the bits of the value before, sign included
//! zero padded to a byte
//!
//! varlong: zigzag; groups of 7 bits, the lowest first, each followed by a bit that says whether one more comes
//! ```
//!
//! Fraction: m / 10^c without X. With X, m is the decimal part modulo 5^c, and X are the top bits in which 1 + fraction and
//! 1 + m / 10^c differ. Magnitude = (I x 10^c + round(fraction x 10^c)) / 10^c.
//!
//! Upstream's encoder takes kind 1 for some values that it does not give back (a carry of the rounding is lost). The encoder
//! here decodes what it is about to write and takes kind 0 unless the bits are the same, so nothing is lost; NaN payloads
//! are kept, too.
//!
//! Source of truth: `camel_encoder.h` and `camel_decoder.h` of apache/tsfile (C++). Fixture `enc_camel`.

use tsloom_encoding::{CANONICAL_NAN_64, WirePut, WireReader, unzigzag64, zigzag64};
use tsloom_model::Result;

use crate::bits::{BitReader, BitWriter, Stage};
use crate::error::{corrupt, invalid, trailing, truncated, wrong_count};

/// Digits before and after the point, together, that the encoder gives to kind 1.
const DIGITS_MAX: u32 = 10;
/// Decimals that a decoder takes.
const DECIMALS_MAX: u32 = 15;
const MANTISSA_BITS: u32 = 52;
const SIGN: u64 = 1 << 63;

/// What the next value is coded against.
struct State {
    integer: i64,
    /// Bits of the value before, any NaN as the canonical one.
    previous: u64,
    /// Bits of a range in use; 0 for none yet.
    length: u32,
    trail: u32,
}

impl State {
    fn new(first: u64) -> Self {
        Self { integer: f64::from_bits(first) as i64, previous: canonical(first), length: 0, trail: 0 }
    }
}

fn canonical(bits: u64) -> u64 {
    if f64::from_bits(bits).is_nan() { CANONICAL_NAN_64 } else { bits }
}

/// The magnitude as digits: integer part, fraction x 10^decimals, decimals.
#[derive(Clone, Copy)]
struct Decimal {
    integer: i64,
    fraction: i64,
    decimals: u32,
}

impl Decimal {
    /// The fewest decimals of the magnitude, when there are few enough and they give the same bits back.
    fn new(magnitude: f64) -> Option<Self> {
        if !(1e-10..1e11).contains(&magnitude) {
            return None;
        }
        let integer = magnitude as i64;
        let digits = integer.checked_ilog10().unwrap_or(0) + 1;
        let mut decimals = 0;
        while magnitude * power(decimals) != round(magnitude * power(decimals)) as f64 {
            decimals += 1;
            if digits + decimals > DIGITS_MAX {
                return None;
            }
        }
        let decimals = decimals.max(1);
        if digits + decimals > DIGITS_MAX {
            return None;
        }
        let scale = power(decimals);
        let fraction = round(magnitude * scale) % scale as i64;
        let decimal = Self { integer, fraction, decimals };
        (decimal.magnitude(decimal.decoded_fraction()).to_bits() == magnitude.to_bits()).then_some(decimal)
    }

    /// 5^decimals: fractions from here on carry X.
    fn threshold(self) -> i64 {
        5_i64.pow(self.decimals)
    }

    /// The number behind X, and X.
    fn parts(self) -> (i64, Option<u64>) {
        if self.fraction < self.threshold() {
            return (self.fraction, None);
        }
        let rest = self.fraction % self.threshold();
        let above_one = |part: i64| (part as f64 / power(self.decimals) + 1.0).to_bits();
        let differs = above_one(self.fraction) ^ above_one(rest);
        (rest, Some(differs >> (MANTISSA_BITS - self.decimals) & ((1 << self.decimals) - 1)))
    }

    fn decoded_fraction(self) -> f64 {
        let (rest, differs) = self.parts();
        decode_fraction(rest, differs, self.decimals)
    }

    fn magnitude(self, fraction: f64) -> f64 {
        decode_magnitude(self.integer, fraction, self.decimals)
    }
}

fn decode_fraction(rest: i64, differs: Option<u64>, decimals: u32) -> f64 {
    let fraction = rest as f64 / power(decimals);
    match differs {
        None => fraction,
        Some(differs) => f64::from_bits((fraction + 1.0).to_bits() ^ differs << (MANTISSA_BITS - decimals)) - 1.0,
    }
}

fn decode_magnitude(integer: i64, fraction: f64, decimals: u32) -> f64 {
    let scale = power(decimals);
    let magnitude = (integer as f64 * scale + round(fraction * scale) as f64) / scale;
    if integer >= 0 { magnitude } else { -magnitude }
}

/// Exact up to 10^15.
fn power(decimals: u32) -> f64 {
    10_i64.pow(decimals) as f64
}

/// As Java's `Math.round` of old: the sum may round, too.
fn round(x: f64) -> i64 {
    (x + 0.5).floor() as i64
}

pub(crate) fn encode(values: &[f64], body: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
    let [first, rest @ ..] = values else {
        return Ok(());
    };
    body.clear();
    let mut stage = Stage::new();
    let mut bits = BitWriter::new(body, &mut stage);
    bits.put_long(first.to_bits(), 64);
    let mut state = State::new(first.to_bits());
    for value in rest {
        put(value.to_bits(), &mut state, &mut bits);
    }
    let count = bits.bit_count();
    bits.end();
    let count = i32::try_from(count).map_err(|_| invalid("a page is too large for CAMEL"))?;
    out.put_svar(count);
    out.extend_from_slice(body);
    Ok(())
}

fn put(value: u64, state: &mut State, bits: &mut BitWriter<'_>) {
    let magnitude = value & !SIGN;
    bits.put(value >> 63, 1);
    match Decimal::new(f64::from_bits(magnitude)) {
        Some(decimal) => {
            bits.put(1, 1);
            put_varlong(decimal.integer.wrapping_sub(state.integer), bits);
            state.integer = decimal.integer;
            let (rest, differs) = decimal.parts();
            bits.put(u64::from(decimal.decimals - 1), 4);
            bits.put(u64::from(differs.is_some()), 1);
            if let Some(differs) = differs {
                bits.put(differs, decimal.decimals);
            }
            put_varlong(rest, bits);
        }
        None => {
            bits.put(0, 1);
            put_difference(magnitude ^ state.previous, state, bits);
        }
    }
    state.previous = canonical(value);
}

fn put_difference(xor: u64, state: &mut State, bits: &mut BitWriter<'_>) {
    if xor == 0 {
        bits.put(0, 1);
        return;
    }
    let (lead, trail) = (xor.leading_zeros(), xor.trailing_zeros());
    let kept_lead = 64 - state.length - state.trail;
    if state.length > 0 && lead >= kept_lead && trail >= state.trail {
        bits.put_pair(0b10, 2, xor >> state.trail, state.length);
        return;
    }
    let length = 64 - lead - trail;
    bits.put_pair(0b11 << 12 | u64::from(lead) << 6 | u64::from(length - 1), 14, xor >> trail, length);
    (state.length, state.trail) = (length, trail);
}

fn put_varlong(value: i64, bits: &mut BitWriter<'_>) {
    let mut rest = zigzag64(value);
    while rest > 0x7f {
        bits.put((rest & 0x7f) << 1 | 1, 8);
        rest >>= 7;
    }
    bits.put(rest << 1, 8);
}

pub(crate) fn decode(bytes: &[u8], count: usize, out: &mut Vec<f64>) -> Result<()> {
    let mut wire = WireReader::new(bytes);
    let mut left = count;
    while left > 0 {
        let at = wire.position();
        let stored = wire.svar()?;
        let Some(bit_count) = usize::try_from(stored).ok().filter(|bit_count| *bit_count >= 64) else {
            return Err(corrupt(at, format!("a block of {stored} bits")));
        };
        let start = wire.position();
        wire.skip(bit_count.div_ceil(8))?;
        decode_block(bytes, start, bit_count, count, &mut left, out)?;
    }
    if !wire.is_empty() {
        return Err(trailing(wire.position(), count, wire.remaining()));
    }
    Ok(())
}

fn decode_block(bytes: &[u8], start: usize, bit_count: usize, count: usize, left: &mut usize, out: &mut Vec<f64>) -> Result<()> {
    let end = start * 8 + bit_count;
    let mut bits = BitReader::new(bytes, start);
    let first = bits.take(64);
    let mut state = State::new(first);
    out.push(f64::from_bits(first));
    *left -= 1;
    while bits.bit_position() < end {
        let at = bits.byte_position();
        if *left == 0 {
            return Err(wrong_count(at, count, "more"));
        }
        let value = take(&mut bits, &mut state)?;
        if bits.bit_position() > end {
            return Err(truncated(at, 1, at));
        }
        out.push(f64::from_bits(value));
        *left -= 1;
    }
    Ok(())
}

fn take(bits: &mut BitReader<'_>, state: &mut State) -> Result<u64> {
    let at = bits.byte_position();
    let sign = bits.take(1) << 63;
    let magnitude = if bits.take(1) == 1 {
        state.integer = state.integer.wrapping_add(take_varlong(bits)?);
        let decimals = bits.take(4) as u32 + 1;
        if decimals > DECIMALS_MAX {
            return Err(corrupt(at, format!("{decimals} decimals, {DECIMALS_MAX} at most")));
        }
        let differs = (bits.take(1) == 1).then(|| bits.take(decimals));
        let rest = take_varlong(bits)?;
        decode_magnitude(state.integer, decode_fraction(rest, differs, decimals), decimals).to_bits()
    } else {
        take_difference(bits, state)? ^ state.previous
    };
    let value = magnitude ^ sign;
    state.previous = canonical(value);
    Ok(value)
}

fn take_difference(bits: &mut BitReader<'_>, state: &mut State) -> Result<u64> {
    if bits.take(1) == 0 {
        return Ok(0);
    }
    let at = bits.byte_position();
    if bits.take(1) == 1 {
        let (lead, length) = (bits.take(6) as u32, bits.take(6) as u32 + 1);
        if lead + length > 64 {
            return Err(corrupt(at, format!("{lead} leading zeros and {length} bits in 64")));
        }
        (state.length, state.trail) = (length, 64 - lead - length);
    } else if state.length == 0 {
        return Err(corrupt(at, "a value refers to a bit range before any was given"));
    }
    Ok(bits.take(state.length) << state.trail)
}

fn take_varlong(bits: &mut BitReader<'_>) -> Result<i64> {
    let at = bits.byte_position();
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        value |= bits.take(7) << shift;
        if bits.take(1) == 0 {
            return Ok(unzigzag64(value));
        }
    }
    Err(corrupt(at, "a number of more than 64 bits"))
}
