//! What a store tells about itself: what it found when it was opened, and plain numbers since.

use std::fmt;

use tsloom_model::Grouped;
use tsloom_wal::{LogStats, Replayed};

/// What opening a store found and did. `Display` gives one line for each thing that is not as a clean end leaves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Log entries that were not in files yet and are in the memtable now.
    pub replayed_entries: u64,
    /// Rows of these.
    pub replayed_rows: u64,
    /// Log entries that were passed over: files have them.
    pub skipped_entries: u64,
    /// The torn tail of the log that was dropped: the segment, the offset, and what is wrong there.
    pub dropped_tail: Option<String>,
    /// Log segments without a header, under the name they have now.
    pub kept_aside: Vec<String>,
    /// Files that a crash had left unfinished, or unknown to the manifest; their rows are in the log or in other files.
    pub removed_files: Vec<String>,
    /// Tables that files cannot hold, and why. Their rows are in the log and are found by scans, but while there are any, no
    /// flush succeeds; a build that has the compression may write them.
    pub unwritable_tables: Vec<String>,
}

impl RecoveryReport {
    /// True when the store had been left as after a clean end, log entries to replay included.
    pub fn is_clean(&self) -> bool {
        self.dropped_tail.is_none()
            && self.kept_aside.is_empty()
            && self.removed_files.is_empty()
            && self.unwritable_tables.is_empty()
    }

    pub(crate) fn note_log(&mut self, replayed: &Replayed) {
        self.replayed_entries = replayed.entry_count;
        self.skipped_entries = replayed.skipped_count;
        let tail = |tail: &tsloom_wal::DroppedTail| format!("{} at offset {}: {}", tail.file, Grouped(tail.offset), tail.reason);
        self.dropped_tail = replayed.dropped_tail.as_ref().map(tail);
        self.kept_aside = replayed.aside.iter().map(|aside| aside.file.clone()).collect();
    }
}

impl fmt::Display for RecoveryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replayed {} log entries with {} rows", Grouped(self.replayed_entries), Grouped(self.replayed_rows))?;
        if let Some(tail) = &self.dropped_tail {
            write!(f, "\ndropped a torn tail: {tail}")?;
        }
        for name in &self.kept_aside {
            write!(f, "\nkept aside a log without a header: {name}")?;
        }
        for name in &self.removed_files {
            write!(f, "\nremoved a file that is not part of the store: {name}")?;
        }
        for table in &self.unwritable_tables {
            write!(f, "\nfiles cannot hold table {table}")?;
        }
        Ok(())
    }
}

/// Plain numbers about an open store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Tables.
    pub tables: u64,
    /// Files.
    pub files: u64,
    /// Of these, files whose rows came after later ones of their device.
    pub late_files: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Rows of all files.
    pub file_rows: u64,
    /// Rows that are not in files yet.
    pub memtable_rows: u64,
    /// Bytes these rows take in memory.
    pub memtable_bytes: u64,
    /// Memtables that wait to be flushed.
    pub frozen_memtables: u64,
    /// Files written since the store was opened.
    pub flushes: u64,
    /// Merges of files since the store was opened.
    pub compactions: u64,
    /// Last log entry whose rows are in files.
    pub flushed_sequence: u64,
    /// Deletes, dropped columns and dropped tables that some file still has to be told of.
    pub erasures: u64,
    /// Why the last flush in the background failed; `None` when it did not.
    pub flush_error: Option<String>,
    /// Why the last merge of files in the background failed; `None` when it did not.
    pub compaction_error: Option<String>,
    /// The log; zeros for a store that was opened read-only.
    pub log: LogStats,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_everything_that_is_not_clean() {
        let mut report = RecoveryReport { replayed_entries: 3, replayed_rows: 12_345, ..RecoveryReport::default() };
        assert_eq!(report.to_string(), "replayed 3 log entries with 12,345 rows");
        assert!(report.is_clean());
        report.dropped_tail = Some("wal/000007.log at offset 40,960: it has 900 bytes, 12 are left".to_owned());
        report.kept_aside = vec!["wal/000008.log.aside".to_owned()];
        report.removed_files = vec!["data/000004.tmp".to_owned()];
        report.unwritable_tables = vec!["t: column a: encoding REGULAR is not written".to_owned()];
        assert!(!report.is_clean());
        let lines = [
            "replayed 3 log entries with 12,345 rows",
            "dropped a torn tail: wal/000007.log at offset 40,960: it has 900 bytes, 12 are left",
            "kept aside a log without a header: wal/000008.log.aside",
            "removed a file that is not part of the store: data/000004.tmp",
            "files cannot hold table t: column a: encoding REGULAR is not written",
        ];
        assert_eq!(report.to_string(), lines.join("\n"));
    }
}
