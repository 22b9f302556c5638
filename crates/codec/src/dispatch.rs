//! The only calls of code compiled for processor features that must be detected first.
//!
//! What is called is safe code: the one promise to keep is that this processor has the features.

use std::mem::MaybeUninit;

use crate::pack::{Packed, unpack, unpack_sums};
use crate::varint::{self, Progress};

/// Appends `count` values of `width` bits; what is missing of the last group of eight reads as zero.
pub(crate) fn append_unpacked<T: Packed>(bytes: &[u8], width: u32, count: usize, out: &mut Vec<T>) {
    append(count, out, |groups| unpack(bytes, width, groups));
}

/// Appends `count` sums of packed differences; see [`unpack_sums`].
pub(crate) fn append_sums<T: Packed>(bytes: &[u8], width: u32, first: T, minimum: T, count: usize, out: &mut Vec<T>) {
    append(count, out, |groups| unpack_sums(bytes, width, first, minimum, groups));
}

/// Appends `count` values that `write` puts into the spare capacity of `out`, whole groups of eight at a time. It says which groups
/// it has written; they are those that it was given.
fn append<T: Packed>(count: usize, out: &mut Vec<T>, write: impl FnOnce(&mut [[MaybeUninit<T>; 8]]) -> usize) {
    let group_count = count.div_ceil(8);
    out.reserve(group_count * 8);
    let (groups, _) = out.spare_capacity_mut().as_chunks_mut::<8>();
    let written = write(&mut groups[..group_count]);
    assert!(written == group_count, "every group is written");
    #[expect(unsafe_code, reason = "clearing the output first costs as much as unpacking it")]
    // SAFETY: `reserve` made room for `group_count * 8 >= count` values behind the last one, and `write` has initialised the first
    // `group_count` groups of them: `unpack` and `unpack_sums`, which are all that is passed here, store a whole group and count it, group by group.
    unsafe {
        out.set_len(out.len() + count);
    }
}

/// For tests of the two by their portable code alone.
#[cfg(test)]
pub(crate) fn append_portable<T: Packed>(
    count: usize,
    out: &mut Vec<T>,
    write: impl FnOnce(&mut [[MaybeUninit<T>; 8]]) -> usize,
) {
    append(count, out, write);
}

/// Unpacks groups in lanes of 32 bits; false, and nothing is done, where this processor or the width does not allow it.
#[inline]
pub(crate) fn groups_32<const SUMS: bool>(
    bytes: &[u8],
    width: usize,
    first: i32,
    minimum: i32,
    out: &mut [[MaybeUninit<i32>; 8]],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if width <= avx2::WIDTH_MAX_32 && is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
        // SAFETY: the body is safe code; this processor has AVX2, as just detected.
        unsafe {
            avx2::groups_32::<SUMS>(bytes, width, first, minimum, out);
        }
        return true;
    }
    false
}

/// [`groups_32`] in lanes of 64 bits.
#[inline]
pub(crate) fn groups_64<const SUMS: bool>(
    bytes: &[u8],
    width: usize,
    first: i64,
    minimum: i64,
    out: &mut [[MaybeUninit<i64>; 8]],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if width <= avx2::WIDTH_MAX_64 && is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
        // SAFETY: the body is safe code; this processor has AVX2, as just detected.
        unsafe {
            avx2::groups_64::<SUMS>(bytes, width, first, minimum, out);
        }
        return true;
    }
    false
}

/// See [`varint::decode_short`].
#[inline]
pub(crate) fn decode_short(bytes: &[u8], out: &mut [i32]) -> Progress {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        #[expect(unsafe_code, reason = "calls code compiled for detected features")]
        // SAFETY: the body is safe code; this processor has the five features, as just detected.
        return unsafe { varint::avx2::decode_short(bytes, out) };
    }
    varint::decode_short(bytes, out)
}

#[cfg(target_arch = "x86_64")]
use crate::pack::avx2;
