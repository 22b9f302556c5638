//! Rows: how they are chosen, and how they are printed. `cat` and `head` are nothing else.

pub(crate) mod args;
pub(crate) mod print;
pub(crate) mod select;

use std::io::Write;

use clap::Args;

use self::args::{RowArgs, WindowArgs};
use self::print::PrintArgs;
use crate::args::Source;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::printer::Printer;

/// What `cat` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Conditions on tags hold for whole devices.

Examples:
  tsloom cat wind.tsfile --columns power_kw,wind_speed_ms -n 10
  tsloom cat wind.tsfile -f csv --tag-filter turbine regexp '^R807' > wind.csv
  tsloom cat --store lab.tsloom -t wind --where-tag turbine=R80711 --start 2014-02-01T00:00:00Z -f ndjson")]
pub(crate) struct CatArgs {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    rows: RowArgs,

    #[command(flatten)]
    window: WindowArgs,

    #[command(flatten)]
    print: PrintArgs,
}

/// What `head` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tsloom head wind.tsfile --where-tag turbine=R80711")]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    rows: RowArgs,

    /// At most this many rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: u64,

    /// Leave out the first rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,

    #[command(flatten)]
    print: PrintArgs,
}

/// `tsloom cat`: rows of a TsFile or a store.
pub(crate) fn cat(args: &CatArgs, out: &mut impl Write) -> Outcome {
    check(&args.rows, &args.print)?;
    run(&Opened::open(&args.source)?, &args.rows, &args.print, args.window.window(), out)
}

/// `tsloom head`: the first rows.
pub(crate) fn head(args: &HeadArgs, out: &mut impl Write) -> Outcome {
    check(&args.rows, &args.print)?;
    run(&Opened::open(&args.source)?, &args.rows, &args.print, (args.offset, Some(args.limit)), out)
}

/// Finds out, before anything is opened, what makes no sense.
pub(crate) fn check(rows: &RowArgs, args: &PrintArgs) -> Outcome {
    args.check()?;
    rows.tag_tests().map(drop)
}

/// Prints the rows that are chosen: `window.1` of them at most, behind the first `window.0`.
pub(crate) fn run(
    opened: &Opened,
    rows: &RowArgs,
    args: &PrintArgs,
    window: (u64, Option<u64>),
    out: &mut impl Write,
) -> Outcome {
    let selected = select::select(rows, opened)?;
    print::print(args, opened, &selected, window, Printer::new(out)).map(drop)
}

#[cfg(test)]
mod tests;
