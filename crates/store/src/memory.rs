//! What changes while a store is open: tables, memtables, files, and how far the log is applied.
//!
//! Every entry of the log changes [`Memory`] by a method of its own, at once when it was appended and again when it is replayed:
//! so what is found after a crash is what was there before.

use std::collections::VecDeque;
use std::sync::Arc;

use tsloom_io::ReadAt;
use tsloom_memtable::{Frozen, Memtable, MemtableOptions, MemtableSnapshot};
use tsloom_model::{DeviceId, Error, ErrorKind, Result, TableSchema, TimeRange};
use tsloom_scan::Source;
use tsloom_tablet::Tablet;
use tsloom_wal::Delete;

use crate::catalog::Catalog;
use crate::erasure::{Erased, Erasure, Erasures};
use crate::files::OpenFile;
use crate::manifest::Manifest;

/// A memtable takes no more rows than this before it is frozen, whatever its bytes: rows of a memtable are counted with 32 bits.
const MEMTABLE_ROWS_MAX: u64 = 1 << 30;

/// What the log had between two entries, on its way to a file and the manifest. It may have no rows.
pub(crate) struct FrozenPart {
    pub(crate) frozen: Frozen,
    /// It is the log up to this entry.
    pub(crate) last_sequence: u64,
    /// The tables as they were then.
    pub(crate) catalog: Arc<Catalog>,
}

/// Guarded by one lock that is held for moments only.
pub(crate) struct Memory {
    options: MemtableOptions,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) active: Memtable,
    /// Oldest first.
    pub(crate) frozen: VecDeque<FrozenPart>,
    /// All older than the frozen memtables. Late ones are newer than those in order, and stand oldest first.
    pub(crate) files: Vec<OpenFile>,
    /// Number of the next file.
    pub(crate) next_file: u64,
    /// What is gone, though some file or frozen memtable had it once.
    pub(crate) erasures: Erasures,
    /// Files and manifest have what log entries up to this one say.
    pub(crate) flushed: u64,
    /// Log entries up to this one are applied.
    pub(crate) applied: u64,
    /// The last of them that changed something.
    changed: u64,
}

impl Memory {
    pub(crate) fn new(options: MemtableOptions, catalog: Catalog, files: Vec<OpenFile>, manifest: &Manifest) -> Self {
        let (flushed, erasures, next_file) = (manifest.flushed, manifest.erasures.clone(), manifest.next_file);
        let (active, frozen) = (Memtable::new(options.clone()), VecDeque::new());
        let catalog = Arc::new(catalog);
        Self { options, catalog, active, frozen, files, next_file, erasures, flushed, applied: flushed, changed: flushed }
    }

    /// A tablet that has the columns of its table.
    pub(crate) fn write(&mut self, sequence: u64, tablet: &Tablet) -> Result<()> {
        self.active.write(tablet)?;
        self.changed = sequence;
        Ok(())
    }

    /// A schema: of a new table, the next one of a table, or one that is said again.
    pub(crate) fn declare(&mut self, sequence: u64, id: u32, schema: &Arc<TableSchema>) -> Result<()> {
        if id < self.catalog.next_id() {
            return match self.catalog.of_id(id) {
                Some(table) if table.schema != *schema => {
                    let message =
                        format!("the log has two schemas with the id {id}, of {} and {}", table.schema.name(), schema.name());
                    Err(Error::new(ErrorKind::Corrupt, message))
                }
                // The same, or of a table that has another schema by now, or is gone.
                _ => Ok(()),
            };
        }
        let before = Arc::make_mut(&mut self.catalog).put(id, Arc::clone(schema));
        let dropped = before.iter().flat_map(|table| table.schema.columns());
        for column in dropped.filter(|column| schema.column_index(&column.name).is_none()) {
            self.active.delete_column(schema.name(), &column.name);
            for part in &mut self.frozen {
                part.frozen.delete_column(schema.name(), &column.name);
            }
            self.erase(sequence, schema.name(), Erased::Column(column.name.clone()));
        }
        self.changed = sequence;
        Ok(())
    }

    /// A table that is gone.
    pub(crate) fn drop_table(&mut self, sequence: u64, id: u32) -> Result<()> {
        let table = Arc::make_mut(&mut self.catalog).remove(id)?;
        let name = table.schema.name();
        self.active.drop_table(name);
        for part in &mut self.frozen {
            part.frozen.drop_table(name);
        }
        self.erase(sequence, name, Erased::Table);
        self.changed = sequence;
        Ok(())
    }

    /// Rows or cells that are gone.
    pub(crate) fn delete(&mut self, sequence: u64, id: u32, delete: Delete) -> Result<()> {
        let Some(table) = self.catalog.of_id(id).map(|table| table.schema.name().to_owned()) else {
            return Err(Error::new(ErrorKind::Corrupt, format!("a delete for schema {id}, which no table has")));
        };
        let is_meant = |device: &DeviceId| delete.devices.as_ref().is_none_or(|devices| devices.matches(device));
        if delete.columns.is_empty() {
            self.active.delete_rows(&table, is_meant, delete.times);
            for part in &mut self.frozen {
                part.frozen.delete_rows(&table, is_meant, delete.times);
            }
        }
        for column in &delete.columns {
            self.active.delete_cells(&table, column, is_meant, delete.times);
            for part in &mut self.frozen {
                part.frozen.delete_cells(&table, column, is_meant, delete.times);
            }
        }
        self.erase(sequence, &table, Erased::Part(delete));
        self.changed = sequence;
        Ok(())
    }

    /// Writes down what files, and memtables that are being written to files, have to be told.
    fn erase(&mut self, sequence: u64, table: &str, erased: Erased) {
        if !self.files.is_empty() || !self.frozen.is_empty() {
            self.erasures.push(Erasure { sequence, table: table.to_owned(), erased });
        }
    }

    /// Forgets the erasures that no file and no frozen memtable lags behind.
    pub(crate) fn forget_erasures(&mut self) {
        let files = self.files.iter().map(|file| file.entry.erased_through);
        let frozen = self.frozen.iter().map(|part| part.last_sequence);
        self.erasures.forget(files.chain(frozen).min().unwrap_or(u64::MAX));
    }

    /// A number that no file has, had, or will have.
    pub(crate) fn take_file_number(&mut self) -> u64 {
        self.next_file += 1;
        self.next_file - 1
    }

    pub(crate) fn is_flush_due(&self) -> bool {
        self.active.is_flush_due() || self.active.row_count() >= MEMTABLE_ROWS_MAX
    }

    /// True when the log has something that files and manifest have not.
    pub(crate) fn is_flush_of_use(&self) -> bool {
        self.changed > self.flushed
    }

    /// Puts an empty memtable in the place of the one that is written, if anything changed since the last one was frozen.
    pub(crate) fn freeze(&mut self) {
        if self.changed > self.frozen.back().map_or(self.flushed, |part| part.last_sequence) {
            let full = std::mem::replace(&mut self.active, Memtable::new(self.options.clone()));
            let (last_sequence, catalog) = (self.applied, Arc::clone(&self.catalog));
            self.frozen.push_back(FrozenPart { frozen: full.freeze(), last_sequence, catalog });
        }
    }

    /// All that may have rows of a table in a time range, oldest first.
    pub(crate) fn sources(&self, table: &str, times: TimeRange) -> Vec<Source<Arc<dyn ReadAt>>> {
        let is_wanted = |file: &&OpenFile| {
            file.entry.times.overlaps(times)
                && file.reader.table(table).is_some()
                && !self.erasures.has_table(table, file.entry.erased_through)
        };
        let of_file = |file: &OpenFile| {
            Source::file(Arc::clone(&file.reader)).without(self.erasures.deletions(table, file.entry.erased_through))
        };
        let (late, in_order): (Vec<&OpenFile>, Vec<&OpenFile>) =
            self.files.iter().filter(is_wanted).partition(|file| file.entry.is_late);
        let files = in_order.into_iter().chain(late).map(of_file);
        let frozen = self.frozen.iter().map(|part| part.frozen.snapshot());
        let active = (!self.active.is_empty()).then(|| self.active.snapshot());
        let has_table = |snapshot: &MemtableSnapshot| snapshot.tables().any(|name| name == table);
        files.chain(frozen.chain(active).filter(has_table).map(Source::memtable)).collect()
    }
}
