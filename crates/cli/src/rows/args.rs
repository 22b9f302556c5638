//! The flags by which verbs choose tables, devices and columns, and those by which `cat`, `head`, `export` and `plot` choose rows.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use tsloom::model::{CompareOp, TimeRange};

use crate::args::parse_pair;
use crate::failure::{Failure, Outcome};

/// Which table or device, and which columns of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ObjectArgs {
    /// Only this table, repeatable
    #[arg(short, long = "table", value_name = "T")]
    pub(crate) tables: Vec<String>,

    /// Only this device of the tree model, such as root.sg.d1, repeatable
    #[arg(short, long = "device", value_name = "ID", conflicts_with = "tables")]
    pub(crate) devices: Vec<String>,

    /// Only this column, repeatable
    #[arg(short = 'm', long = "column", visible_alias = "measurements", value_name = "NAME")]
    column: Vec<String>,

    /// Only these columns, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    columns: Vec<String>,
}

impl ObjectArgs {
    /// The columns that are asked for, in the order of the command line; none: all.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.column.iter().chain(&self.columns).map(String::as_str)
    }

    /// True when a table or device is named.
    pub(crate) fn is_named(&self) -> bool {
        !self.tables.is_empty() || !self.devices.is_empty()
    }
}

/// Which rows and columns.
#[derive(Clone, Debug, Args)]
pub(crate) struct RowArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,

    /// First time, included: an integer in the unit of the file, or RFC 3339
    #[arg(long, visible_alias = "from", value_name = "T", value_parser = parse_time, allow_negative_numbers = true)]
    pub(crate) start: Option<i64>,

    /// Last time, included
    #[arg(long, visible_alias = "to", value_name = "T", value_parser = parse_time, allow_negative_numbers = true)]
    pub(crate) end: Option<i64>,

    /// Only devices whose TAG has this value, repeatable
    #[arg(long = "where-tag", value_name = "K=V", value_parser = parse_pair)]
    pub(crate) where_tags: Vec<(String, String)>,

    /// Only devices whose TAG meets this, repeatable; OP is eq, neq, lt, le, gt, ge, regexp, is-null or not-null
    #[arg(long = "tag-filter", num_args = 2..=3, value_names = ["C", "OP", "V"])]
    pub(crate) tag_filters: Vec<String>,

    /// Whether all conditions on tags must hold, or any
    #[arg(long, value_enum, default_value_t = TagMatch::All, value_name = "HOW")]
    pub(crate) tag_match: TagMatch,
}

/// Which of the chosen rows are printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WindowArgs {
    /// At most this many rows
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,

    /// Leave out the first rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
}

impl WindowArgs {
    /// How many rows are left out, and how many are printed then.
    pub(crate) fn window(self) -> (u64, Option<u64>) {
        (self.offset, self.limit)
    }
}

/// How conditions on tags are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TagMatch {
    /// All hold
    All,
    /// One holds
    Any,
}

/// A condition on a TAG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TagTest {
    Compare(String, CompareOp, String),
    Matches(String, String),
    IsNull(String),
    NotNull(String),
}

impl RowArgs {
    /// The columns that are asked for; `None`: all.
    pub(crate) fn wanted_columns(&self) -> Option<Vec<String>> {
        let columns: Vec<String> = self.object.columns().map(str::to_owned).collect();
        (!columns.is_empty()).then_some(columns)
    }

    pub(crate) fn time(&self) -> TimeRange {
        TimeRange { start: self.start.unwrap_or(i64::MIN), end: self.end.unwrap_or(i64::MAX) }
    }

    /// The conditions on tags. Asking for them before a file is opened finds out what makes no sense.
    pub(crate) fn tag_tests(&self) -> Outcome<Vec<TagTest>> {
        let equals = |(name, value): &(String, String)| TagTest::Compare(name.clone(), CompareOp::Eq, value.clone());
        let mut tests: Vec<TagTest> = self.where_tags.iter().map(equals).collect();
        let mut words = self.tag_filters.iter();
        while let Some(column) = words.next() {
            tests.push(tag_test(column.clone(), &mut words)?);
        }
        Ok(tests)
    }
}

/// The words of the command line, with an empty value after each `--tag-filter C is-null`: those tests take none, and clap would take
/// the word that follows, which in scripts of the official tool is the file.
pub(crate) fn spelled_out(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut spelled: Vec<OsString> = Vec::new();
    let mut is_over = false;
    for word in words {
        is_over |= word == "--";
        let takes_none = !is_over && (word == "is-null" || word == "not-null");
        let follows = spelled.len().checked_sub(2).is_some_and(|flag| spelled[flag] == "--tag-filter");
        spelled.push(word);
        if takes_none && follows {
            spelled.push(OsString::new());
        }
    }
    spelled
}

fn tag_test<'a>(column: String, words: &mut impl Iterator<Item = &'a String>) -> Outcome<TagTest> {
    let name = words.next().map_or("", String::as_str);
    let op = match name {
        "is-null" | "not-null" => {
            // The empty value of `spelled_out`.
            words.next();
            return Ok(if name == "is-null" { TagTest::IsNull(column) } else { TagTest::NotNull(column) });
        }
        "eq" => Some(CompareOp::Eq),
        "neq" => Some(CompareOp::Ne),
        "lt" => Some(CompareOp::Lt),
        "le" => Some(CompareOp::Le),
        "gt" => Some(CompareOp::Gt),
        "ge" => Some(CompareOp::Ge),
        "regexp" => None,
        _ => {
            return Err(Failure::usage(format_args!(
                "--tag-filter {column} {name}: expected eq, neq, regexp, lt, le, gt, ge, is-null or not-null"
            )));
        }
    };
    let Some(value) = words.next() else {
        return Err(Failure::usage(format_args!("--tag-filter {column} {name}: a value is missing")));
    };
    Ok(match op {
        Some(op) => TagTest::Compare(column, op, value.clone()),
        None => TagTest::Matches(column, value.clone()),
    })
}

pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    crate::text::time::parse(text).map_err(|error| error.to_string())
}
