//! The one currency between tablet, memtable, block and the page writer.

use tsloom_bitmap::NullWords;

use crate::{DataType, Value, ValuesRef};

/// A borrowed column: its values, and which rows are null.
///
/// Slots of null rows hold anything; ask [`is_null`](Self::is_null) first. An absent column is the absence of a view,
/// never a view in which all rows are null.
#[derive(Clone, Copy, Debug)]
pub struct ColumnView<'a> {
    data_type: DataType,
    values: ValuesRef<'a>,
    nulls: Option<NullWords<'a>>,
}

impl<'a> ColumnView<'a> {
    /// A view over `values`, in which `nulls` marks the null rows (`None`: there are none).
    ///
    /// # Panics
    /// When the form of `values` is not that of `data_type`, or `nulls` covers another number of rows: both are
    /// mistakes of the calling code, never of input.
    #[inline]
    pub fn new(data_type: DataType, values: ValuesRef<'a>, nulls: Option<NullWords<'a>>) -> Self {
        assert_eq!(values.physical(), data_type.physical(), "values of a {data_type} column");
        if let Some(nulls) = nulls {
            assert_eq!(nulls.row_count(), values.len(), "one null bit a row");
        }
        Self { data_type, values, nulls }
    }

    /// What the column holds.
    #[inline]
    pub const fn data_type(self) -> DataType {
        self.data_type
    }

    /// The values, null slots included.
    #[inline]
    pub const fn values(self) -> ValuesRef<'a> {
        self.values
    }

    /// The null bits, 1 = null; `None` when no row is known to be null.
    #[inline]
    pub const fn nulls(self) -> Option<NullWords<'a>> {
        self.nulls
    }

    /// Number of rows.
    #[inline]
    pub fn row_count(self) -> usize {
        self.values.len()
    }

    /// True when the row has no value.
    #[inline]
    pub fn is_null(self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Number of rows without a value.
    pub fn null_count(self) -> usize {
        self.nulls.map_or(0, |nulls| nulls.null_count())
    }

    /// The cell of a row.
    ///
    /// # Panics
    /// When `row >= row_count()`, as slices do.
    pub fn value(self, row: usize) -> Value<'a> {
        if self.is_null(row) { Value::Null } else { self.values.get(row) }
    }

    /// `count` rows from `start` on.
    ///
    /// # Panics
    /// When the range is not inside, as slices do.
    #[must_use]
    #[inline]
    pub fn slice(self, start: usize, count: usize) -> Self {
        Self {
            data_type: self.data_type,
            values: self.values.slice(start, count),
            nulls: self.nulls.map(|nulls| nulls.slice(start, count)),
        }
    }
}
