//! Text on its way to standard output or into a file, handed on in pieces.

use std::io::Write;
use std::path::Path;

use crate::failure::{Failure, Outcome};

/// About how large a piece is.
const PIECE_SIZE: usize = 64 << 10;

/// Collects text and hands it on.
pub(crate) struct Printer<'a> {
    /// Needs no buffer: pieces are large.
    out: &'a mut dyn Write,
    /// The file, unless it is standard output.
    path: Option<&'a Path>,
    /// What was not handed on yet. Append to it, then call [`flush_if_large`](Self::flush_if_large).
    pub(crate) text: Vec<u8>,
}

impl<'a> Printer<'a> {
    /// Prints to `out`, which is standard output.
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, path: None, text: Vec::with_capacity(2 * PIECE_SIZE) }
    }

    /// Prints to `out`, which is the file `path`.
    pub(crate) fn into_file(out: &'a mut dyn Write, path: &'a Path) -> Self {
        Self { path: Some(path), ..Self::new(out) }
    }

    /// True when a file is written.
    pub(crate) fn is_into_file(&self) -> bool {
        self.path.is_some()
    }

    /// Hands the text on once there is enough of it.
    pub(crate) fn flush_if_large(&mut self) -> Outcome {
        if self.text.len() >= PIECE_SIZE { self.flush() } else { Ok(()) }
    }

    /// Hands everything on.
    pub(crate) fn flush(&mut self) -> Outcome {
        let written = self.out.write_all(&self.text).and_then(|()| self.out.flush());
        self.text.clear();
        written.map_err(|error| match self.path {
            None => Failure::of_stdout(&error),
            Some(path) => Failure::failed(format_args!("{}: {error}", path.display())),
        })
    }
}
