//! Scans: many small devices (S1, S2), all of W1 (R1), one part in a hundred of it (R2), the end of a few columns of many, and the
//! metadata of very many devices.
//!
//! A query gives the checksum of what it read. Each case is checked once, when it is set up: against the published
//! checksum where the parameters are the published ones, and that one block served all devices.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tsloom_file::{DeviceSeries, FileReader};
use tsloom_model::Limits;
use tsloom_scan::{ScanRequest, TableScan};

use crate::data::{TIME_STEP, W1_ROW_COUNT, block_checksum, time};
use crate::files::{s_file, w1_file, wide_file};
use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream, invalid};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("scan/blocks", "scan of all devices", blocks).params(&[("devices", 300), ("rows", 20), ("columns", 10)]),
    Scenario::new("scan/s1", "query", |params| s(params, Reuse::Lent))
        .params(S1)
        .op_count(8)
        .peers(&[("cpp", "s1")])
        .upstream(CPP_S1),
    Scenario::new("scan/s1_fresh_blocks", "query", |params| s(params, Reuse::Fresh)).params(S1).op_count(8),
    Scenario::new("scan/s2", "query", |params| s(params, Reuse::Lent)).params(S2).op_count(8).peers(&[("cpp", "s2")]),
    Scenario::new("scan/s1_apart", "query", |params| s(params, Reuse::Apart)).params(S1).op_count(8),
    Scenario::new("scan/s2_apart", "query", |params| s(params, Reuse::Apart)).params(S2).op_count(8),
    Scenario::new("scan/wide_end", "query", wide_end).params(&[("rows", 3_000), ("columns", 3_000), ("asked", 100)]).op_count(4),
    Scenario::new("scan/list", "listing", list).params(&[("devices", 53_040)]).op_count(2),
    Scenario::new("scan/r1", "query", r1).params(W1).op_count(1).peers(R1_PEERS),
    Scenario::new("scan/r2", "query", r2).params(W1).op_count(8).peers(R2_PEERS),
];

const S1: &[(&str, u64)] = &[("devices", 30), ("rows", 20), ("columns", 200)];
const S2: &[(&str, u64)] = &[("devices", 3_000), ("rows", 20), ("columns", 10)];
const W1: &[(&str, u64)] = &[("rows", W1_ROW_COUNT as u64)];

const R1_PEERS: &[(&str, &str)] =
    &[("cpp", "r1"), ("parquet", "r1-lz4"), ("parquet", "r1-zstd"), ("sqlite", "r1"), ("java", "r1")];
const R2_PEERS: &[(&str, &str)] =
    &[("cpp", "r2"), ("parquet", "r2-lz4"), ("parquet", "r2-zstd"), ("sqlite", "r2"), ("java", "r2")];

/// Time to materialise 30 devices, before and after the block is reused, as the pull request says.
const CPP_S1: Upstream = Upstream {
    source: "apache/tsfile#1097 (C++, 30 devices x 20 rows x 200 columns)",
    before: Figures { allocs: None, bytes: None, ns: Some(71_900_000) },
    after: Figures { allocs: None, bytes: None, ns: Some(68_000_000) },
};

const R1_CHECKSUM: u64 = 4_908_504_965_261_380_434;
const R2_CHECKSUM: u64 = 12_990_443_953_322_470_542;
const S1_CHECKSUM: u64 = 1_021_741_157_643_000;
const S2_CHECKSUM: u64 = 102_899_706_273_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reuse {
    /// The one block is lent again and again.
    Lent,
    /// The same, and each has rows of one device only.
    Apart,
    /// The caller keeps every block, so each is built anew.
    Fresh,
}

/// All devices of a table in memory: opening the scan costs what it costs, the devices cost nothing.
fn blocks(params: &Params) -> Result<Case> {
    let (path, payload_size) = s_input(params)?;
    let reader = Arc::new(FileReader::new(std::fs::read(path)?, "s", Limits::default())?);
    let request = ScanRequest::new();
    let query = move || {
        let mut scan = TableScan::of_file(Arc::clone(&reader), "s", &request)?;
        let mut sum = 0_u64;
        while let Some(block) = scan.next_block()? {
            sum = sum.wrapping_add(block.row_count() as u64);
        }
        let builds = scan.stats().block_builds;
        if builds != 1 { Err(invalid(format!("{builds} block builds, expected 1"))) } else { Ok(sum) }
    };
    Ok(Case::new(payload_size, query))
}

fn s(params: &Params, reuse: Reuse) -> Result<Case> {
    let (path, payload_size) = s_input(params)?;
    let reader = Arc::new(FileReader::open(path)?);
    let request = ScanRequest::new().devices_apart(reuse != Reuse::Lent);
    let query = move || drain(TableScan::of_file(Arc::clone(&reader), "s", &request)?, reuse);
    let published = match params.values() {
        values if values == S1 => Some(S1_CHECKSUM),
        values if values == S2 => Some(S2_CHECKSUM),
        _ => None,
    };
    checked(payload_size, query, published)
}

fn s_input(params: &Params) -> Result<(PathBuf, usize)> {
    let (devices, rows, columns) = (params.count("devices")?, params.count("rows")?, params.count("columns")?);
    Ok((s_file(devices, rows, columns)?, devices * rows * (columns + 1) * 8))
}

/// Every column of every row; the file is opened for each query.
fn r1(params: &Params) -> Result<Case> {
    let rows = params.count("rows")?;
    let path = w1_file(rows)?;
    let request = ScanRequest::new();
    let query = move || drain(TableScan::of_file(Arc::new(open(&path)?), "w1", &request)?, Reuse::Lent);
    checked(10 * rows * 11 * 8, query, (rows == W1_ROW_COUNT).then_some(R1_CHECKSUM))
}

/// Two columns of a thousand rows in the middle of each device; the file is opened for each query.
fn r2(params: &Params) -> Result<Case> {
    let rows = params.count("rows")?;
    let path = w1_file(rows)?;
    let first = rows / 2;
    let range = time(first)..=time(first) + 999 * TIME_STEP;
    let request = ScanRequest::new().columns(["i2", "f1"]).time(range);
    let query = move || drain(TableScan::of_file(Arc::new(open(&path)?), "w1", &request)?, Reuse::Lent);
    checked(10 * 1_000 * 3 * 8, query, (rows == W1_ROW_COUNT).then_some(R2_CHECKSUM))
}

/// The last thousand rows of some of very many columns. Checked: what is read is hardly more than their pages and the metadata.
fn wide_end(params: &Params) -> Result<Case> {
    let (rows, columns, asked) = (params.count("rows")?, params.count("columns")?, params.count("asked")?);
    if rows < 1_000 || asked > columns {
        return Err(invalid("at least 1,000 rows, and no more columns asked for than there are".to_owned()));
    }
    let reader = Arc::new(FileReader::open(wide_file(rows, columns)?)?);
    let names = (0..asked).map(|index| format!("s{:04}", index * columns / asked));
    let request = ScanRequest::new().columns(names).time(time(rows - 1_000)..);
    let mut scan = TableScan::of_file(Arc::clone(&reader), "wide", &request)?;
    let mut row_count = 0;
    while let Some(block) = scan.next_block()? {
        row_count += block.row_count();
    }
    let needed = reader.size() - reader.body_end() + (asked * 1_000 * 8) as u64;
    let stats = scan.stats();
    if row_count != 1_000 || stats.bytes_read * 10 >= needed * 12 {
        return Err(invalid(format!("{row_count} rows, {} bytes read for {needed}", stats.bytes_read)));
    }
    let query = move || drain(TableScan::of_file(Arc::clone(&reader), "wide", &request)?, Reuse::Lent);
    Ok(Case::new(1_000 * (asked + 1) * 8, query))
}

/// All devices of a file, their series, and how many values those have: the metadata and nothing else.
fn list(params: &Params) -> Result<Case> {
    let devices = params.count("devices")?;
    let reader = FileReader::open(s_file(devices, 1, 2)?)?;
    let payload_size = (reader.size() - reader.body_end()) as usize;
    let query = move || {
        let (mut cursor, mut series) = (reader.devices("s"), DeviceSeries::default());
        let mut value_count = 0;
        while cursor.advance(&reader)? {
            cursor.read_series(&reader, &mut series)?;
            value_count += series.iter().map(|series| u64::from(series.statistics().count())).sum::<u64>();
        }
        Ok(value_count)
    };
    match query()? {
        found if found == devices as u64 * 3 => Ok(Case::new(payload_size, query)),
        found => Err(invalid(format!("{found} values in {devices} devices of a time and two values each"))),
    }
}

/// Not `FileReader::open`: it keeps the path, whose length differs from machine to machine, and the counts must not.
fn open(path: &Path) -> Result<FileReader> {
    FileReader::new(File::open(path)?, "w1", Limits::default())
}

fn drain(mut scan: TableScan, reuse: Reuse) -> Result<u64> {
    let mut sum = 0_u64;
    while let Some(block) = scan.next_block()? {
        sum = sum.wrapping_add(block_checksum(block));
        if reuse == Reuse::Fresh {
            drop(scan.take());
        }
    }
    Ok(sum)
}

fn checked(payload_size: usize, query: impl Fn() -> Result<u64> + 'static, published: Option<u64>) -> Result<Case> {
    let sum = query()?;
    match published {
        Some(expected) if expected != sum => Err(invalid(format!("checksum {sum}, published is {expected}"))),
        _ => Ok(Case::new(payload_size, query)),
    }
}
