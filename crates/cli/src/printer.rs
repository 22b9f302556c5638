//! Text on its way to standard output, handed on in pieces.

use std::io::Write;

use crate::failure::{Failure, Outcome};

/// About how large a piece is.
const PIECE_SIZE: usize = 64 << 10;

/// Collects text and hands it on.
pub(crate) struct Printer<'a, W> {
    out: &'a mut W,
    /// What was not handed on yet. Append to it, then call [`flush_if_large`](Self::flush_if_large).
    pub(crate) text: Vec<u8>,
}

impl<'a, W: Write> Printer<'a, W> {
    /// Prints to `out`.
    pub(crate) fn new(out: &'a mut W) -> Self {
        Self { out, text: Vec::with_capacity(2 * PIECE_SIZE) }
    }

    /// Hands the text on once there is enough of it.
    pub(crate) fn flush_if_large(&mut self) -> Outcome {
        if self.text.len() >= PIECE_SIZE { self.flush() } else { Ok(()) }
    }

    /// Hands everything on.
    pub(crate) fn flush(&mut self) -> Outcome {
        let written = self.out.write_all(&self.text).and_then(|()| self.out.flush());
        self.text.clear();
        written.map_err(|error| Failure::of_stdout(&error))
    }
}
