//! Copies of stores, and stores that are not sound.

use std::fs;

use tsloom_model::ErrorKind;

use super::{rows_of, schema, tablet};
use crate::{Store, StoreOptions};

#[test]
fn a_backup_is_a_store_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("lab.tsloom"), folder.path().join("copy.tsloom"));
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    store.create_table(&schema()).unwrap();
    store.write(&tablet("x", 0..10, 0)).unwrap();
    store.flush().unwrap();
    store.write(&tablet("x", 5..20, 1)).unwrap();
    store.delete("t").time(3..=4).run().unwrap();
    let expected = rows_of(&store);
    store.backup(&copy).unwrap();
    assert_eq!(store.backup(&copy).unwrap_err().kind(), ErrorKind::AlreadyExists);
    // What happens to one does not happen to the other.
    store.write(&tablet("y", 0..5, 0)).unwrap();
    store.compact().unwrap();
    drop(store);
    fs::remove_dir_all(&path).unwrap();
    let store = Store::open(&copy, StoreOptions::default()).unwrap();
    assert!(store.recovery().is_clean(), "{}", store.recovery());
    assert_eq!(rows_of(&store), expected);
    // The copy goes on: what is deleted in it is gone, of merged files too.
    store.compact().unwrap();
    store.delete("t").run().unwrap();
    store.write(&tablet("z", 0..2, 0)).unwrap();
    assert_eq!(rows_of(&store).len(), 2);
    drop(store);
    assert_eq!(rows_of(&Store::open(&copy, StoreOptions::default()).unwrap()).len(), 2);
}

/// A merge carries out deletes that the log alone knows; the copy's log must go on behind them.
#[test]
fn a_backup_of_merged_files_takes_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("lab.tsloom"), folder.path().join("copy.tsloom"));
    let store = Store::open(path, StoreOptions::default()).unwrap();
    store.create_table(&schema()).unwrap();
    for round in 0..3 {
        store.write(&tablet("x", round * 10..round * 10 + 10, 0)).unwrap();
        store.flush().unwrap();
    }
    store.delete("t").time(0..1).run().unwrap();
    store.compact().unwrap();
    store.backup(&copy).unwrap();
    let copy = Store::open(copy, StoreOptions::default()).unwrap();
    copy.delete("t").time(1..2).run().unwrap();
    assert_eq!(rows_of(&copy).len(), 28);
}

#[test]
fn a_damaged_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.tsloom");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    store.create_table(&schema()).unwrap();
    store.write(&tablet("x", 0..100, 0)).unwrap();
    store.flush().unwrap();
    let found = store.verify().unwrap();
    assert_eq!((found.len(), found[0].file.as_str()), (1, "data/000001.tsfile"));
    assert!(found[0].verification.is_sound() && found[0].verification.row_count == 100);
    drop(store);
    let file = path.join("data/000001.tsfile");
    let mut bytes = fs::read(&file).unwrap();
    bytes[60] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    let found = Store::open_read_only(&path).unwrap().verify().unwrap();
    assert!(!found[0].verification.is_sound());
}
