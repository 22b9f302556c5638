//! What changes while a store is open: the memtables, the files, and how far the log is applied.

use std::collections::VecDeque;

use tsloom_io::ReadAt;
use tsloom_memtable::{Frozen, Memtable, MemtableOptions, MemtableSnapshot};
use tsloom_model::TimeRange;
use tsloom_scan::Source;

use crate::files::OpenFile;

/// A memtable takes no more rows than this before it is frozen, whatever its bytes: rows of a memtable are counted with 32 bits.
const MEMTABLE_ROWS_MAX: u64 = 1 << 30;

/// A memtable on its way to a file.
pub(crate) struct FrozenPart {
    pub(crate) frozen: Frozen,
    /// Its rows are those of the log up to this entry.
    pub(crate) last_sequence: u64,
}

/// Guarded by one lock that is held for moments only.
pub(crate) struct Memory {
    options: MemtableOptions,
    pub(crate) active: Memtable,
    /// Oldest first.
    pub(crate) frozen: VecDeque<FrozenPart>,
    /// Oldest first, all older than the frozen memtables.
    pub(crate) files: Vec<OpenFile>,
    /// Log entries up to this one are in a memtable or a file.
    pub(crate) applied: u64,
}

impl Memory {
    pub(crate) fn new(options: MemtableOptions, active: Memtable, files: Vec<OpenFile>, applied: u64) -> Self {
        Self { options, active, frozen: VecDeque::new(), files, applied }
    }

    pub(crate) fn is_flush_due(&self) -> bool {
        self.active.is_flush_due() || self.active.row_count() >= MEMTABLE_ROWS_MAX
    }

    /// Puts an empty memtable in the place of the one that is written.
    pub(crate) fn freeze(&mut self) {
        if !self.active.is_empty() {
            let full = std::mem::replace(&mut self.active, Memtable::new(self.options.clone()));
            self.frozen.push_back(FrozenPart { frozen: full.freeze(), last_sequence: self.applied });
        }
    }

    /// All that may have rows of a table in a time range, oldest first.
    pub(crate) fn sources(&self, table: &str, times: TimeRange) -> Vec<Source<std::sync::Arc<dyn ReadAt>>> {
        let is_wanted = |file: &&OpenFile| file.entry.times.overlaps(times) && file.reader.table(table).is_some();
        let files = self.files.iter().filter(is_wanted).map(|file| Source::file(file.reader.clone()));
        let frozen = self.frozen.iter().map(|part| part.frozen.snapshot());
        let active = (!self.active.is_empty()).then(|| self.active.snapshot());
        let has_table = |snapshot: &MemtableSnapshot| snapshot.tables().any(|name| name == table);
        files.chain(frozen.chain(active).filter(has_table).map(Source::memtable)).collect()
    }
}
