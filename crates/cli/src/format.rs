//! In which form a verb prints: `-f`, and what it is when nothing is said.

use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};

/// The forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, cut to the width of the terminal
    Table,
    /// Cells between tabs; tabs, line ends and backslashes in texts are \t, \n, \r and \\
    Tsv,
    /// RFC 4180
    Csv,
    /// One array of JSON objects
    Json,
    /// One JSON object a line
    Ndjson,
}

impl Format {
    /// A table on a terminal, else tab-separated.
    pub(crate) fn or_default(format: Option<Self>) -> Self {
        format.unwrap_or_else(|| if io::stdout().is_terminal() { Self::Table } else { Self::Tsv })
    }

    /// True for JSON of either kind.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

/// Flags of every verb that prints lines of cells.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FormatArgs {
    /// How to print [default: table on a terminal, else tsv]
    #[arg(short, long, value_enum, value_name = "FORM")]
    pub(crate) format: Option<Format>,

    /// Leave out the header line
    #[arg(long)]
    pub(crate) no_header: bool,
}

/// Columns of the terminal that standard output is, if it is one.
pub(crate) fn terminal_width() -> Option<usize> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }
    #[cfg(not(unix))]
    None
}
