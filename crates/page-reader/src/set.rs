//! A whole page set at once, into a block: [`PageReader::read`].

use tsloom_bitmap::words;
use tsloom_block::{Block, Column};
use tsloom_model::{Result, RowFilter, RowPolicy, TimeRange, TimeRanges};

use crate::filter::passing_rows;
use crate::{PageBody, PageReader, ValuePage};

/// The pages of one page set, and what was deleted of them.
#[derive(Clone, Copy, Debug)]
pub struct PageSet<'a> {
    /// The time page.
    pub time: PageBody<'a>,
    /// Its row count, as the statistics say.
    pub row_count: u64,
    /// Its first and last time, as the statistics say.
    pub times: TimeRange,
    /// One for each column of the block that is filled.
    pub columns: &'a [ColumnPage<'a>],
}

/// What a page set has for one column.
#[derive(Clone, Copy, Debug)]
pub struct ColumnPage<'a> {
    /// Without a page, every row is null.
    pub page: Option<ValuePage<'a>>,
    /// Times at which cells of this column were deleted: they are null.
    pub deleted: &'a TimeRanges,
}

/// Which rows are wanted. Offset and limit count rows that everything else has left, and go down as rows are passed, so that one
/// request serves page set after page set.
#[derive(Clone, Copy, Debug)]
pub struct RowRequest<'a> {
    /// Only rows whose time is inside.
    pub times: TimeRange,
    /// Times at which whole rows were deleted.
    pub deleted: &'a TimeRanges,
    /// Only rows whose values meet this. Its columns are positions in the block.
    pub filter: Option<&'a RowFilter<usize>>,
    /// What becomes of rows whose projected columns are all null.
    pub policy: RowPolicy,
    /// The first so many columns of the block are the projected ones; those behind them are there for the filter.
    pub projected_count: usize,
    /// Rows to leave out first.
    pub offset: u64,
    /// Rows to give at most.
    pub limit: u64,
}

impl Default for RowRequest<'_> {
    /// Every row: no condition, no deletion, no limit.
    fn default() -> Self {
        Self {
            times: TimeRange::ALL,
            deleted: TimeRanges::NONE,
            filter: None,
            policy: RowPolicy::KeepAllNull,
            projected_count: usize::MAX,
            offset: 0,
            limit: u64::MAX,
        }
    }
}

impl PageReader {
    /// Appends the wanted rows of a page set to a block; gives their number.
    ///
    /// Columns of the filter are decoded first, the others only for rows that pass. Whether a row is all null is told by the presence
    /// bits alone. What offset and limit leave out is not decoded, either, as far as the encodings allow.
    ///
    /// # Errors
    /// As [`open`](Self::open) and [`append_values`](Self::append_values). The block is then as it was, and so is the request.
    ///
    /// # Panics
    /// When the page set has another number of columns than the block.
    pub fn read(&mut self, set: &PageSet<'_>, request: &mut RowRequest<'_>, block: &mut Block) -> Result<usize> {
        assert!(set.columns.len() == block.columns().len(), "a page or its absence for each column of the block");
        let from = block.row_count();
        let mut left = *request;
        self.read_rows(set, &mut left, block).inspect_err(|_| block.truncate(from))?;
        (request.offset, request.limit) = (left.offset, left.limit);
        Ok(block.row_count() - from)
    }

    fn read_rows(&mut self, set: &PageSet<'_>, request: &mut RowRequest<'_>, block: &mut Block) -> Result<()> {
        self.open(&set.time, set.row_count, set.times)?;
        self.select_times(request.times);
        self.leave_out(request.deleted);
        let is_tested = |column: usize| {
            let mut is_tested = false;
            request.filter.inspect(|filter| filter.visit_columns(&mut |tested| is_tested |= tested == column));
            is_tested
        };
        let from = block.row_count();
        let (times, columns) = block.parts_mut();

        // What is kept of the rows selected so far, as a selection among them.
        let count = self.selected_count();
        let mut kept = std::mem::take(&mut self.kept);
        kept.select_all(count);
        let mut bits = std::mem::take(&mut self.kept_bits);
        if let Some(filter) = request.filter {
            for (index, column) in set.columns.iter().enumerate().filter(|(index, _)| is_tested(*index)) {
                self.append_values(column.page.as_ref(), column.deleted, &mut columns[index])?;
            }
            bits.clear();
            let starts = (0..count).step_by(64);
            bits.extend(
                starts.map(|start| passing_rows(filter, &|index| &columns[index], from + start, (count - start).min(64))),
            );
            kept.intersect(&bits);
        }
        if request.policy == RowPolicy::DropAllNull {
            let projected = &set.columns[..request.projected_count.min(set.columns.len())];
            self.find_any(projected, columns, count, &mut bits)?;
            kept.intersect(&bits);
        }
        request.offset -= kept.skip(request.offset);
        kept.limit(request.limit);
        request.limit -= kept.count() as u64;

        if !(kept.is_run() && kept.rows() == (0..count)) {
            bits.clear();
            bits.resize(words::word_count(count), 0);
            kept.runs().for_each(|rows| words::set_range(&mut bits, rows.start, rows.len()));
            self.retain(&bits);
            for (_, column) in columns.iter_mut().enumerate().filter(|(index, _)| is_tested(*index)) {
                column.retain_rows(from, &bits);
            }
        }
        self.append_times(times);
        for (index, column) in set.columns.iter().enumerate().filter(|(index, _)| !is_tested(*index)) {
            self.append_values(column.page.as_ref(), column.deleted, &mut columns[index])?;
        }
        (self.kept, self.kept_bits) = (kept, bits);
        Ok(())
    }

    /// Replaces `found` by a bit for each of the `count` selected rows: whether one of the columns has a value there. Without a
    /// column, every row counts as having one.
    fn find_any(&mut self, pages: &[ColumnPage<'_>], columns: &[Column], count: usize, found: &mut Vec<u64>) -> Result<()> {
        found.clear();
        found.resize(words::word_count(count), if pages.is_empty() { u64::MAX } else { 0 });
        for (ColumnPage { page, deleted }, column) in pages.iter().zip(columns) {
            // The first full column settles it.
            if words::all_set(found, 0, count) {
                break;
            }
            if let Some(page) = page.as_ref().filter(|page| page.body.uncompressed_size > 0) {
                self.find_values(page, deleted, found)
                    .map_err(|error| error.at(page.body.offset).in_place("value page").in_column(column.name()))?;
            }
        }
        Ok(())
    }
}
