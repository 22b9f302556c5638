//! `tsloom export`: rows into files: one table or device into one file, several into a new folder with a manifest.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use tsloom::file::NewFile;

use crate::args::Source;
use crate::failure::{Failure, Outcome};
use crate::format::{Format, FormatArgs};
use crate::interrupt::Partial;
use crate::opened::Opened;
use crate::printer::Printer;
use crate::rows::args::RowArgs;
use crate::rows::print::{self, PrintArgs, TimeFormat};
use crate::rows::select::{self, Selected};

/// What `export` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
The folder has a file for each table or device, and _manifest.json, which says what is in which.

Examples:
  tsloom export wind.tsfile -o wind.csv
  tsloom export plant.tsfile --type ndjson --output-dir plant")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    rows: RowArgs,

    /// One table or device into this file, which appears when it is complete
    #[arg(
        short,
        long,
        visible_alias = "output",
        value_name = "OUT",
        required_unless_present = "output_dir",
        conflicts_with = "output_dir"
    )]
    out: Option<PathBuf>,

    /// All into files in this new folder, which appears when it is complete
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,

    /// Taken for scripts of the official tool: OUT is replaced with it or without
    #[arg(long)]
    force: bool,

    /// The form of the files [default: by the ending of OUT, else csv]
    #[arg(short = 'f', long = "type", visible_alias = "format", value_enum, value_name = "FORM")]
    format: Option<Format>,

    /// At most this many rows of each table or device
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,

    /// Leave out the first rows of each
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,

    /// Leave out the header line
    #[arg(long)]
    no_header: bool,

    /// How to print times in table, tsv and csv
    #[arg(long, value_enum, default_value_t = TimeFormat::Int, value_name = "FORM")]
    time_format: TimeFormat,
}

impl ExportArgs {
    fn format(&self) -> Format {
        let ending = self.out.as_ref().and_then(|out| out.extension()).and_then(|ending| ending.to_str());
        self.format.unwrap_or(match ending {
            Some("tsv") => Format::Tsv,
            Some("json") => Format::Json,
            Some("ndjson" | "jsonl") => Format::Ndjson,
            Some("txt") => Format::Table,
            _ => Format::Csv,
        })
    }

    fn print(&self) -> PrintArgs {
        let format = FormatArgs { format: Some(self.format()), no_header: self.no_header };
        PrintArgs { format, time_format: self.time_format, schema: false, flat: false }
    }
}

/// Writes what `args` ask for.
pub(crate) fn run(args: &ExportArgs, is_verbose: bool) -> Outcome {
    args.rows.tag_tests()?;
    let opened = Opened::open(&args.source)?;
    let selected = select::select(&args.rows, &opened)?;
    let row_count = match (&args.out, &args.output_dir) {
        (Some(path), _) => to_file(args, &opened, &selected, path)?,
        (None, Some(directory)) => to_directory(args, &opened, &selected, directory)?,
        (None, None) => return Err(Failure::usage("expected -o OUT or --output-dir DIR")),
    };
    if is_verbose {
        eprintln!("{row_count} rows of {}", opened.name());
    }
    Ok(())
}

/// Rows that were written.
fn to_file(args: &ExportArgs, opened: &Opened, selected: &[Selected], path: &Path) -> Outcome<u64> {
    let failed = |error: tsloom::Error| Failure::failed(error.in_file(path));
    let mut file = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    let out = Printer::into_file(&mut file, path);
    let row_count = print::print(&args.print(), opened, selected, (args.offset, args.limit), out)?;
    file.commit().map_err(failed)?;
    Ok(row_count)
}

fn to_directory(args: &ExportArgs, opened: &Opened, selected: &[Selected], directory: &Path) -> Outcome<u64> {
    let failed = |path: &Path, error: std::io::Error| Failure::failed(format_args!("{}: {error}", path.display()));
    if directory.exists() {
        return Err(Failure::failed(format_args!("{} is there already; a new folder is needed", directory.display())));
    }
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new().prefix(".export-").tempdir_in(parent).map_err(|error| failed(parent, error))?;
    let _partial = Partial::register(folder.path().to_owned());
    let ending = ending(args.format());
    let mut entries = Vec::with_capacity(selected.len());
    let mut row_count = 0;
    for (number, one) in selected.iter().enumerate() {
        let name = file_name(one.object.name(), number, ending);
        let rows = to_file(args, opened, std::slice::from_ref(one), &folder.path().join(&name))?;
        row_count += rows;
        let model = if one.object.device.is_some() { "tree" } else { "table" };
        entries.push(json!({ "model": model, "object": one.object.name(), "file": name, "rows": rows }));
    }
    let manifest = folder.path().join("_manifest.json");
    let text = serde_json::to_string_pretty(&json!({ "source": opened.name(), "format": ending, "objects": entries }));
    let mut file = fs::File::create(&manifest).map_err(|error| failed(&manifest, error))?;
    writeln!(file, "{}", text.map_err(Failure::failed)?).map_err(|error| failed(&manifest, error))?;
    fs::rename(folder.path(), directory).map_err(|error| failed(directory, error))?;
    Ok(row_count)
}

const fn ending(format: Format) -> &'static str {
    match format {
        Format::Table => "txt",
        Format::Tsv => "tsv",
        Format::Csv => "csv",
        Format::Json => "json",
        Format::Ndjson => "ndjson",
    }
}

/// Names in files may hold anything, names of files may not: what is unusual becomes '_', and a number keeps them apart.
fn file_name(object: &str, number: usize, ending: &str) -> String {
    let is_usual = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-' | '_');
    let is_plain = !object.is_empty() && !object.starts_with(['.', '_']) && object.chars().all(is_usual) && object.len() <= 100;
    if is_plain && object.to_lowercase() == object {
        return format!("{object}.{ending}");
    }
    let usual: String = object.chars().map(|character| if is_usual(character) { character } else { '_' }).take(60).collect();
    format!("{number:04}_{usual}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_harmless() {
        assert_eq!(file_name("wind", 3, "csv"), "wind.csv");
        assert_eq!(file_name("root.sg.d1", 3, "csv"), "root.sg.d1.csv");
        assert_eq!(file_name("..\\up/passwd", 3, "csv"), "0003_.._up_passwd.csv");
        assert_eq!(file_name("D1", 4, "tsv"), "0004_D1.tsv");
        assert_eq!(file_name("_manifest", 0, "json"), "0000__manifest.json");
        assert_eq!(file_name("", 0, "csv"), "0000_.csv");
    }
}
