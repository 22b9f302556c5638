//! The series of one device.

use std::ops::Range;

use tsloom_encoding::WireReader;
use tsloom_format::{ChunkMeta, ChunkMetas, HEAD_SIZE, SeriesLayout, SeriesType, StatisticsRef};
use tsloom_model::{DataType, Error, ErrorKind, FileOffset, Grouped, Result};

/// The metadata of all series of one device, ascending by name, so the time column of an aligned device comes first.
///
/// It keeps its bytes and is meant to be filled again and again: once it has grown, nothing is allocated.
#[derive(Clone, Debug, Default)]
pub struct DeviceSeries {
    /// The records as they are in the file.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    sorted: bool,
}

/// Where the parts of a record lie in `bytes`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    name: (u32, u32),
    statistics: (u32, u32),
    chunk_list: (u32, u32),
    chunk_count: u32,
    series_type: SeriesType,
    many_chunks: bool,
}

impl DeviceSeries {
    /// Number of series, the time column of an aligned device included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when the device has no series.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// One series.
    ///
    /// # Panics
    /// When `index >= len()`, as slices do.
    pub fn get(&self, index: usize) -> SeriesRef<'_> {
        SeriesRef { bytes: &self.bytes, entry: &self.entries[index] }
    }

    /// All series in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SeriesRef<'_>> {
        self.entries.iter().map(|entry| SeriesRef { bytes: &self.bytes, entry })
    }

    /// The time column, which is series 0 of an aligned device; `None` when the device is not aligned.
    pub fn time(&self) -> Option<SeriesRef<'_>> {
        let first = SeriesRef { bytes: &self.bytes, entry: self.entries.first()? };
        (first.series_type() == SeriesType::Time && first.name_bytes().is_empty()).then_some(first)
    }

    /// True when the columns share one time column.
    pub fn is_aligned(&self) -> bool {
        self.time().is_some()
    }

    /// Names and types of the columns, in order, without the time column.
    pub fn columns(&self) -> impl Iterator<Item = (&str, DataType)> {
        self.iter().filter_map(|series| Some((series.name(), series.series_type().data_type()?)))
    }

    /// The position of the series of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        let name = name.as_bytes();
        if self.sorted {
            let found = self.entries.binary_search_by(|entry| part(&self.bytes, entry.name).cmp(name));
            return found.ok();
        }
        self.iter().position(|series| series.name_bytes() == name)
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.sorted = true;
    }

    /// Adds a run of records that is at `offset` in the file. Chunks must lie before `body_end`.
    pub(super) fn add_run(&mut self, run: &[u8], offset: u64, body_end: u64) -> Result<()> {
        let base = self.bytes.len();
        if u32::try_from(base + run.len()).is_err() {
            let message = format!("the metadata of one device has more than {} bytes", Grouped(u32::MAX.into()));
            return Err(Error::new(ErrorKind::LimitExceeded, message).at(FileOffset::new(offset)));
        }
        self.bytes.extend_from_slice(run);
        let mut wire = WireReader::with_base(run, offset as usize);
        while !wire.is_empty() {
            let layout = SeriesLayout::parse(&mut wire)?;
            let place = |range: &Range<usize>| {
                let at = |position: usize| (position - offset as usize + base) as u32;
                (at(range.start), at(range.end))
            };
            let mut entry = Entry {
                name: place(&layout.measurement),
                statistics: place(&layout.statistics),
                chunk_list: place(&layout.chunk_list),
                chunk_count: 0,
                series_type: layout.series_type,
                many_chunks: layout.many_chunks,
            };
            entry.chunk_count = match part(&self.bytes, entry.chunk_list).first_chunk::<8>() {
                // Nearly always there is one chunk, and its list is the offset alone.
                Some(only) if !entry.many_chunks => {
                    check_offset(u64::from_be_bytes(*only), layout.chunk_list.start, body_end)?;
                    1
                }
                _ => check_chunks(SeriesRef { bytes: &self.bytes, entry: &entry }, layout.chunk_list.start, body_end)?,
            };
            if let Some(last) = self.entries.last() {
                self.sorted &= part(&self.bytes, last.name) < part(&self.bytes, entry.name);
            }
            self.entries.push(entry);
        }
        Ok(())
    }
}

/// Number of chunks of a series, all of which were checked. `at` is the offset of the list.
fn check_chunks(series: SeriesRef<'_>, at: usize, body_end: u64) -> Result<u32> {
    let mut count = 0;
    for chunk in series.chunk_metas(at) {
        check_offset(chunk?.offset, at, body_end)?;
        count += 1;
    }
    Ok(count)
}

fn check_offset(offset: u64, at: usize, body_end: u64) -> Result<()> {
    if (HEAD_SIZE as u64..body_end).contains(&offset) {
        return Ok(());
    }
    let message = format!("chunk offset {} is outside the body", Grouped(offset));
    Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at as u64)))
}

fn part(bytes: &[u8], (start, end): (u32, u32)) -> &[u8] {
    &bytes[start as usize..end as usize]
}

/// One series of a [`DeviceSeries`].
#[derive(Clone, Copy, Debug)]
pub struct SeriesRef<'a> {
    bytes: &'a [u8],
    entry: &'a Entry,
}

impl<'a> SeriesRef<'a> {
    /// The column's name; empty for the time column of an aligned device.
    pub fn name(&self) -> &'a str {
        std::str::from_utf8(self.name_bytes()).expect("the name was checked when it was read")
    }

    /// The bytes of the name: comparing them needs no check for UTF-8.
    pub fn name_bytes(&self) -> &'a [u8] {
        part(self.bytes, self.entry.name)
    }

    /// What the series holds.
    pub fn series_type(&self) -> SeriesType {
        self.entry.series_type
    }

    /// Statistics of all chunks together.
    pub fn statistics(&self) -> StatisticsRef<'a> {
        let mut wire = WireReader::new(part(self.bytes, self.entry.statistics));
        StatisticsRef::read(&mut wire, self.entry.series_type).expect("the statistics were checked when they were read")
    }

    /// Number of chunks, at least one in a sound file.
    pub fn chunk_count(&self) -> usize {
        self.entry.chunk_count as usize
    }

    /// The chunks in the order of the list, which is ascending by offset in files of all known writers.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkMeta<'a>> + use<'a> {
        // No error is left: the list was read to its end when it came.
        self.chunk_metas(0).map_while(Result::ok)
    }

    fn chunk_metas(&self, at: usize) -> ChunkMetas<'a> {
        let list = WireReader::with_base(part(self.bytes, self.entry.chunk_list), at);
        ChunkMetas::new(list, self.statistics(), self.entry.many_chunks)
    }
}
