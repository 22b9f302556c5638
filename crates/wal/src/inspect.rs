//! A log looked at segment by segment, and cut where it is damaged. For people; opening a store needs neither.
//!
//! Each segment is read by itself, so what lies behind damage is seen too. [`repair`] gives up what lies behind the first damage:
//! entries that were acknowledged are lost then, so nobody does it unasked. What it takes away stays in the folder, under
//! `.log.aside`.

use std::sync::Arc;

use tsloom_io::{Dir, ReadAt};
use tsloom_model::{Error, Result};

use crate::entry::{Decoder, Entry};
use crate::replay::{DroppedTail, read_header};
use crate::scan::SegmentReader;
use crate::segment::{FOLDER, Header, Name};

/// One entry, and where it stands.
#[derive(Debug)]
pub struct InspectedEntry {
    /// Its sequence.
    pub sequence: u64,
    /// Where it begins in its segment.
    pub offset: u64,
    /// Bytes of it, head included.
    pub size: u64,
    /// What it says.
    pub entry: Entry,
}

/// What one segment is like.
#[derive(Debug)]
pub struct InspectedSegment {
    /// Its name in the store's directory.
    pub file: String,
    /// Bytes of the file; those of a segment that was used before may be more than it has written.
    pub size: u64,
    /// Sequence of its first entry; `None` without a header.
    pub first_sequence: Option<u64>,
    /// Whole entries.
    pub entry_count: u64,
    /// Where they end.
    pub end: u64,
    /// A torn tail: the next open drops it. Only the last segment may have one.
    pub torn: Option<DroppedTail>,
    /// What the disk has lost: the store does not open.
    pub damage: Option<Error>,
}

/// Reads every segment and hands its whole entries to `visit`, with the name of their segment.
///
/// # Errors
/// What `visit` says, and what the operating system says. Damage is no error here.
pub fn inspect(dir: &dyn Dir, visit: &mut dyn FnMut(&str, InspectedEntry) -> Result<()>) -> Result<Vec<InspectedSegment>> {
    let mut numbers: Vec<u64> = dir
        .list(FOLDER)
        .map_err(|error| Error::from(error).in_file(FOLDER))?
        .iter()
        .filter_map(|name| match Name::parse(name) {
            Some(Name::Log(number)) => Some(number),
            _ => None,
        })
        .collect();
    numbers.sort_unstable();
    let mut segments = Vec::new();
    for (index, number) in numbers.iter().enumerate() {
        let next = numbers.get(index + 1).map(|next| first_sequence_of(dir, *next)).transpose()?.flatten();
        let is_last = index + 1 == numbers.len();
        let file = Name::Log(*number).path();
        segments.push(inspect_segment(dir, *number, is_last, next, visit).map_err(|error| error.in_file(&file))?);
    }
    Ok(segments)
}

fn open(dir: &dyn Dir, number: u64) -> Result<(Arc<dyn ReadAt>, u64)> {
    let source = dir.open_read(&Name::Log(number).path())?;
    let size = source.size()?;
    Ok((source, size))
}

fn first_sequence_of(dir: &dyn Dir, number: u64) -> Result<Option<u64>> {
    let (source, size) = open(dir, number)?;
    Ok(read_header(&*source, size, number).ok().flatten().map(|header| header.first_sequence))
}

fn inspect_segment(
    dir: &dyn Dir,
    number: u64,
    is_last: bool,
    next_first: Option<u64>,
    visit: &mut dyn FnMut(&str, InspectedEntry) -> Result<()>,
) -> Result<InspectedSegment> {
    let (source, size) = open(dir, number)?;
    let file = Name::Log(number).path();
    let mut segment = InspectedSegment { file, size, first_sequence: None, entry_count: 0, end: 0, torn: None, damage: None };
    let header = match read_header(&*source, size, number) {
        Ok(Some(header)) => header,
        Ok(None) => return Ok(segment),
        Err(error) => {
            segment.damage = Some(error);
            return Ok(segment);
        }
    };
    segment.first_sequence = Some(header.first_sequence);
    read_entries(&*source, header, is_last, next_first, &mut segment, visit)?;
    Ok(segment)
}

fn read_entries(
    source: &dyn ReadAt,
    header: Header,
    is_last: bool,
    next_first: Option<u64>,
    segment: &mut InspectedSegment,
    visit: &mut dyn FnMut(&str, InspectedEntry) -> Result<()>,
) -> Result<()> {
    let mut decoder = Decoder::default();
    let mut reader = SegmentReader::new(source, segment.size, header);
    let limit = next_first.unwrap_or(u64::MAX);
    let end = loop {
        if reader.sequence() >= limit {
            break reader.end(None);
        }
        let start = reader.end(None).offset;
        let frame = match reader.next_frame()? {
            Ok(frame) => frame,
            Err(end) => break end,
        };
        let (sequence, size) = (frame.head.sequence, frame.payload_at - start + frame.payload.len() as u64);
        let entry = match decoder.decode(frame.head.kind, frame.payload, frame.payload_at, true) {
            Ok(Some(entry)) => entry,
            Ok(None) => continue,
            Err(error) => {
                (segment.end, segment.damage) = (start, Some(error));
                return Ok(());
            }
        };
        visit(&segment.file, InspectedEntry { sequence, offset: start, size, entry })?;
        segment.entry_count += 1;
    };
    segment.end = end.offset;
    let is_short = !is_last && end.sequence < limit && next_first.is_some();
    if is_short || (is_last && reader.is_damaged()?) {
        segment.damage = Some(end.damage());
    } else if let Some(reason) = end.torn {
        let (offset, size) = (end.offset, segment.size - end.offset);
        segment.torn = Some(DroppedTail { file: segment.file.clone(), offset, size, reason });
    }
    Ok(())
}

/// Cuts the log before the first damage, so that the store opens with the entries before it. Returns what was put aside, and
/// nothing when there was no damage. Whoever calls it holds the lock of the store.
///
/// # Errors
/// What the operating system says.
pub fn repair(dir: &dyn Dir) -> Result<Vec<String>> {
    let segments = inspect(dir, &mut |_, _| Ok(()))?;
    let Some(first) = segments.iter().position(|segment| segment.damage.is_some()) else { return Ok(Vec::new()) };
    let mut aside = Vec::new();
    // Later ones first: should it be interrupted, the damage is still there to be found.
    for segment in segments[first + 1..].iter().rev() {
        aside.push(put_aside(dir, &segment.file)?);
    }
    let damaged = &segments[first];
    if damaged.first_sequence.is_some() {
        let copy = format!("{}.aside", damaged.file);
        copy_file(dir, &damaged.file, &copy)?;
        let mut file = dir.open_write(&damaged.file)?;
        file.truncate(damaged.end)?;
        file.sync()?;
        aside.push(copy);
    } else {
        aside.push(put_aside(dir, &damaged.file)?);
    }
    dir.sync(FOLDER)?;
    Ok(aside)
}

fn put_aside(dir: &dyn Dir, file: &str) -> Result<String> {
    let aside = format!("{file}.aside");
    dir.rename(file, &aside).map_err(|error| Error::from(error).in_file(file))?;
    Ok(aside)
}

fn copy_file(dir: &dyn Dir, from: &str, to: &str) -> Result<()> {
    let source = dir.open_read(from).map_err(|error| Error::from(error).in_file(from))?;
    let size = source.size()?;
    let mut target = dir.create(to).map_err(|error| Error::from(error).in_file(to))?;
    let mut bytes = vec![0; 1 << 20];
    let mut offset = 0;
    while offset < size {
        let count = bytes.len().min(usize::try_from(size - offset).unwrap_or(usize::MAX));
        source.read_exact_at(&mut bytes[..count], offset)?;
        target.write_all_at(&bytes[..count], offset)?;
        offset += count as u64;
    }
    target.sync()?;
    dir.sync(FOLDER)?;
    Ok(())
}
