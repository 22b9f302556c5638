//! `tsloom merge`: several files into one.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Outcome;
use crate::rewrite::{self, RewriteArgs};

/// What `merge` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Of several files the later one is newer: where two have a row of the same device and time, each column gets the newest value
that is not null. A table, and a device of the tree model, has the columns of all files; TAG columns and types must agree.

Example:
  tsloom merge monday.tsfile tuesday.tsfile --out week.tsfile")]
pub(crate) struct MergeArgs {
    /// TsFiles, oldest first
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    rewrite: RewriteArgs,
}

/// Does what `args` ask for.
pub(crate) fn run(args: &MergeArgs, is_verbose: bool) -> Outcome {
    let files = args.files.iter().map(|path| args.rewrite.read.open_rows(path)).collect::<Outcome<Vec<_>>>()?;
    let summary = rewrite::rewrite(&files, &args.rewrite)?;
    if is_verbose {
        eprintln!("{} files to {}: {}", files.len(), args.rewrite.out.display(), rewrite::describe(&summary));
    }
    Ok(())
}
