//! CHIMP: each value as the bits in which it differs from one of many before it.
//!
//! ```text
//! first value     W bits                              W = 32 or 64; the last P = 64 or 128 values are kept in a ring
//! then each       00 + slot                           equal to the value in that slot       slot: 6 or 7 bits
//!                 01 + slot + class + length + bits   differs from that slot in `length` bits after the class' zeros
//!                 10 + bits                           differs from the value before, zeros in front as last time
//!                 11 + class + bits                   differs from the value before
//! end             a sentinel coded like a value, then the byte in the making, even when it is empty
//! ```
//!
//! Class: 3 bits for 0, 8, 12, 16, 18, 20, 22 or 24 leading zeros, rounded down. Length: 5 or 6 bits, 0 means W. `10` cannot
//! follow `00` or `01`. Sentinels are those of GORILLA; pages are read by count.
//!
//! Source of truth: `IntChimpEncoder`, `LongChimpEncoder` and the `*PrecisionChimp*` classes of apache/tsfile (Java).
//! Fixtures `enc_chimp_*`.

use tsloom_model::Result;

use crate::bits::{BitReader, BitWriter, Stage};
use crate::cell::Cell;
use crate::error::{corrupt, truncated};
use crate::gorilla::Sentinel;

/// Leading zeros of each class.
const CLASSES: [u32; 8] = [0, 8, 12, 16, 18, 20, 22, 24];

/// Class of each number of leading zeros.
const CLASS_OF: [u8; 64] = {
    let mut classes = [7; 64];
    let mut lead = 0;
    while lead < 24 {
        let mut class = 0;
        while CLASSES[class + 1] <= lead {
            class += 1;
        }
        classes[lead as usize] = class as u8;
        lead += 1;
    }
    classes
};

/// Bits of a slot number.
const fn slot_bits<T: Cell>() -> u32 {
    if T::WIDTH == 32 { 6 } else { 7 }
}

/// Bits of a length.
const fn length_bits<T: Cell>() -> u32 {
    if T::WIDTH == 32 { 5 } else { 6 }
}

/// Slots of the largest ring.
const RING_MAX: usize = 128;

/// Where values with the same low bits were last seen, used again from page to page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Position of the last value with these low bits, counted over all pages since the table was cleared.
    positions: Vec<u32>,
    /// Position of the first value of the next page: anything seen before is too old for its ring.
    next: u32,
}

impl Seen {
    /// Room for the largest key, 14 bits.
    const SIZE: usize = 1 << 14;

    /// Makes all that was seen too old; gives the position of the next page's first value.
    fn start(&mut self, count: usize) -> u32 {
        let needed = u32::try_from(count).unwrap_or(u32::MAX).saturating_add(RING_MAX as u32 + 2);
        if self.positions.is_empty() || u32::MAX - self.next < needed {
            self.positions.clear();
            self.positions.resize(Self::SIZE, 0);
            self.next = RING_MAX as u32 + 1;
        }
        let start = self.next;
        self.next = start.saturating_add(needed);
        start
    }
}

pub(crate) fn encode<T: Sentinel>(values: &[T], seen: &mut Seen, out: &mut Vec<u8>) {
    let (slot_bits, length_bits) = (slot_bits::<T>(), length_bits::<T>());
    let slots = 1_u32 << slot_bits;
    // Fewer trailing zeros do not pay for naming a slot.
    let trail_min = length_bits + slot_bits;
    let key = |value: u64| (value & ((2 << trail_min) - 1)) as usize;
    let start = seen.start(values.len());
    let mut ring = [0; RING_MAX];

    let mut stage = Stage::new();
    let mut bits = BitWriter::new(out, &mut stage);
    let mut values = values.iter().map(|value| value.to_bits()).chain([T::END]);
    let first = values.next().unwrap_or(T::END);
    bits.put_long(first, T::WIDTH);
    ring[0] = first;
    seen.positions[key(first)] = start;
    // Class whose zeros `10` uses again; 8 for none.
    let mut kept = 8;
    for (value, position) in values.zip(start..) {
        // `position` is that of the value before this one.
        let slot_of = |position: u32| (position - start) & (slots - 1);
        let before = slot_of(position);
        let candidate = seen.positions[key(value)];
        let (mut slot, mut xor, mut by_slot) = (before, value ^ ring[before as usize], false);
        if candidate >= start && position - candidate < slots {
            let found = value ^ ring[slot_of(candidate) as usize];
            if found == 0 || found.trailing_zeros() > trail_min {
                (slot, xor, by_slot) = (slot_of(candidate), found, true);
            }
        }
        if xor == 0 {
            bits.put(u64::from(slot), 2 + slot_bits);
            kept = 8;
        } else {
            let class = CLASS_OF[(xor.leading_zeros() - (64 - T::WIDTH)) as usize];
            let length = T::WIDTH - CLASSES[usize::from(class)];
            if by_slot {
                let trail = xor.trailing_zeros();
                let length = length - trail;
                let head = (1 << slot_bits | u64::from(slot)) << 3 | u64::from(class);
                bits.put(head << length_bits | u64::from(length), 2 + slot_bits + 3 + length_bits);
                bits.put_long(xor >> trail, length);
                kept = 8;
            } else if class == kept {
                bits.put_pair(0b10, 2, xor, length);
            } else {
                bits.put_pair(0b11 << 3 | u64::from(class), 5, xor, length);
                kept = class;
            }
        }
        ring[slot_of(position + 1) as usize] = value;
        seen.positions[key(value)] = position + 1;
    }
    bits.end_with_byte();
}

pub(crate) fn decode<T: Cell>(bytes: &[u8], count: usize, out: &mut Vec<T>) -> Result<()> {
    let (slot_bits, length_bits) = (slot_bits::<T>(), length_bits::<T>());
    // `00` is the shortest code.
    let least = (count - 1).saturating_mul(2 + slot_bits as usize).saturating_add(T::WIDTH as usize).div_ceil(8);
    if bytes.len() < least {
        return Err(truncated(0, least, bytes.len()));
    }
    let slots = 1 << slot_bits;
    let mut ring = [0; RING_MAX];
    let mut bits = BitReader::new(bytes, 0);
    let mut value = bits.take(T::WIDTH);
    ring[0] = value;
    out.reserve(count);
    out.push(T::from_bits(value));
    // Significant bits of `10`; 0 for none.
    let mut kept = 0;
    for position in 1..count {
        let window = bits.window();
        match window >> 62 {
            0b00 => {
                value = ring[(window << 2 >> (64 - slot_bits)) as usize];
                bits.skip(2 + slot_bits);
                kept = 0;
            }
            0b01 => {
                let slot = (window << 2 >> (64 - slot_bits)) as usize;
                let lead = CLASSES[(window << (2 + slot_bits) >> 61) as usize];
                let stored = (window << (5 + slot_bits) >> (64 - length_bits)) as u32;
                let length = if stored == 0 { T::WIDTH } else { stored };
                if lead + length > T::WIDTH {
                    return Err(corrupt(bits.byte_position(), format!("{lead} leading zeros and {length} bits in {}", T::WIDTH)));
                }
                bits.skip(5 + slot_bits + length_bits);
                value = ring[slot] ^ bits.take(length) << (T::WIDTH - lead - length);
                kept = 0;
            }
            control => {
                if control == 0b11 {
                    kept = T::WIDTH - CLASSES[(window << 2 >> 61) as usize];
                    bits.skip(5);
                } else if kept == 0 {
                    return Err(corrupt(bits.byte_position(), "a value refers to leading zeros before any were given"));
                } else {
                    bits.skip(2);
                }
                value ^= bits.take(kept);
            }
        }
        ring[position % slots] = value;
        out.push(T::from_bits(value));
    }
    bits.check()
}
