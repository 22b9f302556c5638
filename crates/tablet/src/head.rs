//! What a tablet is about: its target and its columns, with their bytes ready to be sent.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::BufMut;
use tsloom_encoding::{WirePut, istr_size};
use tsloom_model::{ColumnCategory, ColumnSchema, TableSchema};

/// The number of the next head. No program makes 2^64.
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Target and columns of a tablet, and the bytes with which its wire form begins.
///
/// A tablet of many columns is mostly this, so the bytes are made once and copied from then on.
#[derive(Clone, Debug)]
pub struct TabletHead {
    id: u64,
    target: Option<String>,
    columns: Vec<ColumnSchema>,
    tags: Vec<u32>,
    is_table: bool,
    /// Target, row count (0 here) and the schema section.
    wire: Vec<u8>,
}

impl TabletHead {
    /// The head of tablets for a table.
    pub fn for_table(schema: &TableSchema) -> Self {
        Self { is_table: true, ..Self::new(Some(schema.name().to_owned()), schema.columns().to_vec()) }
    }

    /// The head of tablets for a device of the tree model, named by its path. `None` is Java's null target.
    pub fn for_device(path: Option<String>, columns: Vec<ColumnSchema>) -> Self {
        Self { is_table: false, ..Self::new(path, columns) }
    }

    /// A head as it stands on the wire: the model follows from the columns. A tablet with a tag or an attribute, or
    /// whose target is no path below `root`, belongs to a table.
    pub(crate) fn from_wire(target: Option<String>, columns: Vec<ColumnSchema>) -> Self {
        Self::new(target, columns)
    }

    fn new(target: Option<String>, columns: Vec<ColumnSchema>) -> Self {
        let tags: Vec<u32> =
            (0..).zip(&columns).filter(|(_, column)| column.category == ColumnCategory::Tag).map(|(index, _)| index).collect();
        let only_fields = columns.iter().all(|column| column.category == ColumnCategory::Field);
        let is_path = target.as_deref().is_none_or(|target| target == "root" || target.starts_with("root."));
        let wire = wire_of(target.as_deref(), &columns);
        Self { id: NEXT_ID.fetch_add(1, Relaxed), is_table: !(only_fields && is_path), target, columns, tags, wire }
    }

    /// A number that only this head has in this process, and its clones: who has seen it needs not keep the head to know it again.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Table name or device path; `None` is Java's null.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The columns in order.
    pub fn columns(&self) -> &[ColumnSchema] {
        &self.columns
    }

    /// True for tablets of a table, false for those of one device of the tree model.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// Indexes of the TAG columns, ascending.
    pub fn tags(&self) -> &[u32] {
        &self.tags
    }

    pub(crate) fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// Position of the row count in [`wire`](Self::wire).
    pub(crate) fn row_count_at(&self) -> usize {
        istr_size(self.target.as_deref().map(str::as_bytes))
    }
}

fn wire_of(target: Option<&str>, columns: &[ColumnSchema]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_istr(target.map(str::as_bytes));
    out.put_i32(0);
    out.put_bool(true);
    out.put_i32(i32::try_from(columns.len()).expect("a tablet has fewer than 2^31 columns"));
    for column in columns {
        out.put_bool(true);
        out.put_istr(Some(column.name.as_bytes()));
        out.put_u8(column.data_type.code());
        out.put_u8(column.encoding.code());
        out.put_u8(column.compression.code());
        out.put_i32(i32::try_from(column.props.len()).expect("a column has fewer than 2^31 properties"));
        for (key, value) in &column.props {
            out.put_istr(Some(key.as_bytes()));
            out.put_istr(value.as_deref().map(str::as_bytes));
        }
        out.put_u8(column.category.code());
    }
    out
}
