//! Reading the log back: what is whole, what is torn, what is damaged.
//!
//! Segments are read in the order of their numbers. Entries at or below the sequence that is already in files are passed
//! over, so reading twice gives the same. A segment ends where the next one begins: entries that stand there again are read
//! there. A torn tail of the last segment is dropped and reported. Everything else that is not whole is an error that names
//! segment, entry, offset and checksums: nothing is skipped.
//!
//! Of the last entries nobody knows whether they are on disk: the process that wrote them may have ended before its sync, or
//! after one that failed, and what is read back then is memory of the operating system. They are kept in [`Tail`] and written
//! once more by [`Log::start`](crate::Log::start).

use std::collections::BTreeMap;
use std::io;

use tsloom_io::{Dir, ReadAt};
use tsloom_model::{Error, ErrorKind, FileOffset, Result};

use crate::entry::{Decoder, Entry, schema_id};
use crate::frame::Head;
use crate::scan::{End, SegmentReader};
use crate::segment::{FOLDER, HEADER_SIZE, Header, Name};

/// What reading the log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Segments with a header, oldest first.
    pub segments: Vec<ReplayedSegment>,
    /// Entries that were handed on.
    pub entry_count: u64,
    /// Entries that were passed over: files have them.
    pub skipped_count: u64,
    /// The torn tail of the last segment, if it has one: it was dropped.
    pub dropped_tail: Option<DroppedTail>,
    /// Segments without a header, to be put aside.
    pub aside: Vec<AsideSegment>,
    /// Dropped segments that wait to be overwritten.
    pub spares: Vec<u64>,
    /// Sequence of the next entry.
    pub next_sequence: u64,
    /// Number of the next segment; no file in the folder has it.
    pub next_number: u64,
    pub(crate) tail: Tail,
}

/// The last entries, which no later one proves to be on disk, and the schemas that stand before them in their segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Payloads of schema entries by the id of the schema.
    pub(crate) schemas: BTreeMap<u32, Vec<u8>>,
    /// Kinds and payloads, in order.
    pub(crate) entries: Vec<(u8, Vec<u8>)>,
}

impl Tail {
    /// Ids of the schemas that stand in a segment which begins with this tail.
    pub(crate) fn all_schemas(&self) -> impl Iterator<Item = u32> {
        let own = self.entries.iter().filter_map(|(kind, payload)| schema_id(*kind, payload));
        let before = if self.entries.is_empty() { None } else { Some(self.schemas.keys().copied()) };
        before.into_iter().flatten().chain(own)
    }

    fn note(&mut self, head: Head, payload: &[u8], flushed: u64) {
        if head.after_sync {
            for (kind, payload) in self.entries.drain(..) {
                if let Some(id) = schema_id(kind, &payload) {
                    self.schemas.insert(id, payload);
                }
            }
        }
        if head.sequence > flushed {
            self.entries.push((head.kind, payload.to_vec()));
        } else if let Some(id) = schema_id(head.kind, payload) {
            self.schemas.insert(id, payload.to_vec());
        }
    }
}

/// One segment that was read, or passed over because files have all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedSegment {
    /// Its number.
    pub number: u64,
    /// Sequence of its first entry.
    pub first_sequence: u64,
    /// Sequence of its last entry; one less than the first when it has none.
    pub last_sequence: u64,
}

/// Bytes at the end of a segment that are no whole entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedTail {
    /// The segment's name.
    pub file: String,
    /// Where the tail begins.
    pub offset: u64,
    /// Bytes from there to the end of the file.
    pub size: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// A segment that never got its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsideSegment {
    /// Its number.
    pub number: u64,
    /// Its name after it was put aside.
    pub file: String,
    /// Bytes it has.
    pub size: u64,
}

struct Segment {
    number: u64,
    source: std::sync::Arc<dyn ReadAt>,
    size: u64,
    header: Header,
}

/// Reads the whole log and hands every entry after `flushed` to `visit`, with its sequence.
///
/// # Errors
/// [`ErrorKind::Corrupt`] for damage before the tail, what `visit` says, and what the operating system says.
pub fn replay(dir: &dyn Dir, flushed: u64, visit: &mut dyn FnMut(u64, Entry) -> Result<()>) -> Result<Replayed> {
    let mut replayed = Replayed { next_sequence: flushed + 1, next_number: 1, ..Replayed::default() };
    let segments = open_segments(dir, &mut replayed)?;
    for (index, segment) in segments.iter().enumerate() {
        let next = segments.get(index + 1);
        let path = Name::Log(segment.number).path();
        let last_sequence = match next {
            Some(next) if next.header.first_sequence <= flushed + 1 => next.header.first_sequence - 1,
            next => read_segment(segment, next, flushed, &mut replayed, visit).map_err(|error| error.in_file(&path))?,
        };
        let first_sequence = segment.header.first_sequence;
        replayed.segments.push(ReplayedSegment { number: segment.number, first_sequence, last_sequence });
    }
    Ok(replayed)
}

/// Opens what has a header and notes the rest.
fn open_segments(dir: &dyn Dir, replayed: &mut Replayed) -> Result<Vec<Segment>> {
    let io = |path: &str| {
        let path = path.to_owned();
        move |error: io::Error| Error::from(error).in_file(path)
    };
    let mut names: Vec<Name> = dir.list(FOLDER).map_err(io(FOLDER))?.iter().filter_map(|name| Name::parse(name)).collect();
    names.sort_unstable_by_key(|name| name.number());
    let mut segments = Vec::new();
    for name in names {
        let path = name.path();
        replayed.next_number = replayed.next_number.max(name.number().saturating_add(1));
        match name {
            Name::Log(number) => {
                let source = dir.open_read(&path).map_err(io(&path))?;
                let size = source.size().map_err(io(&path))?;
                match read_header(&*source, size, number).map_err(|error| error.in_file(&path))? {
                    Some(header) => segments.push(Segment { number, source, size, header }),
                    None => replayed.aside.push(AsideSegment { number, file: Name::Aside(number).path(), size }),
                }
            }
            Name::Spare(number) => replayed.spares.push(number),
            Name::Aside(_) => {}
        }
    }
    Ok(segments)
}

/// `None` for a file that never got a header: shorter than one, or nothing but zeros.
pub(crate) fn read_header(source: &dyn ReadAt, size: u64, number: u64) -> Result<Option<Header>> {
    let mut bytes = [0; HEADER_SIZE];
    if size < HEADER_SIZE as u64 {
        return Ok(None);
    }
    source.read_exact_at(&mut bytes, 0)?;
    if bytes == [0; HEADER_SIZE] && is_zero(source, size)? {
        return Ok(None);
    }
    let header = Header::parse(&bytes, number)?;
    if header.first_sequence == 0 || header.first_sequence > u64::MAX / 2 {
        let message = format!("first sequence {} makes no sense", header.first_sequence);
        return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(16)).in_place("segment header"));
    }
    Ok(Some(header))
}

fn is_zero(source: &dyn ReadAt, size: u64) -> Result<bool> {
    let mut bytes = vec![0; 64 << 10];
    let mut offset = 0;
    while offset < size {
        let count = bytes.len().min(usize::try_from(size - offset).unwrap_or(usize::MAX));
        source.read_exact_at(&mut bytes[..count], offset)?;
        if bytes[..count].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        offset += count as u64;
    }
    Ok(true)
}

/// Hands on the entries of one segment and returns its last sequence.
fn read_segment(
    segment: &Segment,
    next: Option<&Segment>,
    flushed: u64,
    replayed: &mut Replayed,
    visit: &mut dyn FnMut(u64, Entry) -> Result<()>,
) -> Result<u64> {
    let first = segment.header.first_sequence;
    if first > replayed.next_sequence {
        let message = format!("begins with entry {first}, but entry {} is nowhere", replayed.next_sequence);
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    let mut decoder = Decoder::default();
    let mut reader = SegmentReader::new(&*segment.source, segment.size, segment.header);
    let limit = next.map_or(u64::MAX, |next| next.header.first_sequence);
    let end = loop {
        if reader.sequence() >= limit {
            break reader.end(None);
        }
        let frame = match reader.next_frame()? {
            Ok(frame) => frame,
            Err(end) => break end,
        };
        let sequence = frame.head.sequence;
        if next.is_none() {
            replayed.tail.note(frame.head, frame.payload, flushed);
        }
        let entry = decoder.decode(frame.head.kind, frame.payload, frame.payload_at, sequence > flushed)?;
        match entry {
            Some(entry) if sequence > flushed => {
                visit(sequence, entry)?;
                replayed.entry_count += 1;
            }
            _ => replayed.skipped_count += 1,
        }
    };
    if next.is_some() {
        if end.sequence < limit {
            return Err(end.damage());
        }
    } else {
        if reader.is_damaged()? {
            return Err(end.damage());
        }
        note_tail(segment, &end, replayed);
    }
    replayed.next_sequence = replayed.next_sequence.max(end.sequence);
    Ok(end.sequence - 1)
}

fn note_tail(segment: &Segment, end: &End, replayed: &mut Replayed) {
    if let Some(reason) = &end.torn {
        replayed.dropped_tail = Some(DroppedTail {
            file: Name::Log(segment.number).path(),
            offset: end.offset,
            size: segment.size - end.offset,
            reason: reason.clone(),
        });
    }
}
