//! `tsloom convert`: a file again, in other encodings and compressions.

use std::path::PathBuf;

use clap::Args;
use tsloom::model::Grouped;

use crate::failure::Outcome;
use crate::rewrite::{self, RewriteArgs};

/// What `convert` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Every row comes back as it was. Several chunks of a device become as few as fit into memory, in the order of time; where they
overlap, the newer value wins. What is not named keeps its encoding and compression; those that are only read, and those that
round floats to decimals, become the defaults of the type. A file of version 3 becomes one of version 4.

Examples:
  tsloom convert wind.tsfile --out small.tsfile --encoding auto --compression ZSTD
  tsloom convert wind.tsfile --out plain.tsfile --encoding power_kw=PLAIN --compression DOUBLE=UNCOMPRESSED")]
pub(crate) struct ConvertArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    rewrite: RewriteArgs,
}

/// Does what `args` ask for.
pub(crate) fn run(args: &ConvertArgs, is_verbose: bool) -> Outcome {
    let file = args.rewrite.read.open_rows(&args.file)?;
    let size = file.reader.size();
    let summary = rewrite::rewrite(&[file], &args.rewrite)?;
    if is_verbose {
        eprintln!(
            "{} bytes of {} to {}: {}",
            Grouped(size),
            args.file.display(),
            args.rewrite.out.display(),
            rewrite::describe(&summary)
        );
    }
    Ok(())
}
