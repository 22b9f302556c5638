//! PLAIN: values as they are.
//!
//! ```text
//! BOOLEAN              1 byte, 00 or 01
//! INT32, DATE          svar, 1..=5 bytes
//! INT64, TIMESTAMP     8 bytes, big-endian
//! FLOAT, DOUBLE        4 or 8 bytes, big-endian; every NaN is written as 7fc00000 or 7ff8000000000000
//! TEXT, STRING, BLOB   svar length, bytes
//! ```
//!
//! Source of truth: `PlainEncoder` and `PlainDecoder` of apache/tsfile (Java). Fixtures `enc_plain_*`.

use tsloom_encoding::{WirePut, WireReader, bulk, unzigzag32, zigzag32};
use tsloom_model::{Error, ErrorKind, Result, TextRef, TextValues, Values, ValuesRef};

use crate::error::{corrupt, trailing, truncated};

pub(crate) fn encode(values: ValuesRef<'_>, out: &mut Vec<u8>) {
    match values {
        ValuesRef::Boolean(values) => fixed(values, 1, out, bulk::write_bools),
        ValuesRef::Int32(values) => encode_varints(values, out),
        ValuesRef::Int64(values) => encode_i64s(values, out),
        ValuesRef::Float(values) => fixed(values, 4, out, bulk::write_f32s),
        ValuesRef::Double(values) => fixed(values, 8, out, bulk::write_f64s),
        ValuesRef::Text(text) => text.iter().for_each(|cell| out.put_vbin(cell)),
    }
}

pub(crate) fn encode_i64s(values: &[i64], out: &mut Vec<u8>) {
    fixed(values, 8, out, bulk::write_i64s);
}

pub(crate) fn decode(bytes: &[u8], count: usize, out: &mut Values) -> Result<()> {
    match out {
        Values::Boolean(out) => decode_fixed(bytes, count, 1, out, bulk::read_bools),
        Values::Int32(out) => decode_varints(bytes, count, out),
        Values::Int64(out) => decode_i64s(bytes, count, out),
        Values::Float(out) => decode_fixed(bytes, count, 4, out, bulk::read_f32s),
        Values::Double(out) => decode_fixed(bytes, count, 8, out, bulk::read_f64s),
        Values::Text(out) => decode_texts(bytes, count, out),
    }
}

pub(crate) fn decode_i64s(bytes: &[u8], count: usize, out: &mut Vec<i64>) -> Result<()> {
    decode_fixed(bytes, count, 8, out, bulk::read_i64s)
}

/// Values a piece of the bulk kernels' output holds; a piece stays in the first-level cache.
const PIECE: usize = 128;

fn fixed<T>(values: &[T], width: usize, out: &mut Vec<u8>, write: impl Fn(&mut [u8], &[T])) {
    out.reserve(values.len() * width);
    let mut piece = [0; PIECE * 8];
    for values in values.chunks(PIECE) {
        let piece = &mut piece[..values.len() * width];
        write(piece, values);
        out.extend_from_slice(piece);
    }
}

fn encode_varints(values: &[i32], out: &mut Vec<u8>) {
    out.reserve(values.len());
    for &value in values {
        let bits = zigzag32(value);
        if bits < 0x80 {
            out.push(bits as u8);
        } else {
            out.put_uvar(bits);
        }
    }
}

fn decode_fixed<T: Copy + Default>(
    bytes: &[u8],
    count: usize,
    width: usize,
    out: &mut Vec<T>,
    read: impl Fn(&[u8], &mut [T]),
) -> Result<()> {
    let size = count.checked_mul(width).filter(|size| *size <= bytes.len());
    let Some(size) = size else {
        return Err(truncated(0, count.saturating_mul(width), bytes.len()));
    };
    if size < bytes.len() {
        return Err(trailing(size, count, bytes.len() - size));
    }
    let start = out.len();
    out.resize(start + count, T::default());
    read(bytes, &mut out[start..]);
    Ok(())
}

fn decode_varints(bytes: &[u8], count: usize, out: &mut Vec<i32>) -> Result<()> {
    if count > bytes.len() {
        return Err(truncated(bytes.len(), count - bytes.len(), bytes.len()));
    }
    out.reserve(count);
    let mut at = 0;
    for _ in 0..count {
        // One and two bytes cover -8192..8192; the cursor takes the rest and finds what is wrong.
        let bits = match bytes.get(at..) {
            Some(&[first, ..]) if first < 0x80 => {
                at += 1;
                u32::from(first)
            }
            Some(&[first, second, ..]) if second < 0x80 => {
                at += 2;
                u32::from(first & 0x7f) | u32::from(second) << 7
            }
            rest => {
                let mut wire = WireReader::with_base(rest.unwrap_or(&[]), at);
                let bits = wire.uvar()?;
                at = wire.position();
                bits
            }
        };
        out.push(unzigzag32(bits));
    }
    if at < bytes.len() {
        return Err(trailing(at, count, bytes.len() - at));
    }
    Ok(())
}

fn decode_texts(bytes: &[u8], count: usize, out: &mut TextValues) -> Result<()> {
    if count > bytes.len() {
        return Err(truncated(bytes.len(), count - bytes.len(), bytes.len()));
    }
    room_for_text(out.as_text(), bytes.len())?;
    let mut wire = WireReader::new(bytes);
    let (offsets, cells) = out.parts_mut();
    offsets.reserve(count);
    cells.reserve(bytes.len() - count);
    for _ in 0..count {
        let at = wire.position();
        match wire.vbin() {
            Ok(cell) => {
                cells.extend_from_slice(cell);
                offsets.push(cells.len() as u32);
            }
            Err(tsloom_encoding::WireError::NegativeLength { length, .. }) => {
                return Err(corrupt(at, format!("text length {length} is negative")));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if !wire.is_empty() {
        return Err(trailing(wire.position(), count, wire.remaining()));
    }
    Ok(())
}

/// Offsets of text are 32 bits wide: refuses what would pass them.
pub(crate) fn room_for_text(text: TextRef<'_>, more: usize) -> Result<()> {
    if text.bytes().len().checked_add(more).is_none_or(|size| u32::try_from(size).is_err()) {
        return Err(Error::new(ErrorKind::LimitExceeded, "a column of one batch holds at most 4 GiB of text"));
    }
    Ok(())
}
