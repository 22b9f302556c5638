//! Looking at a log, and cutting it.

use tsloom_io::Dir;
use tsloom_testkit::faults::FaultDir;

use super::{append_rows, read, start, tablet};
use crate::{InspectedSegment, Level, LogOptions, inspect, repair};

/// Three segments or more.
fn segments() -> FaultDir {
    let dir = FaultDir::new();
    let options = LogOptions { segment_bytes_max: 500, ..LogOptions::default() };
    let (log, _) = start(&dir, options).unwrap();
    for first in 0..12 {
        append_rows(&log, &tablet(first, 7), Level::Durable).unwrap();
    }
    dir
}

fn look(dir: &FaultDir) -> (Vec<InspectedSegment>, Vec<u64>) {
    let mut sequences = Vec::new();
    let segments = inspect(dir, &mut |_, entry| {
        sequences.push(entry.sequence);
        Ok(())
    });
    (segments.unwrap(), sequences)
}

#[test]
fn a_whole_log_is_seen_whole() {
    let dir = segments();
    let (segments, sequences) = look(&dir);
    assert!(segments.len() >= 3 && segments.iter().all(|segment| segment.damage.is_none() && segment.torn.is_none()));
    assert_eq!(sequences, (1..=sequences.len() as u64).collect::<Vec<_>>());
    assert_eq!(sequences.len(), read(&dir, 0).unwrap().1.len());
    let total: u64 = segments.iter().map(|segment| segment.entry_count).sum();
    assert_eq!(total as usize, sequences.len());
    assert!(repair(&dir).unwrap().is_empty());
}

#[test]
fn a_torn_tail_is_no_damage() {
    let dir = segments();
    let last = look(&dir).0.pop().unwrap();
    let bytes = dir.file(&last.file).unwrap();
    dir.set_file(&last.file, &bytes[..bytes.len() - 1]);
    let now = look(&dir).0.pop().unwrap();
    assert!(now.damage.is_none() && now.torn.is_some());
    assert_eq!(now.entry_count + 1, last.entry_count);
    assert!(repair(&dir).unwrap().is_empty());
}

/// Every entry damaged in turn: the log opens afterwards with the entries before it, and nothing is thrown away.
#[test]
fn a_damaged_log_is_cut_and_opens() {
    let whole = segments();
    let entries = read(&whole, 0).unwrap().1;
    let mut places = Vec::new();
    inspect(&whole, &mut |file, entry| {
        places.push((file.to_owned(), entry.offset + 20));
        Ok(())
    })
    .unwrap();
    for (index, (file, at)) in places.iter().enumerate().take(places.len() - 1) {
        let dir = segments();
        let mut bytes = dir.file(file).unwrap();
        bytes[*at as usize] ^= 0x10;
        dir.set_file(file, &bytes);
        assert!(read(&dir, 0).is_err(), "entry {}", index + 1);
        let aside = repair(&dir).unwrap();
        assert!(!aside.is_empty() && aside.iter().all(|name| dir.file(name).is_some()), "{aside:?}");
        assert_eq!(dir.file(aside.last().unwrap()), Some(bytes));
        assert_eq!(read(&dir, 0).unwrap().1, entries[..index], "entry {}", index + 1);
        let (log, _) = start(&dir, LogOptions::default()).unwrap();
        append_rows(&log, &tablet(50, 1), Level::Durable).unwrap();
        assert!(read(&dir, 0).is_ok() && repair(&dir).unwrap().is_empty());
    }
    println!("{} places damaged and cut", places.len() - 1);
}

#[test]
fn a_segment_with_a_damaged_header_is_put_aside() {
    let dir = segments();
    let name = look(&dir).0[1].file.clone();
    let mut bytes = dir.file(&name).unwrap();
    bytes[17] ^= 1;
    dir.set_file(&name, &bytes);
    assert!(read(&dir, 0).is_err());
    let aside = repair(&dir).unwrap();
    assert_eq!((aside.last(), dir.file(&name)), (Some(&format!("{name}.aside")), None));
    assert!(!read(&dir, 0).unwrap().1.is_empty());
    assert!(dir.list("wal").unwrap().iter().any(|name| name.ends_with(".aside")));
}
