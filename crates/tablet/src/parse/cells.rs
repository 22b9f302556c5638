//! Text cells from the wire into offsets and bytes: found and copied in one walk.
//!
//! Where a cell begins is known only after the one before it, and that chain is what takes the time; the copy hides behind it as
//! long as it is no call. So short cells are copied by a fixed width (see [`crate::wire::cells`]).

use tsloom_bitmap::words;
use tsloom_encoding::{Truncated, WireError};
use tsloom_model::TextValues;

use crate::layout::cell_size;

/// Room kept behind the last byte, so that short cells can be copied by a fixed width.
const SLACK: usize = 32;

/// What was read.
pub(super) struct Cells {
    /// Bytes on the wire.
    pub(super) size: usize,
    /// Length of the longest cell.
    pub(super) longest: u32,
    /// True when a cell was missing in a row that was not marked; it is marked now.
    pub(super) has_unmarked: bool,
}

/// Replaces `text` by the cells at the front of `bytes`. Rows marked in `nulls` (looked at when `is_marked`) become empty, whatever
/// stands in their slot; missing cells of other rows are marked. An error comes with its position in `bytes`.
pub(super) fn read(
    bytes: &[u8],
    row_count: usize,
    text: &mut TextValues,
    nulls: &mut Vec<u64>,
    is_marked: bool,
) -> Result<Cells, (WireError, usize)> {
    if row_count > bytes.len() {
        return Err((Truncated { need: row_count, have: bytes.len(), at: 0 }.into(), 0));
    }
    let (offsets, out) = text.parts_mut();
    offsets.resize(row_count + 1, 0);
    offsets[0] = 0;
    let mut cells = Cells { size: 0, longest: 0, has_unmarked: false };
    let mut written = 0;
    for row in 0..row_count {
        let rest = &bytes[cells.size..];
        let size = cell_size(rest).map_err(|error| (error, cells.size))?;
        cells.size += size;
        let is_null = is_marked && words::get(nulls, row);
        if !is_null {
            if size >= 5 {
                let length = size - 5;
                copy_cell(out, written, &rest[5..], length);
                written += length;
                cells.longest = cells.longest.max(length as u32);
            } else {
                nulls.resize(words::word_count(row_count), 0);
                words::set(nulls, row);
                cells.has_unmarked = true;
            }
        }
        offsets[row + 1] = written as u32;
    }
    out.truncate(written);
    Ok(cells)
}

/// Copies the first `length` bytes of `source` to `out[at..]`, and more than these when it is quicker.
#[inline(always)]
fn copy_cell(out: &mut Vec<u8>, at: usize, source: &[u8], length: usize) {
    if out.len() < at + length + SLACK {
        grow(out, at + length + SLACK);
    }
    let place = &mut out[at..];
    if length <= 16
        && let (Some(place), Some(source)) = (place.first_chunk_mut::<16>(), source.first_chunk::<16>())
    {
        *place = *source;
    } else if length <= 32
        && let (Some(place), Some(source)) = (place.first_chunk_mut::<32>(), source.first_chunk::<32>())
    {
        *place = *source;
    } else {
        place[..length].copy_from_slice(&source[..length]);
    }
}

/// Bytes past the last cell are cut off at the end, so growth follows what was read.
#[cold]
fn grow(out: &mut Vec<u8>, size: usize) {
    let size = size.max(out.len().saturating_mul(2));
    out.resize(size, 0);
}
