//! Rows that fit the table, one after the other, and what is said about lines that do not.
//!
//! ```text
//! wind.csv:4711: column power_kw: "n/a" is not a DOUBLE (use --null n/a or --type power_kw=STRING)
//! ```

use std::io::Read;
use std::vec;

use tsloom::DataType;
use tsloom::model::{Cell, ColumnCategory};

use super::cell::{self, Fits, Nulls, Reading};
use super::plan::{Plan, PlanColumn};
use super::record::{CellForm, RawCell, Record, RecordError};
use super::records::Records;
use crate::args::OnError;
use crate::failure::{Failure, Outcome};
use crate::text::time::TimeUnit;

/// One row of the table; its memory is used again for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// In the unit of the input.
    pub(crate) time: i64,
    /// One for each column of the table.
    pub(crate) cells: Vec<Cell>,
    /// Where the CSV has it.
    pub(crate) line: u64,
}

/// What was read of a pipe to judge it, in order.
pub(crate) type Sample = Vec<Result<Record, RecordError>>;

/// Reads rows.
pub(crate) struct Rows {
    input: String,
    plan: Plan,
    nulls: Nulls,
    unit: TimeUnit,
    on_error: OnError,
    /// Those still to come.
    sample: vec::IntoIter<Result<Record, RecordError>>,
    records: Records<Box<dyn Read>>,
    record: Record,
    row_count: u64,
    skipped: Skipped,
}

/// What came of the next row of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A row of the table.
    Row,
    /// It cannot be read and is left out.
    LeftOut,
    /// There is none.
    End,
}

/// The lines that were left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped {
    /// How many.
    pub(crate) count: u64,
    /// What was wrong with the first.
    pub(crate) first: Option<String>,
}

impl Rows {
    /// Rows of `input` (the name that messages use), first from the sample, then from `records`.
    pub(crate) fn new(
        input: String,
        plan: Plan,
        nulls: Nulls,
        unit: TimeUnit,
        on_error: OnError,
        sample: Sample,
        records: Records<Box<dyn Read>>,
    ) -> Self {
        Self {
            input,
            plan,
            nulls,
            unit,
            on_error,
            sample: sample.into_iter(),
            records,
            record: Record::default(),
            row_count: 0,
            skipped: Skipped::default(),
        }
    }

    /// The name that messages use.
    pub(crate) fn input(&self) -> &str {
        &self.input
    }

    /// How records become rows.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Data rows of the input so far, those that were left out included.
    pub(crate) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// The lines that were left out so far.
    pub(crate) fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Looks at the next row of the input and puts it into `row`, if it can be read.
    ///
    /// # Errors
    /// A line that cannot be read, unless such lines are to be left out.
    pub(crate) fn next(&mut self, row: &mut Row) -> Outcome<Step> {
        let outcome = match self.next_record() {
            Ok(false) => return Ok(Step::End),
            Ok(true) => self.read_row(row),
            Err(error) => match error.passed_over() {
                Some(line) => Err(format!("{}:{line}: {error}", self.input)),
                None => return Err(fatal(&self.input, &error)),
            },
        };
        self.row_count += 1;
        let Err(message) = outcome else { return Ok(Step::Row) };
        if self.on_error == OnError::Stop {
            return Err(Failure::unreadable(message));
        }
        self.skipped.count += 1;
        self.skipped.first.get_or_insert(message);
        Ok(Step::LeftOut)
    }

    fn next_record(&mut self) -> Result<bool, RecordError> {
        let Some(read_before) = self.sample.next() else { return self.records.read(&mut self.record) };
        self.record = read_before?;
        Ok(true)
    }

    fn read_row(&self, row: &mut Row) -> Result<(), String> {
        let (record, header) = (&self.record, &self.plan.header);
        row.line = record.line();
        if record.len() != header.len() {
            return Err(format!(
                "{}:{}: {} cells, but the header names {} columns",
                self.input,
                row.line,
                record.len(),
                header.len()
            ));
        }
        row.time = self.read_time(record.cell(header.time()))?;
        row.cells.resize(self.plan.columns.len(), Cell::Null);
        for (index, (plan, cell)) in self.plan.columns.iter().zip(&mut row.cells).enumerate() {
            *cell = match plan.source.map(|source| record.cell(source)) {
                Some(raw) if !self.nulls.covers(raw) => self.read_cell(index, plan, raw)?,
                _ => Cell::Null,
            };
        }
        Ok(())
    }

    fn read_time(&self, raw: RawCell<'_>) -> Result<i64, String> {
        let name = &self.plan.header.names()[self.plan.header.time()];
        let place = format_args!("{}:{}: column {name}", self.input, self.record.line());
        if self.nulls.covers(raw) {
            return Err(format!("{place}: a row without a time"));
        }
        let text = String::from_utf8_lossy(raw.text);
        if raw.form == CellForm::Hex {
            return Err(format!("{place}: bytes are no time"));
        }
        self.unit.parse(&text).map_err(|error| format!("{place}: {} is {error}", shown(&text)))
    }

    fn read_cell(&self, index: usize, plan: &PlanColumn, raw: RawCell<'_>) -> Result<Cell, String> {
        let column = &self.plan.schema.columns()[index];
        cell::parse(raw, column.data_type, plan.reading, self.unit).ok_or_else(|| {
            let place = format_args!("{}:{}: column {}", self.input, self.record.line(), column.name);
            let text = String::from_utf8_lossy(raw.text);
            if column.data_type != DataType::Blob && std::str::from_utf8(raw.text).is_err() {
                return format!("{place}: {} is not UTF-8", shown(&text));
            }
            let article = if column.data_type.name().starts_with('I') { "an" } else { "a" };
            let advice = match (column.category, plan.reading) {
                (ColumnCategory::Tag, _) => String::new(),
                (_, Reading::Fixed) => format!(" (use --null {})", for_shell(&text)),
                _ => advice(&column.name, column.data_type, &text),
            };
            format!("{place}: {} is not {article} {}{advice}", shown(&text), column.data_type)
        })
    }
}

/// The failure that ends the reading of `input`.
pub(crate) fn fatal(input: &str, error: &RecordError) -> Failure {
    match error {
        RecordError::Io(error) => Failure::unreadable(format_args!("{input}: {error}")),
        RecordError::TextAfterQuote { line }
        | RecordError::Json { line, .. }
        | RecordError::Unclosed { line }
        | RecordError::TooLong { line } => Failure::unreadable(format_args!("{input}:{line}: {error}")),
    }
}

/// The flags that would have avoided a misfit.
fn advice(column: &str, data_type: DataType, text: &str) -> String {
    let wider = match Fits::of(text.trim_ascii()).narrowest() {
        DataType::Double if data_type == DataType::Int64 => DataType::Double,
        DataType::Int64 if data_type == DataType::Int32 => DataType::Int64,
        DataType::Double if data_type == DataType::Float => DataType::Double,
        _ => DataType::String,
    };
    format!(" (use --null {} or --type {}={wider})", for_shell(text), for_shell(column))
}

/// A text as one word of a shell.
fn for_shell(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-./+:,%@".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A text in quotes, cut when it is long.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_can_be_pasted_into_a_shell() {
        assert_eq!(for_shell("n/a"), "n/a");
        assert_eq!(for_shell("not there"), "'not there'");
        assert_eq!(for_shell("it's"), r"'it'\''s'");
        assert_eq!(for_shell(""), "''");
    }

    #[test]
    fn advice_names_the_narrowest_type_that_helps() {
        let check = |data_type, text: &str, expected: &str| {
            assert_eq!(advice("v", data_type, text), expected);
        };
        check(DataType::Double, "n/a", " (use --null n/a or --type v=STRING)");
        check(DataType::Int64, "0.5", " (use --null 0.5 or --type v=DOUBLE)");
        check(DataType::Int32, "3000000000", " (use --null 3000000000 or --type v=INT64)");
        check(DataType::Int64, "007", " (use --null 007 or --type v=STRING)");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shown(&"é".repeat(61)), format!("{:?}...", "é".repeat(60)));
    }
}
