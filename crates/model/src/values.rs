//! Many values of one column: borrowed slices ([`ValuesRef`]) and the growing buffer ([`Values`]).
//!
//! ```text
//! fixed width   [v0, v1, v2, ...]                     native endian
//! text          offsets [o0, o1, ..., oN]  N + 1 u32  cell i = bytes[o(i) .. o(i + 1)]
//!               bytes   [.................]
//! ```
//!
//! The form is Arrow's, so that a buffer can be handed on. Nulls are not here: see [`ColumnView`](crate::ColumnView).

// tidy: long because each operation is one match over the six forms, and those read best beside each other

mod slots;

use tsloom_bitmap::{NullWords, place};

use self::slots::{clear_slots, keep_marked, keep_range};
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
    #[inline]
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
    #[inline]
    pub const fn offsets(self) -> &'a [u32] {
        self.offsets
    }

    /// The bytes that the offsets point into.
    #[inline]
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
    #[inline]
    pub fn len(self) -> usize {
        each!(self, slice => slice.len())
    }

    /// True when there is no value.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How the values lie in memory.
    #[inline]
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
    #[inline]
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

    /// Appends the same cell `count` times.
    ///
    /// # Panics
    /// When the column would pass 4 GiB of text.
    pub fn push_repeated(&mut self, cell: &[u8], count: usize) {
        let base = self.bytes.len();
        let added = cell.len().checked_mul(count).and_then(|added| added.checked_add(base));
        let end = added.filter(|size| u32::try_from(*size).is_ok()).expect("a column of one batch stays below 4 GiB of text");
        self.bytes.reserve(end - base);
        if count > 0 {
            self.bytes.extend_from_slice(cell);
        }
        // What is there doubles until it is enough.
        while self.bytes.len() < end {
            let more = (self.bytes.len() - base).min(end - self.bytes.len());
            self.bytes.extend_from_within(base..base + more);
        }
        self.offsets.extend((1..=count).map(|cells| (base + cells * cell.len()) as u32));
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

    /// Turns the order round.
    pub fn reverse(&mut self) {
        match self {
            Self::Boolean(values) => values.reverse(),
            Self::Int32(values) => values.reverse(),
            Self::Int64(values) => values.reverse(),
            Self::Float(values) => values.reverse(),
            Self::Double(values) => values.reverse(),
            Self::Text(values) => {
                let mut turned = TextValues::with_capacity(values.len(), values.as_text().byte_count());
                (0..values.len()).rev().for_each(|index| turned.push(values.as_text().get(index)));
                *values = turned;
            }
        }
    }

    /// Makes room for exactly `count` values more (text: offsets only).
    pub fn reserve(&mut self, count: usize) {
        match self {
            Self::Boolean(values) => values.reserve_exact(count),
            Self::Int32(values) => values.reserve_exact(count),
            Self::Int64(values) => values.reserve_exact(count),
            Self::Float(values) => values.reserve_exact(count),
            Self::Double(values) => values.reserve_exact(count),
            Self::Text(values) => values.offsets.reserve_exact(count),
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
    #[inline]
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

    /// Writes nonsense over all values: for debug builds, before a buffer is used again.
    pub fn poison(&mut self) {
        match self {
            Self::Boolean(values) => values.fill(true),
            Self::Int32(values) => values.fill(i32::from_ne_bytes([0xa5; 4])),
            Self::Int64(values) => values.fill(i64::from_ne_bytes([0xa5; 8])),
            Self::Float(values) => values.fill(f32::from_ne_bytes([0xa5; 4])),
            Self::Double(values) => values.fill(f64::from_ne_bytes([0xa5; 8])),
            Self::Text(values) => values.bytes.fill(0xa5),
        }
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

    /// Appends the same value `count` times; null appends defaults. Returns false, and appends nothing, when the form is another.
    ///
    /// # Panics
    /// When a text column would pass 4 GiB.
    #[must_use]
    pub fn push_repeated(&mut self, value: Value<'_>, count: usize) -> bool {
        let len = self.len() + count;
        match (self, value) {
            (Self::Boolean(values), Value::Boolean(value)) => values.resize(len, value),
            (Self::Int32(values), Value::Int32(value)) => values.resize(len, value),
            (Self::Int64(values), Value::Int64(value)) => values.resize(len, value),
            (Self::Float(values), Value::Float(value)) => values.resize(len, value),
            (Self::Double(values), Value::Double(value)) => values.resize(len, value),
            (Self::Text(values), Value::Text(value)) => values.push_repeated(value, count),
            (values, Value::Null) => values.push_defaults(count),
            _ => return false,
        }
        true
    }

    /// Of the values from `from` on, keeps `count` from the `skip`-th on; those before `from` stay.
    ///
    /// # Panics
    /// When there are no such values, as slices do.
    pub fn keep_range(&mut self, from: usize, skip: usize, count: usize) {
        let end = from.checked_add(skip).and_then(|start| start.checked_add(count));
        assert!(end.is_some_and(|end| end <= self.len()), "{count} values behind {from} and {skip}, of {}", self.len());
        match self {
            Self::Boolean(values) => keep_range(values, from, skip, count),
            Self::Int32(values) => keep_range(values, from, skip, count),
            Self::Int64(values) => keep_range(values, from, skip, count),
            Self::Float(values) => keep_range(values, from, skip, count),
            Self::Double(values) => keep_range(values, from, skip, count),
            Self::Text(values) => values.keep_range(from, skip, count),
        }
    }

    /// Writes the default over the slots of null rows, so that what lies there never shows; texts of null rows keep their bytes.
    /// `nulls` speaks of the values from `from` on.
    pub fn clear_slots(&mut self, from: usize, nulls: NullWords<'_>) {
        match self {
            Self::Boolean(values) => clear_slots(&mut values[from..], nulls),
            Self::Int32(values) => clear_slots(&mut values[from..], nulls),
            Self::Int64(values) => clear_slots(&mut values[from..], nulls),
            Self::Float(values) => clear_slots(&mut values[from..], nulls),
            Self::Double(values) => clear_slots(&mut values[from..], nulls),
            Self::Text(_) => {}
        }
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

    /// Makes room between present values for the null rows: the values from `from` on are the present ones of the rows of
    /// `nulls`, and each moves, in place and from the back, to the row that is not null. Slots of null rows get the default.
    ///
    /// # Panics
    /// When the number of rows that are not null differs from the number of values from `from` on.
    pub fn spread(&mut self, from: usize, nulls: NullWords<'_>) {
        let present = nulls.row_count() - nulls.null_count();
        assert_eq!(present, self.len() - from, "one value for each row that is not null");
        if let Self::Text(values) = self {
            return values.spread(from, nulls);
        }
        self.push_defaults(nulls.row_count() - present);
        match self {
            Self::Boolean(values) => place::spread_bools(&mut values[from..], nulls),
            Self::Int32(values) => place::spread(&mut values[from..], nulls),
            Self::Int64(values) => place::spread(&mut values[from..], nulls),
            Self::Float(values) => place::spread(&mut values[from..], nulls),
            Self::Double(values) => place::spread(&mut values[from..], nulls),
            Self::Text(_) => {}
        }
    }

    /// Of the values from `from` on, keeps those whose bits are set in `kept`; bit 0 is that of the value at `from`.
    ///
    /// # Panics
    /// When `kept` has fewer bits than there are such values.
    pub fn keep_marked(&mut self, from: usize, kept: &[u64]) {
        match self {
            Self::Boolean(values) => keep_marked(values, from, kept),
            Self::Int32(values) => keep_marked(values, from, kept),
            Self::Int64(values) => keep_marked(values, from, kept),
            Self::Float(values) => keep_marked(values, from, kept),
            Self::Double(values) => keep_marked(values, from, kept),
            Self::Text(values) => values.keep_marked(from, kept),
        }
    }
}

#[cfg(test)]
mod tests;
