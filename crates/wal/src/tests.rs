//! The log as a whole, over a directory that fails and crashes on demand.

mod append;
mod changes;
mod crash;
mod damage;
mod inspect;
mod torn;

use std::sync::Arc;

use tsloom_model::{DataType, Result, TableSchema};
use tsloom_tablet::Tablet;
use tsloom_testkit::faults::FaultDir;

use crate::{Entry, Level, Log, LogOptions, NewEntry, Replayed, replay};

fn schema() -> TableSchema {
    TableSchema::builder("t").tag("tag").field("a", DataType::Int64).field("b", DataType::Text).build().unwrap()
}

/// Rows `first..first + count`; column b is absent in every other tablet.
fn tablet(first: i64, count: i64) -> Tablet {
    let mut tablet = Tablet::new(&schema());
    for time in first..first + count {
        let text = if first % 2 == 0 { tsloom_model::Value::Null } else { "text".into() };
        tablet.push_row(time, &["d".into(), (time * 10).into(), text]).unwrap();
    }
    tablet
}

fn start(dir: &FaultDir, options: LogOptions) -> Result<(Log, Vec<String>)> {
    let (replayed, entries) = read(dir, 0)?;
    Ok((Log::start(Arc::new(dir.clone()), options, &replayed)?, entries))
}

/// Entries in words that hold all their content.
fn read(dir: &FaultDir, flushed: u64) -> Result<(Replayed, Vec<String>)> {
    let mut entries = Vec::new();
    let replayed = replay(dir, flushed, &mut |sequence, entry| {
        entries.push(match entry {
            Entry::Schema { id, schema } => format!("{sequence} schema {id} {}", schema.name()),
            Entry::Tablet { id, tablet } => format!("{sequence} rows {id} {}", words(&tablet)),
            Entry::Delete { id, delete } => format!("{sequence} delete {id} {delete:?}"),
            Entry::Checkpoint { flushed } => format!("{sequence} checkpoint {flushed}"),
            Entry::Drop { id } => format!("{sequence} drop {id}"),
        });
        Ok(())
    })?;
    Ok((replayed, entries))
}

fn words(tablet: &Tablet) -> String {
    let columns: Vec<_> = tablet.present_columns().map(|index| tablet.column(index).map(|column| column.value(0))).collect();
    format!("{:?} {columns:?}", tablet.times())
}

fn append_rows(log: &Log, tablet: &Tablet, level: Level) -> Result<u64> {
    let schema = schema();
    log.append(NewEntry::Tablet { id: 1, schema: &schema, tablet: tablet.as_ref() }, level).map(|range| *range.end())
}

fn rows_entry(sequence: u64, tablet: &Tablet) -> String {
    format!("{sequence} rows 1 {}", words(tablet))
}
