//! The one error of tsloom: what went wrong, where, and why.
//!
//! It is one pointer wide, so results stay small. Each layer adds what only it knows and nothing else: the
//! parser its position, the reader the structure and the file, the column loop its column.
//!
//! ```text
//! wind.tsfile: page header at offset 8,412: column power_kw: compressed size 1,073,741,824 is past the end
//! └─ file      └─ place       └─ offset     └─ column        └─ message
//! ```

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

use tsloom_encoding::{Truncated, WireError};

use crate::FileOffset;

/// What tsloom returns when it cannot do what was asked.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong; what a caller can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system said no.
    Io,
    /// Bytes end before the structure does.
    Truncated,
    /// Bytes contradict the format or each other.
    Corrupt,
    /// Right bytes, but of a form that this build does not handle.
    Unsupported,
    /// A length met one of [`Limits`](crate::Limits); the message names it.
    LimitExceeded,
    /// A table, column, device or file that is not there.
    NotFound,
    /// It is there already, with other content.
    AlreadyExists,
    /// A value, row or request that does not fit the schema.
    SchemaMismatch,
    /// A request that makes no sense by itself.
    InvalidArgument,
    /// Rows that go back in time where they must rise.
    OutOfOrder,
    /// No room now; waiting could help.
    WouldBlock,
    /// Another process has it open.
    Locked,
    /// An earlier failure closed it; reopen.
    Closed,
}

/// An error with its kind, place, file, offset, column and source.
pub struct Error(Box<Inner>);

const _: () = assert!(size_of::<Error>() == size_of::<usize>());

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    place: Option<&'static str>,
    file: Option<Box<str>>,
    offset: Option<FileOffset>,
    column: Option<Box<str>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind. The message is lower case and says what was expected and what was there.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), place: None, file: None, offset: None, column: None, source: None }))
    }

    /// What a caller can act on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Says the same as an error of another kind: what is a wrong argument to one layer may be a wrong schema to the next.
    #[cold]
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Where in the file, when it is known.
    pub fn offset(&self) -> Option<FileOffset> {
        self.0.offset
    }

    /// The file, as the caller named it.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The column, when one is to blame.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// Adds the position, unless a lower layer knew a nearer one.
    #[cold]
    #[must_use]
    pub fn at(mut self, offset: FileOffset) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Turns a position inside a part into a position in the file: the part begins at `start`. Without a position, it is the start.
    #[cold]
    #[must_use]
    pub fn shifted(mut self, start: FileOffset) -> Self {
        let inside = self.0.offset.map_or(0, FileOffset::get);
        self.0.offset = start.checked_add(inside).or(Some(start));
        self
    }

    /// Turns a position inside something that the file holds in another form, such as a decompressed page, into the file offset of
    /// its stored form; the position goes into the message: "(byte 17 of the decompressed page)".
    #[cold]
    #[must_use]
    pub fn inside(mut self, what: &'static str, stored: FileOffset) -> Self {
        if let Some(inside) = self.0.offset.replace(stored) {
            let message = format!("{} (byte {inside} of {what})", self.0.message);
            self.0.message = message.into();
        }
        self
    }

    /// Adds the structure that was being read or written, such as `"page header"`.
    #[cold]
    #[must_use]
    pub fn in_place(mut self, place: &'static str) -> Self {
        self.0.place.get_or_insert(place);
        self
    }

    /// Adds the column.
    #[cold]
    #[must_use]
    pub fn in_column(mut self, column: &str) -> Self {
        self.0.column.get_or_insert_with(|| column.into());
        self
    }

    /// Adds the file.
    #[cold]
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file.get_or_insert_with(|| path.as_ref().to_string_lossy().into());
        self
    }

    /// Adds the error that caused this one.
    #[cold]
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(file) = &inner.file {
            write!(f, "{file}: ")?;
        }
        match (inner.place, inner.offset) {
            (Some(place), Some(offset)) => write!(f, "{place} at offset {offset}: ")?,
            (Some(place), None) => write!(f, "{place}: ")?,
            (None, Some(offset)) => write!(f, "offset {offset}: ")?,
            (None, None) => {}
        }
        if let Some(column) = &inner.column {
            write!(f, "column {column}: ")?;
        }
        f.write_str(&inner.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.to_string())
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<std::io::Error> for Error {
    #[cold]
    fn from(error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::UnexpectedEof => ErrorKind::Truncated,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

impl From<WireError> for Error {
    /// The position in the input becomes the offset: readers made `with_base` report file offsets.
    #[cold]
    fn from(error: WireError) -> Self {
        let kind = match error {
            WireError::Truncated(_) => ErrorKind::Truncated,
            _ => ErrorKind::Corrupt,
        };
        Self::new(kind, error.to_string()).at(FileOffset::new(error.at() as u64))
    }
}

impl From<Truncated> for Error {
    #[cold]
    fn from(error: Truncated) -> Self {
        WireError::Truncated(error).into()
    }
}

/// Prints an integer with a comma between groups of three digits from 10,000 on.
///
/// ```
/// # use tsloom_model::Grouped;
/// assert_eq!(Grouped(8412).to_string(), "8412");
/// assert_eq!(Grouped(1_073_741_824).to_string(), "1,073,741,824");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        if digits.len() < 5 {
            return f.pad(&digits);
        }
        let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        f.pad(&grouped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_one_line_from_file_to_cause() {
        let error = Error::new(ErrorKind::Corrupt, "compressed size 1,073,741,824 is past the end of the chunk (212 bytes left)")
            .at(FileOffset::new(8412))
            .in_place("page header")
            .in_file("wind.tsfile");
        assert_eq!(
            error.to_string(),
            "wind.tsfile: page header at offset 8412: compressed size 1,073,741,824 is past the end of the chunk (212 bytes left)"
        );
    }

    #[test]
    fn positions_in_a_part_become_positions_in_the_file() {
        let short = || Error::new(ErrorKind::Truncated, "short").at(FileOffset::new(7));
        assert_eq!(short().shifted(FileOffset::new(100)).to_string(), "offset 107: short");
        assert_eq!(
            short().inside("the decompressed page", FileOffset::new(100)).to_string(),
            "offset 100: short (byte 7 of the decompressed page)"
        );
        assert_eq!(Error::new(ErrorKind::Corrupt, "odd").shifted(FileOffset::new(3)).offset(), Some(FileOffset::new(3)));
    }

    #[test]
    fn the_nearest_place_wins() {
        let error =
            Error::new(ErrorKind::Truncated, "short").at(FileOffset::new(7)).at(FileOffset::new(1)).in_place("a").in_place("b");
        assert_eq!(error.offset(), Some(FileOffset::new(7)));
        assert_eq!(error.to_string(), "a at offset 7: short");
    }
}
