//! Table schemas in the footer.
//!
//! ```text
//! uvar  column count
//! count x { istr name, u8 type, u8 encoding, u8 compression,
//!           i32 property count, x { istr key, istr value },
//!           i32 category }                                     0 TAG, 1 FIELD, 2 ATTRIBUTE, 3 TIME
//! ```
//!
//! Lengths are four bytes wide here, unlike in the rest of the footer, and encoding comes before compression, unlike in
//! a chunk header. The table's name is not part of it: it is the key in front.

use tsloom_encoding::{ToWire, WirePut, WireReader, istr_size, uvar_size};
use tsloom_model::{ColumnCategory, ColumnSchema, ErrorKind, FileOffset, Result, TableSchema};

use crate::header::{read_compression, read_data_type, read_encoding};
use crate::{corrupt, unsupported};

/// A table schema, ready to write.
#[derive(Clone, Copy, Debug)]
pub struct TableSchemaWire<'a>(pub &'a TableSchema);

impl TableSchemaWire<'_> {
    /// Reads the schema of the table `name`.
    pub fn parse(name: &str, wire: &mut WireReader<'_>) -> Result<TableSchema> {
        let at = wire.position();
        let count = wire.uvar()? as usize;
        let mut columns = Vec::new();
        // Every column takes bytes, so a count past the end of the bytes fails there.
        for _ in 0..count {
            columns.push(read_column(wire)?);
        }
        // To the caller of a file it is the file that is wrong, not a schema.
        TableSchema::from_stored(name, columns)
            .map_err(|error| error.with_kind(ErrorKind::Corrupt).at(FileOffset::new(at as u64)))
    }
}

fn read_column(wire: &mut WireReader<'_>) -> Result<ColumnSchema> {
    let name = wire.istr_present()?.to_owned();
    let type_at = wire.position();
    let data_type = read_data_type(wire.u8()?, type_at)?;
    let encoding = read_encoding(wire)?;
    let compression = read_compression(wire)?;
    let count_at = wire.position();
    let prop_count = wire.i32()?;
    if prop_count < 0 {
        return Err(corrupt(count_at, format!("{prop_count} column properties")));
    }
    let mut props = Vec::new();
    for _ in 0..prop_count {
        let key = wire.istr_present()?.to_owned();
        props.push((key, wire.istr_utf8()?.map(str::to_owned)));
    }
    let category_at = wire.position();
    let category = wire.i32()?;
    let category = u8::try_from(category)
        .ok()
        .and_then(ColumnCategory::from_code)
        .ok_or_else(|| unsupported(category_at, format!("column category {category} is not known")))?;
    Ok(ColumnSchema { name, data_type, encoding, compression, category, props })
}

impl ToWire for TableSchemaWire<'_> {
    fn wire_size(&self) -> usize {
        let text = |text: &str| istr_size(Some(text.as_bytes()));
        let columns = self.0.columns().iter().map(|column| {
            let props = column.props.iter().map(|(key, value)| text(key) + istr_size(value.as_deref().map(str::as_bytes)));
            text(&column.name) + 11 + props.sum::<usize>()
        });
        uvar_size(self.0.columns().len() as u32) + columns.sum::<usize>()
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_uvar(self.0.columns().len() as u32);
        for column in self.0.columns() {
            out.put_istr(Some(column.name.as_bytes()));
            out.put_slice(&[column.data_type.code(), column.encoding.code(), column.compression.code()]);
            out.put_i32(column.props.len() as i32);
            for (key, value) in &column.props {
                out.put_istr(Some(key.as_bytes()));
                out.put_istr(value.as_deref().map(str::as_bytes));
            }
            out.put_i32(i32::from(column.category.code()));
        }
    }
}

#[cfg(test)]
mod tests {
    use tsloom_model::{Compression, DataType, Encoding};

    use super::*;

    fn schema() -> TableSchema {
        let mut scaled = ColumnSchema::field("f", DataType::Float).encoding(Encoding::Rle).compression(Compression::Snappy);
        scaled.props = vec![("max_point_number".to_owned(), Some("3".to_owned())), ("empty".to_owned(), None)];
        TableSchema::builder("t").tag("id").field("v", DataType::Int32).column(scaled).attribute("a").build().unwrap()
    }

    #[test]
    fn encoding_comes_before_compression() {
        let table = TableSchema::builder("t1").tag("id").field("v", DataType::Int32).build().unwrap();
        let expected = b"\x02\0\0\0\x02id\x0b\0\x07\0\0\0\0\0\0\0\0\0\0\0\x01v\x01\x04\x07\0\0\0\0\0\0\0\x01";
        assert_eq!(TableSchemaWire(&table).to_vec(), *expected);
    }

    #[test]
    fn schemas_come_back_whole_and_cut_ones_are_errors() {
        let bytes = TableSchemaWire(&schema()).to_vec();
        assert_eq!(TableSchemaWire::parse("t", &mut WireReader::new(&bytes)).unwrap(), schema());
        for size in 0..bytes.len() {
            let error = TableSchemaWire::parse("t", &mut WireReader::new(&bytes[..size])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated);
        }
    }

    #[test]
    fn a_schema_that_contradicts_itself_is_damage_of_the_file() {
        let good = TableSchemaWire(&schema()).to_vec();
        // Both columns get the name of the first.
        let (first, second) = (schema().columns()[0].name.clone(), schema().columns()[1].name.clone());
        let at = |name: &str| good.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
        let mut bytes = good[..at(&second) - 4].to_vec();
        bytes.extend((first.len() as i32).to_be_bytes());
        bytes.extend(first.as_bytes());
        bytes.extend(&good[at(&second) + second.len()..]);
        let error = TableSchemaWire::parse("t", &mut WireReader::new(&bytes)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}
