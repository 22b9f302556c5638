//! Chunk groups of small devices: all rows of one at once, column by column.
//!
//! Where a device has few rows, looking at a chunk costs more than decoding it. So each chunk is found, expanded and decoded in one
//! go while it is at hand, and no state is kept of it.

use tsloom_block::Block;
use tsloom_format::ChunkKind;
use tsloom_io::ReadAt;
use tsloom_model::{Result, TimeRanges};

use super::GroupReader;
use crate::plan::FilePlan;
use crate::projection::FieldColumn;
use crate::reads::FileIo;

impl GroupReader {
    /// Appends all rows of a group of which nothing was deleted. False, and nothing is appended, unless every chunk begins like that
    /// of its column before, is in memory, and has one page: [`open`](Self::open) reads any group, and says what is wrong with it.
    pub(crate) fn append_whole<R: ReadAt>(
        &mut self,
        group: usize,
        rows_ahead: u64,
        plan: &FilePlan,
        fields: &[FieldColumn],
        file: &mut FileIo<R>,
        out: &mut Block,
    ) -> Result<bool> {
        let meta = &plan.groups()[group];
        if meta.field.is_some() || self.chunks.len() != fields.len() {
            return Ok(false);
        }
        if !self.is_loaded(group, plan) {
            self.load(group, rows_ahead, plan, file)?;
        }
        let pieces = &self.pieces;
        let Some(time) = self.time.only_page(meta.time.range, ChunkKind::Time, pieces) else { return Ok(false) };
        self.pages.open(&time, meta.row_count, meta.times)?;
        let from = out.row_count();
        out.reserve(self.pages.selected_count());
        let (times, columns) = out.parts_mut();
        self.pages.append_times(times);
        let mut page_count = 1;
        for ((chunk, place), field) in self.chunks.iter().zip(plan.chunks_of(group)).zip(fields) {
            let into = &mut columns[field.column];
            if place.is_absent() {
                self.pages.append_values(None, TimeRanges::NONE, into)?;
                continue;
            }
            let Some(page) = chunk.only_value_page(place.range, pieces) else {
                out.truncate(from);
                return Ok(false);
            };
            self.pages.append_values(Some(&page), TimeRanges::NONE, into)?;
            page_count += 1;
        }
        self.pages_decoded += page_count;
        Ok(true)
    }
}
