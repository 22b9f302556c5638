//! The buffers of one column: the open page, and the finished pages of the chunk.
//!
//! ```text
//! open page   present values, null bits (made at the first null)
//! chunk       the finished pages, as they will be in the file
//! rival       the same pages in another encoding, when the encoding is chosen by size
//! ```

use bytes::BufMut;
use tsloom_bitmap::{NullWords, presence, words};
use tsloom_model::{ColumnView, Encoding, Result, Values, ValuesRef};

use super::Scratch;
use super::auto::Contest;
use super::chunk::{ChunkBuffer, Pages};
use super::table::Field;

/// One column of an open chunk group.
#[derive(Debug)]
pub(super) struct ColumnBuffer {
    /// False while the group has no value of this column; everything else is then empty.
    pub(super) is_used: bool,
    /// The column's encoding refused a page of the chunk: all its pages are PLAIN.
    is_plain: bool,
    /// The present values of the open page, in a buffer that columns of all devices share: it goes back at the end of a page.
    values: Values,
    /// Null bits of the open page's rows; they mean something when `has_nulls`.
    nulls: Vec<u64>,
    has_nulls: bool,
    /// Rows of the open page that values and null bits speak of; those after it have no value.
    row_count: usize,
    pub(super) chunk: ChunkBuffer,
    contest: Contest,
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
            contest: Contest::default(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.is_used = false;
        self.is_plain = false;
        self.clear_page();
        self.chunk.clear();
        self.contest.clear();
    }

    /// Forgets the finished pages and keeps the open one.
    pub(super) fn clear_chunk(&mut self) {
        self.chunk.clear();
        self.contest.clear();
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
    pub(super) fn append(&mut self, row_start: usize, view: ColumnView<'_>, field: &mut Field) {
        if self.values.is_empty()
            && let Some(values) = field.spare_values.pop()
        {
            self.values = values;
        }
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

    /// Bytes of the finished pages in all their forms.
    pub(super) fn chunk_byte_count(&self) -> usize {
        self.chunk.pages.byte_count() + self.contest.byte_count()
    }

    /// The encoding and the pages to write.
    pub(super) fn best(&self, field: &Field) -> (Encoding, &Pages) {
        self.contest.rival().unwrap_or((self.encoding(field), &self.chunk.pages))
    }

    /// The encoding of the chunk, but for a rival of it.
    fn encoding(&self, field: &Field) -> Encoding {
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
    pub(super) fn encode_page(&mut self, row_count: usize, field: &mut Field, scratch: &mut Scratch) -> Result<()> {
        if self.values.is_empty() {
            self.chunk.pages.push_empty(1);
            self.contest.push_empty_page();
            self.clear_page();
            return Ok(());
        }
        let nulls = self.has_nulls.then(|| NullWords::new(&self.nulls, 0, row_count));
        let Scratch { body, encode, compress, changed_count, .. } = scratch;
        body.clear();
        body.put_i32(i32::try_from(row_count).expect("page_rows_max is at most i32::MAX"));
        presence::append_from_nulls(nulls, row_count, body);
        let head_size = body.len();
        let values = self.values.as_values();
        *changed_count += field.changed_count(values);
        let encoded = tsloom_codec::encode(self.encoding(field), values, field.data_type, field.options, body, encode);
        if encoded.is_err() && field.may_refuse_values() {
            self.is_plain = true;
            tsloom_codec::encode(Encoding::Plain, values, field.data_type, field.options, body, encode)?;
        } else {
            encoded?;
        }
        self.chunk.push_page(body, field.compression, compress)?;
        if field.is_auto {
            self.contest.push_page(head_size, values, field, &self.chunk, scratch)?;
        }
        self.clear_page();
        field.keep_values(std::mem::replace(&mut self.values, Values::new(field.data_type.physical())));
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
