//! What can be wrong with bytes at this level. Small `Copy` values, cheap in loops.

use std::fmt;

/// Fewer bytes were left than a field needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// Bytes the field needs.
    pub need: usize,
    /// Bytes that were left.
    pub have: usize,
    /// Position of the field's first byte.
    pub at: usize,
}

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { need, have, at } = self;
        write!(f, "need {need} bytes at position {at}, {have} are left")
    }
}

impl std::error::Error for Truncated {}

/// A field that cannot be read. Every variant carries the position of the field's first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The bytes ran out.
    Truncated(Truncated),
    /// A varint that goes on past the width of its type.
    VarintTooLong {
        /// Position of the varint.
        at: usize,
    },
    /// A length below zero that does not stand for null.
    NegativeLength {
        /// Position of the length.
        at: usize,
        /// The length as read.
        length: i64,
    },
    /// String bytes that are not UTF-8.
    NotUtf8 {
        /// Position of the string's length field.
        at: usize,
    },
    /// A flag byte other than 0 and 1.
    BadBool {
        /// Position of the flag.
        at: usize,
        /// The byte found.
        byte: u8,
    },
    /// A null string where one must be present.
    NullString {
        /// Position of the string's length field.
        at: usize,
    },
}

impl WireError {
    /// Position of the field that could not be read.
    pub fn at(&self) -> usize {
        match *self {
            Self::Truncated(Truncated { at, .. })
            | Self::VarintTooLong { at }
            | Self::NegativeLength { at, .. }
            | Self::NotUtf8 { at }
            | Self::BadBool { at, .. }
            | Self::NullString { at } => at,
        }
    }
}

impl From<Truncated> for WireError {
    fn from(error: Truncated) -> Self {
        Self::Truncated(error)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(error) => error.fmt(f),
            Self::VarintTooLong { at } => {
                write!(f, "varint at position {at} does not fit its type")
            }
            Self::NegativeLength { at, length } => {
                write!(f, "length {length} at position {at} is negative")
            }
            Self::NotUtf8 { at } => write!(f, "string at position {at} is not UTF-8"),
            Self::BadBool { at, byte } => {
                write!(f, "flag at position {at} is {byte:#04x}, not 00 or 01")
            }
            Self::NullString { at } => write!(f, "string at position {at} is null"),
        }
    }
}

impl std::error::Error for WireError {}
