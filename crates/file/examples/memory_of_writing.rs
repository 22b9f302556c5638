//! The peak memory of writing many rows: what the bound of the writer promises, measured.
//!
//! ```sh
//! cargo run --release -p tsloom-file --example memory_of_writing [ROWS] [DEVICES] [COLUMNS] [auto] [OUT.tsfile]
//! ```
//!
//! 100 million rows by default, of 100 devices that take turns, three columns each (a counter, a decimal, random bits, and so on).
//! Without a name the file goes nowhere; what is counted is what the process asks of the allocator, without the input. Many
//! devices of many columns (`2000000 20000 100`: two million series) show the metadata that waits in a temporary file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use tsloom_alloc_probe::{Probe, measure};
use tsloom_file::{EncodingChoice, FileWriter, WriterOptions};
use tsloom_model::{ColumnView, DataType, DeviceId, Grouped, Result, TableSchema, ValuesRef};

#[global_allocator]
static PROBE: Probe = Probe::new();

const BATCH_ROWS_MAX: usize = 1_024;
const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Of the metadata of chunks; what is past it waits in a temporary file.
const METADATA_BYTES_MAX: usize = 16 << 20;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let mut number = |default: usize| {
        arguments.next_if(|text| text.parse::<usize>().is_ok()).map_or(default, |text| text.parse().unwrap_or(default))
    };
    let (row_count, device_count, column_count) = (number(100_000_000), number(100).max(1), number(3));
    let choice = match arguments.next_if(|text| text == "auto") {
        Some(_) => EncodingChoice::Auto,
        None => EncodingChoice::Schema,
    };
    let sink: Box<dyn Write> = match arguments.next() {
        Some(path) => Box::new(BufWriter::new(File::create(path)?)),
        None => Box::new(std::io::sink()),
    };

    let mut table = TableSchema::builder("t").tag("id");
    for column in 0..column_count {
        table = table.field(format!("c{column}"), if column % 3 == 1 { DataType::Double } else { DataType::Int64 });
    }
    let table = table.build()?;
    let devices: Vec<DeviceId> =
        (0..device_count).map(|index| DeviceId::new("t", [Some(format!("d{index}").as_str())])).collect();
    let batch_rows = row_count.div_ceil(device_count).clamp(1, BATCH_ROWS_MAX);
    let (mut times, mut counts) = (vec![0; batch_rows], vec![0; batch_rows]);
    let (mut levels, mut noises) = (vec![0.0; batch_rows], vec![0; batch_rows]);
    let mut random = 1_u64;
    let started = Instant::now();

    let (summary, counts) = measure(|| -> Result<_> {
        let options = WriterOptions::builder().memory_bytes_max(MEMORY_BYTES_MAX).metadata_bytes_max(METADATA_BYTES_MAX);
        let mut writer = FileWriter::new(sink, options.encoding(choice).build()?)?;
        writer.add_table(&table)?;
        let mut written = 0;
        for start in (0..).step_by(batch_rows) {
            for device in &devices {
                let count = batch_rows.min(row_count - written);
                for row in 0..count {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    times[row] = (start + row) as i64 * 1_000;
                    counts[row] = (start + row) as i64;
                    levels[row] = (random >> 50) as f64 / 100.0;
                    noises[row] = random as i64;
                }
                let columns = [
                    ColumnView::new(DataType::Int64, ValuesRef::Int64(&counts[..count]), None),
                    ColumnView::new(DataType::Double, ValuesRef::Double(&levels[..count]), None),
                    ColumnView::new(DataType::Int64, ValuesRef::Int64(&noises[..count]), None),
                ];
                let views: Vec<_> = columns.iter().copied().map(Some).cycle().take(column_count).collect();
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
        "{} rows, {} devices, {} series, {} chunks, {} bytes in {:.1} s: peak {:.1} MiB, limits {:.1} MiB of rows and {:.1} MiB of \
         metadata; {:.1} requests a chunk group",
        Grouped(summary.row_count),
        Grouped(summary.device_count),
        Grouped(summary.series_count),
        Grouped(summary.chunk_count),
        Grouped(summary.size),
        started.elapsed().as_secs_f64(),
        mib(counts.peak_bytes as usize),
        mib(MEMORY_BYTES_MAX),
        mib(METADATA_BYTES_MAX),
        counts.requests() as f64 / (summary.chunk_count as f64 / (column_count + 1) as f64),
    );
    Ok(())
}
