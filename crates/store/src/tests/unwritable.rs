//! Tables that files cannot hold, and values that an encoding cannot.

use std::sync::Arc;

use tsloom_io::Dir;
use tsloom_model::{ColumnSchema, Compression, DataType, Encoding, ErrorKind, TableSchema, Value};
use tsloom_tablet::Tablet;
use tsloom_testkit::faults::FaultDir;
use tsloom_wal::{Level, Log, NewEntry, replay};

use super::{new_store, open, rows_of, tablet};
use crate::StoreOptions;

fn table(column: ColumnSchema) -> TableSchema {
    TableSchema::builder("bad").tag("tag").column(column).build().unwrap()
}

fn scaled(encoding: Encoding, decimals: &str) -> ColumnSchema {
    let mut column = ColumnSchema::field("v", DataType::Double).encoding(encoding);
    column.props.push(("max_point_number".to_owned(), Some(decimals.to_owned())));
    column
}

fn rows(schema: &TableSchema) -> Tablet {
    let mut tablet = Tablet::new(schema);
    tablet.push_row(1, &["x".into(), Value::Null]).unwrap();
    tablet
}

#[test]
fn a_table_that_files_cannot_hold_is_not_made() {
    let field = |data_type| ColumnSchema::field("v", data_type);
    let lossy = "column v: a scaled encoding changes FLOAT and DOUBLE values: name the decimals to keep with max_point_number";
    let cases = [
        (
            field(DataType::Float).encoding(Encoding::GorillaV1),
            ErrorKind::Unsupported,
            "column v: encoding GORILLA_V1 is not written",
        ),
        (field(DataType::Int32).encoding(Encoding::Regular), ErrorKind::Unsupported, "column v: encoding REGULAR is not written"),
        (
            field(DataType::Int32).compression(Compression::Lzo),
            ErrorKind::Unsupported,
            "column v: compression LZO is read, not written",
        ),
        (field(DataType::Float).encoding(Encoding::Rle), ErrorKind::SchemaMismatch, lossy),
        (field(DataType::Double).encoding(Encoding::Rle), ErrorKind::SchemaMismatch, lossy),
        (field(DataType::Float).encoding(Encoding::Ts2Diff), ErrorKind::SchemaMismatch, lossy),
        (field(DataType::Double).encoding(Encoding::Ts2Diff), ErrorKind::SchemaMismatch, lossy),
        (scaled(Encoding::Rle, "two"), ErrorKind::SchemaMismatch, "column v: max_point_number \"two\" is no number"),
    ];
    let dir = FaultDir::new();
    let store = new_store(&dir);
    let changes = dir.change_count();
    for (column, kind, message) in cases {
        let schema = table(column);
        let error = store.create_table(&schema).unwrap_err();
        assert_eq!((error.kind(), error.column(), error.to_string().as_str()), (kind, Some("v"), message));
        assert_eq!(store.write(&rows(&schema)).unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert_eq!((store.tables().len(), dir.change_count()), (1, changes));

    // The same encodings where they fit.
    let good = TableSchema::builder("good")
        .column(scaled(Encoding::Rle, "2"))
        .column(ColumnSchema::field("w", DataType::Int32).encoding(Encoding::Ts2Diff))
        .build()
        .unwrap();
    store.create_table(&good).unwrap();
    let mut more = Tablet::new(&good);
    more.push_row(1, &[0.25.into(), 7.into()]).unwrap();
    store.write(&more).unwrap();
    store.write(&tablet("x", 0..5, 0)).unwrap();
    store.flush().unwrap();
    assert_eq!((store.stats().files, store.stats().memtable_rows, rows_of(&store).len()), (1, 0, 5));
}

/// What another build had logged opens, is reported and can be read; it takes no more rows.
#[test]
fn a_log_with_such_a_table_opens_and_says_so() {
    let dir = FaultDir::new();
    drop(new_store(&dir));
    let schema = table(ColumnSchema::field("v", DataType::Int32).encoding(Encoding::Regular));
    let mut tablet = Tablet::new(&schema);
    tablet.push_row(1, &["x".into(), 7.into()]).unwrap();
    {
        let shared: Arc<dyn Dir> = Arc::new(dir.clone());
        let replayed = replay(&*shared, 0, &mut |_, _| Ok(())).unwrap();
        let log = Log::start(Arc::clone(&shared), StoreOptions::default().log, &replayed).unwrap();
        log.append(NewEntry::Schema { id: 2, schema: &schema }, Level::Durable).unwrap();
        log.append(NewEntry::Tablet { id: 2, schema: &schema, tablet: tablet.as_ref() }, Level::Durable).unwrap();
    }
    let store = open(&dir).unwrap();
    let reason = "bad: column v: encoding REGULAR is not written";
    assert_eq!(store.recovery().unwritable_tables, [reason]);
    assert!(store.recovery().to_string().ends_with(&format!("files cannot hold table {reason}")), "{}", store.recovery());
    assert_eq!(store.scan("bad").open().unwrap().next_block().unwrap().unwrap().times(), [1]);
    let error = store.write(&tablet).unwrap_err();
    assert_eq!((error.kind(), error.column()), (ErrorKind::Unsupported, Some("v")));
    assert_eq!(store.create_table(&schema).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(store.flush().unwrap_err().column(), Some("v"));
}

#[test]
fn values_that_sprintz_cannot_hold_are_flushed() {
    let schema = table(ColumnSchema::field("v", DataType::Int64).encoding(Encoding::Sprintz));
    let dir = FaultDir::new();
    let store = open(&dir).unwrap();
    store.create_table(&schema).unwrap();
    let values: Vec<i64> = (0..100).map(|row| if row % 2 == 0 { i64::MIN / 2 } else { i64::MAX / 2 - row }).collect();
    let mut tablet = Tablet::new(&schema);
    for (time, value) in values.iter().enumerate() {
        tablet.push_row(time as i64, &["x".into(), (*value).into()]).unwrap();
    }
    store.write(&tablet).unwrap();
    store.flush().unwrap();
    assert_eq!((store.stats().files, store.stats().memtable_rows), (1, 0));
    drop(store);
    let store = open(&dir).unwrap();
    let mut scan = store.scan("bad").open().unwrap();
    let mut found = Vec::new();
    while let Some(block) = scan.next_block().unwrap() {
        found.extend((0..block.times().len()).map(|row| format!("{:?}", block.column(1).value(row))));
    }
    let expected: Vec<String> = values.iter().map(|value| format!("{:?}", Value::from(*value))).collect();
    assert_eq!(found, expected);
}
