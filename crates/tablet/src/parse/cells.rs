//! Text cells from the wire into offsets and bytes: found and copied in one walk.
//!
//! Where a cell begins is known only after the one before it, and that chain is what takes the time; the copy hides behind it as
//! long as it is no call. So short cells are copied by a fixed width (see [`crate::wire::cells`]), and the chain is broken where
//! several cells in a row have one length.

use tsloom_bitmap::words;
use tsloom_encoding::{Truncated, WireError};
use tsloom_model::TextValues;

use crate::layout::{RUN, cell_size, equal_cells, short_cell};

/// Cells up to this length are copied by this width.
const SHORT: usize = 32;

/// Room made for more cells when there is none.
const ROOM: usize = 1024;

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
    let (mut row, mut written) = (0, 0);
    while row < row_count {
        let run = if is_marked { words::load(nulls, row).trailing_zeros() as usize } else { row_count };
        let end = row_count.min(row + run);
        let short = read_short(&bytes[cells.size..], &mut offsets[row + 1..end + 1], out, written);
        row += short.count;
        cells.size += short.size;
        written = short.end;
        cells.longest = cells.longest.max(short.longest as u32);
        if row == row_count {
            break;
        }
        // One cell that is long, missing, null, broken or near an end.
        let rest = &bytes[cells.size..];
        let size = cell_size(rest).map_err(|error| (error, cells.size))?;
        cells.size += size;
        let is_null = is_marked && words::get(nulls, row);
        if !is_null && size >= 5 {
            copy_exact(out, written, &rest[5..size]);
            written += size - 5;
            cells.longest = cells.longest.max((size - 5) as u32);
        } else if !is_null {
            nulls.resize(words::word_count(row_count), 0);
            words::set(nulls, row);
            cells.has_unmarked = true;
        }
        row += 1;
        offsets[row] = written as u32;
    }
    out.truncate(written);
    Ok(cells)
}

/// Short cells read so far.
struct Short {
    count: usize,
    /// Bytes on the wire.
    size: usize,
    /// Bytes of text, those before the first of these cells included.
    end: usize,
    longest: usize,
}

/// Copies cells to `out[start..]` and notes their ends, as long as they are there, short, and `SHORT` bytes can be copied whatever
/// their length.
fn read_short(bytes: &[u8], ends: &mut [u32], out: &mut [u8], start: usize) -> Short {
    let mut short = Short { count: 0, size: 0, end: start, longest: 0 };
    for ends in ends.chunks_mut(RUN) {
        let is_read = ends.len() == RUN && short.read_equal(bytes, ends, out);
        if !is_read && !short.read_each(bytes, ends, out) {
            break;
        }
    }
    short
}

impl Short {
    /// Reads [`RUN`] cells of one length, or none of them.
    #[inline(always)]
    fn read_equal(&mut self, bytes: &[u8], ends: &mut [u32], out: &mut [u8]) -> bool {
        let bytes = &bytes[self.size..];
        let Some(length) = equal_cells(bytes).filter(|length| *length <= SHORT) else { return false };
        let size = 5 + length;
        let Some(cells) = bytes.get(..(RUN - 1) * size + 5 + SHORT) else { return false };
        let Some(places) = out.get_mut(self.end..self.end + (RUN - 1) * length + SHORT) else { return false };
        for (index, end) in ends.iter_mut().enumerate() {
            let cell = &cells[index * size + 5..][..SHORT];
            copy_short(&mut places[index * length..][..SHORT], cell);
            *end = (self.end + (index + 1) * length) as u32;
        }
        self.count += RUN;
        self.size += RUN * size;
        self.end += RUN * length;
        self.longest = self.longest.max(length);
        true
    }

    /// Reads cells one after the other, and says whether it got through.
    #[inline(always)]
    fn read_each(&mut self, bytes: &[u8], ends: &mut [u32], out: &mut [u8]) -> bool {
        let (mut at, mut to, mut longest) = (self.size, self.end, self.longest);
        let mut count = 0;
        let wanted = ends.len();
        for end in ends {
            let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<{ 5 + SHORT }>()) else { break };
            let Some(place) = out.get_mut(to..).and_then(|rest| rest.first_chunk_mut::<SHORT>()) else { break };
            let Some(length) = short_cell(window).filter(|length| *length <= SHORT) else { break };
            copy_short(place, &window[5..]);
            at += 5 + length;
            to += length;
            longest = longest.max(length);
            *end = to as u32;
            count += 1;
        }
        *self = Self { count: self.count + count, size: at, end: to, longest };
        count == wanted
    }
}

/// Upwards and in halves: stores that overlap in the other order take twice the time.
#[inline(always)]
fn copy_short(place: &mut [u8], cell: &[u8]) {
    place[..16].copy_from_slice(&cell[..16]);
    place[16..SHORT].copy_from_slice(&cell[16..SHORT]);
}

/// Copies a cell to `out[at..]` and leaves room for short ones behind it. Bytes past the last cell are cut off at the end, so growth
/// follows what was read.
fn copy_exact(out: &mut Vec<u8>, at: usize, cell: &[u8]) {
    let end = at + cell.len();
    if out.len() < end + SHORT {
        out.resize(end + ROOM, 0);
    }
    out[at..end].copy_from_slice(cell);
}
