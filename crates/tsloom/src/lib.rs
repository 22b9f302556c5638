//! tsloom: a storage engine for aligned time series, many sensors that share one clock per device.
//!
//! Rows go in as [`Tablet`]s, are logged, wait in a memtable, become ordinary Apache TsFile v4 files and come back in one
//! reused [`Block`]. Nothing allocates in steady state. This crate is the door: it re-exports the layers and has no logic
//! of its own.
//!
//! ```text
//! rows ─▶ Tablet ─▶ WAL ─▶ aligned memtable ─▶ TsFile v4 ─▶ pages ─▶ one reused Block ─▶ you
//! ```
//!
//! | to | start at |
//! |---|---|
//! | keep rows durably and query them | [`Store`] |
//! | read or write a single `.tsfile` | [`FileReader`], [`FileWriter`] |
//! | query files without a store | [`TableScan`], [`DeviceScan`] for the tree model |
//! | send rows over a pipe | [`Tablet`], [`TabletView`] |
//!
//! # The first program
//!
//! ```
#![doc = include_str!("../examples/hello.rs")]
//! ```
#![forbid(unsafe_code)]

pub use tsloom_bitmap as bitmap;
pub use tsloom_block as block;
pub use tsloom_codec as codec;
pub use tsloom_encoding as encoding;
pub use tsloom_file as file;
pub use tsloom_format as format;
pub use tsloom_io as io;
pub use tsloom_memtable as memtable;
pub use tsloom_model as model;
pub use tsloom_page_reader as page_reader;
pub use tsloom_scan as scan;
pub use tsloom_store as store;
pub use tsloom_tablet as tablet;
pub use tsloom_wal as wal;

pub use tsloom_block::Block;
pub use tsloom_file::{EncodingChoice, FileReader, FileWriter, WriterOptions};
pub use tsloom_model::{DataType, DeviceSchema, Error, ErrorKind, Result, TableSchema, TimeRange, Value, tag};
pub use tsloom_scan::{DeviceScan, ScanRequest, TableScan};
pub use tsloom_store::{Durability, Store, StoreOptions};
pub use tsloom_tablet::{Tablet, TabletView};
