//! The rows of one device from all of its sources, in time order.
//!
//! ```text
//! parts      chunk groups of files and one part for each memtable, each with its time range; sorted by start
//! cluster    parts whose ranges overlap, directly or through others; most clusters are one part
//! run        parts of a cluster that ascend in time, of one source
//! ```
//!
//! A series with times of its own is a part for each chunk, and such parts have one column; so the columns of a device that is not
//! aligned come together as sources do.
//!
//! A cluster of one run is streamed straight into the lent block. Several runs are merged: rows that only one of them has go over as
//! slices, and so do rows at the same times if no column is in two of the runs; of a time that several have, each column gets the
//! latest value that is not null.

mod descending;
mod merge;
mod stage;

use std::ops::Range;

use tsloom_block::Block;
use tsloom_io::ReadAt;
use tsloom_model::{Result, TimeRange};

use self::descending::Descending;
use self::merge::{Merge, Owner, Run};
use self::stage::Stage;
use crate::devices::DeviceList;
use crate::group::GroupReader;
use crate::plan::Group;
use crate::projection::Projection;
use crate::sources::{GroupRun, GroupState, OpenSource, Step};
use crate::window::RowWindow;

/// A chunk group, or what a memtable has.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Index of the source; a greater one is newer, and so is a greater group of one file.
    source: usize,
    /// Of a file: the group in its plan. Of a memtable: its device.
    index: usize,
    /// The only field that it has; `None` when it has all.
    field: Option<usize>,
    times: TimeRange,
    row_count: u64,
}

/// Reads one device after the other and keeps its buffers.
pub(crate) struct DeviceRows {
    parts: Vec<Part>,
    /// The parts of the current cluster; those before are done.
    cluster: Range<usize>,
    /// The runs of the current cluster, oldest first; more than `run_count` are kept for their buffers.
    runs: Vec<Run>,
    run_count: usize,
    /// The runs that have the least time, while they are merged, and which of them has which field.
    same_time: Vec<usize>,
    owners: Vec<Owner>,
    /// Of rows in descending order.
    descending: Option<Descending>,
}

impl DeviceRows {
    pub(crate) fn new(is_descending: bool) -> Self {
        Self {
            parts: Vec::new(),
            cluster: 0..0,
            runs: Vec::new(),
            run_count: 0,
            same_time: Vec::new(),
            owners: Vec::new(),
            descending: is_descending.then(Descending::new),
        }
    }

    /// Forgets its blocks: those to come have other columns.
    pub(crate) fn forget(&mut self) {
        self.runs.clear();
        self.run_count = 0;
        self.parts.clear();
        self.cluster = 0..0;
        if let Some(descending) = &mut self.descending {
            *descending = Descending::new();
        }
    }

    /// Takes up a device of the list.
    pub(crate) fn open<R: ReadAt>(
        &mut self,
        devices: &DeviceList,
        device: usize,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &RowWindow,
    ) -> Result<()> {
        self.parts.clear();
        self.cluster = 0..0;
        self.run_count = 0;
        for entry in devices.entries(device) {
            let source = entry.source as usize;
            match &mut sources[source] {
                OpenSource::File(file) => {
                    file.deletions.turn_to(&devices.segments(entry), &projection.fields, window.times());
                    let groups = file.next_device(&projection.fields)?;
                    let metas = file.plan.groups()[groups.clone()].iter();
                    let part = |(index, meta): (usize, &Group)| Part {
                        source,
                        index,
                        field: meta.field,
                        times: meta.times,
                        row_count: meta.row_count,
                    };
                    self.parts.extend(groups.zip(metas).map(part));
                }
                OpenSource::Memtable(memtable) => {
                    memtable.deletions.turn_to(&devices.segments(entry), &projection.fields, window.times());
                    memtable.deletions.of_group(TimeRange::ALL, 0, None, &mut memtable.gone);
                    let index = entry.node.start as usize;
                    let device = &memtable.devices[index];
                    let times = device.time_range();
                    if window.times().overlaps(times) {
                        self.parts.push(Part { source, index, field: None, times, row_count: device.row_count() as u64 });
                    }
                }
            }
        }
        if !self.parts.is_sorted_by_key(|part| part.times.start) {
            self.parts.sort_by_key(|part| part.times.start);
        }
        if let Some(descending) = &mut self.descending {
            descending.turn_to(&self.parts);
        }
        Ok(())
    }

    /// Appends the next rows of the device to the times and fields of `out`, at most `room`.
    pub(crate) fn next<R: ReadAt>(
        &mut self,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &mut RowWindow,
        out: &mut Block,
        room: usize,
    ) -> Result<Step> {
        if let Some(mut descending) = self.descending.take() {
            let outcome = self.next_descending(&mut descending, sources, projection, window, out, room);
            self.descending = Some(descending);
            return outcome;
        }
        loop {
            if self.run_count == 0 {
                let Some(cluster) = cluster_from(&self.parts, self.cluster.end) else { return Ok(Step::End) };
                self.take_up(cluster, sources, projection, window.times());
            }
            let step = self.next_of_cluster(sources, projection, window, out, room)?;
            if step != Step::End {
                return Ok(step);
            }
        }
    }

    /// Appends the next rows of the cluster that was taken up.
    fn next_of_cluster<R: ReadAt>(
        &mut self,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &mut RowWindow,
        out: &mut Block,
        room: usize,
    ) -> Result<Step> {
        let mut merge = Merge {
            parts: &self.parts,
            runs: &mut self.runs[..self.run_count],
            sources,
            projection,
            same_time: &mut self.same_time,
            owners: &mut self.owners,
        };
        let step = if self.run_count == 1 { merge.stream(window, out, room)? } else { merge.merge(window, out, room)? };
        if step == Step::End {
            self.run_count = 0;
        }
        Ok(step)
    }

    /// Makes runs of the parts of a cluster, for the rows in a range of times.
    fn take_up<R: ReadAt>(
        &mut self,
        cluster: Range<usize>,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        times: TimeRange,
    ) {
        let Range { start, end } = cluster;
        self.cluster = cluster;
        self.run_count = 0;
        self.parts[start..end].sort_unstable_by_key(|part| (part.source, part.index));
        for at in start..end {
            let part = self.parts[at];
            let follows = self.run_count > 0 && {
                let before = self.parts[at - 1];
                (before.source, before.field) == (part.source, part.field) && before.times.end < part.times.start
            };
            if follows {
                self.runs[self.run_count - 1].parts.end = at + 1;
            } else {
                self.add_run(at);
                let run = &mut self.runs[self.run_count - 1];
                run.cursor = match &sources[part.source] {
                    OpenSource::File(_) => None,
                    OpenSource::Memtable(memtable) => {
                        Some(Box::new(memtable.devices[part.index].cursor(&projection.field_names(), times)))
                    }
                };
            }
        }
        if self.run_count > 1 {
            self.give_readers(sources);
        } else {
            // What is not merged goes straight into the block, which has all fields.
            self.runs[0].field = None;
        }
    }

    /// Adds a run that begins with this part.
    fn add_run(&mut self, at: usize) {
        let Part { source, field, .. } = self.parts[at];
        let groups = GroupRun { reader: 0, state: GroupState::Closed };
        if self.run_count == self.runs.len() {
            let stage = Stage::new();
            self.runs.push(Run { parts: 0..0, source, field, groups, cursor: None, stage, is_ended: false });
        }
        let run = &mut self.runs[self.run_count];
        (run.parts, run.source, run.field, run.groups) = (at..at + 1, source, field, groups);
        run.stage.clear();
        run.is_ended = false;
        self.run_count += 1;
    }

    /// Runs that are merged read at the same time, so each needs a reader of its own.
    fn give_readers<R: ReadAt>(&mut self, sources: &mut [OpenSource<R>]) {
        let mut in_use = 0;
        let mut before = usize::MAX;
        for run in &mut self.runs[..self.run_count] {
            in_use = if run.source == before { in_use + 1 } else { 1 };
            before = run.source;
            run.groups.reader = in_use;
            if let OpenSource::File(file) = &mut sources[run.source] {
                while file.readers.len() <= in_use {
                    file.readers.push(GroupReader::new(file.file.reader.options(), file.read_ahead_bytes));
                }
            }
        }
    }
}

/// The parts from `start` on that overlap, directly or through others.
fn cluster_from(parts: &[Part], start: usize) -> Option<Range<usize>> {
    let mut last_time = parts.get(start)?.times.end;
    let mut end = start + 1;
    while let Some(part) = parts.get(end).filter(|part| part.times.start <= last_time) {
        last_time = last_time.max(part.times.end);
        end += 1;
    }
    Some(start..end)
}
