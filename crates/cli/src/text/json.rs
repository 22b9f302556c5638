//! Values and rows as JSON lines, lossless, in the words of Python's `json.dumps(row, ensure_ascii=False)`.
//!
//! ```text
//! {"table": "wind", "time": 1388534400000, "tags": {"turbine": "R80736"}, "fields": {"power_kw": 642.78}}
//! ```
//!
//! | type | printed as |
//! |---|---|
//! | BOOLEAN | `true`, `false` |
//! | INT32, INT64, TIMESTAMP | integer |
//! | FLOAT, DOUBLE | shortest decimal (see `number`), or `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | TEXT, STRING | text; `{"hex": "..."}` should a file hold bytes that are no UTF-8 |
//! | BLOB | `{"hex": "..."}` |
//! | DATE | `"YYYY-MM-DD"`; the stored integer when it is no real day |

use std::io::Write;

use tsloom::block::{Block, Column};
use tsloom::model::{ColumnCategory, ColumnSchema, Date};
use tsloom::{DataType, TableSchema, Value};

use super::number;

/// Appends a text with its quotes.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(&mut *out, text).expect("a Vec takes every byte, and every text is JSON");
}

/// Appends the cell of a column of this type.
pub(crate) fn push_value(out: &mut Vec<u8>, data_type: DataType, value: Value<'_>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::Int32(value) => push_int32(out, data_type, value),
        Value::Int64(value) => push_integer(out, value),
        Value::Float(value) => match number::special(value.into()) {
            Some(word) => push_text(out, word),
            None => number::push_f32(out, value),
        },
        Value::Double(value) => match number::special(value) {
            Some(word) => push_text(out, word),
            None => number::push_f64(out, value),
        },
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if data_type != DataType::Blob => push_text(out, text),
            _ => push_hex_object(out, bytes),
        },
    }
}

fn push_int32(out: &mut Vec<u8>, data_type: DataType, value: i32) {
    match Date::from_yyyymmdd(value) {
        Some(date) if data_type == DataType::Date => write!(out, "\"{date}\"").expect("a Vec takes every byte"),
        _ => push_integer(out, value.into()),
    }
}

/// Appends a decimal integer.
pub(crate) fn push_integer(out: &mut Vec<u8>, value: i64) {
    write!(out, "{value}").expect("a Vec takes every byte");
}

/// Appends bytes as lower-case hex digits.
pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(2 * bytes.len());
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

fn push_hex_object(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"{\"hex\": \"");
    push_hex(out, bytes);
    out.extend_from_slice(b"\"}");
}

/// Appends the line that describes a table.
pub(crate) fn push_schema_line(out: &mut Vec<u8>, schema: &TableSchema) {
    out.extend_from_slice(b"{\"schema\": {\"table\": ");
    push_text(out, schema.name());
    out.extend_from_slice(b", \"columns\": [");
    for (index, column) in schema.columns().iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
        }
        push_column(out, column);
    }
    out.extend_from_slice(b"]}}\n");
}

fn push_column(out: &mut Vec<u8>, column: &ColumnSchema) {
    out.extend_from_slice(b"{\"name\": ");
    push_text(out, &column.name);
    write!(out, ", \"type\": \"{}\", \"category\": \"{}\"}}", column.data_type, column.category).expect("a Vec takes every byte");
}

/// The fixed parts of the rows of one table, made once; a row only fills in its values.
pub(crate) struct RowForm {
    /// `{"table": "wind", "time": `
    head: Vec<u8>,
    tags: Vec<Member>,
    fields: Vec<Member>,
}

/// One member of `tags` or `fields`.
struct Member {
    /// `"power_kw": `, with the comma before it when it is not the first.
    key: Vec<u8>,
    /// Position in the block.
    column: usize,
}

impl RowForm {
    /// The form of rows of `schema` whose block has columns of these names, in this order.
    pub(crate) fn new(schema: &TableSchema, names: &[&str]) -> Self {
        let mut head = b"{\"table\": ".to_vec();
        push_text(&mut head, schema.name());
        head.extend_from_slice(b", \"time\": ");
        let mut form = Self { head, tags: Vec::new(), fields: Vec::new() };
        for (position, name) in names.iter().enumerate() {
            let category = schema.column_index(name).map(|column| schema.columns()[column].category);
            let members = if category == Some(ColumnCategory::Tag) { &mut form.tags } else { &mut form.fields };
            push_member(members, name, position);
        }
        form
    }

    /// Appends one row and its line end.
    pub(crate) fn push_row(&self, out: &mut Vec<u8>, block: &Block, row: usize) {
        out.extend_from_slice(&self.head);
        push_integer(out, block.times()[row]);
        out.extend_from_slice(b", \"tags\": {");
        push_members(out, &self.tags, block.columns(), row);
        out.extend_from_slice(b"}, \"fields\": {");
        push_members(out, &self.fields, block.columns(), row);
        out.extend_from_slice(b"}}\n");
    }
}

fn push_member(members: &mut Vec<Member>, name: &str, column: usize) {
    let mut key = if members.is_empty() { Vec::new() } else { b", ".to_vec() };
    push_text(&mut key, name);
    key.extend_from_slice(b": ");
    members.push(Member { key, column });
}

fn push_members(out: &mut Vec<u8>, members: &[Member], columns: &[Column], row: usize) {
    for member in members {
        let column = &columns[member.column];
        out.extend_from_slice(&member.key);
        push_value(out, column.data_type(), column.value(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data_type: DataType, value: impl Into<Value<'static>>, expected: &str) {
        let mut out = Vec::new();
        push_value(&mut out, data_type, value.into());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn every_type_has_its_form() {
        check(DataType::Boolean, true, "true");
        check(DataType::Int32, -7, "-7");
        check(DataType::Timestamp, i64::MIN, "-9223372036854775808");
        check(DataType::Float, 0.1_f32, "0.1");
        check(DataType::Float, f32::NAN, "\"NaN\"");
        check(DataType::Double, f64::NEG_INFINITY, "\"-Infinity\"");
        check(DataType::Double, 1e16, "1e+16");
        check(DataType::Blob, &[0, 0xab, 0xff][..], "{\"hex\": \"00abff\"}");
        check(DataType::Blob, "ab", "{\"hex\": \"6162\"}");
        check(DataType::Text, &[0xc3][..], "{\"hex\": \"c3\"}");
        check(DataType::Int64, Value::Null, "null");
    }

    #[test]
    fn a_date_that_is_no_day_stays_a_number() {
        check(DataType::Date, 20_240_229, "\"2024-02-29\"");
        check(DataType::Date, 20_230_229, "20230229");
        check(DataType::Int32, 20_240_229, "20240229");
    }

    /// Expected: CPython 3.11, `json.dumps(text, ensure_ascii=False)`.
    #[test]
    fn only_what_json_needs_is_escaped() {
        check(DataType::String, "a\"b\\c/d", r#""a\"b\\c/d""#);
        check(DataType::String, "\u{8}\t\n\u{c}\r", r#""\b\t\n\f\r""#);
        check(DataType::String, "\0\u{1f}\u{b}", r#""\u0000\u001f\u000b""#);
        check(DataType::String, "\u{7f}é😀\u{2028}", "\"\u{7f}é😀\u{2028}\"");
    }

    #[test]
    fn a_row_is_one_line() {
        use tsloom::block::BlockLayout;

        let schema = TableSchema::builder("Wind")
            .field("power", DataType::Double)
            .tag("t")
            .tag("farm")
            .field("on", DataType::Boolean)
            .build()
            .unwrap();
        let types = schema.columns().iter().map(|column| (column.name.as_str(), column.data_type));
        let mut block = Block::new(&BlockLayout::new(4, types));
        block.times_mut().push(5);
        for (index, value) in [Value::Double(0.5), "a".into(), Value::Null, Value::Null].into_iter().enumerate() {
            assert!(block.column_mut(index).push(value));
        }
        let mut out = Vec::new();
        push_schema_line(&mut out, &schema);
        RowForm::new(&schema, &["power", "t", "farm", "on"]).push_row(&mut out, &block, 0);
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {"schema": {"table": "wind", "columns": [{"name": "power", "type": "DOUBLE", "category": "FIELD"}, {"name": "t", "type": "STRING", "category": "TAG"}, {"name": "farm", "type": "STRING", "category": "TAG"}, {"name": "on", "type": "BOOLEAN", "category": "FIELD"}]}}
        {"table": "wind", "time": 5, "tags": {"t": "a", "farm": null}, "fields": {"power": 0.5, "on": null}}
        "#);
    }
}
