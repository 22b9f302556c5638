//! What a scan reads: few calls for many devices, and little more than what was asked for. What the scan counts is what the source
//! of the bytes counts.

use std::sync::Arc;

use tsloom_file::{DeviceSeries, FileReader, FileWriter, WriterOptions};
use tsloom_model::{ColumnView, DataType, DeviceId, Limits, TableSchema, ValuesRef, tag};
use tsloom_scan::{ScanRequest, ScanStats, TableScan};
use tsloom_testkit::CountedReads;

/// A file whose reads are counted.
struct Counted {
    reader: Arc<FileReader<Arc<CountedReads<Vec<u8>>>>>,
    source: Arc<CountedReads<Vec<u8>>>,
}

impl Counted {
    fn new(bytes: Vec<u8>) -> Self {
        let source = Arc::new(CountedReads::new(bytes));
        let reader = FileReader::new(Arc::clone(&source), "t", Limits::default()).expect("the file is whole");
        Self { reader: Arc::new(reader), source }
    }

    fn metadata_size(&self) -> u64 {
        self.reader.size() - self.reader.body_end()
    }
}

/// A table of INT64 columns; cell (device, row, column) is `cell` of them.
fn file(devices: usize, columns: usize, rows: usize, cell: fn(usize, usize, usize) -> i64) -> Counted {
    file_of_pages(WriterOptions::default(), devices, columns, rows, cell)
}

fn file_of_pages(
    options: WriterOptions,
    devices: usize,
    columns: usize,
    rows: usize,
    cell: fn(usize, usize, usize) -> i64,
) -> Counted {
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
    Counted::new(bytes)
}

/// The wrapping sum of all cells of a scan, and what it did.
fn scan(file: &Counted, request: &ScanRequest) -> (i64, ScanStats) {
    file.source.take();
    let mut scan = TableScan::of_file(Arc::clone(&file.reader), "t", request).expect("the request fits");
    let mut sum = 0_i64;
    while let Some(block) = scan.next_block().expect("the file is sound") {
        for column in block.columns() {
            sum = (0..block.row_count()).filter_map(|row| column.i64(row)).fold(sum, i64::wrapping_add);
        }
    }
    let stats = scan.stats();
    assert_eq!((stats.reads, stats.bytes_read), file.source.take());
    (sum, stats)
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
    let file = file(30, 200, 20, |device, row, column| 1_000_000 * device as i64 + 1_000 * row as i64 + column as i64);
    assert!(file.source.take() <= (2, (64 << 10) + 12), "opening: the tail, and the head when that is another place");
    let (sum, stats) = scan(&file, &ScanRequest::new());
    let expected = (0..30).flat_map(|d| (0..20).flat_map(move |r| (0..200).map(move |c| 1_000_000 * d + 1_000 * r + c))).sum();
    assert_eq!(sum, expected);
    assert_eq!((stats.rows, stats.devices, stats.block_builds, stats.pages_decoded), (600, 30, 1, 30 * 201));
    assert!(stats.reads <= 6, "measurement roots, then series metadata and chunks in pieces of 256 KiB: {stats:?}");
    assert!(stats.bytes_read <= file.reader.size(), "{stats:?}");
}

#[test]
fn a_few_columns_of_many_read_little_more_than_their_chunks() {
    let file = file(1, 600, 1_000, noise);
    let (body_size, metadata_size) = (file.reader.body_end(), file.metadata_size());
    for step in [6, 60, 600] {
        let names: Vec<String> = (0..600).step_by(step).map(|column| format!("s{column:04}")).collect();
        let expected = (0..600).step_by(step).flat_map(|column| (0..1_000).map(move |row| noise(0, row, column)));
        let (sum, stats) = scan(&file, &ScanRequest::new().columns(names));
        assert_eq!(sum, expected.fold(0, i64::wrapping_add));
        let needed = metadata_size + body_size / 600 * (600 / step as u64 + 1);
        assert!(stats.bytes_read * 10 < needed * 12, "{} of {needed} needed: {stats:?}", stats.bytes_read);
    }
}

#[test]
fn devices_that_the_filter_turns_down_are_not_read() {
    let file = file(300, 3, 100, noise);
    let (_, all) = scan(&file, &ScanRequest::new());
    let (sum, one) = scan(&file, &ScanRequest::new().filter(tag("dev").eq("d0123")));
    let expected = (0..3).flat_map(|column| (0..100).map(move |row| noise(123, row, column)));
    assert_eq!(sum, expected.fold(0, i64::wrapping_add));
    assert_eq!((one.rows, one.devices, one.pages_decoded), (100, 1, 4));
    assert!(one.bytes_read * 20 < all.bytes_read, "{one:?} {all:?}");
}

#[test]
fn a_limit_ends_the_reading() {
    let file = file(40, 20, 2_000, noise);
    let (_, all) = scan(&file, &ScanRequest::new());
    let (_, few) = scan(&file, &ScanRequest::new().limit(10));
    assert_eq!((few.rows, few.devices), (10, 1));
    assert!(few.bytes_read * 10 < all.bytes_read, "{few:?} {all:?}");
}

#[test]
fn a_part_of_the_time_is_what_it_is_read_whole() {
    let (devices, rows) = (2, 35_000);
    let file = file(devices, 4, rows, noise);
    for (from, to) in [(0, 0), (9_999, 10_000), (12_345, 12_399), (20_000, 34_999), (34_999, 40_000), (5, 29_999)] {
        for (offset, limit) in [(0, usize::MAX), (3, 17), (36_000, 100)] {
            let times = from as i64 * 1_000..=to as i64 * 1_000;
            let request = ScanRequest::new().columns(["s0003", "s0001"]).time(times).offset(offset as u64).limit(limit as u64);
            let wanted = (0..devices).flat_map(|device| (from..=to.min(rows - 1)).map(move |row| (device, row)));
            let cells = wanted.skip(offset).take(limit).flat_map(|(device, row)| [1, 3].map(|column| noise(device, row, column)));
            let expected = cells.fold(0, i64::wrapping_add);
            assert_eq!(scan(&file, &request).0, expected, "rows {from} to {to}, {offset}, {limit}");
        }
    }
}

#[test]
fn the_last_rows_of_a_few_columns_read_little_more_than_their_pages() {
    let (columns, rows, page_rows) = (300, 8_000, 1_000);
    let options = WriterOptions::builder().page_rows_max(page_rows).build().expect("pages of 1,000 rows are allowed");
    let file = file_of_pages(options, 1, columns, rows, noise);
    let names: Vec<String> = (0..columns).step_by(10).map(|column| format!("s{column:04}")).collect();
    let request = ScanRequest::new().columns(names).time((rows - page_rows) as i64 * 1_000..);
    let (sum, stats) = scan(&file, &request);
    let cells = (0..columns).step_by(10).flat_map(|column| (rows - page_rows..rows).map(move |row| noise(0, row, column)));
    assert_eq!(sum, cells.fold(0, i64::wrapping_add));
    // Noise does not compress: a page has 8 bytes a row, and one bit for each that is present.
    let (pages, index) = (30 * page_rows as u64 * 8, file.metadata_size());
    assert!(stats.bytes_read * 10 < (pages + index) * 12, "{} bytes for {pages} in pages: {stats:?}", stats.bytes_read);
    assert_eq!((stats.rows, stats.pages_decoded), (1_000, 31));
}

/// The columns of one device lie side by side: those that are near each other in one leaf of the index, those that are far apart in
/// all of its leaves.
#[test]
fn a_hundred_columns_of_three_thousand_read_little_more_than_their_pages_and_the_way_there() {
    let (columns, rows, page_rows) = (3_000, 2_000, 1_000);
    let options = WriterOptions::builder().page_rows_max(page_rows).build().expect("pages of 1,000 rows are allowed");
    let file = file_of_pages(options, 1, columns, rows, noise);
    // Noise does not compress: a page has 8 bytes a row, and one bit for each that is present.
    let pages = 100 * page_rows as u64 * 8;
    for (step, leaf_count) in [(1, 2), (30, 12)] {
        let wanted = || (0..columns).step_by(step).take(100);
        let names = wanted().map(|column| format!("s{column:04}"));
        let request = ScanRequest::new().columns(names).time((rows - page_rows) as i64 * 1_000..);
        let (sum, stats) = scan(&file, &request);
        let cells = wanted().flat_map(|column| (rows - page_rows..rows).map(move |row| noise(0, row, column)));
        assert_eq!(sum, cells.fold(0, i64::wrapping_add));
        // A leaf has 256 of the 3,001 series.
        let index = file.metadata_size() * leaf_count / 11;
        assert!(stats.bytes_read * 10 < (pages + index) * 12, "{} bytes, {pages} in pages, {index}: {stats:?}", stats.bytes_read);
        assert_eq!((stats.rows, stats.pages_decoded), (1_000, 101));
    }
}

/// The shape of a file that another reader needed a read a device for.
#[test]
fn tens_of_thousands_of_devices_are_listed_in_one_pass() {
    let devices = 53_040;
    let file = file(devices, 1, 2, noise);
    let (mut cursor, mut series) = (file.reader.devices("t"), DeviceSeries::default());
    let (mut device_count, mut series_count, mut row_count) = (0, 0, 0);
    file.source.take();
    while cursor.advance(&file.reader).expect("the index is sound") {
        cursor.read_series(&file.reader, &mut series).expect("the metadata are sound");
        device_count += 1;
        series_count += series.len();
        row_count += series.time().map_or(0, |time| time.statistics().count());
    }
    assert_eq!((device_count, series_count, row_count), (devices, 2 * devices, 2 * devices as u32));
    let (reads, bytes) = file.source.take();
    assert!(bytes * 10 <= file.metadata_size() * 11, "{bytes} bytes of {}", file.metadata_size());
    assert!(reads <= file.metadata_size() / (1 << 20) + 3, "{reads} reads of {} bytes", file.metadata_size());

    let (_, stats) = scan(&file, &ScanRequest::new().filter(tag("dev").is_null()));
    assert_eq!((stats.rows, stats.devices), (0, 0));
    assert!(stats.reads <= 10 && stats.bytes_read * 2 < file.metadata_size(), "only the index of devices: {stats:?}");
}

#[test]
fn chunks_of_the_next_devices_are_read_along() {
    let file = file(300, 3, 100, noise);
    let [each, usual, far] = [0, 256 << 10, 2 << 20].map(|size| scan(&file, &ScanRequest::new().read_ahead_bytes(size)));
    assert_eq!((each.0, usual.0), (far.0, far.0));
    assert!(each.1.reads >= 300, "one for each device: {:?}", each.1);
    let body_reads = file.reader.body_end() / (256 << 10) + 1;
    assert!(usual.1.reads <= body_reads + 4 && far.1.reads < usual.1.reads, "{:?} {:?}", usual.1, far.1);
}
