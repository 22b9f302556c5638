//! Reading beside a writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tsloom_model::{ErrorKind, Limits};
use tsloom_testkit::faults::FaultDir;

use super::{new_store, rows_of, schema, tablet};
use crate::{Store, StoreOptions};

#[test]
fn a_reader_sees_the_store_as_it_was_when_it_was_opened() {
    let dir = FaultDir::new();
    let store = new_store(&dir);
    store.write(&tablet("x", 0..10, 0)).unwrap();
    store.flush().unwrap();
    store.write(&tablet("x", 10..20, 0)).unwrap();
    let expected = rows_of(&store);
    let changes = dir.change_count();
    let reader = Store::open_dir_read_only(Arc::new(dir.clone()), Limits::default()).unwrap();
    assert_eq!(dir.change_count(), changes);
    store.write(&tablet("x", 20..30, 0)).unwrap();
    store.flush().unwrap();
    assert_eq!(rows_of(&reader), expected);
    assert_eq!(reader.write(&tablet("x", 0..1, 0)).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(reader.flush().unwrap_err().to_string(), "store memory is open read-only");
    assert_eq!(reader.create_table(&schema()).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn nothing_is_made_where_no_store_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    assert_eq!(Store::open_read_only(&path).err().unwrap().kind(), ErrorKind::NotFound);
    assert!(!path.exists());
    let error = Store::open_read_only(folder.path()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().ends_with("is no store: it has no MANIFEST"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A reader that opens while the writer appends, flushes, drops and overwrites log segments sees a whole moment: all rows up
/// to some time, and no gap before it.
#[test]
fn readers_open_while_the_writer_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.tsloom");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    store.create_table(&schema()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..150 {
                store.write(&tablet("x", round * 10..round * 10 + 10, 0)).unwrap();
                if round % 5 == 4 {
                    store.flush().unwrap();
                }
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let mut last = 0;
        while !is_done.load(Ordering::Relaxed) {
            let rows = match Store::open_read_only(&path) {
                Ok(reader) => rows_of(&reader),
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => panic!("{error:?}"),
            };
            assert!(rows.len() >= last && rows.len() % 10 == 0, "{} rows after {last}", rows.len());
            assert!(rows.keys().enumerate().all(|(index, (_, time))| index as i64 == *time));
            last = rows.len();
        }
    });
    assert_eq!(rows_of(&Store::open_read_only(&path).unwrap()).len(), 1500);
}
