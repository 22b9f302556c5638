//! From an encoded column to values.

use std::ops::Range;

use tsloom_model::{DataType, Encoding, Error, ErrorKind, Limits, PhysicalType, Result, Values};

use crate::error::corrupt;
use crate::scaled::Head;
use crate::{camel, chimp, dictionary, gorilla, gorilla_v1, plain, regular, rlbe, rle, sprintz, ts_2diff, zigzag};

/// What the differences in a FLOAT or DOUBLE column of encoding RLBE are. No byte of a file tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RlbeFloats {
    /// Differences of bit patterns: libtsfile and Java from 2025 on.
    #[default]
    New,
    /// Bit patterns of differences of values: Java up to October 2024.
    Old,
}

/// What a caller may choose about decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// How RLBE columns of floats are read.
    pub rlbe_floats: RlbeFloats,
    /// Bytes of text that one column may give. DICTIONARY can ask for far more than the size of its page.
    pub text_bytes_max: u64,
}

impl Default for DecodeOptions {
    /// New RLBE floats, and as many bytes of text as [`Limits`] allow for a page.
    fn default() -> Self {
        Self { rlbe_floats: RlbeFloats::default(), text_bytes_max: Limits::default().page_bytes_max }
    }
}

/// Buffers that decoders use again from page to page, and the options of decoding.
#[derive(Clone, Debug, Default)]
pub struct DecodeScratch {
    /// May be changed at any time.
    pub options: DecodeOptions,
    i32s: Vec<i32>,
    i64s: Vec<i64>,
    cells: Vec<Range<usize>>,
}

impl DecodeScratch {
    /// Empty buffers with these options.
    pub fn with_options(options: DecodeOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

/// Appends exactly `count` values to `out`. `bytes` is the encoded column, to its end.
///
/// `count` is the number of present rows, which the page's own headers give; bound it first (see [`Limits::page_rows`]). A
/// count that the bytes cannot hold is refused before anything is sized by it; encodings of runs grow as they decode.
///
/// # Errors
/// `Truncated` and `Corrupt` with the position in `bytes`; `LimitExceeded` for text past `text_bytes_max`;
/// `InvalidArgument` and `SchemaMismatch` when encoding, type and `out` do not belong together. `out` is then as it was.
pub fn decode(
    encoding: Encoding,
    data_type: DataType,
    bytes: &[u8],
    count: usize,
    out: &mut Values,
    scratch: &mut DecodeScratch,
) -> Result<()> {
    decode_range(encoding, data_type, bytes, count, 0..count, out, scratch)
}

/// As [`decode`], but appends only the values `wanted` of the `count` that there are. What comes before and behind them is passed
/// over without being decoded where the encoding allows it (TS_2DIFF, PLAIN of fixed width), or is not looked at (behind: GORILLA,
/// CHIMP).
///
/// # Errors
/// As [`decode`].
///
/// # Panics
/// When `wanted` is not a range within `0..count`.
#[inline]
pub fn decode_range(
    encoding: Encoding,
    data_type: DataType,
    bytes: &[u8],
    count: usize,
    wanted: Range<usize>,
    out: &mut Values,
    scratch: &mut DecodeScratch,
) -> Result<()> {
    check_asked(encoding, data_type, count, &wanted, out)?;
    if count == 0 {
        return Ok(());
    }
    let start = out.len();
    decode_wanted(encoding, bytes, count, wanted.clone(), out, scratch).inspect_err(|_| out.truncate(start))?;
    debug_assert_eq!(out.len() - start, wanted.len());
    Ok(())
}

#[inline]
fn check_asked(encoding: Encoding, data_type: DataType, count: usize, wanted: &Range<usize>, out: &Values) -> Result<()> {
    assert!(wanted.start <= wanted.end && wanted.end <= count, "values {wanted:?} of {count}");
    if out.physical() != data_type.physical() {
        return Err(Error::new(ErrorKind::SchemaMismatch, format!("{data_type} into a buffer of {:?}", out.physical())));
    }
    if !data_type.allows(encoding) {
        return Err(corrupt(0, format!("encoding {encoding} does not fit {data_type}")));
    }
    Ok(())
}

/// Bytes that the first `count` values of a column take at most, where the encoding lets them be decoded without what follows them:
/// what [`decode_start`] asks for. `None` where it does not.
pub fn start_size_max(encoding: Encoding, data_type: DataType, count: usize) -> Option<usize> {
    let width = match data_type.physical() {
        PhysicalType::Int32 | PhysicalType::Float => 4,
        PhysicalType::Int64 | PhysicalType::Double => 8,
        PhysicalType::Boolean | PhysicalType::Text => return None,
    };
    match (encoding, data_type.physical()) {
        (Encoding::Plain, PhysicalType::Int32) => None,
        (Encoding::Plain, _) => count.checked_mul(width),
        (Encoding::Ts2Diff, PhysicalType::Int32) => Some(ts_2diff::start_size_max::<i32>(count)),
        (Encoding::Ts2Diff, PhysicalType::Int64) => Some(ts_2diff::start_size_max::<i64>(count)),
        // Two bits, lead and length, and the value.
        (Encoding::Gorilla, _) => count.checked_mul(width + 2),
        _ => None,
    }
}

/// As [`decode_range`], of a column of which only the beginning is there: [`start_size_max`] of `wanted.end` values, or all of it if
/// that is less. What lies behind is not looked at.
///
/// # Errors
/// As [`decode`]; also `Unsupported` where `start_size_max` gives `None`.
///
/// # Panics
/// When `wanted` is not a range within `0..count`.
pub fn decode_start(
    encoding: Encoding,
    data_type: DataType,
    bytes: &[u8],
    count: usize,
    wanted: Range<usize>,
    out: &mut Values,
) -> Result<()> {
    check_asked(encoding, data_type, count, &wanted, out)?;
    if wanted.is_empty() {
        return Ok(());
    }
    let start = out.len();
    let (first, end) = (wanted.start, wanted.end);
    let outcome = match (encoding, &mut *out) {
        (Encoding::Ts2Diff, Values::Int32(out)) => ts_2diff::decode_start(bytes, count, wanted, out),
        (Encoding::Ts2Diff, Values::Int64(out)) => ts_2diff::decode_start(bytes, count, wanted, out),
        (Encoding::Plain, out @ (Values::Int64(_) | Values::Float(_) | Values::Double(_))) => {
            let size = start_size_max(encoding, data_type, end).unwrap_or(usize::MAX);
            plain::decode(&bytes[..bytes.len().min(size)], end, wanted, out)
        }
        (Encoding::Gorilla, out) => decode_gorilla(bytes, end, out).map(|()| out.keep_range(start, first, end - first)),
        _ => Err(Error::new(ErrorKind::Unsupported, format!("the beginning of a column of {encoding} alone"))),
    };
    outcome.inspect_err(|_| out.truncate(start))
}

fn decode_gorilla(bytes: &[u8], count: usize, out: &mut Values) -> Result<()> {
    match out {
        Values::Int32(out) => gorilla::decode_to(bytes, 0, count, out),
        Values::Int64(out) => gorilla::decode_to(bytes, 0, count, out),
        Values::Float(out) => gorilla::decode_to(bytes, 0, count, out),
        Values::Double(out) => gorilla::decode_to(bytes, 0, count, out),
        Values::Boolean(_) | Values::Text(_) => Err(Error::new(ErrorKind::Unsupported, "GORILLA of other than numbers")),
    }
}

#[inline]
fn decode_wanted(
    encoding: Encoding,
    bytes: &[u8],
    count: usize,
    wanted: Range<usize>,
    out: &mut Values,
    scratch: &mut DecodeScratch,
) -> Result<()> {
    match (encoding, &mut *out) {
        (Encoding::Plain, out) => return plain::decode(bytes, count, wanted, out),
        (Encoding::Ts2Diff, Values::Int32(out)) => return ts_2diff::decode(bytes, 0, count, wanted, out),
        (Encoding::Ts2Diff, Values::Int64(out)) => return ts_2diff::decode(bytes, 0, count, wanted, out),
        _ => {}
    }
    let start = out.len();
    // These are read by count and their end is not looked at, so that what lies behind can be left alone.
    let count = if matches!(encoding, Encoding::Gorilla | Encoding::Chimp) { wanted.end } else { count };
    if count > 0 {
        decode_checked(encoding, bytes, count, out, scratch)?;
        out.keep_range(start, wanted.start, wanted.len());
    }
    Ok(())
}

fn decode_checked(encoding: Encoding, bytes: &[u8], count: usize, out: &mut Values, scratch: &mut DecodeScratch) -> Result<()> {
    use Values as V;
    match (encoding, out) {
        (Encoding::Plain, out) => plain::decode(bytes, count, 0..count, out),
        (Encoding::Ts2Diff, V::Int32(out)) => ts_2diff::decode(bytes, 0, count, 0..count, out),
        (Encoding::Ts2Diff, V::Int64(out)) => ts_2diff::decode(bytes, 0, count, 0..count, out),
        (Encoding::Ts2Diff, V::Float(out)) => {
            let head = Head::read(bytes, count)?;
            scratch.i32s.clear();
            ts_2diff::decode(bytes, head.size, count, 0..count, &mut scratch.i32s)?;
            head.unscale(&scratch.i32s, out);
            Ok(())
        }
        (Encoding::Ts2Diff, V::Double(out)) => {
            let head = Head::read(bytes, count)?;
            scratch.i64s.clear();
            ts_2diff::decode(bytes, head.size, count, 0..count, &mut scratch.i64s)?;
            head.unscale(&scratch.i64s, out);
            Ok(())
        }
        (Encoding::Rle, V::Boolean(out)) => {
            scratch.i32s.clear();
            rle::decode(bytes, 0, count, &mut scratch.i32s)?;
            out.extend(scratch.i32s.iter().map(|value| *value != 0));
            Ok(())
        }
        (Encoding::Rle, V::Int32(out)) => rle::decode(bytes, 0, count, out),
        (Encoding::Rle, V::Int64(out)) => rle::decode(bytes, 0, count, out),
        (Encoding::Rle, V::Float(out)) => {
            let head = Head::read(bytes, count)?;
            scratch.i32s.clear();
            rle::decode(bytes, head.size, count, &mut scratch.i32s)?;
            head.unscale(&scratch.i32s, out);
            Ok(())
        }
        (Encoding::Rle, V::Double(out)) => {
            let head = Head::read(bytes, count)?;
            scratch.i64s.clear();
            rle::decode(bytes, head.size, count, &mut scratch.i64s)?;
            head.unscale(&scratch.i64s, out);
            Ok(())
        }
        (Encoding::ZigZag, V::Int32(out)) => zigzag::decode(bytes, count, out),
        (Encoding::ZigZag, V::Int64(out)) => zigzag::decode(bytes, count, out),
        (Encoding::Dictionary, V::Text(out)) => {
            dictionary::decode(bytes, count, scratch.options.text_bytes_max, &mut scratch.cells, &mut scratch.i32s, out)
        }
        (Encoding::Gorilla, out) => decode_gorilla(bytes, count, out),
        (Encoding::Chimp, V::Int32(out)) => chimp::decode(bytes, count, out),
        (Encoding::Chimp, V::Int64(out)) => chimp::decode(bytes, count, out),
        (Encoding::Chimp, V::Float(out)) => chimp::decode(bytes, count, out),
        (Encoding::Chimp, V::Double(out)) => chimp::decode(bytes, count, out),
        (Encoding::Sprintz, V::Int32(out)) => sprintz::decode(bytes, count, out),
        (Encoding::Sprintz, V::Int64(out)) => sprintz::decode(bytes, count, out),
        (Encoding::Sprintz, V::Float(out)) => sprintz::decode(bytes, count, out),
        (Encoding::Sprintz, V::Double(out)) => sprintz::decode(bytes, count, out),
        (Encoding::Rlbe, V::Int32(out)) => rlbe::decode(bytes, count, out, rlbe::add_bits),
        (Encoding::Rlbe, V::Int64(out)) => rlbe::decode(bytes, count, out, rlbe::add_bits),
        (Encoding::Rlbe, V::Float(out)) => match scratch.options.rlbe_floats {
            RlbeFloats::New => rlbe::decode(bytes, count, out, rlbe::add_bits),
            RlbeFloats::Old => rlbe::decode(bytes, count, out, |before, diff| before + f32::from_bits(diff as u32)),
        },
        (Encoding::Rlbe, V::Double(out)) => match scratch.options.rlbe_floats {
            RlbeFloats::New => rlbe::decode(bytes, count, out, rlbe::add_bits),
            RlbeFloats::Old => rlbe::decode(bytes, count, out, |before, diff| before + f64::from_bits(diff)),
        },
        (Encoding::GorillaV1, V::Float(out)) => gorilla_v1::decode(bytes, count, out),
        (Encoding::GorillaV1, V::Double(out)) => gorilla_v1::decode(bytes, count, out),
        (Encoding::Regular, V::Int32(out)) => regular::decode(bytes, count, out),
        (Encoding::Regular, V::Int64(out)) => regular::decode(bytes, count, out),
        (Encoding::Camel, V::Double(out)) => camel::decode(bytes, count, out),
        (encoding, _) => Err(Error::new(ErrorKind::Unsupported, format!("encoding {encoding} is not read"))),
    }
}

/// Appends exactly `count` times to `out`: TS_2DIFF, PLAIN or any other encoding of 64-bit integers.
///
/// # Errors
/// As [`decode`]; another number of times in the bytes is an error where the encoding tells (TS_2DIFF and PLAIN do).
pub fn decode_times(
    encoding: Encoding,
    bytes: &[u8],
    count: usize,
    out: &mut Vec<i64>,
    scratch: &mut DecodeScratch,
) -> Result<()> {
    let start = out.len();
    match encoding {
        Encoding::Ts2Diff => ts_2diff::decode(bytes, 0, count, 0..count, out).inspect_err(|_| out.truncate(start)),
        Encoding::Plain => plain::decode_i64s(bytes, count, 0..count, out),
        encoding => {
            let mut values = Values::Int64(std::mem::take(out));
            let result = decode(encoding, DataType::Int64, bytes, count, &mut values, scratch);
            if let Values::Int64(values) = values {
                *out = values;
            }
            result
        }
    }
}

/// Number of times in a whole time column, without decoding them: for pages whose row count is not recorded.
///
/// # Errors
/// `Truncated` and `Corrupt`; `Unsupported` for encodings other than TS_2DIFF and PLAIN.
pub fn count_times(encoding: Encoding, bytes: &[u8]) -> Result<usize> {
    match encoding {
        Encoding::Ts2Diff => ts_2diff::count::<i64>(bytes),
        Encoding::Plain if bytes.len().is_multiple_of(8) => Ok(bytes.len() / 8),
        Encoding::Plain => Err(corrupt(bytes.len(), format!("{} bytes are no whole number of times", bytes.len()))),
        encoding => Err(Error::new(ErrorKind::Unsupported, format!("times of encoding {encoding} cannot be counted"))),
    }
}
