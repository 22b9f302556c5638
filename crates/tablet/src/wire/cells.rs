//! Text cells: 01, a four-byte size and the bytes, or 00 for a missing one.
//!
//! A `copy_from_slice` of a length known only at run time is a call; for cells of a few bytes the call is most of the time. So
//! short cells are copied by a fixed width whatever their size, and the next cell overwrites what was too much. Only the last
//! cells, whose copy would pass the end of the source or of the place, take the exact way.
//!
//! ```text
//! 01 00 00 00 size b0 b1 b2 | b3 b4 ... b(COPY + 2)      two stores a cell, three where COPY is 32
//! ```
//!
//! Cells go in groups, each with a window of fixed size in the source and in the place. All cells of a group begin in the first
//! `REACH` bytes of the window, a power of two. Masking a position with `REACH - 1` changes nothing, but tells the compiler so: one
//! check of each window is enough, none is left for the cells.

use tsloom_bitmap::NullWords;
use tsloom_encoding::bulk::Slot;
use tsloom_model::TextRef;

use crate::column::longest_cell;

/// Writes all cells into a place of exactly their size; null rows become the single byte 00. No cell is longer than `longest`.
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
    let mut cells = Cells { out, text, done: 0, at: 0 };
    // Codes, hashes and fixed tags: when the sum of the lengths is what it is if all are the longest, then all are.
    let is_equal = text.byte_count() == longest as usize * text.len();
    match longest {
        0..=16 if !is_equal => {
            cells.fill_small();
            cells.fill_groups::<5, 16, 64, 83, 103>();
        }
        0..=19 => {
            if is_equal {
                cells.fill_equal::<8, 16, 256, 275, 315>(longest);
            }
            cells.fill_groups::<9, 16, 256, 275, 315>();
            cells.fill_groups::<5, 16, 64, 83, 103>();
        }
        20..=35 => {
            if is_equal {
                cells.fill_equal::<4, 32, 128, 163, 183>(longest);
            }
            cells.fill_groups::<5, 32, 128, 163, 183>();
        }
        _ => {}
    }
    cells.fill_rest()
}

/// Cells on their way.
struct Cells<'a, 'o, S> {
    out: &'o mut [S],
    text: TextRef<'a>,
    /// Cells that are written, and their bytes.
    done: usize,
    at: usize,
}

impl<S: Slot> Cells<'_, '_, S> {
    /// Writes cells of at most `COPY + 3` bytes, `ENDS - 1` at a time, as long as the windows are inside.
    #[inline(always)]
    fn fill_groups<const ENDS: usize, const COPY: usize, const REACH: usize, const IN: usize, const OUT: usize>(&mut self) {
        const {
            assert!(REACH.is_power_of_two() && (ENDS - 2) * (COPY + 3) < REACH);
            assert!(IN == REACH + COPY + 3 && OUT == IN + 5 * (ENDS - 1));
        };
        let (offsets, bytes) = (self.text.offsets(), self.text.bytes());
        let (mut done, mut at) = (self.done, self.at);
        while let Some(group) = offsets.get(done..).and_then(|rest| rest.first_chunk::<ENDS>()) {
            let Some(source) = bytes.get(group[0] as usize..).and_then(|rest| rest.first_chunk::<IN>()) else { break };
            let Some(place) = self.out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<OUT>()) else { break };
            for index in 0..ENDS - 1 {
                let from = (group[index] - group[0]) as usize & (REACH - 1);
                put_cell::<S, COPY>(place, from + 5 * index, source, from, group[index + 1] - group[index]);
            }
            at += (group[ENDS - 1] - group[0]) as usize + 5 * (ENDS - 1);
            done += ENDS - 1;
        }
        (self.done, self.at) = (done, at);
    }

    /// The same for cells of at most 16 bytes, eight at a time. Here the size stands alone in its store, so that the eight of
    /// them become vector code, and the cell overwrites the three bytes behind it.
    #[inline(always)]
    fn fill_small(&mut self) {
        const REACH: usize = 128;
        let (offsets, bytes) = (self.text.offsets(), self.text.bytes());
        let (mut done, mut at) = (self.done, self.at);
        while let Some(group) = offsets.get(done..).and_then(|rest| rest.first_chunk::<9>()) {
            let Some(source) = bytes.get(group[0] as usize..).and_then(|rest| rest.first_chunk::<{ REACH + 16 }>()) else {
                break;
            };
            let Some(place) = self.out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<{ REACH + 61 }>()) else { break };
            let (mut heads, mut starts) = ([0; 8], [0; 8]);
            for index in 0..8 {
                heads[index] = u64::from(group[index + 1] - group[index]) << 32 | 1;
                starts[index] = (group[index] - group[0]) & (REACH as u32 - 1);
            }
            for index in 0..8 {
                let from = starts[index] as usize;
                let to = from + 5 * index;
                place[to..to + 8].copy_from_slice(&S::array(heads[index].to_le_bytes()));
                place[to + 5..to + 21].copy_from_slice(&S::array::<16>(chunk(source, from)));
            }
            at += (group[8] - group[0]) as usize + 40;
            done += 8;
        }
        (self.done, self.at) = (done, at);
    }

    /// The same for cells that are all `size` bytes long, `COUNT` at a time: no offset needs to be looked at.
    #[inline(always)]
    fn fill_equal<const COUNT: usize, const COPY: usize, const REACH: usize, const IN: usize, const OUT: usize>(
        &mut self,
        size: u32,
    ) {
        const {
            assert!(REACH.is_power_of_two() && (COUNT - 1) * (COPY + 3) < REACH);
            assert!(IN == REACH + COPY + 3 && OUT == IN + 5 * COUNT);
        };
        let bytes = &self.text.bytes()[self.text.offsets()[0] as usize..];
        let (mut done, mut at, mut start) = (self.done, self.at, 0);
        while self.text.len() - done >= COUNT {
            let Some(source) = bytes.get(start..).and_then(|rest| rest.first_chunk::<IN>()) else { break };
            let Some(place) = self.out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<OUT>()) else { break };
            for index in 0..COUNT {
                let from = (size as usize * index) & (REACH - 1);
                put_cell::<S, COPY>(place, from + 5 * index, source, from, size);
            }
            start += size as usize * COUNT;
            at += (size as usize + 5) * COUNT;
            done += COUNT;
        }
        (self.done, self.at) = (done, at);
    }

    /// Writes the cells that are left, each exactly. Returns the bytes of all cells.
    fn fill_rest(self) -> usize {
        let Self { out, text, done, mut at } = self;
        for index in done..text.len() {
            let cell = text.get(index);
            let [s0, s1, s2, s3] = (cell.len() as u32).to_be_bytes();
            S::copy(&mut out[at..at + 5], &[1, s0, s1, s2, s3]);
            S::copy(&mut out[at + 5..at + 5 + cell.len()], cell);
            at += 5 + cell.len();
        }
        at
    }
}

/// Writes one cell of at most `COPY + 3` bytes, and what follows it in the source up to that width.
#[inline(always)]
fn put_cell<S: Slot, const COPY: usize>(place: &mut [S], to: usize, source: &[u8], from: usize, size: u32) {
    let first = u32::from_le_bytes(chunk(source, from)) << 8 | size;
    let head = u64::from(first) << 32 | 1;
    place[to..to + 8].copy_from_slice(&S::array(head.to_le_bytes()));
    // Upwards: stores that overlap in the other order take twice the time.
    for part in 0..COPY / 16 {
        let (to, from) = (to + 8 + part * 16, from + 3 + part * 16);
        place[to..to + 16].copy_from_slice(&S::array::<16>(chunk(source, from)));
    }
}

#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut chunk = [0; N];
    chunk.copy_from_slice(&bytes[at..at + N]);
    chunk
}
