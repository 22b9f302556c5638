//! `tsloom write`: the strict import, with the flags of the official tool. Every column is told, and nothing is guessed.

use std::path::PathBuf;

use clap::Args;
use tsloom::DataType;

use crate::args::{ImportArgs, OnDuplicate, OnError, Target};
use crate::encode::EncodeArgs;
use crate::failure::{Failure, Outcome};
use crate::import;
use crate::input::records::RecordForm;
use crate::input::source::Input;
use crate::text::time::TimeUnit;

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// Name of the table
    #[arg(short, long, value_name = "T")]
    table: String,

    /// A TAG column, repeatable; its type is STRING
    #[arg(long = "tag", num_args = 2, value_names = ["NAME", "STRING"], action = clap::ArgAction::Append)]
    tags: Vec<String>,

    /// A FIELD column and its type, repeatable
    #[arg(long = "field", required = true, num_args = 2, value_names = ["NAME", "TYPE"], action = clap::ArgAction::Append)]
    fields: Vec<String>,

    /// How FIELDs of a type are encoded, repeatable
    #[arg(long = "encoding", num_args = 2, value_names = ["TYPE", "ENC"], action = clap::ArgAction::Append)]
    encodings: Vec<String>,

    /// How FIELDs of a type are compressed, repeatable
    #[arg(long = "compression", num_args = 2, value_names = ["TYPE", "COMP"], action = clap::ArgAction::Append)]
    compressions: Vec<String>,

    /// The CSV, whose header has `time` and exactly the columns that are told
    #[arg(short, long, value_name = "IN.csv", required_unless_present = "stdin", conflicts_with = "stdin")]
    input: Option<PathBuf>,

    /// The CSV comes from standard input
    #[arg(long)]
    stdin: bool,

    /// The new TsFile, which appears when it is complete; there must be none
    #[arg(short, long, visible_alias = "output", value_name = "OUT.tsfile")]
    out: PathBuf,
}

/// Does what `args` ask for; with `is_verbose`, says afterwards what that was.
pub(crate) fn run(args: WriteArgs, is_verbose: bool) -> Outcome {
    let tags = pairs("--tag", &args.tags)?;
    if let Some((name, data_type)) = tags.iter().find(|(_, data_type)| *data_type != DataType::String) {
        return Err(Failure::usage(format_args!("--tag {name} {data_type}: a TAG is a STRING")));
    }
    let types = pairs("--field", &args.fields)?;
    let encode = EncodeArgs::of_types(&args.encodings, &args.compressions)?;
    if args.out.exists() {
        return Err(Failure::failed(format_args!("{} is there already", args.out.display())));
    }
    let path = args.input.unwrap_or_else(|| PathBuf::from("-"));
    let input = Input::open(&path, Some(RecordForm::Csv))?;
    let tags: Vec<String> = tags.into_iter().map(|(name, _)| name).collect();
    check_columns(&input, tags.iter().chain(types.iter().map(|(name, _)| name)))?;
    let import = ImportArgs {
        input: path,
        format: Some(RecordForm::Csv),
        target: Target { out: Some(args.out), store: None },
        table: Some(args.table),
        time: Some("time".to_owned()),
        time_unit: TimeUnit::Ms,
        tags,
        has_all_tags: true,
        types,
        encode,
        nulls: Vec::new(),
        on_duplicate: OnDuplicate::Last,
        on_error: OnError::Stop,
        batch_rows: 1,
        ack: false,
    };
    import::run_opened(&import, input, is_verbose)
}

/// Names and types, two words each.
fn pairs(flag: &str, words: &[String]) -> Outcome<Vec<(String, DataType)>> {
    let pair = |words: &[String]| match words {
        [name, data_type] => {
            let data_type = data_type
                .parse::<DataType>()
                .map_err(|error| Failure::usage(format_args!("{flag} {name} {data_type}: {error}")))?;
            Ok((name.clone(), data_type))
        }
        _ => Err(Failure::usage(format_args!("{flag}: expected NAME and TYPE"))),
    };
    words.chunks(2).map(pair).collect()
}

/// Makes sure that the header has `time` and the columns that are told, and no other.
fn check_columns<'a>(input: &Input, told: impl Iterator<Item = &'a String>) -> Outcome {
    let mut wanted = vec!["time".to_owned()];
    for name in told.map(|name| name.to_lowercase()) {
        if wanted.contains(&name) {
            return Err(Failure::usage(format_args!("column {name} is told twice")));
        }
        wanted.push(name);
    }
    let names: Vec<String> = input.column_names().map(|name| String::from_utf8_lossy(name).trim().to_lowercase()).collect();
    if let Some(name) = names.iter().find(|name| !wanted.contains(name)) {
        return Err(Failure::usage(format_args!("{}: column {name} is neither a --tag nor a --field", input.name())));
    }
    match wanted.iter().find(|name| !names.contains(name)) {
        Some(name) => Err(Failure::usage(format_args!("{} has no column {name}", input.name()))),
        None => Ok(()),
    }
}
