//! Conditions on tag values, resolved on device ids before any chunk is touched.
//!
//! ```
//! use tsloom_model::{DeviceId, TableSchema, tag};
//!
//! let table = TableSchema::builder("t").tag("city").tag("side").build()?;
//! let filter = tag("city").eq("Oslo").and(tag("side").is_null().not());
//! let resolved = filter.resolve(&table)?;
//! assert!(resolved.matches(&DeviceId::new("t", [Some("Oslo"), Some("left")])));
//! assert!(!resolved.matches(&DeviceId::new("t", [Some("Oslo")])));
//! # Ok::<(), tsloom_model::Error>(())
//! ```

use crate::compare::decided;
use crate::{ColumnCategory, CompareOp, DeviceId, Error, ErrorKind, Pattern, Result, TableSchema};

/// A condition on tag columns. Comparisons with a null tag are unknown, as in SQL: neither they nor their negation match.
///
/// `Column` is the name of the tag until [`resolve`](Predicate::resolve) turns it into its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate<Column = String> {
    /// A comparison with a text.
    Compare(Column, CompareOp, String),
    /// One of several texts.
    In(Column, Vec<String>),
    /// A regular expression is found in it.
    Matches(Column, Pattern),
    /// The tag is null.
    IsNull(Column),
    /// All hold; no member: true.
    And(Vec<Predicate<Column>>),
    /// One holds; no member: false.
    Or(Vec<Predicate<Column>>),
    /// It does not hold.
    Not(Box<Predicate<Column>>),
}

/// A tag column by name, to compare with.
#[derive(Clone, Debug)]
pub struct TagRef(String);

/// The tag column `name`.
pub fn tag(name: impl Into<String>) -> TagRef {
    TagRef(name.into())
}

impl TagRef {
    /// The tag equals `text`.
    pub fn eq(self, text: impl Into<String>) -> Predicate {
        self.compare(CompareOp::Eq, text)
    }

    /// The tag differs from `text` and is not null.
    pub fn ne(self, text: impl Into<String>) -> Predicate {
        self.compare(CompareOp::Ne, text)
    }

    /// Any comparison.
    pub fn compare(self, op: CompareOp, text: impl Into<String>) -> Predicate {
        Predicate::Compare(self.0, op, text.into())
    }

    /// The tag is one of `texts`.
    pub fn is_in<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Predicate {
        Predicate::In(self.0, texts.into_iter().map(Into::into).collect())
    }

    /// A regular expression is found in the tag.
    ///
    /// # Errors
    /// Those of [`Pattern::new`].
    pub fn matches(self, pattern: impl Into<String>) -> Result<Predicate> {
        Ok(Predicate::Matches(self.0, Pattern::new(pattern)?))
    }

    /// The tag is null.
    pub fn is_null(self) -> Predicate {
        Predicate::IsNull(self.0)
    }
}

impl<Column> Predicate<Column> {
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
}

impl Predicate<String> {
    /// Replaces names by tag positions.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a column that the table has not, [`ErrorKind::SchemaMismatch`] for one that is no TAG.
    pub fn resolve(&self, table: &TableSchema) -> Result<Predicate<usize>> {
        let position = |name: &str| {
            let column = table.require_column(name)?;
            if table.columns()[column].category != ColumnCategory::Tag {
                return Err(Error::new(ErrorKind::SchemaMismatch, format!("column {name} of table {} is no TAG", table.name())));
            }
            Ok(table.tags().take_while(|&tag| tag < column).count())
        };
        let all = |members: &[Self]| members.iter().map(|member| member.resolve(table)).collect::<Result<Vec<_>>>();
        Ok(match self {
            Self::Compare(name, op, text) => Predicate::Compare(position(name)?, *op, text.clone()),
            Self::In(name, texts) => Predicate::In(position(name)?, texts.clone()),
            Self::Matches(name, pattern) => Predicate::Matches(position(name)?, pattern.clone()),
            Self::IsNull(name) => Predicate::IsNull(position(name)?),
            Self::And(members) => Predicate::And(all(members)?),
            Self::Or(members) => Predicate::Or(all(members)?),
            Self::Not(member) => Predicate::Not(Box::new(member.resolve(table)?)),
        })
    }
}

impl Predicate<usize> {
    /// True when the device meets the condition.
    pub fn matches(&self, device: &DeviceId) -> bool {
        self.matches_tags(&|tag| device.tag(tag))
    }

    /// True when a device whose tags `value_of` gives meets the condition: for lists of devices that make no ids.
    pub fn matches_tags<'a>(&self, value_of: &impl Fn(usize) -> Option<&'a str>) -> bool {
        self.truth(value_of) == Some(true)
    }

    /// True, false, or unknown (`None`).
    fn truth<'a>(&self, value_of: &impl Fn(usize) -> Option<&'a str>) -> Option<bool> {
        match self {
            Self::Compare(tag, op, text) => value_of(*tag).map(|value| op.holds_for(Some(value.cmp(text)))),
            Self::In(tag, texts) => value_of(*tag).map(|value| texts.iter().any(|text| text == value)),
            Self::Matches(tag, pattern) => value_of(*tag).map(|value| pattern.is_match(value)),
            Self::IsNull(tag) => Some(value_of(*tag).is_none()),
            Self::Not(member) => member.truth(value_of).map(|truth| !truth),
            Self::And(members) => decided(members, false, |member| member.truth(value_of)),
            Self::Or(members) => decided(members, true, |member| member.truth(value_of)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &Predicate, tags: &[Option<&str>], expected: bool) {
        let table = TableSchema::builder("t").tag("a").field("v", crate::DataType::Int32).tag("b").build().unwrap();
        let device = DeviceId::new("t", tags.iter().copied());
        assert_eq!(filter.resolve(&table).unwrap().matches(&device), expected, "{filter:?} on {device:?}");
    }

    #[test]
    fn a_comparison_with_null_is_unknown() {
        check(&tag("a").ne("x"), &[None, Some("y")], false);
        check(&tag("a").eq("x").not(), &[None, Some("y")], false);
        check(&tag("a").eq("x").or(tag("b").eq("y")), &[None, Some("y")], true);
        check(&tag("a").eq("x").and(tag("b").eq("z")).not(), &[None, Some("y")], true);
        check(&tag("a").is_null(), &[None, Some("y")], true);
        check(&tag("B").is_in(["q", "y"]), &[None, Some("y")], true);
        check(&tag("a").compare(CompareOp::Ge, "m"), &[Some("n")], true);
        check(&Predicate::And(vec![]), &[], true);
        check(&Predicate::Or(vec![]), &[], false);
    }

    #[cfg(feature = "regexp")]
    #[test]
    fn a_pattern_is_found_in_texts_and_unknown_for_null() {
        check(&tag("a").matches("^O").unwrap(), &[Some("Oslo")], true);
        check(&tag("a").matches("^s").unwrap(), &[Some("Oslo")], false);
        check(&tag("a").matches("^s").unwrap().not(), &[Some("Oslo")], true);
        check(&tag("a").matches("").unwrap().not(), &[None], false);
    }

    #[test]
    fn only_tags_can_be_asked() {
        let table = TableSchema::builder("t").tag("a").field("v", crate::DataType::Int32).build().unwrap();
        assert_eq!(tag("v").eq("1").resolve(&table).unwrap_err().kind(), ErrorKind::SchemaMismatch);
        assert_eq!(tag("w").eq("1").resolve(&table).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
