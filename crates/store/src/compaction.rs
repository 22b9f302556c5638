//! Fewer files, and deletions carried out: several files become one, while reads, writes and flushes go on.
//!
//! ```text
//! in order  ───▶ neighbours of about one size become one file of the next size            (size-tiered)
//! late      ───▶ all of them, and the in-order files that they overlap, become one in-order file
//! ```
//!
//! Any in-order files may be merged with each other: no time of a device is in two of them. Late files are merged all at once, with
//! every in-order file in whose times they reach, so that what is left neither has a time of the result nor is older than it.
//!
//! A new file is written and synced beside the others; then one manifest takes the old ones out and the new one in. A crash before
//! that leaves a file, and one after it leaves files, that the next open removes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tsloom_bitmap::NullWords;
use tsloom_block::{Block, Column};
use tsloom_model::{ColumnView, DeviceId, Result, TableSchema, TimeRange};
use tsloom_scan::{ScanRequest, Source, TableScan};

use crate::files::{self, OpenFile};
use crate::manifest::{FileEntry, Manifest};
use crate::memory::Memory;
use crate::output::Output;
use crate::store::{Shared, Store};

/// Files below this size count as this size.
const TIER_SIZE_MIN: u64 = 1 << 20;

/// How many times larger a file of the next tier is.
const TIER_RATIO: u64 = 4;

/// When files are merged in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionOptions {
    /// So many neighbouring in-order files of about one size, or so many late files, are merged. 0: none ever.
    pub files: usize,
    /// Bytes of values that are moved in a second at most.
    pub bytes_per_second: Option<u64>,
}

impl Default for CompactionOptions {
    fn default() -> Self {
        Self { files: 8, bytes_per_second: None }
    }
}

/// Asked again and again: may the merge go on?
pub(crate) type GoOn<'a> = &'a dyn Fn() -> bool;

impl Store {
    /// Merges all files into one, and carries out what was deleted, column by column and table by table. Reads and writes go on.
    ///
    /// # Errors
    /// What is damaged in a file, and what the operating system says. The files are as before then.
    pub fn compact(&self) -> Result<()> {
        self.compact_while(|| true).map(|_| ())
    }

    /// As [`compact`](Self::compact), for as long as `go_on` says so; it is asked between blocks of rows. False when it was
    /// stopped: the files are as before then.
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    pub fn compact_while(&self, go_on: impl Fn() -> bool) -> Result<bool> {
        let shared = self.shared();
        shared.log()?.check_open()?;
        let _alone = shared.compacting.lock();
        let (files, through) = {
            let memory = shared.memory.lock();
            let files: Vec<FileEntry> = memory.files.iter().map(|file| file.entry.clone()).collect();
            (files, memory.erasures.last_sequence())
        };
        if files.len() <= 1 && files.iter().all(|file| file.erased_through >= through && !file.is_late) {
            return Ok(true);
        }
        shared.merge(&files.iter().map(|file| file.number).collect(), &go_on)
    }
}

impl Shared {
    /// Merges what is worth merging, until nothing is.
    pub(crate) fn compact_in_background(&self, go_on: GoOn<'_>) -> Result<()> {
        let _alone = self.compacting.lock();
        loop {
            let files: Vec<FileEntry> = self.memory.lock().files.iter().map(|file| file.entry.clone()).collect();
            match choose(&files, self.options.compaction.files) {
                Some(inputs) if self.merge(&inputs, go_on)? => {}
                _ => return Ok(()),
            }
        }
    }

    /// Puts one in-order file in the place of these files. False when it was told to stop.
    fn merge(&self, inputs: &BTreeSet<u64>, go_on: GoOn<'_>) -> Result<bool> {
        let merge = Merge::new(&self.memory.lock(), inputs);
        let Some(output) = merge.write(self, go_on)? else { return Ok(false) };
        let file = output.map(|entry| OpenFile::open(&*self.dir, entry, self.options.limits)).transpose()?;

        let mut manifest = self.manifest.lock();
        self.log()?.check_open()?;
        let mut next = Manifest { generation: manifest.generation + 1, ..manifest.clone() };
        next.next_file = self.memory.lock().next_file;
        next.files.retain(|file| !inputs.contains(&file.number));
        next.files.extend(file.iter().map(|file| file.entry.clone()));
        self.write_manifest(&mut manifest, next)?;
        {
            let mut memory = self.memory.lock();
            memory.files.retain(|file| !inputs.contains(&file.entry.number));
            memory.files.extend(file);
            memory.forget_erasures();
        }
        drop(manifest);
        self.flushes.lock().compactions += 1;
        for number in inputs {
            // What stays is removed by the next open. Scans that have it open go on reading it.
            drop(self.dir.remove(&files::name(*number)));
        }
        Ok(true)
    }
}

/// The files that are worth merging; in-order files come in the order of their times.
fn choose(files: &[FileEntry], count_min: usize) -> Option<BTreeSet<u64>> {
    if count_min == 0 {
        return None;
    }
    let late: Vec<&FileEntry> = files.iter().filter(|file| file.is_late).collect();
    if late.len() >= count_min {
        let hull = late.iter().fold(TimeRange::EMPTY, |hull, file| TimeRange {
            start: hull.start.min(file.times.start),
            end: hull.end.max(file.times.end),
        });
        return Some(files.iter().filter(|file| file.is_late || file.times.overlaps(hull)).map(|file| file.number).collect());
    }
    let mut in_order: Vec<&FileEntry> = files.iter().filter(|file| !file.is_late).collect();
    in_order.sort_by_key(|file| (file.times.start, file.number));
    let runs = in_order.chunk_by(|left, right| tier(left.size) == tier(right.size));
    let longest = runs.max_by_key(|run| run.len()).filter(|run| run.len() >= count_min.max(2))?;
    Some(longest.iter().map(|file| file.number).collect())
}

/// 0 for small files, one more for each [`TIER_RATIO`] times the size.
fn tier(size: u64) -> u32 {
    (size / TIER_SIZE_MIN).max(1).ilog(TIER_RATIO)
}

/// What is merged: files, and what was deleted of them, at one moment.
struct Merge {
    tables: Vec<Arc<TableSchema>>,
    /// Oldest first: those in order, then late ones.
    files: Vec<OpenFile>,
    erasures: crate::erasure::Erasures,
}

impl Merge {
    fn new(memory: &Memory, inputs: &BTreeSet<u64>) -> Self {
        let is_input = |file: &&OpenFile| inputs.contains(&file.entry.number);
        let mut files: Vec<OpenFile> = memory.files.iter().filter(is_input).cloned().collect();
        files.sort_by_key(|file| file.entry.is_late); // stable
        let tables = memory.catalog.tables().iter().map(|table| Arc::clone(&table.schema)).collect();
        Self { tables, files, erasures: memory.erasures.clone() }
    }

    fn sources(&self, table: &str) -> Vec<Source<Arc<dyn tsloom_io::ReadAt>>> {
        let is_there =
            |file: &&OpenFile| file.reader.table(table).is_some() && !self.erasures.has_table(table, file.entry.erased_through);
        let source = |file: &OpenFile| {
            Source::file(Arc::clone(&file.reader)).without(self.erasures.deletions(table, file.entry.erased_through))
        };
        self.files.iter().filter(is_there).map(source).collect()
    }

    /// Writes what is left of all rows; nothing but `Some(None)` when none is, `None` when told to stop.
    fn write(&self, shared: &Shared, go_on: GoOn<'_>) -> Result<Option<Option<FileEntry>>> {
        let tables: Vec<&Arc<TableSchema>> = self.tables.iter().filter(|table| !self.sources(table.name()).is_empty()).collect();
        let schemas: Vec<TableSchema> = tables.iter().map(|table| TableSchema::clone(table)).collect();
        let mut pace = Pace::new(shared.options.compaction.bytes_per_second);
        let mut output = None;
        for schema in &schemas {
            let fields = schema.fields().map(|field| schema.columns()[field].name.as_str());
            let request = ScanRequest::new().columns(fields).devices_apart(true);
            let mut scan = TableScan::open(schema.clone(), self.sources(schema.name()), &request)?;
            while scan.next_block()?.is_some() {
                let device = scan.device().cloned().expect("blocks keep devices apart");
                let block = scan.take().expect("a block is lent");
                let output = match &mut output {
                    Some(output) => output,
                    None => output.insert(Output::create(shared, &schemas)?),
                };
                write_block(output, schema.name(), &device, &block)?;
                if !pace.keep(&block, go_on) {
                    return Ok(None);
                }
            }
        }
        let met = self.files.iter().map(|file| file.entry.erased_through).max().unwrap_or(0);
        let through = met.max(self.erasures.last_sequence());
        output.map(|output| output.finish(false, through)).transpose().map(Some)
    }
}

fn write_block(output: &mut Output<'_>, table: &str, device: &DeviceId, block: &Block) -> Result<()> {
    // Validity the other way round: 1 = null.
    let null_words = |column: &Column| column.validity().unwrap_or_default().iter().map(|word| !word).collect::<Vec<u64>>();
    let nulls: Vec<Vec<u64>> = block.columns().iter().map(null_words).collect();
    let views: Vec<Option<ColumnView<'_>>> =
        block.columns().iter().zip(&nulls).map(|(column, words)| view_of(column, words)).collect();
    output.write(table, device, block.times(), &views)
}

/// The column as it travels; `None` when no row has a value.
fn view_of<'a>(column: &'a Column, nulls: &'a [u64]) -> Option<ColumnView<'a>> {
    if column.null_count() == column.row_count() {
        return None;
    }
    let nulls = column.validity().map(|_| NullWords::new(nulls, 0, column.row_count()));
    Some(ColumnView::new(column.data_type(), column.values().as_values(), nulls))
}

/// Keeps a merge slow enough for others, and asks whether it may go on.
struct Pace {
    bytes_per_second: Option<u64>,
    start: Instant,
    bytes: u64,
}

impl Pace {
    /// How long it sleeps before it asks again.
    const NAP: Duration = Duration::from_millis(20);

    fn new(bytes_per_second: Option<u64>) -> Self {
        Self { bytes_per_second, start: Instant::now(), bytes: 0 }
    }

    /// Waits until so much may have been moved. False when told to stop.
    fn keep(&mut self, block: &Block, go_on: GoOn<'_>) -> bool {
        let cell_count = block.row_count() * (block.columns().len() + 1);
        self.bytes += cell_count as u64 * 8;
        loop {
            if !go_on() {
                return false;
            }
            let Some(rate) = self.bytes_per_second else { return true };
            let due = Duration::from_secs_f64(self.bytes as f64 / rate.max(1) as f64);
            let Some(left) = due.checked_sub(self.start.elapsed()) else { return true };
            std::thread::sleep(left.min(Self::NAP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(number: u64, size: u64, start: i64, end: i64, is_late: bool) -> FileEntry {
        FileEntry { number, size, row_count: 1, times: TimeRange { start, end }, is_late, erased_through: 0 }
    }

    fn chosen(files: &[FileEntry], count_min: usize) -> Vec<u64> {
        choose(files, count_min).into_iter().flatten().collect()
    }

    #[test]
    fn neighbours_of_one_size_are_merged() {
        const MIB: u64 = 1 << 20;
        let sizes = [90 * MIB, 20 * MIB, 6 * MIB, 5 * MIB, 4 * MIB, MIB, 10];
        let files: Vec<FileEntry> =
            (0..7).map(|index| file(index as u64, sizes[index], index as i64 * 10, index as i64 * 10 + 5, false)).collect();
        assert_eq!(sizes.map(tier), [3, 2, 1, 1, 1, 0, 0]);
        assert_eq!(chosen(&files, 3), [2, 3, 4]);
        assert!(chosen(&files, 4).is_empty() && chosen(&files, 0).is_empty());
        assert!(chosen(&files[..1], 1).is_empty());
    }

    #[test]
    fn late_files_are_merged_with_those_they_reach_into() {
        let files = [
            file(1, 9, 0, 9, false),
            file(2, 9, 10, 19, false),
            file(3, 9, 12, 13, true),
            file(4, 9, 20, 29, false),
            file(5, 9, 19, 21, true),
        ];
        assert_eq!(chosen(&files, 2), [2, 3, 4, 5]);
        assert!(chosen(&files, 4).is_empty());
    }
}
