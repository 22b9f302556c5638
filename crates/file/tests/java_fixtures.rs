//! Every file written by Java: devices, series, chunks, pages and statistics are what the `.jsonl` beside it says.
#![expect(clippy::unwrap_used, reason = "a fixture that does not read is a failed test")]

mod common;

use common::{chunk_bytes, fixtures, lines, pages};
use serde_json::{Value, json};
use tsloom_file::{ChunkRef, DeviceSeries, FileReader, Recovery, SeriesRef};
use tsloom_format::{SeriesType, StatisticValues, StatisticsRef};
use tsloom_model::Limits;

fn hex(bytes: impl AsRef<[u8]>) -> Value {
    Value::String(bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Statistics in the form of the `.jsonl`. Sums of DATE are given as doubles there.
fn statistics_json(statistics: StatisticsRef<'_>) -> Value {
    let mut json = json!({"count": statistics.count(), "start": statistics.start_time(), "end": statistics.end_time()});
    let mut put = |key: &str, value: Value| json[key] = value;
    let is_date = statistics.series_type() == SeriesType::Value(tsloom_model::DataType::Date);
    match statistics.values() {
        StatisticValues::None => {}
        StatisticValues::Boolean { first, last, sum } => {
            put("first", first.into());
            put("last", last.into());
            put("sum_long", sum.into());
        }
        StatisticValues::Int32 { min, max, first, last, sum } => {
            [("min", min), ("max", max), ("first", first), ("last", last)]
                .into_iter()
                .for_each(|(key, value)| put(key, value.into()));
            if is_date { put("sum_double", hex((sum as f64).to_be_bytes())) } else { put("sum_long", sum.into()) }
        }
        StatisticValues::Int64 { min, max, first, last, sum } => {
            [("min", min), ("max", max), ("first", first), ("last", last)]
                .into_iter()
                .for_each(|(key, value)| put(key, value.into()));
            put("sum_double", hex(sum.to_be_bytes()));
        }
        StatisticValues::Float { min, max, first, last, sum } => {
            [("min", min), ("max", max), ("first", first), ("last", last)]
                .into_iter()
                .for_each(|(key, value)| put(key, hex(value.to_be_bytes())));
            put("sum_double", hex(sum.to_be_bytes()));
        }
        StatisticValues::Double { min, max, first, last, sum } => {
            [("min", min), ("max", max), ("first", first), ("last", last)]
                .into_iter()
                .for_each(|(key, value)| put(key, hex(value.to_be_bytes())));
            put("sum_double", hex(sum.to_be_bytes()));
        }
        StatisticValues::Text { first, last } => {
            put("first", hex(first));
            put("last", hex(last));
        }
        StatisticValues::String { first, last, min, max } => {
            [("min", min), ("max", max), ("first", first), ("last", last)]
                .into_iter()
                .for_each(|(key, value)| put(key, hex(value)));
        }
    }
    json
}

/// One chunk against its description: header, number of pages, statistics.
fn check_chunk(reader: &FileReader, series: SeriesRef<'_>, index: usize, expected: &Value, prefix: &str) {
    let chunk = series.chunks().nth(index).unwrap();
    let bytes = chunk_bytes(reader, chunk.offset);
    let parsed = ChunkRef::parse(&bytes, chunk.offset).unwrap();
    let header = parsed.header();
    assert_eq!(header.series_type, series.series_type());
    assert_eq!(header.measurement, series.name());
    let pages = pages(&parsed);
    let place = format!("{} {} chunk {index}", reader.name(), series.name());
    if expected.is_null() {
        assert!(pages.is_empty() && chunk.statistics.count() == 0, "{place}");
        return;
    }
    assert_eq!(header.encoding.name(), expected[format!("{prefix}encoding")], "{place}");
    assert_eq!(header.compression.name(), expected[format!("{prefix}compression")], "{place}");
    assert_eq!(pages.len() as u64, expected["pages"], "{place}");
    let statistics = &expected[format!("{prefix}stats")];
    if !statistics.is_null() {
        assert_eq!(&statistics_json(chunk.statistics), statistics, "{place}");
    }
    // Pages of one chunk share its rows.
    if pages.len() > 1 {
        let counts = pages.iter().map(|page| page.statistics.map_or(0, |statistics| statistics.count()));
        assert_eq!(counts.sum::<u32>(), chunk.statistics.count(), "{place}");
    }
}

fn check_aligned(reader: &FileReader, series: &DeviceSeries, line: &Value) {
    let chunks = line["chunks"].as_array().unwrap();
    let time = series.time().unwrap();
    assert_eq!(time.chunk_count(), chunks.len());
    let column_count = chunks[0]["columns"].as_array().unwrap().len();
    assert_eq!(series.len(), column_count + 1, "{}", reader.name());
    for (index, chunk) in chunks.iter().enumerate() {
        check_chunk(reader, time, index, chunk, "time_");
        for (column, series) in chunk["columns"].as_array().unwrap().iter().zip(series.iter().skip(1)) {
            check_chunk(reader, series, index, column, "");
            assert!(column.is_null() || column["name"] == series.name());
        }
    }
}

fn check_plain(reader: &FileReader, series: SeriesRef<'_>, line: &Value) {
    assert_eq!((line["kind"].as_str(), line["measurement"].as_str()), (Some("series"), Some(series.name())));
    assert_eq!(series.series_type().data_type().unwrap().name(), line["type"]);
    let chunks = line["chunks"].as_array().unwrap();
    assert_eq!(series.chunk_count(), chunks.len());
    for (index, chunk) in chunks.iter().enumerate() {
        check_chunk(reader, series, index, chunk, "");
    }
}

#[test]
fn metadata_is_what_java_wrote() {
    for path in fixtures("java") {
        let lines = lines(&path);
        let reader = FileReader::open(&path).unwrap();
        assert_eq!(u64::from(reader.version()), lines[0]["version"]);
        check_tables(&reader, &lines[0]["tables"]);

        let mut lines = lines[1..].iter();
        let mut cursor = reader.all_devices();
        let mut series = DeviceSeries::default();
        while cursor.advance(&reader).unwrap() {
            cursor.read_series(&reader, &mut series).unwrap();
            let segments: Value = cursor.device().segments().map(Value::from).collect::<Vec<_>>().into();
            let line_count = if series.time().is_some() { 1 } else { series.len() };
            let device_lines: Vec<&Value> = lines.by_ref().take(line_count).collect();
            assert!(device_lines.iter().all(|line| line["device"] == segments), "{}: {segments}", reader.name());
            if series.time().is_some() {
                check_aligned(&reader, &series, device_lines[0]);
            } else {
                series.iter().zip(device_lines).for_each(|(series, line)| check_plain(&reader, series, line));
            }
        }
        assert_eq!(lines.count(), 0, "{}", reader.name());
    }
}

fn check_tables(reader: &FileReader, expected: &Value) {
    let tables: Vec<Value> = reader
        .tables()
        .map(|table| {
            let columns: Vec<Value> = table
                .columns()
                .iter()
                .map(|column| json!([column.name, column.data_type.name(), column.category.name()]))
                .collect();
            json!({"name": table.name(), "columns": columns})
        })
        .collect();
    assert_eq!(&Value::Array(tables), expected, "{}", reader.name());
}

#[test]
fn every_device_is_found_by_its_id() {
    for path in fixtures("java").into_iter().chain(fixtures("cpp")) {
        let reader = FileReader::open(&path).unwrap();
        let mut walked = DeviceSeries::default();
        let mut found = DeviceSeries::default();
        let mut cursor = reader.all_devices();
        let mut seeker = reader.all_devices();
        while cursor.advance(&reader).unwrap() {
            let id = cursor.device().to_id();
            cursor.read_series(&reader, &mut walked).unwrap();
            assert!(seeker.seek(&reader, &id).unwrap(), "{}: {id}", reader.name());
            seeker.read_series(&reader, &mut found).unwrap();
            let names = |series: &DeviceSeries| series.iter().map(|series| series.name().to_owned()).collect::<Vec<_>>();
            assert_eq!(names(&walked), names(&found));
            for (index, series) in walked.iter().enumerate() {
                assert_eq!(walked.position(series.name()), Some(index));
            }
            let missing = tsloom_model::DeviceId::new(id.table(), [Some("no such device")]);
            assert!(!reader.find_device(&missing, &mut found).unwrap());
        }
    }
}

#[test]
fn the_body_holds_the_chunks_that_the_metadata_lists() {
    for path in fixtures("java").into_iter().chain(fixtures("cpp")) {
        let reader = FileReader::open(&path).unwrap();
        let recovery = Recovery::of_file(&path, &Limits::default()).unwrap();
        assert_eq!((recovery.separator, recovery.stopped_by.is_none()), (Some(reader.body_end()), true), "{}", reader.name());
        let mut in_body: Vec<(String, u64)> = Vec::new();
        for group in &recovery.groups {
            in_body.extend(group.chunks.iter().map(|chunk| (format!("{}.{}", group.device, chunk.measurement), chunk.offset)));
        }
        let mut listed = Vec::new();
        let mut cursor = reader.all_devices();
        let mut series = DeviceSeries::default();
        while cursor.advance(&reader).unwrap() {
            cursor.read_series(&reader, &mut series).unwrap();
            let id = cursor.device().to_id();
            for series in series.iter() {
                listed.extend(series.chunks().map(|chunk| (format!("{id}.{}", series.name()), chunk.offset)));
            }
        }
        in_body.sort();
        listed.sort();
        assert_eq!(in_body, listed, "{}", reader.name());
    }
}
