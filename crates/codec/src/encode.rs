//! From values to an encoded column.

use tsloom_model::{DataType, Encoding, Error, ErrorKind, Result, ValuesRef};

use crate::chimp::Seen;
use crate::dictionary::Distinct;
use crate::error::invalid;
use crate::{camel, chimp, dictionary, gorilla, plain, rlbe, rle, scaled, sprintz, ts_2diff, zigzag};

/// What a caller may choose about an encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Decimals that RLE and TS_2DIFF keep of FLOAT and DOUBLE values. Without it these two are refused for floats, since
    /// they change values: see [`scaled`](crate::scaled).
    pub max_point_number: Option<u32>,
}

/// Buffers that encoders use again from page to page.
#[derive(Clone, Debug, Default)]
pub struct EncodeScratch {
    pub(crate) i32s: Vec<i32>,
    pub(crate) i64s: Vec<i64>,
    bytes: Vec<u8>,
    u64s: Vec<u64>,
    pub(crate) block: ts_2diff::Block,
    distinct: Distinct,
    seen: Seen,
}

/// Appends the encoded column of one page to `out`: the present values only, all at once. No values give no bytes.
///
/// # Errors
/// `SchemaMismatch` when `values` are not of `data_type`; `InvalidArgument` when the encoding does not fit the type or
/// cannot hold a value; `Unsupported` for encodings that are only read. `out` is then as it was.
pub fn encode(
    encoding: Encoding,
    values: ValuesRef<'_>,
    data_type: DataType,
    options: EncodeOptions,
    out: &mut Vec<u8>,
    scratch: &mut EncodeScratch,
) -> Result<()> {
    if values.physical() != data_type.physical() {
        return Err(Error::new(ErrorKind::SchemaMismatch, format!("{:?} values for a column of {data_type}", values.physical())));
    }
    if !data_type.allows(encoding) {
        return Err(invalid(format!("encoding {encoding} does not fit {data_type}")));
    }
    if values.is_empty() {
        return Ok(());
    }
    let start = out.len();
    encode_checked(encoding, values, options, out, scratch).inspect_err(|_| out.truncate(start))
}

fn encode_checked(
    encoding: Encoding,
    values: ValuesRef<'_>,
    options: EncodeOptions,
    out: &mut Vec<u8>,
    scratch: &mut EncodeScratch,
) -> Result<()> {
    use ValuesRef as V;
    match (encoding, values) {
        (Encoding::Plain, values) => plain::encode(values, out),
        (Encoding::Ts2Diff, V::Int32(values)) => ts_2diff::encode(values, &mut scratch.block, out),
        (Encoding::Ts2Diff, V::Int64(values)) => ts_2diff::encode(values, &mut scratch.block, out),
        (Encoding::Ts2Diff, V::Float(values)) => {
            scaled::encode_head(values, decimals(options)?, &mut scratch.i32s, out)?;
            ts_2diff::encode(&scratch.i32s, &mut scratch.block, out);
        }
        (Encoding::Ts2Diff, V::Double(values)) => {
            scaled::encode_head(values, decimals(options)?, &mut scratch.i64s, out)?;
            ts_2diff::encode(&scratch.i64s, &mut scratch.block, out);
        }
        (Encoding::Rle, V::Boolean(values)) => rle::encode(values.iter().map(|value| i32::from(*value)), &mut scratch.bytes, out),
        (Encoding::Rle, V::Int32(values)) => rle::encode(values.iter().copied(), &mut scratch.bytes, out),
        (Encoding::Rle, V::Int64(values)) => rle::encode(values.iter().copied(), &mut scratch.bytes, out),
        (Encoding::Rle, V::Float(values)) => {
            scaled::encode_head(values, decimals(options)?, &mut scratch.i32s, out)?;
            rle::encode(scratch.i32s.iter().copied(), &mut scratch.bytes, out);
        }
        (Encoding::Rle, V::Double(values)) => {
            scaled::encode_head(values, decimals(options)?, &mut scratch.i64s, out)?;
            rle::encode(scratch.i64s.iter().copied(), &mut scratch.bytes, out);
        }
        (Encoding::ZigZag, V::Int32(values)) => zigzag::encode(values, out),
        (Encoding::ZigZag, V::Int64(values)) => zigzag::encode(values, out),
        (Encoding::Dictionary, V::Text(text)) => dictionary::encode(text, &mut scratch.distinct, &mut scratch.bytes, out),
        (Encoding::Gorilla, V::Int32(values)) => gorilla::encode(values, out),
        (Encoding::Gorilla, V::Int64(values)) => gorilla::encode(values, out),
        (Encoding::Gorilla, V::Float(values)) => gorilla::encode(values, out),
        (Encoding::Gorilla, V::Double(values)) => gorilla::encode(values, out),
        (Encoding::Chimp, V::Int32(values)) => chimp::encode(values, &mut scratch.seen, out),
        (Encoding::Chimp, V::Int64(values)) => chimp::encode(values, &mut scratch.seen, out),
        (Encoding::Chimp, V::Float(values)) => chimp::encode(values, &mut scratch.seen, out),
        (Encoding::Chimp, V::Double(values)) => chimp::encode(values, &mut scratch.seen, out),
        (Encoding::Sprintz, V::Int32(values)) => sprintz::encode(values, &mut scratch.bytes, out)?,
        (Encoding::Sprintz, V::Int64(values)) => sprintz::encode(values, &mut scratch.bytes, out)?,
        (Encoding::Sprintz, V::Float(values)) => sprintz::encode(values, &mut scratch.bytes, out)?,
        (Encoding::Sprintz, V::Double(values)) => sprintz::encode(values, &mut scratch.bytes, out)?,
        (Encoding::Rlbe, V::Int32(values)) => rlbe::encode(values, &mut scratch.u64s, out),
        (Encoding::Rlbe, V::Int64(values)) => rlbe::encode(values, &mut scratch.u64s, out),
        (Encoding::Rlbe, V::Float(values)) => rlbe::encode(values, &mut scratch.u64s, out),
        (Encoding::Rlbe, V::Double(values)) => rlbe::encode(values, &mut scratch.u64s, out),
        (Encoding::Camel, V::Double(values)) => camel::encode(values, &mut scratch.bytes, out)?,
        (encoding, _) => return Err(Error::new(ErrorKind::Unsupported, format!("encoding {encoding} is not written"))),
    }
    Ok(())
}

fn decimals(options: EncodeOptions) -> Result<u32> {
    options.max_point_number.ok_or_else(|| {
        invalid("a scaled encoding changes FLOAT and DOUBLE values: name the decimals to keep with max_point_number")
    })
}

/// Appends a time column as TS_2DIFF, the one encoding that every reader expects of times.
pub fn encode_times(times: &[i64], out: &mut Vec<u8>) {
    ts_2diff::encode(times, &mut ts_2diff::Block::default(), out);
}
