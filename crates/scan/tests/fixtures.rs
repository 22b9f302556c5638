//! Every table-model file that C++ or Java wrote reads to the rows that stand beside it.

mod support;

use support::{Expected, expected_cpp, expected_java, fixture_names, open, table_rows};
use tsloom_model::ErrorKind;

/// Files whose encoding or compression this build does not read yet. A file that becomes readable must leave the list.
const UNSUPPORTED: &[&str] = &["cpp/comp_gzip", "cpp/comp_lzma2", "cpp/comp_lzo", "cpp/comp_zstd"];

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
