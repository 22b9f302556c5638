//! `tsloom sketch`: which bytes of a file are what, as lines or as a picture.

mod html;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use tsloom::ErrorKind;
use tsloom::file::{ByteMap, FileReader, NewFile};
use tsloom::model::Limits;

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::interrupt::Partial;
use crate::text::sheet::{Cell, Sheet};

/// What `sketch` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: offset, length, what. Of a file whose writer did not finish, the rest after what is whole is `unknown bytes`.

Examples:
  tsloom sketch wind.tsfile
  tsloom sketch wind.tsfile --html wind.html")]
pub(crate) struct SketchArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Draw it instead: a page of its own that needs no network
    #[arg(long, value_name = "OUT.html")]
    html: Option<PathBuf>,

    /// Print into this file, which appears when it is complete
    #[arg(short, long, visible_alias = "output", value_name = "OUT", conflicts_with = "html")]
    out: Option<PathBuf>,

    /// Taken for scripts of the official tool: OUT is replaced with it or without
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    format: FormatArgs,
}

/// Prints or draws what `args` ask for.
pub(crate) fn run(args: &SketchArgs, out: &mut impl Write) -> Outcome {
    let map = match FileReader::open(&args.file) {
        Ok(reader) => ByteMap::of(&reader).map_err(Failure::unreadable)?,
        // A file without its end still has a body.
        Err(error) if error.kind() == ErrorKind::Truncated => {
            let unreadable = |error: tsloom::Error| Failure::unreadable(error.in_file(&args.file));
            let file = File::open(&args.file).map_err(|error| unreadable(error.into()))?;
            let map = ByteMap::of_unfinished(&file, &Limits::default()).map_err(unreadable)?;
            eprintln!("{}", Failure::unreadable(error));
            map
        }
        Err(error) => return Err(Failure::unreadable(error)),
    };
    match (&args.html, &args.out) {
        (Some(path), _) => to_file(path, |file| {
            let page = html::page(&map, &args.file.display().to_string());
            file.write_all(page.as_bytes()).map_err(|error| Failure::failed(tsloom::Error::from(error).in_file(path)))
        })?,
        (None, Some(path)) => to_file(path, |file| print(&map, args, file))?,
        (None, None) => print(&map, args, out)?,
    }
    match map.problems.into_iter().next() {
        Some(problem) => Err(Failure::unreadable(problem.in_file(&args.file))),
        None => Ok(()),
    }
}

fn print(map: &ByteMap, args: &SketchArgs, out: &mut impl Write) -> Outcome {
    let mut sheet = Sheet::new(out, args.format, &["offset", "length", "what"]);
    for part in &map.parts {
        let what =
            if part.detail.is_empty() { part.kind.name().to_owned() } else { format!("{}: {}", part.kind.name(), part.detail) };
        sheet.push(&[Cell::count(part.offset), Cell::count(part.size), Cell::text(what)])?;
    }
    sheet.finish()
}

fn to_file(path: &Path, fill: impl FnOnce(&mut NewFile) -> Outcome) -> Outcome {
    let failed = |error: tsloom::Error| Failure::failed(error.in_file(path));
    let mut file = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    fill(&mut file)?;
    file.commit().map_err(failed)
}
