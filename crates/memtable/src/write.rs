//! What a write brings: present columns by id, from wherever they lie.

use smallvec::SmallVec;
use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnView, TextRef, Value, ValuesRef};

/// Present columns of a write, ascending by column id. A column without a value anywhere is `None` or left out.
pub trait WriteColumns {
    /// Number of columns.
    fn count(&self) -> usize;
    /// The id of column `index`; ids rise strictly with the index.
    fn id(&self, index: usize) -> u32;
    /// The values of all rows of column `index`, those of null rows included; `None` when it is absent.
    fn values(&self, index: usize) -> Option<ValuesRef<'_>>;
    /// The null bits of column `index`, one a row; `None` when no row is known to be null.
    fn nulls(&self, index: usize) -> Option<NullWords<'_>>;
    /// True when column `index` is not absent.
    fn is_present(&self, index: usize) -> bool {
        self.values(index).is_some()
    }
}

impl WriteColumns for [(u32, ColumnView<'_>)] {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }
    #[inline]
    fn id(&self, index: usize) -> u32 {
        self[index].0
    }
    #[inline]
    fn values(&self, index: usize) -> Option<ValuesRef<'_>> {
        Some(self[index].1.values())
    }
    #[inline]
    fn nulls(&self, index: usize) -> Option<NullWords<'_>> {
        self[index].1.nulls()
    }
    #[inline]
    fn is_present(&self, _: usize) -> bool {
        true
    }
}

/// One row as columns of one row each; null is absent.
pub(crate) struct RowColumns<'a> {
    ids: &'a [u32],
    values: &'a [Value<'a>],
    /// Offsets of each cell, were it text.
    offsets: SmallVec<[[u32; 2]; 16]>,
}

impl<'a> RowColumns<'a> {
    pub(crate) fn new(ids: &'a [u32], values: &'a [Value<'a>]) -> Self {
        let end = |value: Value<'_>| match value {
            Value::Text(text) => u32::try_from(text.len()).expect("a cell stays below 4 GiB"),
            _ => 0,
        };
        Self { ids, values, offsets: values.iter().map(|value| [0, end(*value)]).collect() }
    }
}

impl WriteColumns for RowColumns<'_> {
    fn count(&self) -> usize {
        self.values.len()
    }
    fn id(&self, index: usize) -> u32 {
        self.ids[index]
    }
    fn values(&self, index: usize) -> Option<ValuesRef<'_>> {
        Some(match &self.values[index] {
            Value::Null => return None,
            Value::Boolean(value) => ValuesRef::Boolean(std::slice::from_ref(value)),
            Value::Int32(value) => ValuesRef::Int32(std::slice::from_ref(value)),
            Value::Int64(value) => ValuesRef::Int64(std::slice::from_ref(value)),
            Value::Float(value) => ValuesRef::Float(std::slice::from_ref(value)),
            Value::Double(value) => ValuesRef::Double(std::slice::from_ref(value)),
            Value::Text(bytes) => {
                ValuesRef::Text(TextRef::new(&self.offsets[index], bytes).expect("0 and the length are offsets"))
            }
        })
    }
    fn nulls(&self, _: usize) -> Option<NullWords<'_>> {
        None
    }
}
