//! The tables of a store.

use std::sync::Arc;

use parking_lot::Mutex;
use tsloom_model::{Error, ErrorKind, Result, TableSchema};
use tsloom_tablet::{Tablet, TabletHead};

use crate::write::{Fit, fit};

/// One table.
pub(crate) struct Table {
    pub(crate) id: u32,
    pub(crate) schema: Arc<TableSchema>,
    /// Files have no form for it. No such table is made, but a log may hold one: from a build with more compressions, or from
    /// before this was checked.
    is_unwritable: bool,
    /// The last head of a tablet that was found to have exactly these columns: most tablets come again and again.
    same_head: Mutex<Arc<TabletHead>>,
}

impl Table {
    fn new(id: u32, schema: Arc<TableSchema>) -> Self {
        let same_head = Mutex::new(Arc::new(TabletHead::for_table(&schema)));
        let is_unwritable = check_writable(&schema).is_err();
        Self { id, schema, is_unwritable, same_head }
    }

    /// What must happen to a tablet before it can be logged.
    pub(crate) fn fit(&self, tablet: &Tablet) -> Result<Fit> {
        if self.is_unwritable {
            check_writable(&self.schema)?;
        }
        if Arc::ptr_eq(&self.same_head.lock(), tablet.head()) {
            return Ok(Fit::AsIs);
        }
        let fit = fit(&self.schema, tablet)?;
        if let Fit::AsIs = fit {
            *self.same_head.lock() = Arc::clone(tablet.head());
        }
        Ok(fit)
    }
}

/// All tables, ascending by name.
#[derive(Default)]
pub(crate) struct Catalog {
    tables: Vec<Arc<Table>>,
    next_id: u32,
}

impl Catalog {
    pub(crate) fn new(next_id: u32) -> Self {
        Self { tables: Vec::new(), next_id }
    }

    pub(crate) fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The tables whose rows cannot leave the log, and why.
    pub(crate) fn unwritable(&self) -> Vec<String> {
        let unwritable = self.tables.iter().filter(|table| table.is_unwritable);
        let reason = |table: &Arc<Table>| {
            let error = check_writable(&table.schema).err()?;
            Some(format!("{}: {error}", table.schema.name()))
        };
        unwritable.filter_map(reason).collect()
    }

    pub(crate) fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Finds a table by its name in any case.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Table>> {
        let find = |name: &str| self.tables.binary_search_by(|table| table.schema.name().cmp(name)).ok();
        find(name).or_else(|| find(&name.to_lowercase())).map(|index| &self.tables[index])
    }

    /// Finds a table, or says which there are.
    pub(crate) fn require(&self, name: &str) -> Result<&Arc<Table>> {
        self.find(name).ok_or_else(|| {
            let names: Vec<&str> = self.tables.iter().map(|table| table.schema.name()).collect();
            let there = if names.is_empty() { "has none yet".to_owned() } else { format!("has {}", names.join(", ")) };
            Error::new(ErrorKind::NotFound, format!("there is no table {name}; the store {there}"))
        })
    }

    /// True when the table is there already, as it should be.
    pub(crate) fn has(&self, schema: &TableSchema) -> Result<bool> {
        match self.find(schema.name()) {
            None => Ok(false),
            Some(table) if *table.schema == *schema => Ok(true),
            Some(table) => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("table {} is there with another schema: {}", schema.name(), difference(&table.schema, schema)),
            )),
        }
    }

    /// Takes a table in; one that is there already in the same form is no error.
    pub(crate) fn insert(&mut self, id: u32, schema: Arc<TableSchema>) -> Result<()> {
        if self.has(&schema)? {
            return Ok(());
        }
        if let Some(other) = self.tables.iter().find(|table| table.id == id) {
            let message = format!("tables {} and {} have the same id {id}", other.schema.name(), schema.name());
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        self.next_id = self.next_id.max(id.saturating_add(1));
        let index = self.tables.partition_point(|table| table.schema.name() < schema.name());
        self.tables.insert(index, Arc::new(Table::new(id, schema)));
        Ok(())
    }
}

/// Checks that rows of the table can leave the log for a file; the error names the column that stands against it.
pub(crate) fn check_writable(schema: &TableSchema) -> Result<()> {
    tsloom_file::check_table(schema).map_err(|error| match error.kind() {
        ErrorKind::InvalidArgument => error.with_kind(ErrorKind::SchemaMismatch),
        _ => error,
    })
}

/// The first thing in which two schemas differ, for people.
fn difference(there: &TableSchema, new: &TableSchema) -> String {
    for (old, new) in there.columns().iter().zip(new.columns()) {
        if old.name != new.name {
            return format!("column {} is {} there", new.name, old.name);
        }
        if (old.data_type, old.category) != (new.data_type, new.category) {
            return format!(
                "column {} is a {} {} there, not a {} {}",
                new.name, old.category, old.data_type, new.category, new.data_type
            );
        }
        if old != new {
            return format!("column {} is stored as {} {} there", new.name, old.encoding, old.compression);
        }
    }
    format!("it has {} columns there, not {}", there.columns().len(), new.columns().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsloom_model::DataType;

    fn schema(name: &str, column: &str, data_type: DataType) -> Arc<TableSchema> {
        Arc::new(TableSchema::builder(name).tag("tag").field(column, data_type).build().unwrap())
    }

    fn catalog() -> Catalog {
        let mut catalog = Catalog::new(1);
        catalog.insert(1, schema("wind", "power", DataType::Double)).unwrap();
        catalog.insert(2, schema("rain", "mm", DataType::Int32)).unwrap();
        catalog
    }

    #[test]
    fn names_are_found_in_any_case_and_listed_when_missing() {
        let catalog = catalog();
        assert_eq!(catalog.require("WIND").unwrap().id, 1);
        assert_eq!(catalog.require("sun").err().unwrap().to_string(), "there is no table sun; the store has rain, wind");
        assert_eq!(Catalog::new(1).require("sun").err().unwrap().to_string(), "there is no table sun; the store has none yet");
        assert_eq!(catalog.next_id(), 3);
    }

    #[test]
    fn another_schema_is_refused_and_named() {
        let catalog = catalog();
        assert!(catalog.has(&schema("rain", "mm", DataType::Int32)).unwrap());
        let error = catalog.has(&schema("rain", "mm", DataType::Int64)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(
            error.to_string(),
            "table rain is there with another schema: column mm is a FIELD INT32 there, not a FIELD INT64"
        );
    }

    #[test]
    fn an_id_stands_for_one_table() {
        assert_eq!(catalog().insert(2, schema("sun", "lux", DataType::Float)).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
