//! The closed sets of the format and the one-byte codes that stand for them in files and tablets.
//!
//! ```text
//! data type    0 BOOLEAN 1 INT32 2 INT64 3 FLOAT 4 DOUBLE 5 TEXT 8 TIMESTAMP 9 DATE 10 BLOB 11 STRING
//! encoding     0 PLAIN 1 DICTIONARY 2 RLE 4 TS_2DIFF 6 GORILLA_V1 7 REGULAR 8 GORILLA 9 ZIGZAG
//!              11 CHIMP 12 SPRINTZ 13 RLBE 14 CAMEL
//! compression  0 UNCOMPRESSED 1 SNAPPY 2 GZIP 3 LZO 7 LZ4 8 ZSTD 9 LZMA2
//! category     0 TAG 1 FIELD 2 ATTRIBUTE 3 TIME
//! ```
//!
//! Source of truth: the enums `TSDataType`, `TSEncoding`, `CompressionType` and `ColumnCategory` of
//! apache/tsfile. Code 6 of the data types (VECTOR) marks the time column of an aligned device and is no
//! type of a value; crate `format` knows it.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// A closed set with codes and names, and the conversions that each of them needs.
macro_rules! coded {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vmeta])* $variant = $code,)+
        }

        impl $name {
            /// Every member, in the order of the codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The byte that stands for it in files and tablets.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The member with this code, or `None` for a code that has none.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The upper-case name that upstream uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Parses the upstream name in any case.
            fn from_str(text: &str) -> Result<Self, Error> {
                Self::ALL.iter().copied().find(|member| member.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
                    let names: Vec<&str> = Self::ALL.iter().map(|member| member.name()).collect();
                    Error::new(ErrorKind::InvalidArgument, format!("{text:?} is no {}; there is {}", $what, names.join(", ")))
                })
            }
        }
    };
}

coded! {
    /// What a column holds.
    DataType, "data type" {
        /// True or false.
        Boolean = 0, "BOOLEAN";
        /// 32-bit signed integer.
        Int32 = 1, "INT32";
        /// 64-bit signed integer.
        Int64 = 2, "INT64";
        /// IEEE-754 single.
        Float = 3, "FLOAT";
        /// IEEE-754 double.
        Double = 4, "DOUBLE";
        /// Text; upstream checks no encoding here.
        Text = 5, "TEXT";
        /// 64-bit integer in the unit of the time column.
        Timestamp = 8, "TIMESTAMP";
        /// Calendar day as the integer yyyymmdd.
        Date = 9, "DATE";
        /// Any bytes.
        Blob = 10, "BLOB";
        /// UTF-8 text, with min and max in its statistics.
        String = 11, "STRING";
    }
}

coded! {
    /// How the values of a page become bytes.
    Encoding, "encoding" {
        /// Values as they are (32-bit integers as varints).
        Plain = 0, "PLAIN";
        /// Distinct texts once, then their indexes.
        Dictionary = 1, "DICTIONARY";
        /// Runs and bit-packed groups.
        Rle = 2, "RLE";
        /// Differences above their minimum, bit-packed.
        Ts2Diff = 4, "TS_2DIFF";
        /// An early XOR form, read only.
        GorillaV1 = 6, "GORILLA_V1";
        /// Constant differences, Java only.
        Regular = 7, "REGULAR";
        /// XOR with the previous value.
        Gorilla = 8, "GORILLA";
        /// Zigzag varints.
        ZigZag = 9, "ZIGZAG";
        /// XOR with one of many previous values.
        Chimp = 11, "CHIMP";
        /// Predicted differences, bit-packed.
        Sprintz = 12, "SPRINTZ";
        /// Runs of equal bit length.
        Rlbe = 13, "RLBE";
        /// Decimal-aware XOR for doubles.
        Camel = 14, "CAMEL";
    }
}

coded! {
    /// What happens to a page body before it is written.
    Compression, "compression" {
        /// Nothing.
        Uncompressed = 0, "UNCOMPRESSED";
        /// Raw Snappy block.
        Snappy = 1, "SNAPPY";
        /// One gzip member.
        Gzip = 2, "GZIP";
        /// LZO1X stream, read only.
        Lzo = 3, "LZO";
        /// Raw LZ4 block without a size.
        Lz4 = 7, "LZ4";
        /// One Zstandard frame.
        Zstd = 8, "ZSTD";
        /// An .xz container.
        Lzma2 = 9, "LZMA2";
    }
}

coded! {
    /// What a column of a table is for.
    ColumnCategory, "column category" {
        /// Names the device; its values live in the device id, no chunk is written.
        Tag = 0, "TAG";
        /// A measurement.
        Field = 1, "FIELD";
        /// A property of the device that does not identify it.
        Attribute = 2, "ATTRIBUTE";
        /// The time column, where a schema lists it.
        Time = 3, "TIME";
    }
}

/// How values of a type lie in memory. Several data types share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhysicalType {
    /// `bool`
    Boolean,
    /// `i32`: INT32 and DATE
    Int32,
    /// `i64`: INT64 and TIMESTAMP
    Int64,
    /// `f32`
    Float,
    /// `f64`
    Double,
    /// Bytes with end offsets: TEXT, STRING and BLOB
    Text,
}

impl PhysicalType {
    /// Bytes of one value, or `None` for text.
    pub const fn width(self) -> Option<usize> {
        match self {
            Self::Boolean => Some(1),
            Self::Int32 | Self::Float => Some(4),
            Self::Int64 | Self::Double => Some(8),
            Self::Text => None,
        }
    }
}

impl DataType {
    /// How values of this type lie in memory.
    pub const fn physical(self) -> PhysicalType {
        match self {
            Self::Boolean => PhysicalType::Boolean,
            Self::Int32 | Self::Date => PhysicalType::Int32,
            Self::Int64 | Self::Timestamp => PhysicalType::Int64,
            Self::Float => PhysicalType::Float,
            Self::Double => PhysicalType::Double,
            Self::Text | Self::Blob | Self::String => PhysicalType::Text,
        }
    }

    /// True for TEXT, STRING and BLOB.
    pub const fn is_text(self) -> bool {
        matches!(self.physical(), PhysicalType::Text)
    }

    /// The encoding that a new column gets: lossless, and readable by Java and C++ alike.
    pub const fn default_encoding(self) -> Encoding {
        match self.physical() {
            PhysicalType::Int32 | PhysicalType::Int64 => Encoding::Ts2Diff,
            PhysicalType::Float | PhysicalType::Double => Encoding::Gorilla,
            PhysicalType::Boolean | PhysicalType::Text => Encoding::Plain,
        }
    }

    /// True when upstream allows `encoding` for this type; anything else is refused when a schema is made.
    pub const fn allows(self, encoding: Encoding) -> bool {
        use Encoding as E;
        match self.physical() {
            PhysicalType::Boolean => matches!(encoding, E::Plain | E::Rle),
            PhysicalType::Int32 | PhysicalType::Int64 => matches!(
                encoding,
                E::Plain | E::Rle | E::Ts2Diff | E::Gorilla | E::ZigZag | E::Chimp | E::Sprintz | E::Rlbe | E::Regular
            ),
            PhysicalType::Float | PhysicalType::Double => {
                matches!(encoding, E::Plain | E::Rle | E::Ts2Diff | E::GorillaV1 | E::Gorilla | E::Chimp | E::Sprintz | E::Rlbe)
                    || (matches!(self, Self::Double) && matches!(encoding, E::Camel))
            }
            PhysicalType::Text => {
                matches!(encoding, E::Plain) || (!matches!(self, Self::Blob) && matches!(encoding, E::Dictionary))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_upstream() {
        let types: Vec<(u8, &str)> = DataType::ALL.iter().map(|t| (t.code(), t.name())).collect();
        assert_eq!(
            types,
            [
                (0, "BOOLEAN"),
                (1, "INT32"),
                (2, "INT64"),
                (3, "FLOAT"),
                (4, "DOUBLE"),
                (5, "TEXT"),
                (8, "TIMESTAMP"),
                (9, "DATE"),
                (10, "BLOB"),
                (11, "STRING")
            ]
        );
        assert_eq!(DataType::from_code(6), None);
        assert_eq!(Encoding::from_code(8), Some(Encoding::Gorilla));
        assert_eq!(Encoding::from_code(3), None);
        assert_eq!(Compression::from_code(7), Some(Compression::Lz4));
        assert_eq!(Compression::from_code(4), None);
    }

    #[test]
    fn an_encoding_that_does_not_fit_is_not_allowed() {
        assert!(!DataType::Boolean.allows(Encoding::Gorilla));
        assert!(!DataType::String.allows(Encoding::Ts2Diff));
        assert!(!DataType::Blob.allows(Encoding::Dictionary));
        assert!(!DataType::Float.allows(Encoding::Camel));
        assert!(DataType::Double.allows(Encoding::Camel));
        for data_type in DataType::ALL {
            assert!(data_type.allows(data_type.default_encoding()), "{data_type}");
        }
    }

    #[test]
    fn names_parse_in_any_case() {
        assert_eq!("ts_2diff".parse::<Encoding>().unwrap(), Encoding::Ts2Diff);
        let error = "decimal".parse::<DataType>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().starts_with("\"decimal\" is no data type; there is BOOLEAN, INT32"), "{error}");
    }
}
