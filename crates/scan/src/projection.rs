//! From column names to the places that fill them.

use std::sync::OnceLock;

use tsloom_block::{BlockColumn, BlockLayout};
use tsloom_model::{ColumnCategory, Error, ErrorKind, Literal, Result, TableSchema};

use crate::ScanRequest;
use crate::filter::RowTest;

/// What fills each column of a block.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    pub(crate) layout: BlockLayout,
    /// The same, and behind it the columns that only the condition on rows asks for; `None` when there is no condition.
    work_layout: Option<BlockLayout>,
    pub(crate) test: Option<RowTest>,
    /// TAG columns: which tag of the device, and which column of the block.
    pub(crate) tags: Vec<TagColumn>,
    /// The other columns, ascending by name as files have them.
    pub(crate) fields: Vec<FieldColumn>,
    /// The same, each as the only column of a block: for series with times of their own.
    alone: OnceLock<Vec<FieldColumn>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TagColumn {
    pub(crate) tag: usize,
    pub(crate) column: usize,
}

/// What is wanted of the rows of a source: their fields, and the condition if it may be asked before sources are merged.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) fields: &'a [FieldColumn],
    pub(crate) test: Option<&'a RowTest>,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldColumn {
    pub(crate) name: String,
    /// Which field of the projection it is.
    pub(crate) index: usize,
    /// In the block.
    pub(crate) column: usize,
    /// In the condition on rows.
    pub(crate) test_position: Option<usize>,
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
            if request.columns.is_some() && positions[..column].contains(&position) {
                return Err(refused(schema, &schema_column.name, "is asked for twice"));
            }
            match schema_column.category {
                ColumnCategory::Tag => {
                    tags.push(TagColumn { tag: schema.tags().take_while(|&tag| tag < position).count(), column });
                }
                ColumnCategory::Field | ColumnCategory::Attribute => {
                    fields.push(FieldColumn { name: schema_column.name.clone(), index: 0, column, test_position: None });
                }
                ColumnCategory::Time => return Err(refused(schema, &schema_column.name, "is the time; every block has it")),
            }
        }
        let columns = positions.iter().map(|&at| (schema.columns()[at].name.as_str(), schema.columns()[at].data_type));
        let layout = BlockLayout::new(request.row_budget.max(1), columns);
        let mut work_layout = None;
        let test = match &request.values {
            Some(values) => {
                let work_layout = work_layout.insert(layout.clone());
                let mut columns = Vec::new();
                let filter = values.resolve(schema)?.map_columns(&mut |&position: &usize, _: Option<&Literal>| {
                    let schema_column = &schema.columns()[position];
                    let column = positions.iter().position(|wanted| *wanted == position).unwrap_or_else(|| {
                        let hidden = |column: &BlockColumn| column.name == schema_column.name;
                        let behind = work_layout.columns[layout.columns.len()..].iter().position(hidden);
                        behind.map_or(work_layout.columns.len(), |index| layout.columns.len() + index)
                    });
                    if column == work_layout.columns.len() {
                        let (name, data_type) = (schema_column.name.clone(), schema_column.data_type);
                        fields.push(FieldColumn { name: name.clone(), index: 0, column, test_position: None });
                        work_layout.columns.push(BlockColumn { name, data_type });
                    }
                    let known = columns.iter().position(|other| *other == column);
                    let position = known.unwrap_or_else(|| {
                        columns.push(column);
                        columns.len() - 1
                    });
                    Ok::<_, Error>((position, None))
                })?;
                Some(RowTest { filter, columns, prunes: request.prune })
            }
            None => None,
        };
        fields.sort_by(|left, right| left.name.cmp(&right.name));
        for (index, field) in fields.iter_mut().enumerate() {
            field.index = index;
            field.test_position = test.as_ref().and_then(|test| test.columns.iter().position(|column| *column == field.column));
        }
        Ok(Self { layout, work_layout, test, tags, fields, alone: OnceLock::new() })
    }

    /// The layout of rows that the condition is yet to be asked of.
    pub(crate) fn work_layout(&self) -> &BlockLayout {
        self.work_layout.as_ref().unwrap_or(&self.layout)
    }

    /// What a block of one field alone looks like; of all of them when `field` is `None`.
    pub(crate) fn stage_layout(&self, field: Option<usize>) -> BlockLayout {
        let columns = match field {
            Some(field) => vec![self.work_layout().columns[self.fields[field].column].clone()],
            None => self.work_layout().columns.clone(),
        };
        BlockLayout { row_budget: 0, columns }
    }

    /// The fields in a block of this layout.
    pub(crate) fn stage_fields(&self, field: Option<usize>) -> &[FieldColumn] {
        match field {
            Some(field) => {
                let alone = |field: &FieldColumn| FieldColumn { column: 0, test_position: None, ..field.clone() };
                &self.alone.get_or_init(|| self.fields.iter().map(alone).collect())[field..=field]
            }
            None => &self.fields,
        }
    }

    /// Names of all fields, in their order.
    pub(crate) fn field_names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// The fields that a block shows.
    pub(crate) fn visible_fields(&self) -> impl Iterator<Item = &FieldColumn> {
        self.fields.iter().filter(|field| field.column < self.layout.columns.len())
    }
}

#[cold]
fn refused(schema: &TableSchema, column: &str, what: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("column {column} of table {} {what}", schema.name()))
}
