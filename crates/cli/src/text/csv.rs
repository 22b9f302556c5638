//! Cells as RFC 4180 CSV that `import` reads back: null is the empty cell, the empty text is `""`.
//!
//! Numbers look as in JSON, so do dates and what is no number; BLOB is hex. A text that would read as null (`\N`) or
//! that begins or ends with a space is quoted, too.

use tsloom::{DataType, Value};

use super::plain;

/// Appends a text, quoted when it must be.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let padded = text.first().is_some_and(|byte| *byte == b' ') || text.last().is_some_and(|byte| *byte == b' ');
    if !(text.is_empty() || text == br"\N" || padded || text.iter().any(special)) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends the cell of a column of this type.
pub(crate) fn push_value(out: &mut Vec<u8>, data_type: DataType, value: Value<'_>) {
    match value {
        // The empty BLOB must not read as null, either.
        Value::Text(bytes) if data_type != DataType::Blob || bytes.is_empty() => push_text(out, bytes),
        _ => plain::push_value(out, data_type, value),
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
    fn null_and_empty_differ() {
        check(DataType::String, Value::Null, "");
        check(DataType::String, "", "\"\"");
        check(DataType::Blob, "", "\"\"");
        check(DataType::String, r"\N", r#""\N""#);
    }

    #[test]
    fn quotes_where_it_must() {
        check(DataType::String, "plain text", "plain text");
        check(DataType::String, " padded", "\" padded\"");
        check(DataType::String, "a,b", "\"a,b\"");
        check(DataType::Text, "say \"hi\"\n", "\"say \"\"hi\"\"\n\"");
    }

    #[test]
    fn other_types_look_as_in_json() {
        check(DataType::Date, 20_240_229, "2024-02-29");
        check(DataType::Date, 20_230_229, "20230229");
        check(DataType::Blob, &[0x0a][..], "0a");
        check(DataType::Double, f64::NAN, "NaN");
        check(DataType::Double, 1e-5, "1e-05");
        check(DataType::Float, f32::NEG_INFINITY, "-Infinity");
        check(DataType::Boolean, false, "false");
        check(DataType::Timestamp, 5_i64, "5");
    }
}
