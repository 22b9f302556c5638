//! The allocator itself: the one module of this crate with `unsafe` in it.
//!
//! `GlobalAlloc` is an unsafe trait with unsafe methods, so there is no safe way to write this. The proof is
//! short because [`Probe`] adds nothing to the memory it hands out: each method passes its arguments on
//! unchanged to one inner allocator (`System`, or dhat's wrapper of it with feature `sites`), returns that
//! allocator's answer unchanged, and touches two sets of integer counters. Hence
//!
//! - the caller's promises (layout of non-zero size, pointer and layout from an earlier call) are exactly the
//!   promises the inner call needs, and it is always the same inner allocator that gets a pointer back;
//! - the counters never allocate, lock or unwind (see `counts`), so the allocator is not re-entered.

use std::alloc::{GlobalAlloc, Layout};

use crate::counts;

#[cfg(feature = "sites")]
use dhat::Alloc as Inner;
#[cfg(not(feature = "sites"))]
use std::alloc::System as Inner;

/// The counting allocator. Declare it once in a program:
///
/// ```
/// #[global_allocator]
/// static PROBE: tsloom_alloc_probe::Probe = tsloom_alloc_probe::Probe::new();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe;

impl Probe {
    /// The probe; all its state is in statics, so any number of values are the same probe.
    pub const fn new() -> Self {
        Probe
    }
}

#[expect(unsafe_code, reason = "an allocator is an unsafe trait; the module head proves each call")]
// SAFETY: every method forwards its arguments and its result unchanged (module head).
unsafe impl GlobalAlloc for Probe {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout of non-zero size; it is passed on unchanged.
        let pointer = unsafe { Inner.alloc(layout) };
        if !pointer.is_null() {
            counts::allocated(layout.size());
        }
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let pointer = unsafe { Inner.alloc_zeroed(layout) };
        if !pointer.is_null() {
            counts::allocated(layout.size());
        }
        pointer
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `pointer` came from this allocator with `layout`, hence from the
        // inner one, and that `new_size` is not zero and fits; all three are passed on unchanged.
        let new_pointer = unsafe { Inner.realloc(pointer, layout, new_size) };
        if !new_pointer.is_null() {
            counts::reallocated(layout.size(), new_size);
        }
        new_pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that `pointer` came from this allocator with `layout`, hence from the
        // inner one; it is not used again here.
        unsafe { Inner.dealloc(pointer, layout) };
        counts::freed(layout.size());
    }
}
