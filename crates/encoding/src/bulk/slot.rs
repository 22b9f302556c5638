//! A place for one byte, initialised or not.

use std::mem::MaybeUninit;

/// A place for one output byte: `u8`, or `MaybeUninit<u8>` of a vector's spare capacity.
///
/// It lets one safe kernel write both. Sealed: these two are all.
pub trait Slot: Copy + sealed::Sealed {
    /// The slot that holds `byte`.
    fn new(byte: u8) -> Self;

    /// The slots that hold `bytes`.
    fn array<const N: usize>(bytes: [u8; N]) -> [Self; N];

    /// Fills `out` with `bytes`. Both have the same length.
    fn copy(out: &mut [Self], bytes: &[u8]);
}

impl Slot for u8 {
    #[inline(always)]
    fn new(byte: u8) -> Self {
        byte
    }

    #[inline(always)]
    fn array<const N: usize>(bytes: [u8; N]) -> [Self; N] {
        bytes
    }

    #[inline(always)]
    fn copy(out: &mut [Self], bytes: &[u8]) {
        out.copy_from_slice(bytes);
    }
}

impl Slot for MaybeUninit<u8> {
    #[inline(always)]
    fn new(byte: u8) -> Self {
        Self::new(byte)
    }

    #[inline(always)]
    fn array<const N: usize>(bytes: [u8; N]) -> [Self; N] {
        bytes.map(Self::new)
    }

    #[inline(always)]
    fn copy(out: &mut [Self], bytes: &[u8]) {
        out.write_copy_of_slice(bytes);
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for std::mem::MaybeUninit<u8> {}
}
