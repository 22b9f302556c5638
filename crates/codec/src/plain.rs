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
    let start = out.len();
    out.resize(start + count, 0);
    let mut slots = &mut out[start..];
    let mut at = 0;
    while !slots.is_empty() {
        // Eight bytes at a time, while varints of one size follow each other.
        if let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk)
            && let Some((eight, _)) = slots.split_first_chunk_mut::<8>()
        {
            let word = u64::from_le_bytes(*word);
            let values = match word & 0x8080_8080_8080_8080 {
                0 => {
                    *eight = word.to_le_bytes().map(|byte| unzigzag32(u32::from(byte)));
                    8
                }
                0x0080_0080_0080_0080 => {
                    for (slot, shift) in eight.iter_mut().zip([0, 16, 32, 48]) {
                        let pair = (word >> shift) as u32;
                        *slot = unzigzag32(pair & 0x7f | pair >> 1 & 0x3f80);
                    }
                    4
                }
                0x0080_8080_0080_8080 => {
                    for (slot, shift) in eight.iter_mut().zip([0, 32]) {
                        let four = (word >> shift) as u32;
                        *slot = unzigzag32(four & 0x7f | four >> 1 & 0x3f80 | four >> 2 & 0x1f_c000 | four >> 3 & 0xfe0_0000);
                    }
                    2
                }
                _ => match first_varint(word) {
                    Some((bits, size)) => {
                        eight[0] = unzigzag32(bits);
                        slots = &mut slots[1..];
                        at += size;
                        continue;
                    }
                    None => 0,
                },
            };
            if values > 0 {
                slots = &mut slots[values..];
                at += 8;
                continue;
            }
        }
        let mut wire = WireReader::with_base(bytes.get(at..).unwrap_or(&[]), at);
        slots[0] = wire.svar()?;
        slots = &mut slots[1..];
        at = wire.position();
    }
    if at < bytes.len() {
        return Err(trailing(at, count, bytes.len() - at));
    }
    Ok(())
}

/// The varint at the low end of a word and its size; `None` for one that is no good.
#[inline(always)]
fn first_varint(word: u64) -> Option<(u32, usize)> {
    let last = !word & 0x80_8080_8080;
    if last == 0 {
        return None;
    }
    let size = last.trailing_zeros() as usize / 8 + 1;
    let own = word & (u64::MAX >> (64 - 8 * size));
    let bits = own & 0x7f | own >> 1 & 0x3f80 | own >> 2 & 0x1f_c000 | own >> 3 & 0xfe0_0000 | own >> 4 & 0x7_f000_0000;
    Some((u32::try_from(bits).ok()?, size))
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
