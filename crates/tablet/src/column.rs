//! One owned column: absent until something is written to it.
//!
//! Invariants, for a tablet of `row_count` rows at rest:
//! - an absent column has no values; a present one has exactly `row_count`;
//! - `null_count` is the number of set bits; when it is not 0, `nulls` holds a bit for every row and none past the last;
//! - the slot of a null row holds the placeholder of its type (0, false, empty, 1000-01-01), so columns are written whole.

use tsloom_bitmap::{BitMap, NullWords, words};
use tsloom_model::{ColumnView, DataType, Date, TextValues, Value, Values, ValuesRef};

/// How the nulls of a column stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// As marks in the column's bitmap.
    Bitmap,
    /// Only as text cells that are missing, without a mark: what Java sends of arrays filled by hand.
    MissingCells,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    data_type: DataType,
    present: bool,
    /// `None` until the column was present once; then kept, so that a cleared tablet fills without allocating.
    values: Option<Values>,
    nulls: Vec<u64>,
    null_count: usize,
    marks: Marks,
    /// Length of the longest text cell, or more.
    longest: u32,
    /// The row that the next append of [`ColumnMut`](crate::ColumnMut) writes, unless later rows were added since.
    pub(crate) next: usize,
}

impl Column {
    pub(crate) fn new(data_type: DataType) -> Self {
        Self {
            data_type,
            present: false,
            values: None,
            nulls: Vec::new(),
            null_count: 0,
            marks: Marks::Bitmap,
            longest: 0,
            next: 0,
        }
    }

    pub(crate) fn data_type(&self) -> DataType {
        self.data_type
    }

    #[inline]
    pub(crate) fn is_present(&self) -> bool {
        self.present
    }

    /// True when the wire form says more about the column than that it is absent.
    pub(crate) fn is_written(&self) -> bool {
        self.present || self.null_count > 0
    }

    pub(crate) fn null_count(&self) -> usize {
        self.null_count
    }

    pub(crate) fn marks(&self) -> Marks {
        self.marks
    }

    pub(crate) fn set_marks(&mut self, marks: Marks) {
        self.marks = marks;
    }

    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    pub(crate) fn raise_longest(&mut self, length: u32) {
        self.longest = self.longest.max(length);
    }

    /// Rows that have a slot: all of them, or none of an absent column.
    pub(crate) fn len(&self) -> usize {
        if self.present { self.values.as_ref().map_or(0, Values::len) } else { 0 }
    }

    #[inline(always)]
    pub(crate) fn values(&self) -> Option<ValuesRef<'_>> {
        if self.present { self.values.as_ref().map(Values::as_values) } else { None }
    }

    #[inline(always)]
    pub(crate) fn nulls(&self, row_count: usize) -> Option<NullWords<'_>> {
        (self.null_count > 0).then(|| NullWords::new(&self.nulls, 0, row_count))
    }

    pub(crate) fn view(&self) -> Option<ColumnView<'_>> {
        let values = self.values()?;
        Some(ColumnView::new(self.data_type, values, self.nulls(values.len())))
    }

    /// Bytes of the values and null words, capacity not counted.
    pub(crate) fn byte_count(&self) -> usize {
        let nulls = if self.null_count > 0 { self.nulls.len() * 8 } else { 0 };
        let values = self.values().map_or(0, |values| match values {
            ValuesRef::Text(text) => text.byte_count() + text.len() * 4,
            fixed => fixed.len() * self.data_type.physical().width().unwrap_or(0),
        });
        nulls + values
    }

    /// Bytes of the column in the bitmap and value sections, flags not counted. O(1).
    pub(crate) fn wire_size(&self, row_count: usize) -> usize {
        let has_bitmap = self.null_count > 0 && self.marks == Marks::Bitmap;
        let marks = if has_bitmap { 8 + BitMap::wire_bytes(row_count) } else { 0 };
        let slots = match &self.values {
            Some(values) if self.present => match (self.data_type.physical().width(), values) {
                (Some(width), _) => row_count * width,
                (None, Values::Text(text)) => row_count * 5 - self.null_count * 4 + text.as_text().byte_count(),
                (None, _) => unreachable!("all but text have a width"),
            },
            _ => 0,
        };
        marks + slots
    }

    /// Absent again, memory kept.
    pub(crate) fn clear(&mut self) {
        if let Some(values) = &mut self.values {
            values.clear();
        }
        self.reset_nulls();
        self.present = false;
        self.marks = Marks::Bitmap;
        self.longest = 0;
        self.next = 0;
    }

    fn reset_nulls(&mut self) {
        self.nulls.clear();
        self.null_count = 0;
    }

    /// Makes an absent column present; its rows so far are null.
    pub(crate) fn make_present(&mut self, row_count: usize, row_capacity: usize) {
        if !self.present {
            let physical = self.data_type.physical();
            self.values.get_or_insert_with(|| Values::with_capacity(physical, row_capacity));
            self.present = true;
            self.reset_nulls();
            self.push_nulls(row_count);
        }
    }

    /// The values, for code that fills them whole. The column is present afterwards.
    pub(crate) fn values_mut(&mut self) -> &mut Values {
        self.present = true;
        let physical = self.data_type.physical();
        self.values.get_or_insert_with(|| Values::new(physical))
    }

    /// Appends a value of the column's form to a present column.
    #[inline]
    pub(crate) fn push(&mut self, value: Value<'_>) {
        if value.is_null() {
            return self.push_nulls(1);
        }
        let row_count = match (self.values_mut(), value) {
            (Values::Boolean(values), Value::Boolean(value)) => pushed(values, value),
            (Values::Int32(values), Value::Int32(value)) => pushed(values, value),
            (Values::Int64(values), Value::Int64(value)) => pushed(values, value),
            (Values::Float(values), Value::Float(value)) => pushed(values, value),
            (Values::Double(values), Value::Double(value)) => pushed(values, value),
            (Values::Text(text), Value::Text(cell)) => {
                text.push(cell);
                let row_count = text.len();
                self.raise_longest(cell.len() as u32);
                row_count
            }
            _ => unreachable!("the value was checked against the column's type"),
        };
        self.cover(row_count);
    }

    /// Appends a value that is not null `count` times to a present column. The form was checked by the caller.
    pub(crate) fn push_repeated(&mut self, value: Value<'_>, count: usize) {
        if let Value::Text(cell) = value {
            self.raise_longest(cell.len() as u32);
        }
        let is_extended = self.values_mut().push_repeated(value, count);
        assert!(is_extended, "the value was checked against the column's type");
        self.cover(self.len());
    }

    /// Appends null rows to a present column.
    pub(crate) fn push_nulls(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let start = self.len();
        let is_date = self.data_type == DataType::Date;
        match self.values_mut() {
            Values::Int32(values) if is_date => {
                values.resize(start + count, Date::MIN.yyyymmdd());
            }
            values => values.push_defaults(count),
        }
        self.mark(start, count, start + count);
    }

    /// Appends values without nulls to a present column. The form was checked by the caller.
    pub(crate) fn extend(&mut self, values: ValuesRef<'_>) {
        if let ValuesRef::Text(text) = values {
            self.raise_longest(longest_cell(text.offsets()));
        }
        let is_extended = self.values_mut().extend(values);
        assert!(is_extended, "the values were checked against the column's type");
        self.cover(self.len());
    }

    /// Appends rows of which some are null to a present column. The form was checked by the caller.
    pub(crate) fn extend_with_nulls(&mut self, values: ValuesRef<'_>, nulls: NullWords<'_>) {
        if !nulls.any_null() {
            return self.extend(values);
        }
        let start = self.len();
        if let ValuesRef::Text(text) = values {
            // Cell by cell: the bytes in the slots of null rows do not come along.
            for row in 0..text.len() {
                if nulls.is_null(row) {
                    self.push_nulls(1);
                } else {
                    self.push(Value::Text(text.get(row)));
                }
            }
            return;
        }
        self.extend(values);
        self.mark_all_of(nulls, start);
        for row in nulls.ones() {
            self.put_placeholder(start + row);
        }
    }

    /// ORs null bits into the column's, for rows that have slots already or for an absent column.
    pub(crate) fn mark_all_of(&mut self, nulls: NullWords<'_>, start: usize) {
        let end = start + nulls.row_count();
        self.nulls.resize(self.nulls.len().max(words::word_count(end)), 0);
        nulls.or_to(&mut self.nulls, start);
        self.null_count = words::count_ones(&self.nulls, 0, end);
    }

    /// Sets the slot of a row to the placeholder; text is left as it is.
    pub(crate) fn put_placeholder(&mut self, row: usize) {
        let is_date = self.data_type == DataType::Date;
        match self.values_mut() {
            Values::Boolean(values) => values[row] = false,
            Values::Int32(values) => values[row] = if is_date { Date::MIN.yyyymmdd() } else { 0 },
            Values::Int64(values) => values[row] = 0,
            Values::Float(values) => values[row] = 0.0,
            Values::Double(values) => values[row] = 0.0,
            Values::Text(_) => {}
        }
    }

    /// Overwrites a row of a present column. The form was checked by the caller.
    pub(crate) fn set(&mut self, row: usize, value: Value<'_>) {
        let row_count = self.len();
        match (self.values_mut(), value) {
            (Values::Boolean(values), Value::Boolean(value)) => values[row] = value,
            (Values::Int32(values), Value::Int32(value)) => values[row] = value,
            (Values::Int64(values), Value::Int64(value)) => values[row] = value,
            (Values::Float(values), Value::Float(value)) => values[row] = value,
            (Values::Double(values), Value::Double(value)) => values[row] = value,
            (Values::Text(_), Value::Text(cell)) => {
                self.splice_text(row, cell);
                self.raise_longest(cell.len() as u32);
            }
            (Values::Text(_), Value::Null) => self.splice_text(row, b""),
            (_, Value::Null) => self.put_placeholder(row),
            _ => unreachable!("the value was checked against the column's type"),
        }
        if value.is_null() {
            self.mark(row, 1, row_count);
        } else {
            self.unmark(row, 1);
        }
    }

    /// Makes `count` rows from `start` on null, in a present column.
    pub(crate) fn set_nulls(&mut self, start: usize, count: usize) {
        let row_count = self.len();
        self.mark(start, count, row_count);
        self.settle_null_slots(row_count);
    }

    fn splice_text(&mut self, row: usize, cell: &[u8]) {
        let Values::Text(text) = self.values_mut() else {
            unreachable!("only text columns have cells");
        };
        let (offsets, bytes) = text.parts_mut();
        let (from, to) = (offsets[row], offsets[row + 1]);
        bytes.splice(from as usize..to as usize, cell.iter().copied());
        let end = from + cell.len() as u32;
        for offset in &mut offsets[row + 1..] {
            *offset = *offset - to + end;
        }
    }

    /// Cuts to the first `row_count` rows.
    pub(crate) fn truncate(&mut self, row_count: usize) {
        let before = self.len();
        if row_count >= before {
            return;
        }
        self.unmark(row_count, before - row_count);
        self.nulls.truncate(words::word_count(row_count));
        self.values_mut().truncate(row_count);
    }

    /// Before another tablet is read into this one: nothing is said about the column, old values may stay until they are
    /// overwritten. Ends with [`end_read`](Self::end_read).
    pub(crate) fn begin_read(&mut self) {
        self.reset_nulls();
        self.present = false;
        self.marks = Marks::Bitmap;
        self.longest = 0;
        self.next = 0;
    }

    /// An absent column lets go of values that were not overwritten.
    pub(crate) fn end_read(&mut self) {
        if !self.present
            && let Some(values) = &mut self.values
        {
            values.clear();
        }
    }

    /// Fills the null words of all rows.
    pub(crate) fn set_null_words(&mut self, row_count: usize, fill: impl FnOnce(&mut [u64])) {
        self.nulls.resize(words::word_count(row_count), 0);
        fill(&mut self.nulls);
        self.recount_nulls(row_count);
    }

    pub(crate) fn recount_nulls(&mut self, row_count: usize) {
        self.null_count = words::count_ones(&self.nulls, 0, row_count);
    }

    /// Puts the placeholder into the slots of all null rows.
    pub(crate) fn settle_null_slots(&mut self, row_count: usize) {
        if self.null_count == 0 {
            return;
        }
        if self.data_type.is_text() {
            return self.empty_null_cells(row_count);
        }
        let nulls = std::mem::take(&mut self.nulls);
        for row in words::ones(&nulls, 0, row_count) {
            self.put_placeholder(row);
        }
        self.nulls = nulls;
    }

    /// Cuts the text of null rows out, in one pass.
    fn empty_null_cells(&mut self, row_count: usize) {
        let (text, nulls) = self.text_parts();
        let (offsets, bytes) = text.parts_mut();
        let (mut start, mut written) = (0, 0);
        for row in 0..row_count {
            let end = offsets[row + 1] as usize;
            if !words::get(nulls, row) {
                bytes.copy_within(start..end, written);
                written += end - start;
            }
            offsets[row + 1] = written as u32;
            start = end;
        }
        bytes.truncate(written);
    }

    /// Cells and null words of a text column, for code that fills both. The column is present afterwards.
    pub(crate) fn text_parts(&mut self) -> (&mut TextValues, &mut Vec<u64>) {
        self.values_mut();
        match &mut self.values {
            Some(Values::Text(text)) => (text, &mut self.nulls),
            _ => unreachable!("only text columns have cells"),
        }
    }

    /// The rows at these positions, in this order; `None` gives a null row.
    pub(crate) fn gather(&mut self, rows: &[Option<u32>]) {
        let old = std::mem::replace(self, Self::new(self.data_type));
        let row_count = rows.len();
        if let Some(view) = old.view() {
            self.make_present(0, row_count);
            for row in rows {
                self.push(row.map_or(Value::Null, |row| view.value(row as usize)));
            }
            self.marks = old.marks;
        } else if let Some(nulls) = old.nulls(old.nulls.len() * 64) {
            // Absent, with marks of its own: they move as well.
            for (position, row) in rows.iter().enumerate() {
                if row.is_none_or(|row| nulls.is_null(row as usize)) {
                    self.mark(position, 1, row_count);
                }
            }
        }
    }

    fn mark(&mut self, start: usize, count: usize, row_count: usize) {
        let word_count = words::word_count(row_count);
        if self.nulls.len() < word_count {
            self.nulls.resize(word_count, 0);
        }
        self.null_count += count - words::count_ones(&self.nulls, start, count);
        words::set_range(&mut self.nulls, start, count);
        self.marks = Marks::Bitmap;
    }

    fn unmark(&mut self, start: usize, count: usize) {
        if self.null_count > 0 {
            self.null_count -= words::count_ones(&self.nulls, start, count);
            words::clear_range(&mut self.nulls, start, count);
        }
    }

    /// Gives every row a null bit when some row is null. An absent column may have such bits, too: Java sends them.
    #[inline]
    pub(crate) fn cover(&mut self, row_count: usize) {
        let word_count = words::word_count(row_count);
        if self.null_count > 0 && self.nulls.len() < word_count {
            self.nulls.resize(word_count, 0);
        }
    }
}

#[inline]
fn pushed<T>(values: &mut Vec<T>, value: T) -> usize {
    values.push(value);
    values.len()
}

/// Length of the longest cell.
pub(crate) fn longest_cell(offsets: &[u32]) -> u32 {
    offsets.windows(2).fold(0, |longest, pair| longest.max(pair[1].wrapping_sub(pair[0])))
}
