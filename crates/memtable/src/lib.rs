//! The aligned memtable: absence costs nothing, readers never wait.
//!
//! What is written lies here until it is flushed to a file. All columns of a device share one time column; rows may come in
//! any order and repeat times; columns may appear at any moment. The floor of every cost is what was written: a column without a
//! value in a block owns nothing there, whatever the width of the schema.
//!
//! ```text
//! Memtable ── tables ── devices ── AlignedList        who writes
//!    │ snapshot()                     blocks of rows in order of arrival, columns present only
//!    ▼                                │ view()
//! MemtableSnapshot ── DeviceSnapshot ── ListView      who reads, for as long as it likes
//!                         │ cursor()
//!                         ▼
//!                     Selection: time order, deletes, equal times, all-null rows
//!                         ▼
//!                     RowsView: slices of blocks, or gathered rows
//! ```
//!
//! Start at [`Memtable`]. There is no file, no log and no thread here; when to flush is the store's business.
#![forbid(unsafe_code)]

mod block;
mod blocks;
mod buffer;
mod cells;
mod columns;
mod cursor;
mod devices;
mod forecast;
mod front;
mod gather;
mod geometry;
mod layout;
mod list;
mod listview;
mod memtable;
mod merge;
mod pool;
mod projection;
mod query;
pub mod reference;
mod selection;
mod shape;
mod snapshot;
mod sorted;
mod state;
mod table;
mod timefacts;
mod tombstone;
mod write;

pub use cursor::{DeviceCursor, RowsView};
pub use geometry::BlockRows;
pub use list::AlignedList;
pub use listview::ListView;
pub use memtable::{Frozen, MemUsage, Memtable, MemtableOptions, WriteReport};
pub use merge::{MergeCursor, MergeQuery};
pub use pool::SlabPool;
pub use query::Query;
pub use shape::ListShape;
pub use snapshot::{DeviceQuery, DeviceSnapshot, MemtableSnapshot};
pub use state::{ColumnCounts, ColumnState};
pub use write::WriteColumns;
