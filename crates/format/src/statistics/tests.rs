//! Known answers from the specification, a naive model, and bytes cut short.

use tsloom_encoding::{ToWire, WireReader};
use tsloom_model::{DataType, TextValues, Values, ValuesRef};

use super::*;

fn text(cells: &[&str]) -> TextValues {
    let mut values = TextValues::default();
    cells.iter().for_each(|cell| values.push(cell.as_bytes()));
    values
}

fn of(data_type: DataType, values: ValuesRef<'_>) -> Statistics {
    let mut statistics = Statistics::new(SeriesType::Value(data_type));
    statistics.add_values(1, 9, values);
    statistics
}

#[test]
fn every_type_has_the_layout_of_the_specification() {
    let cells = text(&["b", "a", "c", "b"]);
    let values = [
        (DataType::Boolean, Values::Boolean(vec![true, false, true])),
        (DataType::Int32, Values::Int32(vec![7, -2, 9])),
        (DataType::Date, Values::Int32(vec![20_240_229])),
        (DataType::Int64, Values::Int64(vec![7, -2, 9])),
        (DataType::Timestamp, Values::Int64(vec![i64::MAX, i64::MIN])),
        (DataType::Float, Values::Float(vec![0.5, -0.25])),
        (DataType::Double, Values::Double(vec![0.5, -0.25, f64::INFINITY])),
        (DataType::Text, Values::Text(cells.clone())),
        (DataType::String, Values::Text(cells.clone())),
        (DataType::Blob, Values::Text(cells)),
    ];
    let sizes = [10, 24, 24, 40, 40, 24, 40, 10, 20, 0];
    for ((data_type, values), size) in values.iter().zip(sizes) {
        let statistics = of(*data_type, values.as_values());
        let bytes = statistics.to_vec();
        assert_eq!(bytes.len(), 17 + size, "{data_type}");
        let mut wire = WireReader::new(&bytes);
        let read = StatisticsRef::read(&mut wire, SeriesType::Value(*data_type)).unwrap();
        assert!(wire.is_empty());
        assert_eq!(read.values(), statistics.values(), "{data_type}");
        assert_eq!((read.count() as usize, read.start_time(), read.end_time()), (values.len(), 1, 9));
        for size in 0..bytes.len() {
            StatisticsRef::read(&mut WireReader::new(&bytes[..size]), SeriesType::Value(*data_type)).unwrap_err();
        }
    }
}

#[test]
fn bytes_in_the_order_of_the_specification() {
    let int32 = of(DataType::Int32, ValuesRef::Int32(&[7, 9]));
    let expected = [
        &[2][..],
        &1_i64.to_be_bytes(),
        &9_i64.to_be_bytes(),
        &[0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 9],
        &16_i64.to_be_bytes(),
    ];
    assert_eq!(int32.to_vec(), expected.concat());

    let int64 = of(DataType::Int64, ValuesRef::Int64(&[7, 9]));
    assert_eq!(int64.to_vec()[49..], 16_f64.to_be_bytes(), "an INT64 sum is a double");

    let string = of(DataType::String, ValuesRef::Text(text(&["b", "a", "c", "b2"]).as_text()));
    assert_eq!(string.to_vec()[17..], *b"\0\0\0\x01b\0\0\0\x02b2\0\0\0\x01a\0\0\0\x01c", "first, last, min, max");
}

#[test]
fn no_value_is_java_s_empty_form() {
    let statistics = Statistics::new(SeriesType::Value(DataType::String));
    let expected = [&[0][..], &i64::MAX.to_be_bytes(), &i64::MIN.to_be_bytes(), &[0; 16]];
    let bytes = statistics.to_vec();
    assert_eq!(bytes, expected.concat());
    let read = StatisticsRef::read(&mut WireReader::new(&bytes), SeriesType::Value(DataType::String)).unwrap();
    assert_eq!((read.values(), read.time_range()), (StatisticValues::None, TimeRange::EMPTY));
}

#[test]
fn nan_in_front_stays_and_nan_behind_is_passed_over() {
    let nan = f64::NAN;
    let bounds = |values: &[f64]| match of(DataType::Double, ValuesRef::Double(values)).values() {
        StatisticValues::Double { min, max, .. } => (min, max),
        other => panic!("{other:?}"),
    };
    assert_eq!(bounds(&[1.0, nan, 3.0, nan, nan, -2.0]), (-2.0, 3.0));
    let (min, max) = bounds(&[nan, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(min.is_nan() && max.is_nan());
    assert_eq!(bounds(&[1.0, nan]), (1.0, 1.0));
}

#[test]
fn lanes_agree_with_row_order_where_sums_are_exact() {
    for count in 1..40_usize {
        let values: Vec<i64> = (0..count as i64).map(|value| (value * 7919) % 31 - 15).collect();
        let statistics = of(DataType::Int64, ValuesRef::Int64(&values));
        let expected = StatisticValues::Int64 {
            min: *values.iter().min().unwrap(),
            max: *values.iter().max().unwrap(),
            first: values[0],
            last: values[count - 1],
            sum: values.iter().sum::<i64>() as f64,
        };
        assert_eq!(statistics.values(), expected);
    }
}

#[test]
fn merging_takes_first_and_last_by_time() {
    let part = |start, end, values: &[i32]| {
        let mut statistics = Statistics::new(SeriesType::Value(DataType::Int32));
        statistics.add_values(start, end, ValuesRef::Int32(values));
        statistics
    };
    let mut all = Statistics::new(SeriesType::Value(DataType::Int32));
    all.merge(&part(50, 60, &[5, 6]));
    all.merge(&part(0, 0, &[]));
    all.merge(&part(10, 20, &[1, 2]));
    all.merge(&part(60, 70, &[-7, 8]));
    assert_eq!((all.count(), all.start_time(), all.end_time()), (6, 10, 70));
    assert_eq!(all.values(), StatisticValues::Int32 { min: -7, max: 8, first: 1, last: 8, sum: 15 });
}

#[test]
fn a_cleared_one_equals_a_new_one() {
    for data_type in DataType::ALL {
        let series_type = SeriesType::Value(*data_type);
        let mut values = Values::new(data_type.physical());
        values.push_defaults(3);
        let mut used = of(*data_type, values.as_values());
        used.clear();
        assert_eq!(used.to_vec(), Statistics::new(series_type).to_vec(), "{data_type}");
    }
}
