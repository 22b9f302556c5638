//! FLOAT and DOUBLE as integers: v x 10^p, rounded. The inner column is RLE or TS_2DIFF. **Lossy by nature.**
//!
//! ```text
//! [ uvar 7fffffff or 7ffffffe                         only when some value is not scaled
//!   uvar count                                        values of the column
//!   A: count/8 + 1 bytes, low bit first               1 = scaled
//!   B: count/8 + 1 bytes, low bit first ]             only after 7ffffffe: 1 = raw IEEE bits
//! uvar p                                              decimals kept
//! inner column of i32 (FLOAT) or i64 (DOUBLE)         see `rle` and `ts_2diff`
//! ```
//!
//! A value is stored unscaled when it is an integer and v x 10^p leaves the integer range, and as raw bits when it can be
//! neither (NaN, infinities, larger values, and values with a fraction: upstream would drop that fraction). Rounding is
//! floor(x + 1/2), as Java's `Math.round`. Decoding divides in `f64`, then narrows. -0.0 comes back as 0.0.
//!
//! Source of truth: `FloatEncoder` and `FloatDecoder` of apache/tsfile (Java, C++); the prefix is in the golden vectors.
//!
//! A writer that must not change data asks [`changed_f64s`] first.

use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::Result;

use crate::cell::{Cell, Int};
use crate::error::{corrupt, invalid, wrong_count};

/// Some values are integers that were not scaled.
const SOME_UNSCALED: u32 = 0x7fff_ffff;
/// Some values are raw bits, too.
const SOME_RAW: u32 = 0x7fff_fffe;

/// The largest number of decimals: 10^308 is the last power below infinity.
pub const MAX_POINT_NUMBER_MAX: u32 = 308;

/// How many of the values would come back with other bits from a scaled encoding with this `max_point_number`.
///
/// Values that leave the integer range are kept as they are and do not count; NaN payloads are kept.
pub fn changed_f32s(values: &[f32], max_point_number: u32) -> usize {
    changed(values, max_point_number)
}

/// How many of the values would come back with other bits: see [`changed_f32s`].
pub fn changed_f64s(values: &[f64], max_point_number: u32) -> usize {
    changed(values, max_point_number)
}

fn changed<T: Float>(values: &[T], max_point_number: u32) -> usize {
    let scale = power_of_ten(max_point_number.min(MAX_POINT_NUMBER_MAX));
    let same = |value: &T| match Stored::new(*value, scale) {
        Stored::Scaled(inner) => T::unscale(inner, scale).to_bits() == value.to_bits(),
        Stored::Unscaled(inner) => T::unscale(inner, 1.0).to_bits() == value.to_bits(),
        Stored::Raw(_) => true,
    };
    values.iter().filter(|value| !same(value)).count()
}

/// A float and the integer that carries it.
pub(crate) trait Float: Cell {
    /// The integer of the same width.
    type Inner: Int;

    /// Exact.
    fn widen(self) -> f64;

    /// `integer` in the inner type, when it has room.
    fn narrow(integer: i64) -> Option<Self::Inner>;

    /// The inner integer over `scale`, divided in `f64`.
    fn unscale(inner: Self::Inner, scale: f64) -> Self;
}

impl Float for f32 {
    type Inner = i32;

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn narrow(integer: i64) -> Option<i32> {
        i32::try_from(integer).ok()
    }

    #[inline(always)]
    fn unscale(inner: i32, scale: f64) -> Self {
        (f64::from(inner) / scale) as Self
    }
}

impl Float for f64 {
    type Inner = i64;

    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn narrow(integer: i64) -> Option<i64> {
        Some(integer)
    }

    #[inline(always)]
    fn unscale(inner: i64, scale: f64) -> Self {
        inner as Self / scale
    }
}

/// The three ways to store a value.
enum Stored<I> {
    Scaled(I),
    Unscaled(I),
    Raw(I),
}

impl<I: Int> Stored<I> {
    #[inline(always)]
    fn new<T: Float<Inner = I>>(value: T, scale: f64) -> Self {
        let wide = value.widen();
        if let Some(inner) = round_half_up(wide * scale).and_then(T::narrow) {
            return Self::Scaled(inner);
        }
        match round_half_up(wide) {
            Some(integer) if integer as f64 == wide => match T::narrow(integer) {
                Some(inner) => Self::Unscaled(inner),
                None => Self::Raw(I::from_bits(value.to_bits())),
            },
            _ => Self::Raw(I::from_bits(value.to_bits())),
        }
    }

    fn inner(self) -> I {
        match self {
            Self::Scaled(inner) | Self::Unscaled(inner) | Self::Raw(inner) => inner,
        }
    }
}

/// floor(x + 1/2) without the rounding of that sum, `Math.round` of Java; `None` outside of 64 bits.
#[inline(always)]
fn round_half_up(x: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if !(-END..END).contains(&x) {
        return None;
    }
    let whole = x as i64;
    // Exact: both have the exponent of x or less.
    let rest = x - whole as f64;
    Some(whole + i64::from(rest >= 0.5) - i64::from(rest < -0.5))
}

/// The nearest double.
fn power_of_ten(exponent: u32) -> f64 {
    const EXACT: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
        1e22,
    ];
    match EXACT.get(exponent as usize) {
        Some(power) => *power,
        None => format!("1e{exponent}").parse().expect("a number in scientific form"),
    }
}

/// Appends the prefix and p, and leaves the inner column in `inner`.
pub(crate) fn encode_head<T: Float>(
    values: &[T],
    max_point_number: u32,
    inner: &mut Vec<T::Inner>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if max_point_number > MAX_POINT_NUMBER_MAX {
        return Err(invalid(format!("max_point_number is {max_point_number}, at most {MAX_POINT_NUMBER_MAX} are possible")));
    }
    let scale = power_of_ten(max_point_number);
    inner.clear();
    let mut all_scaled = true;
    inner.extend(values.iter().map(|value| {
        let stored = Stored::new(*value, scale);
        all_scaled &= matches!(stored, Stored::Scaled(_));
        stored.inner()
    }));
    if !all_scaled {
        put_prefix(values, scale, out);
    }
    out.put_uvar(max_point_number);
    Ok(())
}

/// The most decimals worth a trial: no double is sure to have more.
const EXACT_DECIMALS_MAX: u32 = 15;

/// Appends p and leaves the inner column in `inner`, if some p gives back the bits of every value and needs no prefix. Else
/// nothing is appended, and the result is false. The p is the smallest.
pub(crate) fn encode_head_exact<T: Float>(values: &[T], inner: &mut Vec<T::Inner>, out: &mut Vec<u8>) -> bool {
    // A value that is exact with some p is mostly so with more: go on where the p before failed, and prove all in the end.
    let (mut p, mut proved) = (0, 0);
    while let Some(rest) = values.get(proved..).filter(|rest| !rest.is_empty()) {
        let scale = power_of_ten(p);
        match rest.iter().position(|value| exactly_scaled(*value, scale).is_none()) {
            None => break,
            Some(_) if p == EXACT_DECIMALS_MAX => return false,
            Some(more) => (p, proved) = (p + 1, proved + more),
        }
    }
    let is_exact = (p..=EXACT_DECIMALS_MAX).find(|p| {
        let scale = power_of_ten(*p);
        inner.clear();
        inner.extend(values.iter().map_while(|value| exactly_scaled(*value, scale)));
        inner.len() == values.len()
    });
    if let Some(p) = is_exact {
        out.put_uvar(p);
    }
    is_exact.is_some()
}

/// The integer that gives back the bits of `value` when it is divided by `scale`.
#[inline(always)]
fn exactly_scaled<T: Float>(value: T, scale: f64) -> Option<T::Inner> {
    let inner = round_half_up(value.widen() * scale).and_then(T::narrow)?;
    (T::unscale(inner, scale).to_bits() == value.to_bits()).then_some(inner)
}

fn put_prefix<T: Float>(values: &[T], scale: f64, out: &mut Vec<u8>) {
    let any_raw = values.iter().any(|value| matches!(Stored::new(*value, scale), Stored::Raw(_)));
    out.put_uvar(if any_raw { SOME_RAW } else { SOME_UNSCALED });
    out.put_uvar(values.len() as u32);
    put_bitmap(values, |value| matches!(Stored::new(value, scale), Stored::Scaled(_)), out);
    if any_raw {
        put_bitmap(values, |value| matches!(Stored::new(value, scale), Stored::Raw(_)), out);
    }
}

fn put_bitmap<T: Float>(values: &[T], is_set: impl Fn(T) -> bool, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bitmap_size(values.len()), 0);
    for (index, value) in values.iter().enumerate() {
        out[start + index / 8] |= u8::from(is_set(*value)) << (index % 8);
    }
}

/// The spare byte at a multiple of 8 is upstream's.
fn bitmap_size(count: usize) -> usize {
    count / 8 + 1
}

/// What stands before the inner column.
pub(crate) struct Head<'a> {
    scale: f64,
    scaled: Option<&'a [u8]>,
    raw: Option<&'a [u8]>,
    /// Position of the inner column.
    pub(crate) size: usize,
}

impl<'a> Head<'a> {
    pub(crate) fn read(bytes: &'a [u8], count: usize) -> Result<Self> {
        let mut wire = WireReader::new(bytes);
        let mut p = wire.uvar()?;
        let (mut scaled, mut raw) = (None, None);
        if p == SOME_UNSCALED || p == SOME_RAW {
            let at = wire.position();
            let stored = wire.uvar()? as usize;
            if stored != count {
                return Err(wrong_count(at, count, stored));
            }
            scaled = Some(wire.bytes(bitmap_size(count))?);
            raw = if p == SOME_RAW { Some(wire.bytes(bitmap_size(count))?) } else { None };
            p = wire.uvar()?;
        }
        if p > MAX_POINT_NUMBER_MAX {
            return Err(corrupt(
                wire.position(),
                format!("max_point_number is {p}, at most {MAX_POINT_NUMBER_MAX} are possible"),
            ));
        }
        Ok(Self { scale: power_of_ten(p), scaled, raw, size: wire.position() })
    }

    /// Appends the floats that the inner integers stand for.
    pub(crate) fn unscale<T: Float>(&self, inner: &[T::Inner], out: &mut Vec<T>) {
        let scale = self.scale;
        let Some(scaled) = self.scaled else {
            out.extend(inner.iter().map(|inner| T::unscale(*inner, scale)));
            return;
        };
        let bit = |bitmap: &[u8], index: usize| bitmap[index / 8] >> (index % 8) & 1 == 1;
        out.extend(inner.iter().enumerate().map(|(index, &inner)| {
            if self.raw.is_some_and(|raw| bit(raw, index)) {
                T::from_bits(inner.to_bits())
            } else if bit(scaled, index) {
                T::unscale(inner, scale)
            } else {
                T::unscale(inner, 1.0)
            }
        }));
    }
}
