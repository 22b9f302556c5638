//! Rows of TsFiles into a new one: what `convert` and `merge` share.

mod schemas;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tsloom::bitmap::NullWords;
use tsloom::block::{Block, Column};
use tsloom::file::{FileReader, FileSummary, FileWriter, NewFile};
use tsloom::model::{ColumnView, DeviceId, DeviceSchema, Grouped};
use tsloom::scan::{DeviceScan, ScanRequest, TableScan};
use tsloom::{Error, TableSchema};

use crate::encode::EncodeArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Partial;
use crate::opened::{FileRows, ReadArgs};

/// What both take besides their files.
#[derive(Debug, Args)]
pub(crate) struct RewriteArgs {
    /// The new TsFile, which appears when it is complete
    #[arg(short, long, value_name = "OUT.tsfile")]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    encode: EncodeArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// Writes all rows of `files`, oldest first, that were not deleted of them into the new file.
pub(crate) fn rewrite(files: &[FileRows], args: &RewriteArgs) -> Outcome<FileSummary> {
    let readers: Vec<Arc<FileReader>> = files.iter().map(|file| Arc::clone(&file.reader)).collect();
    let tables = schemas::tables(&readers)?;
    let (devices, measurements) = schemas::devices(&readers)?;
    let encode = &args.encode;
    encode.check(|name| measurements.contains(name) || tables.iter().any(|table| table.column_index(name).is_some()))?;
    let new_tables = tables.iter().map(|table| encode.apply(table)).collect::<Outcome<Vec<_>>>()?;

    let path = args.out.as_path();
    let failed = |error: Error| Failure::failed(error.in_file(path));
    let options = encode.options()?;
    let file = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    let mut writer = FileWriter::new(file, options).map_err(failed)?;
    for table in &new_tables {
        writer.add_table(table).map_err(failed)?;
    }
    for table in &tables {
        copy_table(files, table, &mut writer, path)?;
    }
    if !devices.is_empty() {
        copy_devices(files, &readers, &devices, encode, &mut writer, path)?;
    }
    writer.commit().map_err(failed)
}

fn copy_table(files: &[FileRows], table: &TableSchema, writer: &mut FileWriter<NewFile>, path: &Path) -> Outcome {
    let sources = files.iter().filter(|file| file.reader.metadata().table(table.name()).is_some());
    let fields = table.fields().map(|field| table.columns()[field].name.as_str());
    let request = ScanRequest::new().columns(fields).devices_apart(true);
    let mut scan = TableScan::open(table.clone(), sources.map(FileRows::source), &request).map_err(Failure::unreadable)?;
    let mut nulls = Vec::new();
    while scan.next_block().map_err(Failure::unreadable)?.is_some() {
        // The block is moved out, so that it and its device can be looked at together.
        let Some((device, block)) = scan.device().cloned().zip(scan.take()) else { return Ok(()) };
        writer
            .write_rows(table.name(), &device, block.times(), &views(&block, &mut nulls))
            .map_err(|error| Failure::failed(error.in_file(path)))?;
    }
    Ok(())
}

fn copy_devices(
    files: &[FileRows],
    readers: &[Arc<FileReader>],
    devices: &[DeviceId],
    encode: &EncodeArgs,
    writer: &mut FileWriter<NewFile>,
    path: &Path,
) -> Outcome {
    let failed = |error: Error| Failure::failed(error.in_file(path));
    let mut scan =
        DeviceScan::open(files.iter().map(FileRows::source), Some(devices), &ScanRequest::new()).map_err(Failure::unreadable)?;
    let mut last = None;
    let mut nulls = Vec::new();
    while scan.next_block().map_err(Failure::unreadable)?.is_some() {
        let Some((device, block)) = scan.device().cloned().zip(scan.take()) else { return Ok(()) };
        if last.as_ref() != Some(&device) {
            writer.add_device(&device_schema(readers, &device, encode)?).map_err(failed)?;
        }
        writer.write_device_rows(&device, block.times(), &views(&block, &mut nulls)).map_err(failed)?;
        last = Some(device);
    }
    Ok(())
}

fn device_schema(readers: &[Arc<FileReader>], device: &DeviceId, encode: &EncodeArgs) -> Outcome<DeviceSchema> {
    let schema = schemas::device(readers, device)?;
    let mut columns = schema.columns().to_vec();
    encode.apply_to(&mut columns)?;
    DeviceSchema::new(device.clone(), schema.is_aligned(), columns).map_err(Failure::failed)
}

/// The columns as they travel; `None` where no row has a value.
fn views<'a>(block: &'a Block, nulls: &'a mut Vec<Vec<u64>>) -> Vec<Option<ColumnView<'a>>> {
    nulls.resize(block.columns().len(), Vec::new());
    for (column, words) in block.columns().iter().zip(&mut *nulls) {
        null_words(column, words);
    }
    block.columns().iter().zip(nulls).map(|(column, words)| view(column, words)).collect()
}

/// Validity the other way round: 1 = null.
fn null_words(column: &Column, words: &mut Vec<u64>) {
    words.clear();
    words.extend(column.validity().unwrap_or_default().iter().map(|word| !word));
}

fn view<'a>(column: &'a Column, words: &'a [u64]) -> Option<ColumnView<'a>> {
    if column.null_count() == column.row_count() {
        return None;
    }
    let nulls = column.validity().map(|_| NullWords::new(words, 0, column.row_count()));
    Some(ColumnView::new(column.data_type(), column.values().as_values(), nulls))
}

/// `4 devices, 1,234 rows, 56,789 bytes`
pub(crate) fn describe(summary: &FileSummary) -> String {
    let FileSummary { device_count, row_count, size, .. } = summary;
    format!("{} devices, {} rows, {} bytes", Grouped(*device_count), Grouped(*row_count), Grouped(*size))
}
