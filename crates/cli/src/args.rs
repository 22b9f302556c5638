//! The command line as clap reads it: verbs, flags and their help. No verb lives here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tsloom::DataType;

use crate::convert::ConvertArgs;
use crate::count::CountArgs;
use crate::encode::EncodeArgs;
use crate::export::ExportArgs;
use crate::input::records::RecordForm;
use crate::ls::LsArgs;
use crate::merge::MergeArgs;
use crate::meta::MetaArgs;
use crate::opened::ReadArgs;
use crate::plot::PlotArgs;
use crate::recover::RecoverArgs;
use crate::rows::{CatArgs, HeadArgs};
use crate::schema::SchemaArgs;
use crate::sketch::SketchArgs;
use crate::stats::StatsArgs;
use crate::store::StoreArgs;
use crate::text::time::TimeUnit;
use crate::verify::VerifyArgs;
use crate::wal::WalArgs;
use crate::write::WriteArgs;

/// tsloom: a storage engine for aligned time series in Apache TsFile v4.
///
/// Data goes to standard output, words to standard error. Exit status: 0 good; 1 usage; 2 a file, CSV or store
/// cannot be read or is damaged; 3 a query or a target failed.
#[derive(Debug, Parser)]
#[command(name = "tsloom", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Say on standard error what was done
    #[arg(short, long, global = true, display_order = 900)]
    pub(crate) verbose: bool,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the tables of a TsFile, or its devices
    Ls(LsArgs),
    /// Size, version, model and contents of a TsFile; no page is read
    Meta(MetaArgs),
    /// List the columns of every table or device
    Schema(SchemaArgs),
    /// Statistics of every FIELD, device by device
    Stats(StatsArgs),
    /// Rows and values of every column
    Count(CountArgs),
    /// Print the first rows
    Head(HeadArgs),
    /// Print rows
    Cat(CatArgs),
    /// Rows into files
    Export(ExportArgs),
    /// CSV, TSV or lines of JSON into a new TsFile or into a store
    Import(Box<ImportArgs>),
    /// CSV of which every column is told into a new TsFile
    Write(WriteArgs),
    /// A TsFile again, in other encodings and compressions
    Convert(ConvertArgs),
    /// Several TsFiles into one; what is in the later ones is newer
    Merge(MergeArgs),
    /// Which bytes of a TsFile are what
    Sketch(SketchArgs),
    /// Decode every page and check what is said about it
    Verify(VerifyArgs),
    /// What is whole in a TsFile whose writer did not finish
    Recover(RecoverArgs),
    /// Draw columns over time
    Plot(PlotArgs),
    /// Look into tablets as they travel through pipes: row batches in the wire form of Tablet.serialize()
    Tablet(TabletArgs),
    /// A database in a directory: make, fill, read, merge, copy, delete
    Store(StoreArgs),
    /// Look into the log of a store, or cut it where it is damaged
    Wal(WalArgs),
    /// See real data go through every layer and come back
    Quickstart,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The header names the columns. Empty cells and \\N are null, a quoted empty cell is the empty text. Times are whole
milliseconds since 1970 (see --time-unit) or RFC 3339. Lines of JSON are those that `cat -f ndjson` prints, of one table. A file is read twice: each column gets the narrowest of BOOLEAN, INT64, DOUBLE
and STRING that holds every cell; a pipe is judged by its first 10,000 rows. Numbers with leading zeros are text.
A TsFile takes rows that rise in time within each device; a store takes them in any order.

Examples:
  tsloom import wind.csv --out wind.tsfile --tag turbine
  tsloom import wind.csv --store lab.tsloom --ack
  zcat wind.csv.gz | tsloom import - --out wind.tsfile --table wind")]
pub(crate) struct ImportArgs {
    /// A CSV or TSV file with a header, or one JSON object a line, or - for standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,

    /// What the input is [default: tsv, ndjson (also .jsonl) where the name ends so, else csv]
    #[arg(short, long, value_enum, value_name = "FORM")]
    pub(crate) format: Option<RecordForm>,

    #[command(flatten)]
    pub(crate) target: Target,

    /// Name of the table [default: the file's stem in lower case, `data` for a pipe]
    #[arg(short, long, value_name = "T")]
    pub(crate) table: Option<String>,

    /// The time column [default: `time`, or the first]
    #[arg(long, value_name = "COL")]
    pub(crate) time: Option<String>,

    /// The unit of times that are integers, and of the new file
    #[arg(long, value_enum, default_value_t, value_name = "UNIT")]
    pub(crate) time_unit: TimeUnit,

    /// A TAG column, repeatable [default: the text columns before the first number]
    #[arg(long = "tag", value_name = "COL")]
    pub(crate) tags: Vec<String>,

    /// Whether all TAGs are told, be it none; no flag of this verb
    #[arg(skip)]
    pub(crate) has_all_tags: bool,

    /// The type of a column, repeatable
    #[arg(long = "type", value_name = "COL=TYPE", value_parser = parse_type, long_help = type_help())]
    pub(crate) types: Vec<(String, DataType)>,

    #[command(flatten)]
    pub(crate) encode: EncodeArgs,

    /// Another text that means null, repeatable
    #[arg(long = "null", value_name = "TEXT")]
    pub(crate) nulls: Vec<String>,

    /// What becomes of a row with the time of its device's last row
    #[arg(long, value_enum, default_value_t = OnDuplicate::Last, value_name = "WHAT")]
    pub(crate) on_duplicate: OnDuplicate,

    /// What becomes of a line that cannot be read
    #[arg(long, value_enum, default_value_t = OnError::Stop, value_name = "WHAT")]
    pub(crate) on_error: OnError,

    /// Rows of the input in one write to the store
    #[arg(long, value_name = "N", default_value_t = 1024, conflicts_with = "out", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) batch_rows: u32,

    /// Print {"acknowledged_rows": N} when the first N rows of the input are durable, after each batch
    #[arg(long, conflicts_with = "out")]
    pub(crate) ack: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Target {
    /// Write a new TsFile, which appears when it is complete
    #[arg(short, long, value_name = "OUT.tsfile")]
    pub(crate) out: Option<PathBuf>,

    /// Write into the store in this directory, made if need be
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDuplicate {
    /// Per column, the latest value that is not null
    Last,
    /// Stop (with --out)
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// Stop; no file is left behind, a store keeps the batches before
    Stop,
    /// Go on, and say at the end how many lines were left out
    Skip,
}

#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A TsFile
    #[arg(value_name = "FILE", required_unless_present = "store")]
    pub(crate) file: Option<PathBuf>,

    /// The store in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "strict", "rlbe_floats"])]
    pub(crate) store: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TabletArgs {
    #[command(subcommand)]
    pub(crate) verb: TabletVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TabletVerb {
    /// Print what a tablet holds
    Dump(DumpArgs),
    /// Read a tablet and write it as tsloom does: no junk in the slots of null rows and behind the bitmaps
    Reencode(ReencodeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// The bytes of one tablet, or - for standard input
    #[arg(value_name = "FILE.bin")]
    pub(crate) file: PathBuf,

    /// One JSON object with everything: times, nulls and the slots of all rows as they are on the wire
    #[arg(long, conflicts_with = "limit")]
    pub(crate) json: bool,

    /// At most this many rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ReencodeArgs {
    /// The bytes of one tablet, or - for standard input
    #[arg(value_name = "FILE.bin")]
    pub(crate) file: PathBuf,

    /// The file to write, which appears when it is complete
    #[arg(short, long, value_name = "OUT.bin")]
    pub(crate) out: PathBuf,
}

fn type_help() -> String {
    let names: Vec<&str> = DataType::ALL.iter().map(|data_type| data_type.name()).collect();
    format!("The type of a column, repeatable: {}", names.join(" "))
}

pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn parse_type(text: &str) -> Result<(String, DataType), String> {
    // The last '=' parts them: a column may be named "a=b", a type may not.
    match text.rsplit_once('=') {
        Some((name, data_type)) if !name.is_empty() => {
            Ok((name.to_owned(), data_type.parse::<DataType>().map_err(|error| error.to_string())?))
        }
        _ => Err("expected COL=TYPE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn pairs_and_types_part_at_the_right_sign() {
        assert_eq!(parse_pair("k=a=b"), Ok(("k".to_owned(), "a=b".to_owned())));
        assert_eq!(parse_pair("k="), Ok(("k".to_owned(), String::new())));
        assert!(parse_pair("=v").is_err() && parse_pair("k").is_err());
        assert_eq!(parse_type("a=b=double"), Ok(("a=b".to_owned(), DataType::Double)));
        assert!(parse_type("a=decimal").unwrap_err().contains("there is BOOLEAN"));
    }
}
