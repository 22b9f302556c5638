//! Big-endian primitives of the TsFile family: numbers, both varints, length-prefixed strings, bulk
//! kernels, and one borrowed cursor.
//!
//! What it is: the words every layout of this project is spelled in. What it is not: value *encodings*
//! (TS_2DIFF, GORILLA, ...) live in `tsloom-codec`, and nothing here does I/O, owns a buffer or knows a
//! file. Reading never allocates and never panics; SIMD is chosen by runtime detection.
//!
//! ```text
//! name    bytes
//! bool    1: 00 or 01
//! i32 ..  fixed width, big-endian; f32 and f64 as IEEE-754 bits
//! uvar    1..=5: seven bits a byte, least significant group first, top bit = more follows
//! svar    zigzag ((n << 1) ^ (n >> 31)), then uvar
//! uvar64  1..=10, as uvar; svar64 likewise with 64-bit zigzag
//! vstr    svar length (-1 = null string), bytes          istr   i32 length (-1 = null string), bytes
//! vbin    svar length (never negative), bytes            ibin   i32 length (never negative), bytes
//! ```
//!
//! Upstream: `ReadWriteIOUtils` and `ReadWriteForEncodingUtils` of apache/tsfile (Java). Proof: every
//! fixture in `fixtures/tablet` and `fixtures/java` is made of these.
//!
//! Start at [`WireReader`] to read, [`WirePut`] and [`ToWire`] to write, [`bulk`] for whole columns.
//!
//! ```
//! use tsloom_encoding::{WirePut, WireReader};
//!
//! let mut out = vec![0xaa]; // whatever the caller had before stays in place
//! out.put_vstr(Some(b"s1"));
//! out.put_uvar(300);
//! assert_eq!(out, [0xaa, 4, b's', b'1', 0xac, 0x02]);
//!
//! let mut wire = WireReader::new(&out[1..]);
//! assert_eq!(wire.vstr_utf8()?, Some("s1"));
//! assert_eq!(wire.uvar()?, 300);
//! let end = wire.u8().unwrap_err();
//! assert_eq!(end.to_string(), "need 1 bytes at position 5, 0 are left");
//! # Ok::<(), tsloom_encoding::WireError>(())
//! ```

pub mod bulk;
mod error;
mod put;
mod reader;
mod varint;

pub use error::{Truncated, WireError};
pub use put::{ToWire, WirePut};
pub use reader::WireReader;
pub use varint::{
    istr_size, svar_size, svar64_size, unzigzag32, unzigzag64, uvar_size, uvar64_size, vstr_size, zigzag32, zigzag64,
};

/// The bits Java's `floatToIntBits` gives for every NaN, and the only NaN ever written.
pub const CANONICAL_NAN_32: u32 = 0x7fc0_0000;

/// The bits Java's `doubleToLongBits` gives for every NaN, and the only NaN ever written.
pub const CANONICAL_NAN_64: u64 = 0x7ff8_0000_0000_0000;
