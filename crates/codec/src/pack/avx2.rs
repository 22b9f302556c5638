//! Unpacking with AVX2: eight 32-bit values a step, or twice four 64-bit ones.
//!
//! ```text
//! bytes of a group    |..v0..|..v1..|..v2..| ... |..v7..|       eight values of w bits, w bytes
//! load                each half (32 bit) or quarter (64 bit) of a group from 16 bytes at its first byte
//! shuffle             the 4 or 8 bytes that a value begins in, turned around: a window with the value near its top
//! shift               left by the bits before the value, each lane its own; right by what is too much, all the same
//! ```
//!
//! A window of 32 bits is sure to hold 25 bits at any bit position, one of 64 bits 57: wider values are left to the portable
//! code. What differs from width to width is data ([`PLANS_32`], [`PLANS_64`]), so there is one loop for each type.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_add_epi64, _mm256_permute2x128_si256, _mm256_permute4x64_epi64,
    _mm256_permutevar8x32_epi32, _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_shuffle_epi8,
    _mm256_shuffle_epi32, _mm256_slli_si256, _mm256_sllv_epi32, _mm256_sllv_epi64, _mm256_srl_epi32, _mm256_srl_epi64,
    _mm256_unpackhi_epi64,
};

use bytemuck::cast;

/// The widest values that are unpacked in lanes of 32 bits.
pub(crate) const WIDTH_MAX_32: usize = 25;
/// The widest values that are unpacked in lanes of 64 bits.
pub(crate) const WIDTH_MAX_64: usize = 57;
/// Bytes that a load may reach behind a group.
pub(crate) const SLACK: usize = 16;

/// How a group of one width comes apart: where each load begins, and the places and bit positions of its values.
struct Plan<const LOADS: usize, const HALVES: usize, Shift> {
    loads: [usize; LOADS],
    shuffles: [[u8; 32]; HALVES],
    shifts: [Shift; HALVES],
}

static PLANS_32: [Plan<2, 1, [u32; 8]>; WIDTH_MAX_32 + 1] = {
    let mut plans = [const { Plan { loads: [0; 2], shuffles: [[0; 32]], shifts: [[0; 8]] } }; WIDTH_MAX_32 + 1];
    let mut width = 1;
    while width <= WIDTH_MAX_32 {
        let plan = &mut plans[width];
        let mut value = 0;
        while value < 8 {
            let bit = value * width;
            let load = value / 4;
            plan.loads[load] = load * 4 * width / 8;
            let mut byte = 0;
            while byte < 4 {
                plan.shuffles[0][value * 4 + byte] = (bit / 8 - plan.loads[load] + 3 - byte) as u8;
                byte += 1;
            }
            plan.shifts[0][value] = (bit % 8) as u32;
            value += 1;
        }
        width += 1;
    }
    plans
};

static PLANS_64: [Plan<4, 2, [u64; 4]>; WIDTH_MAX_64 + 1] = {
    let mut plans = [const { Plan { loads: [0; 4], shuffles: [[0; 32]; 2], shifts: [[0; 4]; 2] } }; WIDTH_MAX_64 + 1];
    let mut width = 1;
    while width <= WIDTH_MAX_64 {
        let plan = &mut plans[width];
        let mut value = 0;
        while value < 8 {
            let bit = value * width;
            let load = value / 2;
            plan.loads[load] = load * 2 * width / 8;
            let mut byte = 0;
            while byte < 8 {
                plan.shuffles[value / 4][value % 4 * 8 + byte] = (bit / 8 - plan.loads[load] + 7 - byte) as u8;
                byte += 1;
            }
            plan.shifts[value / 4][value % 4] = (bit % 8) as u64;
            value += 1;
        }
        width += 1;
    }
    plans
};

/// Unpacks groups of up to [`WIDTH_MAX_32`] bits; with `SUMS`, adds them up as `unpack_sums` says. Stops before the first group
/// that has not [`SLACK`] bytes behind it; gives the number of groups done.
#[target_feature(enable = "avx2")]
pub(crate) fn groups_32<const SUMS: bool>(bytes: &[u8], width: usize, first: i32, minimum: i32, out: &mut [[i32; 8]]) -> usize {
    let plan = &PLANS_32[width];
    let (shuffle, shift) = (cast::<_, __m256i>(plan.shuffles[0]), cast::<_, __m256i>(plan.shifts[0]));
    let surplus = _mm_cvtsi32_si128(32 - width as i32);
    let ramp: __m256i = cast::<[i32; 8], _>(std::array::from_fn(|index| minimum.wrapping_mul(index as i32 + 1)));
    let last = _mm256_set1_epi32(7);
    let mut carry = _mm256_set1_epi32(first);
    let mut rest = bytes;
    for (done, slots) in out.iter_mut().enumerate() {
        if rest.len() < width + SLACK {
            return done;
        }
        let windows = _mm256_shuffle_epi8(_mm256_set_m128i(load(rest, plan.loads[1]), load(rest, 0)), shuffle);
        let mut values = _mm256_srl_epi32(_mm256_sllv_epi32(windows, shift), surplus);
        if SUMS {
            values = _mm256_add_epi32(values, _mm256_slli_si256::<4>(values));
            values = _mm256_add_epi32(values, _mm256_slli_si256::<8>(values));
            // The sum of the lower half goes to all of the upper one.
            let halves = _mm256_shuffle_epi32::<0xff>(values);
            values = _mm256_add_epi32(values, _mm256_permute2x128_si256::<0x08>(halves, halves));
            values = _mm256_add_epi32(values, ramp);
            // One addition is all that a group waits for the one before.
            let total = _mm256_permutevar8x32_epi32(values, last);
            values = _mm256_add_epi32(values, carry);
            carry = _mm256_add_epi32(carry, total);
        }
        *slots = cast(values);
        rest = &rest[width..];
    }
    out.len()
}

/// [`groups_32`] in lanes of 64 bits, up to [`WIDTH_MAX_64`] bits.
#[target_feature(enable = "avx2")]
pub(crate) fn groups_64<const SUMS: bool>(bytes: &[u8], width: usize, first: i64, minimum: i64, out: &mut [[i64; 8]]) -> usize {
    let plan = &PLANS_64[width];
    let (shuffles, shifts) = (plan.shuffles.map(cast::<_, __m256i>), plan.shifts.map(cast::<_, __m256i>));
    let surplus = _mm_cvtsi32_si128(64 - width as i32);
    let ramp: __m256i = cast::<[i64; 4], _>(std::array::from_fn(|index| minimum.wrapping_mul(index as i64 + 1)));
    let mut carry = _mm256_set1_epi64x(first);
    let mut rest = bytes;
    for (done, slots) in out.iter_mut().enumerate() {
        if rest.len() < width + SLACK {
            return done;
        }
        let halves = slots.as_chunks_mut::<4>().0.iter_mut();
        for (half, slots) in halves.enumerate() {
            let (low, high) = (load(rest, plan.loads[2 * half]), load(rest, plan.loads[2 * half + 1]));
            let windows = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), shuffles[half]);
            let mut values = _mm256_srl_epi64(_mm256_sllv_epi64(windows, shifts[half]), surplus);
            if SUMS {
                values = _mm256_add_epi64(values, _mm256_slli_si256::<8>(values));
                let pairs = _mm256_unpackhi_epi64(values, values);
                values = _mm256_add_epi64(values, _mm256_permute2x128_si256::<0x08>(pairs, pairs));
                values = _mm256_add_epi64(values, ramp);
                let total = _mm256_permute4x64_epi64::<0xff>(values);
                values = _mm256_add_epi64(values, carry);
                carry = _mm256_add_epi64(carry, total);
            }
            *slots = cast(values);
        }
        rest = &rest[width..];
    }
    out.len()
}

/// Sixteen bytes from `at` on.
#[inline(always)]
fn load(bytes: &[u8], at: usize) -> __m128i {
    cast(*bytes[at..].first_chunk::<16>().expect("a group has as many bytes as a load behind it"))
}
