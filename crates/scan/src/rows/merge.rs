//! The runs of one cluster, streamed or merged into a block.

use std::ops::Range;

use tsloom_block::{Block, Column};
use tsloom_io::ReadAt;
use tsloom_memtable::DeviceCursor;
use tsloom_model::Result;

use super::Part;
use crate::projection::{Asked, FieldColumn, Projection};
use crate::sources::{GroupRun, OpenSource, Step, step_memtable};
use crate::window::RowWindow;

/// Parts that are read one after the other.
pub(super) struct Run {
    /// The parts that are not read yet.
    pub(super) parts: Range<usize>,
    pub(super) source: usize,
    /// The only field that it has; `None` when it has all.
    pub(super) field: Option<usize>,
    pub(super) groups: GroupRun,
    /// Rows of this run that were read and not given yet; the index of the next is `stage_at`.
    pub(super) stage: Stage,
    pub(super) stage_at: usize,
    pub(super) is_ended: bool,
}

/// A block for the fields that a run has. It has no columns until a run needs it for the first time.
pub(super) struct Stage {
    pub(super) block: Block,
    /// The field that its only column is of; `None` for all fields.
    pub(super) field: Option<usize>,
}

/// Which of several runs has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    None,
    One(usize),
    Several,
}

/// The runs of one cluster and everything that reading them takes.
pub(super) struct Merge<'a, R: ReadAt> {
    pub(super) parts: &'a [Part],
    pub(super) cursors: &'a mut [DeviceCursor],
    pub(super) runs: &'a mut [Run],
    pub(super) sources: &'a mut [OpenSource<R>],
    pub(super) projection: &'a Projection,
    pub(super) same_time: &'a mut Vec<usize>,
    pub(super) owners: &'a mut Vec<Owner>,
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
            OpenSource::Memtable(memtable) => {
                let cursor = &mut self.cursors[self.parts[left.start].index];
                step_memtable(cursor, window, &memtable.gone, fields, out, room)
            }
        }
    }

    /// The only run of a cluster, without a detour; page sets that are larger than a whole block go through the stage.
    pub(super) fn stream(&mut self, window: &mut RowWindow, out: &mut Block, room: usize) -> Result<Step> {
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
    pub(super) fn merge(&mut self, window: &mut RowWindow, out: &mut Block, room: usize) -> Result<Step> {
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
