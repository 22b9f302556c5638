//! Bit streams, high bit first.
//!
//! ```text
//! byte     0        1        2
//! bit      76543210 76543210 76543210      the first bit written is bit 7 of byte 0
//! ```
//!
//! Both sides work on windows of 64 bits at any bit position: 57 of them are sure to be good, since a position may be up to
//! 7 bits into its byte.

use tsloom_model::Error;

use crate::error::truncated;

/// Bits of a window that are good at every position.
pub(crate) const WINDOW_BITS: u32 = 57;

/// Bits of one put at most.
pub(crate) const PUT_MAX: u32 = 56;

/// Eight bytes at `at`, high bit first, zeros past the end.
#[inline(always)]
pub(crate) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => load_tail(bytes, at),
    }
}

#[cold]
fn load_tail(bytes: &[u8], at: usize) -> u64 {
    let mut padded = [0; 8];
    if let Some(rest) = bytes.get(at..) {
        padded[..rest.len().min(8)].copy_from_slice(&rest[..rest.len().min(8)]);
    }
    u64::from_be_bytes(padded)
}

/// Reads a bit stream. Windows go past the end as zeros; [`BitReader::check`] says whether that happened.
#[derive(Clone, Debug)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Position of the next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Reads from the first bit of byte `start`. Bytes before it count in positions.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], start: usize) -> Self {
        Self { bytes, at: start * 8 }
    }

    /// Bits that are left; negative numbers cannot be: it is 0 past the end.
    #[inline]
    pub(crate) fn remaining(&self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.at)
    }

    /// Bits before the next one.
    #[inline]
    pub(crate) fn bit_position(&self) -> usize {
        self.at
    }

    /// Bytes of the whole column.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Byte that holds the next bit.
    #[inline]
    pub(crate) fn byte_position(&self) -> usize {
        self.at / 8
    }

    /// The next bits from the top down; [`WINDOW_BITS`] of them are good.
    #[inline(always)]
    pub(crate) fn window(&self) -> u64 {
        load(self.bytes, self.at / 8) << (self.at % 8)
    }

    /// The next 64 bits, all good.
    #[inline(always)]
    pub(crate) fn window64(&self) -> u64 {
        let shift = self.at % 8;
        let next = self.bytes.get(self.at / 8 + 8).copied().unwrap_or(0);
        load(self.bytes, self.at / 8) << shift | u64::from(next) >> (8 - shift)
    }

    /// Passes over `count` bits, also past the end.
    #[inline(always)]
    pub(crate) fn skip(&mut self, count: u32) {
        self.at += count as usize;
    }

    /// `count` bits, 1..=64, zeros past the end.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: u32) -> u64 {
        let window = if count <= WINDOW_BITS { self.window() } else { self.window64() };
        self.skip(count);
        window >> (64 - count)
    }

    /// An error when more bits were taken than there are.
    #[inline(always)]
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.at > self.bytes.len() * 8 {
            return Err(self.past_the_end());
        }
        Ok(())
    }

    #[cold]
    fn past_the_end(&self) -> Error {
        let size = self.bytes.len();
        truncated(size, self.at.div_ceil(8) - size, size)
    }
}

/// Bytes that [`BitWriter`] gathers before it appends them; a power of two.
const STAGE: usize = 512;

/// The bytes that a [`BitWriter`] has not yet appended. Apart from it, so that the writer's own fields stay in registers.
pub(crate) struct Stage([u8; STAGE + 8]);

impl Stage {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([0; STAGE + 8])
    }
}

/// Appends a bit stream to a vector. Every put stores eight bytes at the current byte, whole or not, so that no branch
/// depends on how full a byte is.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    stage: &'a mut [u8; STAGE + 8],
    /// Whole bytes in `stage`, less than `STAGE`.
    staged: usize,
    /// Bits of the byte in the making, at the top.
    partial: u64,
    /// How many: 0..=7.
    partial_bits: u32,
}

impl<'a> BitWriter<'a> {
    /// Starts at the next whole byte of `out`.
    #[inline(always)]
    pub(crate) fn new(out: &'a mut Vec<u8>, stage: &'a mut Stage) -> Self {
        Self { out, stage: &mut stage.0, staged: 0, partial: 0, partial_bits: 0 }
    }

    /// Appends the low `count` bits of `bits`, 0..=56; the bits above are 0.
    #[inline(always)]
    pub(crate) fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= PUT_MAX && bits >> count == 0);
        let used = self.partial_bits + count;
        // Two shifts, since `64 - used` is 64 when nothing at all is there.
        self.store(self.partial | (bits << (63 - used) << 1), used);
    }

    /// Stores a word whose first `used` bits are to be appended, those of the byte in the making among them.
    #[inline(always)]
    fn store(&mut self, word: u64, used: u32) {
        // The mask changes nothing; it tells the compiler so.
        let at = self.staged & (STAGE - 1);
        self.stage[at..at + 8].copy_from_slice(&word.to_be_bytes());
        self.staged += (used / 8) as usize;
        self.partial = word << (used & 56);
        self.partial_bits = used % 8;
        if self.staged >= STAGE {
            append(self.out, &self.stage[..STAGE]);
            self.staged -= STAGE;
            self.stage.copy_within(STAGE.., 0);
        }
    }

    /// Appends the low `count` bits of `bits`, 57..=64; the bits above are 0.
    #[inline(always)]
    fn put_wide(&mut self, bits: u64, count: u32) {
        debug_assert!((PUT_MAX + 1..=64).contains(&count) && bits >> (count - 1) >> 1 == 0);
        let used = self.partial_bits + count;
        if used < 64 {
            self.store(self.partial | bits << (64 - used), used);
        } else {
            // A whole word, and up to seven bits that it has no room for.
            let over = used - 64;
            self.store(self.partial | bits >> over, 64);
            (self.partial, self.partial_bits) = (bits << (63 - over) << 1, over);
        }
    }

    /// Appends the low `count` bits of `bits`, 0..=64; the bits above are 0.
    #[inline(always)]
    pub(crate) fn put_long(&mut self, bits: u64, count: u32) {
        if count > PUT_MAX {
            self.put_wide(bits, count);
        } else {
            self.put(bits, count);
        }
    }

    /// Appends `head` of up to 14 bits, then `bits` of 1..=64 bits.
    #[inline(always)]
    pub(crate) fn put_pair(&mut self, head: u64, head_count: u32, bits: u64, count: u32) {
        debug_assert!(head_count <= 14);
        if head_count + count <= PUT_MAX {
            self.put(head << count | bits, head_count + count);
        } else if head_count + count <= 64 {
            self.put_wide(head << count | bits, head_count + count);
        } else {
            self.put(head << (count - 32) | bits >> 32, head_count + count - 32);
            self.put(bits & 0xffff_ffff, 32);
        }
    }

    /// Bits put so far, when the vector was empty at the start.
    pub(crate) fn bit_count(&self) -> usize {
        (self.out.len() + self.staged) * 8 + self.partial_bits as usize
    }

    /// Pads with zeros to a whole byte; adds no byte when it is whole.
    #[inline(always)]
    pub(crate) fn pad(&mut self) {
        if self.partial_bits > 0 {
            self.put(0, 8 - self.partial_bits);
        }
    }

    /// Appends the byte in the making, padded with zeros, **even when it is empty**: the end of GORILLA and CHIMP.
    #[inline(always)]
    pub(crate) fn end_with_byte(mut self) {
        self.put(0, 8 - self.partial_bits);
        append(self.out, &self.stage[..self.staged]);
    }

    /// Pads to a whole byte and hands everything over.
    #[inline(always)]
    pub(crate) fn end(mut self) {
        self.pad();
        append(self.out, &self.stage[..self.staged]);
    }
}

/// Out of line, and not a method: the fields of the writer stay in registers.
#[inline(never)]
fn append(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}
