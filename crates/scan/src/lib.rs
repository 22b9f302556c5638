//! Scans: the rows of many devices out of files and memtables, in one block that is lent again and again.
//!
//! What it is: the plan of what to read, few reads for it, and the order of rows. What it is not: it decodes no page (`page-reader`
//! does), knows no write path, and starts no thread unless it is told to.
//!
//! ```text
//! open        devices of all sources, listed and filtered by their tags
//! next_block  ┌─ file: plan of the next devices ─▶ merged reads ─▶ page sets ─┐
//!             └─ memtable: cursor of the device ─▶ row slices ────────────────┴─▶ time order ─▶ the lent block
//! ```
//!
//! Invariants: rows come by (device, time), or by (time, device), or in the reverse of either; nothing is read of a device whose tags do not meet the filter; chunks and pages that cannot
//! hold a wanted time are not read or not decoded; after the first devices of a shape the scan allocates nothing; [`ScanStats`] counts
//! what was done.
//!
//! Start at [`TableScan`], or for devices of the tree model at [`DeviceScan`].
#![forbid(unsafe_code)]

mod by_time;
mod chunk;
mod deletions;
mod device_scan;
mod devices;
mod filter;
mod group;
mod parallel;
mod plan;
mod projection;
mod reads;
mod request;
mod rows;
mod scan;
mod slices;
mod sources;
mod stats;
mod window;

pub use device_scan::DeviceScan;
pub use request::{Order, ScanRequest, Source};
pub use scan::TableScan;
pub use stats::ScanStats;
