//! The peak memory of writing many rows: what the bound of the writer promises, measured.
//!
//! ```sh
//! cargo run --release -p tsloom-file --example memory_of_writing [ROWS] [DEVICES] [auto]
//! ```
//!
//! 100 million rows by default, of 100 devices that take turns, three columns each (a counter, a decimal, random bits). The
//! file goes nowhere; what is counted is what the process asks of the allocator, without the input.

use std::time::Instant;

use tsloom_alloc_probe::{Probe, measure};
use tsloom_file::{EncodingChoice, FileWriter, WriterOptions};
use tsloom_model::{ColumnView, DataType, DeviceId, Grouped, Result, TableSchema, ValuesRef};

#[global_allocator]
static PROBE: Probe = Probe::new();

const BATCH_ROWS: usize = 1_024;
const MEMORY_BYTES_MAX: usize = 64 << 20;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (row_count, device_count) = (number(100_000_000), number(100).max(1));
    let choice = if arguments.next().as_deref() == Some("auto") { EncodingChoice::Auto } else { EncodingChoice::Schema };

    let table = TableSchema::builder("t").tag("id").field("count", DataType::Int64);
    let table = table.field("level", DataType::Double).field("noise", DataType::Int64).build()?;
    let devices: Vec<DeviceId> =
        (0..device_count).map(|index| DeviceId::new("t", [Some(format!("d{index}").as_str())])).collect();
    let (mut times, mut counts) = (vec![0; BATCH_ROWS], vec![0; BATCH_ROWS]);
    let (mut levels, mut noises) = (vec![0.0; BATCH_ROWS], vec![0; BATCH_ROWS]);
    let mut random = 1_u64;
    let started = Instant::now();

    let (summary, counts) = measure(|| -> Result<_> {
        let options = WriterOptions::builder().memory_bytes_max(MEMORY_BYTES_MAX).encoding(choice).build()?;
        let mut writer = FileWriter::new(std::io::sink(), options)?;
        writer.add_table(&table)?;
        let mut written = 0;
        for start in (0..).step_by(BATCH_ROWS) {
            for device in &devices {
                let count = BATCH_ROWS.min(row_count - written);
                for row in 0..count {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    times[row] = (start + row) as i64 * 1_000;
                    counts[row] = (start + row) as i64;
                    levels[row] = (random >> 50) as f64 / 100.0;
                    noises[row] = random as i64;
                }
                let columns = [
                    (DataType::Int64, ValuesRef::Int64(&counts[..count])),
                    (DataType::Double, ValuesRef::Double(&levels[..count])),
                    (DataType::Int64, ValuesRef::Int64(&noises[..count])),
                ];
                let views = columns.map(|(data_type, values)| Some(ColumnView::new(data_type, values, None)));
                writer.write_rows("t", device, &times[..count], &views)?;
                written += count;
                if written == row_count {
                    return Ok(writer.finish()?.1);
                }
            }
        }
        unreachable!("the rows end before their numbers do")
    });
    let summary = summary?;
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "{} rows, {} devices, {} chunks, {} bytes in {:.1} s: peak {:.1} MiB, limit {:.1} MiB; {:.1} requests a chunk group",
        Grouped(summary.row_count),
        Grouped(summary.device_count),
        Grouped(summary.chunk_count),
        Grouped(summary.size),
        started.elapsed().as_secs_f64(),
        mib(counts.peak_bytes as usize),
        mib(MEMORY_BYTES_MAX),
        counts.requests() as f64 / (summary.chunk_count as f64 / 4.0),
    );
    Ok(())
}
