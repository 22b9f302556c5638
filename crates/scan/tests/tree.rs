//! Devices of the tree model, aligned or not, by device, column, time, offset and limit, and condition; `every_file.rs` reads whole
//! files.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use support::{Cell, Row, TreeDevice, fixture_names, open, rows_of, tree_cpp, tree_java};
use tsloom_file::FileReader;
use tsloom_model::{DeviceId, ErrorKind, RowPolicy, TimeRange, field};
use tsloom_scan::{DeviceScan, Order, ScanRequest};
use tsloom_testkit::Random;

/// Files whose bytes do not hold the rows that the fixture's own reader gives: see the READMEs of the fixtures.
const READ_OTHERWISE: &[&str] =
    &["java/enc_gorilla_v1_double", "java/enc_gorilla_v1_float", "java/enc_rlbe_double", "java/enc_rlbe_float"];

type Rows = BTreeMap<DeviceId, (Vec<String>, Vec<Row>)>;

/// Every device with its column names and rows.
fn scan(file: &Arc<FileReader<Vec<u8>>>, devices: Option<&[DeviceId]>, request: &ScanRequest) -> tsloom_model::Result<Rows> {
    let mut scan = DeviceScan::open([Arc::clone(file)], devices, request)?;
    let mut found = Rows::new();
    let mut order = Vec::new();
    while let Some(block) = scan.next_block()? {
        let rows: Vec<Row> = rows_of(block).collect();
        assert!(rows.len() <= request.row_budget);
        let names: Vec<String> = block.columns().iter().map(|column| column.name().to_owned()).collect();
        assert_eq!(names.len(), scan.layout().columns.len());
        let device = scan.device().unwrap().clone();
        order.push(device.clone());
        found.entry(device).or_insert_with(|| (names, Vec::new())).1.extend(rows);
    }
    assert!(order.is_sorted() && scan.next_block()?.is_none());
    assert_eq!(scan.stats().rows, found.values().map(|(_, rows)| rows.len() as u64).sum::<u64>());
    Ok(found)
}

fn expected_rows(devices: &[TreeDevice], keep: impl Fn(&Row) -> bool) -> Rows {
    let mut rows = Rows::new();
    for device in devices {
        let kept: Vec<Row> = device.rows.iter().filter(|row| keep(row)).cloned().collect();
        if !kept.is_empty() {
            rows.insert(device.id.clone(), (device.columns.clone(), kept));
        }
    }
    rows
}

fn check_same(path: &str, found: &Rows, expected: &Rows) {
    assert!(found.keys().eq(expected.keys()), "{path}: devices {:?}, expected {:?}", found.keys(), expected.keys());
    for ((device, (names, rows)), (expected_names, expected)) in found.iter().zip(expected.values()) {
        let rows = &only_columns(names, rows, expected_names);
        let differs = rows.iter().zip(expected).position(|(row, expected)| row != expected);
        if let Some(at) = differs {
            panic!("{path} {device}, row {at}: {:?}, expected {:?}", rows[at], expected[at]);
        }
        assert_eq!(rows.len(), expected.len(), "{path} {device}");
    }
}

/// The rows with these columns; a fixture does not name columns that have no value.
fn only_columns(names: &[String], rows: &[Row], wanted: &[String]) -> Vec<Row> {
    assert!(wanted.iter().all(|name| names.contains(name)), "{wanted:?} of {names:?}");
    let only = |row: &Row| {
        let (kept, others): (Vec<_>, Vec<_>) = names.iter().zip(&row.cells).partition(|(name, _)| wanted.contains(name));
        assert!(others.iter().all(|(_, cell)| **cell == Cell::Null), "{others:?}");
        Row { time: row.time, cells: kept.into_iter().map(|(_, cell)| cell.clone()).collect() }
    };
    rows.iter().map(only).collect()
}

/// Path and devices of every fixture of the tree model.
fn fixtures() -> Vec<(String, Vec<TreeDevice>)> {
    let java = fixture_names("java").into_iter().filter(|name| !name.starts_with("table_")).map(|name| {
        let path = format!("java/{name}");
        let devices = tree_java(&path);
        (path, devices)
    });
    let cpp = fixture_names("cpp").into_iter().map(|name| {
        let path = format!("cpp/{name}");
        let devices = tree_cpp(&path);
        (path, devices)
    });
    java.chain(cpp.filter(|(_, devices)| !devices.is_empty())).collect()
}

#[test]
fn small_blocks_limits_and_ranges_give_the_same_rows() {
    for (path, devices) in fixtures() {
        if READ_OTHERWISE.contains(&path.as_str()) || devices.iter().map(|device| device.rows.len()).sum::<usize>() > 1000 {
            continue;
        }
        let file = open(&path).unwrap();
        let small = scan(&file, None, &ScanRequest::new().row_budget(7)).unwrap();
        check_same(&path, &small, &expected_rows(&devices, |_| true));

        let times: Vec<i64> = devices.iter().flat_map(|device| device.rows.iter().map(|row| row.time)).collect();
        let Some((first, last)) = times.iter().min().zip(times.iter().max()) else { continue };
        let range = TimeRange { start: first.midpoint(*last) - 1, end: first.midpoint(*last).saturating_add(i64::MAX / 4) };
        let half = scan(&file, None, &ScanRequest::new().time(range.start..=range.end)).unwrap();
        check_same(&path, &half, &expected_rows(&devices, |row| range.contains(row.time)));

        let window = scan(&file, None, &ScanRequest::new().offset(11).limit(23)).unwrap();
        let (mut skip, mut left) = (11, 23);
        let in_window = devices.iter().filter_map(|device| {
            let rows: Vec<Row> = device.rows.iter().skip(skip).take(left).cloned().collect();
            (skip, left) = (skip - skip.min(device.rows.len()), left - rows.len());
            (!rows.is_empty()).then(|| (device.id.clone(), (device.columns.clone(), rows)))
        });
        check_same(&path, &window, &in_window.collect());

        let valued = scan(&file, None, &ScanRequest::new().row_policy(RowPolicy::DropAllNull)).unwrap();
        check_same(&path, &valued, &expected_rows(&devices, |row| row.cells.iter().any(|cell| *cell != Cell::Null)));
    }
}

#[test]
fn one_device_and_some_columns() {
    let path = "java/tree_mixed_devices";
    let file = open(path).unwrap();
    for device in tree_java(path) {
        let names: Vec<String> = device.columns.iter().rev().take(2).cloned().collect();
        let request = ScanRequest::new().columns(names.clone());
        let found = scan(&file, Some(std::slice::from_ref(&device.id)), &request).unwrap();
        let positions: Vec<usize> =
            names.iter().map(|name| device.columns.iter().position(|column| column == name).unwrap()).collect();
        let rows: Vec<Row> = device
            .rows
            .iter()
            .map(|row| Row { time: row.time, cells: positions.iter().map(|at| row.cells[*at].clone()).collect() })
            .filter(|row| device.is_aligned || row.cells.iter().any(|cell| *cell != Cell::Null))
            .collect();
        check_same(path, &found, &Rows::from([(device.id, (names, rows))]));
    }
    let nobody = DeviceId::from_path("root.no.such.device");
    let error = DeviceScan::open([Arc::clone(&file)], Some(&[nobody]), &ScanRequest::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn conditions_on_values_see_the_merged_rows() {
    for path in ["java/tree_nonaligned_nulls", "java/unseq_chunk_groups", "java/many_chunks"] {
        let file = open(path).unwrap();
        let devices = tree_java(path);
        let name = devices.iter().flat_map(|device| &device.columns).find(|name| name.contains("int32") || *name == "x").unwrap();
        for prune in [true, false] {
            let request = ScanRequest::new().values(field(name.as_str()).gt(0)).prune(prune);
            let found = scan(&file, None, &request).unwrap();
            let with_column: Vec<&TreeDevice> = devices.iter().filter(|device| device.columns.contains(name)).collect();
            let mut expected = Rows::new();
            for device in with_column {
                let at = device.columns.iter().position(|column| column == name).unwrap();
                let passes = |row: &&Row| matches!(row.cells[at], Cell::Int(value) if value > 0);
                let rows: Vec<Row> = device.rows.iter().filter(passes).cloned().collect();
                if !rows.is_empty() {
                    expected.insert(device.id.clone(), (device.columns.clone(), rows));
                }
            }
            assert!(!expected.is_empty());
            check_same(path, &found, &expected);
        }
    }
}

#[test]
fn of_two_files_the_later_wins() {
    let path = "java/tree_mixed_devices";
    let devices = tree_java(path);
    let file = open(path).unwrap();
    let mut scan = DeviceScan::open([Arc::clone(&file), file], None, &ScanRequest::new()).unwrap();
    let mut row_count = 0;
    while let Some(block) = scan.next_block().unwrap() {
        let rows: Vec<Row> = rows_of(block).collect();
        let id = scan.device().unwrap();
        let device = devices.iter().find(|device| device.id == *id).unwrap();
        assert_eq!(rows, device.rows, "{id}");
        row_count += rows.len();
    }
    assert_eq!(row_count, devices.iter().map(|device| device.rows.len()).sum::<usize>());
}

/// Time range, order, row policy, offset, limit, row budget and read-ahead in any combination, over every file of the tree model.
#[test]
fn any_request_gives_what_a_naive_reader_gives() {
    let mut files = Vec::new();
    for path in
        ["java", "cpp"].iter().flat_map(|folder| fixture_names(folder).into_iter().map(move |name| format!("{folder}/{name}")))
    {
        let file = open(&path).unwrap();
        if file.tables().next().is_some() || READ_OTHERWISE.contains(&path.as_str()) {
            continue;
        }
        let devices = if path.starts_with("java") { tree_java(&path) } else { tree_cpp(&path) };
        files.push((path, file, devices));
    }
    assert!(files.len() > 5);
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let (path, file, devices) = random.pick(&files);
        let times: Vec<i64> = devices.iter().flat_map(|device| device.rows.iter().map(|row| row.time)).collect();
        let mut request =
            ScanRequest::new().row_budget(*random.pick(&[1, 7, 64, 10_000])).read_ahead_bytes(*random.pick(&[0, 1 << 18]));
        if random.one_in(2) && !times.is_empty() {
            let (one, other) = (*random.pick(&times), *random.pick(&times));
            request = request.time(one.min(other)..=one.max(other));
        }
        request = request.row_policy(*random.pick(&[RowPolicy::KeepAllNull, RowPolicy::DropAllNull]));
        request =
            request.order(*random.pick(&[Order::Ascending, Order::Descending])).offset(random.below(times.len() + 2) as u64 / 3);
        if random.one_in(2) {
            request = request.limit(random.below(times.len() + 2) as u64);
        }
        let mut expected: Vec<(&DeviceId, &[String], &Row)> = devices
            .iter()
            .flat_map(|device| device.rows.iter().map(|row| (&device.id, &device.columns[..], row)))
            .filter(|(.., row)| request.time.contains(row.time))
            .filter(|(.., row)| request.row_policy == RowPolicy::KeepAllNull || row.cells.iter().any(|cell| *cell != Cell::Null))
            .collect();
        if request.order == Order::Descending {
            expected.reverse();
        }
        let mut expected =
            expected.into_iter().skip(request.offset as usize).take(request.limit.map_or(usize::MAX, |limit| limit as usize));
        let mut scan = DeviceScan::open([Arc::clone(file)], None, &request).unwrap();
        while let Some(block) = scan.next_block().unwrap() {
            let names: Vec<String> = block.columns().iter().map(|column| column.name().to_owned()).collect();
            let rows: Vec<Row> = rows_of(block).collect();
            for row in rows {
                let (id, columns, wanted) = expected.next().unwrap_or_else(|| panic!("{path} {seed}: a row too many"));
                assert_eq!(scan.device(), Some(id), "{path} {seed}");
                assert_eq!(&only_columns(&names, &[row], columns)[0], wanted, "{path} {seed}");
            }
        }
        assert!(expected.next().is_none(), "{path} {seed}: rows are missing");
    }
}
