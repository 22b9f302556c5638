//! The only calls of code compiled for processor features that must be detected first.

use super::{Slot, dates, portable};

/// For each line: a function that asks the processor and calls the body compiled for it, and a module of the same name with the
/// compiled bodies.
macro_rules! kernels {
    ($($(#[$doc:meta])* $visible:vis fn $name:ident $(<$slot:ident>)? ($a:ident: $a_type:ty, $b:ident: $b_type:ty) = $body:path;)*) => { $(
        $(#[$doc])*
        #[inline]
        $visible fn $name $(<$slot: Slot>)? ($a: $a_type, $b: $b_type) {
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
                    // SAFETY: the body is safe code; this processor has AVX2, as just detected.
                    return unsafe { $name::avx2($a, $b) };
                }
                if is_x86_feature_detected!("ssse3") {
                    #[expect(unsafe_code, reason = "calls code compiled for a detected feature")]
                    // SAFETY: the body is safe code; this processor has SSSE3, as just detected.
                    return unsafe { $name::ssse3($a, $b) };
                }
            }
            $body($a, $b);
        }

        #[cfg(target_arch = "x86_64")]
        pub(in crate::bulk) mod $name {
            use super::*;

            #[target_feature(enable = "avx2")]
            pub(in crate::bulk) fn avx2 $(<$slot: Slot>)? ($a: $a_type, $b: $b_type) {
                $body($a, $b);
            }

            #[target_feature(enable = "ssse3")]
            pub(in crate::bulk) fn ssse3 $(<$slot: Slot>)? ($a: $a_type, $b: $b_type) {
                $body($a, $b);
            }
        }
    )* };
}

kernels! {
    /// 32-bit integers (and dates as yyyymmdd) to big-endian bytes.
    pub fn write_i32s<S>(out: &mut [S], values: &[i32]) = portable::write_i32s;
    /// 64-bit integers (and times) to big-endian bytes.
    pub fn write_i64s<S>(out: &mut [S], values: &[i64]) = portable::write_i64s;
    /// 32-bit floats to big-endian bytes; every NaN becomes the canonical one.
    pub fn write_f32s<S>(out: &mut [S], values: &[f32]) = portable::write_f32s;
    /// 64-bit floats to big-endian bytes; every NaN becomes the canonical one.
    pub fn write_f64s<S>(out: &mut [S], values: &[f64]) = portable::write_f64s;
    /// Booleans to bytes 00 and 01.
    pub fn write_bools<S>(out: &mut [S], values: &[bool]) = portable::write_bools;
    /// 32-bit integers from big-endian bytes.
    pub fn read_i32s(input: &[u8], out: &mut [i32]) = portable::read_i32s;
    /// 64-bit integers from big-endian bytes.
    pub fn read_i64s(input: &[u8], out: &mut [i64]) = portable::read_i64s;
    /// 32-bit floats from big-endian bytes, bits as stored.
    pub fn read_f32s(input: &[u8], out: &mut [f32]) = portable::read_f32s;
    /// 64-bit floats from big-endian bytes, bits as stored.
    pub fn read_f64s(input: &[u8], out: &mut [f64]) = portable::read_f64s;
    /// Booleans from bytes; anything but 00 is true.
    pub fn read_bools(input: &[u8], out: &mut [bool]) = portable::read_bools;
    /// Days since 1970-01-01 of yyyymmdd dates, years 1 to 9999. An impossible date gives some other day.
    pub fn dates_to_days(dates: &[i32], out: &mut [i32]) = dates::dates_to_days;
    /// Dates as yyyymmdd of days since 1970-01-01. Days outside of the years 1 to 9999 are taken as the nearest day inside.
    pub fn days_to_dates(days: &[i32], out: &mut [i32]) = dates::days_to_dates;
    pub(super) fn check_dates(dates: &[i32], bad_count: &mut usize) = dates::check_dates;
    pub(super) fn doubt_rise(times: &[i64], doubt: &mut i64) = portable::doubt_rise;
}

/// True when every time is above the one before it.
#[inline]
pub fn times_rise(times: &[i64]) -> bool {
    let mut doubt = 0;
    doubt_rise(times, &mut doubt);
    doubt >= 0 || times.is_sorted_by(|time, next| time < next)
}

/// True when every value is a real day from 10000101 to 99991231, as a DATE column holds them.
pub fn are_dates(values: &[i32]) -> bool {
    let mut bad_count = 0;
    check_dates(values, &mut bad_count);
    bad_count == 0
}
