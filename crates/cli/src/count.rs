//! `tsloom count`: rows and values of every column, from statistics where they can be taken at their word.

use std::io::Write;

use clap::Args;
use tsloom::model::{ColumnCategory, TimeRange};
use tsloom::scan::ScanRequest;

use crate::args::Source;
use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::opened::{FileRows, Object, Opened};
use crate::rows::args::ObjectArgs;
use crate::rows::select;
use crate::text::sheet::{Cell, Sheet};
use crate::timeline::{Timeline, each_device, is_exact};

/// What `count` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: model, object, column, category, row_count, entity_count, non_null_count, null_count, min_time, max_time, time_source.
The source is `statistics` when no page was read, and `scan` where chunks overlap and rows had to be counted.

Examples:
  tsloom count wind.tsfile
  tsloom count --store lab.tsloom -t wind -m power_kw")]
pub(crate) struct CountArgs {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    object: ObjectArgs,

    #[command(flatten)]
    format: FormatArgs,
}

const COLUMNS: [&str; 11] = [
    "model",
    "object",
    "column",
    "category",
    "row_count",
    "entity_count",
    "non_null_count",
    "null_count",
    "min_time",
    "max_time",
    "time_source",
];

/// What is counted of a table or device.
struct Counts {
    row_count: u64,
    entity_count: u64,
    range: Option<TimeRange>,
    /// One for each column of the schema.
    non_null: Vec<u64>,
    source: &'static str,
}

/// Prints what `args` ask for.
pub(crate) fn run(args: &CountArgs, out: &mut impl Write) -> Outcome {
    let opened = Opened::open(&args.source)?;
    let objects = select::named(&args.object, &opened)?;
    let wanted: Vec<&str> = args.object.columns().collect();
    for name in &wanted {
        if !objects.iter().any(|object| object.schema.column_index(name).is_some()) {
            return Err(Failure::failed(format_args!("{} has no column {name}", opened.name())));
        }
    }
    let mut sheet = Sheet::new(out, args.format, &COLUMNS);
    for object in &objects {
        let counts = match from_statistics(&opened, object)? {
            Some(counts) => counts,
            None => by_scan(&opened, object)?,
        };
        for (column, non_null) in object.schema.columns().iter().zip(&counts.non_null) {
            let is_wanted = wanted.is_empty() || wanted.iter().any(|name| name.to_lowercase() == column.name.to_lowercase());
            if is_wanted && matches!(column.category, ColumnCategory::Tag | ColumnCategory::Field) {
                sheet.push(&[
                    Cell::text(if object.device.is_some() { "tree" } else { "table" }),
                    Cell::text(object.name()),
                    Cell::text(column.name.as_str()),
                    Cell::text(column.category.name()),
                    Cell::count(counts.row_count),
                    Cell::count(counts.entity_count),
                    Cell::count(*non_null),
                    Cell::count(counts.row_count.saturating_sub(*non_null)),
                    counts.range.map_or_else(Cell::null, |range| Cell::time(range.start)),
                    counts.range.map_or_else(Cell::null, |range| Cell::time(range.end)),
                    counts.range.map_or_else(Cell::null, |_| Cell::text(counts.source)),
                ])?;
            }
        }
    }
    sheet.finish()
}

/// `None` when statistics do not tell it all: in a store, where chunks overlap, and where rows were deleted.
fn from_statistics(opened: &Opened, object: &Object) -> Outcome<Option<Counts>> {
    let Opened::File(FileRows { reader, deletions }) = opened else { return Ok(None) };
    if !deletions.is_empty() {
        return Ok(None);
    }
    let mut counts = Counts::none(object, "statistics");
    let mut timeline = Timeline { is_exact: true, ..Timeline::default() };
    let mut add = |device: &tsloom::model::DeviceId, series: &tsloom::file::DeviceSeries| {
        let of_device = Timeline::of(series);
        // Columns with times of their own make rows together, which only a scan can count.
        let shares_times = series.time().is_some() || series.len() <= 1;
        timeline = timeline.and(of_device);
        timeline.is_exact &= shares_times;
        counts.entity_count += 1;
        for (tag, column) in object.schema.tags().enumerate() {
            counts.non_null[column] += if device.tag(tag).is_some() { of_device.row_count } else { 0 };
        }
        for series in series.iter().filter(|series| series.series_type().data_type().is_some()) {
            timeline.is_exact &= is_exact(&series);
            if let Some(column) = object.schema.columns().iter().position(|column| column.name == series.name()) {
                counts.non_null[column] += u64::from(series.statistics().count());
            }
        }
        Ok(())
    };
    match &object.device {
        Some(device) => {
            let mut series = tsloom::file::DeviceSeries::default();
            reader.find_device(device, &mut series).map_err(Failure::unreadable)?;
            add(device, &series)?;
        }
        None => each_device(reader, Some(object.name()), add)?,
    }
    counts.row_count = timeline.row_count;
    counts.range = timeline.range;
    Ok(timeline.is_exact.then_some(counts))
}

fn by_scan(opened: &Opened, object: &Object) -> Outcome<Counts> {
    let mut counts = Counts::none(object, "scan");
    let names: Vec<&str> = object.schema.columns().iter().map(|column| column.name.as_str()).collect();
    let wanted = names.iter().zip(object.schema.columns()).filter(|(_, column)| column.category != ColumnCategory::Time);
    let request = ScanRequest::new().columns(wanted.map(|(name, _)| *name));
    let mut blocks = opened.scan(object, &request).map_err(Failure::unreadable)?;
    let tags: Vec<usize> = object.schema.tags().collect();
    let mut last_tags: Option<Vec<Option<String>>> = None;
    while let Some(block) = blocks.next_block().map_err(Failure::unreadable)? {
        counts.row_count += block.row_count() as u64;
        if let (Some(first), Some(last)) = (block.times().first(), block.times().last()) {
            let range = counts.range.get_or_insert(TimeRange { start: *first, end: *last });
            *range = TimeRange { start: range.start.min(*first), end: range.end.max(*last) };
        }
        for column in block.columns() {
            if let Some(at) = names.iter().position(|name| *name == column.name()) {
                counts.non_null[at] += (column.row_count() - column.null_count()) as u64;
            }
        }
        // A block has rows of one device, and devices come one after the other.
        let column_of = |tag: &usize| block.column_by_name(names[*tag]).and_then(|column| column.str(0)).map(str::to_owned);
        let block_tags: Vec<Option<String>> = tags.iter().map(column_of).collect();
        if last_tags.as_ref() != Some(&block_tags) {
            counts.entity_count += 1;
            last_tags = Some(block_tags);
        }
    }
    Ok(counts)
}

impl Counts {
    fn none(object: &Object, source: &'static str) -> Self {
        Self { row_count: 0, entity_count: 0, range: None, non_null: vec![0; object.schema.columns().len()], source }
    }
}
