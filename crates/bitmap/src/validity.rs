//! The Arrow dialect, in words: low bit first, 1 = valid, tail bits 0.
//!
//! Arrow's buffer of `ceil(n / 8)` bytes is the little-endian bytes of these words, cut to its length.

use crate::nulls::NullWords;
use crate::words;

/// Replaces `out` by the validity words of the rows: `row_count.div_ceil(64)` of them.
pub fn from_nulls(nulls: NullWords<'_>, out: &mut Vec<u64>) {
    out.clear();
    out.resize(nulls.word_count(), 0);
    nulls.copy_to(out, 0);
    flip(out, nulls.row_count());
}

/// Replaces `out` by the null words of `row_count` rows whose validity begins at bit `start` of `validity`.
///
/// # Panics
/// When `validity` does not hold them.
pub fn to_nulls(validity: &[u64], start: usize, row_count: usize, out: &mut Vec<u64>) {
    from_nulls(NullWords::new(validity, start, row_count), out);
}

/// Turns null words into validity words or back, in place; bits past the last row become 0.
///
/// # Panics
/// When `words` is not `row_count.div_ceil(64)` words.
pub fn flip(words: &mut [u64], row_count: usize) {
    assert!(words.len() == words::word_count(row_count), "one word for 64 rows");
    for word in words.iter_mut() {
        *word = !*word;
    }
    if let Some(last) = words.last_mut() {
        *last &= words::low_mask(row_count - (row_count - 1) / 64 * 64);
    }
}
