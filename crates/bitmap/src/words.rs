//! Kernels on `&[u64]`, low bit first: bit i of the range is `1 << (i % 64)` of word i / 64.
//!
//! A range is a start and a count of bits. Bits outside the range are never read as meaning and never
//! changed. A range past the end of the slice is a broken promise of the caller and panics; only [`load`]
//! gives zeros there.

mod extract;
mod iter;

pub use extract::{extract, extract_to, move_down};
pub use iter::{Ones, Run, Runs, ones, runs};

use crate::dispatch;

/// Words that hold `bits` bits.
#[inline]
pub const fn word_count(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// The lowest `count` bits set; all of them from 64 on.
#[inline]
pub const fn low_mask(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// True when bit `index` is set.
#[inline]
pub fn get(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}

/// Sets bit `index`.
#[inline]
pub fn set(words: &mut [u64], index: usize) {
    words[index / 64] |= 1 << (index % 64);
}

/// Clears bit `index`.
#[inline]
pub fn clear(words: &mut [u64], index: usize) {
    words[index / 64] &= !(1 << (index % 64));
}

/// 64 bits from bit `bit` on, zeros past the end of the slice.
#[inline]
pub fn load(words: &[u64], bit: usize) -> u64 {
    let (word, shift) = (bit / 64, bit % 64);
    let low = words.get(word).copied().unwrap_or(0);
    if shift == 0 {
        return low;
    }
    let high = words.get(word + 1).copied().unwrap_or(0);
    low >> shift | high << (64 - shift)
}

/// Position of the last bit of a range that is not empty. The slice is held against it where it is used.
#[inline(always)]
fn last_of(start: usize, count: usize) -> usize {
    start.checked_add(count).expect("a range ends where memory does") - 1
}

/// The slice holds the range, or this panics. An empty range is held anywhere.
#[inline(always)]
fn assert_holds(words: &[u64], start: usize, count: usize) {
    let bits = 64 * words.len();
    assert!(count == 0 || start <= bits && count <= bits - start, "bits {start} and {count} on, of {bits}");
}

/// A range as its words: the first with its mask, the whole ones between, the last with its mask.
struct Span<'a> {
    first: u64,
    middle: &'a [u64],
    last: u64,
    first_mask: u64,
    last_mask: u64,
}

/// The words of a range that is not empty. In a range within one word, `last` and its mask are 0.
#[inline(always)]
fn span(words: &[u64], start: usize, count: usize) -> Span<'_> {
    let end = last_of(start, count);
    let (first_word, last_word) = (start / 64, end / 64);
    let head = u64::MAX << (start % 64);
    let tail = u64::MAX >> (63 - end % 64);
    if first_word == last_word {
        let first = words[first_word];
        return Span { first, middle: &[], last: 0, first_mask: head & tail, last_mask: 0 };
    }
    let touched = &words[first_word..=last_word];
    Span {
        first: touched[0],
        middle: &touched[1..touched.len() - 1],
        last: touched[touched.len() - 1],
        first_mask: head,
        last_mask: tail,
    }
}

/// The bits of a range that lies in one word, at the top of a word with zeros below; `None` for a longer or an empty range.
#[inline(always)]
fn within_one_word(words: &[u64], start: usize, count: usize) -> Option<u64> {
    let shift = start % 64;
    (1..=64 - shift).contains(&count).then(|| words[start / 64] >> shift << (64 - count))
}

/// True when a bit of the range is set. An empty range has none.
#[inline(always)]
pub fn any_set(words: &[u64], start: usize, count: usize) -> bool {
    match within_one_word(words, start, count) {
        Some(bits) => bits != 0,
        None => any_set_of_several(words, start, count),
    }
}

/// Apart from the question about one word, which is asked for every block and has to stay small enough to be inlined.
#[inline]
fn any_set_of_several(words: &[u64], start: usize, count: usize) -> bool {
    if count == 0 {
        return false;
    }
    let span = span(words, start, count);
    let ends = span.first & span.first_mask | span.last & span.last_mask;
    ends != 0 || span.middle.iter().fold(0, |all, word| all | word) != 0
}

/// True when every bit of the range is set. An empty range has none that is not.
#[inline]
pub fn all_set(words: &[u64], start: usize, count: usize) -> bool {
    if count == 0 {
        return true;
    }
    let span = span(words, start, count);
    let ends = !span.first & span.first_mask | !span.last & span.last_mask;
    ends == 0 && span.middle.iter().fold(u64::MAX, |all, word| all & word) == u64::MAX
}

/// Number of set bits in the range.
#[inline]
pub fn count_ones(words: &[u64], start: usize, count: usize) -> usize {
    if count == 0 {
        return 0;
    }
    let end = last_of(start, count);
    let touched = &words[start / 64..=end / 64];
    // Whole words, less what lies before the range and after it: in an aligned range that is nothing.
    let before = touched[0] & !(u64::MAX << (start % 64));
    let after = touched[touched.len() - 1] & !(u64::MAX >> (63 - end % 64));
    dispatch::count_all_but(touched, before, after)
}

/// Set bits of the words, less those of the two words beside: eight words at a time, added up in pairs, since one sum that every
/// word waits for takes a quarter more time.
#[inline(always)]
pub(crate) fn count_all_but(words: &[u64], before: u64, after: u64) -> usize {
    let (groups, rest) = words.as_chunks::<8>();
    let mut all = 0;
    for group in groups {
        let [a, b, c, d, e, f, g, h] = group.map(|word| word.count_ones() as usize);
        all += ((a + b) + (c + d)) + ((e + f) + (g + h));
    }
    for word in rest {
        all += word.count_ones() as usize;
    }
    all - (before.count_ones() + after.count_ones()) as usize
}

/// Sets every bit of the range.
pub fn set_range(words: &mut [u64], start: usize, count: usize) {
    change_range(words, start, count, |word, mask| *word |= mask);
}

/// Clears every bit of the range.
pub fn clear_range(words: &mut [u64], start: usize, count: usize) {
    change_range(words, start, count, |word, mask| *word &= !mask);
}

#[inline]
fn change_range(words: &mut [u64], start: usize, count: usize, change: impl Fn(&mut u64, u64)) {
    if count == 0 {
        return;
    }
    let end = last_of(start, count);
    let head = u64::MAX << (start % 64);
    let tail = u64::MAX >> (63 - end % 64);
    match &mut words[start / 64..=end / 64] {
        [only] => change(only, head & tail),
        [first, middle @ .., last] => {
            change(first, head);
            middle.iter_mut().for_each(|word| change(word, u64::MAX));
            change(last, tail);
        }
        [] => unreachable!("an inclusive range of words is not empty"),
    }
}

/// ORs `count` bits of `src` from `src_start` on into `dst` from `dst_start` on.
#[inline]
pub fn or_at(dst: &mut [u64], dst_start: usize, src: &[u64], src_start: usize, count: usize) {
    combine(dst, dst_start, src, src_start, count, |old, new, _| old | new);
}

/// Copies `count` bits of `src` from `src_start` on over those of `dst` from `dst_start` on.
#[inline]
pub fn copy_at(dst: &mut [u64], dst_start: usize, src: &[u64], src_start: usize, count: usize) {
    combine(dst, dst_start, src, src_start, count, |old, new, mask| old & !mask | new);
}

/// Moves bits between two slices at unrelated positions: first and last word of `dst` by mask, whole words
/// between. Most moves are short, so there is no asking the processor here. `op(old, new, mask)` gives the word to store; bits of `new` outside `mask` are 0.
#[inline(always)]
fn combine(dst: &mut [u64], dst_start: usize, src: &[u64], src_start: usize, count: usize, op: impl Fn(u64, u64, u64) -> u64) {
    if count == 0 {
        return;
    }
    assert_holds(src, src_start, count);
    assert_holds(dst, dst_start, count);
    let (dst_word, dst_shift) = (dst_start / 64, dst_start % 64);
    let dst = &mut dst[dst_word..word_count(dst_start + count)];

    let (first, dst) = dst.split_first_mut().expect("a range that is not empty has a word");
    let head_count = count.min(64 - dst_shift);
    let head_mask = low_mask(head_count);
    let head = load(src, src_start) & head_mask;
    *first = op(*first, head << dst_shift, head_mask << dst_shift);

    let from = src_start + head_count;
    let whole_count = (count - head_count) / 64;
    let (src_word, src_shift) = (from / 64, from % 64);
    let (middle, last) = dst.split_at_mut(whole_count);
    if whole_count > 0 {
        let low = &src[src_word..src_word + whole_count];
        if src_shift == 0 {
            for (word, low) in middle.iter_mut().zip(low) {
                *word = op(*word, *low, u64::MAX);
            }
        } else {
            let high = &src[src_word + 1..src_word + 1 + whole_count];
            for ((word, low), high) in middle.iter_mut().zip(low).zip(high) {
                *word = op(*word, low >> src_shift | high << (64 - src_shift), u64::MAX);
            }
        }
    }
    if let Some(last) = last.first_mut() {
        let tail_mask = low_mask(count - head_count - whole_count * 64);
        let tail = load(src, from + whole_count * 64) & tail_mask;
        *last = op(*last, tail, tail_mask);
    }
}

#[cfg(test)]
mod tests;
