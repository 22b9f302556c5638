//! Every table-model file that C++ or Java wrote reads to the rows that stand beside it.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::sync::Arc;

use support::{Expected, aligned_java, expected_cpp, expected_java, fixture_names, open, scan_all, table_rows};
use tsloom_model::{ErrorKind, Predicate, tag};
use tsloom_scan::{ScanRequest, Source, TableScan};

/// Files whose encoding or compression this build does not read yet. A file that becomes readable must leave the list.
const UNSUPPORTED: &[&str] = &[];

/// A file of C++ that its own writer damaged: what SPRINTZ makes of large differences of doubles is an open question.
const SUSPECT: &[&str] = &["cpp/enc_sprintz_double_suspect"];

fn check_all(folder: &str, wanted: impl Fn(&str) -> bool, expected: impl Fn(&str) -> Vec<Expected>) -> usize {
    let mut checked = 0;
    let mut unsupported = Vec::new();
    for name in fixture_names(folder) {
        let path = format!("{folder}/{name}");
        if !wanted(&name) || SUSPECT.contains(&path.as_str()) {
            continue;
        }
        let tables = expected(&path);
        if tables.is_empty() {
            continue; // the tree model
        }
        let reader = open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(reader.tables().count(), tables.len(), "{path}");
        for table in &tables {
            let schema = reader.table(&table.table).expect("the table is there");
            match table_rows(&reader, &table.table) {
                Ok(rows) => table.check(schema, &rows),
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    unsupported.push(path.clone());
                    break;
                }
                Err(error) => panic!("{path}: {error}"),
            }
        }
        checked += 1;
    }
    let listed: Vec<&str> = UNSUPPORTED.iter().copied().filter(|path| path.starts_with(folder)).collect();
    assert_eq!(unsupported, listed, "what cannot be read is listed, and nothing else is");
    checked
}

#[test]
fn files_of_cpp_read_to_their_rows() {
    assert_eq!(check_all("cpp", |_| true, expected_cpp), 32);
}

#[test]
fn table_files_of_java_read_to_their_rows() {
    assert_eq!(check_all("java", |name| name.starts_with("table_"), expected_java), 9);
}

/// Files of Java whose encoding or compression this build does not read yet.
const JAVA_UNSUPPORTED: &[&str] = &[];

/// Files that are read otherwise than the Java of the fixture reads them: GORILLA_V1 loses its way at NaN there, and floats in RLBE
/// are in the form of old Java, which no byte of a file tells from the new one.
const JAVA_READS_OTHERWISE: &[&str] =
    &["java/enc_gorilla_v1_double", "java/enc_gorilla_v1_float", "java/enc_rlbe_double", "java/enc_rlbe_float"];

#[test]
fn aligned_devices_of_java_read_to_their_rows() {
    let (mut unsupported, mut otherwise): (Vec<String>, Vec<String>) = Default::default();
    let (mut file_count, mut device_count) = (0, 0);
    for name in fixture_names("java").iter().filter(|name| !name.starts_with("table_")) {
        let path = format!("java/{name}");
        let reader = open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let devices = aligned_java(&path);
        file_count += usize::from(!devices.is_empty());
        for device in devices {
            let equals = |(index, value): (usize, &Option<String>)| {
                tag(format!("tag {}", index + 1)).eq(value.as_deref().expect("a path has no null"))
            };
            let filter = Predicate::And(device.tags.iter().enumerate().map(equals).collect());
            let source = [Source::File(Arc::clone(&reader))];
            let scan = TableScan::open(device.schema.clone(), source, &ScanRequest::new().filter(filter)).unwrap();
            match scan_all(scan) {
                Ok((rows, _)) if rows == device.rows => device_count += 1,
                Ok((rows, _)) => {
                    let differs = rows.iter().zip(&device.rows).find(|(row, expected)| row != expected);
                    println!("{path} {:?}, {} rows of {}: {differs:?}", device.tags, rows.len(), device.rows.len());
                    otherwise.push(path.clone());
                }
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    unsupported.push(path.clone());
                    break;
                }
                Err(error) => panic!("{path} {:?}: {error}", device.tags),
            }
        }
    }
    assert_eq!((unsupported, otherwise), (to_strings(JAVA_UNSUPPORTED), to_strings(JAVA_READS_OTHERWISE)));
    assert_eq!((file_count, device_count), (80, 94));
}

fn to_strings(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}
