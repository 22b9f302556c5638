//! Text cells: 01, a four-byte size and the bytes, or 00 for a missing one.
//!
//! A `copy_from_slice` of a length known only at run time is a call; for cells of a few bytes the call is most of the time. So
//! short cells are copied by 16 or 32 bytes whatever their size, and the next cell overwrites what was too much. Only the last
//! cells, whose copy would pass the end of the source or of the place, take the exact way.

use tsloom_bitmap::NullWords;
use tsloom_encoding::bulk::Slot;
use tsloom_model::TextRef;

use crate::column::longest_cell;

/// Writes all cells into a place of exactly their size; null rows become the single byte 00.
pub(crate) fn fill<S: Slot>(out: &mut [S], text: TextRef<'_>, nulls: Option<NullWords<'_>>, longest: Option<u32>) {
    let longest = longest.unwrap_or_else(|| longest_cell(text.offsets()));
    let Some(nulls) = nulls else {
        let written = fill_present(out, text, longest);
        assert!(written == out.len(), "the place has the size of the cells");
        return;
    };
    let mut at = 0;
    for run in nulls.runs() {
        if run.set {
            out[at..at + run.count].fill(S::new(0));
            at += run.count;
        } else {
            at += fill_present(&mut out[at..], text.slice(run.start, run.count), longest);
        }
    }
    assert!(at == out.len(), "the place has the size of the cells");
}

/// Writes cells of which none is missing to the front of `out`. Returns the bytes written.
fn fill_present<S: Slot>(out: &mut [S], text: TextRef<'_>, longest: u32) -> usize {
    let (done, at) = match longest {
        0..=16 => fill_short::<S, 16, 21>(out, text),
        17..=32 => fill_short::<S, 32, 37>(out, text),
        _ => (0, 0),
    };
    let mut at = at;
    for index in done..text.len() {
        let cell = text.get(index);
        S::copy(&mut out[at..at + 5], &cell_head(cell.len() as u32).to_le_bytes()[..5]);
        S::copy(&mut out[at + 5..at + 5 + cell.len()], cell);
        at += 5 + cell.len();
    }
    at
}

/// Writes cells of at most `WIDTH` bytes as long as a copy of `WIDTH` bytes stays inside. `SIZE` is `WIDTH + 5`.
/// Returns the cells and the bytes written.
#[inline(always)]
fn fill_short<S: Slot, const WIDTH: usize, const SIZE: usize>(out: &mut [S], text: TextRef<'_>) -> (usize, usize) {
    const { assert!(SIZE == WIDTH + 5) };
    let bytes = text.bytes();
    let mut at = 0;
    let mut done = 0;
    for pair in text.offsets().windows(2) {
        let (from, size) = (pair[0] as usize, pair[1] - pair[0]);
        let Some(source) = bytes.get(from..).and_then(|rest| rest.first_chunk::<WIDTH>()) else { break };
        let Some(place) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<SIZE>()) else { break };
        place[..8].copy_from_slice(&S::array(cell_head(size).to_le_bytes()));
        place[5..].copy_from_slice(&S::array(*source));
        at += 5 + size as usize;
        done += 1;
    }
    (done, at)
}

/// Flag and big-endian size, in the low five bytes.
#[inline(always)]
fn cell_head(size: u32) -> u64 {
    u64::from(size.swap_bytes()) << 8 | 1
}
