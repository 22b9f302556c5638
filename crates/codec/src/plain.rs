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

use std::ops::Range;

use tsloom_encoding::{WirePut, WireReader, bulk, zigzag32};
use tsloom_model::{Error, ErrorKind, Result, TextRef, TextValues, Values, ValuesRef};

use crate::error::{corrupt, trailing, truncated};
use crate::varint;

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

/// Appends those of `count` values that are `wanted`.
pub(crate) fn decode(bytes: &[u8], count: usize, wanted: Range<usize>, out: &mut Values) -> Result<()> {
    match out {
        Values::Boolean(out) => decode_fixed(bytes, count, 1, wanted, out, bulk::read_bools),
        Values::Int32(out) => decode_varints(bytes, count, wanted, out),
        Values::Int64(out) => decode_i64s(bytes, count, wanted, out),
        Values::Float(out) => decode_fixed(bytes, count, 4, wanted, out, bulk::read_f32s),
        Values::Double(out) => decode_fixed(bytes, count, 8, wanted, out, bulk::read_f64s),
        Values::Text(out) => decode_texts(bytes, count, wanted, out),
    }
}

pub(crate) fn decode_i64s(bytes: &[u8], count: usize, wanted: Range<usize>, out: &mut Vec<i64>) -> Result<()> {
    decode_fixed(bytes, count, 8, wanted, out, bulk::read_i64s)
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
    // Each value stores eight bytes, of which those that count stay.
    let mut piece = [0; PIECE * 5 + 8];
    for values in values.chunks(PIECE) {
        let mut size = 0;
        let (eights, rest) = values.as_chunks::<8>();
        for eight in eights {
            let bits = eight.map(zigzag32);
            if bits.iter().fold(0, |any, bits| any | bits) < 0x80 {
                piece[size..size + 8].copy_from_slice(&bits.map(|bits| bits as u8));
                size += 8;
            } else {
                bits.iter().for_each(|bits| put_varint(*bits, &mut piece, &mut size));
            }
        }
        rest.iter().for_each(|value| put_varint(zigzag32(*value), &mut piece, &mut size));
        out.extend_from_slice(&piece[..size]);
    }
}

#[inline(always)]
fn put_varint(bits: u32, piece: &mut [u8; PIECE * 5 + 8], size: &mut usize) {
    let (word, bytes) = match bits {
        0..0x80 => (u64::from(bits), 1),
        0x80..0x4000 => (u64::from(bits & 0x7f | 0x80 | (bits & 0x3f80) << 1), 2),
        _ => {
            let bits = u64::from(bits);
            let bytes = (bits.ilog2() / 7) as usize + 1;
            let groups = (0..5).fold(0, |word, group| word | (bits >> (7 * group) & 0x7f) << (8 * group));
            (groups | 0x80_8080_8080 & ((1 << (8 * (bytes - 1))) - 1), bytes)
        }
    };
    piece[*size..*size + 8].copy_from_slice(&word.to_le_bytes());
    *size += bytes;
}

fn decode_fixed<T: Copy + Default>(
    bytes: &[u8],
    count: usize,
    width: usize,
    wanted: Range<usize>,
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
    out.resize(start + wanted.len(), T::default());
    read(&bytes[wanted.start * width..wanted.end * width], &mut out[start..]);
    Ok(())
}

fn decode_varints(bytes: &[u8], count: usize, wanted: Range<usize>, out: &mut Vec<i32>) -> Result<()> {
    if count > bytes.len() {
        return Err(truncated(bytes.len(), count - bytes.len(), bytes.len()));
    }
    let start = out.len();
    out.resize(start + count, 0);
    let at = varint::decode(bytes, &mut out[start..])?;
    if at < bytes.len() {
        return Err(trailing(at, count, bytes.len() - at));
    }
    out.truncate(start + wanted.end);
    out.drain(start..start + wanted.start);
    Ok(())
}

fn decode_texts(bytes: &[u8], count: usize, wanted: Range<usize>, out: &mut TextValues) -> Result<()> {
    if count > bytes.len() {
        return Err(truncated(bytes.len(), count - bytes.len(), bytes.len()));
    }
    room_for_text(out.as_text(), bytes.len())?;
    let mut wire = WireReader::new(bytes);
    let (offsets, cells) = out.parts_mut();
    offsets.reserve(wanted.len());
    cells.reserve(bytes.len() - count);
    for index in 0..count {
        let at = wire.position();
        match wire.vbin() {
            Ok(cell) if wanted.contains(&index) => {
                cells.extend_from_slice(cell);
                offsets.push(cells.len() as u32);
            }
            Ok(_) => {}
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
