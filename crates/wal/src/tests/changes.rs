//! Entries about tables: schemas said again, deletes, drops.

use tsloom_model::{Predicate, TimeRange};
use tsloom_testkit::faults::FaultDir;

use super::{append_rows, read, rows_entry, start, tablet};
use crate::{Delete, Level, LogOptions, NewEntry};

fn delete() -> Delete {
    let devices = Some(Predicate::IsNull(0).not());
    Delete { times: TimeRange { start: 2, end: 5 }, devices, columns: vec!["a".to_owned()] }
}

#[test]
fn deletes_and_drops_are_read_in_order() {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    append_rows(&log, &tablet(0, 3), Level::Durable).unwrap();
    log.append(NewEntry::Delete { id: 1, delete: &delete() }, Level::Durable).unwrap();
    log.append(NewEntry::Drop { id: 1 }, Level::Durable).unwrap();
    let expected =
        ["1 schema 1 t".to_owned(), rows_entry(2, &tablet(0, 3)), format!("3 delete 1 {:?}", delete()), "4 drop 1".to_owned()];
    assert_eq!(read(&dir, 0).unwrap().1, expected);
    drop(log);
    // The last entry is written once more, behind a schema that its table has no more.
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    append_rows(&log, &tablet(5, 1), Level::Durable).unwrap();
    let entries = read(&dir, 3).unwrap().1;
    assert_eq!(entries, ["4 schema 1 t".to_owned(), "5 drop 1".to_owned(), rows_entry(6, &tablet(5, 1))]);
}
