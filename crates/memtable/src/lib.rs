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
//! # What a column holds in a block
//!
//! ```text
//! Absent ── a block is opened ──► Implicit ── first value, no null before it ──► Plain ── null or delete ──► Masked
//!                                    │                                                                         ▲
//!                                    └── first value behind rows without one, or among nulls ──────────────────┘
//! ```
//!
//! `Implicit` is the absence of an entry in the directory of the block: it owns nothing, and neither nulls, nor failed rows, nor
//! deletes, nor new columns change that. There is no way back: a cell is written once. [`ColumnState`] tells the state, for
//! reports and tests.
//!
//! # A block
//!
//! ```text
//! slab        | times, i64 x rows | null words of all columns present | values, column by column |
//! later part  |                   | null words of its columns         | values, column by column |
//! ```
//!
//! A block has 64, 256 or 1,024 rows by the width of the table ([`BlockRows`]). Its directory, which names the columns present and
//! their places, is shared by all blocks of the same shape. A column that gets its first value in an open block is added in a part of
//! its own. Booleans have a slab of their own, and the bytes of text an arena.
//!
//! # Who may do what at the same time
//!
//! One writer, behind a lock of the caller's. A snapshot is taken under the same lock, in O(1) for a list; it is read without one,
//! by as many threads as like. What a snapshot holds is never written again: the writer copies the block it is writing, once, and
//! goes on in the copy. Deletes are lists of their own and touch no block.
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
mod textlimit;
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
