//! An embedded database: log, memtable, files, manifest.
