//! Which bytes of a file are what: [`ByteMap`].
//!
//! ```text
//!      offset  size  what
//!           0     7  file head              TsFile, version 4
//!           7     8  chunk group            wind.R80736
//!          15     6  chunk header           TIME, TS_2DIFF, LZ4
//!          21     2  page header            21 bytes, compressed from 24
//!          23    21  page
//!           …
//! ```

use tsloom_encoding::WireReader;
use tsloom_format::{
    BloomFilter, HEAD_SIZE, IndexNode, KeyForm, SeriesMetadata, SeriesType, TAIL_SIZE, TableSchemaWire, VERSION_3,
};
use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Error, FileOffset, Grouped, Limits, Result};

use crate::walk::{Place, Visit, walk};
use crate::{ChunkRef, FileReader, RecoveredChunk, Recovery};

/// What a run of bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartKind {
    /// Magic and version.
    Head,
    /// The header of a chunk group.
    ChunkGroup,
    /// The header of a chunk.
    ChunkHeader,
    /// The header of a page.
    PageHeader,
    /// The body of a page, compressed.
    Page,
    /// An operation index range.
    OperationIndexRange,
    /// The byte that ends the body.
    Separator,
    /// The metadata of one series.
    Series,
    /// An index node that is not in the footer.
    IndexNode,
    /// The root of the index of one table, in the footer.
    IndexRoot,
    /// The schema of a table.
    Schema,
    /// Where the body ends.
    MetaOffset,
    /// The bloom filter.
    BloomFilter,
    /// The properties of the file.
    Properties,
    /// A count in the footer.
    Count,
    /// Size of the footer and magic.
    Tail,
    /// Bytes that nothing points to.
    Unknown,
}

impl PartKind {
    /// Every kind.
    pub const ALL: [Self; 17] = [
        Self::Head,
        Self::ChunkGroup,
        Self::ChunkHeader,
        Self::PageHeader,
        Self::Page,
        Self::OperationIndexRange,
        Self::Separator,
        Self::Series,
        Self::IndexNode,
        Self::IndexRoot,
        Self::Schema,
        Self::MetaOffset,
        Self::BloomFilter,
        Self::Properties,
        Self::Count,
        Self::Tail,
        Self::Unknown,
    ];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "file head",
            Self::ChunkGroup => "chunk group",
            Self::ChunkHeader => "chunk header",
            Self::PageHeader => "page header",
            Self::Page => "page",
            Self::OperationIndexRange => "operation index range",
            Self::Separator => "separator",
            Self::Series => "series metadata",
            Self::IndexNode => "index node",
            Self::IndexRoot => "index root",
            Self::Schema => "table schema",
            Self::MetaOffset => "metadata offset",
            Self::BloomFilter => "bloom filter",
            Self::Properties => "properties",
            Self::Count => "count",
            Self::Tail => "file tail",
            Self::Unknown => "unknown bytes",
        }
    }
}

/// A run of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub size: u64,
    /// What they are.
    pub kind: PartKind,
    /// Whose they are, and what they say.
    pub detail: String,
}

/// All bytes of a file, in order, each in one part if the file is sound.
#[derive(Debug)]
pub struct ByteMap {
    /// Bytes of the file.
    pub size: u64,
    /// The parts, ascending by offset.
    pub parts: Vec<Part>,
    /// What could not be told.
    pub problems: Vec<Error>,
}

impl ByteMap {
    /// The map of an open file. Page headers are read, pages are not decoded.
    ///
    /// # Errors
    /// When the file cannot be read. What is damaged is among [`problems`](Self::problems), and its bytes are unknown.
    pub fn of<R: ReadAt>(reader: &FileReader<R>) -> Result<Self> {
        let mut map = Self::of_body(reader.source(), reader.size(), reader.limits())?;
        walk(reader, &mut map);
        map.footer(reader)?;
        map.push(reader.size() - TAIL_SIZE as u64, TAIL_SIZE as u64, PartKind::Tail, "footer size, TsFile");
        map.fill_gaps();
        Ok(map)
    }

    /// The map of a file whose writer did not finish: what is whole, and the unknown rest.
    ///
    /// # Errors
    /// When the file cannot be read, or does not begin as a TsFile.
    pub fn of_unfinished<R: ReadAt + ?Sized>(source: &R, limits: &Limits) -> Result<Self> {
        let mut map = Self::of_body(source, source.size()?, limits)?;
        map.fill_gaps();
        Ok(map)
    }

    fn of_body<R: ReadAt + ?Sized>(source: &R, size: u64, limits: &Limits) -> Result<Self> {
        let recovery = Recovery::of(source, limits)?;
        let mut map = Self { size, parts: Vec::new(), problems: Vec::new() };
        map.push(0, HEAD_SIZE as u64, PartKind::Head, format!("TsFile, version {}", recovery.version));
        let mut end = HEAD_SIZE as u64;
        let mut bytes = Vec::new();
        for group in &recovery.groups {
            map.index_ranges(end, group.offset);
            let header_end = group.chunks.first().map_or(group.offset + group.size, |chunk| chunk.offset);
            map.push(group.offset, header_end - group.offset, PartKind::ChunkGroup, group.device.to_string());
            for chunk in &group.chunks {
                bytes.resize(limits.read_size(chunk.size)?, 0);
                source.read_exact_at(&mut bytes, chunk.offset)?;
                map.chunk(&bytes, chunk)?;
            }
            end = group.offset + group.size;
        }
        map.index_ranges(end, recovery.whole_size);
        if let Some(separator) = recovery.separator {
            map.push(separator, 1, PartKind::Separator, "");
        }
        map.problems.extend(recovery.stopped_by);
        Ok(map)
    }

    fn chunk(&mut self, bytes: &[u8], chunk: &RecoveredChunk) -> Result<()> {
        let parsed = ChunkRef::parse(bytes, chunk.offset)?;
        let header_size = parsed.size() - u64::from(parsed.header().data_size);
        let name = if chunk.measurement.is_empty() { "time".to_owned() } else { chunk.measurement.clone() };
        let what = format!("{name}: {}, {}, {}", type_name(chunk.series_type), chunk.encoding, chunk.compression);
        self.push(chunk.offset, header_size, PartKind::ChunkHeader, what);
        let mut at = chunk.offset + header_size;
        for page in parsed.pages() {
            let page = page?;
            let rows =
                page.statistics.map_or(String::new(), |statistics| format!(", {} values", Grouped(statistics.count().into())));
            if page.is_empty() {
                self.push(at, page.offset - at, PartKind::PageHeader, format!("{name}: every row is null"));
            } else {
                let (size, whole) = (Grouped(page.body.len() as u64), Grouped(page.uncompressed_size.into()));
                self.push(at, page.offset - at, PartKind::PageHeader, format!("{name}: {size} of {whole} bytes{rows}"));
                self.push(page.offset, page.body.len() as u64, PartKind::Page, name.as_str());
            }
            at = page.offset + page.body.len() as u64;
        }
        Ok(())
    }

    /// What lies between chunk groups.
    fn index_ranges(&mut self, mut from: u64, to: u64) {
        while from + 17 <= to {
            self.push(from, 17, PartKind::OperationIndexRange, "");
            from += 17;
        }
    }

    fn footer<R: ReadAt>(&mut self, reader: &FileReader<R>) -> Result<()> {
        let start = reader.footer_offset();
        let mut bytes = Vec::new();
        reader.read_range(start, reader.size() - TAIL_SIZE as u64 - start, &mut bytes)?;
        let mut wire = WireReader::with_base(&bytes, start as usize);
        let parsed = if reader.version() == VERSION_3 { self.old_footer(&mut wire) } else { self.new_footer(&mut wire) };
        parsed.map_err(|error| reader.blame(error))
    }

    fn new_footer(&mut self, wire: &mut WireReader<'_>) -> Result<()> {
        let table_count = self.count(wire, "tables")?;
        for _ in 0..table_count {
            let at = wire.position() as u64;
            let name = wire.vstr_present()?;
            let node = IndexNode::parse(wire, KeyForm::Device)?;
            self.push(at, wire.position() as u64 - at, PartKind::IndexRoot, format!("{name}: {node:?}"));
        }
        let schema_count = self.count(wire, "schemas")?;
        for _ in 0..schema_count {
            let at = wire.position() as u64;
            let name = wire.vstr_present()?;
            let schema = TableSchemaWire::parse(name, wire)?;
            let what = format!("{name}: {} columns", schema.columns().len());
            self.push(at, wire.position() as u64 - at, PartKind::Schema, what);
        }
        self.end_of_footer(wire)
    }

    fn old_footer(&mut self, wire: &mut WireReader<'_>) -> Result<()> {
        let at = wire.position() as u64;
        let node = IndexNode::parse(wire, KeyForm::DevicePath)?;
        self.push(at, wire.position() as u64 - at, PartKind::IndexRoot, format!("{node:?}"));
        self.end_of_footer(wire)
    }

    fn end_of_footer(&mut self, wire: &mut WireReader<'_>) -> Result<()> {
        let at = wire.position() as u64;
        let offset = wire.u64()?;
        self.push(at, 8, PartKind::MetaOffset, Grouped(offset).to_string());
        let at = wire.position() as u64;
        let filter = BloomFilter::parse(wire)?;
        let what = filter.map_or("none".to_owned(), |filter| {
            format!("{} bits, {} hashes", Grouped(filter.size().into()), filter.hash_count())
        });
        self.push(at, wire.position() as u64 - at, PartKind::BloomFilter, what);
        if !wire.is_empty() {
            let at = wire.position() as u64;
            self.push(at, wire.remaining() as u64, PartKind::Properties, "");
        }
        Ok(())
    }

    fn count(&mut self, wire: &mut WireReader<'_>, what: &str) -> Result<u32> {
        let at = wire.position() as u64;
        let count = wire.uvar()?;
        self.push(at, wire.position() as u64 - at, PartKind::Count, format!("{count} {what}"));
        Ok(count)
    }

    fn push(&mut self, offset: u64, size: u64, kind: PartKind, detail: impl Into<String>) {
        self.parts.push(Part { offset, size, kind, detail: detail.into() });
    }

    /// Sorts the parts and names what is between them. Of bytes that are pointed to twice the first part stays.
    fn fill_gaps(&mut self) {
        self.parts.sort_by_key(|part| (part.offset, part.size));
        let mut whole: Vec<Part> = Vec::with_capacity(self.parts.len());
        let mut end = 0;
        for part in self.parts.drain(..) {
            if part.offset > end {
                whole.push(unknown(end, part.offset));
            }
            if part.offset < end {
                let message = format!("a {} begins inside of what is before it", part.kind.name());
                self.problems.push(
                    Error::new(tsloom_model::ErrorKind::Corrupt, message).at(FileOffset::new(part.offset)).in_place("byte map"),
                );
                continue;
            }
            end = part.offset + part.size;
            whole.push(part);
        }
        if end < self.size {
            whole.push(unknown(end, self.size));
        }
        self.parts = whole;
    }
}

fn unknown(start: u64, end: u64) -> Part {
    Part { offset: start, size: end - start, kind: PartKind::Unknown, detail: String::new() }
}

fn type_name(series_type: SeriesType) -> &'static str {
    series_type.data_type().map_or("VECTOR", |data_type| data_type.name())
}

impl Visit for ByteMap {
    fn node(&mut self, place: Place, node: &IndexNode<'_>, device: Option<&DeviceId>) {
        let what = device.map_or_else(|| format!("{node:?}"), |device| format!("{device}: {node:?}"));
        self.push(place.offset, place.size, PartKind::IndexNode, what);
    }

    fn series(&mut self, place: Place, device: &DeviceId, series: &SeriesMetadata<'_>) {
        let name = if series.measurement.is_empty() { "time" } else { series.measurement };
        let (kind, count) = (type_name(series.series_type), Grouped(series.statistics.count().into()));
        self.push(place.offset, place.size, PartKind::Series, format!("{device}: {name}: {kind}, {count} values"));
    }

    fn problem(&mut self, error: Error) {
        self.problems.push(error);
    }
}
