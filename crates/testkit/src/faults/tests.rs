//! The model of the disk, held against what its head promises.

use std::collections::BTreeSet;

use tsloom_io::Dir;

use super::{Call, FaultDir, FaultKind, Unsynced};

const MODES: [Unsynced; 4] = [Unsynced::Lost, Unsynced::Kept, Unsynced::Some { seed: 1 }, Unsynced::TornLast { seed: 1 }];

/// `wal/a` with "base" in it, file and name durable.
fn synced() -> FaultDir {
    let dir = FaultDir::new();
    dir.create_folder("wal").unwrap();
    dir.sync("").unwrap();
    let mut file = dir.create("wal/a").unwrap();
    file.write_all_at(b"base", 0).unwrap();
    file.sync().unwrap();
    dir.sync("wal").unwrap();
    dir
}

fn after_crash(dir: &FaultDir, unsynced: Unsynced, name: &str) -> Option<Vec<u8>> {
    let trace = dir.trace();
    trace.crash(trace.len(), unsynced).file(name)
}

#[test]
fn what_was_synced_is_there_whatever_happens() {
    for mode in MODES {
        assert_eq!(after_crash(&synced(), mode, "wal/a"), Some(b"base".to_vec()), "{mode:?}");
    }
}

#[test]
fn a_name_needs_its_folder_synced() {
    let dir = synced();
    let mut file = dir.create("wal/b").unwrap();
    file.write_all_at(b"new", 0).unwrap();
    file.sync().unwrap();
    dir.rename("wal/a", "wal/c").unwrap();
    assert_eq!(after_crash(&dir, Unsynced::Lost, "wal/b"), None);
    assert_eq!(after_crash(&dir, Unsynced::Lost, "wal/a"), Some(b"base".to_vec()));
    assert_eq!(after_crash(&dir, Unsynced::Kept, "wal/c"), Some(b"base".to_vec()));
    dir.sync("wal").unwrap();
    assert_eq!(after_crash(&dir, Unsynced::Lost, "wal/b"), Some(b"new".to_vec()));
    assert_eq!(after_crash(&dir, Unsynced::Lost, "wal/a"), None);
}

#[test]
fn sectors_of_an_unsynced_write_are_kept_one_by_one() {
    let dir = synced();
    dir.open_write("wal/a").unwrap().write_all_at(&[7; 2048], 0).unwrap();
    let seen: BTreeSet<Vec<bool>> = (0..64)
        .map(|seed| after_crash(&dir, Unsynced::Some { seed }, "wal/a").unwrap())
        .map(|bytes| (0..4).map(|sector| bytes.get(sector * 512) == Some(&7)).collect())
        .collect();
    assert_eq!(seen.len(), 16); // every subset of four
}

#[test]
fn the_last_write_is_cut_anywhere() {
    let dir = synced();
    dir.open_write("wal/a").unwrap().write_all_at(b"xyz", 4).unwrap();
    let seen: BTreeSet<Vec<u8>> = (0..64).filter_map(|seed| after_crash(&dir, Unsynced::TornLast { seed }, "wal/a")).collect();
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        [b"base".to_vec(), b"basex".to_vec(), b"basexy".to_vec(), b"basexyz".to_vec()]
    );
}

#[test]
fn after_a_failed_sync_later_syncs_prove_nothing() {
    let dir = synced();
    let mut file = dir.open_write("wal/a").unwrap();
    file.write_all_at(b"X", 0).unwrap();
    dir.fail_call(dir.calls().len(), FaultKind::Eio);
    assert!(file.sync().is_err());
    file.write_all_at(b"Y", 1).unwrap();
    file.sync().unwrap();
    assert_eq!(after_crash(&dir, Unsynced::Lost, "wal/a"), Some(b"bYse".to_vec()));
    assert_eq!(after_crash(&dir, Unsynced::Kept, "wal/a"), Some(b"XYse".to_vec()));
}

#[test]
fn a_fault_strikes_once_and_in_its_own_way() {
    for kind in FaultKind::ALL {
        let dir = synced();
        let mut file = dir.open_write("wal/a").unwrap();
        dir.fail_call(dir.calls().len(), kind);
        let write = file.write_all_at(b"0123", 4);
        let bytes = dir.file("wal/a").unwrap();
        match kind {
            FaultKind::Eio | FaultKind::Enospc => assert_eq!((write.is_err(), bytes), (true, b"base".to_vec())),
            FaultKind::Eintr | FaultKind::ShortWrite => assert_eq!((write.is_ok(), bytes), (true, b"base0123".to_vec())),
            FaultKind::ShortThenEnospc => assert_eq!((write.is_err(), bytes), (true, b"base01".to_vec())),
        }
        file.write_all_at(b"0123", 4).unwrap();
        assert_eq!(dir.calls().last(), Some(&Call::Write));
    }
}

#[test]
fn crash_points_cover_every_call() {
    let trace = synced().trace();
    let mut sizes = Vec::new();
    trace.crashes(|count, crash| {
        let dir = crash(Unsynced::Kept);
        assert_eq!(dir.file("wal/a"), trace.crash(count, Unsynced::Kept).file("wal/a"));
        sizes.push(dir.file("wal/a").map(|bytes| bytes.len()));
    });
    assert_eq!(sizes, [None, None, None, Some(0), Some(4), Some(4), Some(4)]);
}
