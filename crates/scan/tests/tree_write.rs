//! Devices of the tree model, written and read back: aligned or not, with nulls, in several pages and chunks, beside tables.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::collections::BTreeMap;

use support::{Cell, Row, open_bytes, rows_of, table_rows};
use tsloom_file::{EncodingChoice, FileWriter, WriterOptions};
use tsloom_model::{ColumnSchema, Compression, DataType, DeviceId, DeviceSchema, Encoding, ErrorKind, TableSchema, Value};
use tsloom_scan::{DeviceScan, ScanRequest};
use tsloom_tablet::Tablet;

/// A value of each type that depends on the row and, for a third of the rows, is none.
fn cell(data_type: DataType, column: usize, row: i64, text: &str) -> Value<'_> {
    let n = row.wrapping_mul(31).wrapping_add(column as i64 * 7);
    if n % 3 == 1 || (column % 4 == 3 && row < 40) {
        return Value::Null;
    }
    match data_type {
        DataType::Boolean => Value::Boolean(n % 2 == 0),
        DataType::Int32 => Value::Int32(n.wrapping_mul(n) as i32),
        DataType::Date => Value::Int32(20_240_101 + n.rem_euclid(28) as i32),
        DataType::Int64 | DataType::Timestamp => Value::Int64(n.wrapping_mul(1_000_003)),
        DataType::Float => Value::Float(n as f32 / 3.0),
        DataType::Double => Value::Double(n as f64 / 7.0),
        DataType::Text | DataType::String | DataType::Blob => Value::Text(text.as_bytes()),
    }
}

fn columns_of_all_types() -> Vec<ColumnSchema> {
    DataType::ALL.iter().map(|data_type| ColumnSchema::field(format!("S_{data_type}"), *data_type)).collect()
}

struct Sample {
    schema: DeviceSchema,
    path: &'static str,
    /// First time and number of rows of each batch.
    batches: Vec<(i64, i64)>,
}

fn samples() -> Vec<Sample> {
    let batches = vec![(0, 50), (50, 130), (500, 3)];
    let some =
        |names: [&str; 2]| vec![ColumnSchema::field(names[0], DataType::Double), ColumnSchema::field(names[1], DataType::Text)];
    vec![
        Sample {
            schema: DeviceSchema::aligned("root.sg.al", columns_of_all_types()).unwrap(),
            path: "root.sg.al",
            batches: batches.clone(),
        },
        Sample { schema: DeviceSchema::not_aligned("root.sg.pl", columns_of_all_types()).unwrap(), path: "root.sg.pl", batches },
        Sample {
            schema: DeviceSchema::not_aligned("root.a.b.c.d", some(["Z", "a"])).unwrap(),
            path: "root.a.b.c.d",
            batches: vec![(-5, 1), (100, 77)],
        },
        Sample {
            schema: DeviceSchema::aligned("root.`odd.node`", some(["b", "c"])).unwrap(),
            path: "root.`odd.node`",
            batches: vec![(i64::MIN / 2, 9)],
        },
    ]
}

/// Writes the samples and a table; `flush_groups` after each round of batches.
fn write(options: WriterOptions, flushes: bool) -> Vec<u8> {
    let table = TableSchema::builder("beside").tag("id").field("v", DataType::Int64).build().unwrap();
    let mut writer = FileWriter::new(Vec::new(), options).unwrap();
    writer.add_table(&table).unwrap();
    let samples = samples();
    for sample in &samples {
        writer.add_device(&sample.schema).unwrap();
        writer.add_device(&sample.schema).unwrap(); // again: no error
    }
    for round in 0..3 {
        let mut rows = Tablet::new(&table);
        for row in 0..20_i64 {
            rows.push_row(round * 100 + row, &["one".into(), row.into()]).unwrap();
        }
        writer.write(&rows).unwrap();
        for sample in &samples {
            let Some((start, count)) = sample.batches.get(round as usize) else { continue };
            let mut tablet = Tablet::for_device(sample.path, sample.schema.columns().to_vec());
            for row in *start..start + count {
                let text = format!("text {row}");
                let cells: Vec<Value<'_>> = sample
                    .schema
                    .columns()
                    .iter()
                    .enumerate()
                    .map(|(column, schema)| cell(schema.data_type, column, row, &text))
                    .collect();
                tablet.push_row(row, &cells).unwrap();
            }
            writer.write(&tablet).unwrap();
        }
        if flushes {
            writer.flush_groups().unwrap();
        }
    }
    let (bytes, summary) = writer.finish().unwrap();
    assert_eq!(summary.device_count, 5);
    bytes
}

fn expected() -> BTreeMap<DeviceId, (Vec<String>, Vec<Row>)> {
    let device = |sample: &Sample| {
        let mut order: Vec<usize> = (0..sample.schema.columns().len()).collect();
        order.sort_by_key(|column| &sample.schema.columns()[*column].name);
        let rows = sample.batches.iter().flat_map(|(start, count)| *start..start + count).map(|time| {
            let text = format!("text {time}");
            let cell = |column: &usize| cell(sample.schema.columns()[*column].data_type, *column, time, &text).into();
            Row { time, cells: order.iter().map(cell).collect() }
        });
        let is_aligned = sample.schema.is_aligned();
        let rows = rows.filter(|row| is_aligned || row.cells.iter().any(|cell| *cell != Cell::Null)).collect();
        let names = order.iter().map(|column| sample.schema.columns()[*column].name.clone()).collect();
        (sample.schema.device().clone(), (names, rows))
    };
    samples().iter().map(device).collect()
}

fn check(bytes: Vec<u8>, what: &str) {
    let file = open_bytes(bytes, what).unwrap();
    let mut found: BTreeMap<DeviceId, (Vec<String>, Vec<Row>)> = BTreeMap::new();
    let expected = expected();
    let wanted: Vec<DeviceId> = expected.keys().cloned().collect();
    let mut scan = DeviceScan::open([std::sync::Arc::clone(&file)], Some(&wanted), &ScanRequest::new()).unwrap();
    while let Some(block) = scan.next_block().unwrap() {
        let names = block.columns().iter().map(|column| column.name().to_owned()).collect();
        let rows: Vec<Row> = rows_of(block).collect();
        found.entry(scan.device().unwrap().clone()).or_insert_with(|| (names, Vec::new())).1.extend(rows);
    }
    for (device, (names, rows)) in &expected {
        let (found_names, found_rows) = &found[device];
        assert_eq!(found_names, names, "{what} {device}");
        let differs = found_rows.iter().zip(rows).position(|(found, expected)| found != expected);
        assert_eq!((differs, found_rows.len()), (None, rows.len()), "{what} {device}");
    }
    assert_eq!(found.len(), expected.len());
    assert_eq!(table_rows(&file, "beside").unwrap().len(), 60, "{what}");
    let names: Vec<&str> = file.table_names().collect();
    assert_eq!(names, ["beside", "root", "root.a.b", "root.sg"]);
    assert_eq!(file.tables().count(), 1, "tree-model devices have no schema");
}

#[test]
fn devices_come_back_whatever_the_cuts() {
    for flushes in [false, true] {
        check(write(WriterOptions::default(), flushes), "defaults");
        for rows in [1, 7, 64] {
            let options = WriterOptions::builder().page_rows_max(rows).index_degree(3).build().unwrap();
            check(write(options, flushes), &format!("pages of {rows}"));
        }
        let options = WriterOptions::builder().page_bytes_max(100).memory_bytes_max(1 << 10).build().unwrap();
        check(write(options, flushes), "little memory");
        let options = WriterOptions::builder()
            .compression(Compression::Zstd)
            .type_encoding(DataType::Int64, EncodingChoice::Fixed(Encoding::Sprintz));
        check(write(options.page_rows_max(16).build().unwrap(), flushes), "SPRINTZ");
    }
    let again = write(WriterOptions::default(), true);
    assert_eq!(again, write(WriterOptions::default(), true), "the same bytes each time");
}

#[test]
fn wide_statistics_and_refused_values_get_chunks_of_their_own() {
    let columns =
        vec![ColumnSchema::field("s", DataType::String), ColumnSchema::field("z", DataType::Int32).encoding(Encoding::Sprintz)];
    let mut writer = FileWriter::new(Vec::new(), WriterOptions::builder().page_rows_max(2).build().unwrap()).unwrap();
    let schema = DeviceSchema::not_aligned("root.d", columns.clone()).unwrap();
    writer.add_device(&schema).unwrap();
    let mut tablet = Tablet::for_device("root.d", columns);
    let mut expected = Vec::new();
    for row in 0..20_i64 {
        let text = "x".repeat(if row % 8 < 2 { 3_000 } else { 3 });
        let number = if (6..10).contains(&row) { if row % 2 == 0 { i32::MIN } else { i32::MAX } } else { row as i32 };
        tablet.push_row(row, &[text.as_str().into(), number.into()]).unwrap();
        expected.push(Row { time: row, cells: vec![Value::from(text.as_str()).into(), Value::from(number).into()] });
    }
    writer.write(&tablet).unwrap();
    let (bytes, summary) = writer.finish().unwrap();
    assert!(summary.chunk_count > 6, "{summary:?}");
    let file = open_bytes(bytes, "chunks").unwrap();
    let mut scan = DeviceScan::open([file], None, &ScanRequest::new()).unwrap();
    let mut rows = Vec::new();
    while let Some(block) = scan.next_block().unwrap() {
        rows.extend(rows_of(block));
    }
    assert_eq!(rows, expected);
}

#[test]
fn what_does_not_fit_is_refused() {
    let column = || vec![ColumnSchema::field("v", DataType::Int32)];
    let mut writer = FileWriter::new(Vec::new(), WriterOptions::default()).unwrap();
    let plain = DeviceSchema::not_aligned("root.sg.d", column()).unwrap();
    writer.add_device(&plain).unwrap();
    let aligned = DeviceSchema::aligned("root.sg.d", column()).unwrap();
    assert_eq!(writer.add_device(&aligned).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let unknown = Tablet::for_device("root.sg.other", column());
    assert_eq!(writer.write(&unknown).unwrap_err().kind(), ErrorKind::NotFound);
    let mut other_type = Tablet::for_device("root.sg.d", vec![ColumnSchema::field("v", DataType::Int64)]);
    other_type.push_row(1, &[7_i64.into()]).unwrap();
    assert_eq!(writer.write(&other_type).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    let mut back = Tablet::for_device("root.sg.d", column());
    back.push_row(5, &[7.into()]).unwrap();
    writer.write(&back).unwrap();
    assert_eq!(writer.write(&back).unwrap_err().kind(), ErrorKind::OutOfOrder);
    assert!(DeviceSchema::aligned("root.d", vec![ColumnSchema::field("", DataType::Int32)]).is_err());
    assert_eq!(writer.tables().count(), 0);
    assert_eq!(writer.last_time(plain.device()), Some(5));
}
