//! Operations on words held against bitvec, by enumeration; and ranges that are not there.

use bitvec::prelude::*;
use tsloom_bitmap::{BitMap, BitMapView, NullWords, PresenceView, presence, validity, words};

fn random_words(count: usize, state: &mut u64) -> Vec<u64> {
    let mut next = || {
        *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        *state ^ *state >> 29
    };
    (0..count).map(|_| next()).collect()
}

fn bits(words: &[u64], start: usize, count: usize) -> BitVec<u64, Lsb0> {
    words.view_bits::<Lsb0>()[start..start + count].to_bitvec()
}

#[test]
fn bits_move_down_from_everywhere_to_everywhere() {
    let words = random_words(5, &mut 1);
    for count in 0..=130 {
        for src in 0..=130 {
            for dst in 0..=src {
                let (mut moved, mut expected) = (words.clone(), words.clone());
                words::move_down(&mut moved, dst, src, count);
                expected.view_bits_mut::<Lsb0>()[dst..dst + count].copy_from_bitslice(&bits(&words, src, count));
                assert_eq!(moved, expected, "{count} bits from {src} to {dst}");
            }
        }
    }
}

#[test]
fn bits_of_chosen_rows_come_together() {
    let mut state = 9;
    for row_count in 0..=130 {
        for pattern in 0..20 {
            let (from, random) = (random_words(3, &mut state), random_words(6, &mut state));
            let mask: Vec<u64> = (0..3)
                .map(|index| match pattern % 5 {
                    0 => 0,
                    1 => u64::MAX,
                    2 => random[index] & random[index + 3],
                    3 => random[index] | random[index + 3],
                    _ => random[index],
                })
                .collect();
            let (chosen, all) = (bits(&mask, 0, row_count), bits(&from, 0, row_count));
            let expected: BitVec<u64, Lsb0> = chosen.iter_ones().map(|row| all[row]).collect();
            let mut out = vec![7; 9];
            assert_eq!(words::extract_to(|index| from[index], |index| mask[index], row_count, &mut out), expected.len());
            assert_eq!(out.len(), expected.len().div_ceil(64));
            assert_eq!(bits(&out, 0, expected.len()), expected);
        }
    }
}

#[test]
fn null_words_at_any_place_equal_their_bits() {
    let words = random_words(5, &mut 3);
    let mut out = Vec::new();
    for start in 0..130 {
        for count in 0..=130 {
            let expected = bits(&words, start, count);
            validity::to_nulls(&words, start, count, &mut out);
            assert_eq!(out.len(), count.div_ceil(64));
            assert_eq!(bits(&out, 0, count), !expected.clone());

            let nulls = NullWords::new(&words, start, count);
            for (from, size) in [(0, count), (count / 5, count / 2), (count / 2, count - count / 2), (count, 0)] {
                let (slice, expected) = (nulls.slice(from, size), &expected[from..from + size]);
                let answers = (slice.null_count(), slice.any_null(), slice.all_null());
                assert_eq!(answers, (expected.count_ones(), expected.any(), expected.all()));
                assert!(slice.ones().eq(expected.iter_ones()));
                let mut copied = vec![0x5555_aaaa_1234_8421; 5];
                let mut by_bits = copied.clone();
                slice.copy_to(&mut copied, 61);
                by_bits.view_bits_mut::<Lsb0>()[61..61 + size].copy_from_bitslice(expected);
                assert_eq!(copied, by_bits);
            }
        }
    }
}

#[test]
fn pages_and_tablets_of_many_rows_equal_their_bits() {
    let mut state = 4;
    for row_count in [511, 512, 513, 4_095, 4_096, 4_097, 4_160] {
        let bytes: Vec<u8> =
            random_words(521, &mut state).into_iter().flat_map(u64::to_le_bytes).take(row_count_bytes(row_count)).collect();
        let view = PresenceView::new(&bytes, row_count).expect("there are bytes for all rows");
        let present = &bytes.view_bits::<Msb0>()[..row_count];
        assert_eq!(view.present_count(), present.count_ones());
        let mut nulls = vec![0; row_count.div_ceil(64)];
        view.copy_nulls_to(&mut nulls);
        assert!(present.iter().by_vals().zip(nulls.view_bits::<Lsb0>()).all(|(present, null)| present != *null));
        for start in [0, 1, 13, 63] {
            let mut shifted = vec![u64::MAX; (row_count + start).div_ceil(64)];
            NullWords::new(&nulls, 0, row_count).copy_to(&mut shifted, start);
            let mut page = Vec::new();
            presence::append_from_nulls(Some(NullWords::new(&shifted, start, row_count)), row_count, &mut page);
            assert_eq!(&page.view_bits::<Msb0>()[..row_count], present);
            assert!(page.view_bits::<Msb0>()[row_count..].not_any());
        }
        let marks = BitMapView::new(&bytes, row_count).expect("there are bytes for all rows");
        assert_eq!(marks.null_count(), bytes.view_bits::<Lsb0>()[..row_count].count_ones());
    }
}

fn row_count_bytes(row_count: usize) -> usize {
    row_count.div_ceil(8)
}

#[test]
fn a_range_past_the_end_panics() {
    let full = [u64::MAX];
    let panics = |what: &str, ask: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        assert!(std::panic::catch_unwind(ask).is_err(), "{what}");
    };
    for (start, count) in [(0, 65), (1, 64), (64, 1), (5, usize::MAX), (usize::MAX, 2)] {
        panics("any_set", &|| _ = words::any_set(&full, start, count));
        panics("all_set", &|| _ = words::all_set(&full, start, count));
        panics("count_ones", &|| _ = words::count_ones(&full, start, count));
        panics("set_range", &|| words::set_range(&mut [0], start, count));
        panics("clear_range", &|| words::clear_range(&mut [0], start, count));
        panics("ones", &|| _ = words::ones(&full, start, count));
        panics("runs", &|| _ = words::runs(&full, start, count));
        panics("or_at, source", &|| words::or_at(&mut [0; 2], 0, &full, start, count));
        panics("or_at, target", &|| words::or_at(&mut [0], start, &[0; 2], 0, count));
        panics("move_down", &|| words::move_down(&mut [0], 0, start, count));
        panics("mark_range", &|| BitMap::new(64).mark_range(start, count));
    }
    for start in [0, 1, 64, 1_000] {
        assert!(!words::any_set(&[], start, 0) && words::all_set(&[], start, 0) && words::count_ones(&[], start, 0) == 0);
        assert_eq!(
            (words::ones(&[], start, 0).count(), words::runs(&[], start, 0).count()),
            (0, 0),
            "nothing, wherever it begins"
        );
    }
}
