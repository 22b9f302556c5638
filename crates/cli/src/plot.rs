//! `tsloom plot`: columns over time, a line for each column and device.

mod draw;
pub(crate) mod thin;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tsloom::block::{Block, Column};
use tsloom::file::NewFile;
use tsloom::model::{Grouped, PhysicalType, TimeRange};
use tsloom::scan::ScanRequest;

use crate::args::Source;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Partial;
use crate::opened::{FileRows, Opened};
use crate::rows::args::RowArgs;
use crate::rows::select::{self, Selected};
use crate::timeline::{Timeline, each_device};
use draw::{COLUMNS, Line};
use thin::Thin;

/// Lines past this number cannot be told apart.
const LINES_MAX: usize = 24;

/// What `plot` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Each column of each device is a line; of many points those are drawn that can be seen, the least and greatest among them.

Example:
  tsloom plot wind.tsfile --columns power_kw --where-tag turbine=R80711 --start 2014-01-01T00:00:00Z --out power.svg")]
pub(crate) struct PlotArgs {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    rows: RowArgs,

    /// The picture, as SVG
    #[arg(short, long, value_name = "OUT.svg")]
    out: PathBuf,
}

/// Draws what `args` ask for.
pub(crate) fn run(args: &PlotArgs, is_verbose: bool) -> Outcome {
    args.rows.tag_tests()?;
    let opened = Opened::open(&args.source)?;
    let mut selected = select::select(&args.rows, &opened)?;
    select::require_one(&selected, &opened)?;
    let Some(selected) = selected.pop() else {
        return Err(Failure::failed(format_args!("{} has nothing to draw", opened.name())));
    };
    let names = drawn_columns(&selected)?;
    let range = drawn_range(&opened, &selected)?;
    let (lines, row_count) = read(&opened, &selected, &names, range)?;
    if lines.is_empty() {
        return Err(Failure::failed(format_args!("{} has no value of {} there", opened.name(), names.join(", "))));
    }
    let failed = |error: tsloom::Error| Failure::failed(error.in_file(&args.out));
    let svg = draw::svg(selected.object.name(), &lines, range).map_err(Failure::failed)?;
    let mut file = NewFile::create(&args.out).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    file.write_all(svg.as_bytes()).map_err(|error| failed(error.into()))?;
    file.commit().map_err(failed)?;
    if is_verbose {
        let points: usize = lines.iter().map(|line| line.points.len()).sum();
        eprintln!("{} rows to {} points in {}", Grouped(row_count), Grouped(points as u64), args.out.display());
    }
    Ok(())
}

/// The columns that are asked for, which must be numbers; else all that are.
fn drawn_columns(selected: &Selected) -> Outcome<Vec<String>> {
    let schema = &selected.object.schema;
    let is_drawn = |column: usize| schema.columns()[column].data_type.physical() != PhysicalType::Text;
    let Some(wanted) = &selected.request.columns else {
        let names: Vec<String> =
            schema.fields().filter(|field| is_drawn(*field)).map(|field| schema.columns()[field].name.clone()).collect();
        return if names.is_empty() {
            Err(Failure::failed(format_args!("{} has no column of numbers", schema.name())))
        } else {
            Ok(names)
        };
    };
    for name in wanted {
        if let Some(column) = schema.column_index(name).filter(|column| !is_drawn(*column)) {
            let data_type = schema.columns()[column].data_type;
            return Err(Failure::failed(format_args!(
                "column {name} of {} is {data_type}; only numbers are drawn",
                schema.name()
            )));
        }
    }
    Ok(wanted.clone())
}

/// The range that is asked for, narrowed to where there are rows.
fn drawn_range(opened: &Opened, selected: &Selected) -> Outcome<TimeRange> {
    let asked = selected.request.time;
    let there = match opened {
        Opened::File(FileRows { reader, .. }) => {
            let mut timeline = Timeline::default();
            let table = selected.object.device.is_none().then(|| selected.object.name());
            each_device(reader, table, |device, series| {
                if selected.object.device.as_ref().is_none_or(|wanted| wanted == device) {
                    timeline = timeline.and(Timeline::of(series));
                }
                Ok(())
            })?;
            timeline.range
        }
        Opened::Store(..) => stored_range(opened, selected)?,
    };
    let there = there.unwrap_or(TimeRange { start: 0, end: 0 });
    Ok(TimeRange { start: asked.start.max(there.start), end: asked.end.min(there.end) })
}

/// A store has no statistics of its memtable: its times are looked at.
fn stored_range(opened: &Opened, selected: &Selected) -> Outcome<Option<TimeRange>> {
    let request = ScanRequest { columns: Some(Vec::new()), ..selected.request.clone() };
    let mut blocks = opened.scan(&selected.object, &request).map_err(Failure::unreadable)?;
    let mut range: Option<TimeRange> = None;
    while let Some(block) = blocks.next_block().map_err(Failure::unreadable)? {
        if let (Some(start), Some(end)) = (block.times().first(), block.times().last()) {
            let known = range.get_or_insert(TimeRange { start: *start, end: *end });
            *known = TimeRange { start: known.start.min(*start), end: known.end.max(*end) };
        }
    }
    Ok(range)
}

/// The lines, and the rows that were read for them.
fn read(opened: &Opened, selected: &Selected, names: &[String], range: TimeRange) -> Outcome<(Vec<Line>, u64)> {
    let schema = &selected.object.schema;
    let tags: Vec<String> = schema.tags().map(|tag| schema.columns()[tag].name.clone()).collect();
    let columns = names.iter().chain(&tags).cloned().collect();
    let request = ScanRequest { columns: Some(columns), time: range, ..selected.request.clone() };
    let mut blocks = opened.scan(&selected.object, &request).map_err(Failure::unreadable)?;
    let mut devices: Vec<(String, Vec<Thin>)> = Vec::new();
    let mut row_count = 0;
    while let Some(block) = blocks.next_block().map_err(Failure::unreadable)? {
        row_count += block.row_count() as u64;
        let device = device_name(block, names.len());
        if devices.last().is_none_or(|(last, _)| *last != device) {
            if (devices.len() + 1) * names.len() > LINES_MAX {
                return Err(Failure::failed(format_args!(
                    "more than {LINES_MAX} lines: choose columns (--columns) or devices (--where-tag)"
                )));
            }
            devices.push((device, vec![Thin::new(range, COLUMNS); names.len()]));
        }
        let Some((_, lines)) = devices.last_mut() else { continue };
        for (column, line) in block.columns().iter().zip(lines) {
            push_column(line, block.times(), column);
        }
    }
    let mut lines = Vec::new();
    for (device, thinned) in devices {
        for (name, line) in names.iter().zip(thinned) {
            let points = line.points();
            if !points.is_empty() {
                let name = if device.is_empty() { name.clone() } else { format!("{name} {device}") };
                lines.push(Line { name, points });
            }
        }
    }
    Ok((lines, row_count))
}

/// The tags of a block, which stand in its last columns.
fn device_name(block: &Block, column_count: usize) -> String {
    let tags = block.columns().iter().skip(column_count).map(|column| column.str(0).unwrap_or("null"));
    tags.collect::<Vec<_>>().join(" ")
}

/// The type is asked once for a column.
pub(crate) fn push_column(line: &mut Thin, times: &[i64], column: &Column) {
    use tsloom::model::ValuesRef as V;
    match column.values().as_values() {
        V::Boolean(values) => push_all(line, times, column, values, |value| f64::from(u8::from(value))),
        V::Int32(values) => push_all(line, times, column, values, f64::from),
        V::Int64(values) => push_all(line, times, column, values, |value| value as f64),
        V::Float(values) => push_all(line, times, column, values, f64::from),
        V::Double(values) => push_all(line, times, column, values, |value| value),
        V::Text(_) => {}
    }
}

fn push_all<T: Copy>(line: &mut Thin, times: &[i64], column: &Column, values: &[T], number: impl Fn(T) -> f64) {
    if column.null_count() == 0 {
        times.iter().zip(values).for_each(|(time, value)| line.push(*time, number(*value)));
        return;
    }
    for (row, (time, value)) in times.iter().zip(values).enumerate() {
        if !column.is_null(row) {
            line.push(*time, number(*value));
        }
    }
}
