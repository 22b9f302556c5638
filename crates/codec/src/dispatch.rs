//! The only calls of code compiled for processor features that must be detected first.
//!
//! What is called is safe code: the one promise to keep is that this processor has the features.

use crate::varint::{self, Progress};

/// Unpacks the first groups in lanes of 32 bits; gives their number, 0 where this processor or the width does not allow it.
#[inline]
pub(crate) fn groups_32<const SUMS: bool>(bytes: &[u8], width: usize, first: i32, minimum: i32, out: &mut [[i32; 8]]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if width <= avx2::WIDTH_MAX_32 && is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
        // SAFETY: the body is safe code; this processor has AVX2, as just detected.
        return unsafe { avx2::groups_32::<SUMS>(bytes, width, first, minimum, out) };
    }
    0
}

/// [`groups_32`] in lanes of 64 bits.
#[inline]
pub(crate) fn groups_64<const SUMS: bool>(bytes: &[u8], width: usize, first: i64, minimum: i64, out: &mut [[i64; 8]]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if width <= avx2::WIDTH_MAX_64 && is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
        // SAFETY: the body is safe code; this processor has AVX2, as just detected.
        return unsafe { avx2::groups_64::<SUMS>(bytes, width, first, minimum, out) };
    }
    0
}

/// See [`varint::decode_short`].
#[inline]
pub(crate) fn decode_short(bytes: &[u8], out: &mut [i32]) -> Progress {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
        #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
        // SAFETY: the body is safe code; this processor has the three features, as just detected.
        return unsafe { varint::avx2::decode_short(bytes, out) };
    }
    varint::decode_short(bytes, out)
}

#[cfg(target_arch = "x86_64")]
use crate::pack::avx2;
