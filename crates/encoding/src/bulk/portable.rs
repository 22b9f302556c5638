//! The loops. Nothing here knows a processor; see [`super::dispatch`].

use super::Slot;
use crate::{CANONICAL_NAN_32, CANONICAL_NAN_64};

#[inline(always)]
fn write_all<S: Slot, T: Copy, const N: usize>(out: &mut [S], values: &[T], to_wire: impl Fn(T) -> [u8; N]) {
    let (slots, rest) = out.as_chunks_mut::<N>();
    assert!(rest.is_empty() && slots.len() == values.len(), "output has room for exactly the values");
    for (slot, value) in slots.iter_mut().zip(values) {
        *slot = S::array(to_wire(*value));
    }
}

#[inline(always)]
fn read_all<T, const N: usize>(input: &[u8], out: &mut [T], from_wire: impl Fn([u8; N]) -> T) {
    let (slots, rest) = input.as_chunks::<N>();
    assert!(rest.is_empty() && slots.len() == out.len(), "input holds exactly the values");
    for (value, slot) in out.iter_mut().zip(slots) {
        *value = from_wire(*slot);
    }
}

#[inline(always)]
pub(super) fn write_i32s<S: Slot>(out: &mut [S], values: &[i32]) {
    write_all(out, values, i32::to_be_bytes);
}

#[inline(always)]
pub(super) fn write_i64s<S: Slot>(out: &mut [S], values: &[i64]) {
    write_all(out, values, i64::to_be_bytes);
}

#[inline(always)]
pub(super) fn write_f32s<S: Slot>(out: &mut [S], values: &[f32]) {
    write_all(out, values, |value| {
        let bits = if value.is_nan() { CANONICAL_NAN_32 } else { value.to_bits() };
        bits.to_be_bytes()
    });
}

#[inline(always)]
pub(super) fn write_f64s<S: Slot>(out: &mut [S], values: &[f64]) {
    write_all(out, values, |value| {
        let bits = if value.is_nan() { CANONICAL_NAN_64 } else { value.to_bits() };
        bits.to_be_bytes()
    });
}

#[inline(always)]
pub(super) fn write_bools<S: Slot>(out: &mut [S], values: &[bool]) {
    write_all(out, values, |value| [u8::from(value)]);
}

#[inline(always)]
pub(super) fn read_i32s(input: &[u8], out: &mut [i32]) {
    read_all(input, out, i32::from_be_bytes);
}

#[inline(always)]
pub(super) fn read_i64s(input: &[u8], out: &mut [i64]) {
    read_all(input, out, i64::from_be_bytes);
}

#[inline(always)]
pub(super) fn read_f32s(input: &[u8], out: &mut [f32]) {
    read_all(input, out, f32::from_be_bytes);
}

#[inline(always)]
pub(super) fn read_f64s(input: &[u8], out: &mut [f64]) {
    read_all(input, out, f64::from_be_bytes);
}

#[inline(always)]
pub(super) fn read_bools(input: &[u8], out: &mut [bool]) {
    read_all(input, out, |[byte]| byte != 0);
}

/// Makes `doubt` negative where a time does not rise, and also where it rises by 2^63 or more, which has to be looked at again. Only
/// sign bits count, so that any processor combines some times at once.
#[inline]
pub(super) fn doubt_rise(times: &[i64], doubt: &mut i64) {
    let later = times.get(1..).unwrap_or_default();
    *doubt |= times.iter().zip(later).fold(0, |doubt, (&time, &next)| {
        let step = next.wrapping_sub(time);
        doubt | step | step.wrapping_sub(1) | (!time & next)
    });
}
