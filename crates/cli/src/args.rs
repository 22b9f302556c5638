//! The command line as clap reads it: verbs, flags and their help. No verb lives here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tsloom::DataType;

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
    /// CSV into a new TsFile or into a store
    Import(Box<ImportArgs>),
    /// Print rows
    Cat(CatArgs),
    /// List the columns of every table of a TsFile
    Schema(SchemaArgs),
    /// Look into tablets as they travel through pipes: row batches in the wire form of Tablet.serialize()
    Tablet(TabletArgs),
    /// See real data go through every layer and come back
    Quickstart,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The header names the columns. Empty cells and \\N are null, a quoted empty cell is the empty text. Times are whole
milliseconds since 1970 or RFC 3339. A file is read twice: each column gets the narrowest of BOOLEAN, INT64, DOUBLE
and STRING that holds every cell; a pipe is judged by its first 10,000 rows. Numbers with leading zeros are text.
A TsFile takes rows that rise in time within each device; a store takes them in any order.

Examples:
  tsloom import wind.csv --out wind.tsfile --tag turbine
  tsloom import wind.csv --store lab.tsloom --ack
  zcat wind.csv.gz | tsloom import - --out wind.tsfile --table wind")]
pub(crate) struct ImportArgs {
    /// A CSV file with a header, or - for standard input
    #[arg(value_name = "IN.csv")]
    pub(crate) input: PathBuf,

    #[command(flatten)]
    pub(crate) target: Target,

    /// Name of the table [default: the file's stem in lower case, `data` for a pipe]
    #[arg(short, long, value_name = "T")]
    pub(crate) table: Option<String>,

    /// The time column [default: `time`, or the first]
    #[arg(long, value_name = "COL")]
    pub(crate) time: Option<String>,

    /// A TAG column, repeatable [default: the text columns before the first number]
    #[arg(long = "tag", value_name = "COL")]
    pub(crate) tags: Vec<String>,

    /// The type of a column, repeatable: BOOLEAN INT32 INT64 FLOAT DOUBLE TEXT TIMESTAMP DATE BLOB STRING
    #[arg(long = "type", value_name = "COL=TYPE", value_parser = parse_type)]
    pub(crate) types: Vec<(String, DataType)>,

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
#[command(after_help = "\
Examples:
  tsloom cat wind.tsfile --columns power_kw,wind_speed_ms -n 10
  tsloom cat --store lab.tsloom -t wind --where-tag turbine=R80711 --start 2014-02-01T00:00:00Z -f ndjson")]
pub(crate) struct CatArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// The table to print; csv needs it when there are several
    #[arg(short, long, value_name = "T")]
    pub(crate) table: Option<String>,

    /// A column to print, repeatable [default: all]
    #[arg(short = 'm', long = "column", value_name = "NAME")]
    pub(crate) column: Vec<String>,

    /// Columns to print, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,

    /// First time, included: an integer in the unit of the file, or RFC 3339
    #[arg(long, visible_alias = "from", value_name = "T", value_parser = parse_time, allow_negative_numbers = true)]
    pub(crate) start: Option<i64>,

    /// Last time, included
    #[arg(long, visible_alias = "to", value_name = "T", value_parser = parse_time, allow_negative_numbers = true)]
    pub(crate) end: Option<i64>,

    /// Only devices whose TAG has this value, repeatable
    #[arg(long = "where-tag", value_name = "K=V", value_parser = parse_pair)]
    pub(crate) where_tags: Vec<(String, String)>,

    /// At most this many rows
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Leave out the first rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,

    /// How to print
    #[arg(short, long, value_enum, default_value_t = Format::Csv)]
    pub(crate) format: Format,

    /// csv without its header line
    #[arg(long)]
    pub(crate) no_header: bool,

    /// How to print times in csv
    #[arg(long, value_enum, default_value_t = TimeFormat::Int, value_name = "FORM")]
    pub(crate) time_format: TimeFormat,

    /// ndjson: first a line for each table that describes its columns
    #[arg(long)]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Source {
    /// A TsFile
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The store in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// RFC 4180 with a header
    Csv,
    /// One JSON object a row, nothing lost, all tables in the order of their names
    Ndjson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeFormat {
    /// As stored
    Int,
    /// RFC 3339 in UTC; integers are taken as milliseconds since 1970
    Rfc3339,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// A TsFile
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Only this table
    #[arg(short, long, value_name = "T")]
    pub(crate) table: Option<String>,

    /// Leave out the header line
    #[arg(long)]
    pub(crate) no_header: bool,
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

fn parse_pair(text: &str) -> Result<(String, String), String> {
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

fn parse_time(text: &str) -> Result<i64, String> {
    crate::text::time::parse(text).map_err(|error| error.to_string())
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
