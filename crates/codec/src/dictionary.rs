//! DICTIONARY: each distinct text once, then which one each row has.
//!
//! ```text
//! svar  entries
//! entries x { svar length, bytes }      in the order in which they first appear
//! RLE segment of 32 bits                the 0-based entry of each row, see `rle`
//! ```
//!
//! Source of truth: `DictionaryEncoder` and `DictionaryDecoder` of apache/tsfile (Java). Fixtures `enc_dictionary_*`.
//!
//! A few bytes can ask for a huge column: the decoder keeps to a number of bytes that the caller names.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::{Error, ErrorKind, Grouped, Result, TextRef, TextValues};

use crate::error::corrupt;
use crate::plain::room_for_text;
use crate::rle;

/// A hash table of the distinct texts of one page, used again from page to page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    hasher: RandomState,
    /// Entry plus one, or 0 for a free place. A power of two, at most half full.
    places: Vec<u32>,
    /// Row of the first appearance of each entry.
    first_rows: Vec<u32>,
    /// Entry of each row.
    entries: Vec<i32>,
}

impl Distinct {
    fn collect(&mut self, text: TextRef<'_>) {
        self.first_rows.clear();
        self.entries.clear();
        self.places.clear();
        self.places.resize(64, 0);
        for (row, cell) in text.iter().enumerate() {
            let place = self.place(text, cell);
            let mut entry = self.places[place];
            if entry == 0 {
                self.first_rows.push(row as u32);
                entry = self.first_rows.len() as u32;
                self.places[place] = entry;
                if self.first_rows.len() * 2 > self.places.len() {
                    self.grow(text);
                }
            }
            self.entries.push(entry as i32 - 1);
        }
    }

    /// The place of `cell`, or the free one where it belongs.
    fn place(&self, text: TextRef<'_>, cell: &[u8]) -> usize {
        let mask = self.places.len() - 1;
        let mut place = self.hasher.hash_one(cell) as usize & mask;
        while let entry @ 1.. = self.places[place] {
            if text.get(self.first_rows[entry as usize - 1] as usize) == cell {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self, text: TextRef<'_>) {
        let size = self.places.len() * 4;
        self.places.clear();
        self.places.resize(size, 0);
        for entry in 0..self.first_rows.len() {
            let place = self.place(text, text.get(self.first_rows[entry] as usize));
            self.places[place] = entry as u32 + 1;
        }
    }
}

pub(crate) fn encode(text: TextRef<'_>, distinct: &mut Distinct, body: &mut Vec<u8>, out: &mut Vec<u8>) {
    distinct.collect(text);
    out.put_svar(distinct.first_rows.len() as i32);
    for row in &distinct.first_rows {
        out.put_vbin(text.get(*row as usize));
    }
    rle::encode(distinct.entries.iter().copied(), body, out);
}

/// Appends `count` texts of `bytes_max` bytes in all at most; `cells` and `entries` are scratch.
pub(crate) fn decode(
    bytes: &[u8],
    count: usize,
    bytes_max: u64,
    cells: &mut Vec<Range<usize>>,
    entries: &mut Vec<i32>,
    out: &mut TextValues,
) -> Result<()> {
    let at = read_entries(bytes, cells)?;
    entries.clear();
    rle::decode(bytes, at, count, entries)?;

    let mut total = 0_u64;
    for entry in &*entries {
        let Some(cell) = usize::try_from(*entry).ok().and_then(|entry| cells.get(entry)) else {
            return Err(corrupt(at, format!("entry {entry} of a dictionary of {}", cells.len())));
        };
        total += cell.len() as u64;
    }
    if total > bytes_max {
        return Err(Error::new(
            ErrorKind::LimitExceeded,
            format!("{} bytes of text are past the limit text_bytes_max = {}", Grouped(total), Grouped(bytes_max)),
        ));
    }
    room_for_text(out.as_text(), total as usize)?;
    let (offsets, text) = out.parts_mut();
    offsets.reserve(count);
    text.reserve(total as usize);
    for entry in entries {
        text.extend_from_slice(&bytes[cells[*entry as usize].clone()]);
        offsets.push(text.len() as u32);
    }
    Ok(())
}

/// Finds where each entry lies; gives the position after the last.
fn read_entries(bytes: &[u8], cells: &mut Vec<Range<usize>>) -> Result<usize> {
    let mut wire = WireReader::new(bytes);
    let stored = wire.svar()?;
    let Some(size) = usize::try_from(stored).ok().filter(|size| *size <= wire.remaining()) else {
        return Err(corrupt(0, format!("a dictionary of {stored} entries in {} bytes", wire.remaining())));
    };
    cells.clear();
    for _ in 0..size {
        let cell = wire.vbin()?;
        cells.push(wire.position() - cell.len()..wire.position());
    }
    Ok(wire.position())
}
