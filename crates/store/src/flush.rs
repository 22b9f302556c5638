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
//! A failed write leaves the memtable frozen, to be tried again. After a failed sync the log is closed: nothing that happens
//! later on such a disk can be vouched for.

use std::io::{self, BufWriter};

use tsloom_file::{FileSummary, FileWriter};
use tsloom_io::AppendFile;
use tsloom_memtable::MemtableSnapshot;
use tsloom_model::{ColumnView, Error, Result, TimeRange};
use tsloom_wal::{Level, NewEntry};

use crate::files::{self, OpenFile};
use crate::manifest::{FileEntry, Manifest, Unwritten};
use crate::options::Durability;
use crate::store::Shared;

const BUFFER_SIZE: usize = 256 << 10;

/// Rows handed to the file writer at once.
const ROWS_AT_ONCE: usize = 4096;

impl Shared {
    /// Freezes what was written and moves it into files.
    pub(crate) fn flush(&self) -> Result<()> {
        let log = self.log()?;
        let mut manifest = self.manifest.lock();
        log.check_open()?;
        {
            let memory = self.memory.lock();
            let has_rows = !memory.active.is_empty() || !memory.frozen.is_empty();
            drop(memory);
            if !has_rows && !self.has_new_tables(&manifest) {
                return Ok(());
            }
        }
        if self.options.durability != Durability::Never {
            log.rotate()?;
        }
        self.memory.lock().freeze();
        self.flush_all(&mut manifest)?;
        self.save_tables(&mut manifest)
    }

    /// Moves what is frozen into files.
    pub(crate) fn flush_frozen(&self) -> Result<()> {
        let mut manifest = self.manifest.lock();
        self.log()?.check_open()?;
        self.flush_all(&mut manifest)
    }

    fn flush_all(&self, manifest: &mut Manifest) -> Result<()> {
        loop {
            let next = self.memory.lock().frozen.front().map(|part| (part.frozen.snapshot(), part.last_sequence));
            let Some((rows, last_sequence)) = next else {
                return Ok(());
            };
            self.flush_one(manifest, &rows, last_sequence)?;
        }
    }

    fn flush_one(&self, manifest: &mut Manifest, rows: &MemtableSnapshot, last_sequence: u64) -> Result<()> {
        let number = manifest.next_file;
        let entry = self.write_file(number, rows)?;
        let file = OpenFile::open(&*self.dir, entry.clone(), self.options.limits)?;
        let mut next = self.next_manifest(manifest, last_sequence)?;
        next.next_file = number + 1;
        next.files.push(entry);
        self.write_manifest(manifest, next)?;
        {
            let mut memory = self.memory.lock();
            memory.frozen.pop_front();
            memory.files.push(file);
        }
        self.flushes.lock().count += 1;
        self.drop_log(last_sequence)
    }

    fn has_new_tables(&self, manifest: &Manifest) -> bool {
        self.catalog.read().tables().len() != manifest.tables.len()
    }

    /// Tables without rows are in the log only; without this it could never be dropped.
    fn save_tables(&self, manifest: &mut Manifest) -> Result<()> {
        let applied = {
            let memory = self.memory.lock();
            if !memory.active.is_empty() || !memory.frozen.is_empty() {
                return Ok(());
            }
            memory.applied
        };
        if !self.has_new_tables(manifest) {
            return Ok(());
        }
        let next = self.next_manifest(manifest, applied)?;
        self.write_manifest(manifest, next)?;
        self.drop_log(applied)
    }

    /// The manifest that follows. Every table whose entry is at or below `flushed` is in the catalog: see `create_table`.
    fn next_manifest(&self, manifest: &Manifest, flushed: u64) -> Result<Manifest> {
        let catalog = self.catalog.read();
        Ok(Manifest {
            generation: manifest.generation + 1,
            flushed,
            log_segment: self.log()?.segment_number(),
            next_table: catalog.next_id(),
            tables: catalog.tables().iter().map(|table| (table.id, table.schema.clone())).collect(),
            ..manifest.clone()
        })
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
        self.apply(&checkpoint, |_| Ok(()))?;
        log.drop_through(flushed)
    }

    fn write_file(&self, number: u64, rows: &MemtableSnapshot) -> Result<FileEntry> {
        let (temporary, name) = (files::temporary_name(number), files::name(number));
        let written = self.write_temporary(&temporary, rows).and_then(|(mut sink, summary, times)| {
            self.synced(sink.sync(), &temporary)?;
            self.dir.rename(&temporary, &name).map_err(|error| Error::from(error).in_file(&name))?;
            self.synced(self.dir.sync(files::FOLDER), files::FOLDER)?;
            Ok(FileEntry { number, size: summary.size, row_count: summary.row_count, times })
        });
        if written.is_err() {
            // The next flush writes over it, the next open removes it: its staying does no harm.
            drop(self.dir.remove(&temporary));
        }
        written
    }

    fn write_temporary(&self, name: &str, rows: &MemtableSnapshot) -> Result<(AppendFile, FileSummary, TimeRange)> {
        let file = self.dir.create(name).map_err(|error| Error::from(error).in_file(name))?;
        let sink = BufWriter::with_capacity(BUFFER_SIZE, AppendFile::new(file));
        let mut writer = FileWriter::new(sink, self.options.writer.clone())?;
        let mut times = TimeRange::EMPTY;
        for table in rows.tables() {
            let schema = self.catalog.read().require(table)?.schema.clone();
            writer.add_table(&schema)?;
            let fields: Vec<&str> = schema.fields().map(|index| schema.columns()[index].name.as_str()).collect();
            for device in rows.device_snapshots(table) {
                let mut cursor = device.cursor(&fields, TimeRange::ALL);
                while let Some(rows) = cursor.next_rows(ROWS_AT_ONCE) {
                    let columns: Vec<Option<ColumnView<'_>>> = rows.columns().collect();
                    writer.write_rows(table, device.device(), rows.times(), &columns)?;
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
