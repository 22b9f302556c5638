//! Every file written by C++: tables, devices, rows and the statistics of each column are what the rows in the `.jsonl`
//! beside it give.
#![expect(clippy::unwrap_used, reason = "a fixture that does not read is a failed test")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{chunk_bytes, fixtures, lines, pages};
use serde_json::Value;
use tsloom_file::{ChunkRef, DeviceSeries, FileReader, SeriesRef};
use tsloom_format::{StatisticValues, StatisticsRef};

/// Rows of one device: time and fields, in the order of time.
type Rows = Vec<(i64, Value)>;

/// The rows of each device, by its segments.
fn devices(reader: &FileReader, lines: &[Value]) -> BTreeMap<Vec<Option<String>>, Rows> {
    let mut devices: BTreeMap<_, Rows> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.get("schema").is_none()) {
        let segments = match line.get("device") {
            Some(path) => {
                tsloom_format::DeviceKey::from_path(path.as_str().unwrap()).segments().map(|s| s.map(str::to_owned)).collect()
            }
            None => {
                let table = reader.table(line["table"].as_str().unwrap()).unwrap();
                let mut segments = vec![Some(table.name().to_owned())];
                let names = table.tags().map(|index| &table.columns()[index].name);
                segments.extend(names.map(|name| line["tags"][name].as_str().map(str::to_owned)));
                while segments.last().is_some_and(Option::is_none) {
                    segments.pop();
                }
                segments
            }
        };
        devices.entry(segments).or_default().push((line["time"].as_i64().unwrap(), line["fields"].clone()));
    }
    devices
}

/// Count, times, first and last value of a column, from the rows.
fn check_column(name: &str, statistics: StatisticsRef<'_>, rows: &[(i64, Value)], column: &str) {
    let present: Vec<(i64, &Value)> =
        rows.iter().map(|(time, fields)| (*time, &fields[column])).filter(|(_, value)| !value.is_null()).collect();
    let place = format!("{name} {column}");
    assert_eq!(statistics.count() as usize, present.len(), "{place}");
    let (Some((start, first)), Some((end, last))) = (present.first(), present.last()) else {
        return;
    };
    assert_eq!((statistics.start_time(), statistics.end_time()), (*start, *end), "{place}");
    let text = |bytes: &[u8]| Value::String(String::from_utf8(bytes.to_vec()).unwrap());
    let (got_first, got_last) = match statistics.values() {
        StatisticValues::None => return,
        StatisticValues::Boolean { first, last, .. } => (Value::from(first), Value::from(last)),
        StatisticValues::Int32 { first, last, .. } if present[0].1.is_string() => (date(first), date(last)),
        StatisticValues::Int32 { first, last, min, max, sum } => {
            let numbers = || present.iter().map(|(_, value)| value.as_i64().unwrap());
            assert_eq!((i64::from(min), i64::from(max)), (numbers().min().unwrap(), numbers().max().unwrap()), "{place}");
            assert_eq!(sum, numbers().sum::<i64>(), "{place}");
            (Value::from(first), Value::from(last))
        }
        StatisticValues::Int64 { first, last, min, max, .. } => {
            let numbers = || present.iter().map(|(_, value)| value.as_i64().unwrap());
            assert_eq!((min, max), (numbers().min().unwrap(), numbers().max().unwrap()), "{place}");
            (Value::from(first), Value::from(last))
        }
        StatisticValues::Float { first, last, .. } => (float(first.into()), float(last.into())),
        StatisticValues::Double { first, last, .. } => (float(first), float(last)),
        StatisticValues::Text { first, last } => (text(first), text(last)),
        StatisticValues::String { first, last, min, max } => {
            let texts = || present.iter().map(|(_, value)| value.as_str().unwrap().as_bytes());
            assert_eq!((min, max), (texts().min().unwrap(), texts().max().unwrap()), "{place}");
            (text(first), text(last))
        }
    };
    let same = |got: &Value, expected: &Value| match (got.as_f64(), expected.as_f64()) {
        (Some(got), Some(expected)) => got == expected || (got as f32 == expected as f32),
        _ => got == expected,
    };
    assert!(same(&got_first, first) && same(&got_last, last), "{place}: {got_first} {got_last} {first} {last}");
}

fn date(day: i32) -> Value {
    Value::String(format!("{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100))
}

fn float(value: f64) -> Value {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".into() } else { "-Infinity".into() }
    } else {
        value.into()
    }
}

/// Chunks of a series: names, types, and as many pages as the time chunk of the group has.
fn check_chunks(reader: &FileReader, series: SeriesRef<'_>, time: Option<SeriesRef<'_>>) {
    let time_offsets: Option<Vec<u64>> = time.map(|time| time.chunks().map(|chunk| chunk.offset).collect());
    for (index, chunk) in series.chunks().enumerate() {
        let bytes = chunk_bytes(reader, chunk.offset);
        let parsed = ChunkRef::parse(&bytes, chunk.offset).unwrap();
        assert_eq!((parsed.header().measurement, parsed.header().series_type), (series.name(), series.series_type()));
        if let Some(offsets) = &time_offsets {
            let time_bytes = chunk_bytes(reader, offsets[index]);
            let time = ChunkRef::parse(&time_bytes, offsets[index]).unwrap();
            assert_eq!(pages(&parsed).len(), pages(&time).len());
        }
    }
}

fn check_file(path: &Path) {
    let lines = lines(path);
    let reader = FileReader::open(path).unwrap();
    check_tables(&reader, &lines);
    let mut expected = devices(&reader, &lines);
    let mut series = DeviceSeries::default();
    let mut cursor = reader.all_devices();
    while cursor.advance(&reader).unwrap() {
        cursor.read_series(&reader, &mut series).unwrap();
        let segments: Vec<Option<String>> = cursor.device().segments().map(|segment| segment.map(str::to_owned)).collect();
        let rows = expected.remove(&segments).unwrap_or_else(|| panic!("{}: {segments:?}", reader.name()));
        if let Some(time) = series.time() {
            let statistics = time.statistics();
            assert_eq!(statistics.count() as usize, rows.len());
            assert_eq!((statistics.start_time(), statistics.end_time()), (rows[0].0, rows[rows.len() - 1].0));
        }
        for column in series.iter().filter(|series| !series.name().is_empty()) {
            check_column(reader.name(), column.statistics(), &rows, column.name());
            check_chunks(&reader, column, series.time());
        }
    }
    assert!(expected.is_empty(), "{}: {:?}", reader.name(), expected.keys());
}

fn check_tables(reader: &FileReader, lines: &[Value]) {
    let expected: Vec<&Value> = lines.iter().filter_map(|line| line.get("schema")).filter(|s| s.get("table").is_some()).collect();
    let tables: Vec<_> = reader.tables().collect();
    assert_eq!(tables.len(), expected.len(), "{}", reader.name());
    for (table, expected) in tables.iter().zip(expected) {
        assert_eq!(table.name(), expected["table"]);
        let columns = expected["columns"].as_array().unwrap();
        assert_eq!(table.columns().len(), columns.len());
        for (column, expected) in table.columns().iter().zip(columns) {
            assert_eq!(column.name, *expected["name"].as_str().unwrap());
            assert_eq!(
                (column.data_type.name(), column.category.name()),
                (expected["type"].as_str().unwrap(), expected["category"].as_str().unwrap())
            );
        }
    }
}

#[test]
fn metadata_is_what_the_rows_give() {
    for path in fixtures("cpp") {
        check_file(&path);
    }
}
