//! Every kernel against bitvec, by enumeration of lengths, starts and counts.

use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;
use bitvec::view::BitView;

use super::*;

const BITS_MAX: usize = 130;

/// Word slices of 0..=130 bits: nothing set, all set, mixed, and sparse. Bits past the length are set in
/// some of them, as they may be in life.
fn patterns(bits: usize) -> Vec<Vec<u64>> {
    let words = word_count(bits);
    let mixed = |salt: u64| (1..=words as u64).map(move |n| (n + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    vec![
        vec![0; words],
        vec![u64::MAX; words],
        mixed(0).collect(),
        mixed(7).map(|word| word & word.rotate_left(7) & word.rotate_left(23)).collect(),
        mixed(9).map(|word| word | word.rotate_left(11) | word.rotate_left(31)).collect(),
    ]
}

fn for_each_range(mut check: impl FnMut(&[u64], usize, usize, &BitSlice<u64, Lsb0>)) {
    for bits in 0..=BITS_MAX {
        for words in patterns(bits) {
            let oracle = words.view_bits::<Lsb0>();
            for start in 0..=bits {
                for count in 0..=bits - start {
                    check(&words, start, count, &oracle[start..start + count]);
                }
            }
        }
    }
}

#[test]
fn range_tests_and_counts_equal_bitvec() {
    for_each_range(|words, start, count, oracle| {
        assert_eq!(any_set(words, start, count), oracle.any(), "{words:x?} {start} {count}");
        assert_eq!(all_set(words, start, count), oracle.all(), "{words:x?} {start} {count}");
        assert_eq!(count_ones(words, start, count), oracle.count_ones(), "{words:x?} {start} {count}");
    });
}

#[test]
fn ones_equal_bitvec() {
    for_each_range(|words, start, count, oracle| {
        assert!(ones(words, start, count).eq(oracle.iter_ones()), "{words:x?} {start} {count}");
    });
}

#[test]
fn runs_cover_the_range_and_alternate() {
    for_each_range(|words, start, count, oracle| {
        let mut at = 0;
        let mut last = None;
        for run in runs(words, start, count) {
            assert_eq!(run.start, at);
            assert!(run.count > 0 && last != Some(run.set));
            let bits = &oracle[at..at + run.count];
            assert!(if run.set { bits.all() } else { bits.not_any() }, "{words:x?} {start} {count}");
            at += run.count;
            last = Some(run.set);
        }
        assert_eq!(at, count);
    });
}

#[test]
fn range_changes_equal_bitvec() {
    for bits in 0..=BITS_MAX {
        for words in patterns(bits) {
            for start in 0..=bits {
                for count in 0..=bits - start {
                    for value in [false, true] {
                        let mut actual = words.clone();
                        let mut expected = words.clone();
                        expected.view_bits_mut::<Lsb0>()[start..start + count].fill(value);
                        if value {
                            set_range(&mut actual, start, count);
                        } else {
                            clear_range(&mut actual, start, count);
                        }
                        assert_eq!(actual, expected, "{start} {count} {value}");
                    }
                }
            }
        }
    }
}

#[test]
fn single_bits_equal_bitvec() {
    for bits in 1..=BITS_MAX {
        for words in patterns(bits) {
            for index in 0..bits {
                assert_eq!(get(&words, index), words.view_bits::<Lsb0>()[index]);
                for value in [false, true] {
                    let mut actual = words.clone();
                    let mut expected = words.clone();
                    expected.view_bits_mut::<Lsb0>().set(index, value);
                    if value {
                        set(&mut actual, index);
                    } else {
                        clear(&mut actual, index);
                    }
                    assert_eq!(actual, expected);
                }
            }
        }
    }
}

#[test]
fn load_equals_bitvec_and_gives_zeros_past_the_end() {
    for bits in 0..=BITS_MAX {
        for words in patterns(bits) {
            let oracle = words.view_bits::<Lsb0>();
            for bit in (0..300).chain([usize::MAX - 64, usize::MAX]) {
                let mut expected = 0_u64;
                for index in 0..64 {
                    let set = bit.checked_add(index).and_then(|bit| oracle.get(bit)).is_some_and(|b| *b);
                    expected |= u64::from(set) << index;
                }
                assert_eq!(load(&words, bit), expected);
            }
        }
    }
}

/// Our moves and bitvec's, at every pair of bit offsets.
#[test]
fn moves_equal_bitvec_at_every_pair_of_offsets() {
    let source = &patterns(260)[2];
    let target = &patterns(260)[3];
    for count in 0..=BITS_MAX {
        for dst_start in 0..=64 {
            for src_start in 0..=64 {
                let from = &source.view_bits::<Lsb0>()[src_start..src_start + count];

                let mut copied = target.clone();
                copied.view_bits_mut::<Lsb0>()[dst_start..dst_start + count].copy_from_bitslice(from);
                let mut merged = target.clone();
                for (index, bit) in from.iter().by_vals().enumerate() {
                    let merged = merged.view_bits_mut::<Lsb0>();
                    let old = merged[dst_start + index];
                    merged.set(dst_start + index, old | bit);
                }

                let mut actual = target.clone();
                copy_at(&mut actual, dst_start, source, src_start, count);
                assert_eq!(actual, copied, "copy {dst_start} {src_start} {count}");
                let mut actual = target.clone();
                or_at(&mut actual, dst_start, source, src_start, count);
                assert_eq!(actual, merged, "or {dst_start} {src_start} {count}");
            }
        }
    }
}

#[test]
fn moves_use_no_word_past_the_range() {
    let mut dst = [0; 2];
    or_at(&mut dst, 1, &[u64::MAX, u64::MAX], 1, 127);
    assert_eq!(dst, [u64::MAX - 1, u64::MAX]);
    copy_at(&mut [], 0, &[], 0, 0);
}

#[test]
#[should_panic(expected = "bits 1 and 128 on, of 128")]
fn moving_past_the_source_is_refused() {
    or_at(&mut [0; 4], 0, &[0; 2], 1, 128);
}
