//! Decodes one page set into lent columns: the time page first, then any number of value pages, presence before values.
//!
//! What it is: the way from page bodies, as they lie in the file behind their headers, to the rows of a
//! [`Block`](tsloom_block::Block). What it is not: it opens no file, walks no metadata and parses no header; `file` and `format`
//! do. Encodings and compressors are in `codec`.
//!
//! ```text
//! time page body   (decompressed)    the encoded times, nothing else
//! value page body  (decompressed)
//! offset  size         field
//! 0       4            row count, i32 big-endian          = N, must be that of the time page
//! 4       ceil(N/8)    presence, high bit first, 1 = present
//! ..      to the end   the present values only, in row order, encoded as the chunk header says
//! ```
//!
//! A page of a series that has times of its own (a device that is not aligned) holds both: see [`PageReader::open_plain`].
//!
//! An absent or empty value page is legal and means that every row is null. Source of truth: `ValuePageWriter.java` and
//! `TimePageWriter.java` of apache/tsfile; fixtures `fixtures/cpp/*` prove it through crate `scan`.
//!
//! Rows are chosen before anything is decoded for them: by time, by what was deleted, by conditions on values (whose columns come
//! first), by offset and limit. A column that has nothing to leave out is decoded straight into the block.
//!
//! One row count: it comes from the statistics of the time page; the times themselves and every value page are checked against it.
//!
//! ```
//! use tsloom_block::{Block, BlockLayout};
//! use tsloom_model::{Compression, DataType, Encoding, FileOffset, Limits, TimeRange, TimeRanges};
//! use tsloom_page_reader::{ColumnPage, PageBody, PageReader, PageSet, RowRequest, ValuePage};
//!
//! let plain = |bytes, offset| PageBody {
//!     bytes,
//!     uncompressed_size: bytes.len() as u64,
//!     compression: Compression::Uncompressed,
//!     encoding: Encoding::Plain,
//!     offset: FileOffset::new(offset),
//! };
//! let times = [0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 101]; // two times
//! let values = [0, 0, 0, 2, 0b0100_0000, 14]; // two rows, the second is present, PLAIN varint 7
//!
//! let mut block = Block::new(&BlockLayout::new(2, [("v", DataType::Int32), ("w", DataType::Text)]));
//! let mut reader = PageReader::new(Limits::default());
//! let v = ValuePage { body: plain(&values, 80), data_type: DataType::Int32 };
//! let set = PageSet {
//!     time: plain(&times, 40),
//!     row_count: 2,
//!     times: TimeRange { start: 100, end: 101 },
//!     columns: &[Some(v), None].map(|page| ColumnPage { page, deleted: TimeRanges::NONE }),
//! };
//! assert_eq!(reader.read(&set, &mut RowRequest::default(), &mut block)?, 2);
//! assert!(block.check());
//! assert_eq!((block.column(0).i32(0), block.column(0).i32(1)), (None, Some(7)));
//! # Ok::<(), tsloom_model::Error>(())
//! ```
#![forbid(unsafe_code)]

mod body;
mod filter;
mod reader;
mod selection;
mod set;

pub use body::{PageBody, ValuePage};
pub use filter::passing_rows;
pub use reader::PageReader;
pub use set::{ColumnPage, PageSet, RowRequest};
