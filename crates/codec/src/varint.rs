//! Zigzag varints of 32 bits, many at once.
//!
//! ```text
//! bytes     c8 01 06 0a 80 80 04 ...       the high bit says that the number goes on
//! ends      0  1  1  1  0  0  1            one bit for each of 64 bytes: a number ends here
//! ```
//!
//! Where a number begins and ends is found by walking the set bits of `ends`, so that nothing waits for a load and nothing
//! depends on how long numbers are: no branch to mispredict where sizes vary. The four bytes from each beginning on are put side
//! by side; all the rest is one loop over them, which the compiler turns into vector code. Numbers
//! of five bytes are rare: they, and whatever is wrong, are left to [`decode_one`].

use tsloom_encoding::{WireReader, unzigzag32};
use tsloom_model::Result;

use crate::dispatch;

/// Bytes of a block.
const BLOCK: usize = 64;
/// Bytes that a load may reach behind the block.
const SLACK: usize = 4;

/// Numbers that are decoded one by one once a block has a long one.
const ONE_BY_ONE: usize = 16;

/// How far [`decode_short`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes.
    pub(crate) at: usize,
    /// Values.
    pub(crate) done: usize,
}

/// Fills `out` from the varints that `bytes` begin with; gives the position behind the last.
pub(crate) fn decode(bytes: &[u8], out: &mut [i32]) -> Result<usize> {
    let (mut at, mut done) = (0, 0);
    while done < out.len() {
        let short = dispatch::decode_short(&bytes[at..], &mut out[done..]);
        (at, done) = (at + short.at, done + short.done);
        for slot in out[done..].iter_mut().take(ONE_BY_ONE) {
            *slot = decode_one(bytes, &mut at)?;
            done += 1;
        }
    }
    Ok(at)
}

/// The varint at `at`, of any size; its errors say what is wrong.
#[inline]
fn decode_one(bytes: &[u8], at: &mut usize) -> Result<i32> {
    if let Some(eight) = bytes.get(*at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*eight);
        let last = !word & 0x80_8080_8080;
        if last != 0 {
            let size = last.trailing_zeros() as usize / 8 + 1;
            let own = word & (u64::MAX >> (64 - 8 * size));
            let bits = own & 0x7f | own >> 1 & 0x3f80 | own >> 2 & 0x1f_c000 | own >> 3 & 0xfe0_0000 | own >> 4 & 0x7_f000_0000;
            if let Ok(bits) = u32::try_from(bits) {
                *at += size;
                return Ok(unzigzag32(bits));
            }
        }
    }
    let mut wire = WireReader::with_base(bytes.get(*at..).unwrap_or(&[]), *at);
    let value = wire.svar()?;
    *at = wire.position();
    Ok(value)
}

/// Decodes into `out` until it is full, the bytes end, or a block has a number of more than four bytes or one that does not end.
pub(crate) fn decode_short(bytes: &[u8], out: &mut [i32]) -> Progress {
    blocks(bytes, out, ends, from_nth, values_of)
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
        _mm256_movemask_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_srli_epi32,
        _mm256_sub_epi32, _mm256_xor_si256, _pdep_u64,
    };

    use super::{BLOCK, Progress};

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn decode_short(bytes: &[u8], out: &mut [i32]) -> Progress {
        super::blocks(bytes, out, |block| ends(block), |starts, index| from_nth(starts, index), |words| values_of(words))
    }

    /// As [`super::values_of`]; the bytes of a number are multiplied to their places.
    #[target_feature(enable = "avx2")]
    fn values_of(words: [u32; 8]) -> [i32; 8] {
        let [a, b, c, d, e, f, g, h] = words.map(u32::cast_signed);
        let bytes = _mm256_setr_epi32(a, b, c, d, e, f, g, h);
        let ends = _mm256_andnot_si256(bytes, _mm256_set1_epi32(0x8080_8080_u32.cast_signed()));
        let below = _mm256_xor_si256(ends, _mm256_add_epi32(ends, _mm256_set1_epi32(-1)));
        let groups = _mm256_and_si256(_mm256_and_si256(bytes, below), _mm256_set1_epi32(0x7f7f_7f7f));
        // 1 and 128 for the bytes of a pair, 1 and 16,384 for the pairs.
        let pairs = _mm256_maddubs_epi16(_mm256_set1_epi16(0x8001_u16.cast_signed()), groups);
        let bits = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x4000_0001));
        let sign = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(bits, _mm256_set1_epi32(1)));
        bytemuck::cast(_mm256_xor_si256(_mm256_srli_epi32::<1>(bits), sign))
    }

    /// As [`super::from_nth`].
    #[target_feature(enable = "bmi2")]
    fn from_nth(starts: u64, index: u32) -> u64 {
        starts & _pdep_u64(1 << index, starts).wrapping_neg()
    }

    #[target_feature(enable = "avx2")]
    fn ends(block: &[u8; BLOCK]) -> u64 {
        let [low, high] = bytemuck::cast::<_, [__m256i; 2]>(*block).map(|bytes| _mm256_movemask_epi8(bytes) as u32);
        !(u64::from(high) << 32 | u64::from(low))
    }
}

/// Bit i is set when byte i ends a number.
#[inline(always)]
fn ends(block: &[u8; BLOCK]) -> u64 {
    let (eights, _) = block.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |ends, (index, eight)| {
        // The product moves the eight high bits next to each other, to the top.
        let high = !u64::from_le_bytes(*eight) >> 7 & 0x0101_0101_0101_0101;
        ends | high.wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * index)
    })
}

#[inline(always)]
fn blocks(
    bytes: &[u8],
    out: &mut [i32],
    ends_of: impl Fn(&[u8; BLOCK]) -> u64,
    from_nth: impl Fn(u64, u32) -> u64,
    values_of: impl Fn([u32; 8]) -> [i32; 8],
) -> Progress {
    let (mut at, mut done) = (0, 0);
    let mut padded = [0; BLOCK + SLACK];
    while done < out.len() {
        let rest = &bytes[at..];
        let (block, size) = match rest.first_chunk::<{ BLOCK + SLACK }>() {
            Some(block) => (block, BLOCK),
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                (&padded, rest.len().min(BLOCK))
            }
        };
        let head = block.first_chunk().expect("a block and its slack hold the block");
        let valid = u64::MAX.unbounded_shr((BLOCK - size) as u32);
        let ends = ends_of(head) & valid;
        let goes_on = !ends & valid;
        let is_long = goes_on & goes_on >> 1 & goes_on >> 2 & goes_on >> 3 != 0;
        let count = ends.count_ones() as usize;
        if count == 0 || is_long || count > out.len() - done {
            break;
        }
        let mut starts = ends << 1 | 1;
        let (slots, rest) = out[done..].as_chunks_mut::<8>();
        // Whole groups where there is room for them: what is too much of the last one is written over later.
        for group in 0..count.div_ceil(8) {
            // The two halves of a group, and the groups, do not wait for each other's walk over the bits.
            let (low, high) = (starts, from_nth(starts, 4));
            starts = from_nth(starts, 8);
            let ([a, b, c, d], [e, f, g, h]) = (next_four(block, low), next_four(block, high));
            let values = values_of([a, b, c, d, e, f, g, h]);
            match slots.get_mut(group) {
                Some(slots) => *slots = values,
                None => rest.iter_mut().zip(values).for_each(|(slot, value)| *slot = value),
            }
        }
        done += count;
        at += BLOCK - ends.leading_zeros() as usize;
    }
    Progress { at, done }
}

/// The set bits from the `index`-th on.
#[inline(always)]
fn from_nth(starts: u64, index: u32) -> u64 {
    (0..index).fold(starts, |starts, _| starts & starts.wrapping_sub(1))
}

/// The four bytes from the start of each of the next four numbers on; the other numbers in them go later. Behind the last number,
/// they mean nothing.
#[inline(always)]
fn next_four(block: &[u8; BLOCK + SLACK], mut starts: u64) -> [u32; 4] {
    std::array::from_fn(|_| {
        let start = starts.trailing_zeros() as usize;
        starts &= starts.wrapping_sub(1);
        u32::from_le_bytes(*block[start..].first_chunk().expect("the slack is behind the block"))
    })
}

/// Keeps the first number of each word and joins its seven-bit groups.
#[inline(always)]
fn values_of(words: [u32; 8]) -> [i32; 8] {
    words.map(|bytes| {
        let ends = !bytes & 0x8080_8080;
        let own = bytes & (ends ^ ends.wrapping_sub(1));
        let pairs = own & 0x7f_007f | own >> 1 & 0x3f80_3f80;
        unzigzag32(pairs & 0x3fff | pairs >> 2 & 0xfff_c000)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        *state ^ *state >> 29
    }

    /// One value after the other, as the wire reader does it.
    fn naive(bytes: &[u8], count: usize) -> Result<(Vec<i32>, usize)> {
        let mut wire = WireReader::new(bytes);
        let values = (0..count).map(|_| Ok(wire.svar()?)).collect::<Result<_>>()?;
        Ok((values, wire.position()))
    }

    fn check(bytes: &[u8], count: usize) {
        let expected = naive(bytes, count);
        let mut out = vec![7; count];
        match (decode(bytes, &mut out), &expected) {
            (Ok(at), Ok((values, end))) => assert_eq!((&out, at), (values, *end)),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected.to_string()),
            (found, _) => panic!("{found:?}, expected {expected:?}"),
        }
        let (mut fast, mut portable) = (vec![7; count], vec![7; count]);
        assert_eq!(dispatch::decode_short(bytes, &mut fast), decode_short(bytes, &mut portable));
        assert_eq!(fast, portable);
    }

    /// Sizes of 1 to 5 bytes in every mix, at every alignment, cut anywhere, and with any byte changed.
    #[test]
    fn blocks_give_what_one_by_one_gives() {
        let mut state = 1;
        for round in 0..400_usize {
            let mut bytes = Vec::new();
            let count = if round < 140 { round } else { random(&mut state) as usize % 300 };
            let sizes = random(&mut state);
            for _ in 0..count {
                let bits = random(&mut state) as u32;
                let shift = [25, 18, 11, 4, 0][(sizes >> (random(&mut state) % 16 * 3)) as usize % 8 % 5];
                tsloom_encoding::WirePut::put_uvar(&mut bytes, bits >> shift);
            }
            for lead in 0..bytes.len().min(9) {
                check(&bytes[lead..], count.saturating_sub(lead));
            }
            check(&bytes, count);
            check(&bytes, count + 1);
            for _ in 0..20 {
                check(&bytes[..random(&mut state) as usize % (bytes.len() + 1)], count);
                if let Some(byte) = bytes.len().checked_sub(1).map(|last| random(&mut state) as usize % (last + 1)) {
                    let mut changed = bytes.clone();
                    changed[byte] ^= 0x80 | random(&mut state) as u8;
                    check(&changed, count);
                }
            }
        }
        check(&[0xff; 200], 3);
        check(&[0; 200], 200);
    }
}
