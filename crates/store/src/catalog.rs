//! The tables of a store.
//!
//! A schema has an id, chosen once and never again; a table that gets another schema gets another id with it.

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
#[derive(Clone, Default)]
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

    /// The table whose schema has this id now.
    pub(crate) fn of_id(&self, id: u32) -> Option<&Arc<Table>> {
        self.tables.iter().find(|table| table.id == id)
    }

    /// Takes a schema in, in the place of the one that its table had. Returns that one.
    pub(crate) fn put(&mut self, id: u32, schema: Arc<TableSchema>) -> Option<Arc<Table>> {
        self.next_id = self.next_id.max(id.saturating_add(1));
        let found = self.tables.binary_search_by(|table| table.schema.name().cmp(schema.name()));
        let table = Arc::new(Table::new(id, schema));
        match found {
            Ok(index) => Some(std::mem::replace(&mut self.tables[index], table)),
            Err(index) => {
                self.tables.insert(index, table);
                None
            }
        }
    }

    /// Takes a table out.
    pub(crate) fn remove(&mut self, id: u32) -> Result<Arc<Table>> {
        let index = self.tables.iter().position(|table| table.id == id);
        let index = index.ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("no table has the schema {id}")))?;
        Ok(self.tables.remove(index))
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
        catalog.put(1, schema("wind", "power", DataType::Double));
        catalog.put(2, schema("rain", "mm", DataType::Int32));
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
    fn another_schema_takes_the_place_of_the_one_before() {
        let mut catalog = catalog();
        let before = catalog.put(7, schema("rain", "mm", DataType::Double)).unwrap();
        assert_eq!((before.id, catalog.tables().len(), catalog.next_id()), (2, 2, 8));
        assert!(catalog.of_id(2).is_none() && catalog.of_id(7).is_some());
        assert_eq!(catalog.remove(7).unwrap().schema.name(), "rain");
        assert_eq!(catalog.remove(7).err().unwrap().kind(), ErrorKind::Corrupt);
        assert_eq!((catalog.tables().len(), catalog.next_id()), (1, 8));
    }
}
