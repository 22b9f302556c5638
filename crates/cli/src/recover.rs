//! `tsloom recover`: what is whole in a file whose writer did not finish, and a finished file of it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tsloom::file::{FileReader, FileWriter, NewFile, RecoveredGroup, Recovery, WriterOptions};
use tsloom::format::ChunkKind;
use tsloom::model::{ColumnSchema, Grouped, Limits};
use tsloom::{Error, TableSchema};

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::interrupt::Partial;
use crate::rewrite;
use crate::text::sheet::{Cell, Sheet};

/// What `recover` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: offset, length, device, columns, pages: the whole chunk groups. A file that has its end is said to be finished.

An unfinished file has no schemas yet. --write makes tables of what is there, with TAG columns tag1, tag2 and so on; --like takes
the schemas of another file of the same writer.

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
    format: FormatArgs,
}

/// Does what `args` ask for.
pub(crate) fn run(args: &RecoverArgs, is_verbose: bool, out: &mut impl Write) -> Outcome {
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
    let tables = match &args.like {
        Some(like) => FileReader::open(like).map_err(Failure::unreadable)?.tables().cloned().collect(),
        None => tables_of(&recovery.groups).map_err(|error| Failure::unreadable(error.in_file(&args.file)))?,
    };
    let failed = |error: Error| Failure::failed(error.in_file(path));
    let mut copy = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(copy.temporary_path());
    let source = File::open(&args.file).map_err(|error| Failure::unreadable(Error::from(error).in_file(&args.file)))?;
    io::copy(&mut source.take(recovery.whole_size), &mut copy)
        .and_then(|_| copy.flush())
        .map_err(|error| failed(error.into()))?;
    let temporary = copy.temporary_path();
    let writer = FileWriter::resume(&temporary, WriterOptions::default(), &tables, &Limits::default());
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

/// Tables that hold what is there.
fn tables_of(groups: &[RecoveredGroup]) -> tsloom::Result<Vec<TableSchema>> {
    let mut tables: Vec<(String, usize, Vec<ColumnSchema>)> = Vec::new();
    for group in groups {
        let name = group.device.table();
        let table = match tables.iter().position(|(known, ..)| known == name) {
            Some(known) => &mut tables[known],
            None => {
                tables.push((name.to_owned(), 0, Vec::new()));
                tables.last_mut().expect("one was pushed")
            }
        };
        table.1 = table.1.max(group.device.segment_count() - 1);
        for chunk in &group.chunks {
            let Some(data_type) = chunk.series_type.data_type() else { continue };
            if table.2.iter().all(|column| column.name != chunk.measurement) {
                let column = ColumnSchema::field(&chunk.measurement, data_type);
                table.2.push(column.encoding(chunk.encoding).compression(chunk.compression));
            }
        }
    }
    let tables = tables.into_iter().map(|(name, tag_count, fields)| {
        let tags = (1..=tag_count).map(|number| ColumnSchema::tag(format!("tag{number}")));
        TableSchema::from_stored(name, tags.chain(fields).collect())
    });
    tables.collect()
}
