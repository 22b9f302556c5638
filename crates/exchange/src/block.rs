//! The payload codec of blocks: a small head and the columns as they lie in memory.
//!
//! ```text
//! all numbers little-endian; every section starts at a multiple of 64 from the start of the payload, gaps are zero
//! head      u32 head_len (a multiple of 64)   u32 row_count   u32 column_count   u32 0
//!           per column: u8 null mode (0 no null, 1 all null, 2 words), 3 x 0, u32 text_len (bytes of a text column, else 0)
//! times     i64 x row_count
//! per column, in the order of the mailbox's schema:
//!   validity  (mode words)    u64 x ceil(row_count / 64): low bit first, 1 = valid, bits past the last row 0
//!   values    (not all null)  fixed width x row_count, null slots included
//!             text:           u32 offset x (row_count + 1), beginning with 0; then text_len bytes, a section of their own
//! ```
//!
//! A column without nulls or without values costs its 8 bytes in the head. Names and types are in the mailbox's schema, sent once.
//! [`BlockEncoder`] copies no column: the sections are the block's own buffers. [`BlockDecoder`] copies none that came in one chunk.

mod decode;
mod encode;

pub use decode::{BlockDecoder, BlockView, ColumnPart};
pub use encode::{BlockEncoder, EncodedBlock};

#[cfg(target_endian = "big")]
compile_error!("blocks travel as they lie in memory, little-endian; a big-endian host needs a codec that swaps");

use tsloom_model::PhysicalType;

const SECTION_ALIGN: usize = 64;
const HEAD_FIXED: usize = 16;
const HEAD_COLUMN: usize = 8;

/// How the nulls of a column travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum NullMode {
    None = 0,
    All = 1,
    Words = 2,
}

fn aligned(size: usize) -> usize {
    size.next_multiple_of(SECTION_ALIGN)
}

fn head_len(column_count: usize) -> usize {
    aligned(HEAD_FIXED + HEAD_COLUMN * column_count)
}

/// Bytes of one value in memory; text has none.
fn width(physical: PhysicalType) -> Option<usize> {
    match physical {
        PhysicalType::Boolean => Some(1),
        PhysicalType::Int32 | PhysicalType::Float => Some(4),
        PhysicalType::Int64 | PhysicalType::Double => Some(8),
        PhysicalType::Text => None,
    }
}

#[cfg(test)]
mod tests;
