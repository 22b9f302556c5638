//! The only calls of code compiled for processor features that must be detected first.
//!
//! The bodies are ordinary safe loops, here or in the modules they belong to; the compiler does the rest.

use bytemuck::Pod;

use crate::nulls::NullWords;
use crate::place;
use crate::presence;
use crate::words;

/// See [`place::spread`]; values of 4 or 8 bytes.
#[inline]
pub(crate) fn spread<T: Pod>(values: &mut [T], nulls: NullWords<'_>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
        // SAFETY: the body is safe code; this processor has both features, as just detected.
        return unsafe { place::avx2::spread(values, nulls) };
    }
    place::spread_by(values, nulls, place::eight);
}

/// For each line: a function that asks the processor for one feature, and calls `body` compiled for it or
/// `otherwise`.
macro_rules! kernels {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? {
        $feature:tt => $body:path, otherwise $otherwise:path
    })*) => { $(
        #[inline]
        pub(crate) fn $name($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!($feature) {
                #[target_feature(enable = $feature)]
                fn detected($($arg: $type),*) $(-> $result)? {
                    $body($($arg),*)
                }
                #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
                // SAFETY: the body is safe code; this processor has the feature, as just detected.
                return unsafe { detected($($arg),*) };
            }
            // Out of line, so that the question and the call are all that lands in the caller.
            #[inline(never)]
            fn otherwise($($arg: $type),*) $(-> $result)? {
                $otherwise($($arg),*)
            }
            otherwise($($arg),*)
        }
    )* };
}

kernels! {
    fn count_all_but(words: &[u64], before: u64, after: u64) -> usize {
        "popcnt" => words::count_all_but, otherwise words::count_all_but
    }
    fn presence_to_nulls(bytes: &[u8], out: &mut [u64]) {
        "avx2" => presence::whole_words_to_nulls, otherwise presence_to_nulls_narrow
    }
    fn presence_to_nulls_narrow(bytes: &[u8], out: &mut [u64]) {
        "ssse3" => presence::whole_words_to_nulls, otherwise presence::whole_words_to_nulls
    }
    fn nulls_to_presence(words: &[u64], out: &mut [u8]) {
        "avx2" => presence::whole_words_from_nulls, otherwise nulls_to_presence_narrow
    }
    fn nulls_to_presence_narrow(words: &[u64], out: &mut [u8]) {
        "ssse3" => presence::whole_words_from_nulls, otherwise presence::whole_words_from_nulls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each width that a processor may choose, for every number of words up to 130 and every place of the bytes in 64.
    #[test]
    fn presence_kernels_of_all_widths_agree() {
        let words: Vec<u64> = (1..=130_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)).collect();
        let mut buffer = [0_u8; 130 * 8 + 2 * 64];
        let aligned = buffer.as_ptr().align_offset(64);
        for count in 0..=words.len() {
            let words = &words[..count];
            let bytes: Vec<u8> = words.iter().flat_map(|word| (!word).reverse_bits().to_be_bytes()).collect();
            let mut out = vec![0; count];
            for alignment in 0..64 {
                let place = &mut buffer[aligned + alignment..][..count * 8];
                for kernel in [nulls_to_presence, nulls_to_presence_narrow, presence::whole_words_from_nulls] {
                    place.fill(0xee);
                    kernel(words, place);
                    assert!(place == bytes, "{count} words at {alignment}");
                }
                for kernel in [presence_to_nulls, presence_to_nulls_narrow, presence::whole_words_to_nulls] {
                    out.fill(u64::MAX);
                    kernel(place, &mut out);
                    assert!(out == words, "{count} words at {alignment}");
                }
            }
            if let [first, .., last] = words {
                assert_eq!(count_all_but(words, first & 0xff, last << 8), words::count_all_but(words, first & 0xff, last << 8));
            }
        }
    }
}
