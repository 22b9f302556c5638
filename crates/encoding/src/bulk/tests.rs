//! Every detected kernel against the portable one and against the value-by-value definition, at every
//! length 0..=130 and every alignment 0..=63 of the byte side.

use std::mem::MaybeUninit;

use super::{dates, dispatch, portable};
use crate::{CANONICAL_NAN_32, CANONICAL_NAN_64};

const VALUES_MAX: usize = 130;
const ALIGNMENT: usize = 64;
const GUARD: u8 = 0xa5;

/// Bits with the values that matter in front: zeros, extremes, infinities, NaNs of all kinds, small ones.
fn bits() -> Vec<u64> {
    let edges = [
        0,
        1,
        u64::MAX,
        1 << 63,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0xfff8_dead_beef_0001,
        0x7ff0_0000_0000_0001,
        0x7f80_0000_ff80_0000,
        0x7fc0_0000_ffc1_2345,
        0xffc1_2345_7fc0_0000,
        0x8000_0000_ffc1_2345,
        0x0000_0001_7f80_0001,
        0x0000_0000_ff80_0000,
        0x0123_4567_89ab_cdef,
    ];
    let mixed = (0..).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17));
    edges.into_iter().chain(mixed).take(VALUES_MAX).collect()
}

/// A byte slice of `size` at `alignment` past a 64-byte border, with guard bytes around it.
fn with_slice(size: usize, alignment: usize, write: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut buffer = vec![GUARD; size + 3 * ALIGNMENT];
    let start = buffer.as_ptr().align_offset(ALIGNMENT) + alignment;
    write(&mut buffer[start..start + size]);
    let (before, rest) = buffer.split_at(start);
    let (bytes, after) = rest.split_at(size);
    assert!(before.iter().chain(after).all(|byte| *byte == GUARD), "neighbours are untouched");
    bytes.to_vec()
}

/// The kernel compiled for SSSE3, which a machine with AVX2 never chooses by itself.
macro_rules! ssse3 {
    ($name:ident) => {
        |a, b| {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("ssse3") {
                #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
                // SAFETY: the body is safe code; this processor has SSSE3, as just detected.
                return unsafe { dispatch::$name::ssse3(a, b) };
            }
            dispatch::$name(a, b);
        }
    };
}

fn check_write<T: Copy>(
    values: &[T],
    width: usize,
    detected: impl Fn(&mut [u8], &[T]),
    narrow: impl Fn(&mut [u8], &[T]),
    portable: impl Fn(&mut [u8], &[T]),
    spare: impl Fn(&mut [MaybeUninit<u8>], &[T]),
    expected: impl Fn(T) -> Vec<u8>,
) {
    for count in 0..=values.len() {
        let values = &values[..count];
        let expected: Vec<u8> = values.iter().flat_map(|value| expected(*value)).collect();
        assert_eq!(expected.len(), count * width);
        for alignment in 0..ALIGNMENT {
            assert_eq!(with_slice(count * width, alignment, |out| detected(out, values)), expected);
            assert_eq!(with_slice(count * width, alignment, |out| narrow(out, values)), expected);
        }
        assert_eq!(with_slice(count * width, count % 64, |out| portable(out, values)), expected);
        let mut out = vec![MaybeUninit::new(GUARD); count * width];
        spare(&mut out, values);
        #[expect(unsafe_code, reason = "reads back what the kernel wrote")]
        // SAFETY: every byte was initialised with the guard above.
        let bytes = unsafe { out.assume_init_ref() };
        assert_eq!(bytes, expected);
    }
}

fn check_read<T: Copy + Default>(
    width: usize,
    detected: impl Fn(&[u8], &mut [T]),
    narrow: impl Fn(&[u8], &mut [T]),
    portable: impl Fn(&[u8], &mut [T]),
    to_wire: impl Fn(T) -> Vec<u8>,
) {
    let bytes: Vec<u8> = bits().iter().chain(&[1]).flat_map(|bits| bits.to_le_bytes()).collect();
    for count in 0..=VALUES_MAX {
        let size = count * width;
        for alignment in 0..ALIGNMENT {
            let input = &bytes[alignment % 8..];
            let mut shifted = Vec::new();
            let [mut actual, mut small, mut plain] = [(); 3].map(|()| vec![T::default(); count]);
            with_slice(size, alignment, |place| {
                place.copy_from_slice(&input[..size]);
                detected(place, &mut actual);
                narrow(place, &mut small);
                portable(place, &mut plain);
                shifted.extend_from_slice(place);
            });
            let back = |values: &[T]| values.iter().flat_map(|v| to_wire(*v)).collect::<Vec<u8>>();
            assert_eq!(back(&actual), shifted);
            assert_eq!(back(&small), shifted);
            assert_eq!(back(&plain), shifted);
        }
    }
}

#[test]
fn i32s() {
    let values: Vec<i32> = bits().iter().map(|bits| *bits as i32).collect();
    check_write(&values, 4, dispatch::write_i32s, ssse3!(write_i32s), portable::write_i32s, dispatch::write_i32s, |value| {
        value.to_be_bytes().to_vec()
    });
    check_read(4, dispatch::read_i32s, ssse3!(read_i32s), portable::read_i32s, |value| value.to_be_bytes().to_vec());
}

#[test]
fn i64s() {
    let values: Vec<i64> = bits().iter().map(|bits| *bits as i64).collect();
    check_write(&values, 8, dispatch::write_i64s, ssse3!(write_i64s), portable::write_i64s, dispatch::write_i64s, |value| {
        value.to_be_bytes().to_vec()
    });
    check_read(8, dispatch::read_i64s, ssse3!(read_i64s), portable::read_i64s, |value| value.to_be_bytes().to_vec());
}

#[test]
fn f32s_write_one_nan_and_read_all() {
    let values: Vec<f32> = bits().iter().map(|bits| f32::from_bits(*bits as u32)).collect();
    assert!(values.iter().filter(|value| value.is_nan()).count() >= 3);
    check_write(&values, 4, dispatch::write_f32s, ssse3!(write_f32s), portable::write_f32s, dispatch::write_f32s, |value| {
        match value.is_nan() {
            true => CANONICAL_NAN_32.to_be_bytes().to_vec(),
            false => value.to_bits().to_be_bytes().to_vec(),
        }
    });
    check_read(4, dispatch::read_f32s, ssse3!(read_f32s), portable::read_f32s, |value: f32| {
        value.to_bits().to_be_bytes().to_vec()
    });
}

#[test]
fn f64s_write_one_nan_and_read_all() {
    let values: Vec<f64> = bits().iter().map(|bits| f64::from_bits(*bits)).collect();
    assert!(values.iter().filter(|value| value.is_nan()).count() >= 3);
    check_write(&values, 8, dispatch::write_f64s, ssse3!(write_f64s), portable::write_f64s, dispatch::write_f64s, |value| {
        match value.is_nan() {
            true => CANONICAL_NAN_64.to_be_bytes().to_vec(),
            false => value.to_bits().to_be_bytes().to_vec(),
        }
    });
    check_read(8, dispatch::read_f64s, ssse3!(read_f64s), portable::read_f64s, |value: f64| {
        value.to_bits().to_be_bytes().to_vec()
    });
}

#[test]
fn bools() {
    let values: Vec<bool> = bits().iter().map(|bits| bits.count_ones() % 2 == 1).collect();
    check_write(&values, 1, dispatch::write_bools, ssse3!(write_bools), portable::write_bools, dispatch::write_bools, |value| {
        vec![u8::from(value)]
    });
    let mut out = [false; 4];
    dispatch::read_bools(&[0, 1, 2, 255], &mut out);
    assert_eq!(out, [false, true, true, true]);
    let bytes: Vec<u8> = bits().iter().map(|bits| if bits.count_ones() % 3 == 0 { 0 } else { *bits as u8 }).collect();
    let mut buffer = vec![0_u8; VALUES_MAX + 2 * 64];
    let aligned = buffer.as_ptr().align_offset(64);
    for count in 0..=VALUES_MAX {
        for alignment in 0..64 {
            let input = &mut buffer[aligned + alignment..][..count];
            input.copy_from_slice(&bytes[..count]);
            let [mut detected, mut small, mut plain] = [(); 3].map(|()| vec![false; count]);
            dispatch::read_bools(input, &mut detected);
            ssse3!(read_bools)(input, &mut small);
            portable::read_bools(input, &mut plain);
            assert!(detected == plain && small == plain);
            assert!(plain.iter().zip(&bytes).all(|(value, byte)| *value == (*byte != 0)));
        }
    }
}

#[test]
#[should_panic(expected = "output has room for exactly the values")]
fn an_output_of_another_size_is_refused() {
    dispatch::write_i32s(&mut [0_u8; 9], &[1, 2]);
}

#[test]
#[should_panic(expected = "input holds exactly the values")]
fn an_input_of_another_size_is_refused() {
    dispatch::read_i64s(&[0; 16], &mut [0; 3]);
}

/// Every day of years 1 to 9999, by counting them.
fn calendar() -> Vec<i32> {
    let mut days = Vec::with_capacity(3_652_059);
    for year in 1..=9999 {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for (month, length) in (1..).zip([31, 28 + i32::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
            days.extend((1..=length).map(|day| year * 10_000 + month * 100 + day));
        }
    }
    days
}

#[test]
fn every_day_of_the_calendar_converts_both_ways() {
    let calendar = calendar();
    let epoch = calendar.binary_search(&19_700_101).unwrap() as i32;
    let expected: Vec<i32> = (0..calendar.len() as i32).map(|index| index - epoch).collect();
    let (mut days, mut dates) = (vec![0; calendar.len()], vec![0; calendar.len()]);
    dispatch::dates_to_days(&calendar, &mut days);
    assert!(days == expected);
    dispatch::days_to_dates(&days, &mut dates);
    assert!(dates == calendar);
    let extremes = [i32::MIN, i32::MAX, -1, 0];
    dispatch::days_to_dates(&extremes, &mut dates[..4]);
    assert_eq!(dates[..4], [10_101, 99_991_231, 19_691_231, 19_700_101]);
    dispatch::dates_to_days(&extremes, &mut days[..4]); // some day, and no overflow
}

#[test]
fn detected_date_kernels_equal_the_portable_ones() {
    let calendar = &calendar()[700_000..];
    for count in 0..=VALUES_MAX {
        for start in 0..16 {
            let input = &calendar[start * 977..][..count];
            let (mut detected, mut plain) = (vec![0; count], vec![0; count]);
            dispatch::dates_to_days(input, &mut detected);
            dates::dates_to_days(input, &mut plain);
            assert_eq!(detected, plain);
            ssse3!(dates_to_days)(input, &mut plain[..]);
            assert_eq!(detected, plain);
            ssse3!(days_to_dates)(&detected, &mut plain[..]);
            assert_eq!(plain, input);
            dispatch::days_to_dates(&detected, &mut plain);
            assert_eq!(plain, input);
            let mut bad_count = 9;
            dates::check_dates(input, &mut bad_count);
            assert_eq!((dispatch::are_dates(input), bad_count), (true, 0));
            ssse3!(check_dates)(input, &mut bad_count);
            assert_eq!(bad_count, 0);
            if let [.., last] = input {
                let bad: Vec<i32> = input[1..].iter().map(|day| day + 100).chain([-last]).collect();
                let mut bad_counts = [0; 2];
                ssse3!(check_dates)(&bad, &mut bad_counts[0]);
                dates::check_dates(&bad, &mut bad_counts[1]);
                assert!(bad_counts[0] == bad_counts[1] && bad_counts[0] > 0);
                assert!(!dispatch::are_dates(&bad));
            }
        }
    }
}

#[test]
fn only_days_of_the_calendar_are_dates() {
    let calendar = calendar();
    let around = (9_990_000..10_050_000).chain(20_000_000..20_050_000).chain(99_980_000..100_000_300);
    for date in around.chain([i32::MIN, i32::MAX, -20_240_101, 0]) {
        let is_day = date >= 10_000_101 && calendar.binary_search(&date).is_ok();
        assert_eq!(dispatch::are_dates(&[20_240_229, date]), is_day, "{date}");
    }
    assert!(dispatch::are_dates(&[]));
}

fn check_rise(times: &[i64]) {
    let expected = times.is_sorted_by(|time, next| time < next);
    assert_eq!(dispatch::times_rise(times), expected, "{times:?}");
    let mut doubts = [0; 2];
    ssse3!(doubt_rise)(times, &mut doubts[0]);
    portable::doubt_rise(times, &mut doubts[1]);
    assert_eq!(doubts[0] < 0, doubts[1] < 0, "{times:?}");
    assert!(expected || doubts[1] < 0, "{times:?}");
}

#[test]
fn times_rise_or_do_not() {
    let cases: [(&[i64], bool); 9] = [
        (&[], true),
        (&[5], true),
        (&[-1, 0, 1], true),
        (&[i64::MIN, i64::MAX], true),
        (&[i64::MIN, 0, i64::MAX], true),
        (&[1, 1], false),
        (&[1, 2, 3, 4, 3], false),
        (&[i64::MAX, i64::MIN], false),
        (&[0, i64::MIN, i64::MAX], false),
    ];
    for (times, expected) in cases {
        assert_eq!(dispatch::times_rise(times), expected, "{times:?}");
        check_rise(times);
    }
    for count in 0..=VALUES_MAX {
        let rising: Vec<i64> = (0..count as i64).map(|index| index * index - 70).collect();
        check_rise(&rising);
        for at in 1..count {
            for fault in [rising[at - 1], rising[at - 1] - 1, i64::MIN, i64::MAX] {
                let mut times = rising.clone();
                times[at] = fault;
                check_rise(&times);
            }
        }
    }
}
