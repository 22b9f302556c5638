//! `tsloom stats`: statistics of every FIELD, device by device.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tsloom::file::{DeviceSeries, FileReader};
use tsloom::format::{SeriesType, StatisticValues, Statistics};
use tsloom::model::{ColumnCategory, ColumnSchema, DeviceId, Value, Values};
use tsloom::scan::{DeviceScan, ScanRequest};
use tsloom::{DataType, TableSchema};

use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::ls::{tag_cell, tag_names};
use crate::opened::{FileRows, Object, Opened, ReadArgs};
use crate::rows::args::ObjectArgs;
use crate::rows::select;
use crate::text::sheet::{Cell, Sheet};
use crate::timeline::{Timeline, each_device, is_exact};

/// What `stats` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: model, object, a tag.NAME for each TAG, field, data_type, non_null_count, null_count, min_time, max_time, min, max,
first, last, sum, stats_source. The source is `statistics` when no page was read, `scan` where chunks overlap, and empty for a
FIELD that a device has no value of.

Example:
  tsloom stats wind.tsfile -m power_kw -f json")]
pub(crate) struct StatsArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    object: ObjectArgs,

    #[command(flatten)]
    read: ReadArgs,

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
    let reader = Arc::new(args.read.open(&args.file)?);
    let opened = Opened::File(FileRows { reader: Arc::clone(&reader), deletions: Arc::default() });
    let objects = select::named(&args.object, &opened)?;
    let wanted: Vec<&str> = args.object.columns().collect();
    for name in &wanted {
        let has = |object: &Object| object.schema.column_index(name).is_some_and(|column| is_field(&object.schema, column));
        if !objects.iter().any(has) {
            return Err(Failure::failed(format_args!("{} has no FIELD {name}", reader.name())));
        }
    }
    let tags = tag_names(&reader);
    let mut names = vec!["model".to_owned(), "object".to_owned()];
    names.extend(tags.iter().map(|tag| format!("tag.{tag}")));
    names.extend(COLUMNS.map(str::to_owned));
    let mut sheet = Sheet::new(out, args.format, &names);
    for Object { schema, device } in &objects {
        let model = if device.is_some() { "tree" } else { "table" };
        let fields: Vec<&ColumnSchema> = schema.fields().map(|field| &schema.columns()[field]).collect();
        let is_wanted = |field: &&&ColumnSchema| {
            wanted.is_empty() || wanted.iter().any(|name| schema.column_index(name) == schema.column_index(&field.name))
        };
        let mut push = |device: &DeviceId, series: &DeviceSeries| {
            let mut of_device = OfDevice { reader: &reader, device, series, timeline: Timeline::of(series), row_count: None };
            for field in fields.iter().filter(is_wanted) {
                let mut line = vec![Cell::text(model), Cell::text(schema.name())];
                line.extend(tags.iter().map(|tag| tag_cell(&reader, device, tag)));
                line.extend([Cell::text(field.name.as_str()), Cell::text(field.data_type.name())]);
                line.extend(of_device.cells(field)?);
                sheet.push(&line)?;
            }
            Ok(())
        };
        match device {
            Some(device) => {
                let mut series = DeviceSeries::default();
                reader.find_device(device, &mut series).map_err(Failure::unreadable)?;
                push(device, &series)?;
            }
            None => each_device(&reader, Some(schema.name()), push)?,
        }
    }
    sheet.finish()
}

fn is_field(schema: &TableSchema, column: usize) -> bool {
    schema.columns()[column].category == ColumnCategory::Field
}

/// A device, and what is known of its rows.
struct OfDevice<'a> {
    reader: &'a Arc<FileReader>,
    device: &'a DeviceId,
    series: &'a DeviceSeries,
    timeline: Timeline,
    /// Counted one by one, once somebody asked.
    row_count: Option<u64>,
}

impl OfDevice<'_> {
    /// What there is to say of one FIELD.
    fn cells(&mut self, field: &ColumnSchema) -> Outcome<[Cell; 10]> {
        let Some(series) = self.series.position(&field.name).map(|position| self.series.get(position)) else {
            // The device has no value of it, and no series.
            let rows = self.row_count()?;
            return Ok(cells(field.data_type, rows, (0, 0, 0), StatisticValues::None, ""));
        };
        let data_type = series.series_type().data_type().unwrap_or(field.data_type);
        if self.timeline.is_exact && is_exact(&series) {
            let statistics = series.statistics();
            // A column with times of its own has no null.
            let rows = if self.series.is_aligned() { self.timeline.row_count } else { statistics.count().into() };
            let range = (statistics.count(), statistics.start_time(), statistics.end_time());
            return Ok(cells(data_type, rows, range, statistics.values(), "statistics"));
        }
        let (rows, statistics) = scanned(self.reader, self.device, &field.name, data_type).map_err(Failure::unreadable)?;
        let range = (statistics.count(), statistics.start_time(), statistics.end_time());
        Ok(cells(data_type, rows, range, statistics.values(), "scan"))
    }

    fn row_count(&mut self) -> Outcome<u64> {
        if self.timeline.is_exact {
            return Ok(self.timeline.row_count);
        }
        if self.row_count.is_none() {
            let device = std::slice::from_ref(self.device);
            let mut scan =
                DeviceScan::open([Arc::clone(self.reader)], Some(device), &ScanRequest::new()).map_err(Failure::unreadable)?;
            let mut rows = 0;
            while let Some(block) = scan.next_block().map_err(Failure::unreadable)? {
                rows += block.row_count() as u64;
            }
            self.row_count = Some(rows);
        }
        Ok(self.row_count.unwrap_or_default())
    }
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
