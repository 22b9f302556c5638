//! The machine a run was made on: its names, and the speed of its memory and disk.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde::Serialize;

use crate::root;

#[derive(Clone, Debug, Serialize)]
pub(super) struct Machine {
    /// Year, month and day in UTC.
    date: String,
    cpu: String,
    core_count: usize,
    /// Of operations that wait for each other, one a cycle: what the clock was while this ran.
    clock_ghz: f64,
    system: String,
    rustc: String,
    /// Of this engine and of what peers are made of.
    versions: BTreeMap<&'static str, String>,
    /// Of a copy of 16 MB, which no second-level cache holds.
    memcpy_gb_per_s: f64,
    /// Of writing 64 MB and syncing them.
    disk_write_mb_per_s: f64,
    /// Load average of the last minute: above the number of cores, times mean little.
    load: f64,
}

impl Machine {
    /// `folder` is where the disk is tried.
    pub(super) fn examine(folder: &Path) -> Result<Self, String> {
        let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu_info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Ok(Machine {
            date: output_of("date", &["-u", "+%F"]),
            cpu: model.unwrap_or("unknown").to_owned(),
            core_count: std::thread::available_parallelism().map_or(1, usize::from),
            clock_ghz: clock_ghz(),
            system: output_of("uname", &["-srm"]),
            rustc: output_of("rustc", &["--version"]),
            versions: versions(),
            memcpy_gb_per_s: memcpy_gb_per_s(),
            disk_write_mb_per_s: disk_write_mb_per_s(folder)?,
            load: load.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN),
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} cores at {:.2} GHz, {}, {}; memcpy {:.1} GB/s, disk write {:.0} MB/s, load {:.2}",
            self.cpu,
            self.core_count,
            self.clock_ghz,
            self.system,
            self.rustc,
            self.memcpy_gb_per_s,
            self.disk_write_mb_per_s,
            self.load
        )
    }
}

/// The peers' versions are pinned: the wheel by its setup, the crates by their lock file.
fn versions() -> BTreeMap<&'static str, String> {
    let lock = fs::read_to_string(root::repository().join("benches/peers/rust/Cargo.lock")).unwrap_or_default();
    let locked = |name: &'static str| {
        let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
        Some((name, after.split_once('"')?.0.to_owned()))
    };
    let mut versions: BTreeMap<_, _> = ["parquet", "rusqlite"].into_iter().filter_map(locked).collect();
    versions.insert("tsloom", env!("CARGO_PKG_VERSION").to_owned());
    versions.insert("tsfile", super::peers::TSFILE_VERSION.to_owned());
    versions
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn clock_ghz() -> f64 {
    const STEPS: u64 = 1 << 20;
    let mut best = f64::INFINITY;
    for _ in 0..16 {
        let start = Instant::now();
        let mut sum = std::hint::black_box(1_u64);
        for step in 0..STEPS {
            // Two cycles: rotation and exclusive or beside each other, then the addition.
            sum = (sum ^ step).wrapping_add(sum.rotate_left(7));
        }
        std::hint::black_box(sum);
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * STEPS as f64 / best / 1e9
}

fn memcpy_gb_per_s() -> f64 {
    const SIZE: usize = 16 << 20;
    let source = vec![0x5A_u8; SIZE];
    let mut target = vec![0_u8; SIZE];
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let start = Instant::now();
        std::hint::black_box(&mut target[..]).copy_from_slice(std::hint::black_box(&source));
        best = best.min(start.elapsed().as_secs_f64());
    }
    SIZE as f64 / best / 1e9
}

fn disk_write_mb_per_s(folder: &Path) -> Result<f64, String> {
    const SIZE: usize = 64 << 20;
    let path = folder.join("disk-speed");
    let bytes = vec![0x5A_u8; SIZE];
    let start = Instant::now();
    let written = File::create(&path).and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()));
    let seconds = start.elapsed().as_secs_f64();
    let removed = fs::remove_file(&path);
    written.and(removed).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(SIZE as f64 / seconds / 1e6)
}
