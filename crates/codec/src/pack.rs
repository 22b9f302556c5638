//! Fixed-width bit packing, high bit first: eight values of w bits are exactly w bytes.
//!
//! ```text
//! w = 3    aaabbbcc cdddeeef ffggghhh        every group of eight starts at a byte
//! ```
//!
//! Each width from 1 to 64 has code of its own, chosen once per call: all shifts and offsets are constants in there. Values
//! of a group come from (overlapping) loads of eight bytes, so a group is read with eight bytes behind it; the last groups
//! of a page are read from a copy with zeros behind. With AVX2, [`avx2`] does all but the widest.

use std::mem::MaybeUninit;

use crate::cell::Int;
use crate::dispatch;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;

/// Values of one call at most, a multiple of eight.
pub(crate) const PACK_MAX: usize = 128;

/// Bytes that a load may reach behind a group.
const SLACK: usize = 8;

/// Calls `$function::<W>` for the width at hand; `[_]` stands for a type that the arguments tell.
macro_rules! with_width {
    ($width:expr, $function:ident[$($type:tt)?]($($argument:expr),*)) => {
        with_width!(@match $width => $function [$($type)?] ($($argument),*),
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
    };
    (@match $width:expr => $function:ident $types:tt $arguments:tt, $($w:literal)*) => {
        match $width {
            $($w => with_width!(@call $function::<$w> $types $arguments),)*
            other => unreachable!("width {other} was checked to be 1..=64"),
        }
    };
    (@call $function:ident::<$w:literal> [$($type:tt)?] ($($argument:expr),*)) => { $function::<$w, $($type)?>($($argument),*) };
}

/// An integer with kernels of its own.
pub(crate) trait Packed: Int {
    /// Does all groups, or gives false when this processor or the width does not allow it.
    fn by_vectors<const SUMS: bool>(
        bytes: &[u8],
        width: usize,
        first: Self,
        minimum: Self,
        out: &mut [[MaybeUninit<Self>; 8]],
    ) -> bool;
}

impl Packed for i32 {
    #[inline]
    fn by_vectors<const SUMS: bool>(
        bytes: &[u8],
        width: usize,
        first: i32,
        minimum: i32,
        out: &mut [[MaybeUninit<i32>; 8]],
    ) -> bool {
        dispatch::groups_32::<SUMS>(bytes, width, first, minimum, out)
    }
}

impl Packed for i64 {
    #[inline]
    fn by_vectors<const SUMS: bool>(
        bytes: &[u8],
        width: usize,
        first: i64,
        minimum: i64,
        out: &mut [[MaybeUninit<i64>; 8]],
    ) -> bool {
        dispatch::groups_64::<SUMS>(bytes, width, first, minimum, out)
    }
}

/// Unpacks `groups` of eight; gives their number. `bytes` may go on after them; what is missing of the last one reads as zero.
pub(crate) fn unpack<T: Packed>(bytes: &[u8], width: u32, groups: &mut [[MaybeUninit<T>; 8]]) -> usize {
    if T::by_vectors::<false>(bytes, width as usize, T::default(), T::default(), groups) {
        return groups.len();
    }
    with_width!(width, unpack_groups[_](bytes, groups))
}

/// One group of eight; what is missing of it reads as zero.
pub(crate) fn unpack_group<T: Packed>(bytes: &[u8], width: u32) -> [T; 8] {
    let mut padded = [0; 64 + SLACK];
    let size = bytes.len().min(padded.len());
    padded[..size].copy_from_slice(&bytes[..size]);
    with_width!(width, group_of[](&padded)).map(T::from_bits)
}

/// Unpacks differences and adds them up: `out[i] = out[i - 1] + minimum + packed[i]` from `first` on, wrapping. Else as
/// [`unpack`].
pub(crate) fn unpack_sums<T: Packed>(
    bytes: &[u8],
    width: u32,
    first: T,
    minimum: T,
    groups: &mut [[MaybeUninit<T>; 8]],
) -> usize {
    if T::by_vectors::<true>(bytes, width as usize, first, minimum, groups) {
        return groups.len();
    }
    with_width!(width, sum_groups[_](bytes, first, minimum, groups))
}

fn unpack_groups<const W: usize, T: Int>(bytes: &[u8], groups: &mut [[MaybeUninit<T>; 8]]) -> usize {
    each_group::<W, T>(bytes, groups, |values| values.map(T::from_bits))
}

fn sum_groups<const W: usize, T: Int>(bytes: &[u8], first: T, minimum: T, groups: &mut [[MaybeUninit<T>; 8]]) -> usize {
    let (mut sum, minimum) = (first.to_bits(), minimum.to_bits());
    each_group::<W, T>(bytes, groups, |values| {
        values.map(|value| {
            sum = sum.wrapping_add(minimum.wrapping_add(value));
            T::from_bits(sum)
        })
    })
}

/// Stores what `values_of` makes of each group, read from the bytes directly while eight follow it, then from a padded copy. Gives
/// the number of groups stored: all of them.
#[inline(always)]
fn each_group<const W: usize, T: Copy>(
    bytes: &[u8],
    groups: &mut [[MaybeUninit<T>; 8]],
    mut values_of: impl FnMut([u64; 8]) -> [T; 8],
) -> usize {
    let mut rest = bytes;
    let mut padded = [0; 64 + SLACK];
    let mut done = 0;
    for slots in groups {
        let group = match rest.get(..W + SLACK) {
            Some(group) => group,
            None => {
                padded.fill(0);
                padded[..rest.len()].copy_from_slice(rest);
                &padded[..W + SLACK]
            }
        };
        *slots = values_of(group_of::<W>(group)).map(MaybeUninit::new);
        done += 1;
        rest = rest.get(W..).unwrap_or(&[]);
    }
    done
}

#[inline(always)]
fn group_of<const W: usize>(bytes: &[u8]) -> [u64; 8] {
    std::array::from_fn(|index| {
        let (at, shift) = (index * W / 8, index * W % 8);
        let loaded = bytes[at..].first_chunk().map_or(0, |chunk| u64::from_be_bytes(*chunk)) << shift;
        // A value of 58 bits and more may reach into a ninth byte.
        let window = if shift + W > 64 { loaded | u64::from(bytes[at + 8]) >> (8 - shift) } else { loaded };
        window >> (64 - W)
    })
}

/// Room for what [`pack`] makes, used again so that it is not cleared for every block.
#[derive(Clone, Debug)]
pub(crate) struct PackStage([u8; PACK_MAX * 8 + SLACK]);

impl Default for PackStage {
    #[inline]
    fn default() -> Self {
        Self([0; PACK_MAX * 8 + SLACK])
    }
}

/// Appends `values`, each less than 2^width as unsigned, padded with zeros to a byte. At most [`PACK_MAX`] values.
pub(crate) fn pack(values: &[i64], width: u32, stage: &mut PackStage, out: &mut Vec<u8>) {
    if width > 0 {
        let stage = &mut stage.0;
        with_width!(width, pack_groups[](values, stage));
        out.extend_from_slice(&stage[..(values.len() * width as usize).div_ceil(8)]);
    }
}

fn pack_groups<const W: usize>(values: &[i64], stage: &mut [u8; PACK_MAX * 8 + SLACK]) {
    let (groups, rest) = values.as_chunks::<8>();
    let mut out = &mut stage[..];
    for group in groups {
        put_group::<W>(group, out);
        out = &mut out[W..];
    }
    if !rest.is_empty() {
        let mut group = [0; 8];
        group[..rest.len()].copy_from_slice(rest);
        put_group::<W>(&group, out);
    }
}

/// Stores `W` bytes and zeros up to a multiple of eight behind them.
#[inline(always)]
fn put_group<const W: usize>(values: &[i64; 8], out: &mut [u8]) {
    let out = &mut out[..W.next_multiple_of(8)];
    let (mut word, mut used, mut at) = (0, 0, 0);
    for &value in values {
        let value = value as u64;
        if used + W < 64 {
            word = word << W | value;
            used += W;
            continue;
        }
        // The word is full: its low bits are the top of this value.
        let over = used + W - 64;
        let full = if W == 64 { value } else { word << (W - over) | value >> over };
        out[at..at + 8].copy_from_slice(&full.to_be_bytes());
        at += 8;
        word = if over == 0 { 0 } else { value & (u64::MAX >> (64 - over)) };
        used = over;
    }
    if used > 0 {
        out[at..at + 8].copy_from_slice(&(word << (64 - used)).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, the slow way.
    fn packed_bits(values: &[u64], width: u32) -> Vec<u8> {
        let bits: Vec<u8> = values.iter().flat_map(|value| (0..width).rev().map(move |bit| (value >> bit & 1) as u8)).collect();
        bits.chunks(8).map(|byte| byte.iter().enumerate().fold(0, |sum, (index, bit)| sum | bit << (7 - index))).collect()
    }

    /// Both routes, with whatever this processor has and by the portable code alone.
    fn check_unpacked<T: Packed + PartialEq + std::fmt::Debug>(bytes: &[u8], width: u32, values: &[u64]) {
        let (first, minimum) = (T::from_bits(3), T::from_bits(5_u64.wrapping_neg()));
        let plain: Vec<T> = values.iter().map(|value| T::from_bits(*value)).collect();
        let sums: Vec<T> = plain
            .iter()
            .scan(first, |sum, value| {
                *sum = sum.wrapping_sum(*value).wrapping_sum(minimum);
                Some(*sum)
            })
            .collect();
        let what = format!("{} bits: width {width}, {} values, {} bytes", T::WIDTH, values.len(), bytes.len());
        let mut back = vec![T::from_bits(7)];
        dispatch::append_unpacked(bytes, width, values.len(), &mut back);
        assert_eq!((back[0], &back[1..]), (T::from_bits(7), &plain[..]), "{what}");
        back.truncate(1);
        dispatch::append_sums(bytes, width, first, minimum, values.len(), &mut back);
        assert_eq!((back[0], &back[1..]), (T::from_bits(7), &sums[..]), "{what}");

        back.clear();
        dispatch::append_portable(values.len(), &mut back, |groups| with_width!(width, unpack_groups[_](bytes, groups)));
        assert_eq!(back, plain, "{what}");
        back.clear();
        dispatch::append_portable(values.len(), &mut back, |groups| {
            with_width!(width, sum_groups[_](bytes, first, minimum, groups))
        });
        assert_eq!(back, sums, "{what}");
    }

    #[test]
    fn every_width_and_count() {
        let mut state = 1_u64;
        let mut stage = PackStage::default();
        for width in 1..=64 {
            for count in 0..=PACK_MAX {
                let values: Vec<u64> = (0..count)
                    .map(|_| {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        (state ^ state >> 32) >> (64 - width)
                    })
                    .collect();
                let mut bytes = vec![9];
                pack(&values.iter().map(|value| *value as i64).collect::<Vec<_>>(), width, &mut stage, &mut bytes);
                assert_eq!(bytes[1..], packed_bits(&values, width), "width {width}, {count} values");

                for slack in [0, 1, 7, 8, 9, 15, 16, 17, 200] {
                    let mut longer = bytes[1..].to_vec();
                    longer.resize(longer.len() + slack, 0xff);
                    check_unpacked::<i64>(&longer, width, &values);
                    if width <= 32 {
                        check_unpacked::<i32>(&longer, width, &values);
                    }
                }
            }
        }
    }
}
