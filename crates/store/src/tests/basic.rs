//! Create, write, scan, close, open.

use tsloom_model::{DataType, ErrorKind, TableSchema, tag};
use tsloom_tablet::Tablet;
use tsloom_testkit::faults::FaultDir;

use super::{Rows, apply, new_store, open, rows_of, schema, tablet};
use crate::{Durability, Store, StoreOptions};

#[test]
fn rows_are_seen_at_once_and_after_opening_again() {
    let dir = FaultDir::new();
    let mut expected = Rows::new();
    for life in 0..4 {
        let store = new_store(&dir);
        assert_eq!(rows_of(&store), expected);
        for round in 0..3 {
            // Times overlap with those of the rounds before, and go back.
            let rows = tablet(["x", "y"][round % 2], (0..20).rev().map(|time| time * 2 + life), life * 10 + round as i64);
            store.write(&rows).unwrap();
            apply(&mut expected, &rows);
            assert_eq!(rows_of(&store), expected);
        }
        if life % 2 == 1 {
            store.flush().unwrap();
            assert_eq!(rows_of(&store), expected);
        }
    }
    assert_eq!(open(&dir).unwrap().stats().files, 3); // the second flush had rows in order and late ones
}

#[test]
fn a_table_is_made_once_and_its_schema_is_kept() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.create_table(&schema()).unwrap();
    let other = TableSchema::builder("t").tag("tag").field("a", DataType::Int32).build().unwrap();
    assert_eq!(store.create_table(&other).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let attribute = TableSchema::builder("u").attribute("owner").build().unwrap();
    assert_eq!(store.create_table(&attribute).unwrap_err().kind(), ErrorKind::Unsupported);
    drop(store);
    for flush in [false, true, false] {
        let store = open(&dir).unwrap();
        assert_eq!(store.tables(), [schema()]);
        assert_eq!(store.describe("T"), Some(schema()));
        if flush {
            store.flush().unwrap();
        }
    }
    let replayed = open(&dir).unwrap().recovery().replayed_entries;
    assert!(replayed <= 1, "the manifest has the table; {replayed} entries were replayed"); // a checkpoint at most
}

#[test]
fn what_does_not_belong_is_refused_with_a_typed_error() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    let path = Tablet::for_device("root.d1", vec![tsloom_model::ColumnSchema::field("a", DataType::Int64)]);
    let error = store.write(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "a store keeps tables; this tablet is of the device root.d1 of the tree model");
    let unknown = TableSchema::builder("u").field("a", DataType::Int64).build().unwrap();
    let error = store.write(&Tablet::new(&unknown)).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NotFound, "there is no table u; the store has t"));
    assert_eq!(store.scan("u").open().err().unwrap().kind(), ErrorKind::NotFound);
    assert_eq!(store.stats().memtable_rows, 0);
}

#[test]
fn columns_of_a_tablet_are_matched_by_name() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    let part = TableSchema::builder("t").field("b", DataType::Double).tag("tag").build().unwrap();
    let mut batch = Tablet::new(&part);
    batch.push_row(7, &[0.5.into(), "x".into()]).unwrap();
    store.write(&batch).unwrap();
    let expected = Rows::from([(("x".to_owned(), 7), [None, Some("0.5".to_owned()), None])]);
    assert_eq!(rows_of(&store), expected);
    drop(store);
    assert_eq!(rows_of(&open(&dir).unwrap()), expected);
}

#[test]
fn a_scan_takes_what_is_asked_for() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..10, 0)).unwrap();
    store.flush().unwrap();
    store.write(&tablet("y", 5..15, 0)).unwrap();
    let mut scan =
        store.scan("t").columns(["a"]).time(3..=8).filter(tag("tag").eq("y")).offset(1).limit(2).row_budget(1).open().unwrap();
    let mut times = Vec::new();
    while let Some(block) = scan.next_block().unwrap() {
        assert_eq!((block.row_count(), block.columns().len()), (1, 1));
        times.extend_from_slice(block.times());
    }
    assert_eq!(times, [6, 7]);
}

/// A scan sees the store as it was when it was opened.
#[test]
fn a_scan_sees_one_moment() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..100, 0)).unwrap();
    let mut scan = store.scan("t").row_budget(10).open().unwrap();
    let mut count = scan.next_block().unwrap().unwrap().row_count();
    store.write(&tablet("x", 100..200, 0)).unwrap();
    store.flush().unwrap();
    store.write(&tablet("x", 0..100, 1)).unwrap();
    while let Some(block) = scan.next_block().unwrap() {
        count += block.row_count();
    }
    assert_eq!((count, rows_of(&store).len()), (100, 200));
}

#[test]
fn a_second_writer_is_told_who_has_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.tsloom");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    let error = Store::open(&path, StoreOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().ends_with("lab.tsloom is open in this process already; clone that one"), "{error}");
    let clone = store.clone();
    drop(store);
    assert!(Store::open(&path, StoreOptions::default()).is_err());
    drop(clone);
    Store::open(&path, StoreOptions::default()).unwrap();
}

#[test]
fn a_real_directory_holds_what_the_head_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.tsloom");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    store.create_table(&schema()).unwrap();
    store.write(&tablet("x", 0..1000, 0)).unwrap();
    store.flush().unwrap();
    store.write(&tablet("x", 1000..1010, 0)).unwrap();
    let expected = rows_of(&store);
    drop(store);
    for name in ["LOCK", "MANIFEST", "data/000001.tsfile"] {
        assert!(path.join(name).is_file(), "{name}");
    }
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    assert_eq!(store.recovery().replayed_rows, 10);
    assert!(store.recovery().is_clean(), "{}", store.recovery());
    assert_eq!(rows_of(&store), expected);
}

#[test]
fn under_every_durability_rows_survive_the_end_of_the_process() {
    let interval = Durability::Interval(std::time::Duration::from_millis(5));
    for durability in [Durability::Always, interval, Durability::OnFlush, Durability::Never] {
        let dir = FaultDir::new();
        let options = StoreOptions { durability, ..StoreOptions::default() };
        let store = Store::open_dir(std::sync::Arc::new(dir.clone()), options).unwrap();
        store.create_table(&schema()).unwrap();
        store.write(&tablet("x", 0..10, 0)).unwrap();
        store.flush().unwrap();
        store.write(&tablet("x", 10..20, 0)).unwrap();
        drop(store);
        assert_eq!(rows_of(&open(&dir).unwrap()).len(), 20, "{durability:?}");
    }
}

#[test]
fn an_interval_makes_rows_durable_by_itself() {
    let dir = FaultDir::new();
    let durability = Durability::Interval(std::time::Duration::from_millis(5));
    let options = StoreOptions { durability, ..StoreOptions::default() };
    let store = Store::open_dir(std::sync::Arc::new(dir.clone()), options).unwrap();
    store.create_table(&schema()).unwrap();
    let syncs = store.stats().log.syncs;
    store.write(&tablet("x", 0..10, 0)).unwrap();
    let start = std::time::Instant::now();
    while store.stats().log.syncs == syncs {
        assert!(start.elapsed().as_secs() < 10, "the worker never synced");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let trace = dir.trace();
    let image = trace.crash(trace.len(), tsloom_testkit::faults::Unsynced::Lost);
    assert_eq!(rows_of(&open(&image).unwrap()).len(), 10);
}
