//! Where the rows of an answer are gathered when they cannot be lent from one block.

use tsloom_bitmap::{NullWords, words};
use tsloom_model::{ColumnView, DataType, TextValues, Values};

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

    /// The old values, to be replaced by `row_count` new ones, and their null bits, none of which is set.
    pub(crate) fn begin(&mut self, row_count: usize) -> (&mut Values, &mut [u64]) {
        self.nulls.clear();
        self.nulls.resize(words::word_count(row_count), 0);
        (&mut self.values, &mut self.nulls)
    }

    /// Values and null bits are there.
    pub(crate) fn end(&mut self) {
        self.null_count = words::count_ones(&self.nulls, 0, self.len());
    }

    /// Turns the order of the rows round.
    pub(crate) fn reverse(&mut self) {
        match &mut self.values {
            Values::Boolean(values) => values.reverse(),
            Values::Int32(values) => values.reverse(),
            Values::Int64(values) => values.reverse(),
            Values::Float(values) => values.reverse(),
            Values::Double(values) => values.reverse(),
            Values::Text(values) => {
                let text = values.as_text();
                let mut reversed = TextValues::with_capacity(text.len(), text.byte_count());
                for index in (0..text.len()).rev() {
                    reversed.push(text.get(index));
                }
                *values = reversed;
            }
        }
        if self.null_count > 0 {
            let row_count = self.len();
            let mut reversed = vec![0; self.nulls.len()];
            for row in words::ones(&self.nulls, 0, row_count) {
                words::set(&mut reversed, row_count - 1 - row);
            }
            self.nulls = reversed;
        }
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
