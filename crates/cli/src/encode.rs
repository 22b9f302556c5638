//! `--encoding` and `--compression`: how the columns of a new file are written.

use clap::Args;
use tsloom::file::{EncodingChoice, WriterOptions};
use tsloom::model::{ColumnCategory, ColumnSchema, Compression, Encoding};
use tsloom::{DataType, TableSchema};

use crate::failure::{Failure, Outcome};

/// How columns are written.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EncodeArgs {
    /// An encoding, or `auto`: for all columns that take it, for a type (DOUBLE=CHIMP) or a column (power_kw=GORILLA), repeatable
    #[arg(long = "encoding", value_name = "[WHAT=]ENC", value_parser = parse_encoding)]
    encodings: Vec<Rule<Option<Encoding>>>,

    /// A compression: for all columns, for a type (DOUBLE=ZSTD) or a column, repeatable
    #[arg(long = "compression", value_name = "[WHAT=]COMP", value_parser = parse_compression)]
    compressions: Vec<Rule<Compression>>,
}

/// What is chosen for which columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule<T> {
    /// A column or a type; `None` is all columns.
    of: Option<String>,
    choice: T,
}

fn split<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Rule<T>, String> {
    // The last '=' parts them: a column may be named "a=b", an encoding may not.
    let (of, name) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("expected NAME or WHAT=NAME".to_owned()),
        Some((of, name)) => (Some(of.to_owned()), name),
        None => (None, text),
    };
    Ok(Rule { of, choice: parse(name)? })
}

fn parse_encoding(text: &str) -> Result<Rule<Option<Encoding>>, String> {
    split(text, |name| match name.eq_ignore_ascii_case("auto") {
        true => Ok(None),
        false => name.parse().map(Some).map_err(|error: tsloom::Error| error.to_string()),
    })
}

fn parse_compression(text: &str) -> Result<Rule<Compression>, String> {
    split(text, |name| name.parse().map_err(|error: tsloom::Error| error.to_string()))
}

impl<T: Copy> Rule<T> {
    /// Names of tables are lower case; those of the tree model keep theirs.
    fn is_of_column(&self, column: &ColumnSchema) -> bool {
        self.of.as_ref().is_some_and(|of| *of == column.name || of.to_lowercase() == column.name)
    }

    fn is_of_type(&self, data_type: DataType) -> bool {
        self.of.as_ref().is_some_and(|of| of.parse::<DataType>().is_ok_and(|of| of == data_type))
    }
}

/// The rule for a column: one that names it goes before one of its type, and that before one for all; of equals the last.
fn rule_of<'a, T: Copy>(rules: &'a [Rule<T>], column: &ColumnSchema) -> Option<&'a Rule<T>> {
    let named = rules.iter().rfind(|rule| rule.is_of_column(column));
    let typed = || rules.iter().rfind(|rule| rule.is_of_type(column.data_type));
    named.or_else(typed).or_else(|| rules.iter().rfind(|rule| rule.of.is_none()))
}

impl EncodeArgs {
    /// Rules for types, each a pair of a type and an encoding or a compression.
    pub(crate) fn of_types(encodings: &[String], compressions: &[String]) -> Outcome<Self> {
        fn rules<T>(flag: &str, words: &[String], parse: fn(&str) -> Result<Rule<T>, String>) -> Outcome<Vec<Rule<T>>> {
            let rule = |pair: &[String]| {
                let [data_type, name] = pair else {
                    return Err(Failure::usage(format_args!("{flag}: expected TYPE and a name")));
                };
                let usage = |error: &dyn std::fmt::Display| Failure::usage(format_args!("{flag} {data_type} {name}: {error}"));
                data_type.parse::<DataType>().map_err(|error| usage(&error))?;
                parse(&format!("{data_type}={name}")).map_err(|error| usage(&error))
            };
            words.chunks(2).map(rule).collect()
        }
        Ok(Self {
            encodings: rules("--encoding", encodings, parse_encoding)?,
            compressions: rules("--compression", compressions, parse_compression)?,
        })
    }

    /// The table with its FIELDs as they are to be written.
    pub(crate) fn apply(&self, table: &TableSchema) -> Outcome<TableSchema> {
        let mut columns = table.columns().to_vec();
        self.apply_to(&mut columns)?;
        TableSchema::from_stored(table.name(), columns).map_err(Failure::failed)
    }

    /// The FIELDs among these columns as they are to be written.
    pub(crate) fn apply_to(&self, columns: &mut [ColumnSchema]) -> Outcome {
        for column in columns.iter_mut().filter(|column| column.category == ColumnCategory::Field) {
            if let Some(rule) = rule_of(&self.encodings, column)
                && let Some(encoding) = rule.choice
            {
                if column.data_type.allows(encoding) {
                    column.encoding = encoding;
                } else if rule.of.is_some() {
                    return Err(Failure::usage(format_args!(
                        "--encoding {}={encoding}: column {} is {}, which does not take it",
                        rule.of.as_deref().unwrap_or_default(),
                        column.name,
                        column.data_type
                    )));
                }
            }
            if let Some(rule) = rule_of(&self.compressions, column) {
                column.compression = rule.choice;
            }
        }
        Ok(())
    }

    /// Refuses rules for a column that is not there.
    pub(crate) fn check(&self, has_column: impl Fn(&str) -> bool) -> Outcome {
        let encodings = self.encodings.iter().filter_map(|rule| Some(("--encoding", rule.of.as_ref()?)));
        let compressions = self.compressions.iter().filter_map(|rule| Some(("--compression", rule.of.as_ref()?)));
        for (flag, of) in encodings.chain(compressions) {
            if of.parse::<DataType>().is_err() && !has_column(of) {
                return Err(Failure::usage(format_args!("{flag} {of}: there is no such column, and no such type")));
            }
        }
        Ok(())
    }

    /// The options for a writer of tables and devices to which the rules were applied.
    pub(crate) fn options(&self) -> Outcome<WriterOptions> {
        let mut builder = WriterOptions::builder();
        if let Some(rule) = self.compressions.iter().rfind(|rule| rule.of.is_none()) {
            builder = builder.time_compression(rule.choice);
        }
        for Rule { of, choice } in &self.encodings {
            // What is named stands in the schemas by now.
            let choice = if choice.is_none() { EncodingChoice::Auto } else { EncodingChoice::Schema };
            builder = match of {
                None => builder.encoding(choice),
                Some(of) => {
                    if let Ok(data_type) = of.parse() {
                        builder = builder.type_encoding(data_type, choice);
                    }
                    builder.column_encoding(of.to_lowercase(), choice).column_encoding(of, choice)
                }
            };
        }
        builder.build().map_err(Failure::failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(encodings: &[&str], compressions: &[&str]) -> EncodeArgs {
        EncodeArgs {
            encodings: encodings.iter().map(|text| parse_encoding(text).unwrap()).collect(),
            compressions: compressions.iter().map(|text| parse_compression(text).unwrap()).collect(),
        }
    }

    fn table() -> TableSchema {
        let builder = TableSchema::builder("t").tag("id").field("v", DataType::Double).field("w", DataType::Double);
        builder.field("n", DataType::Int32).field("s", DataType::String).build().unwrap()
    }

    fn check(encodings: &[&str], compressions: &[&str], expected: &str) {
        let table = args(encodings, compressions).apply(&table()).unwrap();
        let column = |column: &ColumnSchema| format!("{} {} {}", column.name, column.encoding, column.compression);
        assert_eq!(table.columns()[1..].iter().map(column).collect::<Vec<_>>().join(", "), expected);
    }

    #[test]
    fn the_nearest_rule_wins() {
        check(&[], &[], "v GORILLA LZ4, w GORILLA LZ4, n TS_2DIFF LZ4, s PLAIN LZ4");
        check(&["RLE", "DOUBLE=chimp", "W=PLAIN"], &["zstd", "s=GZIP"], "v CHIMP ZSTD, w PLAIN ZSTD, n RLE ZSTD, s PLAIN GZIP");
        check(&["auto"], &[], "v GORILLA LZ4, w GORILLA LZ4, n TS_2DIFF LZ4, s PLAIN LZ4");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(args(&["s=GORILLA"], &[]).apply(&table()).is_err());
        let has = |name: &str| table().column_index(name).is_some();
        assert!(args(&[], &["x=ZSTD"]).check(has).is_err());
        assert!(args(&["FLOAT=CHIMP"], &["v=ZSTD"]).check(has).is_ok());
        assert!(parse_encoding("v=NONE").is_err() && parse_encoding("=RLE").is_err() && parse_compression("v").is_err());
    }
}
