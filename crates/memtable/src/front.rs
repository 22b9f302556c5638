//! Writing a slab from its first cell to its last, each once.
//!
//! What lies in memory that the allocator hands out must not be read, so all of it is written once. Zeros first and
//! values later would be twice, and slow: the slabs of a memtable are memory that no cache holds. A [`Front`] puts down values
//! where there are some and zeros between them. In a slab that was used before it only passes over what lies between, and
//! reads a word of each cache line there: the rows to come are short pieces far from each other, and each would wait for memory.

use bytemuck::{Pod, cast_slice, cast_slice_mut, try_cast_slice};

/// Words of a cache line.
const LINE_WORDS: usize = 8;

/// The cells of a slab up to where the writing has come.
#[derive(Debug)]
pub(crate) struct Front {
    /// All cells of a slab that was used before; else those written, with room for the others.
    cells: Vec<u64>,
    at: usize,
    is_used: bool,
}

impl Front {
    /// Over the memory of a slab that was used before.
    pub(crate) fn over(used: Box<[u64]>) -> Self {
        Self { cells: used.into_vec(), at: 0, is_used: true }
    }

    /// Over new memory.
    pub(crate) fn with_room(word_count: usize) -> Self {
        Self { cells: Vec::with_capacity(word_count), at: 0, is_used: false }
    }

    /// Goes on to word `end`.
    #[inline(always)]
    pub(crate) fn skip_to(&mut self, end: usize) {
        if !self.is_used {
            if end - self.at == LINE_WORDS {
                self.cells.extend_from_slice(&[0; LINE_WORDS]); // what lies between full columns
            } else {
                self.cells.resize(end, 0);
            }
        } else if end - self.at > LINE_WORDS {
            let skipped = &self.cells[self.at..end];
            std::hint::black_box(skipped.iter().step_by(LINE_WORDS).fold(0, |all, word| all ^ word));
        }
        self.at = end;
    }

    /// Zeros in the next words.
    #[inline]
    pub(crate) fn put_zeros(&mut self, word_count: usize) {
        let end = self.at + word_count;
        if self.is_used {
            self.cells[self.at..end].fill(0);
        } else {
            self.cells.resize(end, 0);
        }
        self.at = end;
    }

    /// Values in the next words, the last of which they need not fill.
    #[inline(always)]
    pub(crate) fn put<T: Pod>(&mut self, values: &[T]) {
        let bytes: &[u8] = cast_slice(values);
        let end = self.at + bytes.len().div_ceil(8);
        if self.is_used {
            cast_slice_mut(&mut self.cells[self.at..end])[..bytes.len()].copy_from_slice(bytes);
        } else {
            let (words, rest) = bytes.as_chunks();
            match try_cast_slice(words.as_flattened()) {
                Ok(words) => self.cells.extend_from_slice(words), // as good as always: values that begin at a word
                Err(_) => self.cells.extend(words.iter().map(|word| u64::from_ne_bytes(*word))),
            }
            if !rest.is_empty() {
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                self.cells.push(u64::from_ne_bytes(word));
            }
        }
        self.at = end;
    }

    /// The words up to where the writing has come, to be changed.
    pub(crate) fn written(&mut self) -> &mut [u64] {
        &mut self.cells[..self.at]
    }

    /// Values from word `place` on.
    #[inline(always)]
    pub(crate) fn put_at<T: Pod>(&mut self, place: usize, values: &[T]) {
        self.skip_to(place);
        self.put(values);
    }

    /// The slab of `word_count` words.
    pub(crate) fn finish(mut self, word_count: usize) -> Box<[u64]> {
        self.skip_to(word_count);
        self.cells.into_boxed_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(mut front: Front) -> Box<[u64]> {
        front.put(&[1_i32, 2, 3]);
        front.put_zeros(1);
        front.skip_to(12);
        front.put(&[-1_i64]);
        front.finish(16)
    }

    #[test]
    fn new_memory_and_memory_used_before_hold_the_same_values() {
        let (new, used) = (filled(Front::with_room(16)), filled(Front::over(vec![u64::MAX; 16].into())));
        assert_eq!(new.len(), 16);
        for slab in [&new, &used] {
            assert_eq!(cast_slice::<u64, i32>(slab)[..3], [1, 2, 3]);
            assert_eq!((slab[2], slab[12]), (0, u64::MAX));
        }
        assert!(new[3..12].iter().chain(&new[13..]).all(|word| *word == 0));
        assert!(used[3..12].iter().chain(&used[13..]).all(|word| *word == u64::MAX));
    }
}
