//! One chunk on its way through a scan: its header, then its pages one by one, of which as much is in memory as was asked for.

use tsloom_encoding::WireReader;
use tsloom_format::{ChunkFrame, ChunkHeader, ChunkKind, PageHeader, SeriesType, StatisticsRef};
use tsloom_io::ReadAt;
use tsloom_model::{Compression, DataType, Encoding, Error, ErrorKind, FileOffset, Grouped, Result, TimeRange};
use tsloom_page_reader::{PageBody, ValuePage};

use crate::reads::{ByteRange, FileIo, Pieces};

/// Bytes that are read at once where only headers are wanted; a longer header is read again, and a shorter chunk as a whole.
const HEADER_READ_SIZE: u64 = 128;
/// Bytes of a chunk header besides the name: marker, two varints, three codes.
const HEADER_SIZE_MAX: u64 = 1 + 5 + 5 + 3;

/// A chunk, what of it is in the buffer, and how far its pages have been passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// These bytes of the file are in the buffer, from `loaded_at` on.
    loaded: ByteRange,
    loaded_at: usize,
    /// Where the next page header begins in the file, and where the chunk ends.
    next: u64,
    end: u64,
    series_type: SeriesType,
    compression: Compression,
    encoding: Encoding,
    one_page: bool,
    /// Without a page, every row is null.
    has_pages: bool,
    /// The current page.
    page: Page,
    /// By which the header of the next chunk of the column is known: it says the same then.
    frame: Option<(ChunkKind, ChunkFrame)>,
}

/// A page; its body is empty when every row is null.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Page {
    /// Its header in the buffer.
    header: (usize, usize),
    /// Where its body begins in the file.
    start: u64,
    size: usize,
    uncompressed_size: u32,
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            loaded: ByteRange::default(),
            loaded_at: 0,
            next: 0,
            end: 0,
            series_type: SeriesType::Time,
            compression: Compression::Uncompressed,
            encoding: Encoding::Plain,
            one_page: true,
            has_pages: false,
            page: Page::default(),
            frame: None,
        }
    }
}

impl Chunk {
    /// There is no such chunk in the group.
    pub(crate) fn close(&mut self) {
        (self.next, self.end, self.has_pages, self.page) = (0, 0, false, Page::default());
    }

    /// Opens a chunk that is in the buffer and whose header is that of the chunk before, but for its size. False when it is not.
    #[inline]
    pub(crate) fn open_like_before(&mut self, range: ByteRange, kind: ChunkKind, pieces: &Pieces) -> bool {
        let Some(at) = pieces.locate(range) else { return false };
        let bytes = &pieces.bytes()[at..at + range.size() as usize];
        let Some(pages) = self.pages_like_before(range, kind, bytes) else { return false };
        let (first_page, data_size) = (pages.position() as u64, pages.remaining() as u32);
        (self.loaded, self.loaded_at) = (range, at);
        self.begin(first_page, data_size);
        true
    }

    /// The pages of a chunk with such a header, whose bytes, to its end or further, these are.
    #[inline(always)]
    fn pages_like_before<'a>(&self, range: ByteRange, kind: ChunkKind, bytes: &'a [u8]) -> Option<WireReader<'a>> {
        let (_, frame) = self.frame.as_ref().filter(|frame| frame.0 == kind)?;
        let mut wire = WireReader::with_base(bytes, range.start as usize);
        let data_size = frame.data_size(&mut wire)?;
        Some(WireReader::with_base(wire.rest().get(..data_size as usize)?, wire.position()))
    }

    /// The only page of such a chunk, without opening it. `None` for any other chunk, and for a page in which all is null.
    #[inline(always)]
    pub(crate) fn only_page<'a>(&self, range: ByteRange, kind: ChunkKind, pieces: &'a Pieces) -> Option<PageBody<'a>> {
        let mut wire = self.pages_like_before(range, kind, pieces.get(range)?).filter(|_| self.one_page)?;
        let (uncompressed_size, size) = (wire.uvar().ok()?, wire.uvar().ok()?);
        if uncompressed_size == 0 || size as usize != wire.remaining() {
            return None;
        }
        Some(PageBody {
            bytes: wire.rest(),
            uncompressed_size: u64::from(uncompressed_size),
            compression: self.compression,
            encoding: self.encoding,
            offset: FileOffset::new(wire.position() as u64),
        })
    }

    /// [`only_page`](Self::only_page) of a value chunk.
    #[inline(always)]
    pub(crate) fn only_value_page<'a>(&self, range: ByteRange, pieces: &'a Pieces) -> Option<ValuePage<'a>> {
        let body = self.only_page(range, ChunkKind::Value, pieces)?;
        Some(ValuePage { body, data_type: self.series_type.data_type()? })
    }

    /// True when every page was passed.
    pub(crate) fn is_at_end(&self) -> bool {
        self.next == self.end
    }

    /// Where the next page begins in the file, or the end of the chunk.
    pub(crate) fn offset(&self) -> FileOffset {
        FileOffset::new(self.next)
    }

    /// False for a chunk that is absent, or has only nulls and no page for them.
    pub(crate) fn has_pages(&self) -> bool {
        self.has_pages
    }

    /// True when page headers carry no statistics: those of the chunk hold.
    pub(crate) fn has_one_page(&self) -> bool {
        self.one_page
    }

    /// How its values are encoded.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// True when every row of the current page is null.
    pub(crate) fn page_is_empty(&self) -> bool {
        self.page.uncompressed_size == 0
    }

    /// What the header of the current page says about its values, if it says anything.
    pub(crate) fn page_statistics<'a>(&self, bytes: &'a [u8]) -> Option<StatisticsRef<'a>> {
        let mut wire = WireReader::new(&bytes[self.page.header.0..self.page.header.1]);
        PageHeader::parse(&mut wire, self.series_type, self.one_page).ok()?.statistics
    }

    fn begin(&mut self, first_page: u64, data_size: u32) {
        self.next = first_page;
        self.end = first_page + u64::from(data_size);
        self.has_pages = data_size > 0;
        self.page = Page::default();
    }

    /// Opens the chunk of this kind in `range`, as far as its end is known, of the column called `name`, which is empty for times.
    /// Of a sparse one only the header is read.
    pub(crate) fn open<R: ReadAt>(
        &mut self,
        range: ByteRange,
        kind: ChunkKind,
        name: &str,
        is_sparse: bool,
        pieces: &mut Pieces,
        file: &mut FileIo<R>,
    ) -> Result<()> {
        let offset = range.start;
        let left = file.reader.body_end().saturating_sub(offset);
        let in_header = |error: Error| error.at(FileOffset::new(offset)).in_place("chunk header");
        // The header is at most so long; as a rule less, and the chunk may even end before.
        let prefix_size_max = (HEADER_SIZE_MAX + name.len() as u64).min(left);
        let wanted = if is_sparse { range.size().min(prefix_size_max + HEADER_READ_SIZE) } else { range.size() };
        let mut prefix_size = wanted.min(left).max(1);
        let (header, first_page) = loop {
            self.loaded = ByteRange { start: offset, end: offset + prefix_size };
            self.loaded_at =
                if is_sparse { pieces.append(self.loaded, file)? } else { pieces.ensure(offset, prefix_size, file)? };
            let bytes = &pieces.bytes()[self.loaded_at..self.loaded_at + prefix_size as usize];
            let mut wire = WireReader::with_base(bytes, offset as usize);
            match ChunkHeader::parse(&mut wire) {
                Err(error) if error.kind() == ErrorKind::Truncated && prefix_size < prefix_size_max => {
                    prefix_size = prefix_size_max;
                }
                Err(error) => return Err(in_header(error)),
                Ok(header) => {
                    self.take_header(&header, kind, name).map_err(in_header)?;
                    self.frame = header.frame(bytes).map(|frame| (kind, frame));
                    break (header.data_size, wire.position() as u64);
                }
            }
        };
        self.begin(first_page, header);
        if self.end > offset + left {
            let (size, left) = (Grouped(header.into()), Grouped(left));
            let message = format!("data size {size} goes past the end of the body ({left} bytes left)");
            return Err(in_header(Error::new(ErrorKind::Corrupt, message)));
        }
        if self.end > self.loaded.end && !is_sparse {
            self.loaded.end = self.end;
            self.loaded_at = pieces.ensure(offset, self.loaded.size(), file)?;
        }
        Ok(())
    }

    fn take_header(&mut self, header: &ChunkHeader<'_>, kind: ChunkKind, name: &str) -> Result<()> {
        if header.measurement != name {
            return Err(Error::new(ErrorKind::Corrupt, format!("the chunk is of column {:?}", header.measurement)));
        }
        if header.kind != kind {
            return Err(Error::new(ErrorKind::Corrupt, "the marker is of another kind of chunk"));
        }
        (self.series_type, self.one_page) = (header.series_type, header.one_page);
        (self.compression, self.encoding) = (header.compression, header.encoding);
        Ok(())
    }

    /// Reads the next page header. Gives row count and times when it has statistics.
    #[inline]
    pub(crate) fn next_page<R: ReadAt>(&mut self, pieces: &mut Pieces, file: &mut FileIo<R>) -> Result<Option<(u64, TimeRange)>> {
        if self.one_page && self.pass_only_header(pieces) {
            return Ok(None);
        }
        self.read_header(pieces, file)
    }

    /// Passes over the header of an only page that is in the buffer. False, and nothing is done, when there is anything else.
    #[inline]
    fn pass_only_header(&mut self, pieces: &Pieces) -> bool {
        if self.end > self.loaded.end {
            return false;
        }
        let (from, to) = (self.position(self.next), self.position(self.end));
        let mut wire = WireReader::new(&pieces.bytes()[from..to]);
        let (Ok(uncompressed_size), Ok(size)) = (wire.uvar(), wire.uvar()) else { return false };
        if uncompressed_size == 0 || size as usize != wire.remaining() {
            return false;
        }
        let start = self.end - u64::from(size);
        self.page = Page { header: (from, from + wire.position()), start, size: size as usize, uncompressed_size };
        self.next = self.end;
        true
    }

    fn read_header<R: ReadAt>(&mut self, pieces: &mut Pieces, file: &mut FileIo<R>) -> Result<Option<(u64, TimeRange)>> {
        let start = self.next;
        let at = FileOffset::new(start);
        let refuse = |message: String| Error::new(ErrorKind::Corrupt, message).at(at).in_place("page header");
        let mut size = HEADER_READ_SIZE;
        let (header, body) = loop {
            if self.loaded.end <= start {
                self.load(start, size, pieces, file)?;
            }
            let (from, to) = (self.position(start), self.position(self.loaded.end.min(self.end)));
            let mut wire = WireReader::with_base(&pieces.bytes()[from..to], start as usize);
            match PageHeader::parse(&mut wire, self.series_type, self.one_page) {
                Ok(header) => {
                    let body = wire.position() as u64;
                    self.page.header = (from, from + (body - start) as usize);
                    break (header, body);
                }
                Err(error) if error.kind() == ErrorKind::Truncated && self.loaded.end < self.end => {
                    if self.loaded.start == start {
                        size = size.saturating_mul(16);
                    }
                    self.load(start, size, pieces, file)?;
                }
                Err(error) => return Err(error.at(at).in_place("page header")),
            }
        };
        let (size, left) = (u64::from(header.compressed_size), self.end - body);
        if size > left {
            let (size, left) = (Grouped(size), Grouped(left));
            return Err(refuse(format!("compressed size {size} is past the end of the chunk ({left} bytes left)")));
        }
        self.page.start = body;
        self.page.size = size as usize;
        self.page.uncompressed_size = header.uncompressed_size;
        self.next = body + size;
        if self.one_page && self.next != self.end {
            return Err(refuse(format!("{} bytes follow the only page of the chunk", Grouped(self.end - self.next))));
        }
        Ok(header.statistics.map(|statistics| (u64::from(statistics.count()), statistics.time_range())))
    }

    /// Makes sure that the body of the current page is in the buffer, and the header behind it.
    pub(crate) fn load_page<R: ReadAt>(&mut self, pieces: &mut Pieces, file: &mut FileIo<R>) -> Result<()> {
        if self.next <= self.loaded.end {
            return Ok(());
        }
        self.load(self.page.start, self.page.size as u64 + HEADER_READ_SIZE, pieces, file)
    }

    /// Reads on from `start`, for `size` bytes or to the end of the chunk.
    fn load<R: ReadAt>(&mut self, start: u64, size: u64, pieces: &mut Pieces, file: &mut FileIo<R>) -> Result<()> {
        self.loaded = ByteRange { start, end: start.saturating_add(size).min(self.end) };
        self.loaded_at = pieces.append(self.loaded, file)?;
        Ok(())
    }

    pub(crate) fn body<'a>(&self, bytes: &'a [u8]) -> PageBody<'a> {
        let at = if self.page.size == 0 { 0 } else { self.position(self.page.start) };
        PageBody {
            bytes: &bytes[at..at + self.page.size],
            uncompressed_size: u64::from(self.page.uncompressed_size),
            compression: self.compression,
            encoding: self.encoding,
            offset: FileOffset::new(self.page.start),
        }
    }

    /// The current page, unless all of its rows are null.
    pub(crate) fn value_page<'a>(&self, bytes: &'a [u8]) -> Option<ValuePage<'a>> {
        let data_type: DataType = self.series_type.data_type()?;
        (self.page.uncompressed_size > 0).then(|| ValuePage { body: self.body(bytes), data_type })
    }

    /// Where loaded bytes of the file are in the buffer.
    fn position(&self, offset: u64) -> usize {
        self.loaded_at + (offset - self.loaded.start) as usize
    }
}
