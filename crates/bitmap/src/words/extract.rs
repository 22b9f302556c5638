//! Bits of some rows, packed together.

use super::{assert_holds, copy_at, load, low_mask, word_count};

/// The bits of `word` where `mask` is set, next to each other from the lowest on, zeros above.
#[inline]
pub fn extract(word: u64, mut mask: u64) -> u64 {
    if mask == u64::MAX {
        return word;
    }
    let (mut packed, mut at) = (0, 0);
    while mask != 0 {
        let start = mask.trailing_zeros();
        let count = (mask >> start).trailing_ones();
        let run = low_mask(count as usize);
        packed |= (word >> start & run) << at;
        at += count;
        mask &= !(run << start);
    }
    packed
}

/// Replaces `out` by the bits that `bits` gives, word by word, of the rows whose bits are set in what `mask` gives: bit i of `out` is
/// that of the i-th such row. Both speak of rows `0..row_count`; bits past them mean nothing. Gives the number of bits.
pub fn extract_to(bits: impl Fn(usize) -> u64, mask: impl Fn(usize) -> u64, row_count: usize, out: &mut Vec<u64>) -> usize {
    out.clear();
    let mut count = 0;
    for index in 0..word_count(row_count) {
        let mask = mask(index) & low_mask(row_count - 64 * index);
        let packed = extract(bits(index), mask);
        let (shift, added) = (count % 64, mask.count_ones() as usize);
        if shift == 0 {
            out.push(packed);
        } else {
            let last = out.len() - 1;
            out[last] |= packed << shift;
            out.push(packed >> (64 - shift));
        }
        count += added;
        out.truncate(word_count(count));
    }
    count
}

/// Moves the `count` bits from `src` on down to those from `dst` on, in one slice; `dst` is not above `src`.
///
/// # Panics
/// When the slice does not hold them, or `dst` is above `src`.
pub fn move_down(words: &mut [u64], dst: usize, src: usize, count: usize) {
    assert!(dst <= src, "bits are moved down");
    assert_holds(words, src, count);
    let mut done = 0;
    while done < count {
        let now = (count - done).min(64);
        let bits = load(words, src + done);
        copy_at(words, dst + done, &[bits], 0, now);
        done += now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::get;
    use super::*;

    #[test]
    fn bits_of_chosen_rows_come_together() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        for row_count in 0..=200_usize {
            for pattern in 0..6 {
                let bits: Vec<u64> = (0..=row_count / 64).map(|_| random()).collect();
                let mask: Vec<u64> = (0..=row_count / 64)
                    .map(|_| match pattern {
                        0 => 0,
                        1 => u64::MAX,
                        2 => random() & random(),
                        3 => random() | random(),
                        4 => u64::MAX << (random() % 64),
                        _ => random(),
                    })
                    .collect();
                let expected: Vec<bool> = (0..row_count).filter(|row| get(&mask, *row)).map(|row| get(&bits, row)).collect();
                let mut out = vec![1, 2, 3];
                assert_eq!(extract_to(|index| bits[index], |index| mask[index], row_count, &mut out), expected.len());
                assert_eq!(out.len(), word_count(expected.len()));
                assert_eq!((0..expected.len()).map(|row| get(&out, row)).collect::<Vec<_>>(), expected);

                let (src, dst) = (row_count / 3, row_count / 5);
                let mut moved = bits.clone();
                move_down(&mut moved, dst, src, row_count - src);
                for bit in 0..row_count {
                    let from = if (dst..dst + row_count - src).contains(&bit) { bit - dst + src } else { bit };
                    assert_eq!(get(&moved, bit), get(&bits, from), "{row_count} {bit}");
                }
            }
        }
    }
}
