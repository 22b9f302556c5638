//! Whole columns between native values and big-endian bytes.
//!
//! One source for every machine: the loops in `portable` are written so that the compiler can turn them
//! into vector code, and `dispatch` compiles each of them once more with AVX2 and with SSSE3 switched on
//! and asks the processor which to call (once per column, not per value). On other processors the
//! portable body is compiled for the target as it is; NEON is part of every 64-bit Arm.
//!
//! Every function asserts that the byte slice is exactly as long as the values need. A slice of
//! [`MaybeUninit<u8>`](std::mem::MaybeUninit) (a vector's spare capacity) is written as well as one of
//! `u8`: see [`Slot`].

mod dates;
mod dispatch;
mod portable;
mod slot;

pub use dispatch::{
    are_dates, dates_to_days, days_to_dates, read_bools, read_f32s, read_f64s, read_i32s, read_i64s, times_rise, write_bools,
    write_f32s, write_f64s, write_i32s, write_i64s,
};
pub use slot::Slot;

#[cfg(test)]
mod tests;
