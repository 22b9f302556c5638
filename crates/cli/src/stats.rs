//! `tsloom stats`: statistics of every FIELD, device by device.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tsloom::DataType;
use tsloom::file::{DeviceSeries, FileReader, SeriesRef};
use tsloom::format::{SeriesType, StatisticValues, Statistics};
use tsloom::model::{DeviceId, Value, Values};
use tsloom::scan::{DeviceScan, ScanRequest};

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::ls::{tag_cell, tag_names};
use crate::opened::open_file;
use crate::text::sheet::{Cell, Sheet};
use crate::timeline::{Timeline, each_device, is_exact};

/// What `stats` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: model, object, a tag.NAME for each TAG, field, data_type, non_null_count, null_count, min_time, max_time, min, max,
first, last, sum, stats_source. The source is `statistics` when no page was read, and `scan` where chunks overlap.

Example:
  tsloom stats wind.tsfile -m power_kw -f json")]
pub(crate) struct StatsArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Only this table
    #[arg(short, long, value_name = "T")]
    table: Option<String>,

    /// Only this device of a tree-model file
    #[arg(short, long, value_name = "ID", conflicts_with = "table")]
    device: Option<String>,

    /// Only this FIELD, repeatable
    #[arg(short = 'm', long = "column", value_name = "NAME")]
    columns: Vec<String>,

    /// Fail where IoTDB noted deletions beside the file, instead of warning
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    format: FormatArgs,
}

const COLUMNS: [&str; 12] = [
    "field",
    "data_type",
    "non_null_count",
    "null_count",
    "min_time",
    "max_time",
    "min",
    "max",
    "first",
    "last",
    "sum",
    "stats_source",
];

/// Prints what `args` ask for.
pub(crate) fn run(args: &StatsArgs, out: &mut impl Write) -> Outcome {
    let reader = Arc::new(open_file(&args.file, args.strict)?);
    let tags = tag_names(&reader);
    let mut names = vec!["model".to_owned(), "object".to_owned()];
    names.extend(tags.iter().map(|tag| format!("tag.{tag}")));
    names.extend(COLUMNS.map(str::to_owned));
    let mut sheet = Sheet::new(out, args.format, &names);
    let mut seen = Seen { object: args.table.is_none() && args.device.is_none(), columns: vec![false; args.columns.len()] };
    each_device(&reader, None, |device, series| {
        let table = reader.metadata().schema(device.table());
        let object = table.map_or_else(|| device.to_string(), |table| table.name().to_owned());
        let (wanted, is_table) = (args.table.as_ref().or(args.device.as_ref()), table.is_some());
        if wanted.is_some_and(|wanted| *wanted != object && !(is_table && wanted.to_lowercase() == object)) {
            return Ok(());
        }
        seen.object = true;
        let timeline = Timeline::of(series);
        for field in series.iter() {
            let SeriesType::Value(data_type) = field.series_type() else { continue };
            if !seen.takes(&args.columns, field.name()) {
                continue;
            }
            let mut line = vec![Cell::text(if is_table { "table" } else { "tree" }), Cell::text(object.as_str())];
            line.extend(tags.iter().map(|tag| tag_cell(&reader, device, tag)));
            line.extend([Cell::text(field.name()), Cell::text(data_type.name())]);
            line.extend(statistics_cells(&reader, device, series, &field, data_type, timeline)?);
            sheet.push(&line)?;
        }
        Ok(())
    })?;
    seen.check(args, &reader)?;
    sheet.finish()
}

/// What of that which was asked for is there.
struct Seen {
    object: bool,
    columns: Vec<bool>,
}

impl Seen {
    fn takes(&mut self, columns: &[String], name: &str) -> bool {
        let mut takes = columns.is_empty();
        for (column, seen) in columns.iter().zip(&mut self.columns) {
            if column == name || column.to_lowercase() == name {
                *seen = true;
                takes = true;
            }
        }
        takes
    }

    fn check(&self, args: &StatsArgs, reader: &FileReader) -> Outcome {
        let name = args.table.as_ref().or(args.device.as_ref());
        // A table without a row has no device.
        let is_empty_table = args.table.as_ref().is_some_and(|table| reader.table(table).is_some());
        if let Some(name) = name.filter(|_| !self.object && !is_empty_table) {
            return Err(Failure::failed(format_args!("{} has no table or device {name}", reader.name())));
        }
        let missing = args.columns.iter().zip(&self.columns).find(|(_, seen)| !**seen);
        missing.map_or(Ok(()), |(name, _)| Err(Failure::failed(format_args!("{} has no FIELD {name}", reader.name()))))
    }
}

fn statistics_cells(
    reader: &Arc<FileReader>,
    device: &DeviceId,
    series: &DeviceSeries,
    field: &SeriesRef<'_>,
    data_type: DataType,
    timeline: Timeline,
) -> Outcome<[Cell; 10]> {
    if timeline.is_exact && is_exact(field) {
        let statistics = field.statistics();
        // A column with times of its own has no null.
        let rows = if series.time().is_some() { timeline.row_count } else { statistics.count().into() };
        let range = (statistics.count(), statistics.start_time(), statistics.end_time());
        return Ok(cells(data_type, rows, range, statistics.values(), "statistics"));
    }
    let (rows, statistics) = scanned(reader, device, field.name(), data_type).map_err(Failure::unreadable)?;
    let range = (statistics.count(), statistics.start_time(), statistics.end_time());
    Ok(cells(data_type, rows, range, statistics.values(), "scan"))
}

/// Rows and statistics of a column, value by value.
fn scanned(reader: &Arc<FileReader>, device: &DeviceId, name: &str, data_type: DataType) -> tsloom::Result<(u64, Statistics)> {
    let request = ScanRequest::new().columns([name]);
    let mut scan = DeviceScan::open([Arc::clone(reader)], Some(std::slice::from_ref(device)), &request)?;
    let mut statistics = Statistics::new(SeriesType::Value(data_type));
    let mut rows = 0;
    while let Some(block) = scan.next_block()? {
        rows += block.row_count() as u64;
        let column = block.column(0);
        let present: Vec<usize> = (0..block.row_count()).filter(|row| !column.is_null(*row)).collect();
        let (Some(first), Some(last)) = (present.first(), present.last()) else { continue };
        let mut values = Values::new(data_type.physical());
        for row in &present {
            let fits = values.push(column.value(*row));
            assert!(fits, "a block has the types of its series");
        }
        statistics.add_values(block.times()[*first], block.times()[*last], values.as_values());
    }
    Ok((rows, statistics))
}

fn cells(
    data_type: DataType,
    rows: u64,
    (count, start, end): (u32, i64, i64),
    values: StatisticValues<'_>,
    source: &str,
) -> [Cell; 10] {
    let non_null = u64::from(count);
    let time = |time| if count > 0 { Cell::time(time) } else { Cell::null() };
    let [min, max, first, last, sum] =
        if count > 0 { value_cells(data_type, values) } else { std::array::from_fn(|_| Cell::null()) };
    let source = if count > 0 { Cell::text(source) } else { Cell::null() };
    [
        Cell::count(non_null),
        Cell::count(rows.saturating_sub(non_null)),
        time(start),
        time(end),
        min,
        max,
        first,
        last,
        sum,
        source,
    ]
}

/// min, max, first, last, sum
fn value_cells(data_type: DataType, values: StatisticValues<'_>) -> [Cell; 5] {
    use StatisticValues as V;
    let cell = |value: Value<'_>| Cell::value(data_type, value);
    let integer = |value: i64| Cell::value(DataType::Int64, Value::Int64(value));
    let number = |value: f64| Cell::value(DataType::Double, Value::Double(value));
    let null = Cell::null;
    match values {
        V::None => std::array::from_fn(|_| null()),
        V::Boolean { first, last, sum } => [null(), null(), cell(first.into()), cell(last.into()), integer(sum)],
        V::Int32 { min, max, first, last, sum } => {
            [cell(min.into()), cell(max.into()), cell(first.into()), cell(last.into()), integer(sum)]
        }
        V::Int64 { min, max, first, last, sum } => {
            [cell(min.into()), cell(max.into()), cell(first.into()), cell(last.into()), number(sum)]
        }
        V::Float { min, max, first, last, sum } => {
            [cell(min.into()), cell(max.into()), cell(first.into()), cell(last.into()), number(sum)]
        }
        V::Double { min, max, first, last, sum } => {
            [cell(min.into()), cell(max.into()), cell(first.into()), cell(last.into()), number(sum)]
        }
        V::Text { first, last } => [null(), null(), cell(first.into()), cell(last.into()), null()],
        V::String { first, last, min, max } => {
            [cell(min.into()), cell(max.into()), cell(first.into()), cell(last.into()), null()]
        }
    }
}
