//! Scaled floats: rows are rounded after their statistics were taken, so bounds must not be taken at their word.
//!
//! Pins the fault that a condition between the written and the stored value pruned the page that has it.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::Arc;

use tsloom_file::{FileReader, FileWriter, WriterOptions};
use tsloom_model::{ColumnSchema, DataType, Encoding, Limits, TableSchema, field};
use tsloom_scan::{ScanRequest, TableScan};
use tsloom_tablet::Tablet;

#[test]
fn a_row_that_was_rounded_over_a_bound_is_found() {
    let mut column = ColumnSchema::field("f", DataType::Double).encoding(Encoding::Ts2Diff);
    column.props.push(("max_point_number".to_owned(), Some("2".to_owned())));
    let schema = TableSchema::builder("t").tag("dev").column(column).build().unwrap();
    let mut tablet = Tablet::new(&schema);
    tablet.push_row(1, &["d".into(), 1.006.into()]).unwrap();
    tablet.push_row(2, &["d".into(), 1.0.into()]).unwrap();
    let mut writer = FileWriter::new(Vec::new(), WriterOptions::default()).unwrap();
    writer.add_table(&schema).unwrap();
    writer.write(&tablet).unwrap();
    let (bytes, _) = writer.finish().unwrap();
    let reader = Arc::new(FileReader::new(bytes, "scaled", Limits::default()).unwrap());

    for prune in [true, false] {
        let request = ScanRequest { values: Some(field("f").gt(1.008)), prune, ..ScanRequest::default() };
        let mut scan = TableScan::of_file(Arc::clone(&reader), "t", &request).unwrap();
        let block = scan.next_block().unwrap().expect("the row is 1.01 in the file");
        assert_eq!((block.times(), block.column_by_name("f").unwrap().f64(0)), (&[1][..], Some(1.01)), "prune {prune}");
    }
}

/// Where a chunk header names an encoding that keeps every bit, bounds are what they say.
#[test]
fn bounds_of_an_exact_encoding_are_exact() {
    for (encoding, pruned_pages) in [(Encoding::Gorilla, 2), (Encoding::Plain, 2), (Encoding::Chimp, 2), (Encoding::Ts2Diff, 0)] {
        let mut column = ColumnSchema::field("f", DataType::Double).encoding(encoding);
        if encoding == Encoding::Ts2Diff {
            column.set_prop("max_point_number", Some("3".to_owned()));
        }
        let schema = TableSchema::builder("t").column(column).build().unwrap();
        let mut tablet = Tablet::new(&schema);
        for (time, value) in [(1, 0.25), (2, 0.5), (3, f64::NAN), (4, 0.125), (5, 0.75), (6, 0.5)] {
            tablet.push_row(time, &[value.into()]).unwrap();
        }
        let mut writer = FileWriter::new(Vec::new(), WriterOptions::builder().page_rows_max(2).build().unwrap()).unwrap();
        writer.add_table(&schema).unwrap();
        writer.write(&tablet).unwrap();
        let reader = Arc::new(FileReader::new(writer.finish().unwrap().0, "exact", Limits::default()).unwrap());
        let request = ScanRequest::new().values(field("f").gt(0.5));
        let mut scan = TableScan::of_file(reader, "t", &request).unwrap();
        let mut times = Vec::new();
        while let Some(block) = scan.next_block().unwrap() {
            times.extend_from_slice(block.times());
        }
        // The first page set; the one that begins with NaN has no bounds.
        assert_eq!((times, scan.stats().pages_pruned), (vec![5], pruned_pages), "{encoding}");
    }
}
