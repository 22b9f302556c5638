//! One cell, borrowed or owned.

use std::fmt;

use crate::PhysicalType;

/// One cell of a row, or the lack of one. Data types that share a form share a variant: DATE is
/// [`Value::Int32`] (yyyymmdd), TIMESTAMP is [`Value::Int64`], TEXT, STRING and BLOB are [`Value::Text`].
///
/// ```
/// # use tsloom_model::Value;
/// let row: [Value; 3] = ["Oslo".into(), 3.5.into(), Value::Null];
/// assert_eq!(row[0].as_str(), Some("Oslo"));
/// ```
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Value<'a> {
    /// No value.
    #[default]
    Null,
    /// BOOLEAN
    Boolean(bool),
    /// INT32, DATE
    Int32(i32),
    /// INT64, TIMESTAMP
    Int64(i64),
    /// FLOAT
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// TEXT, STRING, BLOB
    Text(&'a [u8]),
}

/// One cell that owns its text: for rows that must wait. [`Value`] borrows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// No value.
    #[default]
    Null,
    /// BOOLEAN
    Boolean(bool),
    /// INT32, DATE
    Int32(i32),
    /// INT64, TIMESTAMP
    Int64(i64),
    /// FLOAT
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// TEXT, STRING, BLOB
    Text(Vec<u8>),
}

impl Cell {
    /// The same value, borrowed.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Int32(value) => Value::Int32(*value),
            Self::Int64(value) => Value::Int64(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Double(value) => Value::Double(*value),
            Self::Text(bytes) => Value::Text(bytes),
        }
    }
}

impl From<Value<'_>> for Cell {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Boolean(value),
            Value::Int32(value) => Self::Int32(value),
            Value::Int64(value) => Self::Int64(value),
            Value::Float(value) => Self::Float(value),
            Value::Double(value) => Self::Double(value),
            Value::Text(bytes) => Self::Text(bytes.to_vec()),
        }
    }
}

impl<'a> Value<'a> {
    /// True for [`Value::Null`].
    pub const fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text, if it is one and is UTF-8.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The form of the value, or `None` for null.
    pub const fn physical(self) -> Option<PhysicalType> {
        match self {
            Self::Null => None,
            Self::Boolean(_) => Some(PhysicalType::Boolean),
            Self::Int32(_) => Some(PhysicalType::Int32),
            Self::Int64(_) => Some(PhysicalType::Int64),
            Self::Float(_) => Some(PhysicalType::Float),
            Self::Double(_) => Some(PhysicalType::Double),
            Self::Text(_) => Some(PhysicalType::Text),
        }
    }

    /// The same number in a column of another form, when nothing is lost: INT32 into INT64 and DOUBLE,
    /// FLOAT into DOUBLE. Null fits everywhere. `None` when the value does not fit.
    pub fn widen_to(self, physical: PhysicalType) -> Option<Self> {
        match (self, physical) {
            (Self::Null, _) => Some(self),
            (Self::Int32(value), PhysicalType::Int64) => Some(Self::Int64(value.into())),
            (Self::Int32(value), PhysicalType::Double) => Some(Self::Double(value.into())),
            (Self::Float(value), PhysicalType::Double) => Some(Self::Double(value.into())),
            _ => (self.physical() == Some(physical)).then_some(self),
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => value.fmt(f),
            Self::Int32(value) => value.fmt(f),
            Self::Int64(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Double(value) => value.fmt(f),
            Self::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => text.fmt(f),
                Err(_) => write!(f, "{bytes:02x?}"),
            },
        }
    }
}

/// One `From` each, and one for `Option` of it.
macro_rules! from {
    ($($source:ty => |$value:ident| $target:expr;)+) => {
        $(
            impl<'a> From<$source> for Value<'a> {
                fn from($value: $source) -> Self {
                    $target
                }
            }

            impl<'a> From<Option<$source>> for Value<'a> {
                fn from(value: Option<$source>) -> Self {
                    value.map_or(Value::Null, Value::from)
                }
            }
        )+
    };
}

from! {
    bool => |value| Value::Boolean(value);
    i32 => |value| Value::Int32(value);
    i64 => |value| Value::Int64(value);
    f32 => |value| Value::Float(value);
    f64 => |value| Value::Double(value);
    &'a str => |value| Value::Text(value.as_bytes());
    &'a [u8] => |value| Value::Text(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_loses_nothing() {
        assert_eq!(Value::from(7).widen_to(PhysicalType::Double), Some(Value::Double(7.0)));
        assert_eq!(Value::from(7).widen_to(PhysicalType::Int64), Some(Value::Int64(7)));
        assert_eq!(Value::from(7_i64).widen_to(PhysicalType::Double), None);
        assert_eq!(Value::from(7).widen_to(PhysicalType::Float), None);
        assert_eq!(Value::Null.widen_to(PhysicalType::Text), Some(Value::Null));
        assert_eq!(Value::from("x").widen_to(PhysicalType::Boolean), None);
    }

    #[test]
    fn debug_is_for_people() {
        assert_eq!(format!("{:?}", [Value::from("Oslo"), Value::Null, Value::from(3.5)]), r#"["Oslo", null, 3.5]"#);
    }
}
