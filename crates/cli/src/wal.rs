//! `tsloom wal`: the log of a store, for people who debug it or have lost a part of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tsloom::io::{Dir, LockError, StdDir};
use tsloom::wal::{Entry, InspectedSegment, inspect, repair};

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::text::sheet::{Cell, Sheet};

/// What `wal` takes.
#[derive(Debug, Args)]
pub(crate) struct WalArgs {
    #[command(subcommand)]
    pub(crate) verb: WalVerb,
}

/// The verbs of `wal`.
#[derive(Debug, Subcommand)]
pub(crate) enum WalVerb {
    /// List every entry of the log, those that are in files already too
    Dump(LogArgs),
    /// Check every segment of the log; exit status 2 when it is damaged
    Verify(LogArgs),
    /// Cut a damaged log before the damage. What was acknowledged behind it is lost
    Repair(RepairArgs),
}

/// What `wal dump` and `wal verify` take.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The directory of the store
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    #[command(flatten)]
    format: FormatArgs,
}

/// What `wal repair` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
A torn end of the log needs no repair: opening the store drops it. What is cut off stays in the folder `wal`, under names that
end in .aside; they are printed. A log that is not damaged is left as it is.")]
pub(crate) struct RepairArgs {
    /// The directory of the store
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Does what `verb` asks for.
pub(crate) fn run(verb: &WalVerb, is_verbose: bool, out: &mut impl Write) -> Outcome {
    match verb {
        WalVerb::Dump(args) => dump(&args.dir, args.format, out),
        WalVerb::Verify(args) => verify(&args.dir, args.format, out),
        WalVerb::Repair(args) => mend(&args.dir, is_verbose, out),
    }
}

fn open(dir: &Path) -> Outcome<StdDir> {
    StdDir::open(dir).map_err(|error| Failure::unreadable(format_args!("{}: {error}", dir.display())))
}

fn dump(dir: &Path, format: FormatArgs, out: &mut impl Write) -> Outcome {
    let mut sheet = Sheet::new(out, format, &["segment", "offset", "bytes", "sequence", "kind", "schema", "what"]);
    let mut refused = None;
    let segments = inspect(&open(dir)?, &mut |file, found| {
        let (kind, schema, what) = words(&found.entry);
        let schema = schema.map_or_else(Cell::null, |id| Cell::count(u64::from(id)));
        let counts = [found.offset, found.size, found.sequence].map(Cell::count);
        let [offset, bytes, sequence] = counts;
        let pushed = sheet.push(&[Cell::text(file), offset, bytes, sequence, Cell::text(kind), schema, Cell::text(what)]);
        pushed.map_err(|failure| {
            let message = failure.to_string();
            refused.get_or_insert(failure);
            tsloom::Error::new(tsloom::ErrorKind::Io, message)
        })
    });
    if let Some(failure) = refused {
        return Err(failure);
    }
    let segments = segments.map_err(Failure::unreadable)?;
    sheet.finish()?;
    require_sound(&segments)
}

/// The kind of an entry, the id of its schema, and what it says.
fn words(entry: &Entry) -> (&'static str, Option<u32>, String) {
    match entry {
        Entry::Schema { id, schema } => ("schema", Some(*id), format!("{}, {} columns", schema.name(), schema.columns().len())),
        Entry::Tablet { id, tablet } => {
            let columns = tablet.present_columns().count();
            (
                "tablet",
                Some(*id),
                format!("{}, {} rows, {columns} columns", tablet.target().unwrap_or_default(), tablet.row_count()),
            )
        }
        Entry::Delete { id, delete } => {
            let what = if delete.columns.is_empty() { "rows".to_owned() } else { delete.columns.join(", ") };
            ("delete", Some(*id), format!("{what} from {} to {}", delete.times.start, delete.times.end))
        }
        Entry::Checkpoint { flushed } => ("checkpoint", None, format!("files have entries up to {flushed}")),
        Entry::Drop { id } => ("drop", Some(*id), String::new()),
    }
}

fn verify(dir: &Path, format: FormatArgs, out: &mut impl Write) -> Outcome {
    let segments = inspect(&open(dir)?, &mut |_, _| Ok(())).map_err(Failure::unreadable)?;
    let mut sheet = Sheet::new(out, format, &["segment", "size_bytes", "first_sequence", "entries", "end", "state"]);
    for segment in &segments {
        let state = match (&segment.damage, &segment.torn, segment.first_sequence) {
            (Some(damage), ..) => format!("damaged: {damage}"),
            (None, Some(torn), _) => format!("torn tail of {} bytes: {}", torn.size, torn.reason),
            (None, None, Some(_)) => "whole".to_owned(),
            (None, None, None) => "no header: put aside by the next open".to_owned(),
        };
        sheet.push(&[
            Cell::text(segment.file.as_str()),
            Cell::count(segment.size),
            segment.first_sequence.map_or_else(Cell::null, Cell::count),
            Cell::count(segment.entry_count),
            Cell::count(segment.end),
            Cell::text(state),
        ])?;
    }
    sheet.finish()?;
    require_sound(&segments)
}

fn require_sound(segments: &[InspectedSegment]) -> Outcome {
    match segments.iter().find_map(|segment| Some((&segment.file, segment.damage.as_ref()?))) {
        None => Ok(()),
        Some((file, damage)) => Err(Failure::unreadable(format_args!("{file}: {damage}"))),
    }
}

fn mend(dir: &Path, is_verbose: bool, out: &mut impl Write) -> Outcome {
    let dir = open(dir)?;
    // Nobody else may write meanwhile.
    let _lock = dir.lock("LOCK").map_err(|error| match error {
        LockError::Held { .. } => Failure::failed(format_args!("{} is open in another process", dir.name())),
        LockError::Io(error) => Failure::failed(error),
    })?;
    let aside = repair(&dir).map_err(Failure::failed)?;
    if aside.is_empty() && is_verbose {
        eprintln!("the log is not damaged");
    }
    let written = aside.iter().try_for_each(|name| writeln!(out, "{name}")).and_then(|()| out.flush());
    written.map_err(|error| Failure::of_stdout(&error))
}
