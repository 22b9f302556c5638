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
    let (done, mut at) = match longest {
        0..=19 => fill_groups::<S, 16, 64, 83, 103>(out, text),
        20..=35 => fill_groups::<S, 32, 128, 163, 183>(out, text),
        _ => (0, 0),
    };
    for index in done..text.len() {
        let cell = text.get(index);
        S::copy(&mut out[at..at + 5], &cell_head(cell.len() as u32).to_le_bytes()[..5]);
        S::copy(&mut out[at + 5..at + 5 + cell.len()], cell);
        at += 5 + cell.len();
    }
    at
}

/// Writes cells of at most `COPY + 3` bytes, four at a time, as long as the copies stay inside. Returns the cells and the bytes
/// written.
///
/// A cell is two stores: flag, size and its first three bytes, then `COPY` bytes. Four cells begin in the first `REACH` bytes of
/// their window, a power of two above three times their longest. Masking a position with `REACH - 1` changes nothing, but tells the
/// compiler so: one check of each window is enough, none is left for the cells.
#[inline(always)]
fn fill_groups<S: Slot, const COPY: usize, const REACH: usize, const IN: usize, const OUT: usize>(
    out: &mut [S],
    text: TextRef<'_>,
) -> (usize, usize) {
    const { assert!(REACH.is_power_of_two() && 3 * (COPY + 3) < REACH && IN == REACH + COPY + 3 && OUT == IN + 20) };
    let (offsets, bytes) = (text.offsets(), text.bytes());
    let mut at = 0;
    let mut done = 0;
    while let Some(group) = offsets[done..].first_chunk::<5>() {
        let Some(source) = bytes.get(group[0] as usize..).and_then(|rest| rest.first_chunk::<IN>()) else { break };
        let Some(place) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<OUT>()) else { break };
        for index in 0..4 {
            let from = (group[index] - group[0]) as usize & (REACH - 1);
            let to = from + 5 * index;
            // 01 00 00 00, then the size, which is one byte here, and three bytes of the cell.
            let first = u32::from_le_bytes(chunk(source, from)) << 8 | (group[index + 1] - group[index]);
            let head = u64::from(first) << 32 | 1;
            place[to..to + 8].copy_from_slice(&S::array(head.to_le_bytes()));
            place[to + 8..to + 8 + COPY].copy_from_slice(&S::array::<COPY>(chunk(source, from + 3)));
        }
        at += (group[4] - group[0]) as usize + 20;
        done += 4;
    }
    (done, at)
}

#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut chunk = [0; N];
    chunk.copy_from_slice(&bytes[at..at + N]);
    chunk
}

/// Flag and big-endian size, in the low five bytes.
#[inline(always)]
fn cell_head(size: u32) -> u64 {
    u64::from(size.swap_bytes()) << 8 | 1
}
