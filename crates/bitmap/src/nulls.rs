//! Null words: the in-memory form every dialect crosses to.

use crate::words::{self, Ones, Runs};

/// Borrowed null bits of some rows, low bit first, 1 = null, beginning at any bit of a word slice.
///
/// Bits before the first row and past the last mean nothing and are never given out.
#[derive(Clone, Copy)]
pub struct NullWords<'a> {
    words: &'a [u64],
    start: usize,
    row_count: usize,
}

impl<'a> NullWords<'a> {
    /// The bits `start..start + row_count` of `words`.
    ///
    /// # Panics
    /// When `words` does not hold them.
    #[inline]
    pub fn new(words: &'a [u64], start: usize, row_count: usize) -> Self {
        let end = start.checked_add(row_count).expect("start + row_count fits");
        assert!(words::word_count(end) <= words.len(), "the words hold every row");
        Self { words: &words[start / 64..], start: start % 64, row_count }
    }

    /// Rows the bits speak of.
    #[inline]
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// True when the row is null.
    ///
    /// # Panics
    /// When `row` is not below `row_count`.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        assert!(row < self.row_count, "row {row} of {}", self.row_count);
        words::get(self.words, self.start + row)
    }

    /// True when some row is null.
    #[inline]
    pub fn any_null(&self) -> bool {
        words::any_set(self.words, self.start, self.row_count)
    }

    /// True when every row is null; so it is for no rows.
    #[inline]
    pub fn all_null(&self) -> bool {
        words::all_set(self.words, self.start, self.row_count)
    }

    /// Number of null rows.
    #[inline]
    pub fn null_count(&self) -> usize {
        words::count_ones(self.words, self.start, self.row_count)
    }

    /// Words that [`word`](Self::word) has bits for.
    #[inline]
    pub fn word_count(&self) -> usize {
        words::word_count(self.row_count)
    }

    /// Null bits of rows `64 * index ..`, low bit first; bits past the last row are 0.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        let row = index.saturating_mul(64);
        if row >= self.row_count {
            return 0;
        }
        words::load(self.words, self.start + row) & words::low_mask(self.row_count - row)
    }

    /// The bits of `count` rows from `start` on.
    ///
    /// # Panics
    /// When they are not all among these rows.
    #[inline]
    pub fn slice(&self, start: usize, count: usize) -> NullWords<'a> {
        assert!(start <= self.row_count && count <= self.row_count - start, "rows {start} and {count} on, of {}", self.row_count);
        let bit = self.start + start;
        NullWords { words: &self.words[bit / 64..], start: bit % 64, row_count: count }
    }

    /// Null rows, ascending.
    #[inline]
    pub fn ones(&self) -> Ones<'a> {
        words::ones(self.words, self.start, self.row_count)
    }

    /// Runs of rows that are all null or all not.
    #[inline]
    pub fn runs(&self) -> Runs<'a> {
        words::runs(self.words, self.start, self.row_count)
    }

    /// Copies the bits over those of `dst` from bit `dst_start` on.
    #[inline]
    pub fn copy_to(&self, dst: &mut [u64], dst_start: usize) {
        words::copy_at(dst, dst_start, self.words, self.start, self.row_count);
    }

    /// ORs the bits into those of `dst` from bit `dst_start` on.
    #[inline]
    pub fn or_to(&self, dst: &mut [u64], dst_start: usize) {
        words::or_at(dst, dst_start, self.words, self.start, self.row_count);
    }

    /// The words as they are when the first row is bit 0 of the first word; bits past the last row may be set.
    #[inline]
    pub fn aligned(&self) -> Option<&'a [u64]> {
        (self.start == 0).then(|| &self.words[..self.word_count()])
    }
}

impl std::fmt::Debug for NullWords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NullWords")
            .field("row_count", &self.row_count)
            .field("null_rows", &self.ones().collect::<Vec<_>>())
            .finish()
    }
}

/// Equal when they say the same about the same number of rows, wherever the bits lie.
impl PartialEq for NullWords<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.row_count == other.row_count && (0..self.word_count()).all(|index| self.word(index) == other.word(index))
    }
}

impl Eq for NullWords<'_> {}
