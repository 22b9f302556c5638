//! Scans by time and scans by several threads, on files that are larger than the fixtures: `properties.rs` has those.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::Arc;

use tsloom_file::{FileReader, FileWriter, WriterOptions};
use tsloom_model::{ColumnView, DataType, DeviceId, Limits, TableSchema, ValuesRef};
use tsloom_scan::{Order, ScanRequest, ScanStats, TableScan};

type Reader = Arc<FileReader<Vec<u8>>>;

/// Devices `d000`, ... of a table with one written column, which holds the number of the device, and others that are never written.
fn file(devices: usize, columns: usize, times: impl Fn(usize) -> Vec<i64>) -> Reader {
    let builder = TableSchema::builder("t").tag("dev");
    let schema =
        (0..columns).fold(builder, |builder, column| builder.field(format!("s{column:02}"), DataType::Int64)).build().unwrap();
    let options = WriterOptions::builder().page_rows_max(1_000).chunk_rows_max(10_000).build().unwrap();
    let mut writer = FileWriter::new(Vec::new(), options).unwrap();
    writer.add_table(&schema).unwrap();
    for device in 0..devices {
        let times = times(device);
        let values = vec![device as i64; times.len()];
        let mut views = vec![None; columns];
        views[0] = Some(ColumnView::new(DataType::Int64, ValuesRef::Int64(&values), None));
        writer.write_rows("t", &DeviceId::new("t", [Some(format!("d{device:03}").as_str())]), &times, &views).unwrap();
    }
    Arc::new(FileReader::new(writer.finish().unwrap().0, "t", Limits::default()).unwrap())
}

/// Time and device of each row.
fn rows(reader: &Reader, request: &ScanRequest, threads: usize) -> (Vec<(i64, i64)>, ScanStats) {
    let mut scan = TableScan::of_file(Arc::clone(reader), "t", request).unwrap().threads(threads).unwrap();
    let column = scan.layout().columns.iter().position(|column| column.name == "s00").unwrap();
    let mut rows = Vec::new();
    while let Some(block) = scan.next_block().unwrap() {
        assert!(block.check() && block.row_count() <= request.row_budget);
        rows.extend(block.times().iter().enumerate().map(|(row, time)| (*time, block.column(column).i64(row).unwrap())));
    }
    (rows, scan.stats())
}

/// More rows than are held at once, so unevenly spread that no guess from statistics is right.
#[test]
fn by_time_holds_few_rows_whatever_their_times_are() {
    const ROWS: i64 = 25_000;
    let reader = file(3, 62, |device| (0..ROWS).map(|row| row * 2 + device as i64 % 2).chain([i64::MAX - 5]).collect());
    let mut expected: Vec<(i64, i64)> = (0..3)
        .flat_map(|device| (0..ROWS).map(move |row| (row * 2 + device % 2, device)).chain([(i64::MAX - 5, device)]))
        .collect();
    expected.sort_unstable();
    let request = ScanRequest::new().order(Order::ByTime);
    assert!(rows(&reader, &request, 1).0 == expected);
    let few = rows(&reader, &request.clone().offset(3).limit(5), 1);
    assert_eq!(few.0, expected[3..8]);
    assert!(few.1.pages_decoded < 100, "{:?}", few.1);
    expected.reverse();
    assert!(rows(&reader, &request.order(Order::ByTimeDescending), 1).0 == expected);
}

/// Files that all overlap have more rows of a device than are held at once; that the times lie unevenly misleads every guess.
#[test]
fn descending_holds_few_rows_however_much_overlaps() {
    const ROWS: i64 = 30_000;
    let files: Vec<Reader> = (0..3)
        .map(|file_index| {
            file(1, 62, |_| {
                [i64::MIN + file_index]
                    .into_iter()
                    .chain((0..ROWS).map(|row| row * 3 + file_index))
                    .chain([i64::MAX - 5])
                    .collect()
            })
        })
        .collect();
    let open = |request: &ScanRequest| {
        let schema = files[0].table("t").unwrap().clone();
        TableScan::open(schema, files.iter().map(Arc::clone), request).unwrap()
    };
    let request = ScanRequest::new().columns(["s00"]).order(Order::Descending);
    let all = || (i64::MIN..i64::MIN + 3).chain(0..ROWS * 3).chain([i64::MAX - 5]).rev();
    for (request, expected) in [
        (request.clone(), all().collect::<Vec<_>>()),
        (ScanRequest { columns: None, ..request.clone() }, all().collect()),
        (request.clone().offset(70_000).limit(100), all().skip(70_000).take(100).collect()),
        (request.clone().time(..77_777).limit(5), (77_772..77_777).rev().collect()),
    ] {
        let mut scan = open(&request);
        let mut times = Vec::new();
        while let Some(block) = scan.next_block().unwrap() {
            times.extend_from_slice(block.times());
        }
        assert!(times == expected, "{request:?}");
    }
    let mut few = open(&request.limit(2));
    while few.next_block().unwrap().is_some() {}
    let stats = few.stats();
    assert!(stats.pages_decoded < 40, "the last pages of each, and no others: {stats:?}");
}

#[test]
fn rows_of_one_time_are_not_held() {
    let reader = file(700, 1, |device| if device % 7 == 0 { vec![5, 6] } else { vec![5] });
    for (order, backwards) in [(Order::ByTime, false), (Order::ByTimeDescending, true)] {
        let mut expected: Vec<(i64, i64)> = (0..700).map(|device| (5, device)).collect();
        if backwards {
            expected.reverse();
        }
        let request = ScanRequest::new().time(..=5).order(order).row_budget(64);
        assert_eq!(rows(&reader, &request, 1).0, expected);
    }
}

#[test]
fn threads_change_no_row_and_no_order() {
    // Many devices; few of which one is long.
    for reader in [
        file(300, 2, |device| (0..(device as i64 % 40)).collect()),
        file(3, 2, |device| (0..90_000 * (device as i64 % 2) + 10).collect()),
    ] {
        for order in [Order::Ascending, Order::Descending] {
            for (offset, limit) in [(0, None), (1_234, None), (77, Some(2_000)), (50_000, Some(40_001)), (0, Some(0))] {
                let request = ScanRequest { limit, ..ScanRequest::new().order(order).offset(offset).row_budget(700) };
                let (expected, serial) = rows(&reader, &request, 1);
                for threads in [2, 5] {
                    let (found, stats) = rows(&reader, &request, threads);
                    assert!(found == expected, "{request:?} {threads}");
                    assert_eq!(stats.rows, serial.rows);
                    assert!(stats.block_builds <= 2 + 6 * threads as u64 + 1, "blocks come back: {stats:?}");
                }
            }
        }
    }
}

#[test]
fn a_scan_that_is_dropped_ends_its_threads() {
    let reader = file(300, 2, |_| (0..500).collect());
    for blocks in 0..4 {
        let mut scan =
            TableScan::of_file(Arc::clone(&reader), "t", &ScanRequest::new().row_budget(100)).unwrap().threads(3).unwrap();
        for _ in 0..blocks {
            assert!(scan.next_block().unwrap().is_some());
        }
        drop(scan);
        assert_eq!(Arc::strong_count(&reader), 1, "no worker has it any more");
    }
}

#[test]
fn an_error_comes_after_the_rows_before_it() {
    let sound = file(60, 1, |_| (0..2_000).collect());
    let devices = 60;
    let mut bytes = vec![0; sound.size() as usize];
    sound.read_exact(0, &mut bytes).unwrap();
    let at = sound.body_end() as usize / 2;
    bytes[at..at + 400].fill(0xff);
    let broken: Reader = Arc::new(FileReader::new(bytes, "t", Limits::default()).unwrap());
    let until_error = |threads: usize| {
        let mut scan = TableScan::of_file(Arc::clone(&broken), "t", &ScanRequest::new().devices_apart(true))
            .unwrap()
            .threads(threads)
            .unwrap();
        let mut row_count = 0;
        loop {
            match scan.next_block() {
                Ok(Some(block)) => row_count += block.row_count(),
                Ok(None) => panic!("the damage was not seen"),
                Err(error) => {
                    assert!(scan.next_block().unwrap().is_none(), "it is over");
                    return (row_count / 2_000, error.kind());
                }
            }
        }
    };
    let (whole, kind) = until_error(1);
    assert!(whole > 5 && whole < devices);
    for _ in 0..5 {
        assert_eq!(until_error(3), (whole, kind));
    }
    assert_eq!(Arc::strong_count(&broken), 1);
}
