//! The page dialect: high bit first, 1 = present, `ceil(n / 8)` bytes.
//!
//! ```text
//! byte     0 1 2 3 4 5 6 7 | 8 9 10 ...     row of each bit, highest bit of the byte first; padding bits 0
//! ```
//!
//! Upstream: `ValuePageWriter.java`. To cross over, eight bytes are one word:
//! `!u64::from_be_bytes(bytes).reverse_bits()` and back.

use crate::dispatch;
use crate::nulls::NullWords;
use crate::words;

/// Bytes of the presence bits of `rows` rows.
#[inline]
pub const fn byte_count(rows: usize) -> usize {
    rows.div_ceil(8)
}

/// Appends the presence bits of `row_count` rows; `None` means that no row is null. Padding bits are 0.
///
/// # Panics
/// When `nulls` speaks of another number of rows.
pub fn append_from_nulls(nulls: Option<NullWords<'_>>, row_count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let Some(nulls) = nulls else {
        out.resize(start + row_count / 8, 0xff);
        if !row_count.is_multiple_of(8) {
            out.push(!(0xff >> (row_count % 8)));
        }
        return;
    };
    assert!(nulls.row_count() == row_count, "one null bit a row");
    out.resize(start + byte_count(row_count), 0);
    let bytes = &mut out[start..];
    let whole_count = row_count / 64;
    let (whole, tail) = bytes.split_at_mut(whole_count * 8);
    match nulls.aligned() {
        Some(words) => dispatch::nulls_to_presence(&words[..whole_count], whole),
        None => {
            for (index, bytes) in whole.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                *bytes = from_null_word(nulls.word(index));
            }
        }
    }
    let present = !nulls.word(whole_count) & words::low_mask(row_count % 64);
    let tail_size = tail.len();
    tail.copy_from_slice(&present.reverse_bits().to_be_bytes()[..tail_size]);
}

#[inline(always)]
fn from_null_word(word: u64) -> [u8; 8] {
    (!word).reverse_bits().to_be_bytes()
}

#[inline(always)]
fn to_null_word(bytes: [u8; 8]) -> u64 {
    !u64::from_be_bytes(bytes).reverse_bits()
}

/// Words of a group: one AVX2 register. In groups of a known size the compiler has nothing to decide at run time, which for the sixteen
/// words of a page takes longer than the work.
const GROUP: usize = 4;

#[inline(always)]
pub(crate) fn whole_words_from_nulls(words: &[u64], out: &mut [u8]) {
    let (word_groups, word_rest) = words.as_chunks::<GROUP>();
    let (byte_groups, byte_rest) = out.as_chunks_mut::<{ 8 * GROUP }>();
    for (bytes, words) in byte_groups.iter_mut().zip(word_groups) {
        let words = words.map(from_null_word);
        bytes.copy_from_slice(words.as_flattened());
    }
    for (bytes, word) in byte_rest.as_chunks_mut::<8>().0.iter_mut().zip(word_rest) {
        *bytes = from_null_word(*word);
    }
}

#[inline(always)]
pub(crate) fn whole_words_to_nulls(bytes: &[u8], out: &mut [u64]) {
    let (word_groups, word_rest) = out.as_chunks_mut::<GROUP>();
    let (byte_groups, byte_rest) = bytes.as_chunks::<{ 8 * GROUP }>();
    for (words, bytes) in word_groups.iter_mut().zip(byte_groups) {
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = to_null_word(*bytes);
        }
    }
    for (word, bytes) in word_rest.iter_mut().zip(byte_rest.as_chunks::<8>().0) {
        *word = to_null_word(*bytes);
    }
}

/// Borrowed presence bits of one page.
#[derive(Clone, Copy, Debug)]
pub struct PresenceView<'a> {
    bytes: &'a [u8],
    row_count: usize,
}

impl<'a> PresenceView<'a> {
    /// The bits of `row_count` rows, or `None` when the bytes do not reach that far.
    #[inline]
    pub fn new(bytes: &'a [u8], row_count: usize) -> Option<Self> {
        let bytes = bytes.get(..byte_count(row_count))?;
        Some(Self { bytes, row_count })
    }

    /// Rows the view speaks of.
    #[inline]
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// True when the row has a value. Panics when it is not below the row count.
    #[inline]
    pub fn is_present(&self, row: usize) -> bool {
        assert!(row < self.row_count, "row {row} of {}", self.row_count);
        self.bytes[row / 8] << (row % 8) & 0x80 != 0
    }

    /// True when every row has a value.
    #[inline]
    pub fn is_full(&self) -> bool {
        let whole = self.row_count / 8;
        let (words, rest) = self.bytes[..whole].as_chunks::<8>();
        // Answers for pages of few rows too, so nothing is called for; a page with nulls as a rule has one soon.
        let padding = 0xff_u8 >> (self.row_count % 8);
        words.iter().all(|bytes| u64::from_ne_bytes(*bytes) == u64::MAX)
            && rest.iter().all(|byte| *byte == 0xff)
            && self.bytes.get(whole).is_none_or(|last| last | padding == 0xff)
    }

    /// Rows that have a value.
    pub fn present_count(&self) -> usize {
        let (whole, tail) = self.bytes.as_chunks::<8>();
        // A count does not care which bit is which, so the words may be in any byte order.
        let mut present = 0;
        for group in whole.chunks(64) {
            let mut words = [0; 64];
            for (word, bytes) in words.iter_mut().zip(group) {
                *word = u64::from_ne_bytes(*bytes);
            }
            present += words::count_ones(&words, 0, group.len() * 64);
        }
        present += tail.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
        present - self.padding_ones()
    }

    /// Set bits past the last row, which mean nothing.
    fn padding_ones(&self) -> usize {
        match (self.row_count % 8, self.bytes.last()) {
            (0, _) | (_, None) => 0,
            (used, Some(last)) => (last & (0xff >> used)).count_ones() as usize,
        }
    }

    /// Null bits of rows `64 * index ..`, low bit first, 1 = null; bits past the last row are 0.
    #[inline]
    pub fn null_word(&self, index: usize) -> u64 {
        let at = index.saturating_mul(8).min(self.bytes.len());
        let rest = &self.bytes[at..];
        let bytes = match rest.first_chunk::<8>() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                bytes
            }
        };
        let rows_left = self.row_count.saturating_sub(index.saturating_mul(64));
        to_null_word(bytes) & words::low_mask(rows_left)
    }

    /// Writes the null words of all rows. Panics when `out` is not `row_count.div_ceil(64)` words.
    #[inline]
    pub fn copy_nulls_to(&self, out: &mut [u64]) {
        let whole_count = self.row_count / 64;
        assert!(out.len() == words::word_count(self.row_count), "one word for 64 rows");
        let (whole, tail) = out.split_at_mut(whole_count);
        dispatch::presence_to_nulls(&self.bytes[..whole_count * 8], whole);
        if let Some(last) = tail.first_mut() {
            *last = self.null_word(whole_count);
        }
    }

    /// Writes the validity words of all rows, tail bits 0. Panics when `out` is not `row_count.div_ceil(64)` words.
    pub fn copy_validity_to(&self, out: &mut [u64]) {
        self.copy_nulls_to(out);
        crate::validity::flip(out, self.row_count);
    }
}
