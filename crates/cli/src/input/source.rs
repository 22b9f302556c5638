//! Opening a CSV: a file is read twice, a pipe is judged by a sample that is kept.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use tsloom::TableSchema;

use super::cell::Nulls;
use super::infer::Guesses;
use super::plan::{Header, Plan, Told};
use super::records::{Record, RecordError, RecordForm, Records};
use super::rows::{self, Rows, Sample};
use crate::args::OnError;
use crate::failure::{Failure, Outcome};

/// A pipe is judged by this many rows,
const SAMPLE_ROWS: usize = 10_000;

/// or by fewer once they take this many bytes.
const SAMPLE_BYTES: usize = 64 << 20;

/// What is told about a CSV.
#[derive(Clone, Debug)]
pub(crate) struct Settings<'a> {
    /// About its columns.
    pub(crate) told: Told<'a>,
    /// What means null.
    pub(crate) nulls: Nulls,
    /// What becomes of a line that cannot be read.
    pub(crate) on_error: OnError,
}

/// A CSV or TSV that was opened; its header is not read yet.
pub(crate) struct Input {
    name: String,
    default_table: String,
    /// How to read it from the start again, when that can be.
    again: Option<Again>,
    form: RecordForm,
    records: Records<Box<dyn Read>>,
}

/// Something that can be read twice.
enum Again {
    File(File),
    Bytes(&'static [u8]),
}

impl Again {
    fn reopen(self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::File(mut file) => {
                file.rewind()?;
                Box::new(file)
            }
            Self::Bytes(bytes) => Box::new(bytes),
        })
    }
}

impl Input {
    /// Opens a file, or standard input for `-`. Unless told, what ends in `.tsv` is TSV, and all else CSV.
    pub(crate) fn open(path: &Path, form: Option<RecordForm>) -> Outcome<Self> {
        let is_tsv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        let form = form.unwrap_or(if is_tsv { RecordForm::Tsv } else { RecordForm::Csv });
        if path.as_os_str() == "-" {
            let records = Records::of(form, Box::new(io::stdin()) as Box<dyn Read>);
            return Ok(Self { name: "stdin".to_owned(), default_table: "data".to_owned(), again: None, form, records });
        }
        let name = path.display().to_string();
        let unreadable = |error: io::Error| Failure::unreadable(format_args!("{name}: {error}"));
        let file = File::open(path).map_err(unreadable)?;
        let kind = file.metadata().map_err(unreadable)?.file_type();
        if kind.is_dir() {
            return Err(Failure::unreadable(format_args!("{name} is a directory")));
        }
        let again = if kind.is_file() { Some(Again::File(file.try_clone().map_err(unreadable)?)) } else { None };
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
        let default_table = stem.filter(|_| again.is_some()).unwrap_or_else(|| "data".to_owned());
        Ok(Self { name, default_table, again, form, records: Records::of(form, Box::new(file) as Box<dyn Read>) })
    }

    /// A CSV that is in memory.
    pub(crate) fn of_bytes(table: &str, bytes: &'static [u8]) -> Self {
        let records = Records::new(Box::new(bytes) as Box<dyn Read>);
        let name = format!("{table}.csv");
        Self { name, default_table: table.to_owned(), again: Some(Again::Bytes(bytes)), form: RecordForm::Csv, records }
    }

    /// The name of the table unless another is told.
    pub(crate) fn default_table(&self) -> &str {
        &self.default_table
    }

    /// Reads what is needed to know the table, unless `existing` is it, and gets ready to read rows.
    pub(crate) fn into_rows(mut self, settings: Settings<'_>, table: &str, existing: Option<&TableSchema>) -> Outcome<Rows> {
        let Settings { told, nulls, on_error } = settings;
        let mut record = Record::default();
        match self.records.read(&mut record) {
            Ok(true) => {}
            Ok(false) => return Err(Failure::unreadable(format_args!("{}:1: empty; a header was expected", self.name))),
            Err(error) => return Err(rows::fatal(&self.name, &error)),
        }
        let header = Header::new(&self.name, &record, told)?;
        let mut sample = Vec::new();
        let plan = match existing {
            Some(schema) => Plan::for_table(&self.name, schema, header, told)?,
            None => {
                let mut guesses = Guesses::new(header.len());
                if !header.is_all_told(told) {
                    sample = self.judge(&mut guesses, &nulls)?;
                }
                Plan::for_new_table(&self.name, table, header, &guesses, told)?
            }
        };
        Ok(Rows::new(self.name, plan, nulls, on_error, sample, self.records))
    }

    /// Shows rows to `guesses`: all of a file, which is then read again, or the first of a pipe, which are returned.
    fn judge(&mut self, guesses: &mut Guesses, nulls: &Nulls) -> Outcome<Sample> {
        let Some(again) = self.again.take() else { return Ok(self.judge_sample(guesses, nulls)) };
        let mut record = Record::default();
        loop {
            match self.records.read(&mut record) {
                Ok(true) => guesses.observe(&record, nulls),
                Ok(false) => break,
                // The second reading meets it again, in its place among other complaints.
                Err(RecordError::TextAfterQuote { .. }) => {}
                Err(RecordError::Unclosed { .. } | RecordError::TooLong { .. }) => break,
                Err(error @ RecordError::Io(_)) => return Err(rows::fatal(&self.name, &error)),
            }
        }
        let source = again.reopen().map_err(|error| rows::fatal(&self.name, &RecordError::Io(error)))?;
        self.records = Records::of(self.form, source);
        // The header was read before; it is passed over now.
        self.records.read(&mut record).map_err(|error| rows::fatal(&self.name, &error))?;
        Ok(Vec::new())
    }

    fn judge_sample(&mut self, guesses: &mut Guesses, nulls: &Nulls) -> Sample {
        let mut sample = Vec::new();
        let mut byte_count = 0;
        while sample.len() < SAMPLE_ROWS && byte_count < SAMPLE_BYTES {
            let mut record = Record::default();
            match self.records.read(&mut record) {
                Ok(true) => {
                    guesses.observe(&record, nulls);
                    byte_count += record.byte_count();
                    sample.push(Ok(record));
                }
                Ok(false) => break,
                // What a pipe has said cannot be read again: the complaint is kept for its turn.
                Err(error @ RecordError::TextAfterQuote { .. }) => sample.push(Err(error)),
                Err(error) => {
                    sample.push(Err(error));
                    break;
                }
            }
        }
        sample
    }
}
