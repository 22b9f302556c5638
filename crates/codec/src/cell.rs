//! The fixed-width values that the bit-level encodings share, seen as plain bits.

/// A fixed-width value as its bits: two's complement or IEEE-754, zero-extended to 64.
pub(crate) trait Cell: Copy + Default {
    /// 32 or 64.
    const WIDTH: u32;
    /// Bytes of one value.
    const BYTES: usize = Self::WIDTH as usize / 8;

    /// The bits, zero-extended.
    fn to_bits(self) -> u64;

    /// The value with these bits; what is above `WIDTH` is dropped.
    fn from_bits(bits: u64) -> Self;
}

/// A [`Cell`] with wrapping arithmetic and an order.
pub(crate) trait Int: Cell {
    /// Difference that wraps at `WIDTH` bits.
    fn wrapping_diff(self, other: Self) -> Self;

    /// Sum that wraps at `WIDTH` bits.
    fn wrapping_sum(self, other: Self) -> Self;

    /// The same number in 64 bits.
    fn widen(self) -> i64;
}

macro_rules! integer {
    ($($type:ty as $unsigned:ty),*) => { $(
        impl Cell for $type {
            const WIDTH: u32 = <$type>::BITS;

            #[inline(always)]
            fn to_bits(self) -> u64 {
                u64::from(self as $unsigned)
            }

            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $type
            }
        }

        impl Int for $type {
            #[inline(always)]
            fn wrapping_diff(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn wrapping_sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn widen(self) -> i64 {
                i64::from(self)
            }
        }
    )* };
}

integer!(i32 as u32, i64 as u64);

impl Cell for f32 {
    const WIDTH: u32 = 32;

    #[inline(always)]
    fn to_bits(self) -> u64 {
        u64::from(f32::to_bits(self))
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
}

impl Cell for f64 {
    const WIDTH: u32 = 64;

    #[inline(always)]
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}
