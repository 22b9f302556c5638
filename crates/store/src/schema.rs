//! Changing what tables there are, and what they look like.
//!
//! A change is logged and durable before anybody sees it. No tablet is between its check and the log meanwhile, so the log has
//! no row of a table or column that is not there: see [`Shared::ddl`].

use std::sync::Arc;

use tsloom_model::{ColumnCategory, ColumnSchema, Error, ErrorKind, Result, TableSchema, TableSchemaBuilder};
use tsloom_tablet::Tablet;
use tsloom_wal::{Level, NewEntry};

use crate::catalog::{Catalog, check_writable};
use crate::store::{Shared, Store};

impl Store {
    /// Makes a table, durably whatever [`Durability`](crate::Durability) says. The same schema again is no error.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when the table has another schema, [`ErrorKind::Unsupported`] for a table with ATTRIBUTE
    /// columns (files have no place for them), [`ErrorKind::Unsupported`] and [`ErrorKind::SchemaMismatch`] for a column whose
    /// encoding or compression files cannot have, and as [`write`](Self::write).
    pub fn create_table(&self, schema: &TableSchema) -> Result<()> {
        self.shared().log()?;
        check_storable(schema)?;
        self.shared().change_table(|catalog| Ok((!catalog.has(schema)?).then(|| schema.clone())))
    }

    /// Adds a column behind those of a table; rows that are there are null in it. One that is there in the same form is no
    /// error. A TAG becomes the last one; devices that are there have a null in it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table that is not there; else as [`create_table`](Self::create_table).
    pub fn add_column(&self, table: &str, column: ColumnSchema) -> Result<()> {
        self.shared().add_columns(table, vec![column])
    }

    /// Takes a column away with its cells; the rows stay. A column of this name that is added later is a new one, of any
    /// type. Scans that are open see the cells still.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table or column that is not there, [`ErrorKind::Unsupported`] for a TAG: the devices of the
    /// table could become one; and what the operating system says.
    pub fn drop_column(&self, table: &str, column: &str) -> Result<()> {
        self.shared().change_table(|catalog| {
            let schema = &catalog.require(table)?.schema;
            let index = schema.require_column(column)?;
            let mut columns = schema.columns().to_vec();
            let dropped = columns.remove(index);
            if dropped.category == ColumnCategory::Tag {
                let message = format!("a TAG of table {} cannot be dropped: devices are told apart by it", schema.name());
                return Err(Error::new(ErrorKind::Unsupported, message).in_column(&dropped.name));
            }
            TableSchema::from_stored(schema.name(), columns).map(Some)
        })
    }

    /// Takes a table away with all its rows. A table of this name that is made later is a new one. Scans that are open see
    /// the rows still.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table that is not there, and what the operating system says.
    pub fn drop_table(&self, table: &str) -> Result<()> {
        let shared = self.shared();
        let log = shared.log()?;
        let _alone = shared.ddl.write();
        let id = shared.catalog().require(table)?.id;
        let entry = log.append(NewEntry::Drop { id }, Level::Durable)?;
        shared.apply(&entry, |memory, sequence| memory.drop_table(sequence, id))
    }

    /// The tables, ascending by name.
    pub fn tables(&self) -> Vec<TableSchema> {
        self.shared().catalog().tables().iter().map(|table| TableSchema::clone(&table.schema)).collect()
    }

    /// What a table looks like; its name in any case.
    pub fn describe(&self, table: &str) -> Option<TableSchema> {
        self.shared().catalog().find(table).map(|table| TableSchema::clone(&table.schema))
    }
}

impl Shared {
    /// The tables there are now.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.memory.lock().catalog)
    }

    /// Adds the columns of a tablet that its table has not.
    pub(crate) fn extend_table(&self, tablet: &Tablet) -> Result<()> {
        let table = self.table_of(tablet)?;
        let is_new = |column: &&ColumnSchema| table.schema.column_index(&column.name).is_none();
        self.add_columns(table.schema.name(), tablet.columns().iter().filter(is_new).cloned().collect())
    }

    fn add_columns(&self, table: &str, new: Vec<ColumnSchema>) -> Result<()> {
        self.change_table(|catalog| {
            let before = &catalog.require(table)?.schema;
            let mut builder =
                before.columns().iter().cloned().fold(TableSchema::builder(before.name()), TableSchemaBuilder::column);
            for column in new {
                let name = column.name.to_lowercase();
                match before.columns().iter().find(|there| there.name == name) {
                    None => builder = builder.column(column),
                    Some(there) if *there == (ColumnSchema { name, ..column }) => {}
                    Some(there) => {
                        let message = format!("it is a {} {} in table {}", there.category, there.data_type, before.name());
                        return Err(Error::new(ErrorKind::AlreadyExists, message).in_column(&there.name));
                    }
                }
            }
            let after = builder.build()?;
            Ok((after != **before).then_some(after))
        })
    }

    /// Gives a table the schema that `next` finds right, and makes it if it is not there; nothing changes for `None`.
    fn change_table(&self, next: impl FnOnce(&Catalog) -> Result<Option<TableSchema>>) -> Result<()> {
        let log = self.log()?;
        let _alone = self.ddl.write();
        let catalog = self.catalog();
        let Some(schema) = next(&catalog)? else { return Ok(()) };
        check_storable(&schema)?;
        let (id, schema) = (catalog.next_id(), Arc::new(schema));
        let entry = log.append(NewEntry::Schema { id, schema: &schema }, Level::Durable)?;
        self.apply(&entry, |memory, sequence| memory.declare(sequence, id, &schema))
    }
}

/// Checks that a store can keep rows of the table, in the log and in files.
fn check_storable(schema: &TableSchema) -> Result<()> {
    match schema.columns().iter().find(|column| column.category == ColumnCategory::Attribute) {
        Some(attribute) => {
            Err(Error::new(ErrorKind::Unsupported, "a store keeps no ATTRIBUTE columns").in_column(&attribute.name))
        }
        None => check_writable(schema),
    }
}
