//! The rows of one device from all of its sources, in time order.
//!
//! ```text
//! parts      chunk groups of files and one part for each memtable, each with its time range; sorted by start
//! cluster    parts whose ranges overlap, directly or through others; most clusters are one part
//! run        parts of a cluster that ascend in time, of one source
//! ```
//!
//! A cluster of one run is streamed straight into the lent block. Several runs are merged: rows that only one of them has go over as
//! slices; of a time that several have, each column gets the latest value that is not null.

use std::ops::Range;

use tsloom_block::{Block, BlockLayout};
use tsloom_io::ReadAt;
use tsloom_memtable::DeviceCursor;
use tsloom_model::{Result, TimeRange};

use crate::devices::DeviceEntry;
use crate::group::GroupReader;
use crate::projection::{Asked, Projection};
use crate::sources::{GroupRun, GroupState, OpenSource, Step, step_memtable};
use crate::window::RowWindow;

/// A chunk group, or what a memtable has.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Index of the source; a greater one is newer, and so is a greater group of one file.
    source: usize,
    /// Of a file: the group in its plan. Of a memtable: the cursor.
    index: usize,
    times: TimeRange,
}

/// Parts that are read one after the other.
struct Run {
    /// The parts that are not read yet.
    parts: Range<usize>,
    source: usize,
    groups: GroupRun,
    /// Rows of this run that were read and not given yet; the index of the next is `stage_at`. It has no columns until a run needs
    /// it for the first time.
    stage: Block,
    stage_at: usize,
    is_ended: bool,
}

/// Reads one device after the other and keeps its buffers.
#[derive(Default)]
pub(crate) struct DeviceRows {
    parts: Vec<Part>,
    cursors: Vec<DeviceCursor>,
    /// The parts of the current cluster; those before are done.
    cluster: Range<usize>,
    /// The runs of the current cluster, oldest first; more than `run_count` are kept for their buffers.
    runs: Vec<Run>,
    run_count: usize,
}

impl DeviceRows {
    /// Takes up a device. `entries` say which sources have it, oldest first.
    pub(crate) fn open<R: ReadAt>(
        &mut self,
        entries: &[DeviceEntry],
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &RowWindow,
    ) -> Result<()> {
        self.parts.clear();
        self.cursors.clear();
        self.cluster = 0..0;
        self.run_count = 0;
        for entry in entries {
            let source = entry.source as usize;
            match &mut sources[source] {
                OpenSource::File(file) => {
                    let groups = file.next_device(&projection.fields)?;
                    let metas = file.plan.groups()[groups.clone()].iter();
                    self.parts.extend(groups.zip(metas).map(|(index, meta)| Part { source, index, times: meta.times }));
                }
                OpenSource::Memtable(devices) => {
                    let device = &devices[entry.node.start as usize];
                    let times = device.time_range();
                    if window.times().overlaps(times) {
                        let names: Vec<&str> = projection.fields.iter().map(|field| field.name.as_str()).collect();
                        self.parts.push(Part { source, index: self.cursors.len(), times });
                        self.cursors.push(device.cursor(&names, window.times()));
                    }
                }
            }
        }
        if !self.parts.is_sorted_by_key(|part| part.times.start) {
            self.parts.sort_by_key(|part| part.times.start);
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
        loop {
            if self.run_count == 0 && !self.next_cluster(sources) {
                return Ok(Step::End);
            }
            let mut merge = Merge {
                parts: &self.parts,
                cursors: &mut self.cursors,
                runs: &mut self.runs[..self.run_count],
                sources,
                projection,
            };
            let step = if self.run_count == 1 { merge.stream(window, out, room)? } else { merge.merge(window, out, room)? };
            if step != Step::End {
                return Ok(step);
            }
            self.run_count = 0;
        }
    }

    /// Finds the next parts that overlap and makes runs of them.
    fn next_cluster<R: ReadAt>(&mut self, sources: &mut [OpenSource<R>]) -> bool {
        let start = self.cluster.end;
        let Some(first) = self.parts.get(start) else { return false };
        let mut last_time = first.times.end;
        let mut end = start + 1;
        while let Some(part) = self.parts.get(end).filter(|part| part.times.start <= last_time) {
            last_time = last_time.max(part.times.end);
            end += 1;
        }
        self.cluster = start..end;
        self.parts[start..end].sort_unstable_by_key(|part| (part.source, part.index));
        for at in start..end {
            let part = self.parts[at];
            let follows = self.run_count > 0 && {
                let before = self.parts[at - 1];
                before.source == part.source && before.times.end < part.times.start
            };
            if follows {
                self.runs[self.run_count - 1].parts.end = at + 1;
            } else {
                self.add_run(at, part.source);
            }
        }
        if self.run_count > 1 {
            self.give_readers(sources);
        }
        true
    }

    fn add_run(&mut self, part: usize, source: usize) {
        if self.run_count == self.runs.len() {
            let stage = Block::new(&BlockLayout { row_budget: 0, columns: Vec::new() });
            let groups = GroupRun { reader: 0, state: GroupState::Closed };
            self.runs.push(Run { parts: 0..0, source, groups, stage, stage_at: 0, is_ended: false });
        }
        let run = &mut self.runs[self.run_count];
        run.parts = part..part + 1;
        run.source = source;
        run.groups = GroupRun { reader: 0, state: GroupState::Closed };
        run.stage.clear();
        run.stage_at = 0;
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
                    file.readers.push(GroupReader::new(*file.file.reader.limits()));
                }
            }
        }
    }
}

/// The runs of one cluster and everything that reading them takes.
struct Merge<'a, R: ReadAt> {
    parts: &'a [Part],
    cursors: &'a mut [DeviceCursor],
    runs: &'a mut [Run],
    sources: &'a mut [OpenSource<R>],
    projection: &'a Projection,
}

impl<R: ReadAt> Merge<'_, R> {
    /// Reads on in a run, into `out` or, when that is `None`, into its empty stage.
    fn step(&mut self, run: usize, window: &mut RowWindow, out: Option<&mut Block>, room: usize) -> Result<Step> {
        // What one run of several has may be overridden by another before the condition is asked.
        let test = self.projection.test.as_ref().filter(|_| self.runs.len() == 1);
        let Run { parts: left, source, groups, stage, .. } = &mut self.runs[run];
        let out = out.unwrap_or(stage);
        let fields = &self.projection.fields;
        match &mut self.sources[*source] {
            OpenSource::File(file) => {
                let next_group = || left.next().map(|part| self.parts[part].index);
                file.step(groups, next_group, window, Asked { fields, test }, out, room)
                    .map_err(|error| file.file.reader.blame(error))
            }
            OpenSource::Memtable(_) => {
                let cursor = &mut self.cursors[self.parts[left.start].index];
                step_memtable(cursor, window, fields, out, room)
            }
        }
    }

    /// The only run of a cluster, without a detour; page sets that are larger than a whole block go through the stage.
    fn stream(&mut self, window: &mut RowWindow, out: &mut Block, room: usize) -> Result<Step> {
        if self.runs[0].stage_left() == 0 {
            let step = self.step(0, window, Some(out), room)?;
            if step != Step::Full || !out.is_empty() {
                return Ok(step);
            }
            self.runs[0].empty_stage(&self.projection.work_layout);
            self.step(0, window, None, usize::MAX)?;
        }
        if room == 0 {
            return Ok(Step::Full);
        }
        let count = self.runs[0].stage_left().min(room);
        self.runs[0].give(count, self.projection, out);
        Ok(Step::Rows)
    }

    /// Rows of all runs in time order, until there is no room or no row.
    fn merge(&mut self, window: &mut RowWindow, out: &mut Block, room: usize) -> Result<Step> {
        let mut left = room;
        while !window.is_done() {
            for run in 0..self.runs.len() {
                self.refill(run, window)?;
            }
            let head = |run: &Run| run.stage.times().get(run.stage_at).copied();
            let Some(time) = self.runs.iter().filter_map(head).min() else { break };
            if left == 0 {
                return Ok(if room > 0 { Step::Rows } else { Step::Full });
            }
            let mut with_time = self.runs.iter().enumerate().filter(|(_, run)| head(run) == Some(time)).map(|(index, _)| index);
            let first = with_time.next().expect("the least time is that of a run");
            if with_time.next().is_some() {
                let (_, given) = window.take_rows(1);
                if given == 1 {
                    self.give_merged(time, out);
                }
                left -= given;
                self.runs.iter_mut().filter(|run| head(run) == Some(time)).for_each(|run| run.stage_at += 1);
                continue;
            }
            let others = self.runs.iter().enumerate().filter(|(index, _)| *index != first);
            let next_time = others.filter_map(|(_, run)| head(run)).min();
            let run = &mut self.runs[first];
            let times = &run.stage.times()[run.stage_at..];
            let alone = next_time.map_or(times.len(), |next| times.partition_point(|time| *time < next));
            // No more than there is room for once the offset has taken its share.
            let (skipped, given) = window.take_rows_into(alone, left);
            run.stage_at += skipped;
            run.give(given, self.projection, out);
            left -= given;
        }
        Ok(if left < room { Step::Rows } else { Step::End })
    }

    /// Reads on when the stage of a run is used up.
    fn refill(&mut self, run: usize, window: &RowWindow) -> Result<()> {
        while self.runs[run].stage_left() == 0 && !self.runs[run].is_ended {
            self.runs[run].empty_stage(&self.projection.work_layout);
            // Rows are counted after they are merged.
            let room = if matches!(self.sources[self.runs[run].source], OpenSource::Memtable(_)) { 4096 } else { usize::MAX };
            let step = self.step(run, &mut window.of_times(), None, room)?;
            self.runs[run].is_ended = step == Step::End;
        }
        Ok(())
    }

    /// One row out of all runs that have this time: in each column the latest value that is not null.
    fn give_merged(&mut self, time: i64, out: &mut Block) {
        let (times, columns) = out.parts_mut();
        times.push(time);
        let row_of = |run: &Run| (run.stage.times().get(run.stage_at) == Some(&time)).then_some(run.stage_at);
        for field in &self.projection.fields {
            let into = &mut columns[field.column];
            let newest = self.runs.iter().rev().find_map(|run| {
                let row = row_of(run)?;
                let column = run.stage.column(field.column);
                (!column.is_null(row)).then(|| column.value(row))
            });
            assert!(into.push(newest.unwrap_or_default()), "the stage has the types of the block");
        }
    }
}

impl Run {
    fn stage_left(&self) -> usize {
        self.stage.row_count() - self.stage_at
    }

    fn empty_stage(&mut self, layout: &BlockLayout) {
        if self.stage.columns().len() != layout.columns.len() {
            self.stage = Block::new(&BlockLayout { row_budget: 0, columns: layout.columns.clone() });
        }
        self.stage.clear();
        self.stage_at = 0;
    }

    /// Moves the next `count` rows of the stage to `out`.
    fn give(&mut self, count: usize, projection: &Projection, out: &mut Block) {
        let (start, end) = (self.stage_at, self.stage_at + count);
        let (times, columns) = out.parts_mut();
        times.extend_from_slice(&self.stage.times()[start..end]);
        for field in &projection.fields {
            let from = self.stage.column(field.column);
            assert!(columns[field.column].extend_from(from, start, count), "the stage has the types of the block");
        }
        self.stage_at = end;
    }
}
