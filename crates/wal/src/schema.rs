//! A table schema as bytes, for the log and the manifest.
//!
//! ```text
//! vstr  table name
//! uvar  column count
//! per column:  vstr name; u8 type; u8 encoding; u8 compression; u8 category; uvar property count; { vstr key; vstr value }
//! ```
//!
//! Strings are never null but for the value of a property. Codes are those of crate `model`.

use bytes::BufMut;
use tsloom_encoding::{WirePut, WireReader, uvar_size, vstr_size};
use tsloom_model::{
    ColumnCategory, ColumnSchema, Compression, DataType, Encoding, Error, ErrorKind, FileOffset, Result, TableSchema,
};

/// Exact number of bytes that [`write_schema`] puts.
pub fn schema_size(schema: &TableSchema) -> usize {
    let columns: usize = schema.columns().iter().map(column_size).sum();
    text_size(schema.name()) + uvar_size(count(schema.columns().len())) + columns
}

/// Appends a schema to `out`.
pub fn write_schema(schema: &TableSchema, out: &mut impl BufMut) {
    put_text(out, schema.name());
    out.put_uvar(count(schema.columns().len()));
    for column in schema.columns() {
        put_text(out, &column.name);
        out.put_u8(column.data_type.code());
        out.put_u8(column.encoding.code());
        out.put_u8(column.compression.code());
        out.put_u8(column.category.code());
        out.put_uvar(count(column.props.len()));
        for (key, value) in &column.props {
            put_text(out, key);
            out.put_vstr(value.as_deref().map(str::as_bytes));
        }
    }
}

/// Reads a schema from the cursor.
///
/// # Errors
/// Bytes that end too early, a code nobody knows, a schema that contradicts itself; each with its position.
pub fn read_schema(wire: &mut WireReader<'_>) -> Result<TableSchema> {
    let name = wire.vstr_present()?.to_owned();
    let column_count = wire.uvar()?;
    let mut columns = Vec::new();
    for _ in 0..column_count {
        columns.push(read_column(wire)?);
    }
    TableSchema::from_stored(name, columns)
}

fn read_column(wire: &mut WireReader<'_>) -> Result<ColumnSchema> {
    let name = wire.vstr_present()?.to_owned();
    let data_type = read_code(wire, "data type", DataType::from_code)?;
    let encoding = read_code(wire, "encoding", Encoding::from_code)?;
    let compression = read_code(wire, "compression", Compression::from_code)?;
    let category = read_code(wire, "category", ColumnCategory::from_code)?;
    let prop_count = wire.uvar()?;
    let mut props = Vec::new();
    for _ in 0..prop_count {
        props.push((wire.vstr_present()?.to_owned(), wire.vstr_utf8()?.map(str::to_owned)));
    }
    Ok(ColumnSchema { name, data_type, encoding, compression, category, props })
}

fn read_code<T>(wire: &mut WireReader<'_>, what: &str, from_code: impl Fn(u8) -> Option<T>) -> Result<T> {
    let at = FileOffset::new(wire.position() as u64);
    let code = wire.u8()?;
    from_code(code).ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("{what} {code} is not known")).at(at))
}

fn column_size(column: &ColumnSchema) -> usize {
    let props: usize =
        column.props.iter().map(|(key, value)| text_size(key) + vstr_size(value.as_deref().map(str::as_bytes))).sum();
    text_size(&column.name) + 4 + uvar_size(count(column.props.len())) + props
}

fn text_size(text: &str) -> usize {
    vstr_size(Some(text.as_bytes()))
}

fn put_text(out: &mut impl BufMut, text: &str) {
    out.put_vstr(Some(text.as_bytes()));
}

fn count(count: usize) -> u32 {
    u32::try_from(count).expect("a schema has fewer than 2^32 parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> TableSchema {
        let mut scaled = ColumnSchema::field("b", DataType::Double).encoding(Encoding::Ts2Diff);
        scaled.props = vec![("max_point_number".into(), Some("3".into())), ("empty".into(), None)];
        TableSchema::builder("t").tag("a").column(scaled).attribute("c").build().unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write_schema(&schema(), &mut bytes);
        assert_eq!(bytes.len(), schema_size(&schema()));
        let mut wire = WireReader::new(&bytes);
        assert_eq!(read_schema(&mut wire).unwrap(), schema());
        assert!(wire.is_empty());
        assert_eq!(bytes[..9], [2, b't', 3, 2, b'a', 11, 0, 7, 0]); // "t", 3 columns, "a" STRING PLAIN LZ4 TAG
    }

    #[test]
    fn cut_anywhere_it_is_an_error() {
        let mut bytes = Vec::new();
        write_schema(&schema(), &mut bytes);
        for size in 0..bytes.len() {
            let error = read_schema(&mut WireReader::new(&bytes[..size])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{size}");
        }
    }

    #[test]
    fn a_count_from_outside_allocates_nothing() {
        let bytes = [2, b't', 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(read_schema(&mut WireReader::new(&bytes)).unwrap_err().kind(), ErrorKind::Truncated);
    }

    #[test]
    fn an_unknown_code_is_named() {
        let mut bytes = Vec::new();
        write_schema(&schema(), &mut bytes);
        bytes[5] = 99;
        let error = read_schema(&mut WireReader::new(&bytes)).unwrap_err();
        assert_eq!(error.to_string(), "offset 5: data type 99 is not known");
    }
}
