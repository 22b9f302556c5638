//! `tsloom merge`: several files into one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tsloom::TableSchema;
use tsloom::file::FileReader;
use tsloom::model::ColumnCategory;

use crate::encode::EncodeArgs;
use crate::failure::{Failure, Outcome};
use crate::opened::open_rows;
use crate::rewrite;

/// What `merge` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Of several files the later one is newer: where two have a row of the same device and time, each column gets the newest value
that is not null. A table has the columns of all files; TAG columns and types must agree.

Example:
  tsloom merge monday.tsfile tuesday.tsfile --out week.tsfile")]
pub(crate) struct MergeArgs {
    /// TsFiles, oldest first
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,

    /// The new TsFile, which appears when it is complete
    #[arg(short, long, value_name = "OUT.tsfile")]
    out: PathBuf,

    #[command(flatten)]
    encode: EncodeArgs,

    /// Fail where IoTDB noted deletions beside a file, instead of applying them
    #[arg(long)]
    strict: bool,
}

/// Does what `args` ask for.
pub(crate) fn run(args: &MergeArgs, is_verbose: bool) -> Outcome {
    let mut readers = Vec::with_capacity(args.files.len());
    let mut deletions = Vec::with_capacity(args.files.len());
    for path in &args.files {
        let (reader, deleted) = open_rows(path, args.strict)?;
        rewrite::require_tables(&reader)?;
        readers.push(reader);
        deletions.push(deleted);
    }
    let tables = merged_tables(&readers)?;
    let summary = rewrite::rewrite(&readers, &deletions, &tables, &args.encode, &args.out)?;
    if is_verbose {
        eprintln!("{} files to {}: {}", readers.len(), args.out.display(), rewrite::describe(&summary));
    }
    Ok(())
}

/// Every table with the columns that it has in any of the files; the newest file says how they are written.
fn merged_tables(readers: &[Arc<FileReader>]) -> Outcome<Vec<TableSchema>> {
    let mut merged: Vec<TableSchema> = Vec::new();
    for reader in readers {
        for table in reader.tables() {
            let Some(known) = merged.iter_mut().find(|known| known.name() == table.name()) else {
                merged.push(table.clone());
                continue;
            };
            *known = join(known, table).map_err(|what| {
                Failure::failed(format_args!("{}: table {} {what} than in the files before", reader.name(), table.name()))
            })?;
        }
    }
    Ok(merged)
}

fn join(old: &TableSchema, new: &TableSchema) -> Result<TableSchema, String> {
    let tags = |table: &TableSchema| -> Vec<String> { table.tags().map(|tag| table.columns()[tag].name.clone()).collect() };
    if tags(old) != tags(new) {
        return Err("has other TAG columns".to_owned());
    }
    let mut columns = old.columns().to_vec();
    for column in new.columns().iter().filter(|column| column.category != ColumnCategory::Tag) {
        match columns.iter_mut().find(|known| known.name == column.name) {
            Some(known) if (known.data_type, known.category) != (column.data_type, column.category) => {
                return Err(format!("has column {} as another {} {}", column.name, column.category, column.data_type));
            }
            Some(known) => *known = column.clone(),
            None => columns.push(column.clone()),
        }
    }
    TableSchema::from_stored(old.name(), columns).map_err(|error| error.to_string())
}
