//! Time page, then value pages: [`PageReader`].

mod plain;

use std::ops::Range;

use tsloom_bitmap::{NullWords, PresenceView, presence, words};
use tsloom_block::Column;
use tsloom_codec::compress::CompressScratch;
use tsloom_codec::{DecodeOptions, DecodeScratch, RlbeFloats, decode, decode_times};
use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Limits, Result, TimeRange, Values};

use crate::{PageBody, ValuePage};

/// Decodes page sets, one after the other, and keeps its buffers between them.
///
/// [`open`](Self::open) decodes the time page and selects all of its rows; [`select_times`](Self::select_times),
/// [`skip`](Self::skip) and [`limit`](Self::limit) narrow that down to what is wanted, which always is one run of rows; then
/// [`append_times`](Self::append_times) and [`append_values`](Self::append_values) append exactly those rows.
#[derive(Debug, Default)]
pub struct PageReader {
    limits: Limits,
    scratch: DecodeScratch,
    compress_scratch: CompressScratch,
    /// A decompressed body, and behind it what is left of longer ones.
    body: Vec<u8>,
    /// Null words of a value page, one word for 64 rows of the open page set.
    nulls: Vec<u64>,
    times: Vec<i64>,
    selected: Range<usize>,
    /// Which page that is not aligned was opened last, and where its values begin.
    plain_values: (FileOffset, usize),
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
        self.times.clear();
        self.selected = 0..0;
        let outcome = self.decode_times(page, row_count, times);
        match outcome {
            Ok(()) => self.selected = 0..self.times.len(),
            Err(_) => self.times.clear(),
        }
        outcome.map_err(|error| error.at(page.offset).in_place("time page"))
    }

    fn decode_times(&mut self, page: &PageBody<'_>, row_count: u64, range: TimeRange) -> Result<()> {
        let row_count = self.limits.page_rows(row_count)?;
        let body = page.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?;
        decode_times(page.encoding, body.bytes, row_count, &mut self.times, &mut self.scratch)
            .map_err(|error| body.locate(0, error))?;
        if self.times.len() != row_count {
            return Err(wrong_count("times", self.times.len(), row_count));
        }
        self.nulls.resize(words::word_count(row_count), 0);
        self.check_times(range)
    }

    /// Decoded times rise, from one end of `range` to the other.
    fn check_times(&self, range: TimeRange) -> Result<()> {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return Ok(()) };
        if (first, last) != (range.start, range.end) {
            let message = format!("times go from {first} to {last}, the statistics say {} to {}", range.start, range.end);
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        // No early exit: the compiler makes this a handful of comparisons a vector.
        let rises = self.times.windows(2).fold(true, |rises, pair| rises & (pair[0] < pair[1]));
        if !rises {
            return Err(Error::new(ErrorKind::Corrupt, "times do not rise strictly"));
        }
        Ok(())
    }

    /// All times of the open page set.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// The rows that are selected.
    pub fn selected(&self) -> Range<usize> {
        self.selected.clone()
    }

    /// Number of rows that are selected.
    pub fn selected_count(&self) -> usize {
        self.selected.len()
    }

    /// Keeps selected only the rows whose time is in `range`.
    pub fn select_times(&mut self, range: TimeRange) {
        let selected = &self.times[self.selected.clone()];
        let (Some(&first), Some(&last)) = (selected.first(), selected.last()) else { return };
        if range.covers(TimeRange { start: first, end: last }) {
            return;
        }
        let start = selected.partition_point(|time| *time < range.start);
        let end = selected.partition_point(|time| *time <= range.end).max(start);
        self.selected = self.selected.start + start..self.selected.start + end;
    }

    /// Leaves out the first `count` selected rows; returns how many there were to leave out.
    pub fn skip(&mut self, count: u64) -> u64 {
        let skipped = usize::try_from(count).unwrap_or(usize::MAX).min(self.selected.len());
        self.selected.start += skipped;
        skipped as u64
    }

    /// Keeps selected at most the first `count` rows.
    pub fn limit(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.selected.len());
        self.selected.end = self.selected.start + count;
    }

    /// Appends the times of the selected rows.
    pub fn append_times(&self, into: &mut Vec<i64>) {
        into.extend_from_slice(&self.times[self.selected.clone()]);
    }

    /// Appends the selected rows of one value page; without a page, or with an empty one, they are null.
    ///
    /// # Errors
    /// A page of another row count or of a type that `into` does not hold, and bytes that do not decode. `into` is then as it was;
    /// the error names its column and the file offset.
    pub fn append_values(&mut self, page: Option<&ValuePage<'_>>, into: &mut Column) -> Result<()> {
        match page {
            Some(page) if page.body.uncompressed_size > 0 && !self.selected.is_empty() => self
                .decode_values(page, into)
                .map_err(|error| error.at(page.body.offset).in_place("value page").in_column(into.name())),
            _ => {
                into.push_nulls(self.selected.len());
                Ok(())
            }
        }
    }

    fn decode_values(&mut self, page: &ValuePage<'_>, into: &mut Column) -> Result<()> {
        let (body, row_count) = (&page.body, self.times.len());
        page.check_type(into)?;
        let expanded = body.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?;
        let too_short = |need: usize| {
            let message = format!("row count and presence take {need} bytes, the page has {}", expanded.bytes.len());
            expanded.locate(0, Error::new(ErrorKind::Truncated, message))
        };
        let (stored_count, rest) = expanded.bytes.split_first_chunk::<4>().ok_or_else(|| too_short(4))?;
        let stored_count = i32::from_be_bytes(*stored_count);
        if usize::try_from(stored_count) != Ok(row_count) {
            return Err(wrong_count("rows", stored_count, row_count));
        }
        let presence_size = presence::byte_count(row_count);
        let Some(presence) = PresenceView::new(rest, row_count) else { return Err(too_short(4 + presence_size)) };
        let (encoded_at, encoded) = (4 + presence_size, &rest[presence_size..]);

        let present_count = presence.present_count();
        let scratch = &mut self.scratch;
        let mut decode_all = |values: &mut Values| {
            decode(body.encoding, page.data_type, encoded, present_count, values, scratch)
                .map_err(|error| expanded.locate(encoded_at, error))
        };
        let whole = self.selected == (0..row_count);
        let appended = if present_count == 0 {
            into.push_nulls(self.selected.len());
            return Ok(());
        } else if whole && present_count == row_count {
            into.fill(row_count, decode_all)?
        } else {
            presence.copy_nulls_to(&mut self.nulls);
            let nulls = NullWords::new(&self.nulls, 0, row_count);
            if whole {
                into.fill_present(nulls, decode_all)?
            } else {
                let present_in = |rows: Range<usize>| rows.len() - nulls.slice(rows.start, rows.len()).null_count();
                let before = present_in(0..self.selected.start);
                let count = present_in(self.selected.clone());
                let wanted = nulls.slice(self.selected.start, self.selected.len());
                into.fill_present(wanted, |values| {
                    let from = values.len();
                    decode_all(values)?;
                    values.keep_range(from, before, count);
                    Ok::<(), Error>(())
                })?
            }
        };
        appended.expect("the codec appends as many values as it was asked for");
        Ok(())
    }
}

#[cold]
fn wrong_count(what: &str, found: impl TryInto<u64> + Copy + std::fmt::Display, expected: usize) -> Error {
    let found = found.try_into().map_or_else(|_| found.to_string(), |count| Grouped(count).to_string());
    let message = format!("{found} {what}, the statistics of the time page say {}", Grouped(expected as u64));
    Error::new(ErrorKind::Corrupt, message)
}

#[cfg(test)]
mod tests;
