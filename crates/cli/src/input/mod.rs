//! CSV, TSV and lines of JSON in: records, the types of columns, and rows that fit a table. Nothing here writes.
//!
//! ```text
//! bytes ─▶ records ─▶ infer (first pass, or the sample of a pipe) ─▶ plan ─▶ rows (second pass)
//! ```

pub(crate) mod cell;
pub(crate) mod infer;
pub(crate) mod json_lines;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod rows;
pub(crate) mod source;
