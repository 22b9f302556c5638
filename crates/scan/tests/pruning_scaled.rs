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
