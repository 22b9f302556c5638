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
use tsloom::{DataType, Value};

use super::number;
use crate::opened::Object;

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

/// Appends the line that describes a table or device.
pub(crate) fn push_schema_line(out: &mut Vec<u8>, object: &Object) {
    out.extend_from_slice(b"{\"schema\": ");
    push_object_name(out, object);
    out.extend_from_slice(b", \"columns\": [");
    for (index, column) in object.schema.columns().iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
        }
        push_column(out, column, object.device.is_none());
    }
    out.extend_from_slice(b"]}}\n");
}

/// `{"table": "wind"` or `{"device": "root.sg.d1"`
fn push_object_name(out: &mut Vec<u8>, object: &Object) {
    out.extend_from_slice(if object.device.is_some() { b"{\"device\": " } else { b"{\"table\": " });
    push_text(out, object.name());
}

fn push_column(out: &mut Vec<u8>, column: &ColumnSchema, has_category: bool) {
    out.extend_from_slice(b"{\"name\": ");
    push_text(out, &column.name);
    write!(out, ", \"type\": \"{}\"", column.data_type).expect("a Vec takes every byte");
    if has_category {
        write!(out, ", \"category\": \"{}\"", column.category).expect("a Vec takes every byte");
    }
    out.push(b'}');
}

/// The fixed parts of the rows of one object, made once; a row only fills in its values.
pub(crate) struct RowForm {
    /// `{"table": "wind", "time": `
    head: Vec<u8>,
    /// The tree model has none.
    has_tags: bool,
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
    /// The form of rows of `object` whose block has columns of these names, in this order.
    pub(crate) fn new(object: &Object, names: &[&str]) -> Self {
        let schema = &object.schema;
        let mut head = Vec::new();
        push_object_name(&mut head, object);
        head.extend_from_slice(b", \"time\": ");
        let mut form = Self { head, has_tags: object.device.is_none(), tags: Vec::new(), fields: Vec::new() };
        for (position, name) in names.iter().enumerate() {
            let category = schema.column_index(name).map(|column| schema.columns()[column].category);
            let members = if category == Some(ColumnCategory::Tag) { &mut form.tags } else { &mut form.fields };
            push_member(members, name, position);
        }
        form
    }

    /// Appends one row.
    pub(crate) fn push_row(&self, out: &mut Vec<u8>, block: &Block, row: usize) {
        out.extend_from_slice(&self.head);
        push_integer(out, block.times()[row]);
        if self.has_tags {
            out.extend_from_slice(b", \"tags\": {");
            push_members(out, &self.tags, block.columns(), row);
            out.push(b'}');
        }
        out.extend_from_slice(b", \"fields\": {");
        push_members(out, &self.fields, block.columns(), row);
        out.extend_from_slice(b"}}");
    }
}

/// `"name":`, as the flat form has it.
pub(crate) fn key_of(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    push_text(&mut key, name);
    key.push(b':');
    key
}

/// Appends one row and its line end in the flat form of the official tool: no spaces, 64-bit integers as texts since
/// JavaScript cannot hold them, null for what is no number.
pub(crate) fn push_flat_row(out: &mut Vec<u8>, keys: &[Vec<u8>], block: &Block, row: usize) {
    write!(out, "{{\"time\":\"{}\"", block.times()[row]).expect("a Vec takes every byte");
    for (key, column) in keys.iter().zip(block.columns()) {
        out.push(b',');
        out.extend_from_slice(key);
        match column.value(row) {
            Value::Int64(value) => write!(out, "\"{value}\"").expect("a Vec takes every byte"),
            Value::Float(value) if !value.is_finite() => out.extend_from_slice(b"null"),
            Value::Double(value) if !value.is_finite() => out.extend_from_slice(b"null"),
            Value::Text(bytes) if column.data_type() == DataType::Blob || std::str::from_utf8(bytes).is_err() => {
                out.push(b'"');
                push_hex(out, bytes);
                out.push(b'"');
            }
            value => push_value(out, column.data_type(), value),
        }
    }
    out.extend_from_slice(b"}\n");
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
        use tsloom::TableSchema;
        use tsloom::block::BlockLayout;

        let schema = TableSchema::builder("Wind")
            .field("power", DataType::Double)
            .tag("t")
            .tag("farm")
            .field("on", DataType::Boolean)
            .build()
            .unwrap();
        let object = Object { schema, device: None };
        let types = object.schema.columns().iter().map(|column| (column.name.as_str(), column.data_type));
        let mut block = Block::new(&BlockLayout::new(4, types));
        block.times_mut().push(5);
        for (index, value) in [Value::Double(0.5), "a".into(), Value::Null, Value::Null].into_iter().enumerate() {
            assert!(block.column_mut(index).push(value));
        }
        let mut out = Vec::new();
        push_schema_line(&mut out, &object);
        RowForm::new(&object, &["power", "t", "farm", "on"]).push_row(&mut out, &block, 0);
        out.push(b'\n');
        let keys = ["power", "t", "farm", "on"].map(key_of);
        push_flat_row(&mut out, &keys, &block, 0);
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {"schema": {"table": "wind", "columns": [{"name": "power", "type": "DOUBLE", "category": "FIELD"}, {"name": "t", "type": "STRING", "category": "TAG"}, {"name": "farm", "type": "STRING", "category": "TAG"}, {"name": "on", "type": "BOOLEAN", "category": "FIELD"}]}}
        {"table": "wind", "time": 5, "tags": {"t": "a", "farm": null}, "fields": {"power": 0.5, "on": null}}
        {"time":"5","power":0.5,"t":"a","farm":null,"on":null}
        "#);
    }
}
