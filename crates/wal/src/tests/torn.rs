//! influxdata/influxdb_iox#8666, #6283: a half-written last entry stopped the start. influxdata/influxdb#26549, #26970: so did
//! a log file without bytes.

use tsloom_testkit::faults::FaultDir;

use super::{append_rows, read, rows_entry, start, tablet};
use crate::{Level, LogOptions};

const LOG: &str = "wal/000001.log";

/// Three entries; the offsets at which they end.
fn three_entries() -> (FaultDir, Vec<usize>) {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    let mut ends = Vec::new();
    for first in [0, 5, 10] {
        append_rows(&log, &tablet(first, 3), Level::Durable).unwrap();
        ends.push(dir.file(LOG).unwrap().len());
    }
    (dir, ends)
}

/// Bytes that an older use of the segment could have left, with whole entries in them.
fn old_bytes(size: usize) -> Vec<u8> {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    append_rows(&log, &tablet(77, 3), Level::Durable).unwrap();
    log.rotate().unwrap();
    let name = "wal/000002.log";
    while dir.file(name).unwrap().len() < size {
        append_rows(&log, &tablet(77, 3), Level::Durable).unwrap();
    }
    dir.file(name).unwrap()[..size].to_vec()
}

#[test]
fn the_last_entry_cut_at_every_byte_is_dropped_whatever_follows() {
    let (dir, ends) = three_entries();
    let whole = dir.file(LOG).unwrap();
    let expected = ["1 schema 1 t".into(), rows_entry(2, &tablet(0, 3)), rows_entry(3, &tablet(5, 3))];
    let old = old_bytes(whole.len() + 300);
    let mut count = 0;
    for cut in ends[1]..ends[2] {
        let fill = |byte: u8| vec![byte; 300];
        for behind in [Vec::new(), fill(0), fill(0xff), old[cut..cut + 300].to_vec()] {
            let bytes = [&whole[..cut], &behind].concat();
            dir.set_file(LOG, &bytes);
            let (replayed, entries) = read(&dir, 0).unwrap();
            assert_eq!(entries, expected, "cut at {cut}");
            assert_eq!(replayed.next_sequence, 4);
            let is_torn = bytes[ends[1]..].iter().any(|byte| *byte != 0); // zeros look like no entry at all
            assert_eq!(replayed.dropped_tail.is_some(), is_torn, "cut at {cut}");
            count += 1;
        }
    }
    println!("{count} torn tails dropped");
}

#[test]
fn the_report_says_what_was_dropped() {
    let (dir, ends) = three_entries();
    dir.set_file(LOG, &dir.file(LOG).unwrap()[..ends[2] - 1]);
    let (replayed, _) = read(&dir, 0).unwrap();
    let tail = replayed.dropped_tail.unwrap();
    assert_eq!((tail.file.as_str(), tail.offset, tail.size), (LOG, ends[1] as u64, (ends[2] - ends[1] - 1) as u64));
    let payload = ends[2] - ends[1] - 17;
    assert_eq!(tail.reason, format!("it has {payload} bytes, {} are left", payload - 1));
}

/// The last whole entry is written once more: nobody can tell whether it is on disk. Its schema comes before it.
#[test]
fn after_a_torn_tail_the_log_goes_on_behind_the_last_whole_entry() {
    let (dir, ends) = three_entries();
    dir.set_file(LOG, &dir.file(LOG).unwrap()[..ends[2] - 1]);
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    assert_eq!(log.last_sequence(), 4);
    assert_eq!(append_rows(&log, &tablet(20, 1), Level::Durable).unwrap(), 5);
    let rows = [rows_entry(2, &tablet(0, 3)), rows_entry(4, &tablet(5, 3)), rows_entry(5, &tablet(20, 1))];
    for _ in 0..2 {
        let (replayed, entries) = read(&dir, 0).unwrap();
        assert_eq!(entries, ["1 schema 1 t", &rows[0], "3 schema 1 t", &rows[1], &rows[2]]);
        assert_eq!(replayed.dropped_tail, None);
    }
    // Now that they stand elsewhere, nothing behind the first rows is missed.
    dir.set_file(LOG, &dir.file(LOG).unwrap()[..ends[0]]);
    assert_eq!(read(&dir, 0).unwrap().1.len(), 5);
    dir.set_file(LOG, &dir.file(LOG).unwrap()[..ends[0] - 1]);
    assert!(read(&dir, 0).is_err());
}

#[test]
fn files_without_a_header_are_empty_logs_and_kept_aside() {
    let (dir, _) = three_entries();
    let sizes: Vec<usize> = (0..32).chain([4096, 100_000]).collect();
    for size in sizes {
        let dir = {
            let copy = FaultDir::new();
            tsloom_io::Dir::create_folder(&copy, "wal").unwrap();
            copy.set_file(LOG, &dir.file(LOG).unwrap());
            copy
        };
        let bytes = if size < 32 { vec![b'T'; size] } else { vec![0; size] };
        dir.set_file("wal/000002.log", &bytes);
        let (log, entries) = start(&dir, LogOptions::default()).unwrap();
        assert_eq!(entries.len(), 4);
        assert_eq!(dir.file("wal/000002.log.aside"), Some(bytes));
        assert_eq!(dir.file("wal/000002.log"), None);
        append_rows(&log, &tablet(20, 1), Level::Durable).unwrap();
        let (replayed, entries) = read(&dir, 0).unwrap();
        assert_eq!(entries.last(), Some(&rows_entry(6, &tablet(20, 1)))); // 4: the schema, said again, 5: the rows before
        assert_eq!(replayed.next_number, 4);
        assert!(replayed.aside.is_empty());
    }
}

#[test]
fn a_log_of_nothing_but_short_files_opens() {
    for size in 0..12 {
        let dir = FaultDir::new();
        tsloom_io::Dir::create_folder(&dir, "wal").unwrap();
        dir.set_file(LOG, &vec![0; size]);
        let (replayed, entries) = read(&dir, 0).unwrap();
        assert!(entries.is_empty());
        assert_eq!((replayed.aside[0].file.as_str(), replayed.aside[0].size), ("wal/000001.log.aside", size as u64));
        start(&dir, LogOptions::default()).unwrap();
    }
}
