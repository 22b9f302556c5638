//! From the header, what was found in the rows and what was told: the table, and where each of its columns comes from.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tsloom::model::{ColumnCategory, ColumnSchema};
use tsloom::{DataType, TableSchema};

use super::cell::Reading;
use super::infer::Guesses;
use super::record::Record;
use crate::failure::{Failure, Outcome};

/// What the command line says about the columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'a> {
    /// The time column.
    pub(crate) time: Option<&'a str>,
    /// TAG columns.
    pub(crate) tags: &'a [String],
    /// Whether there may be others, to be found by what is in them.
    pub(crate) finds_tags: bool,
    /// Types of columns.
    pub(crate) types: &'a [(String, DataType)],
}

/// The names of the columns of an input, which of them is the time, and what was told about each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    names: Vec<String>,
    /// Columns by their names in lower case; of two `time`s the first, and the FIELD.
    by_name: HashMap<String, (usize, Option<usize>)>,
    time: usize,
    told: Vec<ToldColumn>,
}

/// What was told about one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ToldColumn {
    is_tag: bool,
    data_type: Option<DataType>,
}

impl Header {
    /// From the first record of `input`.
    pub(crate) fn new(input: &str, record: &Record, told: Told<'_>) -> Outcome<Self> {
        let line = record.line();
        let mut names: Vec<String> = Vec::with_capacity(record.len());
        let mut by_name = HashMap::with_capacity(record.len());
        for (index, cell) in record.iter().enumerate() {
            let name = std::str::from_utf8(cell.text)
                .map_err(|_| Failure::unreadable(format_args!("{input}:{line}: the name of column {} is not UTF-8", index + 1)))?
                .trim();
            if name.is_empty() {
                return Err(Failure::unreadable(format_args!("{input}:{line}: column {} of the header has no name", index + 1)));
            }
            match by_name.entry(name.to_lowercase()) {
                Entry::Vacant(entry) => {
                    entry.insert((index, None));
                }
                // What `cat` prints of a table with a FIELD `time`: the first is the time, the other the FIELD.
                Entry::Occupied(mut entry) if entry.key() == "time" && *entry.get() == (0, None) => {
                    entry.insert((0, Some(index)));
                }
                Entry::Occupied(_) => {
                    return Err(Failure::unreadable(format_args!(
                        "{input}:{line}: the header names column {name} twice (case does not count)"
                    )));
                }
            }
            names.push(name.to_owned());
        }
        let mut header = Self { told: vec![ToldColumn::default(); names.len()], names, by_name, time: usize::MAX };
        header.time = match told.time {
            Some(name) => header.require(input, name, "--time")?,
            None => header.find("time").unwrap_or(0),
        };
        header.note_told(input, told)?;
        Ok(header)
    }

    fn note_told(&mut self, input: &str, told: Told<'_>) -> Outcome {
        for tag in told.tags {
            let column = self.require(input, tag, "--tag")?;
            if column == self.time {
                return Err(Failure::usage(format_args!("--tag {tag}: this is the time column")));
            }
            self.told[column].is_tag = true;
        }
        for (name, data_type) in told.types {
            let column = self.require(input, name, "--type")?;
            if column == self.time {
                return Err(Failure::usage(format_args!("--type {name}={data_type}: this is the time column")));
            }
            if self.told[column].is_tag && *data_type != DataType::String {
                return Err(Failure::usage(format_args!("--type {name}={data_type}: a TAG is a STRING")));
            }
            if self.told[column].data_type.replace(*data_type).is_some_and(|other| other != *data_type) {
                return Err(Failure::usage(format_args!("--type {name}: two types are told")));
            }
        }
        Ok(())
    }

    /// Number of columns, the time included.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// All names, as they stand in the file.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Which column is the time.
    pub(crate) fn time(&self) -> usize {
        self.time
    }

    /// A column by name; of two `time`s the one that is not the time.
    fn find(&self, name: &str) -> Option<usize> {
        let (first, second) = *self.by_name.get(&name.to_lowercase())?;
        Some(second.filter(|_| first == self.time).unwrap_or(first))
    }

    fn require(&self, input: &str, name: &str, flag: &str) -> Outcome<usize> {
        self.find(name).ok_or_else(|| {
            Failure::usage(format_args!("{flag} {name}: {input} has no such column; it has {}", self.names.join(", ")))
        })
    }

    /// True when the rows need not be looked at to know the table.
    pub(crate) fn is_all_told(&self, told: Told<'_>) -> bool {
        let is_told = |(column, told): (usize, &ToldColumn)| column == self.time || told.is_tag || told.data_type.is_some();
        !told.finds_tags && self.told.iter().enumerate().all(is_told)
    }
}

/// Where a column of the table comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanColumn {
    /// The column of the CSV; `None` leaves it null.
    pub(crate) source: Option<usize>,
    /// How its cells are read.
    pub(crate) reading: Reading,
}

/// How records become rows.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The table.
    pub(crate) schema: TableSchema,
    /// One entry for each column of the table.
    pub(crate) columns: Vec<PlanColumn>,
    /// The header it was made for.
    pub(crate) header: Header,
}

impl Plan {
    /// The plan for a new table.
    pub(crate) fn for_new_table(input: &str, table: &str, header: Header, guesses: &Guesses, told: Told<'_>) -> Outcome<Self> {
        let mut before_numbers = told.finds_tags;
        let mut builder = TableSchema::builder(table);
        let mut columns = Vec::with_capacity(header.len() - 1);
        for column in (0..header.len()).filter(|column| *column != header.time) {
            let ToldColumn { is_tag: is_told_tag, data_type: told_type } = header.told[column];
            let data_type = if is_told_tag { DataType::String } else { told_type.unwrap_or_else(|| guesses.data_type(column)) };
            before_numbers &= !is_number(data_type);
            let is_found_tag = before_numbers && data_type == DataType::String && guesses.has_value(column);
            let name = &header.names[column];
            builder = builder.column(if is_told_tag || is_found_tag {
                ColumnSchema::tag(name)
            } else {
                ColumnSchema::field(name, data_type)
            });
            let reading = if told_type.is_some() { Reading::Told } else { Reading::Strict };
            columns.push(PlanColumn { source: Some(column), reading });
        }
        let schema = builder.build().map_err(|error| Failure::unreadable(format_args!("{input}: {error}")))?;
        Ok(Self { schema, columns, header })
    }

    /// The plan for a table that is there already: its types hold, a FIELD that the CSV has not stays null.
    pub(crate) fn for_table(input: &str, table: &TableSchema, header: Header) -> Outcome<Self> {
        for (index, name) in header.names.iter().enumerate() {
            if index == header.time {
                continue;
            }
            let column = table.require_column(name).map_err(|error| Failure::failed(format_args!("{input}: {error}")))?;
            let ColumnSchema { data_type, category, .. } = &table.columns()[column];
            if header.told[index].data_type.is_some_and(|told| told != *data_type) {
                return Err(Failure::failed(format_args!("column {name} of table {} is {data_type}", table.name())));
            }
            if header.told[index].is_tag && *category != ColumnCategory::Tag {
                return Err(Failure::failed(format_args!("column {name} of table {} is no TAG", table.name())));
            }
        }
        let mut columns = Vec::with_capacity(table.columns().len());
        for column in table.columns() {
            let source = header.find(&column.name);
            if source.is_none() && column.category == ColumnCategory::Tag {
                return Err(Failure::failed(format_args!(
                    "{input} has no column for TAG {} of table {}",
                    column.name,
                    table.name()
                )));
            }
            if source == Some(header.time) && column.category != ColumnCategory::Time {
                return Err(Failure::failed(format_args!(
                    "{input}: {} is a column of table {}, not its time (use --time)",
                    column.name,
                    table.name()
                )));
            }
            columns.push(PlanColumn { source: source.filter(|index| *index != header.time), reading: Reading::Fixed });
        }
        Ok(Self { schema: table.clone(), columns, header })
    }
}

fn is_number(data_type: DataType) -> bool {
    matches!(data_type, DataType::Int32 | DataType::Int64 | DataType::Float | DataType::Double)
}

#[cfg(test)]
mod tests {
    use super::super::cell::Nulls;
    use super::super::records::{RecordForm, Records};
    use super::*;

    struct Flags {
        time: Option<&'static str>,
        tags: Vec<String>,
        types: Vec<(String, DataType)>,
    }

    fn flags() -> Flags {
        Flags { time: None, tags: Vec::new(), types: Vec::new() }
    }

    impl Flags {
        fn told(&self) -> Told<'_> {
            Told { time: self.time, tags: &self.tags, finds_tags: self.tags.is_empty(), types: &self.types }
        }
    }

    fn header(text: &str, flags: &Flags) -> Outcome<Header> {
        let mut record = Record::default();
        assert!(Records::of(RecordForm::Csv, text.as_bytes()).read(&mut record).unwrap());
        Header::new("in.csv", &record, flags.told())
    }

    /// Tags in brackets, with types: `[site] temp:DOUBLE`.
    fn describe(schema: &TableSchema) -> String {
        let columns = schema.columns().iter().map(|column| match column.category {
            ColumnCategory::Tag => format!("[{}]", column.name),
            _ => format!("{}:{}", column.name, column.data_type),
        });
        columns.collect::<Vec<_>>().join(" ")
    }

    fn plan(csv: &str, flags: &Flags) -> Outcome<Plan> {
        let header = header(csv, flags)?;
        let mut guesses = Guesses::new(header.len(), false);
        let mut records = Records::of(RecordForm::Csv, csv.as_bytes());
        let mut record = Record::default();
        records.read(&mut record).unwrap();
        while records.read(&mut record).unwrap() {
            guesses.observe(&record, &Nulls::default());
        }
        Plan::for_new_table("in.csv", "T", header, &guesses, flags.told())
    }

    fn check(csv: &str, flags: &Flags, expected: &str) {
        assert_eq!(describe(&plan(csv, flags).unwrap().schema), expected, "{csv:?}");
    }

    fn check_refused(outcome: Outcome<impl Sized>, expected: &str) {
        match outcome {
            Err(Failure::Said { message, .. }) => assert_eq!(message, expected),
            _ => panic!("expected {expected:?}"),
        }
    }

    #[test]
    fn text_before_the_first_number_is_a_tag() {
        check("time,Site,on,temp,note\n1,Oslo,true,3.5,cold\n", &flags(), "[site] on:BOOLEAN temp:DOUBLE note:STRING");
        check("temp,site\n1,Oslo\n", &flags(), "[site]");
        check("time,temp,site\n1,1.5,Oslo\n", &flags(), "temp:DOUBLE site:STRING");
        check("time,id,v\n1,007,5\n", &flags(), "[id] v:INT64");
    }

    #[test]
    fn a_column_without_any_value_is_no_tag() {
        check("time,site,empty,temp\n1,Oslo,,3.5\n", &flags(), "[site] empty:STRING temp:DOUBLE");
    }

    #[test]
    fn told_tags_are_all_the_tags() {
        let told = Flags { tags: vec!["unit".to_owned()], ..flags() };
        check("time,site,unit,temp\n1,Oslo,7,3.5\n", &told, "site:STRING [unit] temp:DOUBLE");
    }

    #[test]
    fn told_types_win() {
        let told = Flags { types: vec![("TEMP".to_owned(), DataType::Float), ("id".to_owned(), DataType::String)], ..flags() };
        check("time,id,temp\n1,7,3.5\n", &told, "[id] temp:FLOAT");
    }

    #[test]
    fn the_time_is_named_so_or_first() {
        assert_eq!(header("a,Time,b", &flags()).unwrap().time(), 1);
        assert_eq!(header("a,b", &flags()).unwrap().time(), 0);
        assert_eq!(header("a,time,ts", &Flags { time: Some("TS"), ..flags() }).unwrap().time(), 2);
    }

    #[test]
    fn a_second_time_behind_the_first_is_a_field() {
        check("time,site,time\n1,Oslo,2.5\n", &flags(), "[site] time:DOUBLE");
        assert_eq!(header("time,time", &flags()).unwrap().time(), 0);
        check_refused(header("a,time,Time", &flags()), "in.csv:1: the header names column Time twice (case does not count)");
        check_refused(header("time,time,time", &flags()), "in.csv:1: the header names column time twice (case does not count)");
        let table = TableSchema::builder("t").field("time", DataType::Double).build().unwrap();
        let plan = Plan::for_table("in.csv", &table, header("time,time", &flags()).unwrap()).unwrap();
        assert_eq!(plan.columns[0].source, Some(1));
    }

    #[test]
    fn names_must_make_sense() {
        check_refused(header("time,a,A", &flags()), "in.csv:1: the header names column A twice (case does not count)");
        check_refused(header("time,,b", &flags()), "in.csv:1: column 2 of the header has no name");
        let told = Flags { tags: vec!["c".to_owned()], ..flags() };
        check_refused(header("time,a,b", &told), "--tag c: in.csv has no such column; it has time, a, b");
        let told = Flags { tags: vec!["time".to_owned()], ..flags() };
        check_refused(header("time,a", &told), "--tag time: this is the time column");
        let told = Flags { tags: vec!["a".to_owned()], types: vec![("a".to_owned(), DataType::Int64)], ..flags() };
        check_refused(header("time,a", &told), "--type a=INT64: a TAG is a STRING");
    }

    #[test]
    fn a_table_that_is_there_keeps_its_types() {
        let table = TableSchema::builder("t").tag("site").field("temp", DataType::Double).field("rain", DataType::Int32).build();
        let table = table.unwrap();
        let plan = |csv: &str, flags: &Flags| Plan::for_table("in.csv", &table, header(csv, flags)?);
        let sources = |plan: &Plan| plan.columns.iter().map(|column| column.source).collect::<Vec<_>>();
        assert_eq!(sources(&plan("TEMP,time,site", &flags()).unwrap()), [Some(2), Some(0), None]);
        check_refused(plan("time,site,gust", &flags()), "in.csv: table t has no column gust; it has site, temp, rain");
        check_refused(plan("time,temp", &flags()), "in.csv has no column for TAG site of table t");
        let told = Flags { types: vec![("rain".to_owned(), DataType::Int64)], ..flags() };
        check_refused(plan("time,site,rain", &told), "column rain of table t is INT32");
        check_refused(plan("rain,site,temp", &flags()), "in.csv: rain is a column of table t, not its time (use --time)");
    }

    #[test]
    fn a_sample_is_needed_unless_all_is_told() {
        let told = Flags { tags: vec!["a".to_owned()], types: vec![("b".to_owned(), DataType::Int64)], ..flags() };
        assert!(header("time,a,b", &told).unwrap().is_all_told(told.told()));
        assert!(!header("time,a,b,c", &told).unwrap().is_all_told(told.told()));
        assert!(!header("time,a,b", &flags()).unwrap().is_all_told(flags().told()));
    }
}
