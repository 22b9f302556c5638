//! An embedded database: a directory that takes tablets durably and answers scans while it writes.
//!
//! What it is: the log, the memtable, the files and the order in which they change, so that a crash at any moment loses nothing
//! that was acknowledged. What it is not: it encodes nothing (`wal`, `file`), orders no rows (`memtable`, `scan`) and keeps
//! tables only: a tablet of the tree model is an error.
//!
//! ```text
//! lab.tsloom/
//!   LOCK                held by the one process that writes; its process id for the others
//!   MANIFEST            tables, files, erasures, how far the log is in files (module `manifest`); replaced as a whole
//!   wal/000007.log      what is not in files yet (crate `wal`)
//!   data/000003.tsfile  ordinary TsFiles
//!   data/*.tmp          files being written; whoever opens the store removes them
//! ```
//!
//! ```text
//! write    check ─▶ log (and wait for the disk) ─▶ memtable, in the order of the log ─▶ acknowledged
//! delete   log, and wait for the disk ─▶ memtables at once, files by an erasure ─▶ acknowledged
//! flush    freeze ─▶ TsFiles under temporary names ─▶ sync ─▶ rename ─▶ sync folder ─▶ MANIFEST ─▶ drop log segments
//! compact  rows of several files, without what was deleted ─▶ one TsFile as above ─▶ MANIFEST ─▶ remove the files
//! open     MANIFEST ─▶ files ─▶ log from where the manifest ends ─▶ tables, memtable, erasures
//! scan     files in order, late files, frozen memtables, memtable: as they are at one moment, newest last
//! ```
//!
//! Start at [`Store`].
#![forbid(unsafe_code)]

mod backup;
mod catalog;
mod compaction;
mod delete;
mod erasure;
mod files;
mod flush;
mod manifest;
mod memory;
mod open;
mod options;
mod output;
mod report;
mod scan;
mod schema;
mod store;
mod worker;
mod write;

pub use backup::VerifiedFile;
pub use compaction::CompactionOptions;
pub use delete::DeleteBuilder;
pub use options::{Durability, StoreOptions, WriteOptions};
pub use report::{RecoveryReport, StoreStats};
pub use scan::{ScanBuilder, StoreScan};
pub use store::Store;

#[cfg(test)]
mod tests;
