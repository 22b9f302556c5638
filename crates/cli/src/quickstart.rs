//! `tsloom quickstart`: real data, compiled in, through every layer in front of the newcomer's eyes.
//!
//! Each step does its work first and then prints what happened; no number is made up. The store lives in a temporary
//! directory that is gone afterwards.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use tsloom::TableSchema;
use tsloom::block::Block;
use tsloom::model::{DeviceId, Grouped, TimeRange};
use tsloom::store::{Store, StoreOptions};
use tsloom::tablet::Tablet;

use crate::args::OnError;
use crate::failure::{Failure, Outcome};
use crate::import::push_row;
use crate::input::cell::Nulls;
use crate::input::plan::Told;
use crate::input::rows::{Row, Step};
use crate::input::source::{Input, Settings};
use crate::plot::push_column;
use crate::plot::thin::Thin;
use crate::text::time::TimeUnit;
use crate::text::{plain, spark, time};

/// A CSV of `examples/data`; origin and licence are in NOTICE.
struct Sample {
    table: &'static str,
    csv: &'static [u8],
}

const SAMPLES: [Sample; 2] = [
    Sample {
        table: "nyc_weather_hourly",
        csv: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/nyc_weather_hourly.csv")),
    },
    Sample {
        table: "sea_temperature_30min",
        csv: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/sea_temperature_30min.csv")),
    },
];

/// Rows in a tablet.
const TABLET_ROWS: usize = 1024;

/// Bars of the sparkline.
const SPARK_WIDTH: usize = 73;

/// Columns and rows that are shown at the end.
const SHOWN_COLUMNS: [&str; 6] = ["airport", "temp_f", "dewpoint_f", "humidity_pct", "wind_gust_mph", "pressure_mbar"];
const SHOWN_ROWS: u64 = 4;

/// Does all steps and prints them to `out`.
pub(crate) fn run(out: &mut impl Write) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| Failure::failed(format_args!("temporary directory: {error}")))?;
    let mut report = Report { out };
    report.line(format_args!("tsloom quickstart: real sensor data through every layer\n"))?;
    let mut batches = Vec::new();
    for sample in &SAMPLES {
        batches.push(read(sample, &mut report)?);
    }
    let store = Store::open(folder.path(), StoreOptions::default()).map_err(Failure::failed)?;
    write(&store, &batches, &mut report)?;
    flush(&store, folder.path(), &mut report)?;
    for Batch { schema, .. } in &batches {
        scan(&store, schema.name(), &mut report)?;
    }
    spark(&store, &mut report)?;
    show(&store, &mut report)?;
    report.line(format_args!(
        "\nThe same with your data:\n  \
         tsloom import your.csv --out your.tsfile       one file, for every reader of TsFiles\n  \
         tsloom cat your.tsfile -n 10                   its first rows; add -f ndjson for JSON\n  \
         tsloom import your.csv --store lab.tsloom      a store that takes any order and survives a crash\n  \
         tsloom cat --store lab.tsloom --columns a,b    only what you ask for is read\n  \
         tsloom plot your.tsfile -m a -o a.svg          a picture of it"
    ))
}

/// A CSV as tablets.
struct Batch {
    schema: TableSchema,
    tablets: Vec<Tablet>,
}

fn read(sample: &Sample, report: &mut Report<'_, impl Write>) -> Outcome<Batch> {
    let started = Instant::now();
    let settings = Settings {
        told: Told { time: None, tags: &[], finds_tags: true, types: &[] },
        nulls: Nulls::default(),
        unit: TimeUnit::Ms,
        on_error: OnError::Stop,
    };
    let mut rows = Input::of_bytes(sample.table, sample.csv)?.into_rows(settings, sample.table, None)?;
    let schema = rows.plan().schema.clone();
    let mut tablets = Vec::new();
    let mut tablet = Tablet::with_capacity(&schema, TABLET_ROWS);
    let mut row = Row::default();
    while rows.next(&mut row)? == Step::Row {
        if tablet.row_count() == TABLET_ROWS {
            tablets.push(std::mem::replace(&mut tablet, Tablet::with_capacity(&schema, TABLET_ROWS)));
        }
        push_row(&mut tablet, &row).map_err(Failure::failed)?;
    }
    tablets.push(tablet);
    report.step(
        "read",
        format_args!(
            "{}.csv: {} bytes, {} rows x {} columns, as {} tablets in {}",
            sample.table,
            Grouped(sample.csv.len() as u64),
            Grouped(rows.row_count()),
            schema.columns().len(),
            tablets.len(),
            Took(started.elapsed())
        ),
    )?;
    Ok(Batch { schema, tablets })
}

fn write(store: &Store, batches: &[Batch], report: &mut Report<'_, impl Write>) -> Outcome {
    let started = Instant::now();
    for Batch { schema, tablets } in batches {
        store.create_table(schema).map_err(Failure::failed)?;
        for tablet in tablets {
            store.write(tablet).map_err(Failure::failed)?;
        }
    }
    let took = started.elapsed();
    let row_count: usize = batches.iter().flat_map(|batch| &batch.tablets).map(Tablet::row_count).sum();
    let stats = store.stats();
    report.step(
        "write",
        format_args!(
            "{} rows in {}, on disk before each call returned: {}",
            Grouped(row_count as u64),
            Took(took),
            Rate(row_count as u64, took)
        ),
    )?;
    report.step(
        "",
        format_args!(
            "log {} bytes in {} syncs, memtable {} bytes",
            Grouped(stats.log.bytes),
            Grouped(stats.log.syncs),
            Grouped(stats.memtable_bytes)
        ),
    )
}

fn flush(store: &Store, folder: &Path, report: &mut Report<'_, impl Write>) -> Outcome {
    let started = Instant::now();
    store.flush().map_err(Failure::failed)?;
    let took = started.elapsed();
    let stats = store.stats();
    let csv_size: usize = SAMPLES.iter().map(|sample| sample.csv.len()).sum();
    let percent = stats.file_bytes * 100 / (csv_size as u64).max(1);
    report.step(
        "flush",
        format_args!(
            "{}: {} rows, {} bytes, {percent} % of the CSV, in {}",
            file_name(folder).unwrap_or_else(|| "a TsFile".to_owned()),
            Grouped(stats.file_rows),
            Grouped(stats.file_bytes),
            Took(took)
        ),
    )
}

/// The TsFile that the flush made.
fn file_name(folder: &Path) -> Option<String> {
    let mut entries = fs::read_dir(folder.join("data")).ok()?;
    let name = entries.next()?.ok()?.file_name().into_string().ok()?;
    Some(format!("data/{name}"))
}

fn scan(store: &Store, table: &str, report: &mut Report<'_, impl Write>) -> Outcome {
    let started = Instant::now();
    let mut scan = store.scan(table).devices_apart(true).open().map_err(Failure::unreadable)?;
    let mut devices: Vec<(DeviceId, u64)> = Vec::new();
    while let Some(block) = scan.next_block().map_err(Failure::unreadable)? {
        let row_count = block.row_count() as u64;
        let Some(device) = scan.device() else { continue };
        match devices.last_mut() {
            Some((last, count)) if last == device => *count += row_count,
            _ => devices.push((device.clone(), row_count)),
        }
    }
    let took = started.elapsed();
    let stats = scan.stats();
    let names = devices.iter().map(|(device, count)| format!("{} {}", device.tag(0).unwrap_or("null"), Grouped(*count)));
    report.step("scan", format_args!("{table}: {}", names.collect::<Vec<_>>().join(", ")))?;
    let builds = if stats.block_builds == 1 { "block built" } else { "blocks built" };
    report.step(
        "",
        format_args!(
            "{} rows in {}: {}; {} {builds} for {} {}",
            Grouped(stats.rows),
            Took(took),
            Rate(stats.rows, took),
            stats.block_builds,
            stats.devices,
            if stats.devices == 1 { "device" } else { "devices" }
        ),
    )
}

/// A column of one device over time, in one line.
fn spark(store: &Store, report: &mut Report<'_, impl Write>) -> Outcome {
    let (table, device) = (SAMPLES[0].table, "JFK");
    let scan = || store.scan(table).columns(["temp_f"]).filter(tsloom::tag("airport").eq(device)).open();
    let mut range: Option<TimeRange> = None;
    let mut times = scan().map_err(Failure::unreadable)?;
    while let Some(block) = times.next_block().map_err(Failure::unreadable)? {
        let (start, end) = (block.times()[0], block.times()[block.row_count() - 1]);
        range = Some(TimeRange { start: range.map_or(start, |range| range.start), end });
    }
    let Some(range) = range else { return Ok(()) };
    let mut line = Thin::new(range, SPARK_WIDTH);
    let mut values = scan().map_err(Failure::unreadable)?;
    while let Some(block) = values.next_block().map_err(Failure::unreadable)? {
        push_column(&mut line, block.times(), block.column(0));
    }
    report.step("plot", format_args!("{device} temp_f {}", spark::line(&line.middles())))
}

fn show(store: &Store, report: &mut Report<'_, impl Write>) -> Outcome {
    let table = SAMPLES[0].table;
    let mut scan = store.scan(table).columns(SHOWN_COLUMNS).limit(SHOWN_ROWS).open().map_err(Failure::unreadable)?;
    let Some(block) = scan.next_block().map_err(Failure::unreadable)? else { return Ok(()) };
    report.step("rows", format_args!("the first {} of {table}\n", block.row_count()))?;
    let mut lines = vec![std::iter::once("time").chain(SHOWN_COLUMNS).map(str::to_owned).collect()];
    lines.extend((0..block.row_count()).map(|row| cells(block, row)));
    report.table(&lines)
}

/// A row as texts; a null is a dash here.
fn cells(block: &Block, row: usize) -> Vec<String> {
    let mut text = Vec::new();
    time::push_rfc3339(&mut text, block.times()[row]);
    let mut cells = vec![String::from_utf8_lossy(&text).into_owned()];
    for column in block.columns() {
        text.clear();
        plain::push_value(&mut text, column.data_type(), column.value(row));
        cells.push(if column.is_null(row) { "-".to_owned() } else { String::from_utf8_lossy(&text).into_owned() });
    }
    cells
}

/// Prints steps, aligned.
struct Report<'a, W> {
    out: &'a mut W,
}

impl<W: Write> Report<'_, W> {
    fn line(&mut self, text: fmt::Arguments<'_>) -> Outcome {
        writeln!(self.out, "{text}").and_then(|()| self.out.flush()).map_err(|error| Failure::of_stdout(&error))
    }

    fn step(&mut self, name: &str, text: fmt::Arguments<'_>) -> Outcome {
        self.line(format_args!("  {name:<6} {text}"))
    }

    /// Prints lines of cells under each other: the first column to the left, the others to the right.
    fn table(&mut self, lines: &[Vec<String>]) -> Outcome {
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
        for line in lines {
            let mut text = format!("{:<1$}", line[0], width(0));
            for (column, cell) in line.iter().enumerate().skip(1) {
                text += &format!("  {cell:>0$}", width(column));
            }
            self.step("", format_args!("{text}"))?;
        }
        Ok(())
    }
}

/// A time span for people.
struct Took(Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0.as_secs_f64() * 1e3)
    }
}

/// Rows a second for people.
struct Rate(u64, Duration);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millions = self.0 as f64 / self.1.as_secs_f64().max(1e-9) / 1e6;
        write!(f, "{millions:.1} million rows/s")
    }
}
