//! The open chunk group of a device whose columns have times of their own.
//!
//! Every column is cut into pages by itself, since no column waits for another:
//!
//! ```text
//! open page   times, values (no nulls: a row without a value is not in the column)
//! chunk       as in `column`; page body = uvar size of the times, times, values
//! ```
//!
//! A column whose pages cannot share a chunk, because one of them is PLAIN for want of an encoding that holds it or has wide
//! statistics, goes on with another chunk in the same group.

use tsloom_bitmap::NullWords;
use tsloom_codec::encode_times;
use tsloom_encoding::{ToWire, WirePut};
use tsloom_format::Statistics;
use tsloom_model::{ColumnView, Encoding, Result, Values};

use super::Scratch;
use super::auto::Contest;
use super::chunk::{ChunkBuffer, Pages};
use super::column::value_byte_count;
use super::group::{PAGE_STATISTICS_SIZE_MAX, rows_that_fit};
use super::table::{Field, Table};

/// What a column takes besides its rows and pages.
const COLUMN_SIZE: usize = size_of::<PlainColumn>() + 128;

#[derive(Debug)]
pub(super) struct PlainGroup {
    /// One for each measurement; made when it has its first value.
    columns: Vec<Option<Box<PlainColumn>>>,
    byte_count: usize,
    row_count: usize,
}

#[derive(Debug)]
struct PlainColumn {
    times: Vec<i64>,
    values: Values,
    chunk: PlainChunk,
    /// The page that was finished last must be alone in its chunk.
    is_wide: bool,
    /// Chunks that are whole.
    done: Vec<PlainChunk>,
}

/// The finished pages of a chunk.
#[derive(Debug)]
pub(super) struct PlainChunk {
    buffer: ChunkBuffer,
    contest: Contest,
    /// The column's encoding refused a page: all of them are PLAIN.
    is_plain: bool,
}

impl PlainChunk {
    fn new(field: &Field) -> Self {
        Self { buffer: ChunkBuffer::new(field.series_type()), contest: Contest::default(), is_plain: false }
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.contest.clear();
        self.is_plain = false;
    }

    fn page_count(&self) -> u32 {
        self.buffer.pages.count()
    }

    /// Bytes of the pages in all their forms.
    fn byte_count(&self) -> usize {
        self.buffer.pages.byte_count() + self.contest.byte_count()
    }

    fn encoding(&self, field: &Field) -> Encoding {
        if self.is_plain { Encoding::Plain } else { field.encoding }
    }

    /// The encoding and the pages to write.
    pub(super) fn best(&self, field: &Field) -> (Encoding, &Pages) {
        self.contest.rival().unwrap_or((self.encoding(field), &self.buffer.pages))
    }

    /// Of all pages.
    pub(super) fn statistics(&self) -> &Statistics {
        &self.buffer.statistics
    }
}

impl PlainGroup {
    pub(super) fn new(field_count: usize) -> Self {
        let columns: Vec<Option<Box<PlainColumn>>> = std::iter::repeat_with(|| None).take(field_count).collect();
        let byte_count = size_of::<Self>() + size_of_val(&columns[..]);
        Self { columns, byte_count, row_count: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().flatten().for_each(|column| column.clear());
        self.byte_count = size_of::<Self>() + size_of_val(&self.columns[..]);
        self.row_count = 0;
    }

    /// Rows that were added, whatever columns they have a value in.
    pub(super) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Bytes that the rows and pages take.
    pub(super) fn byte_count(&self) -> usize {
        self.byte_count
    }

    /// Adds rows: as many of `times` as fit into a page, and the rows of `columns` from `start` on. Returns how many.
    pub(super) fn append(
        &mut self,
        table: &Table,
        times: &[i64],
        columns: &[Option<ColumnView<'_>>],
        start: usize,
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let mut count = times.len().min(table.page_rows_max);
        for view in columns.iter().flatten() {
            count = rows_that_fit(view.slice(start, count), table.page_bytes_max);
        }
        for ((column, view), field) in self.columns.iter_mut().zip(columns).zip(&table.fields) {
            let Some(view) = view.map(|view| view.slice(start, count)) else { continue };
            if view.nulls().is_some_and(|nulls| nulls.all_null()) {
                continue;
            }
            let column = column.get_or_insert_with(|| Box::new(PlainColumn::new(field)));
            let before = column.byte_count();
            column.append(&times[..count], view, table, field, scratch).map_err(|error| error.in_column(&field.name))?;
            self.byte_count = self.byte_count + column.byte_count() - before;
        }
        self.row_count += count;
        Ok(count)
    }

    /// Ends the open pages of all columns.
    pub(super) fn end_pages(&mut self, table: &Table, scratch: &mut Scratch) -> Result<()> {
        for (column, field) in self.columns.iter_mut().zip(&table.fields) {
            let Some(column) = column else { continue };
            let before = column.byte_count();
            column.end_page(field, scratch).map_err(|error| error.in_column(&field.name))?;
            self.byte_count = self.byte_count + column.byte_count() - before;
        }
        Ok(())
    }

    /// True when there is a finished page.
    pub(super) fn has_chunks(&self) -> bool {
        self.columns.iter().flatten().any(|column| column.chunk.page_count() > 0 || !column.done.is_empty())
    }

    /// The chunks of one column.
    pub(super) fn chunks(&self, index: usize) -> impl Iterator<Item = &PlainChunk> {
        let columns = self.columns[index].iter();
        columns.flat_map(|column| column.done.iter().chain([&column.chunk])).filter(|chunk| chunk.page_count() > 0)
    }
}

impl PlainColumn {
    fn new(field: &Field) -> Self {
        Self {
            times: Vec::new(),
            values: Values::new(field.data_type.physical()),
            chunk: PlainChunk::new(field),
            is_wide: false,
            done: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.times.clear();
        self.values.clear();
        self.chunk.clear();
        self.done.clear();
        self.is_wide = false;
    }

    /// Bytes of rows and pages; nothing while there are none.
    fn byte_count(&self) -> usize {
        let done = self.done.iter().map(|chunk| chunk.byte_count() + size_of::<PlainChunk>()).sum::<usize>();
        let used = size_of_val(&self.times[..]) + value_byte_count(self.values.as_values()) + self.chunk.byte_count() + done;
        if used == 0 { 0 } else { used + COLUMN_SIZE }
    }

    /// Adds the rows that have a value; pages end as they fill.
    fn append(&mut self, times: &[i64], view: ColumnView<'_>, table: &Table, field: &Field, scratch: &mut Scratch) -> Result<()> {
        match view.nulls().filter(NullWords::any_null) {
            None => self.append_present(times, view, table, field, scratch),
            Some(nulls) => nulls.runs().filter(|run| !run.set).try_for_each(|run| {
                let rows = run.start..run.start + run.count;
                self.append_present(&times[rows], view.slice(run.start, run.count), table, field, scratch)
            }),
        }
    }

    fn append_present(
        &mut self,
        mut times: &[i64],
        mut view: ColumnView<'_>,
        table: &Table,
        field: &Field,
        scratch: &mut Scratch,
    ) -> Result<()> {
        while !times.is_empty() {
            let room = table.page_bytes_max.saturating_sub(value_byte_count(self.values.as_values()));
            let count = times.len().min(table.page_rows_max - self.times.len());
            let count = rows_that_fit(view.slice(0, count), room);
            self.times.extend_from_slice(&times[..count]);
            let extended = self.values.extend(view.values().slice(0, count));
            assert!(extended, "the type of a column was checked before its rows were taken");
            (times, view) = (&times[count..], view.slice(count, times.len() - count));
            let is_full =
                self.times.len() == table.page_rows_max || value_byte_count(self.values.as_values()) >= table.page_bytes_max;
            if is_full {
                self.end_page(field, scratch)?;
            }
        }
        Ok(())
    }

    /// Ends the open page, if it has a row.
    fn end_page(&mut self, field: &Field, scratch: &mut Scratch) -> Result<()> {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return Ok(()) };
        let mut statistics = Statistics::new(field.series_type());
        statistics.add_values(first, last, self.values.as_values());
        let is_wide = statistics.wire_size() > PAGE_STATISTICS_SIZE_MAX;
        let Scratch { body, encode, compress, changed_count, .. } = &mut *scratch;
        put_times(&self.times, body);
        let head_size = body.len();
        let values = self.values.as_values();
        let encoding = self.chunk.encoding(field);
        let encoded = tsloom_codec::encode(encoding, values, field.data_type, field.options, body, encode);
        let is_refused = encoded.is_err() && field.may_refuse_values() && !self.chunk.is_plain;
        if self.chunk.page_count() > 0 && (is_wide || self.is_wide || is_refused) {
            self.done.push(std::mem::replace(&mut self.chunk, PlainChunk::new(field)));
            // Of a new chunk the column's own encoding is tried first.
            return self.end_page(field, scratch);
        }
        if is_refused {
            self.chunk.is_plain = true;
            body.truncate(head_size);
            tsloom_codec::encode(Encoding::Plain, values, field.data_type, field.options, body, encode)?;
        } else {
            encoded?;
        }
        *changed_count += field.changed_count(values);
        let PlainChunk { buffer, contest, .. } = &mut self.chunk;
        buffer.page_statistics = statistics;
        buffer.push_page(body, field.compression, compress)?;
        if field.is_auto {
            contest.push_page(head_size, values, field, buffer, scratch)?;
        }
        self.is_wide = is_wide;
        self.times.clear();
        self.values.clear();
        Ok(())
    }
}

/// Begins a page body with the times and their size.
fn put_times(times: &[i64], body: &mut Vec<u8>) {
    body.clear();
    encode_times(times, body);
    // The size goes in front, where its own size is not known before: the times move by it.
    let mut size = Vec::with_capacity(5);
    size.put_uvar(u32::try_from(body.len()).expect("a page of at most 2^31 rows was cut by its bytes before"));
    body.splice(0..0, size);
}
