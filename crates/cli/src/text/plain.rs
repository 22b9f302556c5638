//! Values as bare text: what a cell says before any quotes.

use tsloom::model::Date;
use tsloom::{DataType, Value};

use super::{json, number};

/// Appends the value of a column of this type; nothing for null. BLOB is hex.
pub(crate) fn push_value(out: &mut Vec<u8>, data_type: DataType, value: Value<'_>) {
    match value {
        Value::Null => {}
        Value::Text(bytes) if data_type == DataType::Blob => json::push_hex(out, bytes),
        Value::Text(bytes) => out.extend_from_slice(bytes),
        Value::Int32(value) if data_type == DataType::Date => match Date::from_yyyymmdd(value) {
            Some(date) => out.extend_from_slice(date.to_string().as_bytes()),
            None => json::push_integer(out, value.into()),
        },
        Value::Float(value) => match number::special(value.into()) {
            Some(word) => out.extend_from_slice(word.as_bytes()),
            None => number::push_f32(out, value),
        },
        Value::Double(value) => match number::special(value) {
            Some(word) => out.extend_from_slice(word.as_bytes()),
            None => number::push_f64(out, value),
        },
        Value::Boolean(_) | Value::Int32(_) | Value::Int64(_) => json::push_value(out, data_type, value),
    }
}

/// Appends a text so that it stays in its cell and on its line: `\t`, `\n`, `\r`, `\\`.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'\t' => out.extend_from_slice(br"\t"),
            b'\n' => out.extend_from_slice(br"\n"),
            b'\r' => out.extend_from_slice(br"\r"),
            b'\\' => out.extend_from_slice(br"\\"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_in_its_cell() {
        let mut out = Vec::new();
        push_escaped(&mut out, b"a\tb\nc\\d\r\xc3\xa9");
        assert_eq!(out, b"a\\tb\\nc\\\\d\\r\xc3\xa9");
    }
}
