//! Ten thousand damaged files: rows or a typed error, in memory bounded by the read limit and the size of the file. Once more in a
//! process that has 512 MiB of address space.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tsloom_alloc_probe::{Probe, measure};
use tsloom_file::{FileReader, VerifyOptions, verify};
use tsloom_model::{ErrorKind, Limits, Result};
use tsloom_scan::{DeviceScan, ScanRequest, TableScan};
use tsloom_testkit::Random;

#[global_allocator]
static PROBE: Probe = Probe::new();

const MUTATION_COUNT: usize = 10_000;
const FILE_SIZE_MAX: u64 = 10_000;
const TIME_MAX: Duration = Duration::from_secs(10);
/// Tells the test that it runs within the limit.
const LIMITED: &str = "TSLOOM_ADDRESS_SPACE_IS_LIMITED";
const ADDRESS_SPACE_KIB: u64 = 512 << 10;

/// Every row of every table and device, and every page once more.
fn read_all(bytes: Vec<u8>) -> Result<u64> {
    let reader = Arc::new(FileReader::new(bytes, "hostile", Limits::default())?);
    let mut row_count = 0;
    let tables: Vec<String> = reader.tables().map(|schema| schema.name().to_owned()).collect();
    let mut first_error = None;
    for table in tables {
        let outcome = (|| -> Result<()> {
            let mut scan = TableScan::of_file(Arc::clone(&reader), &table, &ScanRequest::new())?;
            while let Some(block) = scan.next_block()? {
                assert!(block.check() && !block.is_empty());
                row_count += block.row_count() as u64;
            }
            Ok(())
        })();
        first_error = first_error.or(outcome.err());
    }
    let outcome = (|| -> Result<()> {
        let mut scan = DeviceScan::open([Arc::clone(&reader)], None, &ScanRequest::new())?;
        while let Some(block) = scan.next_block()? {
            assert!(block.check() && !block.is_empty());
            row_count += block.row_count() as u64;
        }
        Ok(())
    })();
    first_error = first_error.or(outcome.err());
    let outcome = verify(&reader, VerifyOptions::default(), &mut |_, _| {});
    first_error = first_error.or(outcome.err());
    first_error.map_or(Ok(row_count), Err)
}

fn mutate(good: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..1 + random.below(3) {
        // Half of it hits the metadata.
        let from = if random.below(2) == 0 { bytes.len() / 2 } else { 0 };
        let at = from + random.below(bytes.len() - from);
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => bytes[at] = random.below(256) as u8,
            3 => bytes.truncate(at.max(1)),
            4 => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                bytes[at..end].fill(if random.below(2) == 0 { 0xff } else { 0 });
            }
            _ => {
                let source = random.below(bytes.len());
                let count = (1 + random.below(16)).min(bytes.len() - at.max(source));
                bytes.copy_within(source..source + count, at);
            }
        }
    }
    bytes
}

fn files() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for folder in ["cpp", "cpp/hostile", "java"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_small = path.metadata().unwrap().len() <= FILE_SIZE_MAX;
            if is_small && path.extension().is_some_and(|extension| extension == "tsfile") {
                files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "the fixtures are there: {}", files.len());
    files
}

#[test]
fn ten_thousand_mutations_stay_within_memory_and_time() {
    let mut random = Random::new(if std::env::var_os(LIMITED).is_some() { 0x5eed_1001 } else { 0x5eed_1000 });
    let files = files();
    let (mut refused, mut peak) = (0, 0);
    for round in 0..MUTATION_COUNT {
        let (name, good) = &files[round % files.len()];
        // The first round takes the files as they are: those that stop other readers, among them.
        let bytes = if round < files.len() { good.clone() } else { mutate(good, &mut random) };
        let size = bytes.len() as u64;
        let start = Instant::now();
        let (outcome, counts) = measure(|| read_all(bytes));
        assert!(start.elapsed() < TIME_MAX, "{name}, round {round}: {:?}", start.elapsed());
        let bound = Limits::default().read_bytes_max + 16 * size;
        assert!(counts.peak_bytes <= bound, "{name}, round {round}: {} bytes at the peak", counts.peak_bytes);
        peak = peak.max(counts.peak_bytes);
        if let Err(error) = outcome {
            use ErrorKind::{Corrupt, LimitExceeded, SchemaMismatch, Truncated, Unsupported};
            let kinds = [Corrupt, Truncated, Unsupported, LimitExceeded, SchemaMismatch];
            assert!(kinds.contains(&error.kind()), "{name}, round {round}: {error:?}");
            refused += 1;
        }
    }
    println!("{MUTATION_COUNT} files, {refused} refused, {peak} bytes at the peak");
    assert!((1_000..MUTATION_COUNT - 500).contains(&refused), "{refused}");
    if std::env::var_os(LIMITED).is_none() {
        once_more_in_little_address_space();
    }
}

/// Runs this test in a child that the kernel gives no more.
fn once_more_in_little_address_space() {
    let program = std::env::current_exe().unwrap();
    let script = format!("ulimit -v {ADDRESS_SPACE_KIB} && exec \"$0\" \"$@\"");
    let mut child = std::process::Command::new("sh");
    child.args(["-c", &script]).arg(program).args(["--test-threads", "1"]).env(LIMITED, "1");
    let done = child.output().unwrap();
    assert!(done.status.success(), "{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
}
