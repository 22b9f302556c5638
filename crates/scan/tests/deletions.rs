//! What was deleted of a source: what is not even read, what holds only below a file offset, and series of the tree model.
//! `properties.rs` has tables, at random.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use support::{Cell, Row, TreeDevice, open, rows_of, tree_cpp, tree_java};
use tsloom_file::{FileReader, FileWriter, WriterOptions};
use tsloom_model::{
    ColumnView, DataType, Deletion, DeletionTarget, DeviceId, Limits, RowPolicy, TableSchema, TimeRange, ValuesRef, field,
    split_path,
};
use tsloom_scan::{DeviceScan, ScanRequest, ScanStats, Source, TableScan};

type Reader = Arc<FileReader<Vec<u8>>>;

/// Three chunk groups of one device, 100 rows each; `v` is the time.
fn three_groups() -> Reader {
    let schema = TableSchema::builder("t").tag("dev").field("v", DataType::Int64).field("w", DataType::Int64).build().unwrap();
    let options = WriterOptions::builder().page_rows_max(50).chunk_rows_max(100).build().unwrap();
    let mut writer = FileWriter::new(Vec::new(), options).unwrap();
    writer.add_table(&schema).unwrap();
    let times: Vec<i64> = (0..300).collect();
    let view = ColumnView::new(DataType::Int64, ValuesRef::Int64(&times), None);
    writer.write_rows("t", &DeviceId::new("t", [Some("a")]), &times, &[Some(view), Some(view)]).unwrap();
    let (bytes, _) = writer.finish().unwrap();
    Arc::new(FileReader::new(bytes, "t", Limits::default()).unwrap())
}

fn scan(reader: &Reader, deletions: &[Deletion], request: &ScanRequest) -> (Vec<Row>, ScanStats) {
    let schema = reader.table("t").unwrap().clone();
    let source = Source::file(Arc::clone(reader)).without(deletions);
    let mut scan = TableScan::open(schema, [source], request).unwrap();
    let mut rows = Vec::new();
    while let Some(block) = scan.next_block().unwrap() {
        rows.extend(rows_of(block));
    }
    (rows, scan.stats())
}

#[test]
fn what_is_deleted_whole_is_not_read() {
    let reader = three_groups();
    let request = ScanRequest::new().columns(["v", "w"]);
    let (all, everything) = scan(&reader, &[], &request);
    assert_eq!((all.len(), everything.pages_decoded), (300, 6 * 3));
    let (rows, stats) = scan(&reader, &[Deletion::of_table("t", ..)], &request);
    assert!(rows.is_empty() && stats.pages_decoded == 0 && stats.bytes_read < everything.bytes_read, "{stats:?}");
    let (rows, stats) = scan(&reader, &[Deletion::of_table("t", 100..200)], &request);
    assert_eq!((rows.len(), stats.pages_decoded), (200, 4 * 3));
    let deletions = [Deletion::of_table("t", 140..), Deletion::of_table("t", 0..60).columns(["w"])];
    let (rows, stats) = scan(&reader, &deletions, &request);
    let expected: Vec<Row> = all.iter().take(140).cloned().collect();
    let nulled = |row: &Row| Row { cells: vec![row.cells[0].clone(), Cell::Null], ..row.clone() };
    assert_eq!(rows[60..], expected[60..]);
    assert_eq!(rows[..60], expected[..60].iter().map(nulled).collect::<Vec<_>>());
    assert!(stats.pages_decoded <= 3 * 3, "{stats:?}");
}

#[test]
fn statistics_of_rows_and_cells_that_are_gone_mislead_nobody() {
    let reader = three_groups();
    for (request, expected) in [
        (ScanRequest::new().columns(["v"]).values(field("w").is_null()), 10),
        (ScanRequest::new().columns(["v"]).values(field("w").is_null().not()), 270),
        (ScanRequest::new().columns(["v"]).values(field("w").lt(30)), 15),
        (ScanRequest::new().columns(["v"]).offset(95).limit(100), 100),
        (ScanRequest::new().columns(["v"]).offset(279), 1),
    ] {
        let deletions =
            [Deletion::of_table("t", 5..15).columns(["w"]), Deletion::of_table("t", 20..25), Deletion::of_table("t", 130..145)];
        for prune in [true, false] {
            let (rows, _) = scan(&reader, &deletions, &request.clone().prune(prune));
            assert_eq!(rows.len(), expected, "{request:?}");
        }
        let offset = request.offset as i64;
        if offset > 0 {
            // 5 rows are gone before 25.
            let (rows, _) = scan(&reader, &deletions, &request);
            assert_eq!(rows[0].time, offset + if offset < 125 { 5 } else { 20 });
        }
    }
}

#[test]
fn a_deletion_below_an_offset_leaves_later_chunks() {
    let reader = three_groups();
    let left = |below_offset| {
        let deletion = Deletion { below_offset, ..Deletion::of_table("t", ..) };
        let (rows, _) = scan(&reader, &[deletion], &ScanRequest::new().columns(["v"]));
        assert!(rows.iter().enumerate().all(|(index, row)| row.time as usize == 300 - rows.len() + index));
        rows.len()
    };
    let mut counts: Vec<usize> = (0..=reader.size()).map(|offset| left(Some(offset))).collect();
    counts.dedup();
    assert_eq!(counts, [300, 200, 100, 0], "group after group");
    assert_eq!(left(None), 0);
}

fn by_path(pattern: &str, start: i64, end: i64) -> Deletion {
    let target = DeletionTarget::Paths(split_path(pattern).into_iter().map(str::to_owned).collect());
    Deletion { times: TimeRange { start, end }, below_offset: None, target }
}

type Rows = BTreeMap<DeviceId, Vec<Row>>;

fn scan_devices(file: &str, deletions: &[Deletion]) -> Rows {
    let reader = open(file).unwrap();
    let mut rows = Rows::new();
    let source = Source::file(reader).without(deletions);
    let mut scan = DeviceScan::open([source], None, &ScanRequest::new().row_policy(RowPolicy::DropAllNull)).unwrap();
    while let Some(block) = scan.next_block().unwrap() {
        let found: Vec<Row> = rows_of(block).collect();
        rows.entry(scan.device().unwrap().clone()).or_default().extend(found);
    }
    rows
}

fn left(devices: Vec<TreeDevice>, is_deleted: impl Fn(&str, &str, i64) -> bool) -> Rows {
    let mut rows = Rows::new();
    for device in devices {
        let path = device.id.to_string();
        let mut left = device.rows;
        for row in &mut left {
            for (column, cell) in device.columns.iter().zip(&mut row.cells) {
                if is_deleted(&path, column, row.time) {
                    *cell = Cell::Null;
                }
            }
        }
        left.retain(|row| row.cells.iter().any(|cell| *cell != Cell::Null));
        if !left.is_empty() {
            rows.insert(device.id, left);
        }
    }
    rows
}

#[test]
fn series_of_the_tree_model_lose_values() {
    for file in
        ["java/tree_mixed_devices", "java/tree_nonaligned", "cpp/tree_not_aligned", "cpp/tree_aligned", "java/tree_aligned_nulls"]
    {
        let devices = || if file.starts_with("cpp") { tree_cpp(file) } else { tree_java(file) };
        let first = devices().remove(0);
        let (path, column) = (first.id.to_string(), first.columns[0].clone());
        let times: Vec<i64> = first.rows.iter().map(|row| row.time).collect();
        let (start, end) = (times[times.len() / 3], times[times.len() / 2]);
        assert_eq!(scan_devices(file, &[]), left(devices(), |_, _, _| false), "{file}");
        let inside = move |time: i64| start <= time && time <= end;
        let cells = by_path(&format!("{path}.{column}"), start, end);
        let expected = left(devices(), |of, name, time| of == path && name == column && inside(time));
        assert_eq!(scan_devices(file, std::slice::from_ref(&cells)), expected, "{file}");
        let rows = by_path("root.**", start, end);
        let expected = left(devices(), |of, name, time| inside(time) || of == path && name == column && inside(time));
        assert_eq!(scan_devices(file, &[rows, cells]), expected, "{file}");
        assert!(scan_devices(file, &[by_path("root.**", i64::MIN, i64::MAX)]).is_empty(), "{file}");
        assert_eq!(scan_devices(file, &[by_path("root.nobody.*", i64::MIN, i64::MAX)]), left(devices(), |_, _, _| false));
    }
}
