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
//! Rows that are later than all that files have of their device go into an in-order file, the others into a late one. So no time
//! of a device is in two in-order files, nor in an in-order file and a late one before it: late files override those in order.
//!
//! A part of the log that has no rows, but new or dropped tables or deletes, gets no file and otherwise goes the same way.
//! What is deleted while a file is being written is an erasure that concerns it: see `erasure`.
//!
//! A failed write leaves the memtable frozen, to be tried again. After a failed sync the log is closed: nothing that happens
//! later on such a disk can be vouched for.

use std::io;
use std::sync::Arc;

use tsloom_file::DeviceSeries;
use tsloom_memtable::{DeviceSnapshot, MemtableSnapshot};
use tsloom_model::{ColumnView, DeviceId, Error, Result, TableSchema, TimeRange};
use tsloom_wal::{Level, NewEntry};

use crate::catalog::Catalog;
use crate::erasure::Erasures;
use crate::files::OpenFile;
use crate::manifest::{FileEntry, Manifest, Unwritten};
use crate::options::Durability;
use crate::output::Output;
use crate::store::Shared;

/// Rows handed to the file writer at once.
const ROWS_AT_ONCE: usize = 4096;

/// A frozen part of the log, and the files before it, as they were when its flush began.
struct Part {
    rows: MemtableSnapshot,
    last_sequence: u64,
    catalog: Arc<Catalog>,
    erasures: Erasures,
    files: Vec<OpenFile>,
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
            let part = {
                let memory = self.memory.lock();
                let Some(part) = memory.frozen.front() else { return Ok(()) };
                Part {
                    rows: part.frozen.snapshot(),
                    last_sequence: part.last_sequence,
                    catalog: Arc::clone(&part.catalog),
                    erasures: memory.erasures.clone(),
                    files: memory.files.clone(),
                }
            };
            self.flush_one(manifest, &part)?;
        }
    }

    fn flush_one(&self, manifest: &mut Manifest, part: &Part) -> Result<()> {
        let entries = self.write_files(part)?;
        let open = |entry: &FileEntry| OpenFile::open(&*self.dir, entry.clone(), self.options.limits);
        let files = entries.iter().map(open).collect::<Result<Vec<_>>>()?;
        let mut next = Manifest {
            generation: manifest.generation + 1,
            flushed: part.last_sequence,
            log_segment: self.log()?.segment_number(),
            next_table: part.catalog.next_id(),
            tables: part.catalog.tables().iter().map(|table| (table.id, table.schema.clone())).collect(),
            ..manifest.clone()
        };
        {
            let memory = self.memory.lock();
            next.next_file = memory.next_file;
            next.erasures = memory.erasures.through(part.last_sequence);
        }
        next.files.extend(entries);
        self.write_manifest(manifest, next)?;
        self.flushes.lock().count += files.len() as u64;
        {
            let mut memory = self.memory.lock();
            memory.frozen.pop_front();
            memory.files.extend(files);
            memory.flushed = part.last_sequence;
            memory.forget_erasures();
        }
        self.flushed.notify_all();
        self.signal.ask_to_compact();
        self.drop_log(part.last_sequence)
    }

    pub(crate) fn write_manifest(&self, manifest: &mut Manifest, next: Manifest) -> Result<()> {
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

    /// Writes the rows of a part: those later than all that files have of their device into one file, and the others into
    /// another.
    fn write_files(&self, part: &Part) -> Result<Vec<FileEntry>> {
        let tables = part.tables()?;
        let (mut in_order, mut late) = (None, None);
        for schema in &tables {
            for device in part.rows.device_snapshots(schema.name()) {
                let first = device.time_range().start;
                match part.last_time(device.device(), first)? {
                    Some(last) => {
                        self.write_rows(&mut late, &tables, schema, &device, TimeRange { start: i64::MIN, end: last })?;
                        if let Some(next) = last.checked_add(1) {
                            self.write_rows(&mut in_order, &tables, schema, &device, TimeRange::from_bounds(next..))?;
                        }
                    }
                    None => self.write_rows(&mut in_order, &tables, schema, &device, TimeRange::ALL)?,
                }
            }
        }
        let outputs = [(in_order, false), (late, true)].into_iter();
        outputs.filter_map(|(output, is_late)| Some(output?.finish(is_late, part.last_sequence))).collect()
    }

    /// Appends the rows of a device in these times to a file, which begins with the first of them.
    fn write_rows<'a>(
        &'a self,
        output: &mut Option<Output<'a>>,
        tables: &[TableSchema],
        schema: &TableSchema,
        device: &DeviceSnapshot,
        times: TimeRange,
    ) -> Result<()> {
        let fields: Vec<&str> = schema.fields().map(|index| schema.columns()[index].name.as_str()).collect();
        let mut cursor = device.cursor(&fields, times);
        while let Some(rows) = cursor.next_rows(ROWS_AT_ONCE) {
            let columns: Vec<Option<ColumnView<'_>>> = rows.columns().collect();
            let output = match output {
                Some(output) => output,
                None => output.insert(Output::create(self, tables)?),
            };
            output.write(schema.name(), device.device(), rows.times(), &columns)?;
        }
        Ok(())
    }

    /// A failed sync closes the log.
    pub(crate) fn synced(&self, done: io::Result<()>, name: &str) -> Result<()> {
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

impl Part {
    /// The tables of which the part has rows, as far as they were not dropped since.
    fn tables(&self) -> Result<Vec<TableSchema>> {
        let mut tables = Vec::new();
        for name in self.rows.tables() {
            let schema = &self.catalog.require(name)?.schema;
            tables.extend(self.erasures.left_of(schema, self.last_sequence)?);
        }
        Ok(tables)
    }

    /// The last time that files have of a device, when it is not before `first`.
    fn last_time(&self, device: &DeviceId, first: i64) -> Result<Option<i64>> {
        let mut last = None;
        let mut series = DeviceSeries::default();
        let is_there = |file: &&OpenFile| {
            file.entry.times.end >= first && !self.erasures.has_table(device.table(), file.entry.erased_through)
        };
        for file in self.files.iter().filter(is_there) {
            if file.reader.find_device(device, &mut series)? {
                let of_file = series.time().map_or(file.entry.times.end, |time| time.statistics().end_time());
                last = last.max(Some(of_file).filter(|last| *last >= first));
            }
        }
        Ok(last)
    }
}
