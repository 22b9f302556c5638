//! The runs of one cluster, streamed or merged into a block.

use std::ops::Range;

use tsloom_block::Block;
use tsloom_io::ReadAt;
use tsloom_memtable::DeviceCursor;
use tsloom_model::Result;

use super::Part;
use super::stage::Stage;
use crate::projection::{Asked, Projection};
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
    /// Of a memtable; large, and most runs are of files.
    pub(super) cursor: Option<Box<DeviceCursor>>,
    /// Rows of this run that were read and not given yet.
    pub(super) stage: Stage,
    pub(super) is_ended: bool,
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
        let Run { parts: left, source, field, groups, cursor, stage, .. } = &mut self.runs[run];
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
                let cursor = cursor.as_mut().expect("a run of a memtable has one");
                step_memtable(cursor, window, &memtable.gone, fields, out, room)
            }
        }
    }

    /// The only run of a cluster, without a detour; page sets that are larger than a whole block go through the stage.
    pub(super) fn stream(&mut self, window: &mut RowWindow, out: &mut Block, room: usize) -> Result<Step> {
        if self.runs[0].stage.left() == 0 {
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
        let count = self.runs[0].stage.left().min(room);
        self.runs[0].stage.give(count, self.projection, out);
        Ok(Step::Rows)
    }

    /// Rows of all runs in time order, until there is no room or no row.
    pub(super) fn merge(&mut self, window: &mut RowWindow, out: &mut Block, room: usize) -> Result<Step> {
        let mut left = room;
        while !window.is_done() {
            for run in 0..self.runs.len() {
                self.refill(run, window)?;
            }
            let Some(time) = self.runs.iter().filter_map(|run| run.stage.head()).min() else { break };
            if left == 0 {
                return Ok(if room > 0 { Step::Rows } else { Step::Full });
            }
            self.same_time.clear();
            self.same_time.extend((0..self.runs.len()).filter(|run| self.runs[*run].stage.head() == Some(time)));
            let others = self.runs.iter().filter(|run| run.stage.head() != Some(time));
            let next_time = others.filter_map(|run| run.stage.head()).min();
            left -= if let [alone] = self.same_time[..] {
                let run = &mut self.runs[alone];
                // No more than there is room for once the offset has taken its share.
                let (skipped, given) = window.take_rows_into(run.count_before(next_time), left);
                run.stage.skip(skipped);
                run.stage.give(given, self.projection, out);
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
                self.same_time.iter().for_each(|run| self.runs[*run].stage.skip(1));
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
        let times = &first.stage.times()[..first.count_before(next_time)];
        others.iter().fold(times.len(), |count, run| {
            let theirs = self.runs[*run].stage.times();
            let count = count.min(theirs.len());
            if times[..count] == theirs[..count] {
                return count;
            }
            times[..count].iter().zip(theirs).take_while(|(left, right)| left == right).count()
        })
    }

    /// Leaves out rows of the runs that have the least time, then moves rows on, each run its fields.
    fn give_side_by_side(&mut self, skipped: usize, given: usize, out: &mut Block) {
        self.same_time.iter().for_each(|run| self.runs[*run].stage.skip(skipped));
        let (times, columns) = out.parts_mut();
        times.extend_from_slice(&self.runs[self.same_time[0]].stage.times()[..given]);
        for field in &self.projection.fields {
            let into = &mut columns[field.column];
            match self.owners[field.index] {
                Owner::One(run) => {
                    let stage = &self.runs[run].stage;
                    let from = stage.column_of(field).expect("the run has the field");
                    assert!(into.extend_from(from, stage.at(), given), "the stage has the type of the field");
                }
                Owner::None | Owner::Several => into.push_nulls(given),
            }
        }
        self.same_time.iter().for_each(|run| self.runs[*run].stage.skip(given));
    }

    /// Reads on when the stage of a run is used up.
    fn refill(&mut self, run: usize, window: &RowWindow) -> Result<()> {
        while self.runs[run].stage.left() == 0 && !self.runs[run].is_ended {
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
                let stage = &self.runs[*run].stage;
                let column = stage.column_of(field)?;
                (!column.is_null(stage.at())).then(|| column.value(stage.at()))
            });
            assert!(into.push(newest.unwrap_or_default()), "the stage has the types of the block");
        }
    }
}

impl Run {
    /// How many of the next rows come before `time`.
    fn count_before(&self, time: Option<i64>) -> usize {
        let times = self.stage.times();
        time.map_or(times.len(), |limit| times.partition_point(|time| *time < limit))
    }

    fn empty_stage(&mut self, projection: &Projection) {
        self.stage.empty(projection, self.field);
    }
}
