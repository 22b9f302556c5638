//! Moving values between the rows that have one and all rows, in place, 64 rows a step.
//!
//! ```text
//! nulls     0 1 1 0 0          1 = null
//! packed    a b c              the values of rows that have one, in row order
//! spread    a 0 0 b c          a slot for every row; null rows hold zero
//! ```
//!
//! A step looks at one word of bits: all rows present is one copy, none is one fill, and mixed words go by groups of eight rows:
//! the byte of a group says, through a table of sources, which packed value each row takes. With AVX2 that is one shuffle.

use bytemuck::{Pod, Zeroable};

use crate::dispatch;
use crate::nulls::NullWords;
use crate::words;

/// For each set of present rows among eight, which of the packed values a row takes, one byte a row, and 80 for a null row.
pub(crate) static SOURCES: [[u8; 8]; 256] = {
    let mut sources = [[0x80; 8]; 256];
    let mut present = 0;
    while present < 256 {
        let (mut row, mut next) = (0, 0);
        while row < 8 {
            if present >> row & 1 == 1 {
                sources[present][row] = next;
                next += 1;
            }
            row += 1;
        }
        present += 1;
    }
    sources
};

/// Moves the values that `values` begins with, one for each row that is not null, to their rows; slots of null rows get
/// zero. `values` has a slot for every row.
///
/// # Panics
/// When `values` has another number of slots than `nulls` has rows.
pub fn spread<T: Pod>(values: &mut [T], nulls: NullWords<'_>) {
    assert!(values.len() == nulls.row_count(), "a slot for every row");
    match size_of::<T>() {
        4 | 8 => dispatch::spread(values, nulls),
        _ => spread_by(values, nulls, eight),
    }
}

/// [`spread`] for booleans, which are no plain bytes.
///
/// # Panics
/// As [`spread`].
pub fn spread_bools(values: &mut [bool], nulls: NullWords<'_>) {
    assert!(values.len() == nulls.row_count(), "a slot for every row");
    spread_by(values, nulls, eight);
}

/// The slots of eight rows from packed values.
#[inline(always)]
pub(crate) fn eight<T: Copy + Zeroable>(packed: &[T; 8], present: u8) -> [T; 8] {
    let sources = &SOURCES[usize::from(present)];
    std::array::from_fn(|row| {
        let value = packed[usize::from(sources[row] % 8)];
        if sources[row] < 8 { value } else { T::zeroed() }
    })
}

/// From the back, so that no value is written over before it is read: a row never lies before its packed value.
#[inline(always)]
pub(crate) fn spread_by<T: Copy + Zeroable>(values: &mut [T], nulls: NullWords<'_>, eight: impl Fn(&[T; 8], u8) -> [T; 8]) {
    let row_count = nulls.row_count();
    let mut source = row_count - nulls.null_count();
    for index in (0..nulls.word_count()).rev() {
        let row = index * 64;
        let count = (row_count - row).min(64);
        let present = !nulls.word(index) & words::low_mask(count);
        if present == words::low_mask(count) {
            source -= count;
            values.copy_within(source..source + count, row);
            continue;
        }
        if present == 0 {
            values[row..row + count].fill(T::zeroed());
            continue;
        }
        for bit in (count / 8 * 8..count).rev() {
            let is_present = present >> bit & 1 == 1;
            source -= usize::from(is_present);
            values[row + bit] = if is_present { values[source] } else { T::zeroed() };
        }
        for group in (0..count / 8).rev() {
            let group_present = (present >> (8 * group)) as u8;
            source -= group_present.count_ones() as usize;
            // There are as many slots behind `source`: it is not behind the group's own first row.
            let packed = *values[source..].first_chunk().expect("a row never lies before its packed value");
            let slots = values[row + 8 * group..].first_chunk_mut().expect("the group has eight rows");
            *slots = eight(&packed, group_present);
        }
    }
}

/// Keeps the values whose bits are set in `kept`, in order, at the front of `values`; gives their number. What lies behind them
/// means nothing.
///
/// # Panics
/// When `kept` has fewer bits than there are values.
pub fn gather<T: Copy>(values: &mut [T], kept: &[u64]) -> usize {
    let mut next = 0;
    for (index, row) in (0..values.len()).step_by(64).enumerate() {
        let count = (values.len() - row).min(64);
        let word = kept[index] & words::low_mask(count);
        if word == words::low_mask(count) {
            values.copy_within(row..row + count, next);
            next += count;
            continue;
        }
        let mut left = word;
        while left != 0 {
            values[next] = values[row + left.trailing_zeros() as usize];
            left &= left - 1;
            next += 1;
        }
    }
    next
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_cvtsi64_si128, _mm256_andnot_si256, _mm256_cvtepi8_epi32, _mm256_permutevar8x32_epi32, _mm256_srai_epi32,
    };

    use bytemuck::{Pod, cast};

    use super::SOURCES;
    use crate::nulls::NullWords;

    /// [`SOURCES`] for four rows of 64 bits, each two halves of 32.
    static SOURCES_64: [[u8; 8]; 16] = {
        let mut sources = [[0x80; 8]; 16];
        let mut present = 0;
        while present < 16 {
            let mut row = 0;
            while row < 4 {
                let source = SOURCES[present][row];
                if source < 8 {
                    sources[present][2 * row] = 2 * source;
                    sources[present][2 * row + 1] = 2 * source + 1;
                }
                row += 1;
            }
            present += 1;
        }
        sources
    };

    /// Values of 4 or 8 bytes.
    #[target_feature(enable = "avx2,popcnt")]
    pub(crate) fn spread<T: Pod>(values: &mut [T], nulls: NullWords<'_>) {
        super::spread_by(values, nulls, |packed: &[T; 8], present| {
            if size_of::<T>() == 4 {
                return cast(place(cast(*packed), SOURCES[usize::from(present)]));
            }
            let words: [u64; 8] = cast(*packed);
            let (low, high) = (present & 15, present >> 4);
            let high_start = low.count_ones() as usize;
            let high_words: [u64; 4] = *words[high_start..].first_chunk().expect("at most four values are before these");
            let low_words: [u64; 4] = *words.first_chunk().expect("four of eight");
            let (low, high) = (SOURCES_64[usize::from(low)], SOURCES_64[usize::from(high)]);
            cast([place(cast(low_words), low), place(cast(high_words), high)])
        });
    }

    /// Puts words of 32 bits where `sources` says, zeros where it says 80.
    #[target_feature(enable = "avx2")]
    fn place(packed: __m256i, sources: [u8; 8]) -> __m256i {
        let sources = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(sources)));
        _mm256_andnot_si256(_mm256_srai_epi32::<31>(sources), _mm256_permutevar8x32_epi32(packed, sources))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Null patterns of every length up to 200 and at every bit position that matters: runs, single rows, all, none, random.
    fn patterns(mut each: impl FnMut(NullWords<'_>)) {
        let mut state = 1_u64;
        for row_count in 0..=200 {
            for start in [0, 1, 63] {
                for pattern in 0..8 {
                    let is_null = |row: usize| match pattern {
                        0 => false,
                        1 => true,
                        2 => row.is_multiple_of(2),
                        3 => row.is_multiple_of(8),
                        4 => !row.is_multiple_of(8),
                        5 => (row / 20).is_multiple_of(2),
                        _ => false,
                    };
                    let mut marks = vec![u64::MAX; words::word_count(start + row_count) + 1];
                    for row in 0..row_count {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        let is_null = if pattern < 6 { is_null(row) } else { state >> 60 < pattern };
                        if !is_null {
                            words::clear(&mut marks, start + row);
                        }
                    }
                    each(NullWords::new(&marks, start, row_count));
                }
            }
        }
    }

    fn check_spread<T: Copy + Zeroable + PartialEq + std::fmt::Debug>(
        nulls: NullWords<'_>,
        value_of: impl Fn(usize) -> T,
        routes: &[fn(&mut [T], NullWords<'_>)],
    ) {
        let mut packed = (0..nulls.row_count()).map(&value_of);
        let expected: Vec<T> =
            (0..nulls.row_count()).map(|row| if nulls.is_null(row) { T::zeroed() } else { packed.next().unwrap() }).collect();
        for route in routes {
            let mut values: Vec<T> = (0..nulls.row_count()).map(&value_of).collect();
            route(&mut values, nulls);
            assert_eq!(values, expected, "{nulls:?}");
        }
    }

    #[test]
    fn values_find_their_rows_by_every_route() {
        patterns(|nulls| {
            check_spread(nulls, |n| n as u32 + 1, &[spread, |values, nulls| spread_by(values, nulls, eight)]);
            check_spread(nulls, |n| n as f64 + 0.5, &[spread, |values, nulls| spread_by(values, nulls, eight)]);
            check_spread(nulls, |n| n as u16 + 1, &[spread]);
            check_spread(nulls, |n| n % 3 > 0, &[spread_bools]);
        });
    }

    #[test]
    fn kept_values_come_to_the_front() {
        patterns(|nulls| {
            let mut kept = vec![0; nulls.word_count()];
            nulls.copy_to(&mut kept, 0);
            let mut values: Vec<usize> = (0..nulls.row_count()).collect();
            let count = gather(&mut values, &kept);
            assert_eq!(values[..count], nulls.ones().collect::<Vec<_>>());
        });
    }
}
