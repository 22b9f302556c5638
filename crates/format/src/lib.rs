//! TsFile structures, version 4 (and how version 3 differs): parse and write.
//!
//! ```text
//! offset 0   "TsFile"  version u8
//! 7          body: chunk group headers, chunk headers, page headers     [header]   device ids [device]
//! ..         0x02 separator, then
//!            series metadata                                            [series]   statistics [statistics]
//!            metadata index nodes                                       [index]
//!            footer: table roots, schemas, bloom filter, properties     [footer]   [schema] [bloom]
//! len-10     i32 footer size   "TsFile"
//! ```
//!
//! What it is: one type for each structure, borrowed from the bytes where it is read, sized before it is written.
//! What it is not: it has no file handle, follows no offset and decodes no page body; crate `file` walks the
//! file, `codec` knows the values. A parser here checks every length against the bytes that are left, allocates
//! nothing that a length alone asks for, and never goes deeper than the structure it was called for.
//!
//! Parsers take a [`WireReader`](tsloom_encoding::WireReader); made `with_base`, it turns every position in an
//! error into an offset in the file.
//!
//! Upstream: `org.apache.tsfile.file` of apache/tsfile (Java) and `cpp/src/common/tsfile_common.h`. Proof: the
//! 390-byte file in `tests/worked_file.rs`, accounted for byte by byte, and every file in `fixtures/cpp` and
//! `fixtures/java`.
//!
//! ```
//! use tsloom_encoding::WireReader;
//! use tsloom_format::{ChunkHeader, ChunkKind};
//!
//! let bytes = [0x45, 0x02, b'v', 0x19, 0x01, 0x07, 0x04];
//! let header = ChunkHeader::parse(&mut WireReader::new(&bytes))?;
//! assert_eq!((header.kind, header.one_page), (ChunkKind::Value, true));
//! assert_eq!((header.measurement, header.data_size), ("v", 25));
//! # Ok::<(), tsloom_model::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bloom;
mod device;
mod footer;
mod header;
mod index;
mod prefix;
mod schema;
mod series;
mod statistics;

pub use bloom::{BloomFilter, TailBytes};
pub use device::{DeviceIdWire, DeviceKey, Segments};
pub use footer::{Property, TableRoot, TsFileMetadata};
pub use header::{ChunkFrame, ChunkGroupHeader, ChunkHeader, ChunkKind, OperationIndexRange, PageHeader, SeriesType, marker};
pub use index::{Child, Children, IndexNode, KeyForm, NodeType, put_device_node, put_measurement_node};
pub use prefix::Prefix;
pub use schema::TableSchemaWire;
pub use series::{ChunkMeta, ChunkMetas, SeriesHead, SeriesLayout, SeriesMetadata, SeriesMetadataWire};
pub use statistics::{StatisticValues, Statistics, StatisticsRef};

/// The six bytes at the start of a file (before the version) and at its very end.
pub const MAGIC: &[u8; 6] = b"TsFile";
/// The version that is written.
pub const VERSION: u8 = 4;
/// The older version that can be read.
pub const VERSION_3: u8 = 3;
/// Bytes before the body: magic and version.
pub const HEAD_SIZE: usize = 7;
/// Bytes after the footer: its size and the magic.
pub const TAIL_SIZE: usize = 10;

/// A count or size that contradicts the bytes.
#[cold]
fn corrupt(at: usize, message: impl Into<std::borrow::Cow<'static, str>>) -> tsloom_model::Error {
    tsloom_model::Error::new(tsloom_model::ErrorKind::Corrupt, message).at(tsloom_model::FileOffset::new(at as u64))
}

/// A code that stands for something this build does not handle.
#[cold]
fn unsupported(at: usize, message: String) -> tsloom_model::Error {
    tsloom_model::Error::new(tsloom_model::ErrorKind::Unsupported, message).at(tsloom_model::FileOffset::new(at as u64))
}
