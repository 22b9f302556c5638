//! Deleting rows, and cells of columns.

use std::ops::RangeBounds;

use tsloom_model::{ColumnCategory, Error, ErrorKind, Predicate, Result, TableSchema, TimeRange};
use tsloom_wal::{Delete, Level, NewEntry};

use crate::store::Store;

/// What to delete of a table. Without any choice: all of its rows.
///
/// ```
/// # use tsloom_model::{DataType, TableSchema, tag};
/// # use tsloom_store::{Store, StoreOptions};
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::open(folder.path().join("lab.tsloom"), StoreOptions::default())?;
/// # store.create_table(&TableSchema::builder("weather").tag("city").field("temp", DataType::Double).build()?)?;
/// store.delete("weather").filter(tag("city").eq("Oslo")).time(..1_000).run()?; // rows
/// store.delete("weather").columns(["temp"]).time(5_000..=6_000).run()?; // cells; the rows stay
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is deleted until it is run"]
pub struct DeleteBuilder<'a> {
    store: &'a Store,
    table: String,
    filter: Option<Predicate>,
    columns: Vec<String>,
    times: TimeRange,
}

impl<'a> DeleteBuilder<'a> {
    pub(crate) fn new(store: &'a Store, table: &str) -> Self {
        Self { store, table: table.to_owned(), filter: None, columns: Vec::new(), times: TimeRange::ALL }
    }

    /// Only in these times; `..=` reaches `i64::MAX`.
    pub fn time(mut self, range: impl RangeBounds<i64>) -> Self {
        self.times = TimeRange::from_bounds(range);
        self
    }

    /// Only of devices whose tags meet the predicate.
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.filter = Some(predicate);
        self
    }

    /// Only the cells of these FIELD columns: they become null, and the rows stay.
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// Deletes what was written before, durably whatever [`Durability`](crate::Durability) says. When this returns, no scan
    /// that is opened later sees it; rows that are written later stay. Scans that are open see the rows still.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table or column that is not there, [`ErrorKind::InvalidArgument`] for cells of a TAG,
    /// [`ErrorKind::LimitExceeded`] for a predicate nested deeper than 64, and as [`write`](Store::write).
    pub fn run(self) -> Result<()> {
        let shared = self.store.shared();
        let log = shared.log()?;
        let _table_stays = shared.ddl.read();
        let catalog = shared.catalog();
        let table = catalog.require(&self.table)?;
        let delete = self.resolve(&table.schema)?;
        delete.check()?;
        if delete.times.is_empty() {
            return Ok(());
        }
        let entry = log.append(NewEntry::Delete { id: table.id, delete: &delete }, Level::Durable)?;
        shared.apply(&entry, |memory, sequence| memory.delete(sequence, table.id, delete))
    }

    /// Names as the schema has them, tags by position.
    fn resolve(&self, schema: &TableSchema) -> Result<Delete> {
        let field = |name: &String| {
            let column = &schema.columns()[schema.require_column(name)?];
            if column.category != ColumnCategory::Field {
                let message =
                    format!("it is a {} of table {}: only rows as a whole can be deleted", column.category, schema.name());
                return Err(Error::new(ErrorKind::InvalidArgument, message).in_column(&column.name));
            }
            Ok(column.name.clone())
        };
        Ok(Delete {
            times: self.times,
            devices: self.filter.as_ref().map(|filter| filter.resolve(schema)).transpose()?,
            columns: self.columns.iter().map(field).collect::<Result<_>>()?,
        })
    }
}
