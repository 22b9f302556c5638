//! Lines of cells under a header, in whatever form was asked for: what `ls`, `meta`, `stats` and their like print.

use std::io::Write;

use tsloom::{DataType, Value};

use super::grid::{Grid, GridCell};
use super::{csv, json, plain};
use crate::failure::Outcome;
use crate::format::{Format, FormatArgs, terminal_width};
use crate::printer::Printer;

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// `None` is null.
    text: Option<Vec<u8>>,
    json: Vec<u8>,
    is_number: bool,
}

impl Cell {
    /// No value.
    pub(crate) fn null() -> Self {
        Self { text: None, json: b"null".to_vec(), is_number: false }
    }

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut json = Vec::new();
        json::push_text(&mut json, &text);
        Self { text: Some(text.into_bytes()), json, is_number: false }
    }

    /// A whole number.
    pub(crate) fn count(count: u64) -> Self {
        let digits = count.to_string().into_bytes();
        Self { text: Some(digits.clone()), json: digits, is_number: true }
    }

    /// The value of a column of this type.
    pub(crate) fn value(data_type: DataType, value: Value<'_>) -> Self {
        if value.is_null() {
            return Self::null();
        }
        let (mut text, mut json) = (Vec::new(), Vec::new());
        plain::push_value(&mut text, data_type, value);
        json::push_value(&mut json, data_type, value);
        Self { text: Some(text), json, is_number: !data_type.is_text() }
    }

    /// A time.
    pub(crate) fn time(time: i64) -> Self {
        Self::value(DataType::Int64, Value::Int64(time))
    }
}

/// The lines.
pub(crate) struct Sheet<'a> {
    printer: Printer<'a>,
    format: Format,
    /// For JSON, `"name": `, with the comma before all but the first.
    keys: Vec<Vec<u8>>,
    grid: Grid,
    is_empty: bool,
}

impl<'a> Sheet<'a> {
    /// Starts with the header.
    pub(crate) fn new<N: AsRef<str>>(out: &'a mut dyn Write, args: FormatArgs, names: &[N]) -> Self {
        let format = Format::or_default(args.format);
        let keys = names.iter().enumerate().map(|(index, name)| {
            let mut key = if index == 0 { Vec::new() } else { b", ".to_vec() };
            json::push_text(&mut key, name.as_ref());
            key.extend_from_slice(b": ");
            key
        });
        let keys = keys.collect();
        let mut sheet = Self { printer: Printer::new(out), format, keys, grid: Grid::new(terminal_width()), is_empty: true };
        if !args.no_header && !format.is_json() {
            let header: Vec<Cell> = names.iter().map(|name| Cell::text(name.as_ref())).collect();
            sheet.push_cells(&header);
        }
        sheet
    }

    /// Prints a line; it has as many cells as the header.
    pub(crate) fn push(&mut self, cells: &[Cell]) -> Outcome {
        debug_assert_eq!(cells.len(), self.keys.len());
        if self.format.is_json() {
            let between: &[u8] = match (self.format, self.is_empty) {
                (Format::Ndjson, _) => b"",
                (_, true) => b"[\n",
                (_, false) => b",\n",
            };
            self.printer.text.extend_from_slice(between);
            self.printer.text.push(b'{');
            for (key, cell) in self.keys.iter().zip(cells) {
                self.printer.text.extend_from_slice(key);
                self.printer.text.extend_from_slice(&cell.json);
            }
            self.printer.text.push(b'}');
            if self.format == Format::Ndjson {
                self.printer.text.push(b'\n');
            }
        } else {
            self.push_cells(cells);
        }
        self.is_empty = false;
        self.printer.flush_if_large()
    }

    fn push_cells(&mut self, cells: &[Cell]) {
        if self.format == Format::Table {
            let cell = |cell: &Cell| GridCell::new(cell.text.as_deref().unwrap_or_default(), cell.is_number);
            self.grid.push(&mut self.printer.text, cells.iter().map(cell).collect());
            return;
        }
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                self.printer.text.push(if self.format == Format::Csv { b',' } else { b'\t' });
            }
            match &cell.text {
                None => {}
                Some(text) if self.format == Format::Csv => csv::push_text(&mut self.printer.text, text),
                Some(text) => plain::push_escaped(&mut self.printer.text, text),
            }
        }
        self.printer.text.push(b'\n');
    }

    /// Prints what is left.
    pub(crate) fn finish(mut self) -> Outcome {
        self.grid.flush(&mut self.printer.text);
        if self.format == Format::Json {
            self.printer.text.extend_from_slice(if self.is_empty { b"[]\n" } else { b"\n]\n" });
        }
        self.printer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(format: Format, no_header: bool, line_count: usize) -> String {
        let mut out = Vec::new();
        let mut sheet = Sheet::new(&mut out, FormatArgs { format: Some(format), no_header }, &["name", "v"]);
        let lines = [[Cell::text("a,\tb"), Cell::value(DataType::Double, Value::Double(0.5))], [Cell::text(""), Cell::null()]];
        lines.iter().take(line_count).try_for_each(|line| sheet.push(line)).unwrap();
        sheet.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_form_has_its_face() {
        assert_eq!(printed(Format::Csv, false, 2), "name,v\n\"a,\tb\",0.5\n\"\",\n");
        assert_eq!(printed(Format::Tsv, false, 2), "name\tv\na,\\tb\t0.5\n\t\n");
        assert_eq!(printed(Format::Table, false, 1), "name   v\na,\\tb  0.5\n");
        assert_eq!(printed(Format::Ndjson, false, 2), "{\"name\": \"a,\\tb\", \"v\": 0.5}\n{\"name\": \"\", \"v\": null}\n");
        assert_eq!(printed(Format::Json, false, 2), "[\n{\"name\": \"a,\\tb\", \"v\": 0.5},\n{\"name\": \"\", \"v\": null}\n]\n");
    }

    #[test]
    fn no_header_and_no_lines() {
        assert_eq!(printed(Format::Csv, true, 0), "");
        assert_eq!(printed(Format::Tsv, false, 0), "name\tv\n");
        assert_eq!(printed(Format::Json, true, 0), "[]\n");
        assert_eq!(printed(Format::Ndjson, false, 0), "");
    }
}
