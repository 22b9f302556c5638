//! `tsloom recover`: what is whole in a file whose writer did not finish, and a finished file of it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tsloom::file::{FileReader, FileWriter, NewFile, Recovery, WriterOptions};
use tsloom::format::ChunkKind;
use tsloom::model::{Grouped, Limits};
use tsloom::{Error, TableSchema};

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::interrupt::Partial;
use crate::mods;
use crate::opened::ReadArgs;
use crate::rewrite;
use crate::text::sheet::{Cell, Sheet};

/// What `recover` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: offset, length, device, columns, pages: the whole chunk groups. A file that has its end is said to be finished.

An unfinished file has no schemas yet. --write makes tables of what is there, with TAG columns tag1, tag2 and so on; --like takes
the schemas of another file of the same writer. Devices of the tree model need none.

Examples:
  tsloom recover broken.tsfile
  tsloom recover broken.tsfile --write whole.tsfile --like yesterday.tsfile")]
pub(crate) struct RecoverArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Write a finished file of what is whole
    #[arg(long, value_name = "OUT.tsfile")]
    write: Option<PathBuf>,

    /// A TsFile with the schemas
    #[arg(long, value_name = "FILE", requires = "write")]
    like: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    format: FormatArgs,
}

/// Does what `args` ask for.
pub(crate) fn run(args: &RecoverArgs, is_verbose: bool, out: &mut impl Write) -> Outcome {
    mods::check(&args.file, args.read.is_strict())?;
    let limits = Limits::default();
    let recovery = Recovery::of_file(&args.file, &limits).map_err(Failure::unreadable)?;
    match &args.write {
        Some(path) => {
            if let Some(separator) = recovery.separator {
                return Err(Failure::failed(format_args!(
                    "{}: the file is finished (its body ends at {}); there is nothing to recover",
                    args.file.display(),
                    Grouped(separator)
                )));
            }
            write(args, &recovery, path, is_verbose)
        }
        None => print(args, &recovery, out),
    }
}

fn print(args: &RecoverArgs, recovery: &Recovery, out: &mut impl Write) -> Outcome {
    let mut sheet = Sheet::new(out, args.format, &["offset", "length", "device", "columns", "pages"]);
    for group in &recovery.groups {
        let columns = group.chunks.iter().filter(|chunk| chunk.kind != ChunkKind::Time).count();
        let pages = group.chunks.iter().map(|chunk| chunk.page_count as u64).sum();
        sheet.push(&[
            Cell::count(group.offset),
            Cell::count(group.size),
            Cell::text(group.device.to_string()),
            Cell::count(columns as u64),
            Cell::count(pages),
        ])?;
    }
    sheet.finish()?;
    let (name, whole) = (args.file.display(), Grouped(recovery.whole_size));
    let stopped = recovery.stopped_by.as_ref().map_or_else(String::new, |error| format!("; then {error}"));
    let end = if recovery.separator.is_some() { "the file is finished" } else { "the file is not finished" };
    eprintln!("{}", Failure::unreadable(format_args!("{name}: {whole} bytes are whole; {end}{stopped}")));
    Ok(())
}

fn write(args: &RecoverArgs, recovery: &Recovery, path: &Path, is_verbose: bool) -> Outcome {
    let (mut tables, devices) = recovery.schemas().map_err(|error| Failure::unreadable(error.in_file(&args.file)))?;
    if let Some(like) = &args.like {
        let writable = |table: &TableSchema| {
            TableSchema::from_stored(table.name(), table.columns().iter().map(tsloom::file::writable).collect())
        };
        let like = FileReader::open(like).map_err(Failure::unreadable)?;
        tables = like.tables().map(writable).collect::<tsloom::Result<_>>().map_err(Failure::unreadable)?;
    }
    let failed = |error: Error| Failure::failed(error.in_file(path));
    let mut copy = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(copy.temporary_path());
    let source = File::open(&args.file).map_err(|error| Failure::unreadable(Error::from(error).in_file(&args.file)))?;
    io::copy(&mut source.take(recovery.whole_size), &mut copy)
        .and_then(|_| copy.flush())
        .map_err(|error| failed(error.into()))?;
    let temporary = copy.temporary_path();
    let writer = FileWriter::resume(&temporary, WriterOptions::default(), &tables, &devices, args.read.options());
    // The copy has a name that nobody knows: what is wrong is wrong in the file that it is of.
    let writer = writer.map_err(|error| Failure::unreadable(said_of(&error, &temporary, &args.file)))?;
    let (_, summary) = writer.finish().map_err(failed)?;
    copy.commit().map_err(failed)?;
    if is_verbose {
        eprintln!("{} to {}: {}", args.file.display(), path.display(), rewrite::describe(&summary));
    }
    Ok(())
}

fn said_of(error: &Error, temporary: &Path, file: &Path) -> String {
    error.to_string().replace(&*temporary.to_string_lossy(), &file.to_string_lossy())
}
