//! Flushes: by hand, by themselves, and failing.

use std::sync::Arc;

use tsloom_file::FileReader;
use tsloom_io::Dir;
use tsloom_model::{ErrorKind, Limits};
use tsloom_testkit::faults::{Call, FaultDir, FaultKind};

use super::{Rows, apply, new_store, open, rows_of, schema, tablet};
use crate::{Store, StoreOptions};

#[test]
fn files_are_ordinary_tsfiles_and_the_log_is_dropped() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..500, 0)).unwrap();
    store.write(&tablet("y", 0..10, 0)).unwrap();
    store.flush().unwrap();
    let stats = store.stats();
    assert_eq!((stats.files, stats.file_rows, stats.memtable_rows), (1, 510, 0));
    let bytes = dir.file("data/000001.tsfile").unwrap();
    assert_eq!(bytes.len() as u64, stats.file_bytes);
    let reader = FileReader::new(bytes, "data/000001.tsfile", Limits::default()).unwrap();
    assert_eq!(reader.table("t").map(|table| table.columns().len()), Some(4));
    drop(store);
    let recovery = open(&dir).unwrap().recovery().clone();
    assert_eq!(recovery.replayed_rows, 0);
    assert!(dir.list("wal").unwrap().iter().filter(|name| name.ends_with(".log")).count() <= 2);
}

#[test]
fn flushing_nothing_does_nothing() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..5, 0)).unwrap();
    store.flush().unwrap();
    let changes = dir.change_count();
    store.flush().unwrap();
    store.flush().unwrap();
    assert_eq!((dir.change_count(), store.stats().files), (changes, 1));
}

#[test]
fn a_full_memtable_is_flushed_in_the_background() {
    let dir = FaultDir::new();
    let options = StoreOptions { memtable_bytes_max: 80_000, ..StoreOptions::default() };
    let store = Store::open_dir(Arc::new(dir.clone()), options).unwrap();
    store.create_table(&schema()).unwrap();
    let mut expected = Rows::new();
    for round in 0..100 {
        let rows = tablet("x", round * 100..round * 100 + 100, 0);
        store.write(&rows).unwrap();
        apply(&mut expected, &rows);
    }
    let start = std::time::Instant::now();
    while store.stats().frozen_memtables > 0 {
        assert!(start.elapsed().as_secs() < 20, "{:?}", store.stats());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let stats = store.stats();
    assert!(stats.files >= 3 && stats.flush_error.is_none(), "{stats:?}");
    assert!(stats.memtable_bytes < 200_000, "{stats:?}");
    assert_eq!(rows_of(&store), expected);
    drop(store);
    assert_eq!(rows_of(&open(&dir).unwrap()), expected);
}

/// Each call of a flush failing once: the rows stay visible, and the next flush (after opening again, if a sync had failed)
/// brings them into a file.
#[test]
fn a_failed_flush_loses_nothing_and_can_be_repeated() {
    let calls = {
        let dir = FaultDir::new();
        let store = new_store(&dir);
        store.write(&tablet("x", 0..50, 0)).unwrap();
        let before = dir.calls().len();
        store.flush().unwrap();
        dir.calls()[before..].to_vec()
    };
    assert!(calls.contains(&Call::Rename) && calls.contains(&Call::SyncFolder));
    let mut failed = 0;
    for (number, call) in calls.iter().enumerate() {
        for kind in [FaultKind::Eio, FaultKind::ShortThenEnospc] {
            let dir = FaultDir::new();
            let store = new_store(&dir);
            store.write(&tablet("x", 0..50, 0)).unwrap();
            let expected = rows_of(&store);
            dir.fail_call(dir.calls().len() + number, kind);
            let flushed = store.flush();
            assert_eq!(rows_of(&store), expected, "{call:?} fails with {kind:?}");
            failed += usize::from(flushed.is_err());
            let is_sync = matches!(call, Call::SyncFile | Call::SyncFolder);
            let store = if is_sync {
                assert_eq!(store.write(&tablet("x", 50..51, 0)).unwrap_err().kind(), ErrorKind::Closed, "{call:?}");
                assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Closed);
                drop(store);
                open(&dir).unwrap()
            } else {
                store.write(&tablet("x", 0..1, 0)).unwrap();
                store
            };
            store.flush().unwrap();
            assert_eq!(rows_of(&store), expected, "{call:?} failed with {kind:?}, then flushed");
            drop(store);
            let store = open(&dir).unwrap();
            assert_eq!(rows_of(&store), expected, "{call:?} failed with {kind:?}, then opened");
            assert_eq!(store.stats().memtable_rows, 0);
        }
    }
    assert!(failed > calls.len(), "{failed} flushes failed");
}

#[test]
fn files_nobody_knows_are_removed_and_reported() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..5, 0)).unwrap();
    store.flush().unwrap();
    drop(store);
    for name in ["data/000002.tmp", "data/000003.tsfile", "data/notes.txt"] {
        dir.set_file(name, b"half a file");
    }
    let store = open(&dir).unwrap();
    assert_eq!(store.recovery().removed_files, ["data/000002.tmp", "data/000003.tsfile"]);
    assert_eq!(dir.list("data").unwrap(), ["000001.tsfile", "notes.txt"]);
    assert_eq!(rows_of(&store).len(), 5);
}

#[test]
fn without_its_manifest_a_store_with_files_does_not_open() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..5, 0)).unwrap();
    store.flush().unwrap();
    drop(store);
    dir.remove("MANIFEST").unwrap();
    let error = open(&dir).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().starts_with("there is no MANIFEST, but data/000001.tsfile is there"), "{error}");
}

#[test]
fn a_damaged_manifest_and_a_missing_log_are_errors() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..5, 0)).unwrap();
    drop(store);
    let good = dir.file("MANIFEST").unwrap();
    let mut bytes = good.clone();
    bytes[20] ^= 1;
    dir.set_file("MANIFEST", &bytes);
    assert_eq!(open(&dir).err().unwrap().file(), Some("MANIFEST"));
    dir.set_file("MANIFEST", &good);
    dir.remove("wal/000001.log").unwrap();
    assert_eq!(open(&dir).err().unwrap().to_string(), "wal/000001.log is missing");
}
