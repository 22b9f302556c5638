//! Conditions on the values of a row, and what bounds of a column say about them.
//!
//! Three truths, as in SQL: a comparison with null is unknown, and a row passes when the condition is true. NaN compares as IEEE 754
//! says: unequal to everything, neither less nor greater.
//!
//! ```
//! use tsloom_model::{DataType, TableSchema, Value, field};
//!
//! let table = TableSchema::builder("t").field("temp", DataType::Double).field("ok", DataType::Boolean).build()?;
//! let condition = field("temp").gt(3.5).and(field("ok").is_null().not()).resolve(&table)?;
//! let row = [Value::Double(4.0), Value::Boolean(false)];
//! assert_eq!(condition.truth(&|column| row[column]), Some(true));
//! # Ok::<(), tsloom_model::Error>(())
//! ```

use std::cmp::Ordering;

use crate::compare::decided;
use crate::{ColumnCategory, CompareOp, DataType, Error, ErrorKind, PhysicalType, Result, TableSchema, Value};

/// A constant to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// For BOOLEAN columns; false is less than true.
    Boolean(bool),
    /// For INT32, INT64, TIMESTAMP and DATE (yyyymmdd) columns, and for numbers.
    Integer(i64),
    /// For FLOAT and DOUBLE columns. A FLOAT is compared as the double that it is.
    Number(f64),
    /// For TEXT, STRING and BLOB columns, by bytes.
    Text(Box<[u8]>),
}

macro_rules! literal_from {
    ($($source:ty => |$value:ident| $target:expr;)+) => {
        $(impl From<$source> for Literal {
            fn from($value: $source) -> Self {
                $target
            }
        })+
    };
}

literal_from! {
    bool => |value| Self::Boolean(value);
    i32 => |value| Self::Integer(value.into());
    i64 => |value| Self::Integer(value);
    f32 => |value| Self::Number(value.into());
    f64 => |value| Self::Number(value);
    &str => |value| Self::Text(value.as_bytes().into());
    &[u8] => |value| Self::Text(value.into());
}

/// A condition on FIELD and ATTRIBUTE columns. `Column` is a name until [`resolve`](RowFilter::resolve) turns it into a position.
#[derive(Clone, Debug, PartialEq)]
pub enum RowFilter<Column = String> {
    /// A comparison with a constant.
    Compare(Column, CompareOp, Literal),
    /// The cell is null.
    IsNull(Column),
    /// All hold; no member: true.
    And(Vec<RowFilter<Column>>),
    /// One holds; no member: false.
    Or(Vec<RowFilter<Column>>),
    /// It does not hold.
    Not(Box<RowFilter<Column>>),
}

/// A column by name, to compare with.
#[derive(Clone, Debug)]
pub struct FieldRef(String);

/// The column `name`.
pub fn field(name: impl Into<String>) -> FieldRef {
    FieldRef(name.into())
}

macro_rules! comparisons {
    ($($(#[$meta:meta])* $name:ident => $op:ident;)+) => {
        $(
            $(#[$meta])*
            pub fn $name(self, literal: impl Into<Literal>) -> RowFilter {
                RowFilter::Compare(self.0, CompareOp::$op, literal.into())
            }
        )+
    };
}

impl FieldRef {
    comparisons! {
        /// The cell equals the constant.
        eq => Eq;
        /// The cell differs from the constant and is not null.
        ne => Ne;
        /// The cell is less.
        lt => Lt;
        /// The cell is less or equal.
        le => Le;
        /// The cell is greater.
        gt => Gt;
        /// The cell is greater or equal.
        ge => Ge;
    }

    /// The cell is one of these.
    pub fn is_in<L: Into<Literal>>(self, literals: impl IntoIterator<Item = L>) -> RowFilter {
        let equals = |literal: L| RowFilter::Compare(self.0.clone(), CompareOp::Eq, literal.into());
        RowFilter::Or(literals.into_iter().map(equals).collect())
    }

    /// The cell is null.
    pub fn is_null(self) -> RowFilter {
        RowFilter::IsNull(self.0)
    }
}

impl<Column> RowFilter<Column> {
    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::And(vec![self, other])
    }

    /// One of the two holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::Or(vec![self, other])
    }

    /// It does not hold.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "reads as a word among `and` and `or`")]
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// The same condition with other names for its columns.
    ///
    /// # Errors
    /// Whatever `name` returns. It also sees the constant that a column is compared with, and may change it.
    pub fn map_columns<C, E>(
        &self,
        name: &mut impl FnMut(&Column, Option<&Literal>) -> Result<(C, Option<Literal>), E>,
    ) -> Result<RowFilter<C>, E> {
        Ok(match self {
            Self::Compare(column, op, literal) => {
                let (column, changed) = name(column, Some(literal))?;
                RowFilter::Compare(column, *op, changed.unwrap_or_else(|| literal.clone()))
            }
            Self::IsNull(column) => RowFilter::IsNull(name(column, None)?.0),
            Self::And(members) => {
                RowFilter::And(members.iter().map(|member| member.map_columns(name)).collect::<Result<_, E>>()?)
            }
            Self::Or(members) => RowFilter::Or(members.iter().map(|member| member.map_columns(name)).collect::<Result<_, E>>()?),
            Self::Not(member) => RowFilter::Not(Box::new(member.map_columns(name)?)),
        })
    }
}

impl RowFilter<String> {
    /// Replaces names by positions in the schema.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a column that the table has not; [`ErrorKind::SchemaMismatch`] for a TAG or TIME column and for a
    /// constant that the column's type cannot be compared with.
    pub fn resolve(&self, table: &TableSchema) -> Result<RowFilter<usize>> {
        self.map_columns(&mut |name: &String, literal: Option<&Literal>| {
            let position = table.require_column(name)?;
            let column = &table.columns()[position];
            if !matches!(column.category, ColumnCategory::Field | ColumnCategory::Attribute) {
                let message = format!("column {name} of table {} is a {}, not a FIELD", table.name(), column.category);
                return Err(Error::new(ErrorKind::SchemaMismatch, message));
            }
            Ok((position, literal.map(|literal| fitted(literal, column.data_type, name)).transpose()?))
        })
    }
}

/// The constant in the form in which cells of this type are compared.
fn fitted(literal: &Literal, data_type: DataType, name: &str) -> Result<Literal> {
    match (literal, data_type.physical()) {
        (Literal::Boolean(_), PhysicalType::Boolean)
        | (Literal::Integer(_), PhysicalType::Int32 | PhysicalType::Int64)
        | (Literal::Number(_), PhysicalType::Float | PhysicalType::Double)
        | (Literal::Text(_), PhysicalType::Text) => Ok(literal.clone()),
        (Literal::Integer(value), PhysicalType::Float | PhysicalType::Double) if value.unsigned_abs() <= 1 << 53 => {
            Ok(Literal::Number(*value as f64))
        }
        _ => {
            Err(Error::new(ErrorKind::SchemaMismatch, format!("{literal:?} cannot be compared with a {data_type}"))
                .in_column(name))
        }
    }
}

/// What is known of the cells of a column in some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnBounds<'a> {
    /// Some row may be null.
    pub has_null: bool,
    /// Some row may have a value.
    pub has_value: bool,
    /// Where the values lie.
    pub range: ValueRange<'a>,
}

/// Least and greatest value, both included. Of numbers NaN is left out: a column may hold it whatever its bounds are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRange<'a> {
    /// Nothing is known.
    Unknown,
    /// INT32, INT64, TIMESTAMP, DATE
    Integers(i64, i64),
    /// FLOAT, DOUBLE; neither end is NaN
    Numbers(f64, f64),
    /// TEXT, STRING, BLOB
    Texts(&'a [u8], &'a [u8]),
}

/// Which truths a condition can have for some row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Possible {
    /// It may be true for a row.
    pub is_true: bool,
    /// It may be false for a row.
    pub is_false: bool,
}

impl RowFilter<usize> {
    /// True, false, or unknown (`None`) for the row whose cells `value_of` gives.
    pub fn truth<'a>(&self, value_of: &impl Fn(usize) -> Value<'a>) -> Option<bool> {
        match self {
            Self::Compare(column, op, literal) => {
                let value = value_of(*column);
                (!value.is_null()).then(|| op.holds_for(compare(value, literal)))
            }
            Self::IsNull(column) => Some(value_of(*column).is_null()),
            Self::Not(member) => member.truth(value_of).map(|truth| !truth),
            Self::And(members) => decided(members, false, |member| member.truth(value_of)),
            Self::Or(members) => decided(members, true, |member| member.truth(value_of)),
        }
    }

    /// What can be true or false of rows of which only bounds are known. Says `true` too often rather than too seldom.
    pub fn possible<'a>(&self, bounds_of: &impl Fn(usize) -> ColumnBounds<'a>) -> Possible {
        match self {
            Self::Compare(column, op, literal) => possible_compare(&bounds_of(*column), *op, literal),
            Self::IsNull(column) => {
                let bounds = bounds_of(*column);
                Possible { is_true: bounds.has_null, is_false: bounds.has_value }
            }
            Self::Not(member) => {
                let inner = member.possible(bounds_of);
                Possible { is_true: inner.is_false, is_false: inner.is_true }
            }
            Self::And(members) => members.iter().fold(Possible { is_true: true, is_false: false }, |all, member| {
                let member = member.possible(bounds_of);
                Possible { is_true: all.is_true && member.is_true, is_false: all.is_false || member.is_false }
            }),
            Self::Or(members) => members.iter().fold(Possible { is_true: false, is_false: true }, |all, member| {
                let member = member.possible(bounds_of);
                Possible { is_true: all.is_true || member.is_true, is_false: all.is_false && member.is_false }
            }),
        }
    }

    /// Calls `visit` with every column that the condition asks for, some more than once.
    pub fn visit_columns(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Compare(column, ..) | Self::IsNull(column) => visit(*column),
            Self::And(members) | Self::Or(members) => members.iter().for_each(|member| member.visit_columns(visit)),
            Self::Not(member) => member.visit_columns(visit),
        }
    }
}

/// `None` when one of them is NaN, or they cannot be compared, which resolving has refused.
fn compare(value: Value<'_>, literal: &Literal) -> Option<Ordering> {
    match (value, literal) {
        (Value::Boolean(value), Literal::Boolean(literal)) => Some(value.cmp(literal)),
        (Value::Int32(value), Literal::Integer(literal)) => Some(i64::from(value).cmp(literal)),
        (Value::Int64(value), Literal::Integer(literal)) => Some(value.cmp(literal)),
        (Value::Float(value), Literal::Number(literal)) => f64::from(value).partial_cmp(literal),
        (Value::Double(value), Literal::Number(literal)) => value.partial_cmp(literal),
        (Value::Text(value), Literal::Text(literal)) => Some(value.cmp(literal)),
        _ => None,
    }
}

fn possible_compare(bounds: &ColumnBounds<'_>, op: CompareOp, literal: &Literal) -> Possible {
    if !bounds.has_value {
        return Possible { is_true: false, is_false: false };
    }
    let (least, greatest, nan) = match (bounds.range, literal) {
        (ValueRange::Integers(min, max), Literal::Integer(literal)) => (min.cmp(literal), max.cmp(literal), false),
        (ValueRange::Numbers(min, max), Literal::Number(literal)) => match (min.partial_cmp(literal), max.partial_cmp(literal)) {
            (Some(least), Some(greatest)) => (least, greatest, true),
            _ => return Possible { is_true: op.holds_for(None), is_false: !op.holds_for(None) }, // the literal is NaN
        },
        (ValueRange::Texts(min, max), Literal::Text(literal)) => (min.cmp(literal), max.cmp(literal), false),
        _ => return Possible { is_true: true, is_false: true },
    };
    // Values may compare as anything from `least` to `greatest`, and a number may be NaN.
    let orderings = [Ordering::Less, Ordering::Equal, Ordering::Greater];
    let outcomes = orderings.into_iter().filter(|ordering| least <= *ordering && *ordering <= greatest).map(Some);
    let outcomes = outcomes.chain(nan.then_some(None));
    outcomes.fold(Possible { is_true: false, is_false: false }, |all, ordering| {
        let holds = op.holds_for(ordering);
        Possible { is_true: all.is_true || holds, is_false: all.is_false || !holds }
    })
}

#[cfg(test)]
mod tests;
