//! Writing into the spare capacity of a buffer. The one place of this crate that needs `unsafe`.

use std::mem::MaybeUninit;

use bytes::BufMut;

/// Lets `write` fill the next `size` bytes of `out`, if they lie in one piece; else returns false.
///
/// `write` must fill all of them: the writers of this crate cut a place of exactly the right size and assert that nothing of it
/// is left.
pub(crate) fn fill(out: &mut impl BufMut, size: usize, write: impl FnOnce(&mut [MaybeUninit<u8>])) -> bool {
    let spare = out.chunk_mut();
    if spare.len() < size {
        return false;
    }
    #[expect(unsafe_code, reason = "`BufMut` hands out its spare bytes in no other way")]
    // SAFETY: the bytes are only written to, and only with `MaybeUninit::new`.
    let spare = unsafe { spare.as_uninit_slice_mut() };
    write(&mut spare[..size]);
    #[expect(unsafe_code, reason = "the buffer must learn that the bytes are there")]
    // SAFETY: `chunk_mut` is at least `size` long, as checked above, and `write` has filled its first `size` bytes: it
    // cuts the place piece by piece, fills each piece whole and asserts that no piece is left.
    unsafe {
        out.advance_mut(size);
    }
    true
}
