//! The files that scenarios read: written by our writer into the data folder, and read by the peers as well.

use std::fs;
use std::path::PathBuf;

use tsloom_file::{FileWriter, NewFile, WriterOptions};
use tsloom_model::{ColumnView, DataType, DeviceId, Result, TableSchema, ValuesRef};

use crate::clock::note_file_bytes;
use crate::data::{W1_DEVICE_COUNT, W1Device, device_name, s_value, time, w1_device, wide_value};

/// The environment variable that names the data folder.
pub const DATA_FOLDER_VARIABLE: &str = "TSLOOM_BENCH_DATA";

/// Where files go: the folder that the variable names, else one in the system's temporary folder. It is made if need be.
///
/// # Errors
///
/// When it cannot be made.
pub fn data_folder() -> Result<PathBuf> {
    let named = std::env::var_os(DATA_FOLDER_VARIABLE).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| std::env::temp_dir().join("tsloom-bench-data"));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The table of W1: one tag, `i0` to `i4`, `f0` to `f4`, default encodings.
///
/// # Errors
///
/// None is expected.
pub fn w1_schema() -> Result<TableSchema> {
    let mut builder = TableSchema::builder("w1").tag("dev");
    for column in 0..5 {
        builder = builder.field(format!("i{column}"), DataType::Int64);
    }
    for column in 0..5 {
        builder = builder.field(format!("f{column}"), DataType::Double);
    }
    builder.build()
}

/// The field columns of a device of W1, in schema order, as views of rows `start..start + count`.
pub fn w1_columns(device: &W1Device, start: usize, count: usize) -> [Option<ColumnView<'_>>; 10] {
    std::array::from_fn(|column| {
        let (data_type, values) = match column {
            0..5 => (DataType::Int64, ValuesRef::Int64(&device.ints[column])),
            _ => (DataType::Double, ValuesRef::Double(&device.doubles[column - 5])),
        };
        Some(ColumnView::new(data_type, values.slice(start, count), None))
    })
}

/// `w1.tsfile` with `row_count` rows of each device.
///
/// # Errors
///
/// When it cannot be written.
pub fn w1_file(row_count: usize) -> Result<PathBuf> {
    let path = data_folder()?.join(format!("w1-{row_count}.tsfile"));
    write(path, |writer| {
        writer.add_table(&w1_schema()?)?;
        for device in 0..W1_DEVICE_COUNT {
            let w1 = w1_device(device, row_count);
            let id = DeviceId::new("w1", [Some(w1.name.as_str())]);
            writer.write_rows("w1", &id, &w1.times, &w1_columns(&w1, 0, row_count))?;
        }
        Ok(())
    })
}

/// A file of table `s`: few rows in many devices, INT64 columns `s000` and so on.
///
/// # Errors
///
/// When it cannot be written.
pub fn s_file(device_count: usize, row_count: usize, column_count: usize) -> Result<PathBuf> {
    let path = data_folder()?.join(format!("s-{device_count}x{row_count}x{column_count}.tsfile"));
    write(path, |writer| {
        let mut builder = TableSchema::builder("s").tag("dev");
        for column in 0..column_count {
            builder = builder.field(format!("s{column:03}"), DataType::Int64);
        }
        writer.add_table(&builder.build()?)?;
        let times: Vec<i64> = (0..row_count).map(time).collect();
        for device in 0..device_count as u64 {
            let values = |column| (0..row_count).map(move |row| s_value(device, row, column)).collect::<Vec<i64>>();
            let columns: Vec<Vec<i64>> = (0..column_count).map(values).collect();
            let views: Vec<_> =
                columns.iter().map(|values| Some(ColumnView::new(DataType::Int64, ValuesRef::Int64(values), None))).collect();
            let id = DeviceId::new("s", [Some(device_name(device).as_str())]);
            writer.write_rows("s", &id, &times, &views)?;
        }
        Ok(())
    })
}

/// A file of table `wide`: one device, INT64 columns `s0000` and so on, of numbers that do not compress, in pages of 1,000 rows.
///
/// # Errors
///
/// When it cannot be written.
pub fn wide_file(row_count: usize, column_count: usize) -> Result<PathBuf> {
    let path = data_folder()?.join(format!("wide-{row_count}x{column_count}.tsfile"));
    let options = WriterOptions::builder().page_rows_max(1_000).build()?;
    write_with(path, options, |writer| {
        let mut builder = TableSchema::builder("wide").tag("dev");
        for column in 0..column_count {
            builder = builder.field(format!("s{column:04}"), DataType::Int64);
        }
        writer.add_table(&builder.build()?)?;
        let times: Vec<i64> = (0..row_count).map(time).collect();
        let values = |column| (0..row_count).map(move |row| wide_value(column, row)).collect::<Vec<i64>>();
        let columns: Vec<Vec<i64>> = (0..column_count).map(values).collect();
        let views: Vec<_> =
            columns.iter().map(|values| Some(ColumnView::new(DataType::Int64, ValuesRef::Int64(values), None))).collect();
        writer.write_rows("wide", &DeviceId::new("wide", [Some(device_name(0).as_str())]), &times, &views)
    })
}

/// Writes the file anew, so that it is always of the writer at hand. It appears whole or not at all: programs may race.
fn write(path: PathBuf, fill: impl FnOnce(&mut FileWriter<NewFile>) -> Result<()>) -> Result<PathBuf> {
    write_with(path, WriterOptions::default(), fill)
}

fn write_with(
    path: PathBuf,
    options: WriterOptions,
    fill: impl FnOnce(&mut FileWriter<NewFile>) -> Result<()>,
) -> Result<PathBuf> {
    let mut writer = FileWriter::create(&path, options)?;
    fill(&mut writer)?;
    writer.commit()?;
    note_file_bytes(fs::metadata(&path)?.len());
    Ok(path)
}
