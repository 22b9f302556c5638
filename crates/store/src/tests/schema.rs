//! Tables that change: columns come and go, tables come and go, and nothing of an old one is seen in a new one.

use std::sync::Arc;

use tsloom_io::Dir;
use tsloom_model::{ColumnSchema, DataType, Encoding, ErrorKind, TableSchema, Value};
use tsloom_tablet::Tablet;
use tsloom_testkit::faults::FaultDir;
use tsloom_wal::{Level, Log, NewEntry, replay};

use super::{Rows, new_store, open, rows_of, schema, tablet};
use crate::{Store, StoreOptions};

/// Does `change` to a store that has rows in files (`flush`), in memory, or both; then looks at it as it is, flushed, and
/// opened again at each of these moments.
fn everywhere(change: impl Fn(&Store), look: impl Fn(&Store, &str)) {
    for place in ["memory", "file", "both"] {
        let dir = FaultDir::new();
        let store = new_store(&dir);
        store.write(&tablet("x", 0..6, 0)).unwrap();
        if place != "memory" {
            store.flush().unwrap();
        }
        if place == "both" {
            store.write(&tablet("x", 4..9, 1)).unwrap();
        }
        change(&store);
        look(&store, place);
        drop(store);
        let store = open(&dir).unwrap();
        look(&store, &format!("{place}, opened"));
        store.flush().unwrap();
        look(&store, &format!("{place}, flushed"));
        drop(store);
        let store = open(&dir).unwrap();
        assert_eq!(store.recovery().replayed_rows, 0);
        look(&store, &format!("{place}, flushed and opened"));
    }
}

#[test]
fn a_dropped_table_is_gone_and_a_new_one_of_its_name_is_empty() {
    let other = TableSchema::builder("t").tag("tag").field("a", DataType::Double).build().unwrap();
    everywhere(
        |store| {
            store.drop_table("T").unwrap();
            assert!(store.tables().is_empty() && store.scan("t").open().is_err());
            assert_eq!(store.write(&tablet("x", 0..1, 0)).unwrap_err().kind(), ErrorKind::NotFound);
            store.create_table(&other).unwrap();
        },
        |store, place| {
            assert_eq!(store.describe("t").as_ref(), Some(&other));
            assert_eq!(rows_of(store), Rows::new(), "{place}");
        },
    );
    everywhere(
        |store| {
            store.drop_table("t").unwrap();
            store.create_table(&other).unwrap();
            let mut rows = Tablet::new(&other);
            rows.push_row(3, &["x".into(), 0.5.into()]).unwrap();
            store.write(&rows).unwrap();
        },
        |store, place| {
            let expected = Rows::from([(("x".to_owned(), 3), [Some("0.5".to_owned()), None, None])]);
            assert_eq!(rows_of(store), expected, "{place}");
        },
    );
}

#[test]
fn an_added_column_is_null_in_rows_that_were_there() {
    let column = || ColumnSchema::field("D", DataType::Boolean);
    everywhere(
        |store| {
            let before = rows_of(store);
            store.add_column("t", column()).unwrap();
            store.add_column("t", column()).unwrap(); // the same again
            let other = store.add_column("t", ColumnSchema::field("a", DataType::Double)).unwrap_err();
            assert_eq!(other.kind(), ErrorKind::AlreadyExists);
            assert_eq!(other.to_string(), "column a: it is a FIELD INT64 in table t");
            assert_eq!(rows_of(store), before);
            let part = TableSchema::builder("t").tag("tag").field("d", DataType::Boolean).build().unwrap();
            let mut rows = Tablet::new(&part);
            rows.push_row(100, &["x".into(), true.into()]).unwrap();
            store.write(&rows).unwrap();
        },
        |store, place| {
            let mut scan = store.scan("t").columns(["d"]).open().unwrap();
            let block = scan.next_block().unwrap().unwrap();
            let last = block.row_count() - 1;
            assert!((0..last).all(|row| block.column(0).value(row).is_null()), "{place}");
            assert_eq!((block.times()[last], block.column(0).value(last)), (100, true.into()), "{place}");
        },
    );
}

#[test]
fn an_added_tag_tells_devices_apart_from_then_on() {
    let schema = TableSchema::builder("u").tag("one").field("v", DataType::Int32).build().unwrap();
    let dir = FaultDir::new();
    let store = open(&dir).unwrap();
    store.create_table(&schema).unwrap();
    let mut rows = Tablet::new(&schema);
    rows.push_row(1, &["x".into(), 1.into()]).unwrap();
    store.write(&rows).unwrap();
    store.flush().unwrap();
    store.add_column("u", ColumnSchema::tag("two")).unwrap();
    let mut rows = Tablet::new(&store.describe("u").unwrap());
    rows.push_row(1, &["x".into(), 2.into(), "y".into()]).unwrap();
    rows.push_row(2, &["x".into(), 3.into(), Value::Null]).unwrap();
    store.write(&rows).unwrap();
    let check = |store: &Store| {
        let mut scan = store.scan("u").columns(["two", "v"]).open().unwrap();
        let mut found = Vec::new();
        while let Some(block) = scan.next_block().unwrap() {
            found.extend((0..block.row_count()).map(|row| {
                (block.column(0).value(row).as_str().map(str::to_owned), block.times()[row], block.column(1).i32(row))
            }));
        }
        assert_eq!(found, [(None, 1, Some(1)), (None, 2, Some(3)), (Some("y".to_owned()), 1, Some(2))]);
    };
    check(&store);
    store.flush().unwrap();
    check(&store);
    drop(store);
    check(&open(&dir).unwrap());
}

#[test]
fn a_dropped_column_is_gone_and_a_new_one_of_its_name_is_null() {
    let without = |rows: Rows| -> Rows { rows.into_iter().map(|(key, [a, _, c])| (key, [a, None, c])).collect() };
    for (again, data_type) in [(false, DataType::Double), (true, DataType::Double), (true, DataType::Text)] {
        everywhere(
            |store| {
                let before = rows_of(store);
                store.drop_column("t", "B").unwrap();
                assert_eq!(store.drop_column("t", "b").unwrap_err().kind(), ErrorKind::NotFound);
                if again {
                    store.add_column("t", ColumnSchema::field("b", data_type)).unwrap();
                }
                assert_eq!(rows_of(store), without(before));
            },
            |store, place| {
                assert_eq!(store.describe("t").unwrap().columns().len(), 3 + usize::from(again));
                let rows = rows_of(store);
                assert!(rows.len() >= 6 && rows.values().all(|[_, b, _]| b.is_none()), "{place}");
                assert!(rows.values().any(|[a, _, c]| a.is_some() && c.is_some()), "{place}");
            },
        );
    }
}

#[test]
fn a_tag_stays() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    let error = store.drop_column("t", "tag").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "column tag: a TAG of table t cannot be dropped: devices are told apart by it");
}

/// The way out of a store that cannot flush: see `unwritable`.
#[test]
fn dropping_what_files_cannot_hold_lets_a_store_flush_again() {
    for drops_table in [true, false] {
        let dir = FaultDir::new();
        drop(new_store(&dir));
        let column = ColumnSchema::field("v", DataType::Int32).encoding(Encoding::Regular);
        let bad = TableSchema::builder("bad").tag("tag").column(column).field("w", DataType::Int32).build().unwrap();
        let mut rows = Tablet::new(&bad);
        rows.push_row(1, &["x".into(), 7.into(), 8.into()]).unwrap();
        {
            let shared: Arc<dyn Dir> = Arc::new(dir.clone());
            let replayed = replay(&*shared, 0, &mut |_, _| Ok(())).unwrap();
            let log = Log::start(Arc::clone(&shared), StoreOptions::default().log, &replayed).unwrap();
            log.append(NewEntry::Schema { id: 2, schema: &bad }, Level::Durable).unwrap();
            log.append(NewEntry::Tablet { id: 2, schema: &bad, tablet: rows.as_ref() }, Level::Durable).unwrap();
        }
        let store = open(&dir).unwrap();
        store.write(&tablet("x", 0..5, 0)).unwrap();
        assert_eq!(store.flush().unwrap_err().column(), Some("v"));
        // It is frozen now, and the drop comes after that.
        if drops_table {
            store.drop_table("bad").unwrap();
        } else {
            store.drop_column("bad", "v").unwrap();
        }
        store.flush().unwrap();
        assert_eq!((store.stats().memtable_rows, rows_of(&store).len()), (0, 5));
        drop(store);
        let store = open(&dir).unwrap();
        assert!(store.recovery().unwritable_tables.is_empty());
        assert_eq!((store.stats().file_rows, store.tables().len()), if drops_table { (5, 1) } else { (6, 2) });
    }
}

#[test]
fn tables_are_extended_by_tablets_when_that_is_wanted() {
    let dir = FaultDir::new();
    let options = StoreOptions { extend_tables: true, ..StoreOptions::default() };
    let store = Store::open_dir(Arc::new(dir.clone()), options).unwrap();
    store.create_table(&TableSchema::builder("t").tag("tag").build().unwrap()).unwrap();
    store.write(&tablet("x", 0..5, 0)).unwrap();
    assert_eq!(store.describe("t"), Some(schema()));
    let other = TableSchema::builder("t").field("a", DataType::Boolean).build().unwrap();
    let mut rows = Tablet::new(&other);
    rows.push_row(1, &[true.into()]).unwrap();
    assert_eq!(store.write(&rows).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    let unknown = TableSchema::builder("v").field("a", DataType::Boolean).build().unwrap();
    assert_eq!(store.write(&Tablet::new(&unknown)).unwrap_err().kind(), ErrorKind::NotFound);
    let expected = rows_of(&store);
    drop(store);
    let store = open(&dir).unwrap();
    assert_eq!(expected.len(), 5);
    assert_eq!(rows_of(&store), expected);
    let more = TableSchema::builder("t").field("e", DataType::Boolean).build().unwrap();
    assert_eq!(store.write(&Tablet::new(&more)).unwrap_err().kind(), ErrorKind::NotFound);
}
