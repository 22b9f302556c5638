//! Every encoding with every type: what goes in comes out, at every length from 0 to 300, every width, and at the extremes.

mod support;

use proptest::prelude::*;
use support::{back, bits, encoded};
use tsloom_codec::{EncodeOptions, compress, decode_start, decode_times, encode_times, start_size_max};
use tsloom_model::{DataType, Encoding, ErrorKind, TextValues, Values};

/// Encodings that are written, and whose values come back bit for bit.
fn exact_pairs() -> Vec<(DataType, Encoding)> {
    let mut pairs = Vec::new();
    for &data_type in DataType::ALL {
        for &encoding in Encoding::ALL {
            let scaled = matches!(encoding, Encoding::Ts2Diff | Encoding::Rle) && is_float(data_type);
            let probe = encoded(encoding, data_type, &column(data_type, &[0]), EncodeOptions::default());
            if data_type.allows(encoding) && !scaled && !matches!(&probe, Err(error) if error.kind() == ErrorKind::Unsupported) {
                pairs.push((data_type, encoding));
            }
        }
    }
    pairs
}

fn is_float(data_type: DataType) -> bool {
    matches!(data_type, DataType::Float | DataType::Double)
}

/// A column of this type out of any 64 bits a value.
fn column(data_type: DataType, seeds: &[u64]) -> Values {
    match data_type {
        DataType::Boolean => Values::Boolean(seeds.iter().map(|seed| seed & 1 == 1).collect()),
        DataType::Int32 | DataType::Date => Values::Int32(seeds.iter().map(|seed| *seed as i32).collect()),
        DataType::Int64 | DataType::Timestamp => Values::Int64(seeds.iter().map(|seed| *seed as i64).collect()),
        DataType::Float => Values::Float(seeds.iter().map(|seed| f32::from_bits(*seed as u32)).collect()),
        DataType::Double => Values::Double(seeds.iter().map(|seed| f64::from_bits(*seed)).collect()),
        DataType::Text | DataType::String | DataType::Blob => {
            let mut text = TextValues::default();
            seeds.iter().for_each(|seed| text.push(&seed.to_be_bytes()[..(*seed % 9) as usize]));
            Values::Text(text)
        }
    }
}

/// PLAIN writes one NaN only; everything else keeps payloads.
fn expected(data_type: DataType, encoding: Encoding, input: &Values) -> Values {
    match (encoding, input) {
        (Encoding::Plain, Values::Float(values)) => {
            Values::Float(values.iter().map(|value| if value.is_nan() { f32::from_bits(0x7fc0_0000) } else { *value }).collect())
        }
        (Encoding::Plain, Values::Double(values)) => {
            let canonical = f64::from_bits(0x7ff8_0000_0000_0000);
            Values::Double(values.iter().map(|value| if value.is_nan() { canonical } else { *value }).collect())
        }
        _ => {
            assert_eq!(input.physical(), data_type.physical());
            input.clone()
        }
    }
}

#[track_caller]
fn check(data_type: DataType, encoding: Encoding, seeds: &[u64]) {
    let input = column(data_type, seeds);
    match encoded(encoding, data_type, &input, EncodeOptions::default()) {
        Ok(bytes) => {
            let back = back(encoding, data_type, &bytes, input.len());
            let back = back.unwrap_or_else(|error| panic!("{data_type} {encoding} {seeds:x?}: {error}"));
            assert_eq!(bits(&back), bits(&expected(data_type, encoding, &input)), "{data_type} {encoding} {seeds:x?}");
        }
        // SPRINTZ has no code for some steps and says so.
        Err(error) => {
            assert_eq!((encoding, error.kind()), (Encoding::Sprintz, ErrorKind::InvalidArgument), "{data_type}: {error}");
        }
    }
}

/// A stream of numbers that is the same everywhere (SplitMix64).
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

#[test]
fn every_length() {
    for (data_type, encoding) in exact_pairs() {
        let mut random = numbers(1);
        for length in 0..=300 {
            check(data_type, encoding, &random.by_ref().take(length).collect::<Vec<_>>());
            check(data_type, encoding, &(0..length as u64).map(|row| 1000 + row * 7 % 11).collect::<Vec<_>>());
        }
    }
}

/// The beginning alone gives what the whole column begins with.
#[test]
fn the_start_of_a_column() {
    for (data_type, encoding) in exact_pairs() {
        for (length, mask) in [(1, 0), (129, 0xff), (130, u64::MAX), (700, u64::MAX), (1_000, 0x3ff)] {
            let input = column(data_type, &numbers(length as u64).take(length).map(|bits| bits & mask).collect::<Vec<_>>());
            let Ok(bytes) = encoded(encoding, data_type, &input, EncodeOptions::default()) else { continue };
            let whole = bits(&back(encoding, data_type, &bytes, length).unwrap());
            for end in [0, 1, 2, 128, 129, 130, 258, 259, 699, length].into_iter().filter(|end| *end <= length) {
                let Some(size) = start_size_max(encoding, data_type, end) else { continue };
                let start = &bytes[..bytes.len().min(size)];
                for first in [0, end / 2, end.saturating_sub(1), end] {
                    let mut values = Values::new(data_type.physical());
                    decode_start(encoding, data_type, start, length, first..end, &mut values).unwrap();
                    assert_eq!(bits(&values), whole[first..end], "{data_type} {encoding}: {first}..{end} of {length}");
                }
            }
        }
    }
}

#[test]
fn every_width() {
    for (data_type, encoding) in exact_pairs() {
        for width in 1..=64 {
            let mask = u64::MAX >> (64 - width);
            for length in [1, 2, 9, 64, 129, 130, 300] {
                check(data_type, encoding, &numbers(width).take(length).map(|bits| bits & mask).collect::<Vec<_>>());
                // Steps of exactly this width, up and down.
                check(data_type, encoding, &(0..length as u64).map(|row| row % 2 * mask).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn extremes_and_runs() {
    let extremes = [
        0,
        1,
        u64::MAX,
        i64::MIN as u64,
        i64::MAX as u64,
        i32::MIN as u64,
        i32::MAX as u64,
        1 << 31,
        1 << 63,
        0x7fc0_0000,           // canonical NaN of FLOAT
        0xffc1_2345,           // another NaN
        0x7f80_0000,           // infinity
        0x8000_0000,           // -0.0
        0x7ff8_0000_0000_0000, // canonical NaN of DOUBLE
        0xfff0_0000_0000_0001, // another NaN
        0x7ff0_0000_0000_0000,
    ];
    for (data_type, encoding) in exact_pairs() {
        for &a in &extremes {
            check(data_type, encoding, &[a]);
            check(data_type, encoding, &[a; 300]);
            for &b in &extremes {
                check(data_type, encoding, &[a, b]);
                check(data_type, encoding, &[a, a, b, b, a]);
                check(data_type, encoding, &[[a; 20], [b; 20]].concat());
            }
        }
        check(data_type, encoding, &[5; 40_000]);
        check(data_type, encoding, &numbers(3).take(20_500).collect::<Vec<_>>());
    }
}

/// Differences of squares change in every value: block ends must fall on the right byte (reported upstream).
#[test]
fn squares_over_many_blocks() {
    let squares: Vec<u64> = (0..10_000).map(|row| row * row).collect();
    for data_type in [DataType::Int32, DataType::Int64, DataType::Timestamp, DataType::Date] {
        for (_, encoding) in exact_pairs().into_iter().filter(|(of, _)| *of == data_type) {
            check(data_type, encoding, &squares);
        }
    }
}

#[test]
fn times_round_trip_and_are_counted() {
    let mut random = numbers(9);
    for length in 0..400 {
        let times: Vec<i64> = random.by_ref().take(length).map(|bits| bits as i64 >> (length % 64)).collect();
        let mut bytes = Vec::new();
        encode_times(&times, &mut bytes);
        assert_eq!(tsloom_codec::count_times(Encoding::Ts2Diff, &bytes).unwrap(), length);
        let mut back = vec![-1];
        decode_times(Encoding::Ts2Diff, &bytes, length, &mut back, &mut Default::default()).unwrap();
        assert_eq!(back[1..], times);
        for wrong in [length + 1, length.wrapping_sub(1)] {
            if wrong != usize::MAX {
                let mut back = vec![-1];
                assert!(decode_times(Encoding::Ts2Diff, &bytes, wrong, &mut back, &mut Default::default()).is_err());
                assert_eq!(back, [-1]);
            }
        }
    }
}

/// What a scaled encoding gives back is the decimal with so many places that is nearest, or the value itself where it leaves
/// the integer range.
#[test]
fn scaled_floats_keep_the_decimals_that_were_named() {
    for encoding in [Encoding::Ts2Diff, Encoding::Rle] {
        for p in [0, 1, 2, 6, 17] {
            let options = EncodeOptions { max_point_number: Some(p) };
            let doubles = vec![0.0, 1.0, -2.25, 0.125, 1e300, f64::NAN, f64::INFINITY, -1e18, 4e17, 123_456.789, -0.5];
            let input = Values::Double(doubles.clone());
            let bytes = encoded(encoding, DataType::Double, &input, options).unwrap();
            let Values::Double(back) = back(encoding, DataType::Double, &bytes, doubles.len()).unwrap() else { unreachable!() };
            let mut changed = 0;
            for (value, back) in doubles.iter().zip(&back) {
                changed += usize::from(value.to_bits() != back.to_bits());
                let step = 0.5 * 10_f64.powi(-(p as i32));
                assert!(value.to_bits() == back.to_bits() || (value - back).abs() <= step * 1.000_001, "{value} {back} p = {p}");
            }
            assert_eq!(tsloom_codec::scaled::changed_f64s(&doubles, p), changed, "p = {p}");
        }
    }
}

#[test]
fn floats_are_scaled_only_when_the_caller_names_the_decimals() {
    for encoding in [Encoding::Ts2Diff, Encoding::Rle] {
        for data_type in [DataType::Float, DataType::Double] {
            let error = encoded(encoding, data_type, &column(data_type, &[1, 2]), EncodeOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains("max_point_number"), "{error}");
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let column = Values::Int32(vec![1]);
    let refused = |encoding, data_type| encoded(encoding, data_type, &column, EncodeOptions::default()).unwrap_err().kind();
    assert_eq!(refused(Encoding::Plain, DataType::Int64), ErrorKind::SchemaMismatch);
    assert_eq!(refused(Encoding::Dictionary, DataType::Int32), ErrorKind::InvalidArgument);
    assert_eq!(back(Encoding::Camel, DataType::Int32, &[0], 1).unwrap_err().kind(), ErrorKind::Corrupt);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Values that wander, as sensors do: each encoding sees its short codes.
    #[test]
    fn wandering_values(start in any::<u64>(), steps in prop::collection::vec((0_u32..64, any::<u64>()), 0..300)) {
        let mut value = start;
        let seeds: Vec<u64> = steps
            .iter()
            .map(|(width, bits)| {
                value = if bits & 3 == 0 { value } else { value.wrapping_add_signed((*bits as i64) >> width) };
                value
            })
            .collect();
        for (data_type, encoding) in exact_pairs() {
            check(data_type, encoding, &seeds);
        }
    }

    #[test]
    fn compression_gives_the_bytes_back(repeats in 1_usize..200, piece in prop::collection::vec(any::<u8>(), 0..600)) {
        let input = piece.repeat(repeats);
        let mut scratch = compress::CompressScratch::default();
        for &compression in tsloom_model::Compression::ALL.iter().filter(|it| compress::is_writable(**it)) {
            let mut bytes = vec![7];
            compress::compress(compression, &input, &mut bytes, &mut scratch).unwrap();
            let mut fresh = vec![7];
            compress::compress(compression, &input, &mut fresh, &mut compress::CompressScratch::default()).unwrap();
            prop_assert!(bytes == fresh, "{compression}: used tables change nothing");
            let mut back = vec![9];
            compress::decompress(compression, &bytes[1..], input.len(), &mut back, &mut scratch).unwrap();
            prop_assert!(back[1..] == input && back[0] == 9, "{compression}");
            let mut filled = vec![1; input.len()];
            compress::decompress_into(compression, &bytes[1..], &mut filled, &mut scratch).unwrap();
            prop_assert!(filled == input, "{compression}");
            for wrong in [input.len() + 1, input.len().saturating_sub(1), usize::MAX] {
                if wrong != input.len() {
                    let mut back = vec![9];
                    prop_assert!(compress::decompress(compression, &bytes[1..], wrong, &mut back, &mut scratch).is_err());
                    prop_assert!(back == [9]);
                }
            }
        }
    }
}
