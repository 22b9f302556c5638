//! The only calls of code compiled for processor features that must be detected first.

use super::{Slot, portable};

/// For each line: a public function that asks the processor and calls the body compiled for it.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident $(<$slot:ident>)? ($a:ident: $a_type:ty, $b:ident: $b_type:ty);)*) => { $(
        $(#[$doc])*
        #[inline]
        pub fn $name $(<$slot: Slot>)? ($a: $a_type, $b: $b_type) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2 $(<$slot: Slot>)? ($a: $a_type, $b: $b_type) {
                    portable::$name($a, $b);
                }
                #[target_feature(enable = "ssse3")]
                fn ssse3 $(<$slot: Slot>)? ($a: $a_type, $b: $b_type) {
                    portable::$name($a, $b);
                }
                if is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
                    // SAFETY: the body is safe code; this processor has AVX2, as just detected.
                    return unsafe { avx2($a, $b) };
                }
                if is_x86_feature_detected!("ssse3") {
                    #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
                    // SAFETY: the body is safe code; this processor has SSSE3, as just detected.
                    return unsafe { ssse3($a, $b) };
                }
            }
            portable::$name($a, $b);
        }
    )* };
}

kernels! {
    /// 32-bit integers (and dates as yyyymmdd) to big-endian bytes.
    fn write_i32s<S>(out: &mut [S], values: &[i32]);
    /// 64-bit integers (and times) to big-endian bytes.
    fn write_i64s<S>(out: &mut [S], values: &[i64]);
    /// 32-bit floats to big-endian bytes; every NaN becomes the canonical one.
    fn write_f32s<S>(out: &mut [S], values: &[f32]);
    /// 64-bit floats to big-endian bytes; every NaN becomes the canonical one.
    fn write_f64s<S>(out: &mut [S], values: &[f64]);
    /// Booleans to bytes 00 and 01.
    fn write_bools<S>(out: &mut [S], values: &[bool]);
    /// 32-bit integers from big-endian bytes.
    fn read_i32s(input: &[u8], out: &mut [i32]);
    /// 64-bit integers from big-endian bytes.
    fn read_i64s(input: &[u8], out: &mut [i64]);
    /// 32-bit floats from big-endian bytes, bits as stored.
    fn read_f32s(input: &[u8], out: &mut [f32]);
    /// 64-bit floats from big-endian bytes, bits as stored.
    fn read_f64s(input: &[u8], out: &mut [f64]);
    /// Booleans from bytes; anything but 00 is true.
    fn read_bools(input: &[u8], out: &mut [bool]);
}
