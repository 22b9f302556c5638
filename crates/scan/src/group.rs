//! One chunk group in memory: its pages set by set, and the rows of them that are wanted. A chunk with times of its own is a group
//! of one column.

mod whole;

use std::ops::Range;

use tsloom_block::Block;
use tsloom_file::ReadOptions;
use tsloom_format::ChunkKind;
use tsloom_io::ReadAt;
use tsloom_model::{ColumnBounds, Error, ErrorKind, Grouped, Result, TimeRange, TimeRanges, ValueRange};
use tsloom_page_reader::PageReader;

use crate::chunk::Chunk;
use crate::deletions::Gone;
use crate::filter::{ALL_NULL, RowTest, bounds_of};
use crate::plan::{FilePlan, Group};
use crate::projection::FieldColumn;
use crate::reads::{ByteRange, FileIo, Pieces};
use crate::window::RowWindow;

/// A group of which only some rows are wanted is read page by page when it has more bytes than this.
const SPARSE_SIZE_MIN: u64 = 64 << 10;

/// Reads chunk groups, one after the other, and keeps its buffers.
pub(crate) struct GroupReader {
    pieces: Pieces,
    /// Bytes of neighbouring groups that are read at once. One group alone may have more.
    unit_size_max: u64,
    /// The groups that are loaded, and the batch of the plan that they belong to.
    unit: (usize, Range<usize>),
    pages: PageReader,
    /// The chunk that has the times.
    time: Chunk,
    /// The field whose values are in the same chunk; `None` in an aligned device.
    plain: Option<usize>,
    chunks: Vec<Chunk>,
    /// Only headers of the open group are read, and the bodies of those pages that are wanted.
    is_sparse: bool,
    /// The open group: rows and times as its metadata say.
    row_count: u64,
    times: TimeRange,
    /// Rows of the pages so far, and the last time of them.
    rows_seen: u64,
    last_time: Option<i64>,
    /// What was deleted of it.
    gone: Gone,
    pub(crate) pages_decoded: u64,
    pub(crate) pages_pruned: u64,
}

impl GroupReader {
    pub(crate) fn new(options: &ReadOptions, unit_size_max: u64) -> Self {
        Self {
            pieces: Pieces::default(),
            unit_size_max,
            unit: (0, 0..0),
            pages: PageReader::with_rlbe_floats(options.limits, options.rlbe_floats),
            time: Chunk::default(),
            plain: None,
            chunks: Vec::new(),
            is_sparse: false,
            row_count: 0,
            times: TimeRange::EMPTY,
            rows_seen: 0,
            last_time: None,
            gone: Gone::default(),
            pages_decoded: 0,
            pages_pruned: 0,
        }
    }

    /// Forgets what was loaded: the plan is about to be another one.
    pub(crate) fn forget(&mut self) {
        self.unit = (0, 0..0);
        self.chunks.clear();
    }

    /// What was deleted of the group that is open, or about to be.
    pub(crate) fn gone(&self) -> &Gone {
        &self.gone
    }

    pub(crate) fn gone_mut(&mut self) -> &mut Gone {
        &mut self.gone
    }

    /// Opens a group of the plan. Reads it when it is not there yet, and with it the ones after it until there are `rows_ahead` rows.
    /// When only `some_rows` of it are wanted, its pages are read one by one.
    pub(crate) fn open<R: ReadAt>(
        &mut self,
        group: usize,
        some_rows: bool,
        rows_ahead: u64,
        plan: &FilePlan,
        fields: &[FieldColumn],
        file: &mut FileIo<R>,
    ) -> Result<()> {
        let meta = &plan.groups()[group];
        let is_loaded = self.is_loaded(group, plan);
        self.is_sparse = some_rows && meta.size > SPARSE_SIZE_MIN && !is_loaded;
        if self.is_sparse {
            self.unit = (plan.batch(), 0..0);
            self.pieces.clear();
        } else if !is_loaded {
            self.load(group, rows_ahead, plan, file)?;
        }
        (self.row_count, self.times) = (meta.row_count, meta.times);
        (self.rows_seen, self.last_time) = (0, None);
        self.plain = meta.field;
        let (pieces, is_sparse) = (&mut self.pieces, self.is_sparse);
        if let Some(field) = plain_field(self.plain, fields) {
            self.chunks.clear();
            let opened = self.time.open(meta.time.range, ChunkKind::Plain, &field.name, is_sparse, pieces, file);
            return opened.map_err(|error| error.in_column(&field.name));
        }
        if is_sparse || !self.time.open_like_before(meta.time.range, ChunkKind::Time, pieces) {
            self.time.open(meta.time.range, ChunkKind::Time, "", is_sparse, pieces, file)?;
        }
        self.chunks.resize_with(fields.len(), Chunk::default);
        for ((chunk, place), field) in self.chunks.iter_mut().zip(plan.chunks_of(group)).zip(fields) {
            if place.is_absent() || self.gone.has_all_cells(field.index, meta.times) {
                chunk.close();
            } else if is_sparse || !chunk.open_like_before(place.range, ChunkKind::Value, pieces) {
                let opened = chunk.open(place.range, ChunkKind::Value, &field.name, is_sparse, pieces, file);
                opened.map_err(|error| error.in_column(&field.name))?;
            }
        }
        Ok(())
    }

    fn is_loaded(&self, group: usize, plan: &FilePlan) -> bool {
        self.unit.0 == plan.batch() && self.unit.1.contains(&group)
    }

    fn load<R: ReadAt>(&mut self, group: usize, rows_ahead: u64, plan: &FilePlan, file: &mut FileIo<R>) -> Result<()> {
        self.unit = (plan.batch(), 0..0);
        let (mut size, mut row_count) = (0_u64, 0_u64);
        let fits = |next: &&Group| {
            let is_wanted = row_count == 0 || (row_count < rows_ahead && size + next.size <= self.unit_size_max);
            size += next.size;
            row_count = row_count.saturating_add(next.row_count);
            is_wanted
        };
        let end = group + plan.groups()[group..].iter().take_while(fits).count();
        self.pieces.clear();
        for index in group..end {
            let meta = &plan.groups()[index];
            let start = meta.time.range.start;
            if meta.is_whole {
                self.pieces.want(ByteRange { start, end: start + meta.size });
            } else {
                let places = std::iter::once(&meta.time).chain(plan.chunks_of(index));
                places.filter(|place| !place.is_absent()).for_each(|place| self.pieces.want(place.range));
            }
        }
        self.pieces.load_wanted(file)?;
        self.unit.1 = group..end;
        Ok(())
    }

    /// Goes on to the next page set of the open group that has wanted rows, and selects them. False at the end of the group.
    pub(crate) fn next_page_set<R: ReadAt>(
        &mut self,
        window: &mut RowWindow,
        fields: &[FieldColumn],
        test: Option<&RowTest>,
        file: &mut FileIo<R>,
    ) -> Result<bool> {
        loop {
            if self.time.is_at_end() {
                self.check_end(fields)?;
                return Ok(false);
            }
            // Nothing behind is wanted, so it is not even looked at.
            if self.is_sparse && self.last_time.is_some_and(|last| last >= window.times().end) {
                return Ok(false);
            }
            let at = self.time.offset();
            let refuse = |message: String| Error::new(ErrorKind::Corrupt, message).at(at).in_place("time page");
            let header = self.time.next_page(&mut self.pieces, file)?;
            for (chunk, field) in self.chunks.iter_mut().zip(fields).filter(|(chunk, _)| chunk.has_pages()) {
                if chunk.is_at_end() {
                    let message = "the value chunk has fewer pages than the time chunk";
                    let error = Error::new(ErrorKind::Corrupt, message).at(chunk.offset()).in_place("page header");
                    return Err(error.in_column(&field.name));
                }
                chunk.next_page(&mut self.pieces, file).map_err(|error| error.in_column(&field.name))?;
            }
            let (row_count, times) = match header {
                Some(of_page) => of_page,
                None if self.time.page_is_empty() => continue, // no rows
                None if self.time.has_one_page() => (self.row_count, self.times),
                None => return Err(refuse("a page among many has no statistics".to_owned())),
            };
            if row_count == 0 {
                continue;
            }
            if !self.times.covers(times) || self.last_time.is_some_and(|last| times.start <= last) {
                let message =
                    format!("times {} to {} do not follow the pages before, or leave the chunk's", times.start, times.end);
                return Err(refuse(message));
            }
            self.last_time = Some(times.end);
            self.rows_seen += row_count;
            let is_ruled_out = test.is_some_and(|test| self.is_ruled_out(test, fields, row_count, times));
            if is_ruled_out || window.passes_over(row_count, times, &self.gone) {
                self.pages_pruned += 1 + self.chunks.iter().filter(|chunk| !chunk.page_is_empty()).count() as u64;
                continue;
            }
            self.pages_decoded += 1;
            self.time.load_page(&mut self.pieces, file)?;
            let body = self.time.body(self.pieces.bytes());
            match plain_field(self.plain, fields) {
                None => self.pages.open(&body, row_count, times)?,
                Some(field) => {
                    self.pages.open_plain(&body, row_count, times).map_err(|error| error.in_column(&field.name))?;
                }
            }
            self.pages.select_times(window.times());
            self.pages.leave_out(&self.gone.rows);
            window.take(&mut self.pages);
            if self.pages.selected_count() > 0 {
                for (chunk, field) in self.chunks.iter_mut().zip(fields).filter(|(chunk, _)| chunk.has_pages()) {
                    chunk.load_page(&mut self.pieces, file).map_err(|error| error.in_column(&field.name))?;
                }
                return Ok(true);
            }
        }
    }

    /// True when the statistics of the current pages say that no row of them meets the condition. Those of the only page of a
    /// chunk are the chunk's, which the plan has asked.
    fn is_ruled_out(&self, test: &RowTest, fields: &[FieldColumn], row_count: u64, times: TimeRange) -> bool {
        let bytes = self.pieces.bytes();
        test.rules_out(&|position| {
            let is_asked = |field: &FieldColumn| field.test_position == Some(position);
            let chunk = match plain_field(self.plain, fields) {
                Some(field) => Some((&self.time, field)).filter(|_| is_asked(field)),
                None => self.chunks.iter().zip(fields).find(|(_, field)| is_asked(field)),
            };
            let Some((chunk, field)) = chunk else { return ALL_NULL };
            if chunk.page_is_empty() {
                return ALL_NULL;
            }
            let bounds = match chunk.page_statistics(bytes) {
                Some(statistics) => bounds_of(&statistics, row_count, Some(chunk.encoding())),
                None => ColumnBounds { has_null: true, has_value: true, range: ValueRange::Unknown },
            };
            self.gone.bounds(field.index, times, bounds)
        })
    }

    fn check_end(&self, fields: &[FieldColumn]) -> Result<()> {
        if let Some((chunk, field)) = self.chunks.iter().zip(fields).find(|(chunk, _)| !chunk.is_at_end()) {
            let message = "the value chunk has more pages than the time chunk";
            let error = Error::new(ErrorKind::Corrupt, message).at(chunk.offset()).in_place("page header");
            return Err(error.in_column(&field.name));
        }
        if self.rows_seen != self.row_count {
            let message = format!(
                "the pages have {} rows, the chunk's statistics say {}",
                Grouped(self.rows_seen),
                Grouped(self.row_count)
            );
            return Err(Error::new(ErrorKind::Corrupt, message).at(self.time.offset()).in_place("time chunk"));
        }
        Ok(())
    }

    /// Number of wanted rows of the current page set.
    pub(crate) fn selected_count(&self) -> usize {
        self.pages.selected_count()
    }

    /// Appends the times of the wanted rows of the current page set to those of `out`.
    pub(crate) fn append_times(&mut self, out: &mut Block) {
        self.pages.append_times(out.times_mut());
    }

    /// Appends the wanted rows of the current page set to those fields of `out` that are `asked`.
    pub(crate) fn append_fields(
        &mut self,
        fields: &[FieldColumn],
        asked: impl Fn(&FieldColumn) -> bool,
        out: &mut Block,
    ) -> Result<()> {
        let bytes = self.pieces.bytes();
        let (_, columns) = out.parts_mut();
        if let Some(plain) = self.plain {
            let page = self.time.value_page(bytes).filter(|_| self.pages.selected_count() > 0);
            for field in fields.iter().filter(|field| asked(field)) {
                let into = &mut columns[field.column];
                match &page {
                    Some(page) if field.index == plain => self.pages.append_plain(page, self.gone.cells(field.index), into)?,
                    _ => self.pages.append_values(None, TimeRanges::NONE, into)?,
                }
            }
            return Ok(());
        }
        for (chunk, field) in self.chunks.iter().zip(fields).filter(|(_, field)| asked(field)) {
            let page = chunk.value_page(bytes);
            self.pages_decoded += u64::from(page.is_some());
            self.pages.append_values(page.as_ref(), self.gone.cells(field.index), &mut columns[field.column])?;
        }
        Ok(())
    }
}

/// The field whose values are in the same chunk as the times.
fn plain_field(plain: Option<usize>, fields: &[FieldColumn]) -> Option<&FieldColumn> {
    let plain = plain?;
    fields.iter().find(|field| field.index == plain)
}
