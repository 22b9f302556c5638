//! A crash at every call, and every call failing once: the state afterwards is the model's at some moment between the last
//! acknowledged and the last issued operation. apache/iotdb#3660: a write that the log refused was visible.

use std::sync::Arc;

use tsloom_model::{ColumnSchema, DataType, Result, tag};
use tsloom_testkit::faults::{FaultDir, FaultKind, Trace, Unsynced};

use super::{Rows, apply, rows_of, schema, tablet};
use crate::{Store, StoreOptions};

/// What is seen of a store: the names of the columns of table `t`, and its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    columns: Vec<String>,
    rows: Rows,
}

impl State {
    fn of(store: &Store) -> Self {
        let columns = store.describe("t").map(|schema| names_of(&schema)).unwrap_or_default();
        Self { columns, rows: rows_of(store) }
    }
}

fn names_of(schema: &tsloom_model::TableSchema) -> Vec<String> {
    schema.columns().iter().map(|column| column.name.clone()).collect()
}

/// One operation of a script: the state after it, and when it was issued and acknowledged, counted in changes.
struct Step {
    state: State,
    issued: usize,
    acknowledged: Option<usize>,
}

/// The words of a script.
#[derive(Clone, Copy, Debug)]
enum Word {
    Open,
    Write {
        device: &'static str,
        from: i64,
        to: i64,
    },
    Flush,
    /// Rows of a device, or of all.
    Delete {
        device: Option<&'static str>,
        from: i64,
        to: i64,
    },
    /// Cells of column b.
    DeleteCells {
        from: i64,
        to: i64,
    },
    DropColumn,
    AddColumn,
    DropTable,
    CreateTable,
    Compact,
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

const DELETE: &[Word] = &[
    Word::Open,
    Word::Write { device: "x", from: 0, to: 6 },
    Word::Write { device: "y", from: 0, to: 4 },
    Word::Flush,
    Word::Write { device: "x", from: 4, to: 9 },
    Word::Delete { device: Some("x"), from: 2, to: 5 },
    Word::Write { device: "x", from: 3, to: 5 },
    Word::DeleteCells { from: 0, to: 3 },
    Word::Flush,
    Word::Open,
    Word::Delete { device: None, from: 0, to: 1 },
    Word::Delete { device: Some("y"), from: i64::MIN, to: i64::MAX },
    Word::Flush,
    Word::Write { device: "y", from: 1, to: 3 },
    Word::Open,
    Word::Flush,
];

const CHANGE: &[Word] = &[
    Word::Open,
    Word::Write { device: "x", from: 0, to: 4 },
    Word::Flush,
    Word::Write { device: "x", from: 3, to: 7 },
    Word::DropColumn,
    Word::AddColumn,
    Word::Flush,
    Word::Write { device: "y", from: 0, to: 3 },
    Word::Open,
    Word::DropTable,
    Word::CreateTable,
    Word::Write { device: "x", from: 2, to: 5 },
    Word::Flush,
    Word::DropTable,
    Word::Open,
    Word::Write { device: "x", from: 0, to: 2 },
    Word::Flush,
];

/// The third flush has rows that are late, and others that are not.
const COMPACT: &[Word] = &[
    Word::Open,
    Word::Write { device: "x", from: 0, to: 4 },
    Word::Flush,
    Word::Write { device: "x", from: 4, to: 8 },
    Word::Flush,
    Word::Write { device: "x", from: 2, to: 10 },
    Word::Write { device: "y", from: 0, to: 3 },
    Word::Flush,
    Word::Delete { device: Some("x"), from: 3, to: 4 },
    Word::Compact,
    Word::Write { device: "x", from: 3, to: 4 },
    Word::Flush,
    Word::DeleteCells { from: 0, to: 2 },
    Word::Compact,
    Word::DropColumn,
    Word::Open,
    Word::Compact,
    Word::AddColumn,
    Word::Write { device: "y", from: 2, to: 4 },
    Word::Delete { device: None, from: 0, to: 9 },
    Word::Compact,
    Word::Flush,
    Word::Open,
];

const SCRIPTS: [(&str, &[Word]); 5] = [
    ("append and sync", APPEND),
    ("rotate, flush and drop the log", FLUSH),
    ("delete, insert again and flush", DELETE),
    ("columns and tables that come and go", CHANGE),
    ("compaction", COMPACT),
];

impl Word {
    fn run(self, store: &Store, salt: i64) -> Result<()> {
        match self {
            Self::Open => Ok(()),
            Self::Write { device, from, to } => store.write(&tablet(device, from..to, salt)),
            Self::Flush => store.flush(),
            Self::Delete { device: None, from, to } => store.delete("t").time(from..=to).run(),
            Self::Delete { device: Some(device), from, to } => {
                store.delete("t").filter(tag("tag").eq(device)).time(from..=to).run()
            }
            Self::DeleteCells { from, to } => store.delete("t").columns(["b"]).time(from..=to).run(),
            Self::DropColumn => store.drop_column("t", "b"),
            Self::AddColumn => store.add_column("t", ColumnSchema::field("b", DataType::Double)),
            Self::DropTable => store.drop_table("t"),
            Self::CreateTable => store.create_table(&schema()),
            Self::Compact => store.compact(),
        }
    }

    /// What it does to a state in which it makes sense.
    fn change(self, state: &mut State, salt: i64) {
        match self {
            Self::Open | Self::Flush | Self::Compact => {}
            Self::Write { device, from, to } => apply(&mut state.rows, &tablet(device, from..to, salt)),
            Self::Delete { device, from, to } => {
                state.rows.retain(|(of, time), _| !(device.is_none_or(|device| device == of) && (from..=to).contains(time)));
            }
            Self::DeleteCells { from, to } => {
                state.rows.iter_mut().filter(|((_, time), _)| (from..=to).contains(time)).for_each(|(_, cells)| cells[1] = None);
            }
            Self::DropColumn => {
                state.columns.retain(|name| name != "b");
                state.rows.values_mut().for_each(|cells| cells[1] = None);
            }
            Self::AddColumn => state.columns.push("b".to_owned()),
            Self::DropTable => *state = State::default(),
            Self::CreateTable => state.columns = names_of(&schema()),
        }
    }

    /// False when an operation before it has failed without which it is refused.
    fn makes_sense(self, state: &State) -> bool {
        let has_b = state.columns.iter().any(|name| name == "b");
        match self {
            Self::Open => false, // it is done by then
            Self::Flush | Self::Compact => true,
            Self::Write { .. } | Self::DeleteCells { .. } | Self::DropColumn => has_b,
            Self::AddColumn => !has_b && !state.columns.is_empty(),
            Self::Delete { .. } | Self::DropTable => !state.columns.is_empty(),
            Self::CreateTable => state.columns.is_empty(),
        }
    }
}

/// What a script knows at its end.
struct Run {
    steps: Vec<Step>,
    trace: Trace,
}

/// The states that a look after `changes` may find: from the last acknowledged operation to the last issued one.
fn possible(steps: &[Step], changes: usize) -> impl Iterator<Item = &State> {
    let acknowledged = steps.iter().rposition(|step| step.acknowledged.is_some_and(|at| at <= changes)).unwrap_or(0);
    steps[acknowledged..].iter().filter(move |step| step.issued <= changes).map(|step| &step.state)
}

fn open(dir: &FaultDir) -> Result<Store> {
    Store::open_dir(Arc::new(dir.clone()), StoreOptions::default())
}

/// Runs a script. Of an operation that fails nothing may be seen while the store stays open.
fn run(dir: &FaultDir, script: &[Word], context: &str) -> Run {
    let mut steps = vec![Step { state: State::default(), issued: 0, acknowledged: Some(0) }];
    let mut store: Option<Store> = None;
    for (salt, word) in script.iter().enumerate() {
        let mut words = vec![*word];
        if matches!(word, Word::Open) || store.is_none() {
            drop(store.take());
            let Ok(opened) = open(dir) else { continue };
            let state = State::of(&opened);
            let is_possible = possible(&steps, dir.change_count()).any(|other| *other == state);
            assert!(is_possible, "{context}: opened to another state, {state:?}");
            if state.columns.is_empty() {
                words.insert(0, Word::CreateTable);
            }
            steps.push(Step { state, issued: dir.change_count(), acknowledged: Some(dir.change_count()) });
            store = Some(opened);
        }
        let Some(open) = &store else { continue };
        for word in words {
            let before = steps[steps.len() - 1].state.clone();
            if !word.makes_sense(&before) {
                continue;
            }
            let mut state = before.clone();
            word.change(&mut state, salt as i64);
            let issued = dir.change_count();
            let is_done = word.run(open, salt as i64).is_ok();
            let expected = if is_done { &state } else { &before };
            assert_eq!(State::of(open), *expected, "{context}: half of {word:?} is seen");
            steps.push(Step { state, issued, acknowledged: is_done.then(|| dir.change_count()) });
            if !is_done {
                steps.push(Step { state: before, issued: dir.change_count(), acknowledged: None });
            }
        }
    }
    drop(store);
    Run { steps, trace: dir.trace() }
}

fn check(dir: &FaultDir, run: &Run, changes: usize, context: &dyn Fn() -> String) {
    let store = open(dir).unwrap_or_else(|error| panic!("{}: {error:?}", context()));
    let found = State::of(&store);
    let count = possible(&run.steps, changes).count();
    let is_possible = possible(&run.steps, changes).any(|state| *state == found);
    assert!(is_possible, "{}: {} rows are none of {count} possible states", context(), found.rows.len());
    drop(store);
    // Recovering is idempotent.
    assert_eq!(State::of(&open(dir).unwrap()), found, "{}: opened once more", context());
}

/// The moments at which what was not synced is lost, kept, kept in part, and torn at the last write.
fn check_all_crashes(script: &[Word], seeds: u64) -> usize {
    let dir = FaultDir::new();
    let run = run(&dir, script, "without a fault");
    assert!(run.steps.iter().all(|step| step.acknowledged.is_some()));
    let mut recoveries = 0;
    run.trace.crashes(|changes, crash| {
        let mut modes = vec![Unsynced::Lost, Unsynced::Kept];
        for seed in 0..seeds {
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
fn a_crash_anywhere_loses_nothing_that_was_acknowledged() {
    let mut recoveries = 0;
    std::thread::scope(|scope| {
        let threads = SCRIPTS.map(|(name, script)| (name, scope.spawn(move || check_all_crashes(script, 6))));
        for (name, thread) in threads {
            let count = thread.join().expect("its message stands above");
            println!("{count} recoveries: {name}");
            recoveries += count;
        }
    });
    println!("{recoveries} recoveries in all");
    assert!(recoveries >= 4_800);
}

/// Every call of a script fails once, in every way.
fn check_all_faults(name: &str, script: &[Word]) -> usize {
    let calls = {
        let dir = FaultDir::new();
        run(&dir, script, "without a fault");
        dir.calls()
    };
    for kind in FaultKind::ALL {
        for (number, call) in calls.iter().enumerate() {
            let dir = FaultDir::new();
            dir.fail_call(number, kind);
            let context = format!("{name}: call {number} ({call:?}) fails with {kind:?}");
            let run = run(&dir, script, &context);
            for mode in [Unsynced::Lost, Unsynced::Some { seed: number as u64 }] {
                let image = run.trace.crash(run.trace.len(), mode);
                check(&image, &run, run.trace.len(), &|| format!("{context}, {mode:?}"));
            }
        }
    }
    calls.len() * FaultKind::ALL.len()
}

#[test]
fn every_call_fails_once() {
    let faults = std::thread::scope(|scope| {
        let threads = SCRIPTS.map(|(name, script)| scope.spawn(move || check_all_faults(name, script)));
        threads.map(|thread| thread.join().expect("its message stands above")).iter().sum::<usize>()
    });
    println!("{faults} faults, {} recoveries after them", faults * 2);
}
