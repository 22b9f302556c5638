//! Rows by time, then device, in bounded memory.
//!
//! ```text
//! slice of time       about as many rows as may be held at once, as statistics guess
//! └─ one pass         the rows of all devices in it, by device, into a block behind the scenes
//!    └─ order         of these rows, by time; rows of one time stay in the order of devices
//! ```
//!
//! A slice that has more rows after all is made smaller. One that has a single time is in order as it comes, however many devices have it,
//! and is passed on without being held. A page that reaches into several slices is read for each of them.

use tsloom_block::{Block, ReusableBlock};
use tsloom_io::ReadAt;
use tsloom_model::{Result, TimeRange};

use crate::TableScan;
use crate::slices::{Spans, behind, held_rows_max, is_much_text, part_that_comes_first};
use crate::window::RowWindow;

/// Where a scan in time order stands.
pub(crate) struct ByTime {
    spans: Spans,
    /// What is still to be sliced.
    left: TimeRange,
    is_backwards: bool,
    /// Offset and limit of the whole scan.
    wanted: RowWindow,
    /// What passes fill.
    pass: ReusableBlock,
    held: Block,
    /// The rows of `held` in order, as runs: start and count.
    runs: Vec<(usize, usize)>,
    order: Vec<u32>,
    /// Runs that were given, and rows of the next one.
    at: (usize, usize),
    /// The pass under way has one time, and its rows go out as they come.
    is_streaming: bool,
}

impl ByTime {
    pub(crate) fn new(spans: Spans, wanted: RowWindow, held: Block, is_backwards: bool) -> Self {
        let left = wanted.times();
        Self {
            spans,
            left,
            is_backwards,
            wanted,
            pass: ReusableBlock::default(),
            held,
            runs: Vec::new(),
            order: Vec::new(),
            at: (0, 0),
            is_streaming: false,
        }
    }

    /// Appends the next rows to `out`, at most its budget. False when there are none.
    pub(crate) fn fill<R: ReadAt>(&mut self, scan: &mut TableScan<R>, out: &mut Block) -> Result<bool> {
        let budget = out.row_budget();
        while out.row_count() < budget && !self.wanted.is_done() {
            if self.at.0 == self.runs.len() && !self.hold_more(scan)? {
                break;
            }
            self.give(out, budget);
        }
        Ok(!out.is_empty())
    }

    /// Gives the next rows that are held.
    fn give(&mut self, out: &mut Block, budget: usize) {
        while let Some(&(start, count)) = self.runs.get(self.at.0) {
            let (skipped, given) = self.wanted.take_rows_into(count - self.at.1, budget - out.row_count());
            append_rows(&self.held, start + self.at.1 + skipped, given, out);
            self.at.1 += skipped + given;
            if self.at.1 < count {
                return; // there is no room, or no row is wanted any more
            }
            self.at = (self.at.0 + 1, 0);
        }
    }

    /// Holds the rows of the next slice that has some, in order. False at the end.
    fn hold_more<R: ReadAt>(&mut self, scan: &mut TableScan<R>) -> Result<bool> {
        let row_max = held_rows_max(scan.layout().columns.len());
        loop {
            self.start_holding();
            if self.is_streaming {
                self.is_streaming = self.hold_pass(scan, row_max, true)?;
                if self.held.is_empty() {
                    continue;
                }
                self.runs.push((0, self.held.row_count()));
                return Ok(true);
            }
            let row_count = self.wanted.rows_wanted().saturating_add(64).min(row_max as u64 / 2);
            let Some(mut slice) = self.spans.slice(self.left, row_count, self.is_backwards) else { return Ok(false) };
            loop {
                scan.begin(0..scan.device_count(), slice, self.is_backwards);
                if slice.start == slice.end {
                    self.is_streaming = true;
                    break;
                }
                if !self.hold_pass(scan, row_max, false)? {
                    break;
                }
                slice = part_that_comes_first(self.held.times(), slice, self.is_backwards);
                self.start_holding();
            }
            self.left = behind(self.left, slice, self.is_backwards);
            if !self.is_streaming && !self.held.is_empty() {
                self.arrange();
                return Ok(true);
            }
        }
    }

    fn start_holding(&mut self) {
        self.held.clear();
        self.runs.clear();
        self.at = (0, 0);
    }

    /// Holds rows of the pass that was begun: all of them, or one block. True when there are more, or too many to hold.
    fn hold_pass<R: ReadAt>(&mut self, scan: &mut TableScan<R>, row_max: usize, is_one_block: bool) -> Result<bool> {
        loop {
            let block = self.pass.acquire(scan.layout());
            if !scan.fill_block(block)? {
                return Ok(false);
            }
            append_rows(block, 0, block.row_count(), &mut self.held);
            if is_one_block || self.held.row_count() > row_max || is_much_text(&self.held) {
                return Ok(true);
            }
        }
    }

    /// Puts what is held in order, as runs of rows that already follow each other.
    fn arrange(&mut self) {
        let times = self.held.times();
        self.order.clear();
        self.order.extend(0..times.len() as u32);
        // Stable: rows of one time stay in the order in which devices were visited.
        if self.is_backwards {
            self.order.sort_by_key(|row| std::cmp::Reverse(times[*row as usize]));
        } else {
            self.order.sort_by_key(|row| times[*row as usize]);
        }
        for &row in &self.order {
            match self.runs.last_mut() {
                Some((start, count)) if *start + *count == row as usize => *count += 1,
                _ => self.runs.push((row as usize, 1)),
            }
        }
    }
}

/// Appends `count` rows of a block of the same layout, from row `start` on.
pub(crate) fn append_rows(from: &Block, start: usize, count: usize, out: &mut Block) {
    out.reserve(count);
    let (times, columns) = out.parts_mut();
    times.extend_from_slice(&from.times()[start..start + count]);
    for (column, into) in from.columns().iter().zip(columns) {
        assert!(into.extend_from(column, start, count), "both blocks have one layout");
    }
}
