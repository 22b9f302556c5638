//! Value encodings and compression framing of TsFile pages.
//!
//! What it is: the two steps between a page's values and its bytes, each as a function over slices. What it is not: crate
//! `encoding` has the primitives (varints, strings), `format` the headers around a page; nothing here knows a file, a null
//! or a header. A whole page is encoded or decoded at once, present values only; no state lives across pages.
//!
//! ```text
//! present values ── encode ──▶ encoded column ── compress ──▶ page body
//! present values ◀── decode ── encoded column ◀── decompress ── page body
//! ```
//!
//! Start at [`encode`] and [`decode`]; times have [`encode_times`] and [`decode_times`]; compression is in [`compress`].
//! [`encode_lossless`] is for writers that let the data choose. Each algorithm is one file that opens with its byte diagram.
//!
//! What costs most per value is compiled for AVX2 as well and chosen by asking the processor (`dispatch`, the one module with
//! `unsafe`); the portable code gives the same values.
//!
//! Bytes are hostile: every decoder checks counts, widths and lengths before it works on them, gives typed errors with the
//! position in the encoded column, and writes no more than the caller asked for.
//!
//! ```
//! use tsloom_codec::{DecodeScratch, EncodeOptions, EncodeScratch, decode, encode};
//! use tsloom_model::{DataType, Encoding, PhysicalType, Values, ValuesRef};
//!
//! let mut column = Vec::new();
//! let values = ValuesRef::Int64(&[100, 101, 102]);
//! encode(Encoding::Ts2Diff, values, DataType::Int64, EncodeOptions::default(), &mut column, &mut EncodeScratch::default())?;
//! assert_eq!(column.len(), 24); // one block: two deltas of 1, packed in no bits at all
//!
//! let mut back = Values::new(PhysicalType::Int64);
//! decode(Encoding::Ts2Diff, DataType::Int64, &column, 3, &mut back, &mut DecodeScratch::default())?;
//! assert!(matches!(back, Values::Int64(values) if values == [100, 101, 102]));
//! # Ok::<(), tsloom_model::Error>(())
//! ```
mod bits;
mod camel;
mod cell;
mod chimp;
pub mod compress;
mod decode;
mod dictionary;
mod dispatch;
mod encode;
mod error;
mod gorilla;
mod gorilla_v1;
mod lossless;
mod pack;
mod plain;
mod regular;
mod rlbe;
mod rle;
pub mod scaled;
mod sprintz;
mod ts_2diff;
mod varint;
mod zigzag;

pub use decode::{
    DecodeOptions, DecodeScratch, RlbeFloats, count_times, decode, decode_range, decode_start, decode_times, start_size_max,
};
pub use encode::{EncodeOptions, EncodeScratch, encode, encode_times};
pub use lossless::{encode_lossless, lossless_encodings};
