//! How a verb ends when it does not end well: an exit status and one line.

use std::fmt;
use std::io;

/// What a verb returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Why a verb stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read our output has gone. No word about it, and no blame.
    PipeClosed,
    /// Something to say.
    Said {
        /// The status to end with.
        exit: Exit,
        /// One line.
        message: String,
    },
}

/// Exit statuses other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command line asks for something that makes no sense.
    Usage = 1,
    /// A file, CSV, store or log cannot be read or is damaged.
    Unreadable = 2,
    /// A query, target or commit failed.
    Failed = 3,
}

impl Failure {
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::said(Exit::Usage, message)
    }

    pub(crate) fn unreadable(message: impl fmt::Display) -> Self {
        Self::said(Exit::Unreadable, message)
    }

    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self::said(Exit::Failed, message)
    }

    /// What writing to standard output can come to.
    pub(crate) fn of_stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::failed(format_args!("standard output: {error}")),
        }
    }

    fn said(exit: Exit, message: impl fmt::Display) -> Self {
        Self::Said { exit, message: one_line(&message.to_string()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PipeClosed => Ok(()),
            Self::Said { message, .. } => f.write_str(message),
        }
    }
}

/// Control characters, which a damaged name may hold, are escaped: a message is one line on any terminal.
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_on_one_line() {
        assert_eq!(one_line("column a\nb\u{1b}[31m: é"), "column a\\nb\\u{1b}[31m: é");
    }

    #[test]
    fn a_closed_pipe_is_no_failure_of_ours() {
        assert!(matches!(Failure::of_stdout(&io::ErrorKind::BrokenPipe.into()), Failure::PipeClosed));
        assert!(matches!(Failure::of_stdout(&io::ErrorKind::StorageFull.into()), Failure::Said { exit: Exit::Failed, .. }));
    }
}
