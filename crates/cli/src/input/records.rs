//! Records of CSV (RFC 4180) and of TSV from any reader, and which cells were quoted.
//!
//! The `csv` crate does not tell `""` from nothing, and here one is the empty text and the other is null; so this
//! reads by itself, and is compared with that crate in its tests. Beyond the RFC: lines end in LF or CRLF, empty lines
//! are passed over, a byte order mark is dropped, and a quote inside an unquoted cell is an ordinary character. A text
//! after a closing quote is an error. In TSV nothing is quoted: tabs, line ends and backslashes of texts are written `\t`, `\n`,
//! `\r` and `\\`, as this command prints them.

use std::io::{self, Read};

use clap::ValueEnum;

use super::json_lines::{JsonLines, Line};
use super::record::{CellForm, Record, RecordError};

/// A record longer than this, a byte more for each cell, is a quote that nobody closed, not a row.
const RECORD_SIZE_MAX: usize = 16 << 20;

const BUFFER_SIZE: usize = 64 << 10;

/// How cells are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordForm {
    /// Commas between cells, quotes around those that need them
    Csv,
    /// Tabs between cells; in texts \t, \n, \r and \\ for tabs, line ends and backslashes
    Tsv,
    /// One JSON object a line, as `cat -f ndjson` prints them, canonical or flat
    Ndjson,
}

/// Reads records one after the other.
pub(crate) struct Records<R> {
    source: R,
    form: RecordForm,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    line: u64,
    json: JsonLines,
    /// A line of JSON that is to be taken once more, and its number.
    again: Option<(u64, Vec<u8>)>,
}

impl<R: Read> Records<R> {
    /// Reads records of a form.
    pub(crate) fn of(form: RecordForm, source: R) -> Self {
        Self {
            source,
            form,
            buffer: vec![0; BUFFER_SIZE].into_boxed_slice(),
            start: 0,
            end: 0,
            line: 1,
            json: JsonLines::default(),
            again: None,
        }
    }

    /// Puts the next record into `record`; `false` at the end.
    ///
    /// # Errors
    /// When the line was [passed over](RecordError::passed_over) the next call goes on with the next one; the others are final.
    pub(crate) fn read(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        self.drop_byte_order_mark()?;
        if self.form == RecordForm::Ndjson {
            return self.read_json(record);
        }
        loop {
            record.clear(self.line);
            if self.peek()?.is_none() {
                return Ok(false);
            }
            while self.read_cell(record)? {}
            if !record.is_empty_line() {
                return Ok(true);
            }
        }
    }

    /// What the lines of JSON so far say about the columns.
    pub(crate) fn json(&self) -> &JsonLines {
        &self.json
    }

    fn read_json(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        loop {
            let (number, line) = match self.again.take() {
                Some(line) => line,
                None => match self.read_line(record)? {
                    Some(line) => line,
                    None => return Ok(false),
                },
            };
            record.clear(number);
            if line.trim_ascii().is_empty() {
                continue;
            }
            match self.json.take(&line, record).map_err(|message| RecordError::Json { line: number, message })? {
                Line::Schema => continue,
                Line::Names => self.again = Some((number, line)),
                Line::Row => {}
            }
            return Ok(true);
        }
    }

    /// The next line and its number; `None` at the end. `record` lends its memory.
    fn read_line(&mut self, record: &mut Record) -> Result<Option<(u64, Vec<u8>)>, RecordError> {
        let number = self.line;
        record.clear(number);
        if self.peek()?.is_none() {
            return Ok(None);
        }
        while self.copy_until(record, |byte| byte == b'\n')?.is_none() && self.peek()?.is_some() {}
        self.line += 1;
        Ok(Some((number, std::mem::take(&mut record.bytes))))
    }

    /// Reads one cell and what ends it; `true` when the record goes on after it.
    fn read_cell(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        if self.form == RecordForm::Csv && self.peek()? == Some(b'"') {
            self.start += 1;
            self.read_quoted(record)
        } else {
            self.read_unquoted(record)
        }
    }

    fn read_unquoted(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        let cell_start = record.bytes.len();
        let between = match self.form {
            RecordForm::Csv => b',',
            RecordForm::Tsv => b'\t',
            RecordForm::Ndjson => unreachable!("lines of JSON have no cells of this kind"),
        };
        loop {
            let stop = self.copy_until(record, |byte| byte == between || byte == b'\n')?;
            match stop {
                Some(stop) if stop == between => {}
                Some(_) => {
                    self.line += 1;
                    if record.bytes.len() > cell_start && record.bytes.last() == Some(&b'\r') {
                        record.bytes.pop();
                    }
                }
                None if self.peek()?.is_some() => continue,
                None => {}
            }
            if self.form == RecordForm::Tsv {
                unescape(&mut record.bytes, cell_start);
            }
            record.end_cell(CellForm::Plain);
            return Ok(stop == Some(between));
        }
    }

    fn read_quoted(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        loop {
            let from = record.bytes.len();
            let stop = self.copy_until(record, |byte| byte == b'"')?;
            self.line += record.bytes[from..].iter().filter(|byte| **byte == b'\n').count() as u64;
            if stop.is_none() {
                if self.peek()?.is_none() {
                    return Err(RecordError::Unclosed { line: record.line() });
                }
                continue;
            }
            match self.next()? {
                Some(b'"') => record.bytes.push(b'"'),
                after => return self.after_quote(record, after),
            }
        }
    }

    /// A quoted cell is over and `after` follows.
    fn after_quote(&mut self, record: &mut Record, after: Option<u8>) -> Result<bool, RecordError> {
        record.end_cell(CellForm::Quoted);
        match after {
            Some(b',') => return Ok(true),
            None => return Ok(false),
            Some(b'\n') => {}
            Some(b'\r') if matches!(self.peek()?, Some(b'\n') | None) => {
                self.next()?;
            }
            Some(_) => {
                while self.next()?.is_some_and(|byte| byte != b'\n') {}
                self.line += 1;
                return Err(RecordError::TextAfterQuote { line: record.line() });
            }
        }
        self.line += 1;
        Ok(false)
    }

    /// Copies what is buffered up to the first byte that `stops`, and takes that byte without copying it. `None`: the
    /// buffer came to its end first.
    fn copy_until(&mut self, record: &mut Record, stops: impl Fn(u8) -> bool) -> Result<Option<u8>, RecordError> {
        let buffered = &self.buffer[self.start..self.end];
        let found = buffered.iter().position(|&byte| stops(byte));
        let count = found.unwrap_or(buffered.len());
        if record.bytes.len() + record.cells.len() + count > RECORD_SIZE_MAX {
            return Err(RecordError::TooLong { line: record.line() });
        }
        record.bytes.extend_from_slice(&buffered[..count]);
        let stop = found.map(|at| buffered[at]);
        self.start += count + usize::from(stop.is_some());
        Ok(stop)
    }

    fn next(&mut self) -> Result<Option<u8>, RecordError> {
        let byte = self.peek()?;
        self.start += usize::from(byte.is_some());
        Ok(byte)
    }

    /// The byte that comes next, or `None` at the end of the input.
    fn peek(&mut self) -> Result<Option<u8>, RecordError> {
        if self.start == self.end {
            self.start = 0;
            self.end = self.fill(0)?;
        }
        Ok((self.start < self.end).then(|| self.buffer[self.start]))
    }

    /// Reads once into the buffer from `at` on; where the buffered bytes end then.
    fn fill(&mut self, at: usize) -> Result<usize, RecordError> {
        loop {
            match self.source.read(&mut self.buffer[at..]) {
                Ok(count) => return Ok(at + count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(RecordError::Io(error)),
            }
        }
    }

    /// Drops EF BB BF from the very start.
    fn drop_byte_order_mark(&mut self) -> Result<(), RecordError> {
        if self.line > 1 || self.end > 0 {
            return Ok(());
        }
        while self.end < 3 {
            let end = self.fill(self.end)?;
            if end == self.end {
                break;
            }
            self.end = end;
        }
        if self.buffer[..self.end].starts_with(b"\xef\xbb\xbf") {
            self.start = 3;
        }
        Ok(())
    }
}

/// Puts tabs, line ends and backslashes in place of what stands for them from `start` on. `\N` alone is null, and stays.
fn unescape(bytes: &mut Vec<u8>, start: usize) {
    if bytes[start..] == *b"\\N" || !bytes[start..].contains(&b'\\') {
        return;
    }
    let (mut from, mut to) = (start, start);
    while from < bytes.len() {
        let escaped = match bytes[from..] {
            [b'\\', b't', ..] => Some(b'\t'),
            [b'\\', b'n', ..] => Some(b'\n'),
            [b'\\', b'r', ..] => Some(b'\r'),
            [b'\\', b'\\', ..] => Some(b'\\'),
            _ => None,
        };
        bytes[to] = escaped.unwrap_or(bytes[from]);
        from += if escaped.is_some() { 2 } else { 1 };
        to += 1;
    }
    bytes.truncate(to);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives out one byte a call, to meet every buffer end.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(into.len()).min(1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn tsv_has_no_quotes_but_escapes() {
        let text = "a\tb\r\n\"x\"\t1,5\n\n\\N\t\\\\N\\t\\q\\";
        let mut records = Records::of(RecordForm::Tsv, Drip(text.as_bytes()));
        let (mut record, mut found) = (Record::default(), Vec::new());
        while records.read(&mut record).unwrap() {
            found.push(record.iter().map(|cell| String::from_utf8_lossy(cell.text).into_owned()).collect::<Vec<_>>());
        }
        assert_eq!(found, [["a", "b"], ["\"x\"", "1,5"], ["\\N", "\\N\t\\q\\"]]);
    }

    /// `line: cell|"quoted"` for each record, `line! error` for each error.
    fn read(source: impl Read) -> Vec<String> {
        let mut records = Records::of(RecordForm::Csv, source);
        let mut record = Record::default();
        let mut said = Vec::new();
        loop {
            match records.read(&mut record) {
                Ok(false) => return said,
                Ok(true) => {
                    let cells: Vec<String> = record
                        .iter()
                        .map(|cell| {
                            let text = String::from_utf8_lossy(cell.text);
                            if cell.form == CellForm::Quoted { format!("{text:?}") } else { text.into_owned() }
                        })
                        .collect();
                    said.push(format!("{}: {}", record.line(), cells.join("|")));
                }
                Err(RecordError::TextAfterQuote { line }) => said.push(format!("{line}! text after quote")),
                Err(RecordError::Json { message, .. }) => panic!("{message}: this is no JSON"),
                Err(RecordError::Unclosed { line }) => {
                    said.push(format!("{line}! unclosed"));
                    return said;
                }
                Err(RecordError::TooLong { line }) => {
                    said.push(format!("{line}! too long"));
                    return said;
                }
                Err(RecordError::Io(error)) => panic!("{error}"),
            }
        }
    }

    fn check(input: &str, expected: &[&str]) {
        assert_eq!(read(input.as_bytes()), expected, "{input:?}");
        assert_eq!(read(Drip(input.as_bytes())), expected, "{input:?}, byte by byte");
    }

    #[test]
    fn quoted_empty_is_not_empty() {
        check("a,b\n1,\n2,\"\"\n,\n", &["1: a|b", "2: 1|", "3: 2|\"\"", "4: |"]);
    }

    #[test]
    fn lines_end_in_lf_crlf_or_the_end() {
        check("a,b\r\n1,2\r\n\r\n\n3,4", &["1: a|b", "2: 1|2", "5: 3|4"]);
        check("\"a\"\r\n\"b\"", &["1: \"a\"", "2: \"b\""]);
        check("a\rb,c\n", &["1: a\rb|c"]);
        check("a,\r\n", &["1: a|"]);
        check("", &[]);
        check("\n\n", &[]);
        check("\"\"\n", &["1: \"\""]);
    }

    #[test]
    fn quotes_hold_commas_lines_and_quotes() {
        check("\"a,b\",\"c\nd\",\"e\"\"f\"\nnext\n", &["1: \"a,b\"|\"c\\nd\"|\"e\\\"f\"", "3: next"]);
        check("5\" pipe,x\n", &["1: 5\" pipe|x"]);
    }

    #[test]
    fn broken_quotes_are_errors() {
        check("\"a\"b,c\nnext\n", &["1! text after quote", "2: next"]);
        check("x\n\"a\nb\nc", &["1: x", "2! unclosed"]);
    }

    #[test]
    fn a_byte_order_mark_is_dropped_once() {
        check("\u{feff}a\n\u{feff}b\n", &["1: a", "2: \u{feff}b"]);
        check("\u{feff}", &[]);
    }

    #[test]
    fn a_quote_that_nobody_closes_does_not_fill_the_memory() {
        let mut input = b"a\n\"".to_vec();
        input.resize(RECORD_SIZE_MAX + BUFFER_SIZE, b'x');
        input.extend_from_slice(b"\"\n");
        assert_eq!(read(&input[..]), ["1: a", "2! too long"]);
    }

    #[test]
    fn nor_do_cells_without_end() {
        let mut input = b"a\n".to_vec();
        input.resize(RECORD_SIZE_MAX + BUFFER_SIZE, b',');
        assert_eq!(read(&input[..]), ["1: a", "2! too long"]);
    }

    proptest! {
        /// Whatever the `csv` crate writes comes back, by its own reading and by ours.
        #[test]
        fn reads_what_the_csv_crate_writes(
            rows in prop::collection::vec(prop::collection::vec("[a,\"\n\r é]{0,6}", 2..4), 1..6),
            crlf: bool,
        ) {
            let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
            let mut writer = csv::WriterBuilder::new().flexible(true).terminator(terminator).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let mut records = Records::of(RecordForm::Csv, Drip(&bytes));
            let mut record = Record::default();
            for row in &rows {
                prop_assert!(records.read(&mut record).unwrap());
                let cells: Vec<&str> = record.iter().map(|cell| std::str::from_utf8(cell.text).unwrap()).collect();
                prop_assert_eq!(&cells, row);
            }
            prop_assert!(!records.read(&mut record).unwrap());
        }

        /// Any bytes at all: records or errors, and an end.
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(prop::sample::select(b"a,\"\n\r\xff".to_vec()), 0..64)) {
            prop_assert_eq!(read(&bytes[..]), read(Drip(&bytes)));
        }
    }
}
