//! A payload as columns that lie in the received buffers: [`BlockDecoder`].

use bytemuck::{checked, try_cast_slice};
use bytes::Bytes;
use tsloom_bitmap::{NullWords, words};
use tsloom_block::{Block, BlockColumn, BlockLayout};
use tsloom_model::{ColumnView, DataType, Error, ErrorKind, FileOffset, Grouped, PhysicalType, Result, TextRef, ValuesRef};

use super::{HEAD_COLUMN, HEAD_FIXED, NullMode, SECTION_ALIGN, aligned, head_len, width};
use crate::assembly::Chunks;
use crate::pool::BufferPool;

/// Reads the payloads of one mailbox; keeps its memory from block to block.
#[derive(Debug)]
pub struct BlockDecoder {
    schema: Vec<BlockColumn>,
    view: BlockView,
}

/// A block whose columns lie in the received buffers. They stay alive as long as this does.
#[derive(Debug, Default)]
pub struct BlockView {
    row_count: usize,
    times: Bytes,
    columns: Vec<Parts>,
}

/// The buffers of one column, checked.
#[derive(Debug)]
struct Parts {
    data_type: DataType,
    null_count: usize,
    validity: Bytes,
    values: Bytes,
    text: Bytes,
}

/// One column of a [`BlockView`].
#[derive(Clone, Copy, Debug)]
pub struct ColumnPart<'a> {
    /// What it holds.
    pub data_type: DataType,
    /// One slot a row; slots of null rows hold anything. `None` when every row is null.
    pub values: Option<ValuesRef<'a>>,
    /// Low bit first, 1 = valid; `None` when all rows are null or none is.
    pub validity: Option<&'a [u64]>,
    /// Number of null rows.
    pub null_count: usize,
}

impl BlockDecoder {
    /// For a mailbox whose blocks have these columns.
    pub fn new(schema: Vec<BlockColumn>) -> Self {
        Self { schema, view: BlockView::default() }
    }

    /// Checks a payload once and lends its columns. A section that came in several chunks is joined in a buffer of the pool; all others are
    /// read where they lie.
    ///
    /// # Errors
    /// `Truncated` and `Corrupt` with the position in the payload; `LimitExceeded` when the pool has no room.
    pub fn decode(&mut self, chunks: Chunks<'_>, pool: &BufferPool) -> Result<&BlockView> {
        self.release();
        let mut sections = Sections { chunks, pool, at: 0, part: 0, part_start: 0, byte_count: chunks.byte_count() };
        self.read(&mut sections).map_err(|error| error.at(FileOffset::new(sections.at as u64)).in_place("block"))?;
        Ok(&self.view)
    }

    /// Lets go of the buffers of the last block.
    pub fn release(&mut self) {
        self.view.columns.clear();
        self.view.times = Bytes::new();
        self.view.row_count = 0;
    }

    fn read(&mut self, sections: &mut Sections<'_>) -> Result<()> {
        let corrupt = |message: String| Error::new(ErrorKind::Corrupt, message);
        let expected = head_len(self.schema.len());
        let head = sections.take(expected)?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        if number(0) != expected || number(8) != self.schema.len() || number(12) != 0 {
            let message =
                format!("head of {} bytes for {} columns, expected {expected} for {}", number(0), number(8), self.schema.len());
            return Err(corrupt(message));
        }
        let row_count = number(4);
        self.view.row_count = row_count;
        self.view.times = sections.take(8 * row_count)?;
        for (index, column) in self.schema.iter().enumerate() {
            let at = HEAD_FIXED + HEAD_COLUMN * index;
            let parts = match head[at..at + 4] {
                [0, 0, 0, 0] => sections.column(column.data_type, row_count, NullMode::None, number(at + 4)),
                [1, 0, 0, 0] => sections.column(column.data_type, row_count, NullMode::All, number(at + 4)),
                [2, 0, 0, 0] => sections.column(column.data_type, row_count, NullMode::Words, number(at + 4)),
                _ => Err(corrupt(format!("null mode {:02x?}", &head[at..at + 4]))),
            };
            self.view.columns.push(parts.map_err(|error| error.in_column(&column.name))?);
        }
        if head[HEAD_FIXED + HEAD_COLUMN * self.schema.len()..].iter().any(|&byte| byte != 0) {
            return Err(corrupt("padding of the head is not zero".into()));
        }
        if sections.at != sections.byte_count {
            return Err(corrupt(format!("{} bytes after the last column", Grouped((sections.byte_count - sections.at) as u64))));
        }
        Ok(())
    }
}

/// Walks over the sections of a payload.
struct Sections<'a> {
    chunks: Chunks<'a>,
    pool: &'a BufferPool,
    /// Position in the payload, and the chunk that holds it.
    at: usize,
    part: usize,
    part_start: usize,
    byte_count: usize,
}

impl Sections<'_> {
    fn column(&mut self, data_type: DataType, row_count: usize, mode: NullMode, text_len: usize) -> Result<Parts> {
        let mut parts = Parts { data_type, null_count: 0, validity: Bytes::new(), values: Bytes::new(), text: Bytes::new() };
        match mode {
            NullMode::All => parts.null_count = row_count,
            NullMode::None => {}
            NullMode::Words => {
                parts.validity = self.take(8 * words::word_count(row_count))?;
                let validity = cast::<u64>(&parts.validity)?;
                let valid = words::count_ones(validity, 0, row_count);
                if validity.iter().map(|word| word.count_ones() as usize).sum::<usize>() != valid {
                    return Err(Error::new(ErrorKind::Corrupt, "validity past the last row"));
                }
                parts.null_count = row_count - valid;
            }
        }
        let text_expected = data_type.physical() == PhysicalType::Text && mode != NullMode::All;
        if text_len != 0 && !text_expected {
            return Err(Error::new(ErrorKind::Corrupt, format!("{text_len} bytes of text in a column without text")));
        }
        if mode != NullMode::All {
            self.values(&mut parts, row_count, text_len)?;
        }
        Ok(parts)
    }

    fn values(&mut self, parts: &mut Parts, row_count: usize, text_len: usize) -> Result<()> {
        let physical = parts.data_type.physical();
        let Some(width) = width(physical) else {
            parts.values = self.take(4 * (row_count + 1))?;
            parts.text = self.take(text_len)?;
            let offsets = cast::<u32>(&parts.values)?;
            if offsets[0] != 0 || offsets[row_count] as usize != text_len || !offsets.is_sorted() {
                return Err(Error::new(ErrorKind::Corrupt, format!("text offsets do not rise from 0 to {text_len}")));
            }
            return Ok(());
        };
        parts.values = self.take(width * row_count)?;
        if physical == PhysicalType::Boolean && checked::try_cast_slice::<u8, bool>(&parts.values).is_err() {
            return Err(Error::new(ErrorKind::Corrupt, "a BOOLEAN that is neither 0 nor 1"));
        }
        Ok(())
    }

    /// The next section of `len` bytes; its padding is skipped.
    fn take(&mut self, len: usize) -> Result<Bytes> {
        let padded = aligned(len);
        if padded > self.byte_count - self.at {
            let message =
                format!("a section of {} bytes, {} are left", Grouped(len as u64), Grouped((self.byte_count - self.at) as u64));
            return Err(Error::new(ErrorKind::Truncated, message));
        }
        if len == 0 {
            return Ok(Bytes::new());
        }
        while self.at - self.part_start >= self.part_len() {
            self.part_start += self.part_len();
            self.part += 1;
        }
        let from = self.at - self.part_start;
        let inside = self.part_len() - from >= len;
        let part = &self.chunks.parts()[self.part];
        let whole = inside && part.as_ref()[from..].as_ptr().align_offset(SECTION_ALIGN) == 0;
        let bytes = if whole { part.slice(from..from + len) } else { self.join(from, len)? };
        self.at += padded;
        Ok(bytes)
    }

    fn part_len(&self) -> usize {
        self.chunks.parts()[self.part].as_ref().len()
    }

    /// Copies a section that is cut, or lies askew, into a buffer of its own.
    fn join(&self, from: usize, len: usize) -> Result<Bytes> {
        let mut joined = self.pool.take(len)?;
        let parts = self.chunks.parts()[self.part..].iter().map(AsRef::as_ref);
        let bytes =
            parts.enumerate().flat_map(|(index, part): (usize, &[u8])| part[if index == 0 { from } else { 0 }..].chunks(1 << 16));
        let mut left = joined.as_mut();
        for chunk in bytes {
            let count = chunk.len().min(left.len());
            let (into, rest) = left.split_at_mut(count);
            into.copy_from_slice(&chunk[..count]);
            left = rest;
        }
        Ok(joined.freeze().into_bytes())
    }
}

fn cast<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Result<&[T]> {
    if bytes.is_empty() {
        return Ok(&[]);
    }
    try_cast_slice(bytes).map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))
}

impl BlockView {
    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// The time of every row.
    pub fn times(&self) -> &[i64] {
        cast(&self.times).expect("checked when it was decoded")
    }

    /// One column.
    ///
    /// # Panics
    /// When there is no such column, as slices do.
    pub fn column(&self, index: usize) -> ColumnPart<'_> {
        let parts = &self.columns[index];
        let validity = (!parts.validity.is_empty()).then(|| cast(&parts.validity).expect("checked when it was decoded"));
        let all_null = parts.null_count == self.row_count && validity.is_none() && self.row_count > 0;
        let values = (!all_null).then(|| parts.values());
        ColumnPart { data_type: parts.data_type, values, validity, null_count: parts.null_count }
    }
}

impl Parts {
    fn values(&self) -> ValuesRef<'_> {
        const CHECKED: &str = "checked when it was decoded";
        match self.data_type.physical() {
            PhysicalType::Boolean => ValuesRef::Boolean(checked::try_cast_slice(&self.values).expect(CHECKED)),
            PhysicalType::Int32 => ValuesRef::Int32(cast(&self.values).expect(CHECKED)),
            PhysicalType::Int64 => ValuesRef::Int64(cast(&self.values).expect(CHECKED)),
            PhysicalType::Float => ValuesRef::Float(cast(&self.values).expect(CHECKED)),
            PhysicalType::Double => ValuesRef::Double(cast(&self.values).expect(CHECKED)),
            PhysicalType::Text if self.values.is_empty() => ValuesRef::Text(TextRef::EMPTY),
            PhysicalType::Text => {
                let offsets = cast(&self.values).expect(CHECKED);
                ValuesRef::Text(TextRef::new(offsets, &self.text).expect(CHECKED))
            }
        }
    }
}

impl BlockView {
    /// A block of its own with these rows: the copy for who keeps them. `schema` is that of the mailbox.
    pub fn to_block(&self, schema: &[BlockColumn]) -> Option<Block> {
        let mut block = Block::new(&BlockLayout { row_budget: self.row_count, columns: schema.to_vec() });
        let (times, columns) = block.parts_mut();
        times.extend_from_slice(self.times());
        let mut nulls = Vec::new();
        for (index, column) in columns.iter_mut().enumerate() {
            let part = self.column(index);
            let Some(values) = part.values else {
                column.push_nulls(self.row_count);
                continue;
            };
            let nulls = part.validity.map(|validity| {
                nulls.clear();
                nulls.extend(validity.iter().map(|word| !word));
                NullWords::new(&nulls, 0, self.row_count)
            });
            if !column.extend(ColumnView::new(part.data_type, values, nulls)) {
                return None;
            }
        }
        Some(block)
    }
}
