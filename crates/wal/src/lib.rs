//! The write-ahead log: entries, frames with checksums, segments, group commit, replay.
//!
//! What it is: what a store promises before it answers, in a form that a crash at any moment leaves readable. What it is not:
//! policy. When to wait for the disk, when to drop a segment and what an entry means is the matter of crate `store`.
//!
//! ```text
//! wal/000007.log   ┌────────┬───────┬───────┬───────┬──────────────────────────────
//!                  │ header │ frame │ frame │ frame │ nothing, zeros, or an older use
//!                  │ 32     │ 17 + payload each     │
//!                  └────────┴───────┴───────┴───────┴──────────────────────────────
//! frame            size, CRC-32C, kind, sequence, payload                (module `frame`)
//! payload          a schema, the present columns of a tablet, a delete, ... (module `entry`)
//! ```
//!
//! A frame belongs to the log when its checksum and its sequence are right; the length of the file says nothing, so segments
//! are overwritten instead of deleted. The last entry may be torn: it is dropped and reported. An entry that the disk had
//! once and is damaged now is an error that says where.
//!
//! Start at [`replay`] and then [`Log::start`]: reading comes first, appending goes on behind it.
#![forbid(unsafe_code)]

mod active;
mod delete;
mod entry;
mod frame;
mod inspect;
mod log;
mod replay;
mod scan;
mod schema;
mod segment;

pub use delete::Delete;
pub use entry::{Entry, NewEntry};
pub use frame::ENTRY_BYTES_MAX;
pub use inspect::{InspectedEntry, InspectedSegment, inspect, repair};
pub use log::{Level, Log, LogOptions, LogStats};
pub use replay::{AsideSegment, DroppedTail, Replayed, ReplayedSegment, replay};
pub use schema::{read_schema, schema_size, write_schema};
pub use segment::FOLDER;

#[cfg(test)]
mod tests;
