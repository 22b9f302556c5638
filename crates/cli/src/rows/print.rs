//! Rows as text, in every form.

use clap::{Args, ValueEnum};
use tsloom::block::Block;
use tsloom::model::ColumnCategory;
use tsloom::scan::ScanRequest;

use super::select::{Selected, require_one};
use crate::failure::{Failure, Outcome};
use crate::format::{Format, FormatArgs, terminal_width};
use crate::opened::{Object, Opened};
use crate::printer::Printer;
use crate::text::grid::{Grid, GridCell};
use crate::text::json::RowForm;
use crate::text::{csv, json, plain, time};

/// How rows are printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct PrintArgs {
    #[command(flatten)]
    pub(crate) format: FormatArgs,

    /// How to print times in table, tsv and csv
    #[arg(long, value_enum, default_value_t = TimeFormat::Int, value_name = "FORM")]
    pub(crate) time_format: TimeFormat,

    /// ndjson: first a line for each table that describes its columns
    #[arg(long)]
    pub(crate) schema: bool,

    /// ndjson: flat objects, 64-bit integers as texts, null for what is no number
    #[arg(long, conflicts_with = "schema")]
    pub(crate) flat: bool,
}

impl PrintArgs {
    /// Refuses flags that do not fit the form.
    pub(crate) fn check(&self) -> Outcome {
        if (self.schema || self.flat) && Format::or_default(self.format.format) != Format::Ndjson {
            return Err(Failure::usage(format_args!("{} needs -f ndjson", if self.flat { "--flat" } else { "--schema" })));
        }
        Ok(())
    }
}

/// How times are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeFormat {
    /// As stored
    Int,
    /// RFC 3339 in UTC; integers are taken as milliseconds since 1970
    Rfc3339,
}

/// Prints the rows of what is selected, from row `offset` on, at most `limit` of them. Returns how many they were.
pub(crate) fn print(
    args: &PrintArgs,
    opened: &Opened,
    selected: &[Selected],
    (offset, limit): (u64, Option<u64>),
    printer: Printer<'_>,
) -> Outcome<u64> {
    let format = Format::or_default(args.format.format);
    if !format.is_json() {
        require_one(selected, opened)?;
    }
    let mut rows = RowPrinter { printer, args: *args, format, row_count: 0 };
    if args.schema {
        for Selected { object, .. } in selected {
            json::push_schema_line(&mut rows.printer.text, object);
        }
    }
    let outcome = rows.print_all(opened, selected, offset, limit);
    // Rows that came before a failure are good rows.
    rows.finish(outcome.is_ok())?;
    outcome.map(|()| rows.row_count)
}

/// Rows on their way out.
struct RowPrinter<'a> {
    printer: Printer<'a>,
    args: PrintArgs,
    format: Format,
    row_count: u64,
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

impl RowPrinter<'_> {
    fn print_all(&mut self, opened: &Opened, selected: &[Selected], offset: u64, limit: Option<u64>) -> Outcome {
        if let [only] = selected {
            // The only one: the scan need not read what is left out.
            let request = ScanRequest { offset, limit, ..only.request.clone() };
            return self.print_object(opened, &only.object, &request, &mut Window { offset: 0, limit: u64::MAX });
        }
        let mut window = Window { offset, limit: limit.unwrap_or(u64::MAX) };
        for Selected { object, request } in selected {
            if window.limit > 0 {
                self.print_object(opened, object, request, &mut window)?;
            }
        }
        Ok(())
    }

    fn print_object(&mut self, opened: &Opened, object: &Object, request: &ScanRequest, window: &mut Window) -> Outcome {
        // The request fits the object; what goes wrong now is in the bytes.
        let mut blocks = opened.scan(object, request).map_err(Failure::unreadable)?;
        let names: Vec<&str> = match &request.columns {
            Some(names) => {
                names.iter().filter_map(|name| object.schema.column_index(name)).map(|at| column_name(object, at)).collect()
            }
            None => {
                (0..object.schema.columns().len()).filter(|at| !is_time(object, *at)).map(|at| column_name(object, at)).collect()
            }
        };
        let mut form = self.form(object, &names);
        if !self.args.format.no_header {
            form.push_header(&mut self.printer.text, &names);
        }
        while let Some(block) = blocks.next_block().map_err(Failure::unreadable)? {
            for row in 0..block.row_count() {
                if window.takes_row() {
                    if self.format == Format::Json {
                        self.printer.text.extend_from_slice(if self.row_count == 0 { b"[\n" } else { b",\n" });
                    }
                    self.row_count += 1;
                    form.push_row(&mut self.printer.text, block, row);
                    self.printer.flush_if_large()?;
                }
            }
            if window.limit == 0 {
                break;
            }
        }
        if let Form::Table(grid, _) = &mut form {
            grid.flush(&mut self.printer.text);
        }
        Ok(())
    }

    fn form(&self, object: &Object, names: &[&str]) -> Form {
        match self.format {
            Format::Table => {
                Form::Table(Grid::new(terminal_width().filter(|_| !self.printer.is_into_file())), self.args.time_format)
            }
            Format::Csv => Form::Cells(Cells::Csv, self.args.time_format),
            Format::Tsv => Form::Cells(Cells::Tsv, self.args.time_format),
            Format::Ndjson if self.args.flat => Form::Flat(names.iter().map(|name| json::key_of(name)).collect()),
            Format::Ndjson => Form::Json { form: RowForm::new(object, names), end: b"\n" },
            Format::Json => Form::Json { form: RowForm::new(object, names), end: b"" },
        }
    }

    fn finish(&mut self, is_whole: bool) -> Outcome {
        if self.format == Format::Json && is_whole {
            self.printer.text.extend_from_slice(if self.row_count == 0 { b"[]\n" } else { b"\n]\n" });
        }
        self.printer.flush()
    }
}

enum Form {
    Table(Grid, TimeFormat),
    Cells(Cells, TimeFormat),
    Json {
        form: RowForm,
        end: &'static [u8],
    },
    /// The keys of the columns.
    Flat(Vec<Vec<u8>>),
}

#[derive(Clone, Copy)]
enum Cells {
    Csv,
    Tsv,
}

impl Cells {
    const fn between(self) -> u8 {
        match self {
            Self::Csv => b',',
            Self::Tsv => b'\t',
        }
    }
}

impl Form {
    fn push_header(&mut self, out: &mut Vec<u8>, names: &[&str]) {
        let names = names.iter().map(|name| name.as_bytes());
        match self {
            Self::Table(grid, _) => {
                let line = std::iter::once(b"time".as_slice()).chain(names).map(|name| GridCell::new(name, false)).collect();
                grid.push(out, line);
            }
            Self::Cells(cells, _) => {
                out.extend_from_slice(b"time");
                for name in names {
                    out.push(cells.between());
                    match cells {
                        Cells::Csv => csv::push_text(out, name),
                        Cells::Tsv => plain::push_escaped(out, name),
                    }
                }
                out.push(b'\n');
            }
            Self::Json { .. } | Self::Flat(_) => {}
        }
    }

    fn push_row(&mut self, out: &mut Vec<u8>, block: &Block, row: usize) {
        match self {
            Self::Table(grid, time_format) => {
                let mut text = Vec::new();
                push_time(&mut text, *time_format, block.times()[row]);
                let mut line = vec![GridCell::new(&text, true)];
                for column in block.columns() {
                    text.clear();
                    plain::push_value(&mut text, column.data_type(), column.value(row));
                    line.push(GridCell::new(&text, !column.data_type().is_text()));
                }
                grid.push(out, line);
            }
            Self::Cells(cells, time_format) => {
                push_time(out, *time_format, block.times()[row]);
                for column in block.columns() {
                    out.push(cells.between());
                    match cells {
                        Cells::Csv => csv::push_value(out, column.data_type(), column.value(row)),
                        Cells::Tsv => match column.bytes(row) {
                            Some(text) if column.data_type() != tsloom::DataType::Blob => plain::push_escaped(out, text),
                            _ => plain::push_value(out, column.data_type(), column.value(row)),
                        },
                    }
                }
                out.push(b'\n');
            }
            Self::Json { form, end } => {
                form.push_row(out, block, row);
                out.extend_from_slice(end);
            }
            Self::Flat(keys) => json::push_flat_row(out, keys, block, row),
        }
    }
}

fn column_name(object: &Object, column: usize) -> &str {
    &object.schema.columns()[column].name
}

fn is_time(object: &Object, column: usize) -> bool {
    object.schema.columns()[column].category == ColumnCategory::Time
}

fn push_time(out: &mut Vec<u8>, time_format: TimeFormat, time: i64) {
    match time_format {
        TimeFormat::Int => json::push_integer(out, time),
        TimeFormat::Rfc3339 => time::push_rfc3339(out, time),
    }
}
