//! `tsloom meta`: a file in one line, from its metadata alone.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::failure::Outcome;
use crate::format::FormatArgs;
use crate::opened::{has_tree, open_file};
use crate::text::sheet::{Cell, Sheet};
use crate::timeline::{Timeline, each_device};

/// What `meta` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: size_bytes, format_version, model, tables, devices, series, rows, min_time, max_time, properties. Rows are those
that statistics tell: what is in two chunks counts twice.

Example:
  tsloom meta wind.tsfile")]
pub(crate) struct MetaArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Fail where IoTDB noted deletions beside the file, instead of warning
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    format: FormatArgs,
}

const COLUMNS: [&str; 10] =
    ["size_bytes", "format_version", "model", "tables", "devices", "series", "rows", "min_time", "max_time", "properties"];

/// Prints what `args` ask for.
pub(crate) fn run(args: &MetaArgs, out: &mut impl Write) -> Outcome {
    let reader = open_file(&args.file, args.strict)?;
    let mut sheet = Sheet::new(out, args.format, &COLUMNS);
    let (mut device_count, mut series_count, mut timeline) = (0, 0, Timeline::default());
    each_device(&reader, None, |_, series| {
        device_count += 1;
        series_count += series.len() as u64;
        timeline = timeline.and(Timeline::of(series));
        Ok(())
    })?;
    let properties = reader.metadata().properties.iter().map(|property| {
        let value = property.value.as_deref().unwrap_or(b"null");
        format!("{}={}", String::from_utf8_lossy(&property.key), String::from_utf8_lossy(value))
    });
    sheet.push(&[
        Cell::count(reader.size()),
        Cell::count(reader.version().into()),
        Cell::text(match (reader.tables().len() > 0, has_tree(&reader)) {
            (true, true) => "table and tree",
            (false, true) => "tree",
            (_, false) => "table",
        }),
        Cell::count(reader.tables().len() as u64),
        Cell::count(device_count),
        Cell::count(series_count),
        Cell::count(timeline.row_count),
        timeline.range.map_or_else(Cell::null, |range| Cell::time(range.start)),
        timeline.range.map_or_else(Cell::null, |range| Cell::time(range.end)),
        Cell::text(properties.collect::<Vec<_>>().join("; ")),
    ])?;
    sheet.finish()
}
