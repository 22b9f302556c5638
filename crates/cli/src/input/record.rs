//! One record of an input: its cells, what stood around each, and the line on which it begins.

use std::fmt;
use std::io;

/// One record; its memory is used again for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(super) bytes: Vec<u8>,
    pub(super) cells: Vec<CellEnd>,
    line: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CellEnd {
    end: usize,
    form: CellForm,
}

/// One cell as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawCell<'a> {
    /// Without quotes.
    pub(crate) text: &'a [u8],
    /// What stood around the text.
    pub(crate) form: CellForm,
}

/// What stands around the text of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellForm {
    /// Nothing.
    Plain,
    /// Quotes.
    Quoted,
    /// `{"hex": "..."}`: the text is the digits.
    Hex,
}

impl Record {
    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Bytes of all cells.
    pub(crate) fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// The line on which it begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// One cell.
    ///
    /// # Panics
    /// When there is no such cell, as slices do.
    pub(crate) fn cell(&self, index: usize) -> RawCell<'_> {
        let start = if index == 0 { 0 } else { self.cells[index - 1].end };
        let CellEnd { end, form } = self.cells[index];
        RawCell { text: &self.bytes[start..end], form }
    }

    /// All cells in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RawCell<'_>> {
        (0..self.len()).map(|index| self.cell(index))
    }

    pub(super) fn clear(&mut self, line: u64) {
        self.bytes.clear();
        self.cells.clear();
        self.line = line;
    }

    pub(super) fn end_cell(&mut self, form: CellForm) {
        self.cells.push(CellEnd { end: self.bytes.len(), form });
    }

    /// Appends a cell.
    pub(super) fn push_cell(&mut self, text: &[u8], form: CellForm) {
        self.bytes.extend_from_slice(text);
        self.end_cell(form);
    }

    /// An empty line gives one empty cell.
    pub(super) fn is_empty_line(&self) -> bool {
        matches!(self.cells[..], [CellEnd { end: 0, form: CellForm::Plain }])
    }
}

/// Why there is no record.
#[derive(Debug)]
pub(crate) enum RecordError {
    /// The operating system said no.
    Io(io::Error),
    /// A closing quote is followed by something else; the rest of the line was passed over, so reading can go on.
    TextAfterQuote {
        /// Where the record begins.
        line: u64,
    },
    /// A line of JSON that is no row; reading can go on.
    Json {
        /// Its number.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// The input ends inside quotes; there is nowhere to go on.
    Unclosed {
        /// Where the record begins.
        line: u64,
    },
    /// The record is longer than any row; there is nowhere to go on.
    TooLong {
        /// Where the record begins.
        line: u64,
    },
}

impl RecordError {
    /// The line, when it was passed over and reading can go on behind it.
    pub(crate) fn passed_over(&self) -> Option<u64> {
        match self {
            Self::TextAfterQuote { line } | Self::Json { line, .. } => Some(*line),
            Self::Io(_) | Self::Unclosed { .. } | Self::TooLong { .. } => None,
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Json { message, .. } => f.write_str(message),
            Self::TextAfterQuote { .. } => f.write_str("text after a closing quote (inside quotes, a quote is written twice)"),
            Self::Unclosed { .. } => f.write_str("a quote that is opened in this record is never closed"),
            Self::TooLong { .. } => f.write_str("a record of more than 16 MiB (is a quote never closed?)"),
        }
    }
}
