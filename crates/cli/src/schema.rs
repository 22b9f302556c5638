//! `tsloom schema`: the columns of every table, as CSV.
//!
//! The same seven columns as the official tool: `model,object,column,category,data_type,encoding,compression`, the last
//! two empty where nothing of a column is stored.

use std::io::Write;

use tsloom::TableSchema;
use tsloom::model::ColumnCategory;

use crate::args::SchemaArgs;
use crate::failure::{Failure, Outcome};
use crate::opened;
use crate::text::csv;

/// Prints what `args` ask for.
pub(crate) fn run(args: &SchemaArgs, out: &mut impl Write) -> Outcome {
    let reader = opened::open_file(&args.file)?;
    let mut tables: Vec<&TableSchema> = reader.tables().collect();
    tables.sort_by_key(|table| table.name());
    if let Some(name) = &args.table {
        let found = reader.table(name).ok_or_else(|| {
            let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
            Failure::failed(format_args!("{} has no table {name}; it has {}", args.file.display(), names.join(", ")))
        })?;
        tables = vec![found];
    }
    let mut text = Vec::new();
    if !args.no_header {
        text.extend_from_slice(b"model,object,column,category,data_type,encoding,compression\n");
    }
    for table in tables {
        push_table(&mut text, table);
    }
    out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Failure::of_stdout(&error))
}

fn push_table(text: &mut Vec<u8>, table: &TableSchema) {
    for column in table.columns() {
        let is_stored = matches!(column.category, ColumnCategory::Tag | ColumnCategory::Field);
        let (encoding, compression) = if is_stored { (column.encoding.name(), column.compression.name()) } else { ("", "") };
        text.extend_from_slice(b"table,");
        csv::push_text(text, table.name().as_bytes());
        text.push(b',');
        csv::push_text(text, column.name.as_bytes());
        for word in [column.category.name(), column.data_type.name(), encoding, compression] {
            text.push(b',');
            text.extend_from_slice(word.as_bytes());
        }
        text.push(b'\n');
    }
}
