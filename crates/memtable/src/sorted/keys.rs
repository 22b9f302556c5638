//! Sorting keys of 64 bits: a time in the upper bits, a row in the lower ones. No key comes twice.
//!
//! The upper bits are dealt out first, as many as tell most keys apart: two rounds of at most ten bits, whatever the width of
//! the times. What they leave together is little, and is sorted by comparing; where it is much (times that crowd together), the
//! same is done again with the bits below.

/// Bits of a time that are dealt out in one round. More would be more places at once than the caches hold.
const DIGIT_BITS: u32 = 10;

/// So many keys are sorted by comparing.
const FEW: usize = 1 << DIGIT_BITS;

/// Sorts `keys`, whose lowest `row_bits` bits rise where the others are equal. `other` is of the same length, for scratch.
pub(super) fn sort(keys: &mut [u64], other: &mut [u64], row_bits: u32) {
    if keys.len() <= FEW {
        return keys.sort_unstable();
    }
    let (every, some) = keys.iter().fold((u64::MAX, 0), |(every, some), key| (every & key, some | key));
    let width = u64::BITS - ((every ^ some) >> row_bits).leading_zeros();
    let bits = width.min(keys.len().ilog2()).min(2 * DIGIT_BITS);
    let shift = row_bits + width - bits;
    match bits {
        0 => return, // one time: in order from the start
        1..=DIGIT_BITS => {
            deal(keys, other, shift, bits);
            keys.copy_from_slice(other);
        }
        _ => {
            let low = bits / 2;
            deal(keys, other, shift, low);
            deal(other, keys, shift + low, bits - low);
        }
    }
    if shift == row_bits {
        return;
    }
    for crowd in keys.chunk_by_mut(|left, right| left >> shift == right >> shift).filter(|crowd| crowd.len() > 1) {
        let count = crowd.len();
        sort(crowd, &mut other[..count], row_bits);
    }
}

/// Copies `from` to `to` in the order of the `bits` bits from `shift` on; keys that agree in them keep their order.
fn deal(from: &[u64], to: &mut [u64], shift: u32, bits: u32) {
    let digit = |key: u64| (key >> shift) as usize & ((1 << bits) - 1);
    let mut places = [0_u32; 1 << DIGIT_BITS];
    for &key in from {
        places[digit(key)] += 1;
    }
    let mut start = 0;
    for place in &mut places {
        start += std::mem::replace(place, start);
    }
    for &key in from {
        let place = &mut places[digit(key)];
        to[*place as usize] = key;
        *place += 1;
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
        for count in [0, 1, 2, 1_024, 1_025, 5_000] {
            check((0..count).map(noise), 13);
            check((0..count).rev(), 13);
            check((0..count).map(|_| 7), 13);
            check((0..count).map(|row| row % 3), 13);
            // All but one within the lowest bits.
            check((0..count).map(|row| if row == 9 { 1 << 50 } else { noise(row) % 4_096 }), 13);
            // Two crowds, each with crowds of its own.
            check((0..count).map(|row| (row % 2) << 49 | (noise(row) % 5) << 30 | noise(row) % 1_000), 13);
        }
        check((0..70_000).map(noise), 17);
        check((0..70_000).map(|row| noise(row) & 0xff_ffff), 17);
    }
}
