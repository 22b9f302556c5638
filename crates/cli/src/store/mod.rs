//! `tsloom store`: a database in a directory, from the command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tsloom::store::{Store, StoreOptions};
use tsloom::{Error, ErrorKind};

use crate::args::ImportArgs;
use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::opened::Opened;
use crate::rows::args::{RowArgs, WindowArgs};
use crate::rows::print::PrintArgs;
use crate::rows::{self, select};
use crate::text::sheet::{Cell, Sheet};

/// What `store` takes.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) verb: StoreVerb,
}

/// The verbs of `store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// Make an empty store
    Init(DirArgs),
    /// Rows of a CSV into a store; the same as `tsloom import`
    Write(Box<ImportArgs>),
    /// Print rows; the same as `tsloom cat --store DIR`
    Scan(ScanArgs),
    /// Move rows from the log into files
    Flush(DirArgs),
    /// Merge all files into one and carry out what was deleted
    Compact(DirArgs),
    /// Read the log to its last checksum, and decode every page of every file
    Verify(DirArgs),
    /// Plain numbers about a store
    Stats(StatsArgs),
    /// Make a store of its own elsewhere: files are linked, so it takes no time
    Backup(BackupArgs),
    /// Delete rows of a table, or cells of columns
    Delete(DeleteArgs),
}

/// A store.
#[derive(Debug, Args)]
pub(crate) struct DirArgs {
    /// The directory of the store
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// What `store scan` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tsloom store scan lab.tsloom -t wind --where-tag turbine=R80711 -n 10")]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    store: DirArgs,

    #[command(flatten)]
    rows: RowArgs,

    #[command(flatten)]
    window: WindowArgs,

    #[command(flatten)]
    print: PrintArgs,
}

/// What `store stats` takes.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    store: DirArgs,

    #[command(flatten)]
    format: FormatArgs,
}

/// What `store backup` takes.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    store: DirArgs,

    /// The directory of the copy, made if need be
    #[arg(value_name = "TO")]
    to: PathBuf,
}

/// What `store delete` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Without columns rows are deleted, with columns their cells become null and the rows stay. What is written later stays.

Examples:
  tsloom store delete lab.tsloom -t wind --end 2014-01-01T00:00:00Z
  tsloom store delete lab.tsloom -t wind -m power_kw --where-tag turbine=R80711")]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    store: DirArgs,

    #[command(flatten)]
    rows: RowArgs,
}

/// Does what `verb` asks for; with `is_verbose`, says afterwards what that was.
pub(crate) fn run(verb: &StoreVerb, is_verbose: bool, out: &mut impl Write) -> Outcome {
    match verb {
        StoreVerb::Init(args) => init(&args.dir),
        StoreVerb::Write(args) => crate::import::run(args, is_verbose),
        StoreVerb::Scan(args) => {
            rows::check(&args.rows, &args.print)?;
            rows::run(&reading(&args.store.dir)?, &args.rows, &args.print, args.window.window(), out)
        }
        StoreVerb::Flush(args) => writing(&args.dir, is_verbose)?.flush().map_err(Failure::failed),
        StoreVerb::Compact(args) => {
            let store = writing(&args.dir, is_verbose)?;
            store.flush().and_then(|()| store.compact()).map_err(Failure::failed)
        }
        StoreVerb::Verify(args) => verify(&args.dir, is_verbose, out),
        StoreVerb::Stats(args) => stats(&args.store.dir, args.format, out),
        StoreVerb::Backup(args) => writing(&args.store.dir, is_verbose)?.backup(&args.to).map_err(Failure::failed),
        StoreVerb::Delete(args) => delete(args, is_verbose),
    }
}

/// Opens a store that is there, for changing it. With `is_verbose`, says what was found.
fn writing(dir: &Path, is_verbose: bool) -> Outcome<Store> {
    if !dir.is_dir() {
        return Err(Failure::unreadable(format_args!("{}: there is no such directory", dir.display())));
    }
    // A directory without a store would get one.
    Store::open_read_only(dir).map_err(Failure::unreadable)?;
    let store = Store::open(dir, StoreOptions::default()).map_err(unopened)?;
    if is_verbose || !store.recovery().is_clean() {
        eprintln!("{}: {}", dir.display(), store.recovery());
    }
    Ok(store)
}

fn reading(dir: &Path) -> Outcome<Opened> {
    let store = Store::open_read_only(dir).map_err(Failure::unreadable)?;
    Ok(Opened::Store(store, dir.to_owned()))
}

fn unopened(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::Unsupported => Failure::unreadable(error),
        _ => Failure::failed(error),
    }
}

fn init(dir: &Path) -> Outcome {
    if Store::open_read_only(dir).is_ok() {
        return Err(Failure::failed(format_args!("there is a store in {} already", dir.display())));
    }
    Store::open(dir, StoreOptions::default()).map(drop).map_err(unopened)
}

fn verify(dir: &Path, is_verbose: bool, out: &mut impl Write) -> Outcome {
    let store = Store::open_read_only(dir).map_err(Failure::unreadable)?;
    let mut unsound = Vec::new();
    for file in store.verify().map_err(Failure::unreadable)? {
        for finding in &file.verification.findings {
            writeln!(out, "{}", Failure::unreadable(&finding.error)).map_err(|error| Failure::of_stdout(&error))?;
        }
        if !file.verification.is_sound() {
            unsound.push(file.file);
        } else if is_verbose {
            eprintln!("{}: sound, {} rows", file.file, file.verification.row_count);
        }
    }
    if is_verbose {
        eprintln!("the log is sound: {}", store.recovery());
    }
    out.flush().map_err(|error| Failure::of_stdout(&error))?;
    if unsound.is_empty() { Ok(()) } else { Err(Failure::unreadable(format_args!("not sound: {}", unsound.join(", ")))) }
}

fn stats(dir: &Path, format: FormatArgs, out: &mut impl Write) -> Outcome {
    let store = Store::open_read_only(dir).map_err(Failure::unreadable)?;
    let (stats, recovery) = (store.stats(), store.recovery());
    let mut sheet = Sheet::new(out, format, &["name", "value"]);
    for (name, value) in [
        ("tables", stats.tables),
        ("files", stats.files),
        ("late_files", stats.late_files),
        ("file_bytes", stats.file_bytes),
        ("file_rows", stats.file_rows),
        ("rows_in_log", stats.memtable_rows),
        ("entries_in_log", recovery.replayed_entries),
        ("flushed_sequence", stats.flushed_sequence),
        ("erasures", stats.erasures),
    ] {
        sheet.push(&[Cell::text(name), Cell::count(value)])?;
    }
    sheet.finish()
}

fn delete(args: &DeleteArgs, is_verbose: bool) -> Outcome {
    if args.rows.object.tables.is_empty() {
        return Err(Failure::usage("name the table to delete from with -t"));
    }
    args.rows.tag_tests()?;
    let store = writing(&args.store.dir, is_verbose)?;
    let opened = Opened::Store(store.clone(), args.store.dir.clone());
    for selected in select::select(&args.rows, &opened)? {
        let (request, times) = (selected.request, args.rows.time());
        let mut delete = store.delete(selected.object.name()).time(times.start..=times.end);
        if let Some(filter) = request.filter {
            delete = delete.filter(filter);
        }
        delete.columns(request.columns.unwrap_or_default()).run().map_err(Failure::failed)?;
    }
    Ok(())
}
