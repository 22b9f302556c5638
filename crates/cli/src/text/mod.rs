//! How values look as text: Python's numbers, times, JSON and CSV cells, and rows made of them.
//!
//! The ndjson of this command is byte for byte what `json.dumps(row, ensure_ascii=False)` of Python gives, because
//! the tools people check us with are written in it. Nothing here reads files or knows the command line.

pub(crate) mod csv;
pub(crate) mod grid;
pub(crate) mod json;
pub(crate) mod number;
pub(crate) mod plain;
pub(crate) mod sheet;
pub(crate) mod spark;
pub(crate) mod time;
