//! Walking a range: the set bits, and the runs of equal bits.

use super::{assert_holds, load, low_mask};

/// A run of equal bits. Positions are relative to the range's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First bit of the run.
    pub start: usize,
    /// Bits in the run, at least 1.
    pub count: usize,
    /// What they all are.
    pub set: bool,
}

/// Positions of the set bits, ascending. See [`ones`].
#[derive(Clone, Debug)]
pub struct Ones<'a> {
    words: &'a [u64],
    start: usize,
    count: usize,
    /// Position of bit 0 of `pending`.
    base: usize,
    /// Set bits of the current word that were not given yet.
    pending: u64,
}

/// Positions of the set bits of a range, ascending and relative to `start`.
#[inline]
pub fn ones(words: &[u64], start: usize, count: usize) -> Ones<'_> {
    assert_holds(words, start, count);
    let pending = load(words, start) & low_mask(count);
    Ones { words, start, count, base: 0, pending }
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.pending == 0 {
            if self.count - self.base <= 64 {
                return None;
            }
            self.base += 64;
            self.pending = load(self.words, self.start + self.base) & low_mask(self.count - self.base);
        }
        let bit = self.pending.trailing_zeros() as usize;
        self.pending &= self.pending - 1;
        Some(self.base + bit)
    }
}

/// Runs of equal bits, ascending, covering the range without gaps. See [`runs`].
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    words: &'a [u64],
    start: usize,
    count: usize,
    /// Where the run that is to be given next begins, and what its bits are.
    run_start: usize,
    set: bool,
    /// Position of bit 0 of `edges`.
    base: usize,
    /// Bits of the current word that differ from the bit before them, not passed yet.
    edges: u64,
    /// Highest bit of the current word.
    carry: u64,
}

/// Runs of equal bits of a range, covering it without gaps. Positions are relative to `start`.
#[inline]
pub fn runs(words: &[u64], start: usize, count: usize) -> Runs<'_> {
    assert_holds(words, start, count);
    let word = load(words, start);
    let set = word & 1 == 1;
    let edges = (word ^ (word << 1 | u64::from(set))) & low_mask(count);
    Runs { words, start, count, run_start: 0, set, base: 0, edges, carry: word >> 63 }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        if self.run_start == self.count {
            return None;
        }
        let end = loop {
            if self.edges != 0 {
                let bit = self.edges.trailing_zeros() as usize;
                self.edges &= self.edges - 1;
                break self.base + bit;
            }
            if self.count - self.base <= 64 {
                break self.count;
            }
            self.base += 64;
            let word = load(self.words, self.start + self.base);
            self.edges = (word ^ (word << 1 | self.carry)) & low_mask(self.count - self.base);
            self.carry = word >> 63;
        };
        let run = Run { start: self.run_start, count: end - self.run_start, set: self.set };
        self.run_start = end;
        self.set = !self.set;
        Some(run)
    }
}
