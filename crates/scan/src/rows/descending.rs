//! Rows of a device from the latest on.
//!
//! Clusters come from the last to the first. Files are read forward, so of each a slice of time is held that has no more rows than
//! may be held at once: read in ascending order and given from its last row on. A slice that has more after all is made smaller.

use std::ops::Range;

use tsloom_block::Block;
use tsloom_io::ReadAt;
use tsloom_model::{Result, TimeRange};

use super::stage::Stage;
use super::{DeviceRows, Part, cluster_from};
use crate::projection::Projection;
use crate::slices::{Spans, behind, half, held_rows_max, is_much_text, part_that_comes_first};
use crate::sources::{OpenSource, Step};
use crate::window::RowWindow;

/// What is still to be read of the device, and the rows that are held.
pub(super) struct Descending {
    /// The clusters that are still to be read; the last comes first.
    clusters: Vec<Range<usize>>,
    /// The cluster under way, where its rows lie, and what of its time is still to be read.
    cluster: Range<usize>,
    spans: Spans,
    left: TimeRange,
    /// Latest first.
    rows: Stage,
}

impl Descending {
    pub(super) fn new() -> Self {
        let (clusters, spans) = (Vec::new(), Spans::default());
        Self { clusters, cluster: 0..0, spans, left: TimeRange::EMPTY, rows: Stage::new() }
    }

    /// Takes up the parts of a device.
    pub(super) fn turn_to(&mut self, parts: &[Part]) {
        self.clusters.clear();
        self.left = TimeRange::EMPTY;
        self.rows.clear();
        let mut start = 0;
        while let Some(cluster) = cluster_from(parts, start) {
            start = cluster.end;
            self.clusters.push(cluster);
        }
    }

    /// The latest times of which nothing was read, with about `row_count` rows. `None` at the end.
    fn next_slice(&mut self, parts: &[Part], times: TimeRange, row_count: u64) -> Option<TimeRange> {
        loop {
            if let Some(slice) = self.spans.slice(self.left, row_count, true) {
                return Some(slice);
            }
            self.cluster = self.clusters.pop()?;
            self.spans.clear();
            parts[self.cluster.clone()].iter().for_each(|part| self.spans.push(part.times, part.row_count));
            self.left = times;
        }
    }
}

impl DeviceRows {
    /// [`next`](Self::next) of a scan from the latest row on.
    pub(super) fn next_descending<R: ReadAt>(
        &mut self,
        descending: &mut Descending,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &mut RowWindow,
        out: &mut Block,
        room: usize,
    ) -> Result<Step> {
        loop {
            if descending.rows.left() > 0 {
                let (skipped, given) = window.take_rows_into(descending.rows.left(), room);
                descending.rows.skip(skipped);
                descending.rows.give(given, projection, out);
                if given > 0 {
                    return Ok(Step::Rows);
                }
            }
            if window.is_done() || !self.hold_slice(descending, sources, projection, window)? {
                return Ok(Step::End);
            }
        }
    }

    /// Holds the rows before those that were given. False when there is nothing before them.
    fn hold_slice<R: ReadAt>(
        &mut self,
        descending: &mut Descending,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &RowWindow,
    ) -> Result<bool> {
        let row_max = held_rows_max(projection.work_layout().columns.len());
        let row_count = window.rows_wanted().saturating_add(64).min(row_max as u64 / 2);
        let Some(mut slice) = descending.next_slice(&self.parts, window.times(), row_count) else { return Ok(false) };
        loop {
            self.take_up(descending.cluster.clone(), sources, projection, slice);
            descending.rows.empty(projection, None);
            // Rows are counted in the order in which they are given.
            let mut times = RowWindow::new(slice, 0, None);
            let held = &mut descending.rows.block;
            let has_all = loop {
                let room = row_max - held.row_count();
                match self.next_of_cluster(sources, projection, &mut times, held, room)? {
                    Step::End => break true,
                    Step::Rows if held.row_count() < row_max && !is_much_text(held) => {}
                    Step::Rows | Step::Full => break false,
                }
            };
            if has_all || slice.start == slice.end {
                break;
            }
            // The earliest rows are held, the latest are wanted: half of the time is as a rule less.
            slice.start = part_that_comes_first(held.times(), slice, true).start.max(half(slice, true).start);
        }
        descending.rows.reverse();
        descending.left = behind(descending.left, slice, true);
        Ok(true)
    }
}
