//! `tsloom convert`: a file again, in other encodings and compressions.

use std::path::PathBuf;

use clap::Args;
use tsloom::TableSchema;
use tsloom::model::Grouped;

use crate::encode::EncodeArgs;
use crate::failure::Outcome;
use crate::opened::open_rows;
use crate::rewrite;

/// What `convert` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Every row comes back as it was. Several chunks of a device become as few as fit into memory, in the order of time; where they
overlap, the newer value wins. What is not named keeps its encoding and compression.

Examples:
  tsloom convert wind.tsfile --out small.tsfile --encoding auto --compression ZSTD
  tsloom convert wind.tsfile --out plain.tsfile --encoding power_kw=PLAIN --compression DOUBLE=UNCOMPRESSED")]
pub(crate) struct ConvertArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The new TsFile, which appears when it is complete
    #[arg(short, long, value_name = "OUT.tsfile")]
    out: PathBuf,

    #[command(flatten)]
    encode: EncodeArgs,

    /// Fail where IoTDB noted deletions beside the file, instead of applying them
    #[arg(long)]
    strict: bool,
}

/// Does what `args` ask for.
pub(crate) fn run(args: &ConvertArgs, is_verbose: bool) -> Outcome {
    let (reader, deletions) = open_rows(&args.file, args.strict)?;
    rewrite::require_tables(&reader)?;
    let tables: Vec<TableSchema> = reader.tables().cloned().collect();
    let size = reader.size();
    let summary = rewrite::rewrite(&[reader], &[deletions], &tables, &args.encode, &args.out)?;
    if is_verbose {
        eprintln!(
            "{} bytes of {} to {}: {}",
            Grouped(size),
            args.file.display(),
            args.out.display(),
            rewrite::describe(&summary)
        );
    }
    Ok(())
}
