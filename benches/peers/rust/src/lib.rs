//! What the Rust peers of `cargo xtask bench` share: the rules of the input, and the protocol.
//!
//! ```text
//! parquet-peer CASE DATA_FOLDER
//! -> round        one batch of operations
//! <- {"op_count":3,"ns":20100000,"cpu_ns":20090000,"checksum":0,"file_bytes":22290000}
//! ```
//!
//! What it is not: a part of the engine. It shares no code with it but the rules by which numbers are made.

#![forbid(unsafe_code)]

#[path = "../../../src/rules.rs"]
pub mod rules;

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The result of setting up or running an operation.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Does the work once and returns the checksum of its result: rows written, or [`sum`] over what was read.
pub type Operation = Box<dyn FnMut() -> Result<u64>>;

/// About how long a batch takes, in nanoseconds.
const BATCH_NS: u64 = 20_000_000;

/// Bytes of the file that the case writes or reads.
static FILE_BYTES: AtomicU64 = AtomicU64::new(0);

/// Notes how large the file is that the case writes or reads.
pub fn note_file(path: &Path) -> Result<()> {
    FILE_BYTES.store(path.metadata()?.len(), Relaxed);
    Ok(())
}

/// Serves the case that the command line names, until standard input ends.
pub fn serve(set_up: fn(case: &str, data_folder: &Path) -> Result<Operation>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match &arguments[..] {
        [_, case, data_folder] => set_up(case, Path::new(data_folder)).and_then(answer),
        _ => Err("usage: CASE DATA_FOLDER".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    }
}

fn answer(mut operation: Operation) -> Result<()> {
    // The first one warms up, and tells how many fill a batch.
    let op_count = (BATCH_NS / run(&mut operation, 1)?.ns.max(1)).max(1);
    for line in std::io::stdin().lock().lines() {
        match line?.as_str() {
            "round" => {
                let Batch { op_count, ns, cpu_ns, checksum } = run(&mut operation, op_count)?;
                let file_bytes = FILE_BYTES.load(Relaxed);
                println!(
                    "{{\"op_count\":{op_count},\"ns\":{ns},\"cpu_ns\":{cpu_ns},\"checksum\":{checksum},\"file_bytes\":{file_bytes}}}"
                );
                std::io::stdout().flush()?;
            }
            other => return Err(format!("expected round, got {other:?}").into()),
        }
    }
    Ok(())
}

struct Batch {
    op_count: u64,
    ns: u64,
    cpu_ns: u64,
    checksum: u64,
}

fn run(operation: &mut Operation, op_count: u64) -> Result<Batch> {
    let (cpu, wall, mut checksum) = (process_cpu_time(), Instant::now(), 0);
    for _ in 0..op_count {
        checksum = operation()?;
    }
    let ns = u64::try_from(wall.elapsed().as_nanos())?;
    Ok(Batch { op_count, ns, cpu_ns: process_cpu_time() - cpu, checksum })
}

fn process_cpu_time() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

/// All devices of W1.
pub fn w1() -> Vec<rules::W1Device> {
    (0..rules::W1_DEVICE_COUNT).map(|device| rules::w1_device(device, rules::W1_ROW_COUNT)).collect()
}

/// Names of the fields of W1, in order.
pub const FIELDS: [&str; 10] = ["i0", "i1", "i2", "i3", "i4", "f0", "f1", "f2", "f3", "f4"];

/// First and last time of the thousand rows that R2 asks of each device.
pub fn r2_times() -> (i64, i64) {
    let first = rules::W1_ROW_COUNT / 2;
    (rules::time(first), rules::time(first + 999))
}

/// The wrapping sum of bit patterns: what all sides of a comparison must agree on.
pub fn sum(patterns: impl Iterator<Item = u64>) -> u64 {
    patterns.fold(0, u64::wrapping_add)
}
