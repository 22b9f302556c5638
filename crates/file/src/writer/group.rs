//! The open chunk group of one device: rows of the open page, and the finished pages of every column.

use tsloom_codec::encode_times;
use tsloom_format::SeriesType;
use tsloom_model::{ColumnView, Result, ValuesRef};

use super::Scratch;
use super::chunk::ChunkBuffer;
use super::column::ColumnBuffer;
use super::table::Table;
use super::workers::Workers;

/// Statistics of a page past this size (four long strings) are kept out of page headers, by a chunk of its own for the page:
/// libtsfile reads page headers of up to 4 KiB.
pub(super) const PAGE_STATISTICS_SIZE_MAX: usize = 2048;

/// What a column takes besides its values: the buffers' heads and their first, smallest allocations.
const COLUMN_SIZE: usize = size_of::<ColumnBuffer>() + 128;

#[derive(Debug)]
pub(super) struct Group {
    /// Times of the open page.
    times: Vec<i64>,
    pub(super) time_chunk: ChunkBuffer,
    /// One for each FIELD column; made when it has its first value.
    pub(super) columns: Vec<Option<Box<ColumnBuffer>>>,
    /// Bytes that rows, pages and the buffers themselves take.
    byte_count: usize,
    /// True when the page that was finished last must be alone.
    pub(super) has_wide_page: bool,
}

impl Group {
    pub(super) fn new(field_count: usize) -> Self {
        let mut group = Self {
            times: Vec::new(),
            time_chunk: ChunkBuffer::new(SeriesType::Time),
            columns: std::iter::repeat_with(|| None).take(field_count).collect(),
            byte_count: 0,
            has_wide_page: false,
        };
        group.byte_count = group.own_byte_count();
        group
    }

    /// What the group takes without a row. With many devices of few rows this is most of it.
    fn own_byte_count(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.columns[..])
    }

    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.time_chunk.clear();
        self.columns.iter_mut().flatten().for_each(|column| column.clear());
        self.byte_count = self.own_byte_count();
        self.has_wide_page = false;
    }

    /// True when the open page has no row.
    pub(super) fn page_is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Bytes that the rows and pages take.
    pub(super) fn byte_count(&self) -> usize {
        self.byte_count
    }

    /// Adds rows to the open page, up to its end: as many of `times` as it takes, and the rows of `columns` from `start` on.
    /// Returns how many, and whether the page is full.
    pub(super) fn append(
        &mut self,
        table: &mut Table,
        times: &[i64],
        columns: &[Option<ColumnView<'_>>],
        start: usize,
    ) -> (usize, bool) {
        let mut count = times.len().min(table.page_rows_max - self.times.len());
        for (column, view) in self.columns.iter().zip(columns) {
            if let Some(view) = view {
                let used = column.as_deref().map_or(0, ColumnBuffer::value_byte_count);
                count = rows_that_fit(view.slice(start, count), table.page_bytes_max.saturating_sub(used));
            }
        }
        let is_full = self.append_to_page(table, &times[..count], columns, start);
        (count, is_full)
    }

    /// Adds rows that fit into the open page. True when the page is full.
    fn append_to_page(&mut self, table: &mut Table, times: &[i64], columns: &[Option<ColumnView<'_>>], start: usize) -> bool {
        let row_start = self.times.len();
        self.times.extend_from_slice(times);
        self.byte_count += size_of_val(times);
        let mut is_full = self.times.len() == table.page_rows_max;
        for (index, view) in columns.iter().enumerate() {
            let Some(view) = view.map(|view| view.slice(start, times.len())) else {
                continue;
            };
            if view.nulls().is_some_and(|nulls| nulls.all_null()) {
                continue;
            }
            let column = self.columns[index].get_or_insert_with(|| Box::new(ColumnBuffer::new(&table.fields[index])));
            if !column.is_used {
                column.is_used = true;
                // The pages before had no value of this column.
                column.chunk.pages.push_empty(self.time_chunk.pages.count());
                self.byte_count += COLUMN_SIZE + column.chunk_byte_count();
            }
            let before = column.value_byte_count();
            column.append(row_start, view, &mut table.fields[index]);
            let after = column.value_byte_count();
            self.byte_count += after - before;
            is_full |= after >= table.page_bytes_max;
        }
        is_full
    }

    /// Gathers the statistics of the open page. True when they are so wide that the page must be alone in its chunks.
    pub(super) fn prepare_page(&mut self) -> bool {
        self.time_chunk.page_statistics.clear();
        self.time_chunk.page_statistics.add_times(&self.times);
        let mut is_wide = false;
        for column in self.columns.iter_mut().flatten().filter(|column| column.is_used) {
            column.prepare_page(&self.times);
            is_wide |= column.chunk.page_statistics_size() > PAGE_STATISTICS_SIZE_MAX;
        }
        is_wide
    }

    /// True when the open page needs an encoding in some column that the chunk there does not have.
    pub(super) fn needs_new_chunk(&self, table: &Table, scratch: &mut Scratch) -> bool {
        let columns = self.columns.iter().zip(&table.fields);
        let mut used = columns.filter_map(|(column, field)| column.as_deref().map(|column| (column, field)));
        used.any(|(column, field)| column.needs_new_chunk(field, scratch))
    }

    /// Ends the open page, which was prepared, in all columns.
    pub(super) fn encode_page(&mut self, table: &mut Table, is_wide: bool, workers: &mut Workers) -> Result<()> {
        let Scratch { body, compress, .. } = &mut workers.own;
        body.clear();
        encode_times(&self.times, body);
        let before = self.page_byte_count();
        self.time_chunk.push_page(body, table.time_compression, compress)?;
        let row_count = self.times.len();
        let column_count = self.columns.iter().flatten().filter(|column| column.is_used).count();
        let columns = self.columns.iter_mut().zip(&mut table.fields);
        let used = columns.filter_map(|(column, field)| Some((column.as_deref_mut().filter(|column| column.is_used)?, field)));
        workers.for_each(row_count * column_count, used, |(column, field), scratch| {
            column.encode_page(row_count, field, scratch).map_err(|error| error.in_column(&field.name))
        })?;
        self.times.clear();
        self.byte_count = self.byte_count + self.page_byte_count() - before;
        self.has_wide_page = is_wide;
        Ok(())
    }

    /// Bytes that ending a page changes: rows of the open page, and pages.
    fn page_byte_count(&self) -> usize {
        let used = self.columns.iter().flatten().filter(|column| column.is_used);
        let columns: usize = used.map(|column| column.chunk_byte_count() + column.value_byte_count()).sum();
        columns + self.time_chunk.pages.byte_count() + size_of_val(&self.times[..])
    }

    /// Rows of the finished pages.
    pub(super) fn row_count(&self) -> usize {
        self.time_chunk.statistics.count() as usize
    }

    /// Forgets the finished pages, which were written, and keeps the open one.
    pub(super) fn clear_chunks(&mut self) {
        self.time_chunk.clear();
        self.byte_count = self.own_byte_count() + size_of_val(&self.times[..]);
        for column in self.columns.iter_mut().flatten() {
            column.clear_chunk();
            if column.is_used {
                self.byte_count += COLUMN_SIZE + column.value_byte_count();
            }
        }
        self.has_wide_page = false;
    }
}

/// How many of these rows a page takes that has room for so many bytes of this column; at least one. The row that
/// reaches the bound is the last.
pub(super) fn rows_that_fit(view: ColumnView<'_>, room: usize) -> usize {
    let count = view.row_count();
    let ValuesRef::Text(text) = view.values() else {
        return count;
    };
    if text.byte_count() + 4 * count < room {
        return count;
    }
    // Row r ends at offset r + 1. Null rows are counted as if their slots were values.
    let first = text.offsets()[0];
    let (mut below, mut above) = (0, count);
    while below < above {
        let row = below.midpoint(above);
        let reaches = (text.offsets()[row + 1] - first) as usize + 4 * (row + 1) >= room;
        if reaches { above = row } else { below = row + 1 }
    }
    (below + 1).min(count)
}
