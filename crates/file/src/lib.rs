//! The TsFile writer and reader, for tables and for devices of the tree model, aligned or not.
//!
//! ```text
//! FileWriter   rows, rising in time for each device  ->  pages  ->  chunk groups  ->  metadata and footer
//! FileReader   tail  ->  footer  ->  device index  ->  series of a device  ->  chunks  ->  pages, still encoded
//! ```
//!
//! What it is: the way from rows to a whole file, and from an open file to the bodies of its pages. What it is not: it
//! decodes pages only to verify them and to resume a file (crate `page-reader` reads them), merges no sources and plans no query (crate `scan`). The reader reaches bytes
//! through [`ReadAt`](tsloom_io::ReadAt) only and checks every length from a file against what is left of it and against
//! [`Limits`](tsloom_model::Limits) before anything is sized by it.
//!
//! A file whose writer did not finish has no footer and is refused by the reader; [`Recovery`] lists what is whole in it,
//! and [`FileWriter::resume`] goes on from there.
//!
//! Start at [`FileWriter`] and [`FileReader`].
#![forbid(unsafe_code)]

mod byte_map;
mod chunk;
pub mod mods;
mod options;
mod pages;
mod reader;
mod recover;
mod verify;
mod walk;
mod writer;

pub use byte_map::{ByteMap, Part, PartKind};
pub use chunk::{ChunkRef, PageIter, PageRef};
pub use options::ReadOptions;
pub use reader::{DeviceCursor, DeviceSeries, FileReader, SeriesRef};
pub use recover::{RecoveredChunk, RecoveredGroup, Recovery};
pub use verify::{Finding, FindingKind, Verification, VerifyOptions, verify};
pub use writer::{EncodingChoice, FileSummary, FileWriter, NewFile, WriterOptions, WriterOptionsBuilder, check_table, writable};
