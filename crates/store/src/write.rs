//! The way of a tablet: checked, logged, applied in the order of the log.

use std::ops::RangeInclusive;
use std::time::Instant;

use tsloom_model::{ColumnView, Error, ErrorKind, Result, TableSchema};
use tsloom_tablet::{Tablet, TabletHead, TabletRef};
use tsloom_wal::NewEntry;

use crate::catalog::Table;
use crate::memory::Memory;
use crate::options::WriteOptions;
use crate::store::Shared;

/// What must happen to a tablet before it can be logged.
pub(crate) enum Fit {
    /// Its columns are those of the table.
    AsIs,
    /// This is the tablet with the columns of the table.
    Rebuilt(Box<Tablet>),
}

/// Brings a tablet into the form of a table. After this neither log nor memtable can refuse it for what it says.
pub(crate) fn fit(schema: &TableSchema, tablet: &Tablet) -> Result<Fit> {
    let columns = tablet.columns();
    let same = |(mine, theirs): (&tsloom_model::ColumnSchema, &tsloom_model::ColumnSchema)| {
        (&mine.name, mine.data_type, mine.category) == (&theirs.name, theirs.data_type, theirs.category)
    };
    if columns.len() == schema.columns().len() && columns.iter().zip(schema.columns()).all(same) {
        return Ok(Fit::AsIs);
    }
    let mut views: Vec<Option<ColumnView<'_>>> = vec![None; schema.columns().len()];
    let mut is_given = vec![false; views.len()];
    for (index, column) in columns.iter().enumerate() {
        let place = schema.require_column(&column.name)?;
        let there = &schema.columns()[place];
        let refuse = |message: String| Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(&column.name));
        if (column.data_type, column.category) != (there.data_type, there.category) {
            return refuse(format!(
                "a {} {} in the tablet, a {} {} in table {}",
                column.category,
                column.data_type,
                there.category,
                there.data_type,
                schema.name()
            ));
        }
        if std::mem::replace(&mut is_given[place], true) {
            return refuse("it is there twice".to_owned());
        }
        views[place] = tablet.column(index);
    }
    let head = TabletHead::for_table(schema);
    let rebuilt = TabletRef::from_columns(&head, tablet.times(), &views)?.to_tablet();
    Ok(Fit::Rebuilt(Box::new(rebuilt)))
}

impl Shared {
    /// Writes a tablet, and extends its table first if that is asked for.
    pub(crate) fn write(&self, tablet: &Tablet, options: &WriteOptions) -> Result<()> {
        match self.write_fitting(tablet, options) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.options.extend_tables => {
                self.extend_table(tablet)?;
                self.write_fitting(tablet, options)
            }
            written => written,
        }
    }

    fn write_fitting(&self, tablet: &Tablet, options: &WriteOptions) -> Result<()> {
        self.wait_for_memory(options)?;
        let _table_stays = self.ddl.read();
        let table = self.table_of(tablet)?;
        match table.fit(tablet)? {
            _ if tablet.is_empty() => Ok(()),
            Fit::AsIs => self.log_and_apply(&table, tablet),
            Fit::Rebuilt(rebuilt) => self.log_and_apply(&table, &rebuilt),
        }
    }

    fn log_and_apply(&self, table: &Table, tablet: &Tablet) -> Result<()> {
        let entry = NewEntry::Tablet { id: table.id, schema: &table.schema, tablet: tablet.as_ref() };
        let sequences = self.log()?.append(entry, self.options.durability.level())?;
        self.apply(&sequences, |memory, sequence| memory.write(sequence, tablet))
    }

    /// Applies what was logged, when everything before it is applied: after a crash the rows come back in the order of the
    /// log, so they must have gone in like that. The change is given the sequence of its entry, the last of these.
    pub(crate) fn apply(
        &self,
        sequences: &RangeInclusive<u64>,
        change: impl FnOnce(&mut Memory, u64) -> Result<()>,
    ) -> Result<()> {
        let mut memory = self.memory.lock();
        while memory.applied + 1 != *sequences.start() {
            self.applied.wait(&mut memory);
        }
        let changed = change(&mut memory, *sequences.end());
        memory.applied = *sequences.end();
        if changed.is_ok() && memory.is_flush_due() {
            memory.freeze();
            self.signal.ask_for_flush();
        }
        drop(memory);
        self.applied.notify_all();
        changed.inspect_err(|error| {
            // What was logged was checked before, so this is a mistake of ours; the log has it, memory has not.
            if let Some(log) = &self.log {
                log.close(&format!("a logged entry was refused: {error}"));
            }
        })
    }

    /// Back-pressure: when too many memtables wait for their files, the writer flushes itself, or waits as long as it may.
    fn wait_for_memory(&self, options: &WriteOptions) -> Result<()> {
        let is_full = |memory: &Memory| memory.frozen.len() >= self.options.frozen_count_max.max(1);
        if !is_full(&self.memory.lock()) {
            return Ok(());
        }
        if options.wait && options.timeout.is_none() {
            while is_full(&self.memory.lock()) {
                self.flush_frozen()?;
            }
            return Ok(());
        }
        self.log()?.check_open()?;
        let until = Instant::now() + options.timeout.filter(|_| options.wait).unwrap_or_default();
        self.signal.ask_for_flush();
        let mut memory = self.memory.lock();
        while is_full(&memory) {
            if self.flushed.wait_until(&mut memory, until).timed_out() && is_full(&memory) {
                let message = format!("{} memtables wait to be flushed", memory.frozen.len());
                return Err(Error::new(ErrorKind::WouldBlock, message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsloom_model::{ColumnSchema, DataType};

    fn table() -> TableSchema {
        TableSchema::builder("t").tag("a").tag("b").field("x", DataType::Int64).field("y", DataType::Double).build().unwrap()
    }

    fn rebuilt(tablet: &Tablet) -> Tablet {
        match fit(&table(), tablet).unwrap() {
            Fit::Rebuilt(rebuilt) => *rebuilt,
            Fit::AsIs => panic!("it has other columns"),
        }
    }

    #[test]
    fn a_tablet_of_the_table_is_taken_as_it_is() {
        assert!(matches!(fit(&table(), &Tablet::new(&table())), Ok(Fit::AsIs)));
    }

    #[test]
    fn columns_are_matched_by_name_and_the_others_are_absent() {
        let part = TableSchema::builder("t").field("y", DataType::Double).tag("b").build().unwrap();
        let mut tablet = Tablet::new(&part);
        tablet.push_row(5, &[0.5.into(), "dev".into()]).unwrap();
        let tablet = rebuilt(&tablet);
        assert_eq!(tablet.present_columns().collect::<Vec<_>>(), [1, 3]);
        assert_eq!(tablet.column(1).unwrap().value(0), "dev".into());
        assert_eq!((tablet.times(), tablet.column(3).unwrap().value(0)), (&[5][..], 0.5.into()));
    }

    fn check_refused(column: ColumnSchema, kind: ErrorKind, message: &str) {
        let part = TableSchema::builder("t").column(column).build().unwrap();
        let error = fit(&table(), &Tablet::new(&part)).err().unwrap();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let unknown = ColumnSchema::field("z", DataType::Int64);
        check_refused(unknown, ErrorKind::NotFound, "table t has no column z; it has a, b, x, y");
        check_refused(
            ColumnSchema::field("x", DataType::Int32),
            ErrorKind::SchemaMismatch,
            "column x: a FIELD INT32 in the tablet, a FIELD INT64 in table t",
        );
        check_refused(
            ColumnSchema::tag("x"),
            ErrorKind::SchemaMismatch,
            "column x: a TAG STRING in the tablet, a FIELD INT64 in table t",
        );
    }
}
