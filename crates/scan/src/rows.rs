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

use std::ops::Range;

use tsloom_block::{Block, BlockLayout, Column};
use tsloom_io::ReadAt;
use tsloom_memtable::DeviceCursor;
use tsloom_model::{Result, TimeRange};

use crate::devices::DeviceEntry;
use crate::group::GroupReader;
use crate::plan::Group;
use crate::projection::{Asked, FieldColumn, Projection};
use crate::sources::{GroupRun, GroupState, OpenSource, Step, step_memtable};
use crate::window::RowWindow;

/// A chunk group, or what a memtable has.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Index of the source; a greater one is newer, and so is a greater group of one file.
    source: usize,
    /// Of a file: the group in its plan. Of a memtable: the cursor.
    index: usize,
    /// The only field that it has; `None` when it has all.
    field: Option<usize>,
    times: TimeRange,
}

/// Parts that are read one after the other.
struct Run {
    /// The parts that are not read yet.
    parts: Range<usize>,
    source: usize,
    /// The only field that it has; `None` when it has all.
    field: Option<usize>,
    groups: GroupRun,
    /// Rows of this run that were read and not given yet; the index of the next is `stage_at`.
    stage: Stage,
    stage_at: usize,
    is_ended: bool,
}

/// A block for the fields that a run has. It has no columns until a run needs it for the first time.
struct Stage {
    block: Block,
    /// The field that its only column is of; `None` for all fields.
    field: Option<usize>,
}

/// Reads one device after the other and keeps its buffers.
pub(crate) struct DeviceRows {
    parts: Vec<Part>,
    cursors: Vec<DeviceCursor>,
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

/// Which of several runs has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    None,
    One(usize),
    Several,
}

/// Clusters are read in ascending order, one at a time, and given from their last row on.
struct Descending {
    /// The clusters that are still to be read; the last comes first.
    clusters: Vec<Range<usize>>,
    /// The rows of a cluster, latest first, and how many of them were given or left out.
    rows: Block,
    at: usize,
}

impl Descending {
    fn new() -> Self {
        Self { clusters: Vec::new(), rows: no_columns(), at: 0 }
    }
}

impl DeviceRows {
    pub(crate) fn new(is_descending: bool) -> Self {
        Self {
            parts: Vec::new(),
            cursors: Vec::new(),
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
                    let part = |(index, meta): (usize, &Group)| Part { source, index, field: meta.field, times: meta.times };
                    self.parts.extend(groups.zip(metas).map(part));
                }
                OpenSource::Memtable(devices) => {
                    let device = &devices[entry.node.start as usize];
                    let times = device.time_range();
                    if window.times().overlaps(times) {
                        let names: Vec<&str> = projection.fields.iter().map(|field| field.name.as_str()).collect();
                        self.parts.push(Part { source, index: self.cursors.len(), field: None, times });
                        self.cursors.push(device.cursor(&names, window.times()));
                    }
                }
            }
        }
        if !self.parts.is_sorted_by_key(|part| part.times.start) {
            self.parts.sort_by_key(|part| part.times.start);
        }
        if let Some(descending) = &mut self.descending {
            descending.clusters.clear();
            descending.rows.clear();
            descending.at = 0;
            let mut start = 0;
            while let Some(cluster) = cluster_from(&self.parts, start) {
                start = cluster.end;
                descending.clusters.push(cluster);
            }
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
                self.take_up(cluster, sources);
            }
            let step = self.next_of_cluster(sources, projection, window, out, room)?;
            if step != Step::End {
                return Ok(step);
            }
        }
    }

    fn next_descending<R: ReadAt>(
        &mut self,
        descending: &mut Descending,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &mut RowWindow,
        out: &mut Block,
        room: usize,
    ) -> Result<Step> {
        loop {
            let left = descending.rows.row_count() - descending.at;
            if left > 0 {
                let (skipped, given) = window.take_rows_into(left, room);
                give(&descending.rows, descending.at + skipped, given, projection, out);
                descending.at += skipped + given;
                if given > 0 {
                    return Ok(Step::Rows);
                }
            }
            if window.is_done() {
                return Ok(Step::End);
            }
            let Some(cluster) = descending.clusters.pop() else { return Ok(Step::End) };
            self.take_up(cluster, sources);
            empty(&mut descending.rows, &projection.work_layout);
            descending.at = 0;
            // Rows are counted in the order in which they are given.
            let mut all = window.of_times();
            while self.next_of_cluster(sources, projection, &mut all, &mut descending.rows, usize::MAX)? != Step::End {}
            descending.rows.reverse();
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
            cursors: &mut self.cursors,
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

    /// Makes runs of the parts of a cluster.
    fn take_up<R: ReadAt>(&mut self, cluster: Range<usize>, sources: &mut [OpenSource<R>]) {
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
            let stage = Stage { block: no_columns(), field: None };
            self.runs.push(Run { parts: 0..0, source, field, groups, stage, stage_at: 0, is_ended: false });
        }
        let run = &mut self.runs[self.run_count];
        (run.parts, run.source, run.field, run.groups) = (at..at + 1, source, field, groups);
        run.stage.block.clear();
        (run.stage_at, run.is_ended) = (0, false);
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
                    file.readers.push(GroupReader::new(file.file.reader.options()));
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
    same_time: &'a mut Vec<usize>,
    owners: &'a mut Vec<Owner>,
}

impl<R: ReadAt> Merge<'_, R> {
    /// Reads on in a run, into `out` or, when that is `None`, into its empty stage.
    fn step(&mut self, run: usize, window: &mut RowWindow, out: Option<&mut Block>, room: usize) -> Result<Step> {
        // What one run of several has may be overridden by another before the condition is asked.
        let test = self.projection.test.as_ref().filter(|_| self.runs.len() == 1);
        let Run { parts: left, source, field, groups, stage, .. } = &mut self.runs[run];
        let (fields, out) = match out {
            Some(out) => (&self.projection.fields[..], out),
            None => (self.projection.stage_fields(*field), &mut stage.block),
        };
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
            self.runs[0].empty_stage(self.projection);
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
            let Some(time) = self.runs.iter().filter_map(Run::head).min() else { break };
            if left == 0 {
                return Ok(if room > 0 { Step::Rows } else { Step::Full });
            }
            self.same_time.clear();
            self.same_time.extend((0..self.runs.len()).filter(|run| self.runs[*run].head() == Some(time)));
            let others = self.runs.iter().filter(|run| run.head() != Some(time));
            let next_time = others.filter_map(Run::head).min();
            left -= if let [alone] = self.same_time[..] {
                let run = &mut self.runs[alone];
                // No more than there is room for once the offset has taken its share.
                let (skipped, given) = window.take_rows_into(run.count_before(next_time), left);
                run.stage_at += skipped;
                run.give(given, self.projection, out);
                given
            } else if self.fields_are_apart() {
                let (skipped, given) = window.take_rows_into(self.count_same(next_time), left);
                self.give_side_by_side(skipped, given, out);
                given
            } else {
                let (_, given) = window.take_rows(1);
                if given == 1 {
                    self.give_merged(time, out);
                }
                self.same_time.iter().for_each(|run| self.runs[*run].stage_at += 1);
                given
            };
        }
        Ok(if left < room { Step::Rows } else { Step::End })
    }

    /// True when no field is in two of the runs that have the least time. `owners` tell then which has which.
    fn fields_are_apart(&mut self) -> bool {
        self.owners.clear();
        self.owners.resize(self.projection.fields.len(), Owner::None);
        for &run in self.same_time.iter() {
            let Some(field) = self.runs[run].field else { return false };
            self.owners[field] = match self.owners[field] {
                Owner::None => Owner::One(run),
                Owner::One(_) | Owner::Several => Owner::Several,
            };
        }
        !self.owners.contains(&Owner::Several)
    }

    /// How many of the next rows have the same times in all of the runs that have the least one, and come before `next_time`.
    fn count_same(&self, next_time: Option<i64>) -> usize {
        let (first, others) = self.same_time.split_first().expect("a run has the least time");
        let first = &self.runs[*first];
        let times = &first.stage_times()[..first.count_before(next_time)];
        others.iter().fold(times.len(), |count, run| {
            let theirs = self.runs[*run].stage_times();
            let count = count.min(theirs.len());
            if times[..count] == theirs[..count] {
                return count;
            }
            times[..count].iter().zip(theirs).take_while(|(left, right)| left == right).count()
        })
    }

    /// Leaves out rows of the runs that have the least time, then moves rows on, each run its fields.
    fn give_side_by_side(&mut self, skipped: usize, given: usize, out: &mut Block) {
        self.same_time.iter().for_each(|run| self.runs[*run].stage_at += skipped);
        let (times, columns) = out.parts_mut();
        times.extend_from_slice(&self.runs[self.same_time[0]].stage_times()[..given]);
        for field in &self.projection.fields {
            let into = &mut columns[field.column];
            match self.owners[field.index] {
                Owner::One(run) => {
                    let run = &self.runs[run];
                    assert!(
                        into.extend_from(run.stage.block.column(0), run.stage_at, given),
                        "the stage has the type of the field"
                    );
                }
                Owner::None | Owner::Several => into.push_nulls(given),
            }
        }
        self.same_time.iter().for_each(|run| self.runs[*run].stage_at += given);
    }

    /// Reads on when the stage of a run is used up.
    fn refill(&mut self, run: usize, window: &RowWindow) -> Result<()> {
        while self.runs[run].stage_left() == 0 && !self.runs[run].is_ended {
            self.runs[run].empty_stage(self.projection);
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
        for field in &self.projection.fields {
            let into = &mut columns[field.column];
            let newest = self.same_time.iter().rev().find_map(|run| {
                let run = &self.runs[*run];
                let column = run.column_of(field)?;
                (!column.is_null(run.stage_at)).then(|| column.value(run.stage_at))
            });
            assert!(into.push(newest.unwrap_or_default()), "the stage has the types of the block");
        }
    }
}

impl Run {
    fn stage_times(&self) -> &[i64] {
        &self.stage.block.times()[self.stage_at..]
    }

    fn stage_left(&self) -> usize {
        self.stage_times().len()
    }

    /// The next time.
    fn head(&self) -> Option<i64> {
        self.stage_times().first().copied()
    }

    /// How many of the next rows come before `time`.
    fn count_before(&self, time: Option<i64>) -> usize {
        let times = self.stage_times();
        time.map_or(times.len(), |limit| times.partition_point(|time| *time < limit))
    }

    fn empty_stage(&mut self, projection: &Projection) {
        let has_columns = !self.stage.block.columns().is_empty();
        if !has_columns || self.stage.field != self.field {
            self.stage = Stage { block: Block::new(&projection.stage_layout(self.field)), field: self.field };
        }
        self.stage.block.clear();
        self.stage_at = 0;
    }

    /// The column of a field, if the run has it.
    fn column_of(&self, field: &FieldColumn) -> Option<&Column> {
        match self.field {
            None => Some(self.stage.block.column(field.column)),
            Some(only) => (only == field.index).then(|| self.stage.block.column(0)),
        }
    }

    /// Moves the next `count` rows of the stage to `out`.
    fn give(&mut self, count: usize, projection: &Projection, out: &mut Block) {
        let (times, columns) = out.parts_mut();
        times.extend_from_slice(&self.stage_times()[..count]);
        for field in &projection.fields {
            let into = &mut columns[field.column];
            match self.column_of(field) {
                Some(from) => assert!(into.extend_from(from, self.stage_at, count), "the stage has the types of the block"),
                None => into.push_nulls(count),
            }
        }
        self.stage_at += count;
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

/// A block that has no columns until it is needed.
fn no_columns() -> Block {
    Block::new(&BlockLayout { row_budget: 0, columns: Vec::new() })
}

/// Empties a block of rows between sources and the lent block.
fn empty(stage: &mut Block, layout: &BlockLayout) {
    if stage.columns().len() != layout.columns.len() {
        *stage = Block::new(&BlockLayout { row_budget: 0, columns: layout.columns.clone() });
    }
    stage.clear();
}

/// Appends times and fields of `count` rows of a stage, from row `start` on.
fn give(stage: &Block, start: usize, count: usize, projection: &Projection, out: &mut Block) {
    out.reserve(count);
    let (times, columns) = out.parts_mut();
    times.extend_from_slice(&stage.times()[start..start + count]);
    for field in &projection.fields {
        let from = stage.column(field.column);
        assert!(columns[field.column].extend_from(from, start, count), "the stage has the types of the block");
    }
}
