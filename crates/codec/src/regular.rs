//! REGULAR: values at constant distances, some of them missing. Read only.
//!
//! ```text
//! u8         some slots are missing, 00 or 01       blocks follow each other to the end of the column
//! [ i32      bytes of the set
//!   set      low bit first, 1 = the slot has a value ]     only when some are missing
//! i32        slots
//! i32 | i64  distance
//! i32 | i64  first value
//! ```
//!
//! The value of slot i is first + i x distance; missing slots give none.
//!
//! Source of truth: `RegularDataEncoder` and `RegularDataDecoder` of apache/tsfile (Java).

use tsloom_encoding::WireReader;
use tsloom_model::Result;

use crate::cell::Int;
use crate::error::{corrupt, trailing, wrong_count};

pub(crate) fn decode<T: Int>(bytes: &[u8], count: usize, out: &mut Vec<T>) -> Result<()> {
    let mut wire = WireReader::new(bytes);
    let mut left = count;
    while left > 0 {
        let at = wire.position();
        let set = if wire.bool()? { Some(wire.ibin()?) } else { None };
        let slots = wire.u32()? as usize;
        let read = |wire: &mut WireReader<'_>| if T::WIDTH == 32 { wire.u32().map(u64::from) } else { wire.u64() };
        let (distance, first) = (read(&mut wire)?, read(&mut wire)?);
        let value = |slot: usize| T::from_bits(first.wrapping_add(distance.wrapping_mul(slot as u64)));
        let before = out.len();
        match set {
            None if (1..=left).contains(&slots) => out.extend((0..slots).map(value)),
            None => return Err(wrong_count(at, count, format_args!("a block of {slots} where {left} are left"))),
            Some(set) => {
                let is_present = |slot: &usize| set[slot / 8] >> (slot % 8) & 1 == 1;
                let present = (0..slots.min(set.len().saturating_mul(8))).filter(is_present);
                out.extend(present.take(left.saturating_add(1)).map(value));
            }
        }
        match out.len() - before {
            0 => return Err(corrupt(at, "a block without a value")),
            values if values > left => return Err(wrong_count(at, count, "more")),
            values => left -= values,
        }
    }
    if !wire.is_empty() {
        return Err(trailing(wire.position(), count, wire.remaining()));
    }
    Ok(())
}
