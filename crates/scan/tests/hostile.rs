//! Damaged files end in a typed error or in well-formed rows; never in a panic, a hang or an answer past the limits.

mod support;

use std::time::{Duration, Instant};

use support::{fixture, fixture_names, open_bytes, scan_all};
use tsloom_file::{FileWriter, WriterOptions};
use tsloom_model::{DataType, DeviceId, ErrorKind, Result, TableSchema};
use tsloom_scan::{ScanRequest, TableScan};
use tsloom_testkit::Random;

/// No file here is larger than 10 KB, so whatever takes longer than this follows a length that nobody checked.
const TIME_MAX: Duration = Duration::from_secs(5);

/// Reads every table of the file; the number of rows.
fn read_all(bytes: Vec<u8>, name: &str) -> Result<usize> {
    let reader = open_bytes(bytes, name)?;
    let tables: Vec<String> = reader.tables().map(|schema| schema.name().to_owned()).collect();
    let mut row_count = 0;
    for table in tables {
        row_count += scan_all(TableScan::of_file(reader.clone(), &table, &ScanRequest::new())?)?.0.len();
    }
    Ok(row_count)
}

/// Reads and checks what must hold of every outcome. True when it was rows.
fn check(bytes: Vec<u8>, name: &str, what: &str) -> bool {
    let start = Instant::now();
    let outcome = read_all(bytes, name);
    assert!(start.elapsed() < TIME_MAX, "{name}, {what}: {:?}", start.elapsed());
    match outcome {
        Ok(_) => true,
        Err(error) => {
            use ErrorKind::{Corrupt, LimitExceeded, SchemaMismatch, Truncated, Unsupported};
            let kinds = [Corrupt, Truncated, Unsupported, LimitExceeded, SchemaMismatch];
            assert!(kinds.contains(&error.kind()), "{name}, {what}: {:?}: {error}", error.kind());
            assert_eq!(error.file(), Some(name), "{what}: {error}");
            false
        }
    }
}

fn check_mutations(name: &str, seed: u64) {
    let good = std::fs::read(fixture(&format!("{name}.tsfile"))).expect("the fixture is there");
    assert!(check(good.clone(), name, "as it is"));
    let mut random = Random::new(seed);
    let mut outcomes = [0, 0];
    for round in 0..1_000 {
        let mut bytes = good.clone();
        let at = random.below(bytes.len());
        let what = match random.below(5) {
            0 => {
                bytes[at] ^= 1 << random.below(8);
                format!("round {round}: a bit of byte {at} flipped")
            }
            1 => {
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)];
                format!("round {round}: byte {at} set to {}", bytes[at])
            }
            2 => {
                bytes.truncate(at);
                format!("round {round}: cut to {at} bytes")
            }
            3 => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                bytes[at..end].fill(0xff);
                format!("round {round}: bytes {at} to {end} set")
            }
            _ => {
                let from = random.below(bytes.len());
                let count = (1 + random.below(16)).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + count, at);
                format!("round {round}: {count} bytes of {from} copied to {at}")
            }
        };
        outcomes[usize::from(check(bytes, name, &what))] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 50), "errors and rows both occur: {outcomes:?}");
}

#[test]
fn a_thousand_mutations_of_a_file_of_all_types() {
    check_mutations("cpp/notag_all_types", 0x5eed_0001);
}

#[test]
fn a_thousand_mutations_of_a_file_of_many_pages_and_tags() {
    check_mutations("cpp/comp_lz4", 0x5eed_0002);
}

#[test]
fn a_thousand_mutations_of_a_file_of_java() {
    check_mutations("java/table_nulls", 0x5eed_0003);
}

#[test]
fn files_that_stop_the_reader_of_cpp() {
    for name in fixture_names("cpp/hostile") {
        let path = format!("cpp/hostile/{name}");
        check(std::fs::read(fixture(&format!("{path}.tsfile"))).expect("the fixture is there"), &path, "as it is");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let good = std::fs::read(fixture("cpp/tags_only.tsfile")).expect("the fixture is there");
    for size in 0..good.len() {
        assert!(!check(good[..size].to_vec(), "cut", &format!("to {size} bytes")));
    }
}

/// A small file can hold a page of millions of rows and a schema of thousands of columns without a value: neither is too much, but
/// all their cells are.
#[test]
fn rows_times_columns_is_bounded() {
    let names = (0..2_000).map(|column| format!("c{column:04}"));
    let builder = names.fold(TableSchema::builder("t"), |builder, name| builder.field(name, DataType::Int64));
    let schema = builder.build().expect("the names differ");
    let options = WriterOptions::builder().page_rows_max(1_000_000).page_bytes_max(64 << 20).build().expect("within bounds");
    let mut writer = FileWriter::new(Vec::new(), options).expect("a vector takes everything");
    writer.add_table(&schema).expect("a new table");
    let times: Vec<i64> = (0..100_000).collect();
    writer.write_rows("t", &DeviceId::new("t", []), &times, &vec![None; 2_000]).expect("rows rise in time");
    let (bytes, _) = writer.finish().expect("a vector takes everything");
    assert!(bytes.len() < 200_000, "{}", bytes.len());
    let reader = open_bytes(bytes, "wide and long").expect("a sound file");
    let scan = |request: &ScanRequest| scan_all(TableScan::of_file(reader.clone(), "t", request).expect("the request fits"));
    let error = scan(&ScanRequest::new()).expect_err("1.6 GB of nothing");
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(
        error.to_string(),
        "wide and long: a page set of 100,000 rows and 2000 columns is past the limit of 134,217,728 cells; ask for fewer columns"
    );
    assert_eq!(scan(&ScanRequest::new().columns(["c0001"])).expect("one column").0.len(), 100_000);
}
