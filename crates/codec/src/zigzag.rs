//! ZIGZAG: signed integers as varints.
//!
//! ```text
//! uvar  bytes of the varints
//! uvar  values
//! zigzag varints, of 32 or 64 bits
//! ```
//!
//! Source of truth: `IntZigzagEncoder` and `LongZigzagEncoder` of apache/tsfile (Java). Fixtures `enc_zigzag_*`.

use tsloom_encoding::{WirePut, WireReader, svar64_size, unzigzag64, zigzag64};
use tsloom_model::Result;

use crate::cell::Int;
use crate::error::{corrupt, trailing, wrong_count};

pub(crate) fn encode<T: Int>(values: &[T], out: &mut Vec<u8>) {
    // A 32-bit value has the same zigzag in 64 bits.
    let size: usize = values.iter().map(|value| svar64_size(value.widen())).sum();
    out.put_uvar(size as u32);
    out.put_uvar(values.len() as u32);
    out.reserve(size);
    for value in values {
        match zigzag64(value.widen()) {
            bits @ 0..0x80 => out.push(bits as u8),
            bits => out.put_uvar64(bits),
        }
    }
}

pub(crate) fn decode<T: Int>(bytes: &[u8], count: usize, out: &mut Vec<T>) -> Result<()> {
    let mut wire = WireReader::new(bytes);
    let size = wire.uvar()? as usize;
    let at = wire.position();
    let stored = wire.uvar()? as usize;
    if stored != count {
        return Err(wrong_count(at, count, stored));
    }
    let at = wire.position();
    let mut varints = WireReader::with_base(wire.bytes(size)?, at);
    if count > size {
        return Err(corrupt(at, format!("{count} values in {size} bytes")));
    }
    out.reserve(count);
    for _ in 0..count {
        let bits = if T::WIDTH == 32 { u64::from(varints.uvar()?) } else { varints.uvar64()? };
        out.push(T::from_bits(unzigzag64(bits) as u64));
    }
    let left = varints.remaining() + wire.remaining();
    if left > 0 {
        return Err(trailing(varints.position(), count, left));
    }
    Ok(())
}
