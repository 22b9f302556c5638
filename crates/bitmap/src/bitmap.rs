//! The tablet dialect: low bit first, 1 = null, `n / 8 + 1` bytes on the wire.
//!
//! ```text
//! byte     7 6 5 4 3 2 1 0 | 15 14 13 ...     row of each bit, highest bit of the byte first
//! ```
//!
//! So a row count that is a multiple of eight has one byte more than it needs. Upstream: `BitMap.java`,
//! `getSizeOfBytes`. Fixtures: `tablet/all10_r8`, `tablet/all10_r64`.

use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;
use bitvec::vec::BitVec;

use crate::nulls::NullWords;
use crate::words;

/// An owned tablet bitmap: one bit a row, 1 = null. Marks past the size cannot exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitMap {
    /// Begins at bit 0 of its first word, and unused bits of the last word are 0.
    bits: BitVec<u64, Lsb0>,
    /// The length of `bits`, which bitvec would have to decode each time.
    size: usize,
}

impl BitMap {
    /// A map of `size` rows, none marked.
    pub fn new(size: usize) -> Self {
        Self { bits: BitVec::repeat(false, size), size }
    }

    /// A copy of borrowed null bits.
    pub fn from_nulls(nulls: NullWords<'_>) -> Self {
        let mut map = Self::new(nulls.row_count());
        nulls.copy_to(map.bits.as_raw_mut_slice(), 0);
        map
    }

    /// Bytes of the wire form of `size` rows.
    #[inline]
    pub const fn wire_bytes(size: usize) -> usize {
        size / 8 + 1
    }

    /// Rows the map has bits for.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Marks a row. Panics when it is not below the size, as all methods here that name a row.
    #[inline]
    pub fn mark(&mut self, row: usize) {
        self.check(row, 1);
        words::set(self.bits.as_raw_mut_slice(), row);
    }

    /// Takes the mark off a row.
    #[inline]
    pub fn unmark(&mut self, row: usize) {
        self.check(row, 1);
        words::clear(self.bits.as_raw_mut_slice(), row);
    }

    /// True when the row is marked.
    #[inline]
    pub fn is_marked(&self, row: usize) -> bool {
        self.check(row, 1);
        words::get(self.words(), row)
    }

    /// Marks `count` rows from `start` on.
    #[inline]
    pub fn mark_range(&mut self, start: usize, count: usize) {
        self.check(start, count);
        words::set_range(self.bits.as_raw_mut_slice(), start, count);
    }

    /// Takes the marks off `count` rows from `start` on.
    #[inline]
    pub fn unmark_range(&mut self, start: usize, count: usize) {
        self.check(start, count);
        words::clear_range(self.bits.as_raw_mut_slice(), start, count);
    }

    /// Marks every row.
    pub fn mark_all(&mut self) {
        self.mark_range(0, self.size());
    }

    /// Takes every mark off.
    pub fn reset(&mut self) {
        self.bits.as_raw_mut_slice().fill(0);
    }

    /// True when some row of `count` from `start` on is marked.
    #[inline]
    pub fn any_marked(&self, start: usize, count: usize) -> bool {
        self.check(start, count);
        words::any_set(self.words(), start, count)
    }

    /// True when every row of `count` from `start` on is marked.
    #[inline]
    pub fn all_marked(&self, start: usize, count: usize) -> bool {
        self.check(start, count);
        words::all_set(self.words(), start, count)
    }

    /// Number of marked rows.
    #[inline]
    pub fn count_marked(&self) -> usize {
        words::count_ones(self.words(), 0, self.size())
    }

    /// Adds the marks of `nulls` to the rows from `start` on; rows marked before stay so.
    pub fn merge(&mut self, start: usize, nulls: NullWords<'_>) {
        self.check(start, nulls.row_count());
        nulls.or_to(self.bits.as_raw_mut_slice(), start);
    }

    /// The words: `size.div_ceil(64)` of them, unused bits 0.
    #[inline]
    pub fn words(&self) -> &[u64] {
        self.bits.as_raw_slice()
    }

    /// The marks as borrowed null bits.
    #[inline]
    pub fn nulls(&self) -> NullWords<'_> {
        NullWords::new(self.words(), 0, self.size())
    }

    /// The marks as bitvec sees them.
    pub fn as_bitslice(&self) -> &BitSlice<u64, Lsb0> {
        &self.bits
    }

    /// Writes the wire form of the first `rows` rows: `rows / 8 + 1` bytes, bits of later rows 0.
    ///
    /// # Panics
    /// When `rows` is above the size or `out` has another length.
    pub fn write_wire(&self, rows: usize, out: &mut [u8]) {
        self.check(0, rows);
        write_wire(self.nulls().slice(0, rows), out);
    }

    #[inline]
    fn check(&self, start: usize, count: usize) {
        let size = self.size();
        assert!(start <= size && count <= size - start, "rows {start} and {count} on, of {size}");
    }
}

/// Writes the wire form of borrowed null bits: `row_count / 8 + 1` bytes, bits past the last row 0.
///
/// # Panics
/// When `out` has another length.
pub(crate) fn write_wire(nulls: NullWords<'_>, out: &mut [u8]) {
    let byte_count = BitMap::wire_bytes(nulls.row_count());
    assert!(out.len() == byte_count, "a bitmap of {} rows has {byte_count} bytes", nulls.row_count());
    for (index, bytes) in out.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&nulls.word(index).to_le_bytes()[..bytes.len()]);
    }
}

/// Borrowed wire bytes of a tablet bitmap, for the rows that are in use.
///
/// Older writers send the bits of their whole capacity and garbage at and above the row count; neither is seen here.
#[derive(Clone, Copy, Debug)]
pub struct BitMapView<'a> {
    bytes: &'a [u8],
    row_count: usize,
}

impl<'a> BitMapView<'a> {
    /// The bits of `row_count` rows, or `None` when the bytes do not reach that far.
    pub fn new(bytes: &'a [u8], row_count: usize) -> Option<Self> {
        let bytes = bytes.get(..row_count.div_ceil(8))?;
        Some(Self { bytes, row_count })
    }

    /// Rows the view speaks of.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// True when the row is null. Panics when it is not below the row count.
    pub fn is_null(&self, row: usize) -> bool {
        assert!(row < self.row_count, "row {row} of {}", self.row_count);
        self.bytes[row / 8] >> (row % 8) & 1 == 1
    }

    /// Null bits of rows `64 * index ..`, low bit first; bits past the last row are 0.
    pub fn null_word(&self, index: usize) -> u64 {
        let at = index.saturating_mul(8).min(self.bytes.len());
        let rest = &self.bytes[at..];
        let word = match rest.first_chunk::<8>() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                let mut bytes = [0; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(bytes)
            }
        };
        word & words::low_mask(self.row_count.saturating_sub(index.saturating_mul(64)))
    }

    /// Number of null rows.
    pub fn null_count(&self) -> usize {
        (0..words::word_count(self.row_count)).map(|index| self.null_word(index).count_ones() as usize).sum()
    }

    /// Writes the null words of all rows. Panics when `out` is not `row_count.div_ceil(64)` words.
    pub fn copy_nulls_to(&self, out: &mut [u64]) {
        assert!(out.len() == words::word_count(self.row_count), "one word for 64 rows");
        for (index, word) in out.iter_mut().enumerate() {
            *word = self.null_word(index);
        }
    }
}
