//! Rows as JSON, one object a line, turned into records: one of the names, then one for each row.
//!
//! ```text
//! {"table": "wind", "time": 1, "tags": {"site": "a"}, "fields": {"v": 1.5}}   canonical: what `cat -f ndjson` prints
//! {"time": "1", "site": "a", "v": 1.5}                                        flat: what `cat -f ndjson --flat` prints
//! {"schema": {"table": "wind", "columns": [{"name": "v", "type": "FLOAT", ...}, ...]}}   what `--schema` prints before the rows
//! ```
//!
//! The first row names the columns; a later one may leave some out, which are null there. Numbers stay the digits they are. In the
//! canonical form texts are texts, whatever they look like, and `{"hex": "00ff"}` is a BLOB.

use std::collections::{HashMap, HashSet};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use tsloom::DataType;

use super::record::{CellForm, Record};

/// What the lines so far say about the columns.
#[derive(Debug, Default)]
pub(crate) struct JsonLines {
    shape: Option<Shape>,
    /// Types of the line that describes the table.
    types: Vec<(String, DataType)>,
}

/// What the first row looks like.
#[derive(Debug)]
struct Shape {
    /// Of the canonical form.
    table: Option<String>,
    is_canonical: bool,
    /// The first `tag_count` behind the time are TAGs of the canonical form.
    names: Vec<String>,
    tag_count: usize,
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The first row: the record holds the names, and the same line is to be taken again.
    Names,
    /// A row.
    Row,
    /// It describes the table.
    Schema,
}

impl JsonLines {
    /// The table that the rows are of, if they say so.
    pub(crate) fn table(&self) -> Option<&str> {
        self.shape.as_ref()?.table.as_deref()
    }

    /// The TAG columns, if the rows tell them from the others.
    pub(crate) fn tags(&self) -> Option<&[String]> {
        let shape = self.shape.as_ref().filter(|shape| shape.is_canonical)?;
        Some(&shape.names[1..=shape.tag_count])
    }

    /// The types of columns, as far as they are described.
    pub(crate) fn types(&self) -> &[(String, DataType)] {
        &self.types
    }

    /// Puts one line into `record`.
    pub(crate) fn take(&mut self, line: &[u8], record: &mut Record) -> Result<Line, String> {
        let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
        let members = members(text)?;
        if let [(name, described)] = &members[..]
            && name == "schema"
        {
            self.types = described_types(described)?;
            return Ok(Line::Schema);
        }
        let Some(shape) = &self.shape else {
            let shape = Shape::of(&members)?;
            shape.names.iter().for_each(|name| record.push_cell(name.as_bytes(), CellForm::Plain));
            self.shape = Some(shape);
            return Ok(Line::Names);
        };
        if shape.is_canonical { shape.take_canonical(&members, record) } else { take_cells(&shape.names, &members, record) }?;
        Ok(Line::Row)
    }
}

impl Shape {
    fn of(members: &[Member<'_>]) -> Result<Self, String> {
        let is_canonical = find(members, "fields").is_some_and(|value| value.get().starts_with('{'));
        if !is_canonical {
            if members.is_empty() {
                return Err("the first row names no column".to_owned());
            }
            let names = members.iter().map(|(name, _)| name.clone()).collect();
            return Ok(Self { table: None, is_canonical, names, tag_count: 0 });
        }
        if find(members, "device").is_some() {
            return Err("a row of a device of the tree model; only rows of tables are read".to_owned());
        }
        let names_of = |part| Ok::<_, String>(part_of(members, part)?.into_iter().map(|(name, _)| name));
        let mut names = vec!["time".to_owned()];
        names.extend(names_of("tags")?);
        let tag_count = names.len() - 1;
        names.extend(names_of("fields")?);
        Ok(Self { table: table_of(members)?, is_canonical, names, tag_count })
    }

    fn take_canonical(&self, members: &[Member<'_>], record: &mut Record) -> Result<(), String> {
        let known = ["table", "time", "tags", "fields"];
        if let Some((name, _)) = members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(format!("{name:?} stands beside time, tags and fields"));
        }
        let table = table_of(members)?;
        if table != self.table {
            let named = |table: &Option<String>| table.clone().unwrap_or_else(|| "no table".to_owned());
            return Err(format!("a row of {} among those of {}; one table is read at a time", named(&table), named(&self.table)));
        }
        let (tags, fields) = self.names[1..].split_at(self.tag_count);
        match find(members, "time") {
            Some(time) => push_value("time", time, record)?,
            None => record.push_cell(b"", CellForm::Plain),
        }
        take_cells(tags, &part_of(members, "tags")?, record)?;
        take_cells(fields, &part_of(members, "fields")?, record)
    }
}

/// Appends the cells of the columns `names`.
fn take_cells(names: &[String], members: &[Member<'_>], record: &mut Record) -> Result<(), String> {
    if names.iter().eq(members.iter().map(|(name, _)| name)) {
        return members.iter().try_for_each(|(name, value)| push_value(name, value, record));
    }
    // A line may have millions of members in any order, so none is searched for.
    let mut values: HashMap<&str, &RawValue> = members.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    for name in names {
        match values.remove(name.as_str()) {
            Some(value) => push_value(name, value, record)?,
            None => record.push_cell(b"", CellForm::Plain),
        }
    }
    match members.iter().find(|(name, _)| values.contains_key(name.as_str())) {
        Some((name, _)) => Err(format!("column {name} is not among those of the first row")),
        None => Ok(()),
    }
}

fn push_value(name: &str, value: &RawValue, record: &mut Record) -> Result<(), String> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'n') => record.push_cell(b"", CellForm::Plain),
        Some(b'"') => record.push_cell(string(value)?.as_bytes(), CellForm::Quoted),
        Some(b'{') => match &members(text)?[..] {
            [(key, digits)] if key == "hex" => record.push_cell(string(digits)?.as_bytes(), CellForm::Hex),
            _ => return Err(format!("column {name}: an object that is not {{\"hex\": \"...\"}}")),
        },
        Some(b'[') | None => return Err(format!("column {name}: an array is no cell")),
        Some(_) => record.push_cell(text.as_bytes(), CellForm::Plain),
    }
    Ok(())
}

/// The columns of `{"table": ..., "columns": [{"name": ..., "type": ...}, ...]}`.
fn described_types(described: &RawValue) -> Result<Vec<(String, DataType)>, String> {
    #[derive(Deserialize)]
    struct Described {
        columns: Vec<Column>,
    }
    #[derive(Deserialize)]
    struct Column {
        name: String,
        r#type: String,
    }
    let described: Described = serde_json::from_str(described.get()).map_err(|error| said(&error))?;
    let typed = |column: Column| Ok((column.name, column.r#type.parse::<DataType>().map_err(|error| error.to_string())?));
    described.columns.into_iter().map(typed).collect()
}

type Member<'a> = (String, &'a RawValue);

fn find<'a>(members: &[Member<'a>], name: &str) -> Option<&'a RawValue> {
    members.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
}

fn table_of(members: &[Member<'_>]) -> Result<Option<String>, String> {
    find(members, "table").map(string).transpose()
}

/// The members of the object `part`; none when it is not there.
fn part_of<'a>(row: &[Member<'a>], part: &str) -> Result<Vec<Member<'a>>, String> {
    find(row, part).map_or(Ok(Vec::new()), |value| members(value.get()))
}

fn string(value: &RawValue) -> Result<String, String> {
    serde_json::from_str(value.get()).map_err(|error| said(&error))
}

/// Names and values of an object, in their order.
fn members(text: &str) -> Result<Vec<Member<'_>>, String> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<Member<'de>>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members: Self::Value = Vec::new();
            let mut seen = HashSet::new();
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                if !seen.insert(name.clone()) {
                    return Err(de::Error::custom(format_args!("{name:?} stands there twice")));
                }
                members.push((name, value));
            }
            Ok(members)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let members = deserializer.deserialize_map(Members).map_err(|error| said(&error))?;
    deserializer.end().map_err(|error| said(&error))?;
    Ok(members)
}

/// What the parser says, without its line: a row is a line.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line ") {
        Some((what, _)) => format!("{what} (byte {} of the row)", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of a record and what stood around them.
    type Cells = Vec<(String, CellForm)>;

    fn take(lines: &[&str]) -> Result<(JsonLines, Vec<Cells>), String> {
        let (mut json, mut records) = (JsonLines::default(), Vec::new());
        for line in lines {
            loop {
                let mut record = Record::default();
                let kind = json.take(line.as_bytes(), &mut record)?;
                if kind != Line::Schema {
                    let cell =
                        |raw: super::super::record::RawCell<'_>| (String::from_utf8_lossy(raw.text).into_owned(), raw.form);
                    records.push(record.iter().map(cell).collect());
                }
                if kind != Line::Names {
                    break;
                }
            }
        }
        Ok((json, records))
    }

    fn texts(record: &[(String, CellForm)]) -> Vec<&str> {
        record.iter().map(|(text, _)| text.as_str()).collect()
    }

    #[test]
    fn the_canonical_form_tells_tags_and_keeps_digits() {
        let (json, records) = take(&[
            r#"{"schema": {"table": "w", "columns": [{"name": "site", "type": "STRING", "category": "TAG"}, {"name": "v", "type": "FLOAT"}]}}"#,
            r#"{"table": "w", "time": 1, "tags": {"site": "007"}, "fields": {"v": 1.50, "b": {"hex": "00ff"}}}"#,
            r#"{"table": "w", "time": 2, "tags": {"site": null}, "fields": {"b": null}}"#,
        ])
        .unwrap();
        assert_eq!(json.table(), Some("w"));
        assert_eq!(json.tags(), Some(&["site".to_owned()][..]));
        assert_eq!(json.types(), [("site".to_owned(), DataType::String), ("v".to_owned(), DataType::Float)]);
        assert_eq!(texts(&records[0]), ["time", "site", "v", "b"]);
        assert_eq!(texts(&records[1]), ["1", "007", "1.50", "00ff"]);
        assert_eq!((records[1][1].1, records[1][2].1, records[1][3].1), (CellForm::Quoted, CellForm::Plain, CellForm::Hex));
        assert_eq!(texts(&records[2]), ["2", "", "", ""]);
    }

    #[test]
    fn the_flat_form_has_its_columns_in_the_order_of_the_first_row() {
        let (json, records) = take(&[r#"{"time":"1","site":"a","v":1e3}"#, r#"{"v":2,"time":"2"}"#]).unwrap();
        assert_eq!((json.table(), json.tags()), (None, None));
        assert_eq!(texts(&records[0]), ["time", "site", "v"]);
        assert_eq!(texts(&records[2]), ["2", "", "2"]);
    }

    #[test]
    fn members_stand_in_any_order() {
        let (_, records) = take(&[r#"{"time":1,"a":2,"b":3}"#, r#"{"b":6,"a":5,"time":4}"#, r#"{"b":8,"time":7}"#]).unwrap();
        assert_eq!(texts(&records[2]), ["4", "5", "6"]);
        assert_eq!(texts(&records[3]), ["7", "", "8"]);
    }

    #[test]
    fn what_is_no_row_is_named() {
        let row = r#"{"table": "w", "time": 1, "tags": {}, "fields": {"v": 1}}"#;
        for (lines, expected) in [
            (&["{}"][..], "the first row names no column"),
            (&["[1]"][..], "invalid type: sequence, expected an object (byte 0 of the row)"),
            (&[r#"{"time": 1"#], "EOF while parsing an object (byte 10 of the row)"),
            (&[r#"{"time": 1} x"#], "trailing characters (byte 13 of the row)"),
            (&[r#"{"time": 1, "time": 2}"#], "\"time\" stands there twice (byte 22 of the row)"),
            (&[r#"{"time": 1, "v": [2]}"#], "column v: an array is no cell"),
            (&[r#"{"time": 1, "v": {"a": 2}}"#], "column v: an object that is not {\"hex\": \"...\"}"),
            (&[r#"{"time": 1}"#, r#"{"time": 1, "w": 2}"#], "column w is not among those of the first row"),
            (
                &[row, r#"{"table": "x", "time": 1, "tags": {}, "fields": {}}"#],
                "a row of x among those of w; one table is read at a time",
            ),
            (&[row, r#"{"table": "w", "time": 1, "extra": 3, "fields": {}}"#], "\"extra\" stands beside time, tags and fields"),
            (
                &[r#"{"device": "root.d", "time": 1, "fields": {}}"#],
                "a row of a device of the tree model; only rows of tables are read",
            ),
        ] {
            assert_eq!(take(lines).err().as_deref(), Some(expected), "{lines:?}");
        }
        assert!(take(&[&format!("{}1{}", "[".repeat(1 << 20), "]".repeat(1 << 20))]).is_err());
    }
}
