//! Rows of TsFiles into a new one: what `convert` and `merge` share.

use std::path::Path;
use std::sync::Arc;

use tsloom::bitmap::NullWords;
use tsloom::block::Column;
use tsloom::file::{FileReader, FileSummary, FileWriter, NewFile};
use tsloom::model::{ColumnView, Deletion, Grouped};
use tsloom::scan::{ScanRequest, Source, TableScan};
use tsloom::{Error, TableSchema};

use crate::encode::EncodeArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Partial;
use crate::opened::is_tree;

/// Writes all rows of `readers`, oldest first, that were not deleted of them into the new file `path`.
pub(crate) fn rewrite(
    readers: &[Arc<FileReader>],
    deletions: &[Arc<[Deletion]>],
    tables: &[TableSchema],
    encode: &EncodeArgs,
    path: &Path,
) -> Outcome<FileSummary> {
    encode.check(tables)?;
    let failed = |error: Error| Failure::failed(error.in_file(path));
    let options = encode.options(tables.iter())?;
    let new_tables = tables.iter().map(|table| encode.apply(table)).collect::<Outcome<Vec<_>>>()?;
    let file = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    let mut writer = FileWriter::new(file, options).map_err(failed)?;
    for table in &new_tables {
        writer.add_table(table).map_err(failed)?;
    }
    for table in tables {
        copy(readers, deletions, table, &mut writer, path)?;
    }
    writer.commit().map_err(failed)
}

fn copy(
    readers: &[Arc<FileReader>],
    deletions: &[Arc<[Deletion]>],
    table: &TableSchema,
    writer: &mut FileWriter<NewFile>,
    path: &Path,
) -> Outcome {
    let sources = readers.iter().zip(deletions).filter(|(reader, _)| reader.metadata().table(table.name()).is_some());
    let fields = table.fields().map(|field| table.columns()[field].name.as_str());
    let request = ScanRequest::new().columns(fields).devices_apart(true);
    let sources = sources.map(|(reader, deletions)| Source::file(Arc::clone(reader)).without(Arc::clone(deletions)));
    let mut scan = TableScan::open(table.clone(), sources, &request).map_err(Failure::unreadable)?;
    let mut nulls = Vec::new();
    loop {
        if scan.next_block().map_err(Failure::unreadable)?.is_none() {
            return Ok(());
        }
        let Some(device) = scan.device().cloned() else { return Ok(()) };
        // Moved out and not given back, so that device and block can be looked at together.
        let Some(block) = scan.take() else { return Ok(()) };
        nulls.resize(block.columns().len(), Vec::new());
        for (column, words) in block.columns().iter().zip(&mut nulls) {
            null_words(column, words);
        }
        let views: Vec<Option<ColumnView<'_>>> =
            block.columns().iter().zip(&nulls).map(|(column, words)| view(column, words)).collect();
        writer.write_rows(table.name(), &device, block.times(), &views).map_err(|error| Failure::failed(error.in_file(path)))?;
    }
}

/// Validity the other way round: 1 = null.
fn null_words(column: &Column, words: &mut Vec<u64>) {
    words.clear();
    words.extend(column.validity().unwrap_or_default().iter().map(|word| !word));
}

/// The column as it travels; `None` when no row has a value.
fn view<'a>(column: &'a Column, words: &'a [u64]) -> Option<ColumnView<'a>> {
    if column.null_count() == column.row_count() {
        return None;
    }
    let nulls = column.validity().map(|_| NullWords::new(words, 0, column.row_count()));
    Some(ColumnView::new(column.data_type(), column.values().as_values(), nulls))
}

/// Refuses files whose rows cannot be written again.
pub(crate) fn require_tables(reader: &FileReader) -> Outcome {
    if is_tree(reader) {
        return Err(Failure::failed(format_args!("{}: files of the tree model are read, and not written yet", reader.name())));
    }
    Ok(())
}

/// `4 devices, 1,234 rows, 56,789 bytes`
pub(crate) fn describe(summary: &FileSummary) -> String {
    let FileSummary { device_count, row_count, size, .. } = summary;
    format!("{} devices, {} rows, {} bytes", Grouped(*device_count), Grouped(*row_count), Grouped(*size))
}
