//! Encodings that the data chooses: every bit comes back, and no file is larger than with the defaults.
#![expect(clippy::unwrap_used, reason = "what does not read back is a failed test")]

#[allow(dead_code, reason = "only the list of fixtures is of use here")]
mod common;
#[path = "common/decode.rs"]
mod decode;
#[path = "common/samples.rs"]
mod samples;

use std::collections::BTreeMap;
use std::path::Path;

use decode::{chunk_at, column, times};
use samples::{Numbers, Row, Sample};
use tsloom_file::{DeviceSeries, EncodingChoice, FileReader, WriterOptions, WriterOptionsBuilder};
use tsloom_model::{Cell, ColumnSchema, Compression, DataType, DeviceId, Encoding, Limits, TableSchema};

/// A cell as its bits, so that all NaNs and zeros differ.
fn bits(cell: &Cell) -> Vec<u8> {
    match cell {
        Cell::Null => vec![],
        Cell::Boolean(value) => vec![0, u8::from(*value)],
        Cell::Int32(value) => value.to_be_bytes().into(),
        Cell::Int64(value) => value.to_be_bytes().into(),
        Cell::Float(value) => value.to_bits().to_be_bytes().into(),
        Cell::Double(value) => value.to_bits().to_be_bytes().into(),
        Cell::Text(bytes) => [&b"text"[..], bytes].concat(),
    }
}

/// Every cell of the file is that of the rows; gives the encodings of all chunks with values, by column.
fn check_cells(sample: &Sample, bytes: &[u8]) -> BTreeMap<String, Vec<Encoding>> {
    let reader = FileReader::new(bytes.to_vec(), sample.name, Limits::default()).unwrap();
    let mut devices: BTreeMap<&DeviceId, Vec<&Row>> = BTreeMap::new();
    sample.rows.iter().for_each(|row| devices.entry(&row.device).or_default().push(row));
    let mut encodings: BTreeMap<String, Vec<Encoding>> = BTreeMap::new();
    let mut series = DeviceSeries::default();
    for (device, rows) in devices {
        assert!(reader.find_device(device, &mut series).unwrap());
        let time_chunks = series.time().unwrap().chunks();
        let times: Vec<_> = time_chunks.map(|meta| times(&chunk_at(bytes, meta.offset), meta.statistics)).collect();
        let page_rows: Vec<Vec<usize>> = times.iter().map(|pages| pages.iter().map(Vec::len).collect()).collect();
        for (field, index) in sample.table(device).fields().enumerate() {
            let name = &sample.table(device).columns()[index].name;
            let Some(position) = series.position(name) else {
                assert!(rows.iter().all(|row| row.cells[field] == Cell::Null));
                continue;
            };
            let got = column(bytes, series.get(position), &page_rows);
            let got: Vec<_> = got.into_iter().map(|cell| bits(&cell.unwrap_or(Cell::Null))).collect();
            assert!(got.into_iter().eq(rows.iter().map(|row| bits(&row.cells[field]))), "{}: {name} differs", sample.name);
            let chunks = series.get(position).chunks().filter(|meta| meta.statistics.count() > 0);
            let of_column = chunks.map(|meta| chunk_at(bytes, meta.offset).header().encoding);
            encodings.entry(name.clone()).or_default().extend(of_column);
        }
    }
    encodings
}

fn written(
    sample: &mut Sample,
    choice: EncodingChoice,
    set: impl FnOnce(WriterOptionsBuilder) -> WriterOptionsBuilder,
) -> Vec<u8> {
    sample.options = set(WriterOptions::builder().encoding(choice)).build().unwrap();
    sample.write(Vec::new()).unwrap().0
}

/// Writes both ways; gives the sizes (default, auto) and the encodings chosen.
fn check(
    sample: &mut Sample,
    set: impl Fn(WriterOptionsBuilder) -> WriterOptionsBuilder,
) -> ((usize, usize), BTreeMap<String, Vec<Encoding>>) {
    let default = written(sample, EncodingChoice::Schema, &set);
    let auto = written(sample, EncodingChoice::Auto, &set);
    assert!(auto.len() <= default.len(), "{}: {} bytes, {} by default", sample.name, auto.len(), default.len());
    assert!(auto == written(sample, EncodingChoice::Auto, &set), "{}: the same rows give the same bytes", sample.name);
    let encodings = check_cells(sample, &auto);
    ((default.len(), auto.len()), encodings)
}

fn one_series(name: &'static str, data_type: DataType, compression: Compression, cells: Vec<Cell>) -> Sample {
    let field = ColumnSchema::field("v", data_type).compression(compression);
    let table = TableSchema::builder("series").tag("id").column(field).build().unwrap();
    let device = DeviceId::new("series", [Some("d")]);
    let rows = cells.into_iter().enumerate();
    let rows = rows.map(|(index, cell)| Row { device: device.clone(), time: 1_000 * index as i64, cells: vec![cell] }).collect();
    Sample { name, options: WriterOptions::default(), tables: vec![table], rows, batch_rows: 500, flush_rows: 0 }
}

/// One value of a series of a kind; kinds change within some series, so that what the first page promised does not hold.
fn value(data_type: DataType, kind: u64, index: u64, numbers: &mut Numbers) -> Cell {
    let integer = match kind % 8 {
        0 => 42,
        1 => index as i64 / 50,
        2 => index as i64 * 10 + numbers.below(10) as i64,
        3 => numbers.below(1000) as i64,
        4 => numbers.next() as i64,
        5 => (numbers.below(3) as i64 - 1) * i64::from(i32::MAX),
        6 => [i64::MIN, i64::from(i32::MIN), -1, 7][numbers.below(4) as usize],
        _ => (numbers.next() as i64) >> numbers.below(64),
    };
    let double = match kind % 8 {
        0 => 21.5,
        1 => (index / 30) as f64 * 0.1,
        2 => (numbers.below(100_001) as f64 - 50_000.0) / 100.0,
        3 => (numbers.next() >> 11) as f64 / (1_u64 << 53) as f64,
        4 => f64::from_bits(numbers.next()),
        5 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1.25][numbers.below(6) as usize],
        6 => f64::from_bits(0x7ff8_0000_0000_0000 | numbers.below(3)),
        _ => (numbers.below(10_000) as f64) * 10_f64.powi(-(numbers.below(9) as i32)),
    };
    match data_type {
        DataType::Int32 => Cell::Int32(integer as i32),
        DataType::Date => Cell::Int32(20_240_101 + integer.rem_euclid(28) as i32),
        DataType::Int64 | DataType::Timestamp => Cell::Int64(integer),
        DataType::Float => {
            Cell::Float(if kind % 8 == 6 { f32::from_bits(0x7fc0_0000 | integer as u32 & 3) } else { double as f32 })
        }
        DataType::Double => Cell::Double(double),
        DataType::Boolean => Cell::Boolean(integer % 3 == 0),
        DataType::Text | DataType::String | DataType::Blob => match kind % 4 {
            0 => Cell::Text(format!("state {}", integer.rem_euclid(4)).into_bytes()),
            1 => Cell::Text(vec![]),
            2 => Cell::Text(numbers.next().to_be_bytes()[..numbers.below(9) as usize].to_vec()),
            _ => Cell::Text(format!("{double:.3}").into_bytes()),
        },
    }
}

#[test]
fn a_thousand_series_are_never_larger_than_by_default() {
    let mut numbers = Numbers(20);
    let compressions = [Compression::Lz4, Compression::Uncompressed, Compression::Zstd, Compression::Snappy];
    let (mut sizes, mut seen) = ((0, 0), Vec::new());
    for case in 0..1000 {
        let data_type = DataType::ALL[case % DataType::ALL.len()];
        let row_count = [1, 2, 7, 60, 300, 900][numbers.below(6) as usize];
        let (kind, other, nulls) = (numbers.below(8), numbers.below(8), [0, 0, 40, 97][numbers.below(4) as usize]);
        let turn = if numbers.below(3) == 0 { row_count / 2 } else { row_count };
        let cells = (0..row_count).map(|index| {
            let is_null = numbers.below(100) < nulls;
            let value = value(data_type, if index < turn { kind } else { other }, index, &mut numbers);
            if is_null { Cell::Null } else { value }
        });
        let mut sample = one_series("generated", data_type, compressions[case % 4], cells.collect());
        let page_rows = [50, 128, 10_000][numbers.below(3) as usize];
        sample.flush_rows = [0, 0, 200][numbers.below(3) as usize];
        let (both, encodings) = check(&mut sample, |options| options.page_rows_max(page_rows));
        sizes = (sizes.0 + both.0, sizes.1 + both.1);
        seen.extend(encodings.into_values().flatten());
    }
    assert!(sizes.1 * 100 < sizes.0 * 95, "{sizes:?}");
    for encoding in [Encoding::Plain, Encoding::Rle, Encoding::Ts2Diff, Encoding::Gorilla, Encoding::Rlbe, Encoding::Chimp] {
        assert!(seen.contains(&encoding), "{encoding} was never chosen");
    }
    assert!(seen.contains(&Encoding::Dictionary));
}

#[test]
fn every_sample_comes_back_and_is_not_larger() {
    for mut sample in samples::samples() {
        // Their schemas ask for less than the default; a memory bound cuts the groups elsewhere.
        if !["encodings", "small_memory"].contains(&sample.name) {
            let page_rows = if ["pages", "groups", "long_strings"].contains(&sample.name) { 16 } else { 10_000 };
            check(&mut sample, |options| options.page_rows_max(page_rows));
        }
    }
}

/// What stands in the file for 3,000 values, pages of 1,000.
fn chosen(data_type: DataType, cell: impl Fn(u64) -> Cell) -> Vec<Encoding> {
    let mut sample = one_series("chosen", data_type, Compression::Lz4, (0..3000).map(cell).collect());
    check(&mut sample, |options| options.page_rows_max(1000)).1.remove("v").unwrap()
}

#[test]
fn what_the_data_chooses() {
    let random = |index: u64| {
        let mut numbers = Numbers(index);
        numbers.next();
        numbers.next()
    };
    let decimal = |index: u64| random(index) % 100_000;
    let double = |value: f64| Cell::Double(value);
    assert_eq!(chosen(DataType::Double, |index| double(decimal(index) as f64 / 1000.0)), [Encoding::Ts2Diff]);
    assert_eq!(chosen(DataType::Float, |index| Cell::Float(decimal(index) as f32 / 100.0)), [Encoding::Ts2Diff]);
    // One value of the last page would come back changed: 0.0 in place of -0.0.
    assert_eq!(
        chosen(DataType::Double, |index| double(if index == 2_500 { -0.0 } else { decimal(index) as f64 / 1000.0 })),
        [Encoding::Gorilla]
    );
    assert_eq!(chosen(DataType::Int64, |index| Cell::Int64((random(index) % 1000) as i64)), [Encoding::Rle]);
    assert_eq!(chosen(DataType::Int64, |index| Cell::Int64(random(index) as i64)), [Encoding::Plain]);
    assert_eq!(chosen(DataType::Int64, |index| Cell::Int64(index as i64 * 1000)), [Encoding::Rlbe]);
    assert_eq!(chosen(DataType::Boolean, |index| Cell::Boolean(random(index) % 2 == 0)), [Encoding::Plain]);
    // Random values whose first page is a constant: what was good for it is not written.
    assert_eq!(
        chosen(DataType::Int64, |index| Cell::Int64(if index < 1000 { 5 } else { -((random(index) % 9) as i64) })),
        [Encoding::Ts2Diff]
    );
}

#[test]
fn columns_choose_apart_and_the_schema_is_kept() {
    let table = TableSchema::builder("t").tag("id").field("a", DataType::Double).field("b", DataType::Double).build().unwrap();
    let device = DeviceId::new("t", [Some("d")]);
    let cells = |time: i64| vec![Cell::Double((time * 7919 % 1009) as f64 / 100.0); 2];
    let rows = (0..2000).map(|time| Row { device: device.clone(), time, cells: cells(time) }).collect();
    let mut sample =
        Sample { name: "two", options: WriterOptions::default(), tables: vec![table], rows, batch_rows: 64, flush_rows: 0 };
    let bytes = written(&mut sample, EncodingChoice::Schema, |options| options.column_encoding("b", EncodingChoice::Auto));
    let encodings = check_cells(&sample, &bytes);
    assert_eq!((&encodings["a"][..], &encodings["b"][..]), (&[Encoding::Gorilla][..], &[Encoding::Ts2Diff][..]));
    let reader = FileReader::new(bytes, "two", Limits::default()).unwrap();
    assert_eq!(reader.tables().next(), Some(&sample.tables[0]));
}

/// The rows of a table-model fixture.
fn fixture(path: &Path) -> Option<Sample> {
    let bytes = std::fs::read(path).unwrap();
    let reader = FileReader::new(bytes.clone(), "fixture", Limits::default()).ok()?;
    let tables: Vec<TableSchema> = reader.tables().cloned().collect();
    let mut rows = Vec::new();
    let mut cursor = reader.all_devices();
    let mut series = DeviceSeries::default();
    while cursor.advance(&reader).unwrap() {
        let device = cursor.device().to_id();
        let table = tables.iter().find(|table| table.name() == device.table())?;
        cursor.read_series(&reader, &mut series).unwrap();
        let time_chunks = series.time()?.chunks();
        let times: Vec<_> = time_chunks.map(|meta| times(&chunk_at(&bytes, meta.offset), meta.statistics)).collect();
        let page_rows: Vec<Vec<usize>> = times.iter().map(|pages| pages.iter().map(Vec::len).collect()).collect();
        let times: Vec<i64> = times.into_iter().flatten().flatten().collect();
        let columns: Vec<Vec<Option<Cell>>> = table
            .fields()
            .map(|index| match series.position(&table.columns()[index].name) {
                Some(position) => column(&bytes, series.get(position), &page_rows),
                None => vec![None; times.len()],
            })
            .collect();
        for (index, time) in times.into_iter().enumerate() {
            let cells = columns.iter().map(|column| column[index].clone().unwrap_or(Cell::Null)).collect();
            rows.push(Row { device: device.clone(), time, cells });
        }
    }
    Some(Sample { name: "fixture", options: WriterOptions::default(), tables, rows, batch_rows: 100, flush_rows: 0 })
}

#[test]
fn every_table_fixture_comes_back_and_is_not_larger() {
    let mut checked = 0;
    for path in common::fixtures("cpp") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name.starts_with("tree") || name == "time_plain" || name == "comp_lzo" {
            continue;
        }
        let Some(mut sample) = fixture(&path) else { panic!("{name} cannot be read") };
        for table in &mut sample.tables {
            let columns = table.columns().iter().cloned().map(|mut column| {
                column.encoding = column.data_type.default_encoding();
                column
            });
            *table = TableSchema::from_stored(table.name(), columns.collect()).unwrap();
        }
        check(&mut sample, |options| options);
        checked += 1;
    }
    assert!(checked > 25, "{checked} fixtures");
}
