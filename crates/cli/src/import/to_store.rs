//! A CSV into a store: any order of rows, each batch durable before the next is read.

use std::io::{self, Write};
use std::path::Path;

use tsloom::ErrorKind;
use tsloom::store::{Store, StoreOptions};
use tsloom::tablet::Tablet;

use super::{Done, push_row, settings};
use crate::args::{ImportArgs, OnDuplicate};
use crate::failure::{Failure, Outcome};
use crate::input::rows::{Row, Step};
use crate::input::source::Input;

/// Writes into the store in `directory`, batch by batch.
pub(super) fn run(args: &ImportArgs, input: Input, table: &str, directory: &Path) -> Outcome<Done> {
    if args.on_duplicate == OnDuplicate::Error {
        return Err(Failure::usage(
            "--on-duplicate error needs --out; a store keeps per column the latest value that is not null",
        ));
    }
    let store = Store::open(directory, StoreOptions::default()).map_err(|error| match error.kind() {
        ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::Unsupported => Failure::unreadable(error),
        _ => Failure::failed(error),
    })?;
    let existing = store.describe(table);
    let mut rows = input.into_rows(settings(args), table, existing.as_ref())?;
    // A table that is there keeps its encodings.
    let schema = if existing.is_some() { rows.plan().schema.clone() } else { args.encode.apply(&rows.plan().schema)? };
    store.create_table(&schema).map_err(Failure::failed)?;

    let batch_rows = u64::from(args.batch_rows);
    let mut tablet = Tablet::with_capacity(&schema, args.batch_rows as usize);
    let mut acknowledged = 0;
    let mut row = Row::default();
    loop {
        let step = rows.next(&mut row)?;
        if step == Step::Row {
            push_row(&mut tablet, &row).map_err(Failure::failed)?;
        }
        // Lines that were left out count as rows of the input: whoever goes on from an acknowledgement skips them, too.
        let waiting = rows.row_count() - acknowledged;
        if waiting == batch_rows || (step == Step::End && waiting > 0) {
            if tablet.row_count() > 0 {
                store.write(&tablet).map_err(Failure::failed)?;
                tablet.clear();
            }
            acknowledged = rows.row_count();
            if args.ack {
                acknowledge(acknowledged)?;
            }
        }
        if step == Step::End {
            break;
        }
    }
    Ok(Done {
        input: rows.input().to_owned(),
        row_count: rows.row_count(),
        skipped: rows.skipped().clone(),
        target: format!("to {}", directory.display()),
    })
}

/// Says that the first `row_count` rows of the input are durable. Whoever asked for this must hear it: a closed pipe is an
/// error here.
fn acknowledge(row_count: u64) -> Outcome {
    let mut out = io::stdout().lock();
    writeln!(out, "{{\"acknowledged_rows\": {row_count}}}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::failed(format_args!("standard output: {error}; {row_count} rows are durable")))
}
