//! Many values of one column: borrowed slices ([`ValuesRef`]) and the growing buffer ([`Values`]).
//!
//! ```text
//! fixed width   [v0, v1, v2, ...]                     native endian
//! text          offsets [o0, o1, ..., oN]  N + 1 u32  cell i = bytes[o(i) .. o(i + 1)]
//!               bytes   [.................]
//! ```
//!
//! The form is Arrow's, so that a buffer can be handed on. Nulls are not here: see [`ColumnView`](crate::ColumnView).

use crate::{PhysicalType, Value};

/// Borrowed text cells.
///
/// `offsets` holds one more entry than there are cells and never falls; every entry is at most `bytes.len()`. The first
/// need not be 0: a slice of a longer column keeps its bytes.
#[derive(Clone, Copy, Debug)]
pub struct TextRef<'a> {
    offsets: &'a [u32],
    bytes: &'a [u8],
}

impl<'a> TextRef<'a> {
    /// No cells.
    pub const EMPTY: Self = Self { offsets: &[0], bytes: &[] };

    /// Checks the offsets: at least one, never falling, the last within `bytes`. O(cells).
    pub fn new(offsets: &'a [u32], bytes: &'a [u8]) -> Option<Self> {
        let last = *offsets.last()?;
        (last as usize <= bytes.len() && offsets.is_sorted()).then_some(Self { offsets, bytes })
    }

    /// Number of cells.
    pub const fn len(self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is no cell.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of a cell.
    ///
    /// # Panics
    /// When `index >= len()`, as slices do.
    pub fn get(self, index: usize) -> &'a [u8] {
        &self.bytes[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// All cells in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        self.offsets.windows(2).map(move |pair| &self.bytes[pair[0] as usize..pair[1] as usize])
    }

    /// `count` cells from `start` on.
    pub fn slice(self, start: usize, count: usize) -> Self {
        Self { offsets: &self.offsets[start..=start + count], bytes: self.bytes }
    }

    /// Sum of the lengths of all cells in bytes, in O(1).
    pub fn byte_count(self) -> usize {
        (self.offsets[self.len()] - self.offsets[0]) as usize
    }

    /// The offsets; one more than cells.
    pub const fn offsets(self) -> &'a [u32] {
        self.offsets
    }

    /// The bytes that the offsets point into.
    pub const fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

/// Borrowed values of one column.
#[derive(Clone, Copy, Debug)]
pub enum ValuesRef<'a> {
    /// BOOLEAN
    Boolean(&'a [bool]),
    /// INT32, DATE
    Int32(&'a [i32]),
    /// INT64, TIMESTAMP
    Int64(&'a [i64]),
    /// FLOAT
    Float(&'a [f32]),
    /// DOUBLE
    Double(&'a [f64]),
    /// TEXT, STRING, BLOB
    Text(TextRef<'a>),
}

/// Runs the same expression on whichever slice it is.
macro_rules! each {
    ($values:expr, $slice:ident => $body:expr) => {
        match $values {
            Self::Boolean($slice) => $body,
            Self::Int32($slice) => $body,
            Self::Int64($slice) => $body,
            Self::Float($slice) => $body,
            Self::Double($slice) => $body,
            Self::Text($slice) => $body,
        }
    };
}

impl<'a> ValuesRef<'a> {
    /// Number of values.
    pub fn len(self) -> usize {
        each!(self, slice => slice.len())
    }

    /// True when there is no value.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How the values lie in memory.
    pub const fn physical(self) -> PhysicalType {
        match self {
            Self::Boolean(_) => PhysicalType::Boolean,
            Self::Int32(_) => PhysicalType::Int32,
            Self::Int64(_) => PhysicalType::Int64,
            Self::Float(_) => PhysicalType::Float,
            Self::Double(_) => PhysicalType::Double,
            Self::Text(_) => PhysicalType::Text,
        }
    }

    /// One value.
    ///
    /// # Panics
    /// When `index >= len()`, as slices do.
    pub fn get(self, index: usize) -> Value<'a> {
        match self {
            Self::Boolean(slice) => Value::Boolean(slice[index]),
            Self::Int32(slice) => Value::Int32(slice[index]),
            Self::Int64(slice) => Value::Int64(slice[index]),
            Self::Float(slice) => Value::Float(slice[index]),
            Self::Double(slice) => Value::Double(slice[index]),
            Self::Text(text) => Value::Text(text.get(index)),
        }
    }

    /// `count` values from `start` on.
    ///
    /// # Panics
    /// When the range is not inside, as slices do.
    pub fn slice(self, start: usize, count: usize) -> Self {
        let end = start + count;
        match self {
            Self::Boolean(slice) => Self::Boolean(&slice[start..end]),
            Self::Int32(slice) => Self::Int32(&slice[start..end]),
            Self::Int64(slice) => Self::Int64(&slice[start..end]),
            Self::Float(slice) => Self::Float(&slice[start..end]),
            Self::Double(slice) => Self::Double(&slice[start..end]),
            Self::Text(text) => Self::Text(text.slice(start, count)),
        }
    }
}

/// Text cells in a growing buffer.
#[derive(Clone, Debug)]
pub struct TextValues {
    offsets: Vec<u32>,
    bytes: Vec<u8>,
}

impl Default for TextValues {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl TextValues {
    /// Room for `cells` cells that have `bytes` bytes in all.
    pub fn with_capacity(cells: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(cells + 1);
        offsets.push(0);
        Self { offsets, bytes: Vec::with_capacity(bytes) }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a cell.
    ///
    /// # Panics
    /// When the column would pass 4 GiB of text; every caller bounds its batches far below.
    pub fn push(&mut self, cell: &[u8]) {
        self.bytes.extend_from_slice(cell);
        self.offsets.push(u32::try_from(self.bytes.len()).expect("a column of one batch stays below 4 GiB of text"));
    }

    /// Appends all cells of `text`: one copy of the bytes, one pass over the offsets.
    pub fn extend(&mut self, text: TextRef<'_>) {
        let from = text.offsets()[0];
        let base = self.bytes.len();
        u32::try_from(base + text.byte_count()).expect("a column of one batch stays below 4 GiB of text");
        self.bytes.extend_from_slice(&text.bytes()[from as usize..from as usize + text.byte_count()]);
        self.offsets.extend(text.offsets()[1..].iter().map(|offset| offset - from + base as u32));
    }

    /// Cuts to the first `len` cells.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.offsets.truncate(len + 1);
            self.bytes.truncate(self.offsets[len] as usize);
        }
    }

    /// Forgets all cells, keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Borrows the cells.
    pub fn as_text(&self) -> TextRef<'_> {
        TextRef { offsets: &self.offsets, bytes: &self.bytes }
    }

    /// The two buffers, for code that fills them itself: offsets (first entry 0, one more than cells, never falling, last =
    /// number of bytes) and bytes. The caller keeps that form.
    pub fn parts_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<u8>) {
        (&mut self.offsets, &mut self.bytes)
    }

    /// Inserts empty cells so that cell `i` moves to `positions(i)`, in place from the back. See [`Values::spread`].
    fn spread(&mut self, from: usize, nulls: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator) {
        let rows = nulls.len();
        let mut source = self.offsets.len() - 1;
        self.offsets.resize(from + rows + 1, 0);
        for (row, is_null) in nulls.enumerate().rev() {
            self.offsets[from + row + 1] = self.offsets[source];
            if !is_null {
                source -= 1;
            }
        }
    }
}

/// Values of one column in a growing buffer; the type is decided once, at its making.
#[derive(Clone, Debug)]
pub enum Values {
    /// BOOLEAN
    Boolean(Vec<bool>),
    /// INT32, DATE
    Int32(Vec<i32>),
    /// INT64, TIMESTAMP
    Int64(Vec<i64>),
    /// FLOAT
    Float(Vec<f32>),
    /// DOUBLE
    Double(Vec<f64>),
    /// TEXT, STRING, BLOB
    Text(TextValues),
}

impl Values {
    /// An empty buffer that owns no memory yet.
    pub fn new(physical: PhysicalType) -> Self {
        Self::with_capacity(physical, 0)
    }

    /// An empty buffer with room for `count` values (text: offsets only).
    pub fn with_capacity(physical: PhysicalType, count: usize) -> Self {
        match physical {
            PhysicalType::Boolean => Self::Boolean(Vec::with_capacity(count)),
            PhysicalType::Int32 => Self::Int32(Vec::with_capacity(count)),
            PhysicalType::Int64 => Self::Int64(Vec::with_capacity(count)),
            PhysicalType::Float => Self::Float(Vec::with_capacity(count)),
            PhysicalType::Double => Self::Double(Vec::with_capacity(count)),
            PhysicalType::Text => Self::Text(TextValues::with_capacity(count, 0)),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// True when there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the values lie in memory.
    pub fn physical(&self) -> PhysicalType {
        self.as_values().physical()
    }

    /// Borrows the values.
    pub fn as_values(&self) -> ValuesRef<'_> {
        match self {
            Self::Boolean(values) => ValuesRef::Boolean(values),
            Self::Int32(values) => ValuesRef::Int32(values),
            Self::Int64(values) => ValuesRef::Int64(values),
            Self::Float(values) => ValuesRef::Float(values),
            Self::Double(values) => ValuesRef::Double(values),
            Self::Text(values) => ValuesRef::Text(values.as_text()),
        }
    }

    /// Forgets all values, keeps the memory.
    pub fn clear(&mut self) {
        each!(self, values => values.clear());
    }

    /// Cuts to the first `len` values.
    pub fn truncate(&mut self, len: usize) {
        each!(self, values => values.truncate(len));
    }

    /// Appends a value of this form; null appends the default (0, false, empty).
    /// Returns false, and appends nothing, when the form is another.
    #[must_use]
    pub fn push(&mut self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::Boolean(values), Value::Boolean(value)) => values.push(value),
            (Self::Int32(values), Value::Int32(value)) => values.push(value),
            (Self::Int64(values), Value::Int64(value)) => values.push(value),
            (Self::Float(values), Value::Float(value)) => values.push(value),
            (Self::Double(values), Value::Double(value)) => values.push(value),
            (Self::Text(values), Value::Text(value)) => values.push(value),
            (values, Value::Null) => values.push_defaults(1),
            _ => return false,
        }
        true
    }

    /// Appends `count` defaults (0, false, empty): the slots of null rows.
    pub fn push_defaults(&mut self, count: usize) {
        let len = self.len() + count;
        match self {
            Self::Boolean(values) => values.resize(len, false),
            Self::Int32(values) => values.resize(len, 0),
            Self::Int64(values) => values.resize(len, 0),
            Self::Float(values) => values.resize(len, 0.0),
            Self::Double(values) => values.resize(len, 0.0),
            Self::Text(values) => {
                let end = values.bytes.len() as u32;
                values.offsets.resize(len + 1, end);
            }
        }
    }

    /// Appends many values of the same form. Returns false, and appends nothing, when the form is another.
    #[must_use]
    pub fn extend(&mut self, values: ValuesRef<'_>) -> bool {
        match (self, values) {
            (Self::Boolean(into), ValuesRef::Boolean(from)) => into.extend_from_slice(from),
            (Self::Int32(into), ValuesRef::Int32(from)) => into.extend_from_slice(from),
            (Self::Int64(into), ValuesRef::Int64(from)) => into.extend_from_slice(from),
            (Self::Float(into), ValuesRef::Float(from)) => into.extend_from_slice(from),
            (Self::Double(into), ValuesRef::Double(from)) => into.extend_from_slice(from),
            (Self::Text(into), ValuesRef::Text(from)) => into.extend(from),
            _ => return false,
        }
        true
    }

    /// Makes room between present values for the null rows: the values from `from` on are the present ones of `nulls.len()`
    /// rows, and each moves, in place and from the back, to the row that is not null. Slots of null rows get the default.
    ///
    /// # Panics
    /// When the number of rows that are not null differs from the number of values from `from` on.
    pub fn spread(&mut self, from: usize, nulls: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator + Clone) {
        let present = nulls.clone().filter(|is_null| !is_null).count();
        assert_eq!(present, self.len() - from, "one value for each row that is not null");
        match self {
            Self::Boolean(values) => spread(values, from, nulls),
            Self::Int32(values) => spread(values, from, nulls),
            Self::Int64(values) => spread(values, from, nulls),
            Self::Float(values) => spread(values, from, nulls),
            Self::Double(values) => spread(values, from, nulls),
            Self::Text(values) => values.spread(from, nulls),
        }
    }
}

fn spread<T: Copy + Default>(values: &mut Vec<T>, from: usize, nulls: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator) {
    let mut source = values.len();
    values.resize(from + nulls.len(), T::default());
    for (row, is_null) in nulls.enumerate().rev() {
        values[from + row] = if is_null {
            T::default()
        } else {
            source -= 1;
            values[source]
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &Values) -> Vec<Value<'_>> {
        (0..values.len()).map(|row| values.as_values().get(row)).collect()
    }

    #[test]
    fn text_slices_keep_their_bytes() {
        let mut text = TextValues::default();
        for cell in ["a", "", "bcd", "é"] {
            text.push(cell.as_bytes());
        }
        let slice = text.as_text().slice(2, 2);
        assert_eq!(slice.byte_count(), 5);
        let mut copy = TextValues::default();
        copy.push(b"x");
        copy.extend(slice);
        assert_eq!(copy.as_text().iter().collect::<Vec<_>>(), [&b"x"[..], b"bcd", "é".as_bytes()]);
        copy.truncate(2);
        assert_eq!(copy.as_text().get(1), b"bcd");
    }

    #[test]
    fn bad_offsets_make_no_text() {
        assert!(TextRef::new(&[], b"").is_none());
        assert!(TextRef::new(&[0, 2, 1], b"ab").is_none());
        assert!(TextRef::new(&[0, 3], b"ab").is_none());
        assert_eq!(TextRef::new(&[1, 2], b"ab").unwrap().get(0), b"b");
    }

    #[test]
    fn spread_puts_present_values_on_their_rows() {
        let nulls = [true, false, false, true, false];
        let mut numbers = Values::Int32(vec![9, 1, 2, 3]);
        numbers.spread(1, nulls.into_iter());
        assert_eq!(cells(&numbers), [9, 0, 1, 2, 0, 3].map(Value::Int32));

        let mut text = Values::new(PhysicalType::Text);
        for cell in ["k", "a", "bb", "ccc"] {
            assert!(text.push(cell.into()));
        }
        text.spread(1, nulls.into_iter());
        assert_eq!(cells(&text), ["k", "", "a", "bb", "", "ccc"].map(Value::from));
    }

    #[test]
    fn another_form_is_refused() {
        let mut values = Values::new(PhysicalType::Int32);
        assert!(!values.push(Value::Double(1.0)));
        assert!(!values.extend(ValuesRef::Int64(&[1])));
        assert!(values.push(Value::Null));
        assert_eq!(cells(&values), [Value::Int32(0)]);
    }
}
