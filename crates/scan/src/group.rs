//! One chunk group in memory: its pages set by set, and the rows of them that are wanted. A chunk with times of its own is a group
//! of one column.

use std::ops::Range;

use tsloom_block::Block;
use tsloom_encoding::WireReader;
use tsloom_file::ReadOptions;
use tsloom_format::{ChunkHeader, ChunkKind, PageHeader, SeriesType};
use tsloom_io::ReadAt;
use tsloom_model::{
    ColumnBounds, Compression, DataType, Encoding, Error, ErrorKind, FileOffset, Grouped, Result, TimeRange, TimeRanges,
    ValueRange,
};
use tsloom_page_reader::{PageBody, PageReader, ValuePage};

use crate::filter::{ALL_NULL, RowTest, bounds_of};
use crate::plan::{ChunkPlace, FilePlan, Group};
use crate::projection::FieldColumn;
use crate::reads::{FileIo, Pieces};
use crate::window::RowWindow;

/// Bytes of neighbouring groups that are read at once. One group alone may have more.
const UNIT_SIZE_MAX: u64 = 2 << 20;
/// Bytes of a chunk header besides the name: marker, two varints, three codes.
const HEADER_SIZE_MAX: u64 = 1 + 5 + 5 + 3;

/// Reads chunk groups, one after the other, and keeps its buffers.
pub(crate) struct GroupReader {
    pieces: Pieces,
    /// The groups that are loaded, and the batch of the plan that they belong to.
    unit: (usize, Range<usize>),
    pages: PageReader,
    /// The chunk that has the times.
    time: Chunk,
    /// The field whose values are in the same chunk; `None` in an aligned device.
    plain: Option<usize>,
    chunks: Vec<Chunk>,
    /// The open group: rows and times as its metadata say.
    row_count: u64,
    times: TimeRange,
    /// Rows of the pages so far, and the last time of them.
    rows_seen: u64,
    last_time: Option<i64>,
    pub(crate) pages_decoded: u64,
    pub(crate) pages_pruned: u64,
}

/// A chunk in the buffer, and how far its pages have been passed.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Where the current page header begins in the buffer, the next one, and where the chunk ends.
    header_at: usize,
    at: usize,
    end: usize,
    /// What to add to a position in the buffer to have it in the file.
    base: u64,
    series_type: SeriesType,
    compression: Compression,
    encoding: Encoding,
    one_page: bool,
    /// Without a page, every row is null.
    has_pages: bool,
    /// The current page.
    page: Page,
}

/// A page body in the buffer; empty when every row is null.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    at: usize,
    size: usize,
    uncompressed_size: u32,
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            header_at: 0,
            at: 0,
            end: 0,
            base: 0,
            series_type: SeriesType::Time,
            compression: Compression::Uncompressed,
            encoding: Encoding::Plain,
            one_page: true,
            has_pages: false,
            page: Page::default(),
        }
    }
}

impl GroupReader {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            pieces: Pieces::default(),
            unit: (0, 0..0),
            pages: PageReader::with_rlbe_floats(options.limits, options.rlbe_floats),
            time: Chunk::default(),
            plain: None,
            chunks: Vec::new(),
            row_count: 0,
            times: TimeRange::EMPTY,
            rows_seen: 0,
            last_time: None,
            pages_decoded: 0,
            pages_pruned: 0,
        }
    }

    /// Forgets what was loaded: the plan is about to be another one.
    pub(crate) fn forget(&mut self) {
        self.unit = (0, 0..0);
    }

    /// Opens a group of the plan. Reads it when it is not there yet, and with it the ones after it until there are `rows_ahead` rows.
    pub(crate) fn open<R: ReadAt>(
        &mut self,
        group: usize,
        rows_ahead: u64,
        plan: &FilePlan,
        fields: &[FieldColumn],
        file: &mut FileIo<R>,
    ) -> Result<()> {
        if self.unit.0 != plan.batch() || !self.unit.1.contains(&group) {
            self.load(group, rows_ahead, plan, file)?;
        }
        let meta = &plan.groups()[group];
        (self.row_count, self.times) = (meta.row_count, meta.times);
        (self.rows_seen, self.last_time) = (0, None);
        self.plain = meta.field;
        self.chunks.clear();
        if let Some(field) = self.plain_field(fields) {
            let name = &field.name;
            self.time = self.open_chunk(meta.time, ChunkKind::Plain, name, file).map_err(|error| error.in_column(name))?;
            return Ok(());
        }
        self.time = self.open_chunk(meta.time, ChunkKind::Time, "", file)?;
        for (place, field) in plan.chunks_of(group).iter().zip(fields) {
            let chunk = if place.is_absent() {
                Chunk::default()
            } else {
                self.open_chunk(*place, ChunkKind::Value, &field.name, file).map_err(|error| error.in_column(&field.name))?
            };
            self.chunks.push(chunk);
        }
        Ok(())
    }

    fn load<R: ReadAt>(&mut self, group: usize, rows_ahead: u64, plan: &FilePlan, file: &mut FileIo<R>) -> Result<()> {
        self.unit = (plan.batch(), 0..0);
        let (mut size, mut row_count) = (0_u64, 0_u64);
        let fits = |next: &&Group| {
            let is_wanted = row_count == 0 || (row_count < rows_ahead && size + next.size <= UNIT_SIZE_MAX);
            size += next.size;
            row_count = row_count.saturating_add(next.row_count);
            is_wanted
        };
        let end = group + plan.groups()[group..].iter().take_while(fits).count();
        self.pieces.clear();
        self.pieces.load_sorted(
            (group..end).flat_map(|group| {
                let time = std::iter::once(&plan.groups()[group].time);
                time.chain(plan.chunks_of(group)).filter(|place| !place.is_absent()).map(|place| place.range)
            }),
            file,
        )?;
        self.unit.1 = group..end;
        Ok(())
    }

    /// The field whose values are in the same chunk as the times.
    fn plain_field<'a>(&self, fields: &'a [FieldColumn]) -> Option<&'a FieldColumn> {
        let plain = self.plain?;
        fields.iter().find(|field| field.index == plain)
    }

    fn open_chunk<R: ReadAt>(&mut self, place: ChunkPlace, kind: ChunkKind, name: &str, file: &mut FileIo<R>) -> Result<Chunk> {
        let offset = place.range.start;
        let left = file.reader.body_end().saturating_sub(offset);
        let in_header = |error: Error| error.at(FileOffset::new(offset)).in_place("chunk header");
        // The header is at most so long; as a rule less, and the chunk may even end before.
        let prefix_size_max = (HEADER_SIZE_MAX + name.len() as u64).min(left);
        let mut prefix_size = place.range.size().min(left).max(1);
        let (at, header, header_size) = loop {
            let at = self.pieces.ensure(offset, prefix_size, file)?;
            let bytes = &self.pieces.bytes()[at..at + prefix_size as usize];
            let mut wire = WireReader::with_base(bytes, offset as usize);
            match ChunkHeader::parse_expecting(&mut wire, name) {
                Err(error) if error.kind() == ErrorKind::Truncated && prefix_size < prefix_size_max => {
                    prefix_size = prefix_size_max;
                }
                Err(error) => return Err(in_header(error)),
                Ok(header) => break (at, header, wire.position() as u64 - offset),
            }
        };
        if !std::ptr::eq(header.measurement, name) && header.measurement != name {
            let message = format!("the chunk is of column {:?}", header.measurement);
            return Err(in_header(Error::new(ErrorKind::Corrupt, message)));
        }
        let data_size = u64::from(header.data_size);
        if header_size + data_size > left {
            let message =
                format!("data size {} goes past the end of the body ({} bytes left)", Grouped(data_size), Grouped(left));
            return Err(in_header(Error::new(ErrorKind::Corrupt, message)));
        }
        let mut chunk = Chunk {
            series_type: header.series_type,
            compression: header.compression,
            encoding: header.encoding,
            one_page: header.one_page,
            has_pages: data_size > 0,
            ..Chunk::default()
        };
        if header.kind != kind {
            return Err(in_header(Error::new(ErrorKind::Corrupt, "the marker is of another kind of chunk")));
        }
        let at = if header_size + data_size <= prefix_size {
            at
        } else {
            self.pieces.ensure(offset, header_size + data_size, file)?
        };
        chunk.base = offset.wrapping_sub(at as u64);
        chunk.at = at + header_size as usize;
        chunk.end = chunk.at + data_size as usize;
        Ok(chunk)
    }

    /// Goes on to the next page set of the open group that has wanted rows, and selects them. False at the end of the group.
    pub(crate) fn next_page_set(
        &mut self,
        window: &mut RowWindow,
        fields: &[FieldColumn],
        test: Option<&RowTest>,
    ) -> Result<bool> {
        loop {
            let bytes = self.pieces.bytes();
            if self.time.at == self.time.end {
                self.check_end(fields)?;
                return Ok(false);
            }
            let at = self.time.file_offset(self.time.at);
            let refuse = |message: String| Error::new(ErrorKind::Corrupt, message).at(at).in_place("time page");
            let header = self.time.next_page(bytes)?;
            for (chunk, field) in self.chunks.iter_mut().zip(fields).filter(|(chunk, _)| chunk.has_pages) {
                if chunk.at == chunk.end {
                    let message = "the value chunk has fewer pages than the time chunk";
                    let error = Error::new(ErrorKind::Corrupt, message).at(chunk.file_offset(chunk.at)).in_place("page header");
                    return Err(error.in_column(&field.name));
                }
                chunk.next_page(bytes).map_err(|error| error.in_column(&field.name))?;
            }
            let (row_count, times) = match header {
                Some(of_page) => of_page,
                None if self.time.page.uncompressed_size == 0 => continue, // no rows
                None if self.time.one_page => (self.row_count, self.times),
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
            let is_ruled_out = test.is_some_and(|test| self.is_ruled_out(test, fields, row_count));
            if is_ruled_out || window.passes_over(row_count, times) {
                self.pages_pruned += 1 + self.chunks.iter().filter(|chunk| chunk.page.uncompressed_size > 0).count() as u64;
                continue;
            }
            self.pages_decoded += 1;
            let body = self.time.body(bytes);
            match self.plain_field(fields) {
                None => self.pages.open(&body, row_count, times)?,
                Some(field) => {
                    self.pages.open_plain(&body, row_count, times).map_err(|error| error.in_column(&field.name))?;
                }
            }
            self.pages.select_times(window.times());
            window.take(&mut self.pages);
            if self.pages.selected_count() > 0 {
                return Ok(true);
            }
        }
    }

    /// True when the statistics of the current pages say that no row of them meets the condition. Those of the only page of a
    /// chunk are the chunk's, which the plan has asked.
    fn is_ruled_out(&self, test: &RowTest, fields: &[FieldColumn], row_count: u64) -> bool {
        let bytes = self.pieces.bytes();
        test.rules_out(&|position| {
            let is_asked = |field: &FieldColumn| field.test_position == Some(position);
            let chunk = match self.plain_field(fields) {
                Some(field) => Some(&self.time).filter(|_| is_asked(field)),
                None => self.chunks.iter().zip(fields).find(|(_, field)| is_asked(field)).map(|(chunk, _)| chunk),
            };
            let Some(chunk) = chunk else { return ALL_NULL };
            if chunk.page.uncompressed_size == 0 {
                return ALL_NULL;
            }
            let mut wire = WireReader::new(&bytes[chunk.header_at..chunk.end]);
            match PageHeader::parse(&mut wire, chunk.series_type, chunk.one_page) {
                Ok(PageHeader { statistics: Some(statistics), .. }) => bounds_of(&statistics, row_count),
                _ => ColumnBounds { has_null: true, has_value: true, range: ValueRange::Unknown },
            }
        })
    }

    fn check_end(&self, fields: &[FieldColumn]) -> Result<()> {
        if let Some((chunk, field)) = self.chunks.iter().zip(fields).find(|(chunk, _)| chunk.at != chunk.end) {
            let message = "the value chunk has more pages than the time chunk";
            let error = Error::new(ErrorKind::Corrupt, message).at(chunk.file_offset(chunk.at)).in_place("page header");
            return Err(error.in_column(&field.name));
        }
        if self.rows_seen != self.row_count {
            let message = format!(
                "the pages have {} rows, the chunk's statistics say {}",
                Grouped(self.rows_seen),
                Grouped(self.row_count)
            );
            return Err(Error::new(ErrorKind::Corrupt, message).at(self.time.file_offset(self.time.end)).in_place("time chunk"));
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
                    Some(page) if field.index == plain => self.pages.append_plain(page, TimeRanges::NONE, into)?,
                    _ => self.pages.append_values(None, TimeRanges::NONE, into)?,
                }
            }
            return Ok(());
        }
        for (chunk, field) in self.chunks.iter().zip(fields).filter(|(_, field)| asked(field)) {
            let page = chunk.value_page(bytes);
            self.pages_decoded += u64::from(page.is_some());
            self.pages.append_values(page.as_ref(), TimeRanges::NONE, &mut columns[field.column])?;
        }
        Ok(())
    }
}

impl Chunk {
    /// Reads the next page header. Gives row count and times when it has statistics.
    fn next_page(&mut self, bytes: &[u8]) -> Result<Option<(u64, TimeRange)>> {
        let start = self.at;
        self.header_at = start;
        let at = self.file_offset(start);
        let refuse = |message: String| Error::new(ErrorKind::Corrupt, message).at(at).in_place("page header");
        let mut wire = WireReader::with_base(&bytes[start..self.end], at.get() as usize);
        let header = PageHeader::parse(&mut wire, self.series_type, self.one_page)
            .map_err(|error| error.at(at).in_place("page header"))?;
        let left = wire.remaining();
        let size = header.compressed_size as usize;
        if size > left {
            let (size, left) = (Grouped(size as u64), Grouped(left as u64));
            return Err(refuse(format!("compressed size {size} is past the end of the chunk ({left} bytes left)")));
        }
        self.page = Page { at: self.end - left, size, uncompressed_size: header.uncompressed_size };
        self.at = self.page.at + size;
        if self.one_page && self.at != self.end {
            return Err(refuse(format!("{} bytes follow the only page of the chunk", Grouped((self.end - self.at) as u64))));
        }
        Ok(header.statistics.map(|statistics| (u64::from(statistics.count()), statistics.time_range())))
    }

    fn body<'a>(&self, bytes: &'a [u8]) -> PageBody<'a> {
        PageBody {
            bytes: &bytes[self.page.at..self.page.at + self.page.size],
            uncompressed_size: u64::from(self.page.uncompressed_size),
            compression: self.compression,
            encoding: self.encoding,
            offset: self.file_offset(self.page.at),
        }
    }

    /// The current page, unless all of its rows are null.
    fn value_page<'a>(&self, bytes: &'a [u8]) -> Option<ValuePage<'a>> {
        let data_type: DataType = self.series_type.data_type()?;
        (self.page.uncompressed_size > 0).then(|| ValuePage { body: self.body(bytes), data_type })
    }

    fn file_offset(&self, at: usize) -> FileOffset {
        FileOffset::new(self.base.wrapping_add(at as u64))
    }
}
