//! Faults of value encodings that were reported against other systems. Each test names the report.

mod support;

use support::{back, bits, encoded};
use tsloom_codec::EncodeOptions;
use tsloom_model::{DataType, Encoding, ErrorKind, Values};

const TWO_DECIMALS: EncodeOptions = EncodeOptions { max_point_number: Some(2) };

#[track_caller]
fn survives(encoding: Encoding, data_type: DataType, values: &Values) -> Vec<u8> {
    let bytes = encoded(encoding, data_type, values, TWO_DECIMALS).expect("these values fit");
    let back = back(encoding, data_type, &bytes, values.len()).expect("it was just written");
    assert_eq!(bits(&back), bits(values), "{data_type} {encoding}");
    bytes
}

/// apache/tsfile#104, #118: one byte too many was read after each block.
#[test]
fn blocks_of_differences_end_where_they_end() {
    survives(Encoding::Ts2Diff, DataType::Int32, &Values::Int32((0..10_000).map(|i| i * i).collect()));
    survives(Encoding::Ts2Diff, DataType::Int64, &Values::Int64((0..10_000).map(|i| i * i).collect()));
}

/// apache/tsfile#452, #511: the signed varint was written without zigzag.
#[test]
fn negative_integers_stay_negative_in_plain() {
    let bytes = survives(Encoding::Plain, DataType::Int32, &Values::Int32(vec![-1, -12_345, i32::MIN]));
    assert_eq!(bytes, [0x01, 0xf1, 0xc0, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f]);
}

/// apache/tsfile#123, #113: the bit width was wrong for 64-bit values. Java writes 133 bytes.
#[test]
fn runs_of_extreme_integers_have_java_s_size() {
    let values = vec![10, 20, 10, 10, 30, 30, 30, 20, 20, 10, 10, i64::MAX, i64::MIN];
    assert_eq!(survives(Encoding::Rle, DataType::Int64, &Values::Int64(values)).len(), 133);
}

/// thulab/tsfile#117: the packer failed at width 24.
#[test]
fn values_of_24_bits_are_packed() {
    let values = (0..100_000_u32).map(|i| (1 << 23 | i.wrapping_mul(2_654_435_761) >> 9) as i32).collect();
    let bytes = survives(Encoding::Rle, DataType::Int32, &Values::Int32(values));
    assert_eq!(bytes[3], 24, "width after a length of three bytes");
}

/// apache/tsfile#342: a float times 10^precision passed the integer range and wrapped.
#[test]
fn floats_past_the_integer_range_are_kept() {
    for encoding in [Encoding::Rle, Encoding::Ts2Diff] {
        survives(encoding, DataType::Float, &Values::Float(vec![1e20, -1e20, 2.5, f32::MAX, f32::INFINITY]));
        survives(encoding, DataType::Double, &Values::Double(vec![1e20, -1e300, 2.5, f64::MAX, f64::NEG_INFINITY]));
    }
}

/// apache/iotdb#2687: NaN came back as 0.0. Ours keeps the bits.
#[test]
fn not_a_number_stays_so_in_runs() {
    survives(Encoding::Rle, DataType::Double, &Values::Double(vec![f64::NAN]));
    survives(Encoding::Rle, DataType::Float, &Values::Float(vec![f32::from_bits(0xffc1_2345); 20]));
}

/// apache/iotdb#1599: a pair that does not fit was accepted and lost data at the flush.
#[test]
fn an_encoding_that_does_not_fit_is_refused() {
    let values = Values::Boolean(vec![true]);
    let error = encoded(Encoding::Gorilla, DataType::Boolean, &values, TWO_DECIMALS).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.to_string(), "encoding GORILLA does not fit BOOLEAN");
}

/// apache/tsfile#162: encoder and decoder were built for different types.
#[test]
fn every_type_has_its_own_rlbe() {
    survives(Encoding::Rlbe, DataType::Int32, &Values::Int32(vec![1, -1, i32::MIN, i32::MAX, 0]));
    survives(Encoding::Rlbe, DataType::Int64, &Values::Int64(vec![1, -1, i64::MIN, i64::MAX, 0]));
    survives(Encoding::Rlbe, DataType::Float, &Values::Float(vec![1.5, -0.0, f32::MAX, f32::NAN]));
    survives(Encoding::Rlbe, DataType::Double, &Values::Double(vec![1.5, -0.0, f64::MAX, f64::NAN]));
    survives(Encoding::Rlbe, DataType::Date, &Values::Int32(vec![20_240_228, 20_240_229]));
    survives(Encoding::Rlbe, DataType::Timestamp, &Values::Int64(vec![0, i64::MAX]));
}

/// Upstream SPRINTZ gives back other values when a step is too wide; ours says so instead.
#[test]
fn sprintz_refuses_what_it_would_lose() {
    let mut values = vec![0; 9];
    values[4] = i32::MIN;
    let error = encoded(Encoding::Sprintz, DataType::Int32, &Values::Int32(values), TWO_DECIMALS).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().starts_with("SPRINTZ cannot hold"), "{error}");
}

/// A dictionary of one long text can stand for any amount: the limit holds.
#[test]
fn a_dictionary_cannot_give_more_text_than_allowed() {
    let mut text = tsloom_model::TextValues::default();
    let long = vec![b'x'; 1 << 20];
    (0..100).for_each(|_| text.push(&long));
    let bytes = encoded(Encoding::Dictionary, DataType::Text, &Values::Text(text), TWO_DECIMALS).unwrap();
    assert!(bytes.len() < (1 << 20) + 100);
    let error = back(Encoding::Dictionary, DataType::Text, &bytes, 100).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().ends_with("are past the limit text_bytes_max = 67,108,864"), "{error}");
}
