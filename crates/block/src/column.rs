//! One column of a block: values, and validity from the first null on.

use tsloom_bitmap::{NullWords, words};
use tsloom_model::{ColumnView, DataType, Value, Values, ValuesRef};

/// Values of one column with a slot for every row, null rows included.
///
/// Validity words are Arrow's: low bit first, 1 = valid, and bits past the last row are 0. They come into being at the
/// first null; a column without nulls has none.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    data_type: DataType,
    values: Values,
    validity: Vec<u64>,
    has_validity: bool,
    null_count: usize,
}

impl Column {
    pub(crate) fn new(name: &str, data_type: DataType, row_budget: usize) -> Self {
        Self {
            name: name.to_owned(),
            data_type,
            values: Values::with_capacity(data_type.physical(), row_budget),
            // Room for it from the start: a column whose first null comes late must not allocate then.
            validity: Vec::with_capacity(words::word_count(row_budget)),
            has_validity: false,
            null_count: 0,
        }
    }

    /// As the layout names it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.values.len()
    }

    /// Number of null rows.
    pub fn null_count(&self) -> usize {
        self.null_count
    }

    /// The values; slots of null rows hold the default (0, false, empty).
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The validity words, or `None` when no row is null.
    pub fn validity(&self) -> Option<&[u64]> {
        self.has_validity.then_some(&self.validity)
    }

    /// Validity bits of 64 rows from `start` on, low bit first; those past the last row mean nothing.
    pub fn valid_word(&self, start: usize) -> u64 {
        self.validity().map_or(u64::MAX, |validity| words::load(validity, start))
    }

    /// True when the row has no value.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn is_null(&self, row: usize) -> bool {
        assert!(row < self.row_count(), "row {row} of {}", self.row_count());
        self.has_validity && !words::get(&self.validity, row)
    }

    /// The cell of a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn value(&self, row: usize) -> Value<'_> {
        if self.is_null(row) { Value::Null } else { self.values.as_values().get(row) }
    }

    /// The cell of a BOOLEAN column; `None` when it is null or the column is of another type.
    pub fn bool(&self, row: usize) -> Option<bool> {
        match self.value(row) {
            Value::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// The cell of an INT32 or DATE column; `None` when it is null or the column is of another type.
    pub fn i32(&self, row: usize) -> Option<i32> {
        match self.value(row) {
            Value::Int32(value) => Some(value),
            _ => None,
        }
    }

    /// The cell of an INT64 or TIMESTAMP column; `None` when it is null or the column is of another type.
    pub fn i64(&self, row: usize) -> Option<i64> {
        match self.value(row) {
            Value::Int64(value) => Some(value),
            _ => None,
        }
    }

    /// The cell of a FLOAT column; `None` when it is null or the column is of another type.
    pub fn f32(&self, row: usize) -> Option<f32> {
        match self.value(row) {
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The cell of a DOUBLE column; `None` when it is null or the column is of another type.
    pub fn f64(&self, row: usize) -> Option<f64> {
        match self.value(row) {
            Value::Double(value) => Some(value),
            _ => None,
        }
    }

    /// The bytes of a TEXT, STRING or BLOB cell; `None` when it is null or the column is of another type.
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self.value(row) {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The text of a cell; `None` also when it is not UTF-8.
    pub fn str(&self, row: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes(row)?).ok()
    }

    /// Appends a cell. Returns false, and appends nothing, when its form is not the column's.
    #[must_use]
    pub fn push(&mut self, value: Value<'_>) -> bool {
        if value.is_null() {
            self.push_nulls(1);
            return true;
        }
        let row_count = self.row_count();
        if !self.values.push(value) {
            return false;
        }
        self.mark_valid(row_count, 1);
        true
    }

    /// Appends null rows.
    pub fn push_nulls(&mut self, count: usize) {
        if count > 0 {
            let row_count = self.row_count();
            self.need_validity(row_count);
            self.values.push_defaults(count);
            self.validity.resize(words::word_count(row_count + count), 0);
            self.null_count += count;
        }
    }

    /// Appends the same cell `count` times. Returns false, and appends nothing, when its form is not the column's.
    #[must_use]
    pub fn push_repeated(&mut self, value: Value<'_>, count: usize) -> bool {
        if value.is_null() {
            self.push_nulls(count);
            return true;
        }
        let row_count = self.row_count();
        if !self.values.push_repeated(value, count) {
            return false;
        }
        self.mark_valid(row_count, count);
        true
    }

    /// Appends the rows of a view. Returns false, and appends nothing, when their form is not the column's.
    #[must_use]
    pub fn extend(&mut self, rows: ColumnView<'_>) -> bool {
        let from = self.row_count();
        let null_count = rows.null_count();
        match (&mut self.values, rows.values()) {
            (Values::Text(into), ValuesRef::Text(text)) if null_count > 0 => {
                for (row, cell) in text.iter().enumerate() {
                    into.push(if rows.is_null(row) { &[] } else { cell });
                }
            }
            (into, values) => {
                if !into.extend(values) {
                    return false;
                }
            }
        }
        match rows.nulls() {
            Some(nulls) if null_count > 0 => {
                self.append_validity(from, nulls, null_count);
                self.values.clear_slots(from, nulls);
            }
            _ => self.mark_valid(from, rows.row_count()),
        }
        true
    }

    /// Appends `count` rows of another column from row `start` on. Returns false, and appends nothing, when its form is another.
    ///
    /// # Panics
    /// When the other column has no such rows, as slices do.
    #[must_use]
    pub fn extend_from(&mut self, other: &Column, start: usize, count: usize) -> bool {
        let from = self.row_count();
        let rows: ValuesRef<'_> = other.values.as_values().slice(start, count);
        if !self.values.extend(rows) {
            return false;
        }
        match other.validity() {
            Some(validity) => {
                let null_count = count - words::count_ones(validity, start, count);
                if null_count == 0 {
                    self.mark_valid(from, count);
                    return true;
                }
                self.need_validity(from);
                self.validity.resize(words::word_count(from + count), 0);
                words::copy_at(&mut self.validity, from, validity, start, count);
                self.null_count += null_count;
            }
            None => self.mark_valid(from, count),
        }
        true
    }

    /// Lets `fill` append present values only, then gives each its row: `nulls` says which of the next rows are null.
    /// `fill` must append exactly as many values as there are rows that are not null; otherwise nothing is kept and the
    /// number it appended comes back as `Ok(Err(count))`.
    ///
    /// # Errors
    /// Whatever `fill` returns; then nothing is kept either.
    pub fn fill_present<E>(
        &mut self,
        nulls: NullWords<'_>,
        fill: impl FnOnce(&mut Values) -> Result<(), E>,
    ) -> Result<Result<(), usize>, E> {
        let from = self.row_count();
        let null_count = nulls.null_count();
        if let Err(error) = fill(&mut self.values) {
            self.values.truncate(from);
            return Err(error);
        }
        let appended = self.values.len().saturating_sub(from);
        if appended != nulls.row_count() - null_count {
            self.values.truncate(from);
            return Ok(Err(appended));
        }
        if null_count > 0 {
            self.values.spread(from, nulls);
        }
        self.append_validity(from, nulls, null_count);
        Ok(Ok(()))
    }

    /// Lets `fill` append exactly `count` values, one a row; otherwise as [`fill_present`](Self::fill_present).
    ///
    /// # Errors
    /// Whatever `fill` returns; then nothing is kept.
    pub fn fill<E>(&mut self, count: usize, fill: impl FnOnce(&mut Values) -> Result<(), E>) -> Result<Result<(), usize>, E> {
        let from = self.row_count();
        if let Err(error) = fill(&mut self.values) {
            self.values.truncate(from);
            return Err(error);
        }
        let appended = self.values.len().saturating_sub(from);
        if appended != count {
            self.values.truncate(from);
            return Ok(Err(appended));
        }
        self.mark_valid(from, count);
        Ok(Ok(()))
    }

    /// Of the rows from `from` on, keeps those whose bits are set in `kept`; bit 0 is row `from`.
    ///
    /// # Panics
    /// When `kept` has fewer bits than there are such rows.
    pub fn retain_rows(&mut self, from: usize, kept: &[u64]) {
        let row_count = self.row_count();
        self.values.keep_marked(from, kept);
        if self.has_validity {
            let mut next = from;
            for run in words::runs(kept, 0, row_count - from).filter(|run| run.set) {
                words::move_down(&mut self.validity, next, from + run.start, run.count);
                next += run.count;
            }
            self.end_validity(next);
        }
    }

    /// Appends the validity of rows whose values are there already, from row `from` on.
    fn append_validity(&mut self, from: usize, nulls: NullWords<'_>, null_count: usize) {
        if null_count == 0 {
            self.mark_valid(from, nulls.row_count());
            return;
        }
        self.need_validity(from);
        self.validity.resize(words::word_count(from + nulls.row_count()), 0);
        let shift = from % 64;
        for index in 0..nulls.word_count() {
            let row_count = (nulls.row_count() - index * 64).min(64);
            let valid = !nulls.word(index) & words::low_mask(row_count);
            let at = from / 64 + index;
            self.validity[at] |= valid << shift;
            if shift > 0 && shift + row_count > 64 {
                self.validity[at + 1] |= valid >> (64 - shift);
            }
        }
        self.null_count += null_count;
    }

    fn mark_valid(&mut self, from: usize, count: usize) {
        if self.has_validity {
            self.validity.resize(words::word_count(from + count), 0);
            words::set_range(&mut self.validity, from, count);
        }
    }

    /// Makes validity words that say: the first `row_count` rows are valid.
    fn need_validity(&mut self, row_count: usize) {
        if !self.has_validity {
            self.has_validity = true;
            self.validity.clear();
            self.validity.resize(words::word_count(row_count), 0);
            words::set_range(&mut self.validity, 0, row_count);
        }
    }

    pub(crate) fn reverse(&mut self) {
        self.values.reverse();
        if self.has_validity {
            let last = self.row_count().saturating_sub(1);
            for row in 0..self.row_count() / 2 {
                let (one, other) = (words::get(&self.validity, row), words::get(&self.validity, last - row));
                if one != other {
                    self.validity[row / 64] ^= 1 << (row % 64);
                    self.validity[(last - row) / 64] ^= 1 << ((last - row) % 64);
                }
            }
        }
    }

    /// Makes room for `row_count` rows in all.
    pub(crate) fn reserve(&mut self, row_count: usize) {
        self.values.reserve(row_count.saturating_sub(self.row_count()));
        self.validity.reserve_exact(words::word_count(row_count).saturating_sub(self.validity.len()));
    }

    pub(crate) fn clear(&mut self) {
        if cfg!(debug_assertions) {
            // What shows of it later was not written by whoever filled the block.
            self.values.poison();
            self.validity.fill(0xa5a5_a5a5_a5a5_a5a5);
        }
        self.values.clear();
        self.has_validity = false;
        self.null_count = 0;
    }

    pub(crate) fn truncate(&mut self, row_count: usize) {
        if row_count >= self.row_count() {
            return;
        }
        self.values.truncate(row_count);
        if self.has_validity {
            self.end_validity(row_count);
        }
    }

    /// Lets validity end with row `row_count`, and go when no row before it is null.
    fn end_validity(&mut self, row_count: usize) {
        self.validity.truncate(words::word_count(row_count));
        if !row_count.is_multiple_of(64) {
            words::clear_range(&mut self.validity, row_count, 64 - row_count % 64);
        }
        self.null_count = row_count - words::count_ones(&self.validity, 0, row_count);
        self.has_validity = self.null_count > 0;
    }

    pub(crate) fn rename(&mut self, name: &str) {
        if self.name != name {
            self.name.clear();
            self.name.push_str(name);
        }
    }
}

#[cfg(test)]
mod tests;
