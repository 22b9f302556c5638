//! What happens when memory is full, and what a group of writers shares.

use std::sync::Arc;
use std::time::Duration;

use tsloom_model::ErrorKind;
use tsloom_tablet::TabletView;
use tsloom_testkit::faults::FaultDir;

use super::{new_store, open, rows_of, schema, tablet};
use crate::{Store, StoreOptions, WriteOptions};

const AT_ONCE: WriteOptions = WriteOptions { wait: false, timeout: None };

/// A store whose memory is full and whose flushes fail; how many tablets it took.
fn full(dir: &FaultDir) -> (Store, i64) {
    let options = StoreOptions { memtable_bytes_max: 20_000, frozen_count_max: 1, ..StoreOptions::default() };
    let store = Store::open_dir(Arc::new(dir.clone()), options).unwrap();
    store.create_table(&schema()).unwrap();
    // The next file can be neither made nor anything else.
    dir.fail_creates(true);
    for round in 0.. {
        if let Err(error) = store.write_with(&tablet("x", round * 50..round * 50 + 50, 0), &AT_ONCE) {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            assert_eq!(error.to_string(), "1 memtables wait to be flushed");
            return (store, round);
        }
    }
    unreachable!("memory is never full")
}

#[test]
fn a_write_that_may_not_wait_is_refused_and_leaves_no_trace() {
    let dir = FaultDir::new();
    let (store, count) = full(&dir);
    assert!(count >= 2);
    let soon = WriteOptions { timeout: Some(Duration::from_millis(20)), ..WriteOptions::default() };
    assert_eq!(store.write_with(&tablet("y", 0..5, 0), &soon).unwrap_err().kind(), ErrorKind::WouldBlock);
    // One that may wait flushes by itself, and learns what is wrong.
    assert_eq!(store.write(&tablet("y", 0..5, 0)).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(rows_of(&store).len() as i64, count * 50);
    dir.fail_creates(false);
    let later = WriteOptions { timeout: Some(Duration::from_secs(30)), ..WriteOptions::default() };
    store.write_with(&tablet("y", 0..5, 0), &later).unwrap();
    assert_eq!(rows_of(&store).len() as i64, count * 50 + 5);
    drop(store);
    assert_eq!(rows_of(&open(&dir).unwrap()).len() as i64, count * 50 + 5);
}

#[test]
fn a_tablet_in_its_wire_form_is_written() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    let mut bytes = Vec::new();
    tablet("x", 0..5, 0).write_to(&mut bytes).unwrap();
    store.write_view(&TabletView::parse(&bytes).unwrap()).unwrap();
    assert_eq!(rows_of(&store).len(), 5);
}

/// Writers that come while a sync is under way share the next one.
#[test]
fn many_writers_share_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("lab.tsloom"), StoreOptions::default()).unwrap();
    store.create_table(&schema()).unwrap();
    let before = store.stats().log.syncs;
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..25 {
                    store.write(&tablet(&format!("w{writer}"), round..round + 1, 0)).unwrap();
                }
            });
        }
    });
    let syncs = store.stats().log.syncs - before;
    println!("200 durable writes of 8 threads took {syncs} syncs");
    assert!(syncs <= 200 && rows_of(&store).len() == 200);
}

/// A flush that fails in the background is said, and made good by the next one.
#[test]
fn a_failed_flush_in_the_background_is_reported() {
    let dir = FaultDir::new();
    let (store, _) = full(&dir);
    while store.stats().flush_error.is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    dir.fail_creates(false);
    store.flush().unwrap();
    assert_eq!(store.stats().frozen_memtables, 0);
}
