//! `tsloom import`: a CSV, TSV or lines of JSON into a new TsFile or into a store.

mod last_rows;
mod to_file;
mod to_store;

use std::time::Instant;

use tsloom::Value;
use tsloom::model::Grouped;
use tsloom::tablet::Tablet;

use crate::args::ImportArgs;
use crate::failure::{Failure, Outcome};
use crate::input::cell::Nulls;
use crate::input::plan::Told;
use crate::input::rows::{Row, Skipped};
use crate::input::source::{Input, Settings};

/// Does what `args` ask for; with `is_verbose`, says afterwards what that was.
pub(crate) fn run(args: &ImportArgs, is_verbose: bool) -> Outcome {
    run_opened(args, Input::open(&args.input, args.format)?, is_verbose)
}

/// The same for an input that is open.
pub(crate) fn run_opened(args: &ImportArgs, input: Input, is_verbose: bool) -> Outcome {
    let started = Instant::now();
    let table = args.table.clone().unwrap_or_else(|| input.default_table().to_owned());
    let done = match (&args.target.out, &args.target.store) {
        (Some(path), _) => to_file::run(args, input, &table, path)?,
        (None, Some(directory)) => to_store::run(args, input, &table, directory)?,
        (None, None) => return Err(Failure::usage("expected --out OUT.tsfile or --store DIR")),
    };
    if let Some(first) = &done.skipped.first {
        eprintln!("left out {} of {} rows; the first: {first}", Grouped(done.skipped.count), Grouped(done.row_count));
    }
    if is_verbose {
        let seconds = started.elapsed().as_secs_f64();
        eprintln!("{} rows of {} {} in {seconds:.2} s", Grouped(done.row_count - done.skipped.count), done.input, done.target);
    }
    Ok(())
}

/// What an import did.
struct Done {
    input: String,
    /// Rows of the input, those that were left out included.
    row_count: u64,
    skipped: Skipped,
    /// `to wind.tsfile: 4 devices, 1,234,567 bytes`
    target: String,
}

/// What the command line says about the CSV.
fn settings(args: &ImportArgs) -> Settings<'_> {
    Settings {
        told: Told {
            time: args.time.as_deref(),
            tags: &args.tags,
            finds_tags: args.tags.is_empty() && !args.has_all_tags,
            types: &args.types,
        },
        nulls: Nulls { texts: args.nulls.clone() },
        unit: args.time_unit,
        on_error: args.on_error,
    }
}

/// Appends a row to a tablet of its table.
pub(crate) fn push_row(tablet: &mut Tablet, row: &Row) -> tsloom::Result<()> {
    let values: Vec<Value<'_>> = row.cells.iter().map(|cell| cell.value()).collect();
    tablet.push_row(row.time, &values)
}
