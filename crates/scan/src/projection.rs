//! From column names to the places that fill them.

use tsloom_block::BlockLayout;
use tsloom_model::{ColumnCategory, Error, ErrorKind, Result, TableSchema};

use crate::ScanRequest;

/// What fills each column of a block.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) layout: BlockLayout,
    /// TAG columns: which tag of the device, and which column of the block.
    pub(crate) tags: Vec<TagColumn>,
    /// The other columns, ascending by name as files have them.
    pub(crate) fields: Vec<FieldColumn>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TagColumn {
    pub(crate) tag: usize,
    pub(crate) column: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldColumn {
    pub(crate) name: String,
    /// In the block.
    pub(crate) column: usize,
}

impl Projection {
    pub(crate) fn new(schema: &TableSchema, request: &ScanRequest) -> Result<Self> {
        let positions: Vec<usize> = match &request.columns {
            Some(names) => names.iter().map(|name| schema.require_column(name)).collect::<Result<_>>()?,
            None => (0..schema.columns().len()).filter(|&at| schema.columns()[at].category != ColumnCategory::Time).collect(),
        };
        let mut tags = Vec::new();
        let mut fields: Vec<FieldColumn> = Vec::new();
        for (column, &position) in positions.iter().enumerate() {
            let schema_column = &schema.columns()[position];
            if positions[..column].contains(&position) {
                return Err(refused(schema, &schema_column.name, "is asked for twice"));
            }
            match schema_column.category {
                ColumnCategory::Tag => {
                    tags.push(TagColumn { tag: schema.tags().take_while(|&tag| tag < position).count(), column })
                }
                ColumnCategory::Field | ColumnCategory::Attribute => {
                    fields.push(FieldColumn { name: schema_column.name.clone(), column });
                }
                ColumnCategory::Time => return Err(refused(schema, &schema_column.name, "is the time; every block has it")),
            }
        }
        fields.sort_by(|left, right| left.name.cmp(&right.name));
        let columns = positions.iter().map(|&at| (schema.columns()[at].name.as_str(), schema.columns()[at].data_type));
        let layout = BlockLayout::new(request.row_budget.max(1), columns);
        Ok(Self { layout, tags, fields })
    }
}

#[cold]
fn refused(schema: &TableSchema, column: &str, what: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("column {column} of table {} {what}", schema.name()))
}
