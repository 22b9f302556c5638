//! Where the rows of an answer are gathered when they cannot be lent from one block.

use tsloom_bitmap::{NullWords, words};
use tsloom_model::{ColumnView, DataType, Values};

/// One column of gathered rows.
#[derive(Debug)]
pub(crate) struct ColumnBuffer {
    data_type: DataType,
    values: Values,
    nulls: Vec<u64>,
    null_count: usize,
}

impl ColumnBuffer {
    pub(crate) fn new(data_type: DataType) -> Self {
        Self { data_type, values: Values::new(data_type.physical()), nulls: Vec::new(), null_count: 0 }
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    /// Forgets all rows, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.nulls.clear();
        self.null_count = 0;
    }

    /// Appends rows; `None` is `count` null rows.
    pub(crate) fn extend(&mut self, rows: Option<ColumnView<'_>>, count: usize) {
        let from = self.len();
        self.nulls.resize(words::word_count(from + count), 0);
        let Some(rows) = rows else {
            self.values.push_defaults(count);
            words::set_range(&mut self.nulls, from, count);
            self.null_count += count;
            return;
        };
        let same_form = self.values.extend(rows.values());
        assert!(same_form, "a column keeps its form");
        if let Some(nulls) = rows.nulls() {
            nulls.or_to(&mut self.nulls, from);
            self.null_count += nulls.null_count();
        }
    }

    /// Makes room for the values of `row_count` rows, whatever they are until they are written; text is empty, and no row null.
    pub(crate) fn begin(&mut self, row_count: usize) {
        match &mut self.values {
            Values::Boolean(values) => values.resize(row_count, false),
            Values::Int32(values) => values.resize(row_count, 0),
            Values::Int64(values) => values.resize(row_count, 0),
            Values::Float(values) => values.resize(row_count, 0.0),
            Values::Double(values) => values.resize(row_count, 0.0),
            Values::Text(values) => values.clear(),
        }
        self.nulls.clear();
        self.nulls.resize(words::word_count(row_count), 0);
    }

    /// Values and null bits, to be written.
    pub(crate) fn parts(&mut self) -> (&mut Values, &mut [u64]) {
        (&mut self.values, &mut self.nulls)
    }

    /// Values and null bits are there.
    pub(crate) fn end(&mut self) {
        self.null_count = words::count_ones(&self.nulls, 0, self.len());
    }

    /// The column; `None` when no row has a value.
    pub(crate) fn view(&self) -> Option<ColumnView<'_>> {
        let row_count = self.len();
        if self.null_count == row_count {
            return None;
        }
        let nulls = (self.null_count > 0).then(|| NullWords::new(&self.nulls, 0, row_count));
        Some(ColumnView::new(self.data_type, self.values.as_values(), nulls))
    }
}
