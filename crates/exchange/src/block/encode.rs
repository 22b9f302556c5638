//! A block as chunks of borrowed sections: [`BlockEncoder`].

use bytemuck::cast_slice;
use tsloom_block::{Block, Column};
use tsloom_model::{Error, ErrorKind, Result, ValuesRef};

use super::{NullMode, SECTION_ALIGN, aligned, head_len};

const ZEROS: [u8; SECTION_ALIGN] = [0; SECTION_ALIGN];

/// Plans how blocks travel; keeps the memory of the head from block to block.
#[derive(Debug)]
pub struct BlockEncoder {
    chunk_bytes: usize,
    head: Vec<u8>,
    /// Where each chunk begins, and at last where the payload ends.
    cuts: Vec<Cut>,
}

/// A place in the payload: `offset` bytes into section `section`, which begins at `section_start`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cut {
    at: usize,
    section: usize,
    section_start: usize,
}

impl BlockEncoder {
    /// Cuts blocks into chunks of at most `chunk_bytes` bytes, rounded up to a multiple of 64.
    pub fn new(chunk_bytes: usize) -> Self {
        Self { chunk_bytes: aligned(chunk_bytes.max(1)), head: Vec::new(), cuts: Vec::new() }
    }

    /// The block as it travels. Nothing is copied but the head.
    ///
    /// # Errors
    /// `InvalidArgument` for more than `u32::MAX` rows, columns or text bytes of a column, and for a block that is cut into more than
    /// 65,534 chunks.
    pub fn encode<'a>(&'a mut self, block: &'a Block) -> Result<EncodedBlock<'a>> {
        self.write_head(block)?;
        self.cut(block);
        if self.cuts.len() > usize::from(u16::MAX) {
            let message = format!("a block of more than 65,534 chunks of {} bytes", self.chunk_bytes);
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(EncodedBlock { head: &self.head, block, cuts: &self.cuts })
    }

    fn write_head(&mut self, block: &Block) -> Result<()> {
        self.head.clear();
        let columns = block.columns();
        for number in [head_len(columns.len()), block.row_count(), columns.len(), 0] {
            self.head.extend_from_slice(&count(number)?.to_le_bytes());
        }
        for column in columns {
            let text_len = match (null_mode(column), column.values().as_values()) {
                (NullMode::None | NullMode::Words, ValuesRef::Text(text)) => text.byte_count(),
                _ => 0,
            };
            self.head.extend_from_slice(&[null_mode(column) as u8, 0, 0, 0]);
            self.head.extend_from_slice(&count(text_len)?.to_le_bytes());
        }
        self.head.resize(head_len(columns.len()), 0);
        Ok(())
    }

    /// Cuts between sections where a whole section fits into a chunk, and inside those that do not.
    fn cut(&mut self, block: &Block) {
        self.cuts.clear();
        self.cuts.push(Cut::default());
        let (mut at, mut chunk_start) = (0, 0);
        let mut section = 0;
        for bytes in sections(&self.head, block) {
            let end = at + aligned(bytes.len());
            if end - chunk_start > self.chunk_bytes && at > chunk_start {
                chunk_start = at;
                self.cuts.push(Cut { at, section, section_start: at });
            }
            while end - chunk_start > self.chunk_bytes {
                chunk_start += self.chunk_bytes;
                self.cuts.push(Cut { at: chunk_start, section, section_start: at });
            }
            (at, section) = (end, section + 1);
        }
        self.cuts.push(Cut { at, section, section_start: at });
    }
}

fn count(number: usize) -> Result<u32> {
    u32::try_from(number)
        .map_err(|_| Error::new(ErrorKind::InvalidArgument, format!("{number} rows, columns or bytes in one block")))
}

fn null_mode(column: &Column) -> NullMode {
    match column.null_count() {
        0 => NullMode::None,
        nulls if nulls == column.row_count() => NullMode::All,
        _ => NullMode::Words,
    }
}

/// The sections of a payload without their padding.
fn sections<'a>(head: &'a [u8], block: &'a Block) -> impl Iterator<Item = &'a [u8]> + Clone {
    let times: &[u8] = cast_slice(block.times());
    [head, times].into_iter().chain(block.columns().iter().flat_map(column_sections))
}

fn column_sections(column: &Column) -> impl Iterator<Item = &[u8]> + Clone {
    let mode = null_mode(column);
    let validity = column.validity().filter(|_| mode == NullMode::Words).map(cast_slice);
    let (values, text): (&[u8], Option<&[u8]>) = match column.values().as_values() {
        ValuesRef::Boolean(values) => (cast_slice(values), None),
        ValuesRef::Int32(values) => (cast_slice(values), None),
        ValuesRef::Int64(values) => (cast_slice(values), None),
        ValuesRef::Float(values) => (cast_slice(values), None),
        ValuesRef::Double(values) => (cast_slice(values), None),
        ValuesRef::Text(text) => (cast_slice(text.offsets()), Some(&text.bytes()[..text.byte_count()])),
    };
    let values = (mode != NullMode::All).then_some(values);
    validity.into_iter().chain(values).chain(text.filter(|_| mode != NullMode::All))
}

/// A block as it travels: chunks made of its own buffers.
#[derive(Clone, Copy, Debug)]
pub struct EncodedBlock<'a> {
    head: &'a [u8],
    block: &'a Block,
    cuts: &'a [Cut],
}

impl<'a> EncodedBlock<'a> {
    /// Bytes of the payload, padding included.
    pub fn encoded_len(&self) -> usize {
        self.cuts[self.cuts.len() - 1].at
    }

    /// Number of chunks; at least one.
    pub fn chunk_count(&self) -> u16 {
        (self.cuts.len() - 1) as u16
    }

    /// The parts of one chunk in order, padding included.
    ///
    /// # Panics
    /// When there is no such chunk, as slices do.
    pub fn chunk(&self, index: u16) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        let (start, end) = (self.cuts[usize::from(index)], self.cuts[usize::from(index) + 1]);
        let padded = sections(self.head, self.block)
            .skip(start.section)
            .flat_map(|section| [section, &ZEROS[..aligned(section.len()) - section.len()]]);
        let skip = start.at - start.section_start;
        padded
            .scan((skip, end.at - start.at), |(skip, left), part| {
                let from = part.len().min(*skip);
                *skip -= from;
                let to = part.len().min(from + *left);
                *left -= to - from;
                (*left > 0 || to > from).then_some(&part[from..to])
            })
            .filter(|part| !part.is_empty())
    }
}
