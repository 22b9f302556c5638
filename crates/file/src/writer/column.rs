//! The buffers of one column: the open page, and the finished pages of the chunk.
//!
//! ```text
//! open page   present values, null bits (made at the first null)
//! chunk       page headers and bodies as they will be in the file; every page header has statistics, also that of the
//!             first page, which are left out when the chunk turns out to have one page only
//! ```

use std::io::Write;
use std::ops::Range;

use bytes::BufMut;
use tsloom_bitmap::{NullWords, presence, words};
use tsloom_codec::compress::{CompressScratch, compress};
use tsloom_encoding::{ToWire, WirePut, uvar_size};
use tsloom_format::{ChunkHeader, ChunkKind, SeriesType, Statistics};
use tsloom_model::{ColumnView, Compression, Encoding, Error, ErrorKind, Result, Values, ValuesRef};

use super::table::Field;
use super::{Scratch, Sink};

/// The pages of a chunk.
#[derive(Debug)]
pub(super) struct ChunkBuffer {
    bytes: Vec<u8>,
    page_count: u32,
    /// Where the statistics of the first page are; empty when that page is empty.
    first_statistics: Range<usize>,
    /// Of all pages.
    pub(super) statistics: Statistics,
    /// Of the page that is being finished.
    pub(super) page_statistics: Statistics,
}

impl ChunkBuffer {
    pub(super) fn new(series_type: SeriesType) -> Self {
        Self {
            bytes: Vec::new(),
            page_count: 0,
            first_statistics: 0..0,
            statistics: Statistics::new(series_type),
            page_statistics: Statistics::new(series_type),
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.page_count = 0;
        self.first_statistics = 0..0;
        self.statistics.clear();
    }

    /// Bytes of all pages so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn page_count(&self) -> u32 {
        self.page_count
    }

    /// Adds pages in which every row is null.
    pub(super) fn push_empty_pages(&mut self, count: u32) {
        self.bytes.resize(self.bytes.len() + count as usize, 0);
        self.page_count += count;
    }

    /// Adds the page whose body and statistics are ready. The body is compressed in place, behind its header.
    pub(super) fn push_page(&mut self, body: &[u8], compression: Compression, scratch: &mut CompressScratch) -> Result<()> {
        let uncompressed_size = page_size(body.len())?;
        self.bytes.put_uvar(uncompressed_size);
        // Room for the size that is not known yet; what is compressed is rarely larger, and then the rest moves.
        let size_at = self.bytes.len();
        let reserved = uvar_size(uncompressed_size);
        self.bytes.resize(size_at + reserved, 0);
        self.page_statistics.write_to(&mut self.bytes);
        let body_at = self.bytes.len();
        compress(compression, body, &mut self.bytes, scratch)?;
        let compressed_size = page_size(self.bytes.len() - body_at)?;

        let needed = uvar_size(compressed_size);
        let rest = size_at + reserved..self.bytes.len();
        if needed != reserved {
            self.bytes.resize(self.bytes.len() + needed.saturating_sub(reserved), 0);
            self.bytes.copy_within(rest.clone(), size_at + needed);
            self.bytes.truncate(size_at + needed + rest.len());
        }
        (&mut self.bytes[size_at..size_at + needed]).put_uvar(compressed_size);
        if self.page_count == 0 {
            let start = size_at + needed;
            self.first_statistics = start..start + self.page_statistics.wire_size();
        }
        self.page_count += 1;
        self.statistics.merge(&self.page_statistics);
        Ok(())
    }

    /// Writes the chunk and returns the offset of its marker.
    pub(super) fn write<W: Write>(&self, header: ChunkParts<'_>, sink: &mut Sink<W>) -> Result<u64> {
        let offset = sink.position;
        let one_page = self.page_count <= 1;
        let skipped = if one_page { self.first_statistics.clone() } else { 0..0 };
        let data_size = page_size(self.bytes.len() - skipped.len())?;
        let header = ChunkHeader {
            kind: header.kind,
            one_page,
            measurement: header.measurement,
            data_size,
            series_type: self.statistics.series_type(),
            compression: header.compression,
            encoding: header.encoding,
        };
        sink.write(&header.to_vec())?;
        sink.write(&self.bytes[..skipped.start])?;
        sink.write(&self.bytes[skipped.end..])?;
        Ok(offset)
    }
}

/// What a chunk header says besides what its pages do.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkParts<'a> {
    pub(super) kind: ChunkKind,
    pub(super) measurement: &'a str,
    pub(super) compression: Compression,
    pub(super) encoding: Encoding,
}

/// Sizes in the file are 32 bits wide, and other readers take them as signed.
fn page_size(size: usize) -> Result<u32> {
    if size > i32::MAX as usize {
        let message = format!("{size} bytes in one page or chunk are more than the format can say");
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    Ok(size as u32)
}

/// One column of an open chunk group.
#[derive(Debug)]
pub(super) struct ColumnBuffer {
    /// False while the group has no value of this column; everything else is then empty.
    pub(super) is_used: bool,
    /// The column's encoding refused a page of the chunk: all its pages are PLAIN.
    is_plain: bool,
    /// The present values of the open page.
    values: Values,
    /// Null bits of the open page's rows; they mean something when `has_nulls`.
    nulls: Vec<u64>,
    has_nulls: bool,
    /// Rows of the open page that values and null bits speak of; those after it have no value.
    row_count: usize,
    pub(super) chunk: ChunkBuffer,
}

impl ColumnBuffer {
    pub(super) fn new(field: &Field) -> Self {
        Self {
            is_used: false,
            is_plain: false,
            values: Values::new(field.data_type.physical()),
            nulls: Vec::new(),
            has_nulls: false,
            row_count: 0,
            chunk: ChunkBuffer::new(field.series_type()),
        }
    }

    pub(super) fn clear(&mut self) {
        self.is_used = false;
        self.is_plain = false;
        self.clear_page();
        self.chunk.clear();
    }

    /// Forgets the finished pages and keeps the open one.
    pub(super) fn clear_chunk(&mut self) {
        self.chunk.clear();
        self.is_plain = false;
        self.is_used = !self.values.is_empty();
        if !self.is_used {
            self.clear_page();
        }
    }

    fn clear_page(&mut self) {
        self.values.clear();
        self.has_nulls = false;
        self.row_count = 0;
    }

    /// Bytes of the values of the open page.
    pub(super) fn value_byte_count(&self) -> usize {
        value_byte_count(self.values.as_values())
    }

    /// Adds rows that follow the first `row_start` rows of the page.
    pub(super) fn append(&mut self, row_start: usize, view: ColumnView<'_>) {
        self.pad_to(row_start);
        let row_end = row_start + view.row_count();
        match view.nulls().filter(NullWords::any_null) {
            None => {
                extend(&mut self.values, view.values());
                if self.has_nulls {
                    self.nulls.resize(words::word_count(row_end), 0);
                }
            }
            Some(nulls) => {
                self.begin_nulls(row_end);
                nulls.copy_to(&mut self.nulls, row_start);
                for run in nulls.runs().filter(|run| !run.set) {
                    extend(&mut self.values, view.values().slice(run.start, run.count));
                }
            }
        }
        self.row_count = row_end;
    }

    /// Marks the rows up to `row_end` that nothing was said about as null.
    fn pad_to(&mut self, row_end: usize) {
        if self.row_count < row_end {
            self.begin_nulls(row_end);
            words::set_range(&mut self.nulls, self.row_count, row_end - self.row_count);
            self.row_count = row_end;
        }
    }

    /// Has null bits for `row_end` rows; new ones are zero.
    fn begin_nulls(&mut self, row_end: usize) {
        if !self.has_nulls {
            self.nulls.clear();
            self.has_nulls = true;
        }
        self.nulls.resize(words::word_count(row_end), 0);
    }

    /// Gathers the statistics of the open page, which has the rows of `times`.
    pub(super) fn prepare_page(&mut self, times: &[i64]) {
        self.pad_to(times.len());
        self.chunk.page_statistics.clear();
        if !self.values.is_empty() {
            let nulls = self.has_nulls.then(|| NullWords::new(&self.nulls, 0, times.len()));
            let (first, last) = present_ends(nulls, times.len());
            self.chunk.page_statistics.add_values(times[first], times[last], self.values.as_values());
        }
    }

    /// The encoding of the chunk.
    pub(super) fn encoding(&self, field: &Field) -> Encoding {
        if self.is_plain { Encoding::Plain } else { field.encoding }
    }

    /// True when the open page must be PLAIN and the chunk has pages that are not.
    pub(super) fn needs_new_chunk(&self, field: &Field, scratch: &mut Scratch) -> bool {
        let Scratch { body, encode, .. } = scratch;
        body.clear();
        field.may_refuse_values()
            && !self.is_plain
            && self.chunk.statistics.count() > 0
            && tsloom_codec::encode(field.encoding, self.values.as_values(), field.data_type, field.options, body, encode)
                .is_err()
    }

    /// Ends the open page, which was prepared and has so many rows. Its chunk is PLAIN from here on when the column's encoding
    /// refuses the values.
    pub(super) fn encode_page(&mut self, row_count: usize, field: &Field, scratch: &mut Scratch) -> Result<()> {
        if self.values.is_empty() {
            self.chunk.push_empty_pages(1);
            self.clear_page();
            return Ok(());
        }
        let nulls = self.has_nulls.then(|| NullWords::new(&self.nulls, 0, row_count));
        let Scratch { body, encode, compress } = scratch;
        body.clear();
        body.put_i32(i32::try_from(row_count).expect("page_rows_max is at most i32::MAX"));
        presence::append_from_nulls(nulls, row_count, body);
        let values = self.values.as_values();
        let encoded = tsloom_codec::encode(self.encoding(field), values, field.data_type, field.options, body, encode);
        if encoded.is_err() && field.may_refuse_values() {
            self.is_plain = true;
            tsloom_codec::encode(Encoding::Plain, values, field.data_type, field.options, body, encode)?;
        } else {
            encoded?;
        }
        self.chunk.push_page(body, field.compression, compress)?;
        self.clear_page();
        Ok(())
    }
}

fn extend(values: &mut Values, more: ValuesRef<'_>) {
    assert!(values.extend(more), "the type of a column was checked before its rows were taken");
}

/// Bytes of values in memory; text with its offsets.
pub(super) fn value_byte_count(values: ValuesRef<'_>) -> usize {
    match values {
        ValuesRef::Text(text) => text.byte_count() + 4 * text.len(),
        other => other.len() * other.physical().width().unwrap_or(0),
    }
}

/// The first and the last row with a value; there is one.
fn present_ends(nulls: Option<NullWords<'_>>, row_count: usize) -> (usize, usize) {
    let Some(nulls) = nulls else {
        return (0, row_count - 1);
    };
    let present = |index: usize| !nulls.word(index) & words::low_mask(row_count - index * 64);
    let first = (0..nulls.word_count()).find(|index| present(*index) != 0);
    let last = (0..nulls.word_count()).rfind(|index| present(*index) != 0);
    let (first, last) = first.zip(last).expect("a page with values has a row with a value");
    (first * 64 + present(first).trailing_zeros() as usize, last * 64 + 63 - present(last).leading_zeros() as usize)
}
