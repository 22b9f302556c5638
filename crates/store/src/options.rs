//! How a store is opened.

use std::time::Duration;

use tsloom_file::WriterOptions;
use tsloom_model::Limits;
use tsloom_wal::{Level, LogOptions};

use crate::compaction::CompactionOptions;

/// When a write waits for the disk.
///
/// A write is acknowledged, and survives the machine losing power, when it has returned under [`Always`](Self::Always), or
/// when a later [`Store::sync`](crate::Store::sync) or [`Store::flush`](crate::Store::flush) has returned. Under every setting
/// it survives the end of this process as soon as it has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Every write returns when it is on disk. Writers that come at the same time share the wait.
    #[default]
    Always,
    /// The log is synced this often.
    Interval(Duration),
    /// The log is synced when a flush begins and when a segment is full.
    OnFlush,
    /// The log is synced when a segment is full, and for nothing else.
    Never,
}

impl Durability {
    /// How far an entry of the log has come when the write returns.
    pub(crate) fn level(self) -> Level {
        match self {
            Self::Always => Level::Durable,
            Self::Interval(_) | Self::OnFlush | Self::Never => Level::Written,
        }
    }
}

/// How one write waits when memory is full: [`StoreOptions::frozen_count_max`] memtables are not in files yet.
///
/// ```
/// use std::time::Duration;
/// use tsloom_store::WriteOptions;
///
/// let at_once = WriteOptions { wait: false, ..WriteOptions::default() };
/// let soon = WriteOptions { timeout: Some(Duration::from_millis(50)), ..WriteOptions::default() };
/// # assert!(!at_once.wait && soon.wait);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Wait for the flush. Off, the write is refused with [`ErrorKind::WouldBlock`](tsloom_model::ErrorKind::WouldBlock).
    pub wait: bool,
    /// Wait no longer than this, and be refused then. Without it a writer that waits flushes by itself.
    pub timeout: Option<Duration>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { wait: true, timeout: None }
    }
}

/// How a store is opened. The defaults are for a machine that does other things as well.
///
/// ```
/// use tsloom_store::{Durability, StoreOptions};
///
/// let options = StoreOptions { durability: Durability::OnFlush, memtable_bytes_max: 256 << 20, ..StoreOptions::default() };
/// # assert_eq!(options.frozen_count_max, 2);
/// ```
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// When a write waits for the disk.
    pub durability: Durability,
    /// A tablet with columns that its table has not adds them to the table. Off, it is refused.
    pub extend_tables: bool,
    /// A memtable that holds this many bytes is frozen and flushed in the background.
    pub memtable_bytes_max: usize,
    /// Writers wait for the flush while this many frozen memtables are not in files yet.
    pub frozen_count_max: usize,
    /// Bytes of memory that memtables leave behind for the next ones.
    pub pool_bytes_max: usize,
    /// When files are merged in the background.
    pub compaction: CompactionOptions,
    /// Layout of the log.
    pub log: LogOptions,
    /// Layout of the files.
    pub writer: WriterOptions,
    /// Bounds for what files say about themselves.
    pub limits: Limits,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Always,
            extend_tables: false,
            memtable_bytes_max: 64 << 20,
            frozen_count_max: 2,
            pool_bytes_max: 64 << 20,
            compaction: CompactionOptions::default(),
            log: LogOptions::default(),
            writer: WriterOptions::default(),
            limits: Limits::default(),
        }
    }
}
