//! Where the rows of an answer are gathered when they cannot be lent from one block.

use tsloom_bitmap::{NullWords, words};
use tsloom_model::{ColumnView, DataType, TextValues, Value, Values, ValuesRef};

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

    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.nulls.clear();
        self.null_count = 0;
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    /// Appends `values`, of which `nulls` marks the null ones.
    pub(crate) fn extend(&mut self, values: ValuesRef<'_>, nulls: Option<NullWords<'_>>) {
        let from = self.len();
        let same_form = self.values.extend(values);
        assert!(same_form, "a column keeps its form");
        self.nulls.resize(words::word_count(self.len()), 0);
        if let Some(nulls) = nulls {
            nulls.or_to(&mut self.nulls, from);
            self.null_count += nulls.null_count();
        }
    }

    pub(crate) fn push(&mut self, value: Value<'_>) {
        if value.is_null() {
            self.push_nulls(1);
            return;
        }
        let same_form = self.values.push(value);
        assert!(same_form, "a column keeps its form");
        self.nulls.resize(words::word_count(self.len()), 0);
    }

    pub(crate) fn push_nulls(&mut self, count: usize) {
        let from = self.len();
        self.values.push_defaults(count);
        self.nulls.resize(words::word_count(self.len()), 0);
        words::set_range(&mut self.nulls, from, count);
        self.null_count += count;
    }

    /// Makes a row null that was appended.
    pub(crate) fn mark_null(&mut self, row: usize) {
        if !words::get(&self.nulls, row) {
            words::set(&mut self.nulls, row);
            self.null_count += 1;
        }
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
