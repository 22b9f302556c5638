//! `tsloom ls`: the tables of a file, or its devices.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tsloom::file::FileReader;

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::opened::{has_tree, open_file};
use crate::text::sheet::{Cell, Sheet};
use crate::timeline::{Timeline, each_device};

/// What `ls` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: model, object; with --devices of a table also a tag.NAME for each TAG, row_count, min_time, max_time.

Examples:
  tsloom ls wind.tsfile
  tsloom ls wind.tsfile --devices")]
pub(crate) struct LsArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The devices of each table, with tags, rows and time range
    #[arg(long)]
    devices: bool,

    /// Fail where IoTDB noted deletions beside the file, instead of warning
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    format: FormatArgs,
}

/// Prints what `args` ask for.
pub(crate) fn run(args: &LsArgs, out: &mut impl Write) -> Outcome {
    let reader = open_file(&args.file, args.strict)?;
    if args.devices {
        return devices(args, &reader, out);
    }
    let mut sheet = Sheet::new(out, args.format, &["model", "object"]);
    for table in reader.tables() {
        sheet.push(&[Cell::text("table"), Cell::text(table.name())])?;
    }
    let mut devices = reader.all_devices();
    while has_tree(&reader) && devices.advance(&reader).map_err(Failure::unreadable)? {
        if reader.metadata().schema(devices.device().table()).is_none() {
            sheet.push(&[Cell::text("tree"), Cell::text(devices.device().to_id().to_string())])?;
        }
    }
    sheet.finish()
}

fn devices(args: &LsArgs, reader: &FileReader, out: &mut impl Write) -> Outcome {
    let tags = tag_names(reader);
    let mut names = vec!["model".to_owned(), "object".to_owned()];
    names.extend(tags.iter().map(|tag| format!("tag.{tag}")));
    names.extend(["row_count", "min_time", "max_time"].map(str::to_owned));
    let mut sheet = Sheet::new(out, args.format, &names);
    each_device(reader, None, |device, series| {
        let timeline = Timeline::of(series);
        let table = reader.metadata().schema(device.table());
        let object = table.map_or_else(|| device.to_string(), |table| table.name().to_owned());
        let mut line = vec![Cell::text(if table.is_some() { "table" } else { "tree" }), Cell::text(object)];
        line.extend(tags.iter().map(|tag| tag_cell(reader, device, tag)));
        line.push(Cell::count(timeline.row_count));
        line.push(timeline.range.map_or_else(Cell::null, |range| Cell::time(range.start)));
        line.push(timeline.range.map_or_else(Cell::null, |range| Cell::time(range.end)));
        sheet.push(&line)
    })?;
    sheet.finish()
}

/// The names of the TAG columns of all tables, each once, in the order of the tables.
pub(crate) fn tag_names(reader: &FileReader) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for table in reader.tables() {
        for tag in table.tags() {
            let name = &table.columns()[tag].name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// What a device has in the TAG column of this name.
pub(crate) fn tag_cell(reader: &FileReader, device: &tsloom::model::DeviceId, name: &str) -> Cell {
    let table = reader.metadata().schema(device.table());
    let tag = table.and_then(|table| table.tags().position(|column| table.columns()[column].name == name));
    tag.and_then(|tag| device.tag(tag)).map_or_else(Cell::null, Cell::text)
}
