//! The hand-over to a file: a memtable is frozen, and its rows are encoded in time order.

use tsloom_file::{FileWriter, WriterOptions};
use tsloom_memtable::Memtable;
use tsloom_model::{DeviceId, TimeRange};
use tsloom_tablet::Tablet;

use super::Slabs;
use crate::clock::aside;
use crate::data::{W1Device, w1_device};
use crate::files::{w1_columns, w1_schema};
use crate::registry::{Case, Params, Result};
use crate::scenarios::file::fill;

/// Rows that are taken from a memtable at a time, as a store does.
const ROWS_AT_ONCE: usize = 4_096;

const TABLET_ROWS: usize = 10_000;

fn writer() -> Result<FileWriter<std::io::Sink>> {
    let mut writer = FileWriter::new(std::io::sink(), WriterOptions::default())?;
    writer.add_table(&w1_schema()?)?;
    Ok(writer)
}

fn filled(device: &W1Device, tablet: &mut Tablet) -> Result<Memtable> {
    let row_count = device.times.len();
    let mut memtable = Memtable::new(Slabs::OfAllocator.options());
    for start in (0..row_count).step_by(TABLET_ROWS) {
        fill(tablet, device, start, TABLET_ROWS.min(row_count - start))?;
        memtable.write(tablet)?;
    }
    Ok(memtable)
}

/// Freezes a memtable and encodes all of it; filling it is left out.
pub(super) fn freeze_and_encode(params: &Params) -> Result<Case> {
    let row_count = params.count("rows")?;
    let device = w1_device(0, row_count);
    let schema = w1_schema()?;
    let names: Vec<String> = schema.fields().map(|index| schema.columns()[index].name.clone()).collect();
    let mut tablet = Tablet::with_capacity(&schema, TABLET_ROWS);
    Ok(Case::new(row_count * 11 * 8, move || {
        let memtable = aside(|| filled(&device, &mut tablet))?;
        let mut writer = writer()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let frozen = memtable.freeze();
        for rows_of in frozen.snapshot().device_snapshots("w1") {
            let mut cursor = rows_of.cursor(&names, TimeRange::ALL);
            while let Some(rows) = cursor.next_rows(ROWS_AT_ONCE) {
                let columns: Vec<_> = rows.columns().collect();
                writer.write_rows("w1", rows_of.device(), rows.times(), &columns)?;
            }
        }
        let (_, summary) = writer.finish()?;
        aside(|| drop(frozen));
        Ok(summary.row_count)
    }))
}

/// Encodes the same rows from arrays.
pub(super) fn encode(params: &Params) -> Result<Case> {
    let row_count = params.count("rows")?;
    let device = w1_device(0, row_count);
    let id = DeviceId::new("w1", [Some(device.name.as_str())]);
    Ok(Case::new(row_count * 11 * 8, move || {
        let mut writer = writer()?;
        writer.write_rows("w1", &id, &device.times, &w1_columns(&device, 0, row_count))?;
        let (_, summary) = writer.finish()?;
        Ok(summary.row_count)
    }))
}
