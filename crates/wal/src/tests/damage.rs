//! Bytes that the disk had once and has lost: an error, never a shorter log.

use tsloom_io::Dir;
use tsloom_model::ErrorKind;
use tsloom_testkit::Random;
use tsloom_testkit::faults::FaultDir;

use super::{append_rows, read, start, tablet};
use crate::{Level, LogOptions};

const LOG: &str = "wal/000001.log";

/// A log of about 4 KiB in one segment, and the offsets at which its entries end.
fn four_kib() -> (FaultDir, Vec<usize>) {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    let mut ends = Vec::new();
    while dir.file(LOG).unwrap().len() < 4096 {
        append_rows(&log, &tablet(ends.len() as i64 * 10, 7), Level::Durable).unwrap();
        ends.push(dir.file(LOG).unwrap().len());
    }
    (dir, ends)
}

#[test]
fn every_flipped_bit_is_noticed_or_drops_the_tail() {
    let (dir, ends) = four_kib();
    let whole = dir.file(LOG).unwrap();
    let entries = read(&dir, 0).unwrap().1;
    let last_start = ends[ends.len() - 2];
    let (mut errors, mut drops) = (0, 0);
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        dir.set_file(LOG, &bytes);
        match read(&dir, 0) {
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "bit {bit}: {error}");
                errors += 1;
            }
            Ok((_, found)) => {
                assert!(bit / 8 >= last_start, "bit {bit} was neither noticed nor in the last entry");
                assert_eq!(found, entries[..entries.len() - 1], "bit {bit}");
                drops += 1;
            }
        }
    }
    println!("{} bits flipped: {errors} errors, {drops} tails dropped, 0 accepted", errors + drops);
}

#[test]
fn damage_in_the_middle_is_named() {
    let (dir, ends) = four_kib();
    let mut bytes = dir.file(LOG).unwrap();
    let at = ends[2] + 30;
    bytes[at] ^= 1;
    dir.set_file(LOG, &bytes);
    let error = read(&dir, 0).unwrap_err();
    let expected = u32::from_be_bytes(bytes[ends[2] + 4..ends[2] + 8].try_into().unwrap());
    let message = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    // Entry 1 is the schema, 2..=4 are rows.
    let start = format!("{LOG}: entry 5 at offset {}: checksum ", ends[2]);
    let end = format!(", expected {expected:08x}; 4 entries before it are intact");
    assert!(message.starts_with(&start) && message.ends_with(&end), "{message}");
}

#[test]
fn a_cut_in_the_middle_of_the_log_is_damage() {
    let dir = FaultDir::new();
    let options = LogOptions { segment_bytes_max: 500, ..LogOptions::default() };
    let (log, _) = start(&dir, options).unwrap();
    for first in 0..10 {
        append_rows(&log, &tablet(first, 7), Level::Durable).unwrap();
    }
    let second = "wal/000002.log";
    let whole = dir.file(second).unwrap();
    dir.set_file(second, &whole[..whole.len() - 1]);
    assert_eq!(read(&dir, 0).unwrap_err().file(), Some(second));
    dir.set_file(second, &whole[..32]); // no entry at all
    assert_eq!(read(&dir, 0).unwrap_err().kind(), ErrorKind::Corrupt);
    dir.set_file(second, &[]); // it had a header once: the next segment knows
    assert!(read(&dir, 0).unwrap_err().to_string().starts_with("wal/000001.log: entry "), "{:?}", read(&dir, 0));
    dir.remove(second).unwrap();
    assert_eq!(read(&dir, 0).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_missing_first_segment_is_damage_unless_files_have_it() {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    let flushed = append_rows(&log, &tablet(0, 1), Level::Durable).unwrap();
    log.rotate().unwrap();
    append_rows(&log, &tablet(1, 1), Level::Durable).unwrap();
    dir.remove(LOG).unwrap();
    assert_eq!(read(&dir, flushed).unwrap().1.len(), 2);
    let error = read(&dir, flushed - 1).unwrap_err();
    assert_eq!(error.to_string(), "wal/000002.log: begins with entry 3, but entry 2 is nowhere");
}

/// Unsynced entries may be torn in any order; only what a later sync has covered must be whole.
#[test]
fn a_torn_group_is_no_damage() {
    let dir = FaultDir::new();
    let (log, _) = start(&dir, LogOptions::default()).unwrap();
    append_rows(&log, &tablet(0, 7), Level::Durable).unwrap();
    let synced = dir.file(LOG).unwrap().len();
    append_rows(&log, &tablet(1, 7), Level::Written).unwrap();
    let torn = dir.file(LOG).unwrap().len() - 3;
    append_rows(&log, &tablet(2, 7), Level::Written).unwrap();
    let mut bytes = dir.file(LOG).unwrap();
    bytes[torn] ^= 1;
    dir.set_file(LOG, &bytes);
    let (replayed, entries) = read(&dir, 0).unwrap();
    assert_eq!((entries.len(), replayed.dropped_tail.unwrap().offset), (2, synced as u64));
    // After a sync the same bytes are damage.
    let mut whole = bytes.clone();
    whole[torn] ^= 1;
    dir.set_file(LOG, &whole);
    log.sync().unwrap();
    append_rows(&log, &tablet(3, 7), Level::Written).unwrap();
    let mut bytes = dir.file(LOG).unwrap();
    bytes[torn] ^= 1;
    dir.set_file(LOG, &bytes);
    assert_eq!(read(&dir, 0).unwrap_err().kind(), ErrorKind::Corrupt);
}

/// Any bytes end in entries or a typed error, soon.
#[test]
fn hostile_bytes_end_in_an_error_or_entries() {
    let (dir, _) = four_kib();
    let whole = dir.file(LOG).unwrap();
    let mut random = Random::new(7);
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.next_u64() as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.extend_from_slice(&whole[at.min(whole.len() - 1)..]),
                _ => {
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].fill(0xff);
                }
            }
        }
        dir.set_file(LOG, &bytes);
        let _ = read(&dir, random.next_u64() % 30);
    }
}
