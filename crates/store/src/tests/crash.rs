//! A crash at every call, and every call failing once: the state afterwards is the model's at some moment between the last
//! acknowledged and the last issued operation. apache/iotdb#3660: a write that the log refused was visible.

use tsloom_testkit::faults::{FaultDir, FaultKind, Trace, Unsynced};

use super::{Rows, apply, open, rows_of, schema, tablet};

/// One operation of a script: the state after it, and when it was issued and acknowledged, counted in changes.
struct Step {
    state: Rows,
    issued: usize,
    acknowledged: Option<usize>,
}

/// What a script knows at its end.
struct Run {
    steps: Vec<Step>,
    trace: Trace,
}

/// The words of a script.
#[derive(Clone, Copy)]
enum Word {
    Open,
    Write { device: &'static str, from: i64, to: i64 },
    Flush,
}

const APPEND: &[Word] = &[
    Word::Open,
    Word::Write { device: "x", from: 0, to: 4 },
    Word::Write { device: "y", from: 0, to: 3 },
    Word::Write { device: "x", from: 2, to: 6 },
    Word::Open,
    Word::Write { device: "x", from: 1, to: 40 },
    Word::Write { device: "y", from: 2, to: 5 },
    Word::Open,
];

const FLUSH: &[Word] = &[
    Word::Open,
    Word::Write { device: "x", from: 0, to: 4 },
    Word::Flush,
    Word::Write { device: "x", from: 3, to: 7 },
    Word::Write { device: "y", from: 0, to: 2 },
    Word::Flush,
    Word::Write { device: "x", from: 0, to: 9 },
    Word::Open,
    Word::Write { device: "z", from: 0, to: 2 },
    Word::Flush,
    Word::Write { device: "y", from: 1, to: 3 },
    Word::Flush,
    Word::Open,
];

/// The states that a look after `changes` may find: from the last acknowledged operation to the last issued one.
fn possible(steps: &[Step], changes: usize) -> impl Iterator<Item = &Rows> {
    let acknowledged = steps.iter().rposition(|step| step.acknowledged.is_some_and(|at| at <= changes)).unwrap_or(0);
    steps[acknowledged..].iter().filter(move |step| step.issued <= changes).map(|step| &step.state)
}

/// Runs a script. Of an operation that fails nothing may be seen while the store stays open.
fn run(dir: &FaultDir, script: &[Word], context: &str) -> Run {
    let mut steps = vec![Step { state: Rows::new(), issued: 0, acknowledged: Some(0) }];
    let mut store = None;
    for (salt, word) in script.iter().enumerate() {
        if matches!(word, Word::Open) || store.is_none() {
            drop(store.take());
            let opened = open(dir).and_then(|store| store.create_table(&schema()).map(|()| store));
            let Ok(opened) = opened else { continue };
            let state = rows_of(&opened);
            assert!(possible(&steps, dir.change_count()).any(|rows| *rows == state), "{context}: opened to another state");
            steps.push(Step { state, issued: dir.change_count(), acknowledged: Some(dir.change_count()) });
            store = Some(opened);
        }
        let Some(open) = &store else { continue };
        let before = steps[steps.len() - 1].state.clone();
        match word {
            Word::Open => {}
            Word::Flush => {
                let _ = open.flush();
                assert_eq!(rows_of(open), before, "{context}: a flush changed what is seen");
            }
            Word::Write { device, from, to } => {
                let rows = tablet(device, *from..*to, salt as i64);
                let mut state = before.clone();
                apply(&mut state, &rows);
                let issued = dir.change_count();
                let is_done = open.write(&rows).is_ok();
                let expected = if is_done { state.clone() } else { before.clone() };
                assert_eq!(rows_of(open), expected, "{context}: half a write is seen");
                steps.push(Step { state, issued, acknowledged: is_done.then(|| dir.change_count()) });
                if !is_done {
                    steps.push(Step { state: before, issued: dir.change_count(), acknowledged: None });
                }
            }
        }
    }
    drop(store);
    Run { steps, trace: dir.trace() }
}

fn check(dir: &FaultDir, run: &Run, changes: usize, context: &dyn Fn() -> String) {
    let store = open(dir).unwrap_or_else(|error| panic!("{}: {error:?}", context()));
    let found = rows_of(&store);
    let count = possible(&run.steps, changes).count();
    let is_possible = possible(&run.steps, changes).any(|rows| *rows == found);
    assert!(is_possible, "{}: {} rows are none of {count} possible states", context(), found.len());
    drop(store);
    // Recovering is idempotent.
    assert_eq!(rows_of(&open(dir).unwrap()), found, "{}: opened once more", context());
}

fn check_all_crashes(script: &[Word]) -> usize {
    let dir = FaultDir::new();
    let run = run(&dir, script, "without a fault");
    assert!(run.steps.iter().all(|step| step.acknowledged.is_some()));
    let mut recoveries = 0;
    run.trace.crashes(|changes, crash| {
        let mut modes = vec![Unsynced::Lost, Unsynced::Kept];
        for seed in 0..4 {
            modes.extend([Unsynced::Some { seed }, Unsynced::TornLast { seed }]);
        }
        for mode in modes {
            let context = || format!("crash before {}, {mode:?}", run.trace.describe(changes));
            check(&crash(mode), &run, changes, &context);
            recoveries += 1;
        }
    });
    recoveries
}

#[test]
fn append_and_sync_crash_anywhere() {
    println!("{} recoveries, append and sync", check_all_crashes(APPEND));
}

#[test]
fn rotate_flush_and_drop_crash_anywhere() {
    println!("{} recoveries, rotate, flush and drop the log", check_all_crashes(FLUSH));
}

#[test]
fn every_call_fails_once() {
    let mut faults = 0;
    for script in [APPEND, FLUSH] {
        let calls = {
            let dir = FaultDir::new();
            run(&dir, script, "without a fault");
            dir.calls()
        };
        for kind in FaultKind::ALL {
            for (number, call) in calls.iter().enumerate() {
                let dir = FaultDir::new();
                dir.fail_call(number, kind);
                let context = format!("call {number} ({call:?}) fails with {kind:?}");
                let run = run(&dir, script, &context);
                for mode in [Unsynced::Lost, Unsynced::Kept, Unsynced::Some { seed: number as u64 }] {
                    let image = run.trace.crash(run.trace.len(), mode);
                    check(&image, &run, run.trace.len(), &|| format!("{context}, {mode:?}"));
                }
                faults += 1;
            }
        }
    }
    println!("{faults} faults");
}
