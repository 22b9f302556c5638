//! RLE: runs of one value, and bit-packed groups of eight where nothing repeats.
//!
//! ```text
//! uvar  bytes of the segment that follow
//! u8    width w of a value in bits              the widest of the page; a negative value makes it 32 or 64
//! runs  header even: uvar header/2 repeats      8..=32767
//!                    value, ceil(w/8) bytes     LITTLE-endian for 32 bits, big-endian for 64
//!       header odd:  u8 header/2 groups         1..=63
//!                    u8 values used of the last group, 1..=8
//!                    groups, w bytes each: eight values of w bits, high bit first
//! ```
//!
//! A page is one segment; more are read. The encoder makes the choices of Java's, so its bytes are Java's; libtsfile never
//! writes runs of one value and reads them.
//!
//! BOOLEAN goes through the 32-bit form as 0 and 1, FLOAT and DOUBLE through `scaled`; libtsfile reads neither.
//!
//! Source of truth: `RleEncoder` and `RleDecoder` of apache/tsfile (Java). Fixtures `enc_rle_*`.

use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::Result;

use crate::cell::Int;
use crate::dispatch::append_unpacked;
use crate::error::{corrupt, trailing, truncated, wrong_count};
use crate::pack::{PACK_MAX, PackStage, Packed, pack};

/// The shortest run that is stored as one.
const REPEATS_MIN: u32 = 8;
/// The longest run.
const REPEATS_MAX: u32 = 32_767;
/// The most groups under one header.
const GROUPS_MAX: usize = 63;

/// Appends one segment; `body` is scratch. No values give no segment.
pub(crate) fn encode<T: Int>(values: impl Iterator<Item = T> + Clone, body: &mut Vec<u8>, out: &mut Vec<u8>) {
    let mut any = 0;
    let mut is_empty = true;
    for value in values.clone() {
        any |= value.to_bits();
        is_empty = false;
    }
    if is_empty {
        return;
    }
    body.clear();
    let mut runs = Runs {
        width: (64 - any.leading_zeros()).max(1),
        previous: 0,
        repeats: 0,
        values: [0; GROUPS_MAX * 8 + 8],
        whole: 0,
        buffered: 0,
        stage: PackStage::default(),
        out: body,
    };
    runs.out.push(runs.width as u8);
    for value in values {
        runs.add::<T>(value.to_bits() as i64);
    }
    runs.finish::<T>();
    out.put_uvar(body.len() as u32);
    out.extend_from_slice(body);
}

/// The encoder's state: Java's, value for value.
struct Runs<'a> {
    width: u32,
    previous: i64,
    /// How often `previous` came, since its start or the last group.
    repeats: u32,
    /// Whole groups that wait for their header, then up to eight buffered values.
    values: [i64; GROUPS_MAX * 8 + 8],
    /// Values of whole groups.
    whole: usize,
    buffered: usize,
    stage: PackStage,
    out: &'a mut Vec<u8>,
}

impl Runs<'_> {
    fn add<T: Int>(&mut self, value: i64) {
        if value == self.previous {
            self.repeats += 1;
            if (REPEATS_MIN..=REPEATS_MAX).contains(&self.repeats) {
                return;
            }
            if self.repeats > REPEATS_MAX {
                self.put_repeats::<T>(REPEATS_MAX);
                self.repeats = 1;
            }
        } else {
            if self.repeats >= REPEATS_MIN {
                self.put_repeats::<T>(self.repeats);
            }
            self.repeats = 1;
            self.previous = value;
        }
        self.values[self.whole + self.buffered] = value;
        self.buffered += 1;
        if self.buffered == 8 {
            self.close_group();
        }
    }

    /// The buffer becomes a group; one that finds no place under the header starts the next.
    fn close_group(&mut self) {
        self.repeats = 0;
        self.buffered = 0;
        if self.whole == GROUPS_MAX * 8 {
            self.put_groups(8);
            self.values.copy_within(GROUPS_MAX * 8.., 0);
        }
        self.whole += 8;
    }

    fn put_groups(&mut self, used_of_last: u8) {
        if self.whole > 0 {
            self.out.push((self.whole / 8) as u8 * 2 + 1);
            self.out.push(used_of_last);
            for values in self.values[..self.whole].chunks(PACK_MAX) {
                pack(values, self.width, &mut self.stage, self.out);
            }
            self.whole = 0;
        }
    }

    /// What is buffered belongs to the run.
    fn put_repeats<T: Int>(&mut self, repeats: u32) {
        self.put_groups(8);
        self.out.put_uvar(repeats * 2);
        let size = self.width.div_ceil(8) as usize;
        if T::WIDTH == 32 {
            self.out.extend_from_slice(&self.previous.to_le_bytes()[..size]);
        } else {
            self.out.extend_from_slice(&self.previous.to_be_bytes()[8 - size..]);
        }
        self.buffered = 0;
        self.repeats = 0;
    }

    fn finish<T: Int>(&mut self) {
        if self.repeats >= REPEATS_MIN {
            self.put_repeats::<T>(self.repeats);
        } else if self.buffered > 0 {
            let used = self.buffered as u8;
            self.values[self.whole + self.buffered..][..8 - self.buffered].fill(0);
            self.close_group();
            self.put_groups(used);
        } else {
            self.put_groups(8);
        }
    }
}

/// Appends `count` values; the segments from `start` on are all that is left of `bytes`.
pub(crate) fn decode<T: Packed>(bytes: &[u8], start: usize, count: usize, out: &mut Vec<T>) -> Result<()> {
    let mut wire = WireReader::with_base(bytes.get(start..).unwrap_or(&[]), start);
    let end = out.len().saturating_add(count);
    while out.len() < end {
        decode_segment(&mut wire, count, end, out)?;
    }
    if !wire.is_empty() {
        return Err(trailing(wire.position(), count, wire.remaining()));
    }
    Ok(())
}

fn decode_segment<T: Packed>(wire: &mut WireReader<'_>, count: usize, end: usize, out: &mut Vec<T>) -> Result<()> {
    let size = wire.uvar()? as usize;
    let at = wire.position();
    let mut wire = WireReader::with_base(wire.bytes(size)?, at);
    let width = u32::from(wire.u8()?);
    if width > T::WIDTH {
        return Err(corrupt(at, format!("values of {width} bits in a {}-bit type", T::WIDTH)));
    }
    while !wire.is_empty() {
        let at = wire.position();
        let header = wire.uvar()?;
        let room = end - out.len();
        let too_many = |values: u64| wrong_count(at, count, format_args!("more: {values} where {room} are left"));
        if header & 1 == 0 {
            let repeats = u64::from(header >> 1);
            if repeats > room as u64 {
                return Err(too_many(repeats));
            }
            let value = repeated_value::<T>(&mut wire, width)?;
            out.resize(out.len() + repeats as usize, value);
            continue;
        }
        let (groups, used) = (u64::from(header >> 1), wire.u8()?);
        if groups == 0 || !(1..=8).contains(&used) {
            return Err(corrupt(at, format!("{groups} groups, the last with {used} values")));
        }
        let values = (groups - 1) * 8 + u64::from(used);
        if values > room as u64 {
            return Err(too_many(values));
        }
        let size = groups * u64::from(width);
        if size > wire.remaining() as u64 {
            return Err(truncated(wire.position(), size as usize, wire.position() + wire.remaining()));
        }
        // What follows the groups serves as slack.
        if width == 0 {
            out.resize(out.len() + values as usize, T::default());
        } else {
            append_unpacked(wire.rest(), width, values as usize, out);
        }
        wire.skip(size as usize)?;
    }
    Ok(())
}

fn repeated_value<T: Int>(wire: &mut WireReader<'_>, width: u32) -> Result<T> {
    let bytes = wire.bytes(width.div_ceil(8) as usize)?;
    let push = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    Ok(T::from_bits(if T::WIDTH == 32 { bytes.iter().rev().fold(0, push) } else { bytes.iter().fold(0, push) }))
}
