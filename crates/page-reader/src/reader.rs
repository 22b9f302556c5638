//! Time page, then value pages: [`PageReader`].

mod plain;

use std::ops::Range;

use tsloom_bitmap::{NullWords, PresenceView, presence, words};
use tsloom_block::Column;
use tsloom_codec::compress::CompressScratch;
use tsloom_codec::{DecodeOptions, DecodeScratch, RlbeFloats, decode_range, decode_start, decode_times, start_size_max};
use tsloom_encoding::bulk::times_rise;
use tsloom_model::{DataType, Encoding, Error, ErrorKind, FileOffset, Grouped, Limits, Result, TimeRange, TimeRanges, Values};

use crate::body::{Expanded, Place};
use crate::selection::Selection;
use crate::{PageBody, ValuePage};

/// Decodes page sets, one after the other, and keeps its buffers between them.
///
/// [`open`](Self::open) decodes the time page and selects all of its rows; [`select_times`](Self::select_times),
/// [`leave_out`](Self::leave_out), [`skip`](Self::skip), [`limit`](Self::limit) and [`retain`](Self::retain) narrow that down to
/// what is wanted; then [`append_times`](Self::append_times) and [`append_values`](Self::append_values) append exactly those rows.
/// [`open_plain`](Self::open_plain) and [`append_plain`](Self::append_plain) do it for a page that holds times and values.
/// [`read`](Self::read) does all of it for a whole page set.
#[derive(Debug, Default)]
pub struct PageReader {
    limits: Limits,
    scratch: DecodeScratch,
    compress_scratch: CompressScratch,
    /// A decompressed body, and behind it what is left of longer ones.
    body: Vec<u8>,
    times: Vec<i64>,
    selection: Selection,
    /// Which page that is not aligned was opened last, and where its values begin.
    plain_values: (FileOffset, usize),
    bits: Bits,
    /// What [`read`](Self::read) keeps of the rows it selected first.
    pub(crate) kept: Selection,
    pub(crate) kept_bits: Vec<u64>,
}

/// Bits about rows, in buffers that are used again. Of all rows of the page set: which are null in the page, and which are null or
/// deleted. Of present values: which are kept. Of selected rows: which are null.
#[derive(Debug, Default)]
struct Bits {
    nulls: Vec<u64>,
    gone: Vec<u64>,
    packed_kept: Vec<u64>,
    selected_nulls: Vec<u64>,
}

/// The values of one column as a page has them.
#[derive(Clone, Copy)]
struct Encoded<'a> {
    bytes: &'a [u8],
    /// Position of `bytes` in the page.
    at: usize,
    place: Place,
    encoding: Encoding,
    data_type: DataType,
    /// `None`: every row has a value.
    presence: Option<PresenceView<'a>>,
    /// The bytes end somewhere behind the last value that is wanted.
    is_start: bool,
}

impl PageReader {
    /// A reader that refuses pages past these limits.
    pub fn new(limits: Limits) -> Self {
        Self::with_rlbe_floats(limits, RlbeFloats::default())
    }

    /// The same, with columns of floats in RLBE read this way.
    pub fn with_rlbe_floats(limits: Limits, rlbe_floats: RlbeFloats) -> Self {
        let options = DecodeOptions { text_bytes_max: limits.page_bytes_max, rlbe_floats };
        Self { limits, scratch: DecodeScratch::with_options(options), ..Self::default() }
    }

    /// Decodes the time page of a page set. `row_count` and `times` are those of its statistics, which stand in the page header or,
    /// when the chunk has one page, in the chunk's metadata.
    ///
    /// # Errors
    /// Bytes that are no time page, another number of times than `row_count`, a first or last time other than `times`, and times
    /// that do not rise. Offsets are those of the file.
    pub fn open(&mut self, page: &PageBody<'_>, row_count: u64, times: TimeRange) -> Result<()> {
        self.close();
        let outcome = self.decode_time_page(page, row_count);
        let outcome = outcome.and_then(|()| self.check_times(times));
        self.opened(outcome).map_err(|error| error.at(page.offset).in_place("time page"))
    }

    fn close(&mut self) {
        self.times.clear();
        self.selection.select_all(0);
    }

    fn opened(&mut self, outcome: Result<()>) -> Result<()> {
        match &outcome {
            Ok(()) => self.selection.select_all(self.times.len()),
            Err(_) => self.close(),
        }
        outcome
    }

    fn decode_time_page(&mut self, page: &PageBody<'_>, row_count: u64) -> Result<()> {
        let row_count = self.limits.page_rows(row_count)?;
        let Expanded { bytes, place } = page.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?;
        decode_times(page.encoding, bytes, row_count, &mut self.times, &mut self.scratch)
            .map_err(|error| place.locate(0, error))?;
        check_count(self.times.len(), row_count)
    }

    fn check_times(&self, range: TimeRange) -> Result<()> {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return Ok(()) };
        if (first, last) != (range.start, range.end) {
            let message = format!("times go from {first} to {last}, the statistics say {} to {}", range.start, range.end);
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        if !times_rise(&self.times) {
            return Err(Error::new(ErrorKind::Corrupt, "times do not rise strictly"));
        }
        Ok(())
    }

    /// All times of the open page set.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Number of rows that are selected.
    pub fn selected_count(&self) -> usize {
        self.selection.count()
    }

    /// Keeps selected only the rows whose time is in `range`.
    pub fn select_times(&mut self, range: TimeRange) {
        let selected = &self.times[self.selection.rows()];
        let (Some(&first), Some(&last)) = (selected.first(), selected.last()) else { return };
        if !range.covers(TimeRange { start: first, end: last }) {
            self.selection.narrow(rows_in(&self.times, range));
        }
    }

    /// Leaves out the rows whose time is in one of `ranges`: rows that were deleted.
    pub fn leave_out(&mut self, ranges: &TimeRanges) {
        for range in ranges.within(span_of(&self.times)) {
            self.selection.remove(rows_in(&self.times, *range));
        }
    }

    /// Leaves out the first `count` selected rows; returns how many there were to leave out.
    pub fn skip(&mut self, count: u64) -> u64 {
        self.selection.skip(count)
    }

    /// Keeps selected at most the first `count` rows.
    pub fn limit(&mut self, count: u64) {
        self.selection.limit(count);
    }

    /// Keeps selected those of the selected rows whose bit is set: bit i, low bit first, is the i-th of them.
    ///
    /// # Panics
    /// When there are fewer bits than selected rows.
    pub fn retain(&mut self, kept: &[u64]) {
        self.selection.retain(kept);
    }

    /// Appends the times of the selected rows.
    pub fn append_times(&self, into: &mut Vec<i64>) {
        for rows in self.selection.runs() {
            into.extend_from_slice(&self.times[rows]);
        }
    }

    /// Appends the selected rows of one value page, null where the column was deleted; without a page, or with an empty one, all of
    /// them are null.
    ///
    /// # Errors
    /// A page of another row count or of a type that `into` does not hold, and bytes that do not decode. `into` is then as it was;
    /// the error names its column and the file offset.
    pub fn append_values(&mut self, page: Option<&ValuePage<'_>>, deleted: &TimeRanges, into: &mut Column) -> Result<()> {
        match page {
            Some(page) if page.body.uncompressed_size > 0 && self.selection.count() > 0 => self
                .append_page(page, deleted, into)
                .map_err(|error| error.at(page.body.offset).in_place("value page").in_column(into.name())),
            _ => {
                into.push_nulls(self.selection.count());
                Ok(())
            }
        }
    }

    fn append_page(&mut self, page: &ValuePage<'_>, deleted: &TimeRanges, into: &mut Column) -> Result<()> {
        page.check_type(into)?;
        let start = match self.start_size(page) {
            Some(size) => page.body.expand_start(size, &mut self.body, &self.limits)?,
            None => None,
        };
        let is_start = start.is_some();
        let expanded = match start {
            Some(start) => start,
            None => page.body.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?,
        };
        let values = Encoded::parse(page, expanded, is_start, self.times.len())?;
        let (scratch, bits) = (&mut self.scratch, &mut self.bits);
        Placing { times: &self.times, selection: &self.selection, scratch, bits }.place(&values, deleted, into)
    }

    /// How many bytes of a body have the values of all rows up to the last selected one, if that is known and not most of the body.
    #[inline]
    fn start_size(&self, page: &ValuePage<'_>) -> Option<usize> {
        let (row_count, end) = (self.times.len(), self.selection.rows().end);
        if end > row_count / 2 {
            return None;
        }
        let size = start_size_max(page.body.encoding, page.data_type, end)?;
        size.checked_add(4 + presence::byte_count(row_count))
    }

    /// ORs into `found`, a bit for each selected row, which of them have a value in this page that was not deleted. Nothing is
    /// decoded for it.
    pub(crate) fn find_values(&mut self, page: &ValuePage<'_>, deleted: &TimeRanges, found: &mut [u64]) -> Result<()> {
        let expanded = page.body.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?;
        let values = Encoded::parse(page, expanded, false, self.times.len())?;
        let rows = self.selection.rows();
        self.bits.gone(&values, deleted, &self.times);
        let Bits { gone, selected_nulls: there, .. } = &mut self.bits;
        let gone = NullWords::new(gone, rows.start, rows.len());
        let count = words::extract_to(|index| !gone.word(index), |index| self.selection.word(index), rows.len(), there);
        words::or_at(found, 0, there, 0, count);
        Ok(())
    }
}

impl<'a> Encoded<'a> {
    /// Finds presence and values in the body of a value page of an aligned chunk.
    #[inline]
    fn parse(page: &ValuePage<'_>, expanded: Expanded<'a>, is_start: bool, row_count: usize) -> Result<Self> {
        let Expanded { bytes, place } = expanded;
        let too_short = |need: usize| {
            let message = format!("row count and presence take {need} bytes, the page has {}", bytes.len());
            place.locate(0, Error::new(ErrorKind::Truncated, message))
        };
        let (stored_count, rest) = bytes.split_first_chunk::<4>().ok_or_else(|| too_short(4))?;
        let stored_count = i32::from_be_bytes(*stored_count);
        if usize::try_from(stored_count) != Ok(row_count) {
            return Err(wrong_count("rows", stored_count, row_count));
        }
        let presence_size = presence::byte_count(row_count);
        let presence = PresenceView::new(rest, row_count).ok_or_else(|| too_short(4 + presence_size))?;
        Ok(Self {
            bytes: &rest[presence_size..],
            at: 4 + presence_size,
            place,
            encoding: page.body.encoding,
            data_type: page.data_type,
            presence: Some(presence),
            is_start,
        })
    }

    /// True when every row has a value.
    #[inline]
    fn is_full(&self) -> bool {
        self.presence.is_none_or(|presence| presence.is_full())
    }

    fn present_count(&self, row_count: usize) -> usize {
        self.presence.map_or(row_count, |presence| presence.present_count())
    }

    /// Appends the `wanted` of `count` values.
    fn decode(&self, count: usize, wanted: Range<usize>, into: &mut Values, scratch: &mut DecodeScratch) -> Result<()> {
        let decoded = match self.is_start {
            true => decode_start(self.encoding, self.data_type, self.bytes, count, wanted, into),
            false => decode_range(self.encoding, self.data_type, self.bytes, count, wanted, into, scratch),
        };
        decoded.map_err(|error| self.place.locate(self.at, error))
    }
}

impl Bits {
    /// Null bits of all rows of the page.
    fn nulls(&mut self, values: &Encoded<'_>, row_count: usize) {
        self.nulls.clear();
        self.nulls.resize(words::word_count(row_count), 0);
        if let Some(presence) = values.presence {
            presence.copy_nulls_to(&mut self.nulls);
        }
    }

    /// Rows that are null in the page or deleted.
    fn gone(&mut self, values: &Encoded<'_>, deleted: &TimeRanges, times: &[i64]) {
        self.nulls(values, times.len());
        self.gone.clear();
        self.gone.extend_from_slice(&self.nulls);
        for range in deleted.within(span_of(times)) {
            let rows = rows_in(times, *range);
            words::set_range(&mut self.gone, rows.start, rows.len());
        }
    }
}

/// What it takes to bring values of a page to the selected rows.
struct Placing<'a> {
    times: &'a [i64],
    selection: &'a Selection,
    scratch: &'a mut DecodeScratch,
    bits: &'a mut Bits,
}

impl Placing<'_> {
    fn place(self, values: &Encoded<'_>, deleted: &TimeRanges, into: &mut Column) -> Result<()> {
        let (row_count, rows) = (self.times.len(), self.selection.rows());
        let is_plain = self.selection.is_run() && !touches(deleted, &self.times[rows.clone()]);
        let appended = if is_plain && values.is_full() {
            let scratch = self.scratch;
            into.fill(rows.len(), |out| values.decode(row_count, rows, out, scratch))?
        } else {
            let present_count = values.present_count(row_count);
            if present_count == 0 {
                into.push_nulls(self.selection.count());
                return Ok(());
            } else if !is_plain {
                return self.place_some(values, present_count, deleted, into);
            }
            self.bits.nulls(values, row_count);
            let nulls = NullWords::new(&self.bits.nulls, 0, row_count);
            let wanted = present_in(nulls, &rows);
            let scratch = self.scratch;
            let decode = |out: &mut Values| values.decode(present_count, wanted, out, scratch);
            into.fill_present(nulls.slice(rows.start, rows.len()), decode)?
        };
        appended.expect("the codec appends as many values as it was asked for");
        Ok(())
    }

    /// The general case: present values are left out, because their rows are, or because they were deleted.
    fn place_some(self, values: &Encoded<'_>, present_count: usize, deleted: &TimeRanges, into: &mut Column) -> Result<()> {
        let (row_count, rows) = (self.times.len(), self.selection.rows());
        self.bits.gone(values, deleted, self.times);
        let Bits { nulls, gone, packed_kept, selected_nulls } = self.bits;
        let nulls = NullWords::new(nulls, 0, row_count);
        let gone = NullWords::new(gone, rows.start, rows.len());
        let present = nulls.slice(rows.start, rows.len());
        let selected = |index| self.selection.word(index);
        words::extract_to(|index| selected(index) & !gone.word(index), |index| !present.word(index), rows.len(), packed_kept);
        let selected_count = words::extract_to(|index| gone.word(index), selected, rows.len(), selected_nulls);
        if words::count_ones(selected_nulls, 0, selected_count) == selected_count {
            into.push_nulls(selected_count);
            return Ok(());
        }
        let (wanted, scratch) = (present_in(nulls, &rows), self.scratch);
        let appended = into.fill_present(NullWords::new(selected_nulls, 0, selected_count), |out| {
            let from = out.len();
            values.decode(present_count, wanted, out, scratch)?;
            out.keep_marked(from, packed_kept);
            Ok::<(), Error>(())
        })?;
        appended.expect("one kept value for each selected row that is not null");
        Ok(())
    }
}

/// Which of the present values are those of `rows`.
fn present_in(nulls: NullWords<'_>, rows: &Range<usize>) -> Range<usize> {
    let present = |start: usize, count: usize| count - nulls.slice(start, count).null_count();
    let before = present(0, rows.start);
    before..before + present(rows.start, rows.len())
}

/// True when one of the ranges may have one of the times.
#[inline]
fn touches(ranges: &TimeRanges, times: &[i64]) -> bool {
    !ranges.is_empty() && !ranges.within(span_of(times)).is_empty()
}

/// First and last time.
fn span_of(times: &[i64]) -> TimeRange {
    match (times.first(), times.last()) {
        (Some(&start), Some(&end)) => TimeRange { start, end },
        _ => TimeRange::EMPTY,
    }
}

/// The rows whose time is in `range`.
fn rows_in(times: &[i64], range: TimeRange) -> Range<usize> {
    let start = times.partition_point(|time| *time < range.start);
    start..times.partition_point(|time| *time <= range.end).max(start)
}

fn check_count(found: usize, row_count: usize) -> Result<()> {
    if found == row_count { Ok(()) } else { Err(wrong_count("times", found, row_count)) }
}

#[cold]
fn wrong_count(what: &str, found: impl TryInto<u64> + Copy + std::fmt::Display, expected: usize) -> Error {
    let found = found.try_into().map_or_else(|_| found.to_string(), |count| Grouped(count).to_string());
    let message = format!("{found} {what}, the statistics of the time page say {}", Grouped(expected as u64));
    Error::new(ErrorKind::Corrupt, message)
}

#[cfg(test)]
mod tests;
