//! From memtables to files, in an order in which a crash anywhere loses nothing.
//!
//! ```text
//! 1  the growing log segment is closed, the memtable frozen          nothing to lose: all is in the log
//! 2  data/N.tmp written and synced, renamed to data/N.tsfile,
//!    the folder synced                                               an unknown file; removed by the next open
//! 3  MANIFEST replaced: names the file, and how far the log is in it the file counts, the log up to there does not
//! 4  memtable and file change places for scans                       (memory only)
//! 5  a checkpoint is logged, log segments are dropped                what is left of them is skipped
//! ```
//!
//! A part of the log that has no rows, but new or dropped tables or deletes, gets no file and otherwise goes the same way.
//! What is deleted while a file is being written is an erasure that concerns it: see `erasure`.
//!
//! A failed write leaves the memtable frozen, to be tried again. After a failed sync the log is closed: nothing that happens
//! later on such a disk can be vouched for.

use std::io::{self, BufWriter};
use std::sync::Arc;

use tsloom_file::{FileSummary, FileWriter};
use tsloom_io::AppendFile;
use tsloom_memtable::MemtableSnapshot;
use tsloom_model::{ColumnView, Error, Result, TableSchema, TimeRange};
use tsloom_wal::{Level, NewEntry};

use crate::catalog::Catalog;
use crate::files::{self, OpenFile};
use crate::manifest::{FileEntry, Manifest, Unwritten};
use crate::options::Durability;
use crate::store::Shared;

const BUFFER_SIZE: usize = 256 << 10;

/// Rows handed to the file writer at once.
const ROWS_AT_ONCE: usize = 4096;

/// A frozen part of the log as it was when its flush began.
struct Part {
    rows: MemtableSnapshot,
    last_sequence: u64,
    catalog: Arc<Catalog>,
}

impl Shared {
    /// Freezes what was written and moves it into files.
    pub(crate) fn flush(&self) -> Result<()> {
        let log = self.log()?;
        let mut manifest = self.manifest.lock();
        log.check_open()?;
        if !self.memory.lock().is_flush_of_use() {
            return Ok(());
        }
        if self.options.durability != Durability::Never {
            log.rotate()?;
        }
        self.memory.lock().freeze();
        self.flush_all(&mut manifest)
    }

    /// Moves what is frozen into files.
    pub(crate) fn flush_frozen(&self) -> Result<()> {
        let mut manifest = self.manifest.lock();
        self.log()?.check_open()?;
        self.flush_all(&mut manifest)
    }

    fn flush_all(&self, manifest: &mut Manifest) -> Result<()> {
        loop {
            let next = self.memory.lock().frozen.front().map(|part| Part {
                rows: part.frozen.snapshot(),
                last_sequence: part.last_sequence,
                catalog: Arc::clone(&part.catalog),
            });
            let Some(part) = next else {
                return Ok(());
            };
            self.flush_one(manifest, &part)?;
        }
    }

    fn flush_one(&self, manifest: &mut Manifest, part: &Part) -> Result<()> {
        let entry = self.write_file(manifest.next_file, part)?;
        let file = entry.map(|entry| OpenFile::open(&*self.dir, entry, self.options.limits)).transpose()?;
        let mut next = Manifest {
            generation: manifest.generation + 1,
            flushed: part.last_sequence,
            log_segment: self.log()?.segment_number(),
            next_table: part.catalog.next_id(),
            tables: part.catalog.tables().iter().map(|table| (table.id, table.schema.clone())).collect(),
            erasures: self.memory.lock().erasures.through(part.last_sequence),
            ..manifest.clone()
        };
        if let Some(file) = &file {
            next.next_file += 1;
            next.files.push(file.entry.clone());
        }
        self.write_manifest(manifest, next)?;
        self.flushes.lock().count += u64::from(file.is_some());
        {
            let mut memory = self.memory.lock();
            memory.frozen.pop_front();
            memory.files.extend(file);
            memory.flushed = part.last_sequence;
            memory.forget_erasures();
        }
        self.flushed.notify_all();
        self.drop_log(part.last_sequence)
    }

    fn write_manifest(&self, manifest: &mut Manifest, next: Manifest) -> Result<()> {
        match next.write(&*self.dir) {
            Ok(()) => {
                *manifest = next;
                Ok(())
            }
            Err(Unwritten::Refused(error)) => Err(error),
            Err(Unwritten::Unknown(error)) => {
                self.close(&error);
                Err(error)
            }
        }
    }

    fn drop_log(&self, flushed: u64) -> Result<()> {
        let log = self.log()?;
        let checkpoint = log.append(NewEntry::Checkpoint { flushed }, Level::Written)?;
        self.apply(&checkpoint, |_, _| Ok(()))?;
        log.drop_through(flushed)
    }

    /// Writes the rows of a part; `None` when it has none.
    fn write_file(&self, number: u64, part: &Part) -> Result<Option<FileEntry>> {
        let tables = self.tables_of(part)?;
        if tables.is_empty() {
            return Ok(None);
        }
        let (temporary, name) = (files::temporary_name(number), files::name(number));
        let written = self.write_temporary(&temporary, part, &tables).and_then(|(mut sink, summary, times)| {
            self.synced(sink.sync(), &temporary)?;
            self.dir.rename(&temporary, &name).map_err(|error| Error::from(error).in_file(&name))?;
            self.synced(self.dir.sync(files::FOLDER), files::FOLDER)?;
            let (size, row_count) = (summary.size, summary.row_count);
            Ok(FileEntry { number, size, row_count, times, erased_through: part.last_sequence })
        });
        if written.is_err() {
            // The next flush writes over it, the next open removes it: its staying does no harm.
            drop(self.dir.remove(&temporary));
        }
        written.map(Some)
    }

    /// The tables of which the part has rows, as far as they were not dropped since.
    fn tables_of(&self, part: &Part) -> Result<Vec<TableSchema>> {
        let erasures = self.memory.lock().erasures.clone();
        let mut tables = Vec::new();
        for name in part.rows.tables() {
            let schema = &part.catalog.require(name)?.schema;
            tables.extend(erasures.left_of(schema, part.last_sequence)?);
        }
        Ok(tables)
    }

    fn write_temporary(&self, name: &str, part: &Part, tables: &[TableSchema]) -> Result<(AppendFile, FileSummary, TimeRange)> {
        let file = self.dir.create(name).map_err(|error| Error::from(error).in_file(name))?;
        let sink = BufWriter::with_capacity(BUFFER_SIZE, AppendFile::new(file));
        let mut writer = FileWriter::new(sink, self.options.writer.clone())?;
        let mut times = TimeRange::EMPTY;
        for schema in tables {
            writer.add_table(schema)?;
            let fields: Vec<&str> = schema.fields().map(|index| schema.columns()[index].name.as_str()).collect();
            for device in part.rows.device_snapshots(schema.name()) {
                let mut cursor = device.cursor(&fields, TimeRange::ALL);
                while let Some(rows) = cursor.next_rows(ROWS_AT_ONCE) {
                    let columns: Vec<Option<ColumnView<'_>>> = rows.columns().collect();
                    writer.write_rows(schema.name(), device.device(), rows.times(), &columns)?;
                    if let (Some(first), Some(last)) = (rows.times().first(), rows.times().last()) {
                        times = TimeRange { start: times.start.min(*first), end: times.end.max(*last) };
                    }
                }
            }
        }
        let (sink, summary) = writer.finish()?;
        let sink = sink.into_inner().map_err(|error| Error::from(error.into_error()).in_file(name))?;
        Ok((sink, summary, times))
    }

    /// A failed sync closes the log.
    fn synced(&self, done: io::Result<()>, name: &str) -> Result<()> {
        done.map_err(|error| {
            let error = Error::from(error).in_file(name);
            self.close(&error);
            error
        })
    }

    fn close(&self, error: &Error) {
        if let Some(log) = &self.log {
            log.close(&error.to_string());
        }
    }
}
