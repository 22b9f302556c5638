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
use std::mem::MaybeUninit;

use bytemuck::cast;

/// The widest values that are unpacked in lanes of 32 bits.
pub(crate) const WIDTH_MAX_32: usize = 25;
/// The widest values that are unpacked in lanes of 64 bits.
pub(crate) const WIDTH_MAX_64: usize = 57;
/// Bytes that the loads of a group of any width may reach: a power of two, which bounds where a load begins, and one load.
const WINDOW_32: usize = 16 + 15;
const WINDOW_64: usize = 64 + 15;

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
            // Even pairs in one vector, odd ones in the other, two pairs each.
            let load = value / 2;
            let place = load / 2 * 2 + value % 2;
            plan.loads[load] = load * 2 * width / 8;
            let mut byte = 0;
            while byte < 8 {
                plan.shuffles[load % 2][place * 8 + byte] = (bit / 8 - plan.loads[load] + 7 - byte) as u8;
                byte += 1;
            }
            plan.shifts[load % 2][place] = (bit % 8) as u64;
            value += 1;
        }
        width += 1;
    }
    plans
};

/// Unpacks groups of 1 to [`WIDTH_MAX_32`] bits; with `SUMS`, adds them up as `unpack_sums` says. Bytes that are missing read as zero.
#[target_feature(enable = "avx2")]
pub(crate) fn groups_32<const SUMS: bool>(
    bytes: &[u8],
    width: usize,
    first: i32,
    minimum: i32,
    out: &mut [[MaybeUninit<i32>; 8]],
) {
    let plan = &PLANS_32[width];
    let (shuffle, shift) = (cast::<_, __m256i>(plan.shuffles[0]), cast::<_, __m256i>(plan.shifts[0]));
    let surplus = _mm_cvtsi32_si128(32 - width as i32);
    let ramp: __m256i = cast::<[i32; 8], _>(std::array::from_fn(|index| minimum.wrapping_mul(index as i32 + 1)));
    let last = _mm256_set1_epi32(7);
    let mut carry = _mm256_set1_epi32(first);
    let mut rest = bytes;
    let mut padded = [0; WINDOW_32];
    for slots in out {
        let window = window(rest, &mut padded);
        let (low, high) = (load_32(window, 0), load_32(window, plan.loads[1]));
        let windows = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), shuffle);
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
        *slots = cast::<_, [i32; 8]>(values).map(MaybeUninit::new);
        rest = rest.get(width..).unwrap_or(&[]);
    }
}

/// [`groups_32`] in lanes of 64 bits, up to [`WIDTH_MAX_64`] bits.
#[target_feature(enable = "avx2")]
pub(crate) fn groups_64<const SUMS: bool>(
    bytes: &[u8],
    width: usize,
    first: i64,
    minimum: i64,
    out: &mut [[MaybeUninit<i64>; 8]],
) {
    let plan = &PLANS_64[width];
    let (shuffles, shifts) = (plan.shuffles.map(cast::<_, __m256i>), plan.shifts.map(cast::<_, __m256i>));
    let surplus = _mm_cvtsi32_si128(64 - width as i32);
    let nth = |n: i64| first.wrapping_add(minimum.wrapping_mul(n));
    // What comes to the sums of the even pairs 0, 1, 4, 5 and of the odd ones 2, 3, 6, 7 of a group, from all groups before.
    let mut even_base: __m256i = cast([nth(1), nth(2), nth(5), nth(6)]);
    let mut odd_base: __m256i = cast([nth(3), nth(4), nth(7), nth(8)]);
    let stride = _mm256_set1_epi64x(minimum.wrapping_mul(8));
    let mut rest = bytes;
    let mut padded = [0; WINDOW_64];
    for slots in out {
        let window = window(rest, &mut padded);
        let pairs = |half: usize| {
            let (low, high) = (load_64(window, plan.loads[half]), load_64(window, plan.loads[2 + half]));
            let windows = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), shuffles[half]);
            _mm256_srl_epi64(_mm256_sllv_epi64(windows, shifts[half]), surplus)
        };
        let (mut even, mut odd) = (pairs(0), pairs(1));
        if SUMS {
            even = _mm256_add_epi64(even, _mm256_slli_si256::<8>(even));
            odd = _mm256_add_epi64(odd, _mm256_slli_si256::<8>(odd));
            odd = _mm256_add_epi64(odd, _mm256_unpackhi_epi64(even, even));
            // The sum of the lower half goes to all of the upper one.
            let halves = _mm256_unpackhi_epi64(odd, odd);
            let lower = _mm256_permute2x128_si256::<0x08>(halves, halves);
            (even, odd) = (_mm256_add_epi64(even, lower), _mm256_add_epi64(odd, lower));
            // One addition is all that a group waits for the one before.
            let total = _mm256_add_epi64(_mm256_permute4x64_epi64::<0xff>(odd), stride);
            (even, odd) = (_mm256_add_epi64(even, even_base), _mm256_add_epi64(odd, odd_base));
            (even_base, odd_base) = (_mm256_add_epi64(even_base, total), _mm256_add_epi64(odd_base, total));
        }
        let in_order = [_mm256_permute2x128_si256::<0x20>(even, odd), _mm256_permute2x128_si256::<0x31>(even, odd)];
        *slots = cast::<_, [i64; 8]>(in_order).map(MaybeUninit::new);
        rest = rest.get(width..).unwrap_or(&[]);
    }
}

/// The bytes that the loads of a group reach, zeros past the end.
#[inline(always)]
fn window<'a, const N: usize>(rest: &'a [u8], padded: &'a mut [u8; N]) -> &'a [u8; N] {
    match rest.first_chunk() {
        Some(window) => window,
        None => {
            *padded = [0; N];
            padded[..rest.len()].copy_from_slice(rest);
            padded
        }
    }
}

/// Sixteen bytes from `at` on. The mask changes nothing; it tells the compiler so.
#[inline(always)]
fn load_32(window: &[u8; WINDOW_32], at: usize) -> __m128i {
    cast(*window[at % 16..].first_chunk::<16>().expect("the window is longer"))
}

/// As [`load_32`].
#[inline(always)]
fn load_64(window: &[u8; WINDOW_64], at: usize) -> __m128i {
    cast(*window[at % 64..].first_chunk::<16>().expect("the window is longer"))
}
