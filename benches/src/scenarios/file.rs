//! Writing files: W1, a million rows in ten devices, from tablets of 1,024 rows to the last fsync.

use std::fs::File;
use std::io::BufWriter;

use tsloom_file::{EncodingChoice, FileWriter, WriterOptions};
use tsloom_tablet::Tablet;

use crate::clock::note_file_bytes;
use crate::data::{W1_DEVICE_COUNT, W1_ROW_COUNT, W1_TABLET_ROW_COUNT, W1Device, w1_device};
use crate::files::{data_folder, w1_columns, w1_schema};
use crate::registry::{Case, Params, Result, Scenario};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("file/write/w1", "file", write_w1).params(PARAMS).op_count(1).peers(PEERS),
    Scenario::new("file/write/w1_two_threads", "file", write_w1_on_two_threads)
        .params(PARAMS)
        .op_count(1)
        .threaded()
        .peers(&[("cpp", "w1")]),
    Scenario::new("file/write/w1_auto", "file", write_w1_with_auto).params(PARAMS).op_count(1).peers(&[("cpp", "w1")]),
];

const PEERS: &[(&str, &str)] = &[("cpp", "w1"), ("parquet", "w1-lz4"), ("parquet", "w1-zstd"), ("java", "w1")];
const PARAMS: &[(&str, u64)] = &[("rows", W1_ROW_COUNT as u64)];

const BUFFER_SIZE: usize = 256 << 10;

fn write_w1(params: &Params) -> Result<Case> {
    write(params, WriterOptions::default())
}

fn write_w1_on_two_threads(params: &Params) -> Result<Case> {
    write(params, WriterOptions::builder().threads(2).build()?)
}

fn write_w1_with_auto(params: &Params) -> Result<Case> {
    write(params, WriterOptions::builder().encoding(EncodingChoice::Auto).build()?)
}

fn write(params: &Params, options: WriterOptions) -> Result<Case> {
    let row_count = params.count("rows")?;
    let devices: Vec<W1Device> = (0..W1_DEVICE_COUNT).map(|device| w1_device(device, row_count)).collect();
    let path = data_folder()?.join(format!("written-{}.tsfile", std::process::id()));
    let mut tablet = Tablet::with_capacity(&w1_schema()?, W1_TABLET_ROW_COUNT);
    Ok(Case::new(devices.len() * row_count * 11 * 8, move || {
        // Not `create`: it keeps the path, whose length differs from machine to machine, and the counts must not.
        let file = BufWriter::with_capacity(BUFFER_SIZE, File::create(&path)?);
        let mut writer = FileWriter::new(file, options.clone())?;
        writer.add_table(&w1_schema()?)?;
        for device in &devices {
            for start in (0..row_count).step_by(W1_TABLET_ROW_COUNT) {
                fill(&mut tablet, device, start, W1_TABLET_ROW_COUNT.min(row_count - start))?;
                writer.write(&tablet)?;
            }
        }
        let (file, summary) = writer.finish()?;
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::remove_file(&path)?;
        note_file_bytes(summary.size);
        Ok(summary.row_count)
    }))
}

/// The tablet of rows `start..start + count` of one device.
pub(super) fn fill(tablet: &mut Tablet, device: &W1Device, start: usize, count: usize) -> Result<()> {
    tablet.clear();
    tablet.extend_times(&device.times[start..start + count]);
    tablet.column_mut(0).extend_repeated(device.name.as_str().into(), count)?;
    for (index, column) in w1_columns(device, start, count).into_iter().flatten().enumerate() {
        tablet.column_mut(1 + index).extend_from(column)?;
    }
    tablet.set_single_device(true);
    Ok(())
}
