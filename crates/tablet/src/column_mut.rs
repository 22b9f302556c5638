//! Filling one column at a time.

use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnView, Error, ErrorKind, Result, TextValues, Value, ValuesRef};

use crate::check;
use crate::column::Column;

/// A column of a [`Tablet`](crate::Tablet) that is being written.
///
/// Values go to the rows added last with [`extend_times`](crate::Tablet::extend_times), first one first; rows that are
/// not reached are null. Rows that are there already can be overwritten by position.
#[derive(Debug)]
pub struct ColumnMut<'a> {
    pub(crate) column: &'a mut Column,
    pub(crate) name: &'a str,
    pub(crate) is_tag: bool,
    pub(crate) row_count: usize,
    pub(crate) row_capacity: usize,
}

macro_rules! extend_typed {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $variant:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`extend`](Self::extend).
        pub fn $name(&mut self, values: &[$type]) -> Result<()> {
            self.extend(ValuesRef::$variant(values))
        }
    )* };
}

impl ColumnMut<'_> {
    /// The next row that an append writes.
    pub fn next_row(&self) -> usize {
        self.column.next
    }

    /// Appends one value or null.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] when the value does not fit the column or is no day of the calendar (DATE) or no
    /// UTF-8 (TAG), [`ErrorKind::InvalidArgument`] when there is no row left, [`ErrorKind::LimitExceeded`] past 2 GiB of
    /// text. Nothing is changed then.
    pub fn push(&mut self, value: impl Into<Value<'static>>) -> Result<()> {
        self.push_value(value.into())
    }

    /// [`push`](Self::push) of a borrowed value.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_value(&mut self, value: Value<'_>) -> Result<()> {
        self.room(1)?;
        let value = check::value(self.column, self.name, self.is_tag, value)?;
        if value.is_null() {
            return self.extend_nulls(1);
        }
        self.begin();
        self.column.push(value);
        self.column.next += 1;
        Ok(())
    }

    /// Appends null rows. An absent column stays absent.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when there are fewer rows left.
    pub fn extend_nulls(&mut self, count: usize) -> Result<()> {
        self.room(count)?;
        if self.column.is_present() {
            self.begin();
            self.column.push_nulls(count);
        }
        self.column.next += count;
        Ok(())
    }

    /// Appends one value or null `count` times: the tag of a run of rows, say.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn extend_repeated(&mut self, value: Value<'_>, count: usize) -> Result<()> {
        self.room(count)?;
        let value = check::value(self.column, self.name, self.is_tag, value)?;
        if value.is_null() || count == 0 {
            return self.extend_nulls(count);
        }
        if let Value::Text(cell) = value {
            check::text_room(self.column, self.name, cell.len().saturating_mul(count))?;
        }
        self.begin();
        self.column.push_repeated(value, count);
        self.column.next += count;
        Ok(())
    }

    /// Appends values, none of them null.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn extend(&mut self, values: ValuesRef<'_>) -> Result<()> {
        self.room(values.len())?;
        check::values(self.column, self.name, self.is_tag, values, None)?;
        if values.is_empty() {
            return Ok(());
        }
        self.begin();
        self.column.extend(values);
        self.column.next += values.len();
        Ok(())
    }

    /// Appends rows of another column, nulls included.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn extend_from(&mut self, view: ColumnView<'_>) -> Result<()> {
        match view.nulls() {
            None => self.extend(view.values()),
            Some(nulls) => self.extend_masked(view.values(), nulls),
        }
    }

    /// Appends rows of which `nulls` says which are null; slots of null rows may hold anything.
    ///
    /// # Errors
    /// As [`push`](Self::push), and [`ErrorKind::InvalidArgument`] when `nulls` covers another number of rows.
    pub fn extend_masked(&mut self, values: ValuesRef<'_>, nulls: NullWords<'_>) -> Result<()> {
        if nulls.row_count() != values.len() {
            let message = format!("{} values and {} null bits", values.len(), nulls.row_count());
            return Err(Error::new(ErrorKind::InvalidArgument, message).in_column(self.name));
        }
        self.room(values.len())?;
        check::values(self.column, self.name, self.is_tag, values, Some(nulls))?;
        if nulls.all_null() {
            return self.extend_nulls(values.len());
        }
        self.begin();
        self.column.extend_with_nulls(values, nulls);
        self.column.next += values.len();
        Ok(())
    }

    extend_typed! {
        /// Appends booleans.
        extend_bools: bool => Boolean;
        /// Appends 32-bit integers, or days as yyyymmdd.
        extend_i32s: i32 => Int32;
        /// Appends 64-bit integers or timestamps.
        extend_i64s: i64 => Int64;
        /// Appends 32-bit floats.
        extend_f32s: f32 => Float;
        /// Appends 64-bit floats.
        extend_f64s: f64 => Double;
    }

    /// Appends text cells.
    ///
    /// # Errors
    /// As [`extend`](Self::extend).
    pub fn extend_texts<T: AsRef<[u8]>>(&mut self, cells: &[T]) -> Result<()> {
        let byte_count = cells.iter().fold(0_usize, |sum, cell| sum.saturating_add(cell.as_ref().len()));
        check::text_room(self.column, self.name, byte_count)?;
        let mut text = TextValues::with_capacity(cells.len(), byte_count);
        for cell in cells {
            text.push(cell.as_ref());
        }
        self.extend(ValuesRef::Text(text.as_text()))
    }

    /// Overwrites one row; a value over a null clears the null. Appends go on behind it. Time: O(1), for text O(rows + bytes).
    ///
    /// # Errors
    /// As [`push`](Self::push); [`ErrorKind::InvalidArgument`] when the row is not there.
    pub fn set(&mut self, row: usize, value: Value<'_>) -> Result<()> {
        self.rows(row, 1)?;
        let value = check::value(self.column, self.name, self.is_tag, value)?;
        if value.is_null() && !self.column.is_present() {
            return Ok(());
        }
        self.settle();
        self.column.make_present(self.row_count, self.row_capacity);
        self.column.set(row, value);
        self.column.next = self.column.next.max(row + 1);
        Ok(())
    }

    /// Makes `count` rows from `start` on null. Appends go on behind them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when they are not all there.
    pub fn set_nulls(&mut self, start: usize, count: usize) -> Result<()> {
        self.rows(start, count)?;
        if self.column.is_present() {
            self.settle();
            self.column.set_nulls(start, count);
        }
        self.column.next = self.column.next.max(start + count);
        Ok(())
    }

    /// Before an append: the column is present and ends at the next row. Rows behind it are as yet nulls of a column that was padded;
    /// [`set`](Self::set) and [`set_nulls`](Self::set_nulls) move the next row behind what they wrote.
    fn begin(&mut self) {
        let next = self.column.next;
        self.column.make_present(next, self.row_capacity);
        self.column.truncate(next);
        self.column.push_nulls(next - self.column.len());
    }

    /// Pads a present column with nulls to the rows that there are.
    fn settle(&mut self) {
        if self.column.is_present() {
            self.column.push_nulls(self.row_count - self.column.len());
        }
    }

    fn room(&self, count: usize) -> Result<()> {
        self.rows(self.column.next, count)
    }

    fn rows(&self, start: usize, count: usize) -> Result<()> {
        if start <= self.row_count && count <= self.row_count - start {
            return Ok(());
        }
        let message = format!("{count} rows from row {start} on do not fit the {} rows of the tablet", self.row_count);
        Err(Error::new(ErrorKind::InvalidArgument, message).in_column(self.name))
    }
}

impl Drop for ColumnMut<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}
