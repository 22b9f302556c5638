//! A crash at every call: what was acknowledged is there, and of the rest whole entries from the front.

use std::sync::Arc;

use tsloom_testkit::faults::{FaultDir, FaultKind, Trace, Unsynced};

use super::{read, schema, tablet, words};
use crate::{Level, Log, LogOptions, NewEntry, replay};

/// Options that make a segment last for a few entries.
const SMALL: LogOptions =
    LogOptions { segment_bytes_max: 900, buffer_bytes_max: 1 << 20, spare_count_max: 1, entry_bytes_max: 1 << 20 };

/// What one step of a script knows afterwards.
struct Step {
    /// Calls before it was issued, and after it was acknowledged (never, when it failed).
    issued: usize,
    acknowledged: Option<usize>,
    /// The rows, in words.
    rows: String,
    sequence: u64,
}

/// Appends with a sync each, now and then a rotation that drops all but the last segment.
fn script(dir: &FaultDir) -> (Vec<Step>, Vec<(usize, u64)>) {
    let mut steps = Vec::new();
    let mut flushes = vec![(0, 0)];
    let schema = schema();
    for life in 0..3 {
        let flushed = flushes.last().map_or(0, |(_, flushed)| *flushed);
        let Ok(replayed) = replay(dir, flushed, &mut |_, _| Ok(())) else { continue };
        let Ok(log) = Log::start(Arc::new(dir.clone()), SMALL, &replayed) else { continue };
        for round in 0..8 {
            let rows = tablet(life * 100 + round, 4);
            let issued = dir.change_count();
            let entry = NewEntry::Tablet { id: 1, schema: &schema, tablet: rows.as_ref() };
            let level = if round % 3 == 1 { Level::Written } else { Level::Durable };
            let done = log.append(entry, level);
            let sequence = done.as_ref().map_or(0, |range| *range.end());
            let acknowledged = done.ok().filter(|_| level == Level::Durable).map(|_| dir.change_count());
            steps.push(Step { issued, acknowledged, rows: words(&rows), sequence });
            if round == 4 && sequence > 0 && log.rotate().is_ok() {
                // A store would have written its files and manifest here; what it says is flushed counts from now on.
                flushes.push((dir.change_count(), sequence));
                let _ = log.drop_through(sequence);
            }
        }
    }
    (steps, flushes)
}

/// Checks the log that a crash after `count` calls leaves.
fn check(dir: &FaultDir, count: usize, steps: &[Step], flushes: &[(usize, u64)], context: &str) {
    let flushed = flushes.iter().rev().find(|(at, _)| *at <= count).map_or(0, |(_, flushed)| *flushed);
    let (_, entries) = read(dir, flushed).unwrap_or_else(|error| panic!("{context}: {error}"));
    let found: Vec<&str> = entries.iter().filter_map(|entry| entry.split_once("rows 1 ")).map(|(_, words)| words).collect();
    let durable = |step: &&Step| step.acknowledged.is_some_and(|at| at <= count) && step.sequence > flushed;
    for step in steps.iter().filter(durable) {
        assert!(found.contains(&step.rows.as_str()), "{context}: {} was acknowledged", step.rows);
    }
    let issued: Vec<&str> = steps.iter().filter(|step| step.issued < count).map(|step| step.rows.as_str()).collect();
    let mut from = 0;
    for entry in found {
        let at = issued[from..].iter().position(|rows| *rows == entry);
        from += at.unwrap_or_else(|| panic!("{context}: {entry} was never issued, or is out of order")) + 1;
    }
}

fn check_all_crashes(trace: &Trace, steps: &[Step], flushes: &[(usize, u64)]) -> usize {
    let mut recoveries = 0;
    trace.crashes(|count, crash| {
        let mut modes = vec![Unsynced::Lost, Unsynced::Kept];
        for seed in 0..6 {
            modes.extend([Unsynced::Some { seed }, Unsynced::TornLast { seed }]);
        }
        for mode in modes {
            let context = format!("crash after {count} calls ({}), {mode:?}", trace.describe(count));
            check(&crash(mode), count, steps, flushes, &context);
            recoveries += 1;
        }
    });
    recoveries
}

#[test]
fn a_crash_at_every_call_keeps_what_was_acknowledged() {
    let dir = FaultDir::new();
    let (steps, flushes) = script(&dir);
    assert!(steps.iter().filter(|step| step.acknowledged.is_some()).count() >= 15 && flushes.len() == 4);
    let recoveries = check_all_crashes(&dir.trace(), &steps, &flushes);
    println!("{recoveries} recoveries");
}

#[test]
fn every_call_failing_once_loses_nothing_that_was_acknowledged() {
    let calls = {
        let dir = FaultDir::new();
        script(&dir);
        dir.calls().len()
    };
    let mut recoveries = 0;
    for kind in FaultKind::ALL {
        for number in 0..calls {
            let dir = FaultDir::new();
            dir.fail_call(number, kind);
            let (steps, flushes) = script(&dir);
            let trace = dir.trace();
            let context = format!("call {number} ({:?}) fails with {kind:?}", dir.calls().get(number));
            for mode in [Unsynced::Lost, Unsynced::Kept, Unsynced::Some { seed: number as u64 }] {
                check(&trace.crash(trace.len(), mode), trace.len(), &steps, &flushes, &context);
                recoveries += 1;
            }
        }
    }
    println!("{recoveries} recoveries after {} faults", calls * FaultKind::ALL.len());
}
