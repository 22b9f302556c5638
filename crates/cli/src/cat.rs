//! `tsloom cat`: rows of a TsFile or a store as CSV or JSON lines.

use std::collections::HashSet;
use std::io::Write;

use tsloom::block::Block;
use tsloom::model::{ColumnCategory, Predicate, TimeRange, tag};
use tsloom::scan::ScanRequest;
use tsloom::{Error, ErrorKind, TableSchema};

use crate::args::{CatArgs, Format, TimeFormat};
use crate::failure::{Failure, Outcome};
use crate::opened::Opened;
use crate::printer::Printer;
use crate::text::json::RowForm;
use crate::text::{csv, json, time};

/// Prints what `args` ask for.
pub(crate) fn run(args: &CatArgs, out: &mut impl Write) -> Outcome {
    if args.schema && args.format != Format::Ndjson {
        return Err(Failure::usage("--schema needs -f ndjson"));
    }
    let opened = Opened::open(&args.source)?;
    let tables = chosen_tables(args, opened.tables())?;
    let mut printer = Printer::new(out);
    if args.schema {
        for table in &tables {
            json::push_schema_line(&mut printer.text, table);
        }
    }
    let outcome = print_tables(args, &opened, &tables, &mut printer);
    // Rows that came before a failure are good rows.
    printer.flush()?;
    outcome
}

fn chosen_tables(args: &CatArgs, mut tables: Vec<TableSchema>) -> Outcome<Vec<TableSchema>> {
    let names = || tables.iter().map(TableSchema::name).collect::<Vec<_>>().join(", ");
    if let Some(name) = &args.table {
        let position = |name: &str| tables.iter().position(|table| table.name() == name);
        return match position(name).or_else(|| position(&name.to_lowercase())) {
            Some(found) => Ok(vec![tables.swap_remove(found)]),
            None => Err(Failure::failed(format_args!("{} has no table {name}; it has {}", source_name(args), names()))),
        };
    }
    if tables.len() > 1 && args.format == Format::Csv {
        return Err(Failure::usage(format_args!(
            "{} has {} tables ({}): choose one with -t, or print all with -f ndjson",
            source_name(args),
            tables.len(),
            names()
        )));
    }
    Ok(tables)
}

fn source_name(args: &CatArgs) -> String {
    let path = args.source.file.as_ref().or(args.source.store.as_ref());
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn print_tables(args: &CatArgs, opened: &Opened, tables: &[TableSchema], printer: &mut Printer<'_, impl Write>) -> Outcome {
    let columns: Vec<String> = args.column.iter().chain(&args.columns).cloned().collect();
    let filters: Vec<Predicate> = args.where_tags.iter().map(|(name, value)| tag(name).eq(value)).collect();
    let request = ScanRequest {
        columns: (!columns.is_empty()).then_some(columns),
        time: TimeRange { start: args.start.unwrap_or(i64::MIN), end: args.end.unwrap_or(i64::MAX) },
        filter: (!filters.is_empty()).then_some(Predicate::And(filters)),
        ..ScanRequest::default()
    };
    // What cannot be had is said before the first row is.
    tables.iter().try_for_each(|table| check_request(table, &request)).map_err(Failure::failed)?;
    if let [table] = tables {
        // One table: the scan need not read what is left out.
        let request = ScanRequest { offset: args.offset, limit: args.limit, ..request };
        return print_table(args, opened, table, &request, &mut Window { offset: 0, limit: u64::MAX }, printer);
    }
    let mut window = Window { offset: args.offset, limit: args.limit.unwrap_or(u64::MAX) };
    for table in tables {
        if window.limit > 0 {
            print_table(args, opened, table, &request, &mut window, printer)?;
        }
    }
    Ok(())
}

/// Which of the rows to come are printed.
struct Window {
    offset: u64,
    limit: u64,
}

impl Window {
    /// True when the next row is printed.
    fn takes_row(&mut self) -> bool {
        if self.offset > 0 {
            self.offset -= 1;
            return false;
        }
        let takes = self.limit > 0;
        self.limit -= u64::from(takes);
        takes
    }
}

fn print_table(
    args: &CatArgs,
    opened: &Opened,
    table: &TableSchema,
    request: &ScanRequest,
    window: &mut Window,
    printer: &mut Printer<'_, impl Write>,
) -> Outcome {
    // The request fits the table; what goes wrong now is in the bytes.
    let (layout, mut blocks) = opened.scan(table, request).map_err(Failure::unreadable)?;
    let names: Vec<&str> = layout.columns.iter().map(|column| column.name.as_str()).collect();
    let form = match args.format {
        Format::Ndjson => Form::Json(RowForm::new(table, &names)),
        Format::Csv => Form::Csv(args.time_format),
    };
    if matches!(form, Form::Csv(_)) && !args.no_header {
        push_csv_header(&mut printer.text, names.iter().copied());
    }
    while let Some(block) = blocks.next_block().map_err(Failure::unreadable)? {
        for row in 0..block.row_count() {
            if window.takes_row() {
                form.push_row(&mut printer.text, block, row);
                printer.flush_if_large()?;
            }
        }
        if window.limit == 0 {
            break;
        }
    }
    Ok(())
}

/// Whether the columns and tags that are asked for are there, each column once.
fn check_request(table: &TableSchema, request: &ScanRequest) -> tsloom::Result<()> {
    if let Some(filter) = &request.filter {
        filter.resolve(table)?;
    }
    let mut seen = HashSet::new();
    for name in request.columns.iter().flatten() {
        let column = table.require_column(name)?;
        let refused =
            |what: &str| Error::new(ErrorKind::InvalidArgument, format!("column {name} of table {} {what}", table.name()));
        if table.columns()[column].category == ColumnCategory::Time {
            return Err(refused("is the time, which is always printed"));
        }
        if !seen.insert(column) {
            return Err(refused("is asked for twice"));
        }
    }
    Ok(())
}

enum Form {
    Csv(TimeFormat),
    Json(RowForm),
}

impl Form {
    fn push_row(&self, out: &mut Vec<u8>, block: &Block, row: usize) {
        match self {
            Self::Json(form) => form.push_row(out, block, row),
            Self::Csv(time_format) => push_csv_row(out, *time_format, block, row),
        }
    }
}

fn push_csv_header<'a>(out: &mut Vec<u8>, names: impl Iterator<Item = &'a str>) {
    out.extend_from_slice(b"time");
    for name in names {
        out.push(b',');
        csv::push_text(out, name.as_bytes());
    }
    out.push(b'\n');
}

fn push_csv_row(out: &mut Vec<u8>, time_format: TimeFormat, block: &Block, row: usize) {
    match time_format {
        TimeFormat::Int => json::push_integer(out, block.times()[row]),
        TimeFormat::Rfc3339 => time::push_rfc3339(out, block.times()[row]),
    }
    for column in block.columns() {
        out.push(b',');
        csv::push_value(out, column.data_type(), column.value(row));
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests;
