//! What a scan reads: few calls for many devices, and little more than what was asked for.

use std::sync::Arc;

use tsloom_file::{FileReader, FileWriter, WriterOptions};
use tsloom_model::{ColumnView, DataType, DeviceId, Limits, TableSchema, ValuesRef, tag};
use tsloom_scan::{ScanRequest, ScanStats, TableScan};

/// A table of INT64 columns; cell (device, row, column) is `cell` of them.
fn file(devices: usize, columns: usize, rows: usize, cell: fn(usize, usize, usize) -> i64) -> Arc<FileReader<Vec<u8>>> {
    file_of_pages(WriterOptions::default(), devices, columns, rows, cell)
}

fn file_of_pages(
    options: WriterOptions,
    devices: usize,
    columns: usize,
    rows: usize,
    cell: fn(usize, usize, usize) -> i64,
) -> Arc<FileReader<Vec<u8>>> {
    let builder = TableSchema::builder("t").tag("dev");
    let schema = (0..columns).fold(builder, |builder, column| builder.field(format!("s{column:04}"), DataType::Int64));
    let schema = schema.build().expect("the names differ");
    let mut writer = FileWriter::new(Vec::new(), options).expect("a vector takes everything");
    writer.add_table(&schema).expect("a new table");
    let times: Vec<i64> = (0..rows as i64).map(|row| row * 1_000).collect();
    for device in 0..devices {
        let values: Vec<Vec<i64>> = (0..columns).map(|column| (0..rows).map(|row| cell(device, row, column)).collect()).collect();
        let views: Vec<_> =
            values.iter().map(|values| Some(ColumnView::new(DataType::Int64, ValuesRef::Int64(values), None))).collect();
        let id = DeviceId::new("t", [Some(format!("d{device:04}").as_str())]);
        writer.write_rows("t", &id, &times, &views).expect("rows rise in time");
    }
    let (bytes, _) = writer.finish().expect("a vector takes everything");
    Arc::new(FileReader::new(bytes, "t", Limits::default()).expect("the file is whole"))
}

/// The wrapping sum of all cells of a scan, and what it did.
fn scan(reader: &Arc<FileReader<Vec<u8>>>, request: &ScanRequest) -> (i64, ScanStats) {
    let mut scan = TableScan::of_file(Arc::clone(reader), "t", request).expect("the request fits");
    let mut sum = 0_i64;
    while let Some(block) = scan.next_block().expect("the file is sound") {
        for column in block.columns() {
            sum = (0..block.row_count()).filter_map(|row| column.i64(row)).fold(sum, i64::wrapping_add);
        }
    }
    (sum, scan.stats())
}

/// Different for each cell, and not to be compressed.
fn noise(device: usize, row: usize, column: usize) -> i64 {
    let mut bits = (device as u64) << 48 | (column as u64) << 32 | row as u64;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ bits >> 31) as i64
}

#[test]
fn thirty_devices_of_two_hundred_columns_take_few_reads() {
    let reader = file(30, 200, 20, |device, row, column| 1_000_000 * device as i64 + 1_000 * row as i64 + column as i64);
    let (sum, stats) = scan(&reader, &ScanRequest::new());
    let expected = (0..30).flat_map(|d| (0..20).flat_map(move |r| (0..200).map(move |c| 1_000_000 * d + 1_000 * r + c))).sum();
    assert_eq!(sum, expected);
    assert_eq!((stats.rows, stats.devices, stats.block_builds, stats.pages_decoded), (600, 30, 1, 30 * 201));
    assert!(stats.reads <= 6, "measurement roots, then series metadata and chunks in pieces of 256 KiB: {stats:?}");
    assert!(stats.bytes_read <= reader.size(), "{stats:?}");
}

#[test]
fn a_few_columns_of_many_read_little_more_than_their_chunks() {
    let reader = file(1, 600, 1_000, noise);
    let (body_size, metadata_size) = (reader.body_end(), reader.size() - reader.body_end());
    for step in [6, 60, 600] {
        let names: Vec<String> = (0..600).step_by(step).map(|column| format!("s{column:04}")).collect();
        let expected = (0..600).step_by(step).flat_map(|column| (0..1_000).map(move |row| noise(0, row, column)));
        let (sum, stats) = scan(&reader, &ScanRequest::new().columns(names));
        assert_eq!(sum, expected.fold(0, i64::wrapping_add));
        let needed = metadata_size + body_size / 600 * (600 / step as u64 + 1);
        assert!(stats.bytes_read * 10 < needed * 12, "{} of {needed} needed: {stats:?}", stats.bytes_read);
    }
}

#[test]
fn devices_that_the_filter_turns_down_are_not_read() {
    let reader = file(300, 3, 100, noise);
    let (_, all) = scan(&reader, &ScanRequest::new());
    let (sum, one) = scan(&reader, &ScanRequest::new().filter(tag("dev").eq("d0123")));
    let expected = (0..3).flat_map(|column| (0..100).map(move |row| noise(123, row, column)));
    assert_eq!(sum, expected.fold(0, i64::wrapping_add));
    assert_eq!((one.rows, one.devices, one.pages_decoded), (100, 1, 4));
    assert!(one.bytes_read * 20 < all.bytes_read, "{one:?} {all:?}");
}

#[test]
fn a_limit_ends_the_reading() {
    let reader = file(40, 20, 2_000, noise);
    let (_, all) = scan(&reader, &ScanRequest::new());
    let (_, few) = scan(&reader, &ScanRequest::new().limit(10));
    assert_eq!((few.rows, few.devices), (10, 1));
    assert!(few.bytes_read * 10 < all.bytes_read, "{few:?} {all:?}");
}

#[test]
fn a_part_of_the_time_is_what_it_is_read_whole() {
    let (devices, rows) = (2, 35_000);
    let reader = file(devices, 4, rows, noise);
    for (from, to) in [(0, 0), (9_999, 10_000), (12_345, 12_399), (20_000, 34_999), (34_999, 40_000), (5, 29_999)] {
        for (offset, limit) in [(0, usize::MAX), (3, 17), (36_000, 100)] {
            let times = from as i64 * 1_000..=to as i64 * 1_000;
            let request = ScanRequest::new().columns(["s0003", "s0001"]).time(times).offset(offset as u64).limit(limit as u64);
            let wanted = (0..devices).flat_map(|device| (from..=to.min(rows - 1)).map(move |row| (device, row)));
            let cells = wanted.skip(offset).take(limit).flat_map(|(device, row)| [1, 3].map(|column| noise(device, row, column)));
            let expected = cells.fold(0, i64::wrapping_add);
            assert_eq!(scan(&reader, &request).0, expected, "rows {from} to {to}, {offset}, {limit}");
        }
    }
}

#[test]
fn the_last_rows_of_a_few_columns_read_little_more_than_their_pages() {
    let (columns, rows, page_rows) = (300, 8_000, 1_000);
    let options = WriterOptions::builder().page_rows_max(page_rows).build().expect("pages of 1,000 rows are allowed");
    let reader = file_of_pages(options, 1, columns, rows, noise);
    let names: Vec<String> = (0..columns).step_by(10).map(|column| format!("s{column:04}")).collect();
    let request = ScanRequest::new().columns(names).time((rows - page_rows) as i64 * 1_000..);
    let (sum, stats) = scan(&reader, &request);
    let cells = (0..columns).step_by(10).flat_map(|column| (rows - page_rows..rows).map(move |row| noise(0, row, column)));
    assert_eq!(sum, cells.fold(0, i64::wrapping_add));
    // Noise does not compress: a page has 8 bytes a row, and one bit for each that is present.
    let (pages, index) = (30 * page_rows as u64 * 8, reader.size() - reader.body_end());
    assert!(stats.bytes_read * 10 < (pages + index) * 12, "{} bytes for {pages} in pages: {stats:?}", stats.bytes_read);
    assert_eq!((stats.rows, stats.pages_decoded), (1_000, 31));
}
