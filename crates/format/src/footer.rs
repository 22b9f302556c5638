//! The footer, TsFileMetadata.
//!
//! ```text
//! version 4   uvar table count,  x { vstr name, device index root }
//!             uvar schema count, x { vstr name, TableSchema }
//!             i64  offset of the separator
//!             BloomFilter
//!             svar property count, x { vstr key, vstr value }        values may be null or any bytes
//! version 3   device index root with paths as keys
//!             i64  offset of the separator
//!             BloomFilter
//! ```
//!
//! Of a tree-model device the "table name" is segment 0. Version 3 has one root for all devices; it is kept here as that
//! of the table "". After the footer come its size as i32 and the magic.

use tsloom_encoding::{ToWire, WirePut, WireReader, svar_size, uvar_size, vstr_size};
use tsloom_model::{Result, TableSchema};

use crate::{BloomFilter, IndexNode, KeyForm, TableSchemaWire, VERSION_3, corrupt};

/// Files have three. A property of two bytes takes fifty in memory, so this list alone has a bound of its own.
const PROPERTY_COUNT_MAX: i32 = 4096;

/// The root of the device index of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRoot {
    name: String,
    /// The node in wire form; it was checked when it was read.
    node: Box<[u8]>,
    key_form: KeyForm,
}

impl TableRoot {
    /// The root of a version 4 file. `node` is what [`put_device_node`](crate::put_device_node) wrote.
    pub fn new(name: impl Into<String>, node: &[u8]) -> Self {
        Self { name: name.into(), node: node.into(), key_form: KeyForm::Device }
    }

    fn parse(name: &str, key_form: KeyForm, wire: &mut WireReader<'_>) -> Result<Self> {
        let bytes = wire.rest();
        IndexNode::parse(wire, key_form)?;
        let node = &bytes[..bytes.len() - wire.remaining()];
        Ok(Self { name: name.to_owned(), node: node.into(), key_form })
    }

    /// The table; empty for the root of a version 3 file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the keys of this index are written.
    pub fn key_form(&self) -> KeyForm {
        self.key_form
    }

    /// The node in wire form.
    pub fn bytes(&self) -> &[u8] {
        &self.node
    }

    /// The node itself.
    pub fn node(&self) -> Result<IndexNode<'_>> {
        IndexNode::parse(&mut WireReader::new(&self.node), self.key_form)
    }
}

/// A property of the file. C++ allows any bytes as value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key, in UTF-8 as a rule.
    pub key: Vec<u8>,
    /// The value; `None` is null.
    pub value: Option<Vec<u8>>,
}

/// The footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TsFileMetadata {
    /// The device index roots, ascending by table name.
    pub tables: Vec<TableRoot>,
    /// The schemas, in no particular order in files of C++. Tree-model files have none.
    pub schemas: Vec<TableSchema>,
    /// Offset of the separator that ends the body.
    pub meta_offset: u64,
    /// The filter over series names, if the file has one.
    pub bloom_filter: Option<BloomFilter>,
    /// Properties in the order of the file.
    pub properties: Vec<Property>,
}

impl TsFileMetadata {
    /// Reads the footer of a file of this version (3 or 4).
    pub fn parse(version: u8, wire: &mut WireReader<'_>) -> Result<Self> {
        if version == VERSION_3 {
            let tables = vec![TableRoot::parse("", KeyForm::DevicePath, wire)?];
            let meta_offset = read_meta_offset(wire)?;
            let bloom_filter = BloomFilter::parse(wire)?;
            return Ok(Self { tables, schemas: Vec::new(), meta_offset, bloom_filter, properties: Vec::new() });
        }
        // Every item of the three lists takes bytes, so a count past the end of the bytes fails there.
        let table_count = wire.uvar()?;
        let mut tables = Vec::new();
        for _ in 0..table_count {
            let name = wire.vstr_present()?;
            tables.push(TableRoot::parse(name, KeyForm::Device, wire)?);
        }
        let schema_count = wire.uvar()?;
        let mut schemas = Vec::new();
        for _ in 0..schema_count {
            let name = wire.vstr_present()?;
            schemas.push(TableSchemaWire::parse(name, wire)?);
        }
        let meta_offset = read_meta_offset(wire)?;
        let bloom_filter = BloomFilter::parse(wire)?;
        let properties = if wire.is_empty() { Vec::new() } else { read_properties(wire)? };
        Ok(Self { tables, schemas, meta_offset, bloom_filter, properties })
    }

    /// The schema of a table, by its name as stored.
    pub fn schema(&self, name: &str) -> Option<&TableSchema> {
        self.schemas.iter().find(|schema| schema.name() == name)
    }

    /// The index root of a table; files of version 3 keep every device under the name "".
    pub fn table(&self, name: &str) -> Option<&TableRoot> {
        let root = |name: &str| self.tables.iter().find(|table| table.name == name);
        root(name).or_else(|| root(""))
    }

    /// The value of a property; `None` when it is missing or null.
    pub fn property(&self, key: &str) -> Option<&[u8]> {
        self.properties.iter().find(|property| property.key == key.as_bytes())?.value.as_deref()
    }
}

fn read_meta_offset(wire: &mut WireReader<'_>) -> Result<u64> {
    let at = wire.position();
    let offset = wire.i64()?;
    u64::try_from(offset).map_err(|_| corrupt(at, format!("separator offset {offset} is negative")))
}

fn read_properties(wire: &mut WireReader<'_>) -> Result<Vec<Property>> {
    let at = wire.position();
    let count = wire.svar()?;
    if !(0..=PROPERTY_COUNT_MAX).contains(&count) {
        return Err(corrupt(at, format!("{count} properties, where at most {PROPERTY_COUNT_MAX} are expected")));
    }
    let mut properties = Vec::new();
    for _ in 0..count {
        let key = wire.vstr()?.unwrap_or_default().to_vec();
        properties.push(Property { key, value: wire.vstr()?.map(<[u8]>::to_vec) });
    }
    Ok(properties)
}

/// The version 4 form.
impl ToWire for TsFileMetadata {
    fn wire_size(&self) -> usize {
        let name = |name: &str| vstr_size(Some(name.as_bytes()));
        let tables = self.tables.iter().map(|table| name(&table.name) + table.node.len()).sum::<usize>();
        let schemas = self.schemas.iter().map(|schema| name(schema.name()) + TableSchemaWire(schema).wire_size());
        let properties =
            self.properties.iter().map(|property| vstr_size(Some(&property.key)) + vstr_size(property.value.as_deref()));
        uvar_size(self.tables.len() as u32)
            + tables
            + uvar_size(self.schemas.len() as u32)
            + schemas.sum::<usize>()
            + 8
            + self.bloom_filter.as_ref().map_or(1, ToWire::wire_size)
            + svar_size(self.properties.len() as i32)
            + properties.sum::<usize>()
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_uvar(self.tables.len() as u32);
        for table in &self.tables {
            out.put_vstr(Some(table.name.as_bytes()));
            out.put_slice(&table.node);
        }
        out.put_uvar(self.schemas.len() as u32);
        for schema in &self.schemas {
            out.put_vstr(Some(schema.name().as_bytes()));
            TableSchemaWire(schema).write_to(out);
        }
        out.put_u64(self.meta_offset);
        match &self.bloom_filter {
            Some(filter) => filter.write_to(out),
            None => out.put_uvar(0),
        }
        out.put_svar(self.properties.len() as i32);
        for property in &self.properties {
            out.put_vstr(Some(&property.key));
            out.put_vstr(property.value.as_deref());
        }
    }
}
