//! Deletes: what was written before is gone, what comes later stays, wherever the rows are.

use std::sync::Arc;

use tsloom_model::{ErrorKind, Limits, Predicate, tag};
use tsloom_testkit::faults::FaultDir;

use super::{apply, new_store, open, rows_of, schema, tablet};
use crate::Store;

/// apache/iotdb#1024: deletes after a recovery did not hit recovered rows.
#[test]
fn a_delete_after_a_restart_hits_recovered_rows() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 1..=3, 0)).unwrap();
    drop(store);
    let store = open(&dir).unwrap();
    store.delete("t").time(..=1).run().unwrap();
    store.flush().unwrap();
    store.delete("t").time(..=2).run().unwrap();
    let times = |store: &Store| rows_of(store).keys().map(|(_, time)| *time).collect::<Vec<_>>();
    assert_eq!(times(&store), [3]);
    drop(store);
    let store = open(&dir).unwrap();
    assert_eq!(times(&store), [3]);
    store.flush().unwrap();
    assert_eq!(times(&store), [3]);
}

/// Rows in a file, in memory, or in both; then a delete and rows written after it. Seen at once, after opening, and after a
/// flush.
fn check(delete: impl Fn(&Store), expected: impl Fn(&(String, i64), &mut [Option<String>; 3]) -> bool) {
    for (file, memory) in [(true, false), (false, true), (true, true)] {
        let dir = FaultDir::new();
        let store = new_store(&dir);
        if file {
            store.write(&tablet("x", 0..10, 0)).unwrap();
            store.write(&tablet("y", 0..10, 0)).unwrap();
            store.flush().unwrap();
        }
        if memory {
            store.write(&tablet("x", 5..15, 1)).unwrap();
            store.write(&tablet("y", 5..15, 1)).unwrap();
        }
        let mut rows = rows_of(&store);
        let before = rows.len();
        let mut earlier = store.scan("t").row_budget(1).open().unwrap();
        delete(&store);
        rows.retain(|key, cells| expected(key, cells));
        assert_eq!(rows_of(&store), rows, "file {file}, memory {memory}");
        // A row that is written again is there again, with what it is written with.
        store.write(&tablet("x", 3..4, 2)).unwrap();
        apply(&mut rows, &tablet("x", 3..4, 2));
        let mut count = 0;
        while let Some(block) = earlier.next_block().unwrap() {
            count += block.row_count();
        }
        assert_eq!(count, before, "a scan that was opened before");
        for moment in ["at once", "flushed"] {
            if moment == "flushed" {
                store.flush().unwrap();
            }
            let context = format!("file {file}, memory {memory}, {moment}");
            assert_eq!(rows_of(&store), rows, "{context}");
            let reader = Store::open_dir_read_only(Arc::new(dir.clone()), Limits::default()).unwrap();
            assert_eq!(rows_of(&reader), rows, "{context}, opened");
        }
    }
}

#[test]
fn rows_of_some_devices_in_some_times() {
    check(
        |store| store.delete("T").filter(tag("tag").eq("x")).time(2..=6).run().unwrap(),
        |(device, time), _| !(device == "x" && (2..=6).contains(time)),
    );
}

#[test]
fn rows_of_devices_whose_tag_matches() {
    check(
        |store| store.delete("t").filter(tag("tag").matches("^[a-x]$").unwrap()).time(..=6).run().unwrap(),
        |(device, time), _| !(device == "x" && *time <= 6),
    );
}

#[test]
fn all_rows() {
    check(|store| store.delete("t").run().unwrap(), |_, _| false);
}

#[test]
fn nothing() {
    check(|store| store.delete("t").time(5..5).run().unwrap(), |_, _| true);
    check(|store| store.delete("t").filter(tag("tag").is_null()).run().unwrap(), |_, _| true);
}

#[test]
fn cells_become_null_and_rows_stay() {
    check(
        |store| store.delete("t").columns(["A", "c"]).time(..=7).run().unwrap(),
        |(_, time), cells| {
            if *time <= 7 {
                (cells[0], cells[2]) = (None, None);
            }
            true
        },
    );
}

#[test]
fn deletes_one_after_the_other() {
    check(
        |store| {
            store.delete("t").columns(["b"]).time(0..=4).run().unwrap();
            store.delete("t").time(4..=5).run().unwrap();
            store.flush().unwrap();
            store.delete("t").columns(["b"]).filter(tag("tag").ne("x")).run().unwrap();
            store.delete("t").time(12..).run().unwrap();
        },
        |(device, time), cells| {
            if (0..=4).contains(time) || device != "x" {
                cells[1] = None;
            }
            !(4..=5).contains(time) && *time < 12
        },
    );
}

#[test]
fn what_cannot_be_deleted_is_refused() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    let changes = dir.change_count();
    let kind = |result: tsloom_model::Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(store.delete("u").run()), ErrorKind::NotFound);
    assert_eq!(kind(store.delete("t").columns(["z"]).run()), ErrorKind::NotFound);
    assert_eq!(kind(store.delete("t").columns(["tag"]).run()), ErrorKind::InvalidArgument);
    assert_eq!(kind(store.delete("t").filter(tag("a").eq("1")).run()), ErrorKind::SchemaMismatch);
    let deep = (0..100).fold(tag("tag").is_null(), |inner: Predicate, _| inner.not());
    assert_eq!(kind(store.delete("t").filter(deep).run()), ErrorKind::LimitExceeded);
    assert_eq!(dir.change_count(), changes);
}

/// A delete of a table that was dropped and made anew does not reach what is hidden anyway, and erasures are forgotten.
#[test]
fn erasures_are_forgotten_when_no_file_needs_them() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..5, 0)).unwrap();
    store.delete("t").time(0..=1).run().unwrap();
    assert_eq!(store.stats().erasures, 0); // memory has carried it out
    store.flush().unwrap();
    store.delete("t").time(2..=2).run().unwrap();
    store.drop_table("t").unwrap();
    store.create_table(&schema()).unwrap();
    store.delete("t").run().unwrap();
    store.write(&tablet("x", 0..2, 0)).unwrap();
    store.flush().unwrap();
    assert_eq!((rows_of(&store).len(), store.stats().erasures), (2, 3));
    drop(store);
    let store = open(&dir).unwrap();
    assert_eq!((rows_of(&store).len(), store.stats().erasures), (2, 3));
}
