//! Appending, by one and by many, and what failures leave.

use std::sync::Arc;

use tsloom_model::ErrorKind;
use tsloom_testkit::faults::{Call, FaultDir, FaultKind, Unsynced};

use super::{append_rows, read, rows_entry, start, tablet};
use crate::{Level, Log, LogOptions, NewEntry};

#[test]
fn what_is_appended_is_read_in_order() {
    let dir = FaultDir::new();
    let (log, before) = start(&dir, LogOptions::default()).unwrap();
    assert!(before.is_empty());
    assert_eq!(append_rows(&log, &tablet(0, 3), Level::Durable).unwrap(), 2); // the schema is 1
    assert_eq!(append_rows(&log, &tablet(3, 2), Level::Written).unwrap(), 3);
    log.append(NewEntry::Checkpoint { flushed: 2 }, Level::Durable).unwrap();
    drop(log);
    let (replayed, entries) = read(&dir, 0).unwrap();
    let expected = ["1 schema 1 t".into(), rows_entry(2, &tablet(0, 3)), rows_entry(3, &tablet(3, 2)), "4 checkpoint 2".into()];
    assert_eq!(entries, expected);
    assert_eq!((replayed.next_sequence, replayed.next_number, replayed.entry_count), (5, 2, 4));
    assert!(replayed.dropped_tail.is_none() && replayed.aside.is_empty());
    let (_, entries) = read(&dir, 2).unwrap();
    assert_eq!(entries, expected[2..]);
}

#[test]
fn reading_twice_gives_the_same_and_the_log_goes_on_behind_it() {
    let dir = FaultDir::new();
    let mut expected: Vec<String> = Vec::new();
    let rows = |entries: &[String]| -> Vec<String> {
        entries.iter().filter_map(|entry| entry.split_once("rows 1 ")).map(|(_, words)| words.to_owned()).collect()
    };
    for round in 0..6 {
        let (log, entries) = start(&dir, LogOptions::default()).unwrap();
        assert_eq!(rows(&entries), expected);
        assert_eq!(read(&dir, 0).unwrap().0.next_sequence, log.last_sequence() + 1);
        for part in 0..round {
            append_rows(&log, &tablet(round * 10 + part, 1), Level::Durable).unwrap();
            expected.push(super::words(&tablet(round * 10 + part, 1)));
        }
    }
    for _ in 0..2 {
        assert_eq!(rows(&read(&dir, 0).unwrap().1), expected);
    }
}

#[test]
fn entries_larger_than_the_buffer_and_the_segment_work() {
    let dir = FaultDir::new();
    let options = LogOptions { segment_bytes_max: 200, buffer_bytes_max: 64, spare_count_max: 1, ..LogOptions::default() };
    let (log, _) = start(&dir, options).unwrap();
    for first in 0..6 {
        append_rows(&log, &tablet(first * 100, 100), Level::Durable).unwrap();
    }
    assert_eq!(log.stats().segments, 6);
    let (_, entries) = read(&dir, 0).unwrap();
    let rows: Vec<&String> = entries.iter().filter(|entry| entry.contains("rows")).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(entries.iter().filter(|entry| entry.contains("schema")).count(), 6); // every segment stands by itself
}

#[test]
fn too_large_an_entry_leaves_no_trace() {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions { entry_bytes_max: 1000, ..LogOptions::default() }).unwrap();
    let error = append_rows(&log, &tablet(0, 100), Level::Durable).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().ends_with("past the limit entry_bytes_max = 1000"), "{error}");
    append_rows(&log, &tablet(0, 1), Level::Durable).unwrap();
    assert_eq!(read(&dir, 0).unwrap().1, ["1 schema 1 t".into(), rows_entry(2, &tablet(0, 1))]);
}

#[test]
fn dropped_segments_are_overwritten_and_their_entries_do_not_come_back() {
    let dir = FaultDir::new();
    let options = LogOptions { spare_count_max: 1, ..LogOptions::default() };
    let (log, _) = start(&dir, options).unwrap();
    let mut last = 0;
    for first in 0..40 {
        last = append_rows(&log, &tablet(first, 10), Level::Durable).unwrap();
        if first % 5 == 4 {
            log.rotate().unwrap();
            log.drop_through(last).unwrap();
        }
    }
    append_rows(&log, &tablet(99, 1), Level::Durable).unwrap();
    drop(log);
    let (replayed, entries) = read(&dir, last).unwrap();
    assert_eq!(entries, [format!("{} schema 1 t", last + 1), rows_entry(last + 2, &tablet(99, 1))]);
    assert_eq!(replayed.spares.len(), 1);
    assert!(dir.calls().contains(&Call::OpenWrite));
    let name = format!("wal/{:06}.log", replayed.segments.last().unwrap().number);
    assert_eq!(dir.file(&name).unwrap()[7], 1, "the segment that grows has an older use");
    assert!(replayed.dropped_tail.is_none());
}

#[test]
fn a_failed_write_leaves_no_trace_and_the_log_goes_on() {
    for kind in [FaultKind::Eio, FaultKind::Enospc, FaultKind::ShortThenEnospc] {
        let dir = FaultDir::new();
        let (log, _) = start(&dir, LogOptions::default()).unwrap();
        append_rows(&log, &tablet(0, 1), Level::Durable).unwrap();
        dir.fail_call(dir.calls().len(), kind);
        let error = append_rows(&log, &tablet(1, 9), Level::Durable).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{kind:?}");
        assert_eq!(append_rows(&log, &tablet(2, 1), Level::Durable).unwrap(), 4); // 3: the schema, said again
        let entries = read(&dir, 0).unwrap().1;
        assert_eq!(
            entries,
            ["1 schema 1 t".into(), rows_entry(2, &tablet(0, 1)), "3 schema 1 t".into(), rows_entry(4, &tablet(2, 1))]
        );
    }
}

#[test]
fn interrupted_and_short_writes_are_no_failure() {
    for kind in [FaultKind::Eintr, FaultKind::ShortWrite] {
        let dir = FaultDir::new();
        let (log, _) = start(&dir, LogOptions::default()).unwrap();
        dir.fail_call(dir.calls().len(), kind);
        append_rows(&log, &tablet(1, 9), Level::Durable).unwrap();
        assert_eq!(read(&dir, 0).unwrap().1[1], rows_entry(2, &tablet(1, 9)));
    }
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged() {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    append_rows(&log, &tablet(0, 1), Level::Durable).unwrap();
    dir.fail_call(dir.calls().len() + 1, FaultKind::Eio);
    assert_eq!(append_rows(&log, &tablet(1, 1), Level::Durable).unwrap_err().kind(), ErrorKind::Closed);
    for level in [Level::Durable, Level::Written] {
        assert_eq!(append_rows(&log, &tablet(2, 1), level).unwrap_err().kind(), ErrorKind::Closed);
    }
    assert_eq!(log.sync().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(log.rotate().unwrap_err().kind(), ErrorKind::Closed);
    let trace = dir.trace();
    let image = trace.crash(trace.len(), Unsynced::Lost);
    assert_eq!(read(&image, 0).unwrap().1, ["1 schema 1 t".into(), rows_entry(2, &tablet(0, 1))]);
}

#[test]
fn written_entries_become_durable_by_a_sync() {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    append_rows(&log, &tablet(0, 1), Level::Written).unwrap();
    let left = |dir: &FaultDir| {
        let trace = dir.trace();
        read(&trace.crash(trace.len(), Unsynced::Lost), 0).unwrap().1.len()
    };
    assert_eq!(left(&dir), 0);
    log.sync().unwrap();
    assert_eq!(left(&dir), 2);
    let syncs = log.stats().syncs;
    log.sync().unwrap();
    assert_eq!(log.stats().syncs, syncs); // nothing new, nothing to do
}

/// Every writer's entries are there, in its own order; sequences have no gaps.
#[test]
fn many_writers_share_the_syncs() {
    let dir = FaultDir::new();
    let options = LogOptions { segment_bytes_max: 20_000, buffer_bytes_max: 500, ..LogOptions::default() };
    let log = Arc::new(start(&dir, options).unwrap().0);
    let writers = 8;
    let each = 50;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let log: &Log = &log;
            scope.spawn(move || {
                for round in 0..each {
                    let level = if round % 3 == 0 { Level::Written } else { Level::Durable };
                    append_rows(log, &tablet(writer * 1000 + round, 2), level).unwrap();
                }
            });
        }
    });
    log.sync().unwrap();
    let stats = log.stats();
    drop(log);
    let (replayed, entries) = read(&dir, 0).unwrap();
    assert_eq!(replayed.entry_count, stats.entries);
    for writer in 0..writers {
        let expected: Vec<String> = (0..each).map(|round| super::words(&tablet(writer * 1000 + round, 2))).collect();
        let of_writer = |entry: &&str| (writer * 1000..writer * 1000 + each).any(|time| entry.starts_with(&format!("[{time},")));
        let found: Vec<&str> = entries.iter().filter_map(|entry| entry.split_once("rows 1 ")).map(|(_, words)| words).collect();
        assert_eq!(found.into_iter().filter(of_writer).collect::<Vec<_>>(), expected);
    }
}

/// Writers that fail together with their group get an error, the others do not, and no entry of a failed call is left.
#[test]
fn a_failed_group_fails_its_writers_only() {
    for fault in 0..40 {
        let dir = FaultDir::new();
        let log = start(&dir, LogOptions::default()).unwrap().0;
        dir.fail_call(dir.calls().len() + fault, FaultKind::ShortThenEnospc);
        let mut acknowledged = std::thread::scope(|scope| {
            let append = |writer: i64| {
                let log = &log;
                move || -> Vec<i64> {
                    let times = (0..10).map(|round| writer * 100 + round);
                    times.filter(|time| append_rows(log, &tablet(*time, 1), Level::Durable).is_ok()).collect()
                }
            };
            let threads: Vec<_> = (0..4).map(|writer| scope.spawn(append(writer))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<i64>>()
        });
        acknowledged.sort_unstable();
        let (_, entries) = read(&dir, 0).unwrap();
        let mut found: Vec<i64> =
            entries.iter().filter_map(|entry| entry.split_once("rows 1 [")?.1.split_once(']')?.0.parse().ok()).collect();
        found.sort_unstable();
        if log.check_open().is_ok() {
            assert_eq!(found, acknowledged, "fault at {fault}");
        } else {
            assert!(acknowledged.iter().all(|time| found.contains(time)), "fault at {fault}");
        }
    }
}
