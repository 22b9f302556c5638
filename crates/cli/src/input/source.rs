//! Opening a CSV, a TSV or lines of JSON: a file is read twice, a pipe is judged by a sample that is kept.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use tsloom::TableSchema;

use super::cell::Nulls;
use super::infer::Guesses;
use super::plan::{Header, Plan, Told};
use super::record::{Record, RecordError};
use super::records::{RecordForm, Records};
use super::rows::{self, Rows, Sample};
use crate::args::OnError;
use crate::failure::{Failure, Outcome};
use crate::text::time::TimeUnit;

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
    /// What times count.
    pub(crate) unit: TimeUnit,
    /// What becomes of a line that cannot be read.
    pub(crate) on_error: OnError,
}

/// An input that was opened, and whose header was read.
pub(crate) struct Input {
    name: String,
    header: Record,
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
    /// Opens a file, or standard input for `-`, and reads its header. Unless told, what ends in `.tsv` is TSV, in `.ndjson` or
    /// `.jsonl` lines of JSON, and all else CSV.
    pub(crate) fn open(path: &Path, form: Option<RecordForm>) -> Outcome<Self> {
        let form = form.unwrap_or_else(|| form_of(path));
        if path.as_os_str() == "-" {
            return Self::begin("stdin".to_owned(), "data".to_owned(), None, form, Box::new(io::stdin()));
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
        Self::begin(name, default_table, again, form, Box::new(file))
    }

    fn begin(
        name: String,
        default_table: String,
        again: Option<Again>,
        form: RecordForm,
        source: Box<dyn Read>,
    ) -> Outcome<Self> {
        let mut records = Records::of(form, source);
        let mut header = Record::default();
        match records.read(&mut header) {
            Ok(true) => {}
            Ok(false) => return Err(Failure::unreadable(format_args!("{name}:1: empty; a header was expected"))),
            Err(error) => return Err(rows::fatal(&name, &error)),
        }
        let default_table = records.json().table().map_or(default_table, str::to_owned);
        Ok(Self { name, header, default_table, again, form, records })
    }

    /// A CSV that is in memory.
    pub(crate) fn of_bytes(table: &str, bytes: &'static [u8]) -> Outcome<Self> {
        let again = Some(Again::Bytes(bytes));
        Self::begin(format!("{table}.csv"), table.to_owned(), again, RecordForm::Csv, Box::new(bytes))
    }

    /// The name of the table unless another is told.
    pub(crate) fn default_table(&self) -> &str {
        &self.default_table
    }

    /// The name that messages use.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns, as they stand in the input.
    pub(crate) fn column_names(&self) -> impl Iterator<Item = &[u8]> {
        self.header.iter().map(|cell| cell.text)
    }

    /// Reads what is needed to know the table, unless `existing` is it, and gets ready to read rows.
    pub(crate) fn into_rows(mut self, settings: Settings<'_>, table: &str, existing: Option<&TableSchema>) -> Outcome<Rows> {
        let Settings { told, nulls, unit, on_error } = settings;
        // What the input itself tells counts where the command line is silent.
        let json = self.records.json();
        let is_canonical_json = json.tags().is_some();
        let tags = json.tags().filter(|_| told.finds_tags).unwrap_or(told.tags).to_vec();
        let told_before: HashSet<String> =
            told.types.iter().map(|(name, _)| name).chain(&tags).map(|name| name.to_lowercase()).collect();
        let is_there: HashSet<&[u8]> = self.header.iter().map(|cell| cell.text).collect();
        let described = json.types().iter().filter(|(name, _)| !told_before.contains(&name.to_lowercase()));
        let described = described.filter(|(name, _)| is_there.contains(name.as_bytes()));
        let types: Vec<_> = told.types.iter().chain(described).cloned().collect();
        let told = Told { tags: &tags, finds_tags: told.finds_tags && !is_canonical_json, types: &types, ..told };
        let header = Header::new(&self.name, &self.header, told)?;
        let mut sample = Vec::new();
        let plan = match existing {
            Some(schema) => Plan::for_table(&self.name, schema, header)?,
            None => {
                let mut guesses = Guesses::new(header.len(), is_canonical_json);
                if !header.is_all_told(told) {
                    sample = self.judge(&mut guesses, &nulls)?;
                }
                Plan::for_new_table(&self.name, table, header, &guesses, told)?
            }
        };
        Ok(Rows::new(self.name, plan, nulls, unit, on_error, sample, self.records))
    }

    /// Shows rows to `guesses`: all of a file, which is then read again, or the first of a pipe, which are returned.
    fn judge(&mut self, guesses: &mut Guesses, nulls: &Nulls) -> Outcome<Sample> {
        let Some(again) = self.again.take() else { return Ok(self.judge_sample(guesses, nulls)) };
        let mut record = Record::default();
        loop {
            match self.records.read(&mut record) {
                Ok(true) => guesses.observe(&record, nulls),
                Ok(false) => break,
                Err(error @ RecordError::Io(_)) => return Err(rows::fatal(&self.name, &error)),
                // The second reading meets it again, in its place among other complaints.
                Err(error) if error.passed_over().is_some() => {}
                Err(_) => break,
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
                Err(error) if error.passed_over().is_some() => sample.push(Err(error)),
                Err(error) => {
                    sample.push(Err(error));
                    break;
                }
            }
        }
        sample
    }
}

/// What a file is by its name.
fn form_of(path: &Path) -> RecordForm {
    let ends_in = |ending: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
    match () {
        () if ends_in("tsv") => RecordForm::Tsv,
        () if ends_in("ndjson") || ends_in("jsonl") => RecordForm::Ndjson,
        () => RecordForm::Csv,
    }
}
