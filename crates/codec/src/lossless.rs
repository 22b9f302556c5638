//! Encodings to choose from when the data decides: each gives back every bit in every reader, or is refused.
//!
//! What it is: the list of encodings worth a trial for each type, and [`encode_lossless`], which proves that a column survives
//! one of them. What it is not: a choice; that takes the compressor and the rest of the chunk into account and is the
//! writer's.
//!
//! ```text
//! PLAIN              refused for FLOAT and DOUBLE with a NaN that is not the canonical one: only that is written
//! GORILLA, CHIMP     refused for a column that holds the value of their end mark: other readers may stop there
//! RLE                refused for a column with eight equal values in a row, unless all fit a byte: libtsfile takes the bytes
//!                    of a repeated 64-bit value in the other order
//! TS_2DIFF of        refused unless some p gives back the bits of every value as integer / 10^p; the overflow prefix is not
//! FLOAT and DOUBLE   used, since Java of 2024 does not know it
//! ```
//!
//! Not on any list: what C++ or Java cannot read for the type (RLE of BOOLEAN, FLOAT and DOUBLE, ZIGZAG of DATE and
//! TIMESTAMP, CAMEL), what may lose values (SPRINTZ), and float RLBE, whose two meanings no byte tells apart.

use tsloom_encoding::{CANONICAL_NAN_32, CANONICAL_NAN_64};
use tsloom_model::{DataType, Encoding, PhysicalType, ValuesRef};

use crate::encode::{EncodeOptions, EncodeScratch, encode};
use crate::{scaled, ts_2diff};

/// The encodings for this type that Java and C++ read and that [`encode_lossless`] writes; the fastest to decode come first.
pub const fn lossless_encodings(data_type: DataType) -> &'static [Encoding] {
    use Encoding as E;
    match data_type.physical() {
        PhysicalType::Boolean => &[E::Plain],
        PhysicalType::Int32 | PhysicalType::Int64 => &[E::Plain, E::Rle, E::Ts2Diff, E::Gorilla, E::Rlbe, E::Chimp],
        PhysicalType::Float | PhysicalType::Double => &[E::Plain, E::Ts2Diff, E::Gorilla, E::Chimp],
        PhysicalType::Text if matches!(data_type, DataType::Blob) => &[E::Plain],
        PhysicalType::Text => &[E::Plain, E::Dictionary],
    }
}

/// Appends the encoded column if every reader gives back every bit of it. Else nothing is appended, and the result is false.
pub fn encode_lossless(
    encoding: Encoding,
    values: ValuesRef<'_>,
    data_type: DataType,
    out: &mut Vec<u8>,
    scratch: &mut EncodeScratch,
) -> bool {
    match (encoding, values) {
        (Encoding::Ts2Diff, ValuesRef::Float(values)) => {
            let is_exact = scaled::encode_head_exact(values, &mut scratch.i32s, out);
            if is_exact {
                ts_2diff::encode(&scratch.i32s, &mut scratch.block, out);
            }
            is_exact
        }
        (Encoding::Ts2Diff, ValuesRef::Double(values)) => {
            let is_exact = scaled::encode_head_exact(values, &mut scratch.i64s, out);
            if is_exact {
                ts_2diff::encode(&scratch.i64s, &mut scratch.block, out);
            }
            is_exact
        }
        (encoding, values) => {
            lossless_encodings(data_type).contains(&encoding)
                && survives(encoding, values)
                && encode(encoding, values, data_type, EncodeOptions::default(), out, scratch).is_ok()
        }
    }
}

/// What the encodings that keep values as they are may still lose.
fn survives(encoding: Encoding, values: ValuesRef<'_>) -> bool {
    match (encoding, values) {
        (Encoding::Plain, ValuesRef::Float(values)) => {
            values.iter().all(|value| !value.is_nan() || value.to_bits() == CANONICAL_NAN_32)
        }
        (Encoding::Plain, ValuesRef::Double(values)) => {
            values.iter().all(|value| !value.is_nan() || value.to_bits() == CANONICAL_NAN_64)
        }
        (Encoding::Rle, ValuesRef::Int32(values)) => no_wide_run(values, |value| (0..=0xff).contains(value)),
        (Encoding::Rle, ValuesRef::Int64(values)) => no_wide_run(values, |value| (0..=0xff).contains(value)),
        (Encoding::Gorilla | Encoding::Chimp, ValuesRef::Int32(values)) => !values.contains(&i32::MIN),
        (Encoding::Gorilla | Encoding::Chimp, ValuesRef::Int64(values)) => !values.contains(&i64::MIN),
        (Encoding::Gorilla | Encoding::Chimp, ValuesRef::Float(values)) => {
            values.iter().all(|value| value.to_bits() != CANONICAL_NAN_32)
        }
        (Encoding::Gorilla | Encoding::Chimp, ValuesRef::Double(values)) => {
            values.iter().all(|value| value.to_bits() != CANONICAL_NAN_64)
        }
        _ => true,
    }
}

/// RLE stores no value of several bytes as one that repeats.
fn no_wide_run<T: PartialEq>(values: &[T], is_byte: impl Fn(&T) -> bool) -> bool {
    values.iter().all(is_byte) || values.chunk_by(|a, b| a == b).all(|run| run.len() < 8)
}
