//! Merging files: the same rows, fewer files, nothing that was deleted.

use std::sync::Arc;

use tsloom_io::Dir;
use tsloom_testkit::faults::FaultDir;

use super::{new_store, open, rows_of, schema, tablet};
use crate::{CompactionOptions, Store, StoreOptions};

/// Three flushes, of which the last is late in part.
fn written(dir: &FaultDir) -> Store {
    let store = new_store(dir);
    for (device, times, salt) in [("x", 0..10, 0), ("x", 10..20, 1), ("y", 0..5, 2), ("x", 5..25, 3)] {
        store.write(&tablet(device, times, salt)).unwrap();
        store.flush().unwrap();
    }
    store
}

#[test]
fn late_rows_are_kept_apart_and_override() {
    let dir = FaultDir::new();
    let store = written(&dir);
    let stats = store.stats();
    assert_eq!((stats.files, stats.late_files, stats.file_rows), (5, 1, 45));
    assert_eq!(rows_of(&store).len(), 30);
    assert_eq!(rows_of(&store)[&("x".to_owned(), 7)][0], Some("7003".to_owned()));
    store.write(&tablet("x", 7..8, 4)).unwrap();
    store.flush().unwrap();
    assert_eq!((store.stats().late_files, &rows_of(&store)[&("x".to_owned(), 7)][0]), (2, &Some("7004".to_owned())));
}

#[test]
fn one_file_is_left_with_all_rows() {
    let dir = FaultDir::new();
    let store = written(&dir);
    let expected = rows_of(&store);
    let mut earlier = store.scan("t").row_budget(3).open().unwrap();
    store.compact().unwrap();
    let stats = store.stats();
    assert_eq!((stats.files, stats.late_files, stats.file_rows, stats.compactions), (1, 0, 30, 1));
    assert_eq!(dir.list("data").unwrap().len(), 1);
    assert_eq!(rows_of(&store), expected);
    let mut count = 0;
    while let Some(block) = earlier.next_block().unwrap() {
        count += block.row_count();
    }
    assert_eq!(count, 30, "a scan that was opened before");
    let changes = dir.change_count();
    store.compact().unwrap();
    assert_eq!(dir.change_count(), changes, "there is nothing left to do");
    drop(store);
    let store = open(&dir).unwrap();
    assert!(store.recovery().is_clean(), "{}", store.recovery());
    assert_eq!(rows_of(&store), expected);
}

#[test]
fn what_was_deleted_leaves_the_files() {
    let dir = FaultDir::new();
    let store = written(&dir);
    store.delete("t").time(8..).run().unwrap();
    store.drop_column("t", "c").unwrap();
    assert_eq!((store.stats().erasures, store.stats().file_rows), (2, 45));
    let expected = rows_of(&store);
    store.compact().unwrap();
    assert_eq!((store.stats().erasures, store.stats().file_rows), (0, expected.len() as u64));
    assert_eq!(rows_of(&store), expected);
    // Rows written at the times that were deleted come after all of this.
    store.write(&tablet("x", 8..12, 5)).unwrap_err(); // column c is gone
    store.add_column("t", tsloom_model::ColumnSchema::field("c", tsloom_model::DataType::String)).unwrap();
    store.write(&tablet("x", 8..12, 5)).unwrap();
    store.flush().unwrap();
    assert_eq!(rows_of(&store).len(), expected.len() + 4);
    store.drop_table("t").unwrap();
    store.compact().unwrap();
    assert_eq!((store.stats().files, store.stats().erasures), (0, 0));
    store.create_table(&schema()).unwrap();
    drop(store);
    assert!(rows_of(&open(&dir).unwrap()).is_empty());
}

/// A late file outlives the rows that made it late: what is written later still overrides it.
#[test]
fn a_late_file_is_not_newer_than_what_comes_after_it() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 100..101, 0)).unwrap();
    store.flush().unwrap();
    store.write(&tablet("x", 50..51, 1)).unwrap();
    store.flush().unwrap();
    assert_eq!(store.stats().late_files, 1);
    store.delete("t").time(60..).run().unwrap();
    store.write(&tablet("x", 50..51, 4)).unwrap();
    store.flush().unwrap();
    let expected = rows_of(&store);
    assert_eq!(expected[&("x".to_owned(), 50)][1], Some("10.25".to_owned()));
    store.compact().unwrap();
    assert_eq!(rows_of(&store), expected);
}

#[test]
fn a_merge_that_is_stopped_leaves_everything_as_it_was() {
    let dir = FaultDir::new();
    let store = written(&dir);
    let expected = rows_of(&store);
    let names = dir.list("data").unwrap();
    assert!(!store.compact_while(|| false).unwrap());
    assert_eq!((dir.list("data").unwrap(), rows_of(&store)), (names, expected));
}

#[test]
fn files_are_merged_in_the_background_and_slowly_if_need_be() {
    for bytes_per_second in [None, Some(1 << 20)] {
        let dir = FaultDir::new();
        let compaction = CompactionOptions { files: 3, bytes_per_second };
        let options = StoreOptions { compaction, ..StoreOptions::default() };
        let store = Store::open_dir(Arc::new(dir.clone()), options).unwrap();
        store.create_table(&schema()).unwrap();
        for round in 0..20 {
            store.write(&tablet("x", round * 10..round * 10 + 12, round)).unwrap();
            store.flush().unwrap();
        }
        let expected = rows_of(&store);
        let start = std::time::Instant::now();
        while store.stats().files > 4 {
            assert!(start.elapsed().as_secs() < 20, "{:?}", store.stats());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(store.stats().compactions > 0 && store.stats().compaction_error.is_none());
        assert_eq!(rows_of(&store), expected);
        drop(store);
        assert_eq!(rows_of(&open(&dir).unwrap()), expected);
    }
}
