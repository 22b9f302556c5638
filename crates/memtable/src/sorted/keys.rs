//! Sorting keys of 64 bits: a time in the upper bits, a row in the lower ones. No key comes twice.
//!
//! Many keys are dealt out once by the uppermost bits in which they differ, into crowds that the first cache holds. Of a crowd
//! sixteen bits more are dealt out, the lower half first; they tell nearly all keys apart. What is left together is sorted in
//! the same way by the bits below. So there is one way through all of the memory, whatever the width of the times and however
//! they crowd together.

use std::ops::Range;

/// Bits of a digit at most.
const DIGIT_BITS: u32 = 10;

/// Bits of the two digits of a crowd.
const CROWD_BITS: u32 = 16;

/// So many keys are sorted by comparing.
const FEW: usize = 48;

/// More keys than this are dealt out into crowds first.
const CROWD: usize = 8192;

/// Sorts `keys`, whose lowest `row_bits` bits rise where the others are equal. `other` is of the same length, for scratch.
pub(super) fn sort(keys: &mut [u64], other: &mut [u64], row_bits: u32) {
    if keys.len() <= FEW {
        return keys.sort_unstable();
    }
    let (every, some) = keys.iter().fold((u64::MAX, 0), |(every, some), key| (every & key, some | key));
    let width = u64::BITS - ((every ^ some) >> row_bits).leading_zeros();
    if keys.len() > CROWD {
        let bits = width.min(DIGIT_BITS);
        let digit = Digit { shift: row_bits + width - bits, bits };
        let ends = digit.deal(keys, other);
        for crowd in digit.crowds(&ends) {
            keys[crowd.clone()].copy_from_slice(&other[crowd.clone()]);
            if bits < width {
                sort(&mut keys[crowd.clone()], &mut other[crowd], row_bits);
            }
        }
        return;
    }

    let bits = width.min(CROWD_BITS);
    let shift = row_bits + width - bits;
    Digit { shift, bits: bits / 2 }.deal(keys, other);
    Digit { shift: shift + bits / 2, bits: bits.div_ceil(2) }.deal(other, keys);
    if bits < width {
        for crowd in keys.chunk_by_mut(|left, right| left >> shift == right >> shift).filter(|crowd| crowd.len() > 1) {
            let count = crowd.len();
            sort(crowd, &mut other[..count], row_bits);
        }
    }
}

/// Some neighbouring bits of a key.
#[derive(Clone, Copy)]
struct Digit {
    shift: u32,
    bits: u32,
}

/// Where each crowd ends, by digit.
type Ends = [u32; 1 << DIGIT_BITS];

impl Digit {
    fn of(self, key: u64) -> usize {
        (key >> self.shift) as usize & ((1 << self.bits) - 1)
    }

    /// Copies `from` to `to` in the order of the digit; keys that agree in it keep their order.
    fn deal(self, from: &[u64], to: &mut [u64]) -> Ends {
        let mut places = [0; 1 << DIGIT_BITS];
        for &key in from {
            places[self.of(key)] += 1;
        }
        let mut start = 0;
        for place in &mut places[..1 << self.bits] {
            start += std::mem::replace(place, start);
        }
        for &key in from {
            let place = &mut places[self.of(key)];
            to[*place as usize] = key;
            *place += 1;
        }
        places
    }

    /// Keys that agree in the digit, in its order.
    fn crowds(self, ends: &Ends) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        ends[..1 << self.bits].iter().map(move |&end| {
            let crowd = start..end as usize;
            start = end as usize;
            crowd
        })
    }
}

#[cfg(test)]
mod tests {
    use super::sort;

    fn check(times: impl Iterator<Item = u64>, row_bits: u32) {
        let mut keys: Vec<u64> = times.zip(0..).map(|(time, row)| time << row_bits | row).collect();
        let mut expected = keys.clone();
        expected.sort();
        let mut other = vec![0; keys.len()];
        sort(&mut keys, &mut other, row_bits);
        assert!(keys == expected);
    }

    #[test]
    fn every_crowd_is_sorted() {
        let noise = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        for count in [0, 1, 2, 48, 49, 5_000, 9_000] {
            check((0..count).map(noise), 14);
            check((0..count).rev(), 14);
            check((0..count).map(|_| 7), 14);
            check((0..count).map(|row| row % 3), 14);
            // All but one within the lowest bits.
            check((0..count).map(|row| if row == 9 { 1 << 50 } else { noise(row) % 4_096 }), 14);
            // Two crowds, each with crowds of its own.
            check((0..count).map(|row| (row % 2) << 49 | (noise(row) % 5) << 30 | (noise(row) % 1_000)), 14);
        }
        check((0..70_000).map(noise), 17);
        check((0..70_000).map(|row| noise(row) & 0xff_ffff), 17);
    }
}
