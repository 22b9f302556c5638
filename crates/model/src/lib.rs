//! The words of tsloom: data types, values, columns, device ids, schemas, predicates, limits and the error.
//!
//! Everything above this floor speaks in these types. There is no I/O here, no encoding of values and no
//! wire form; crate `encoding` has the bytes, `codec` the value encodings and `format` the file structures.
//!
//! Start at [`TableSchema`] (what a table looks like), [`ColumnView`] (the one currency in which columns
//! travel between tablet, memtable, block and file) and [`Error`].
//!
//! ```
//! use tsloom_model::{DataType, TableSchema};
//!
//! let weather = TableSchema::builder("Weather")
//!     .tag("city")
//!     .field("temp", DataType::Double)
//!     .build()?;
//! assert_eq!(weather.name(), "weather"); // table-model names are lower case
//! assert_eq!(weather.column_index("TEMP"), Some(1));
//! # Ok::<(), tsloom_model::Error>(())
//! ```
#![forbid(unsafe_code)]

mod codes;
mod column;
mod compare;
mod date;
mod deletion;
mod device;
mod device_schema;
mod error;
mod limits;
mod pattern;
mod predicate;
mod ranges;
mod row_filter;
mod schema;
mod time;
mod value;
mod values;

pub use codes::{ColumnCategory, Compression, DataType, Encoding, PhysicalType};
pub use column::ColumnView;
pub use compare::CompareOp;
pub use date::Date;
pub use deletion::{Deleted, Deletion, DeletionTarget, DeviceSet, split_path};
pub use device::{DeviceId, PathSegments, path_segments};
pub use device_schema::DeviceSchema;
pub use error::{Error, ErrorKind, Grouped, Result};
pub use limits::Limits;
pub use pattern::Pattern;
pub use predicate::{Predicate, TagRef, tag};
pub use ranges::TimeRanges;
pub use row_filter::{ColumnBounds, FieldRef, Literal, Possible, RowFilter, ValueRange, field};
pub use schema::{ColumnSchema, TableSchema, TableSchemaBuilder};
pub use time::{FileOffset, RowPolicy, TimeRange};
pub use value::{Cell, Value};
pub use values::{TextRef, TextValues, Values, ValuesRef};
