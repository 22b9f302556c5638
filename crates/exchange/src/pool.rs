//! Buffers that come back by themselves: [`BufferPool`].
//!
//! ```text
//! take(n) ──▶ BufferMut (n bytes, 64-byte aligned) ──freeze──▶ Buffer (shared, counted) ──last drop──▶ pool
//! ```
//!
//! Buffers are kept by size class (powers of two from 4 KiB to 1 MiB) as long as the pool is within its byte budget; larger ones are
//! allocated and freed one by one. The budget bounds what is out *and* what is kept: a pool without room answers with an error instead of
//! growing. What it is not: an allocator for small things; heads and control frames live on the stack or in reused vectors.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tsloom_model::{Error, ErrorKind, Grouped, Result};

const CLASS_MIN: usize = 4 << 10;
const CLASS_COUNT: usize = 9; // 4 KiB, 8 KiB, ... 1 MiB
const ALIGN: usize = 64;

/// Hands out aligned buffers and takes them back. Clones share one pool.
#[derive(Clone, Debug)]
pub struct BufferPool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    byte_budget: usize,
}

#[derive(Debug, Default)]
struct State {
    /// Free buffers of each class.
    free: [Vec<Vec<u8>>; CLASS_COUNT],
    /// Bytes of buffers that are out and of those that are kept.
    used_bytes: usize,
    kept_bytes: usize,
    peak_bytes: usize,
}

/// What a pool holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUsage {
    /// In buffers that somebody has.
    pub used_bytes: usize,
    /// In free buffers.
    pub kept_bytes: usize,
    /// The most that was ever out at once.
    pub peak_bytes: usize,
}

impl BufferPool {
    /// A pool that hands out at most `byte_budget` bytes at once.
    pub fn new(byte_budget: usize) -> Self {
        Self { shared: Arc::new(Shared { state: Mutex::default(), byte_budget }) }
    }

    /// A zeroed or reused buffer of exactly `len` bytes; its content is to be overwritten.
    ///
    /// # Errors
    /// `LimitExceeded` when the budget has no room for it; dropping buffers makes room.
    pub fn take(&self, len: usize) -> Result<BufferMut> {
        if len == 0 {
            return Ok(BufferMut { bytes: Vec::new(), range: 0..0, pool: None });
        }
        let class = class_of(len);
        let capacity = class.map_or_else(|| len.saturating_add(ALIGN), class_capacity);
        let bytes = self.shared.reserve(class, capacity, len)?;
        let bytes = bytes.unwrap_or_else(|| vec![0; capacity]);
        let start = bytes.as_ptr().align_offset(ALIGN).min(ALIGN - 1);
        Ok(BufferMut { bytes, range: start..start + len, pool: Some(Arc::clone(&self.shared)) })
    }

    /// What is out and what is kept.
    pub fn usage(&self) -> PoolUsage {
        let state = self.shared.state.lock();
        PoolUsage { used_bytes: state.used_bytes, kept_bytes: state.kept_bytes, peak_bytes: state.peak_bytes }
    }
}

impl Shared {
    /// Charges a buffer, and gives a kept one if there is one. Kept buffers of other classes make way for it.
    fn reserve(&self, class: Option<usize>, capacity: usize, len: usize) -> Result<Option<Vec<u8>>> {
        let mut state = self.state.lock();
        let used_bytes = state.used_bytes.saturating_add(capacity);
        if used_bytes > self.byte_budget {
            let message = format!(
                "no room for {} bytes in the buffer pool: {} of {} are in use",
                Grouped(len as u64),
                Grouped(state.used_bytes as u64),
                Grouped(self.byte_budget as u64)
            );
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let kept = class.and_then(|class| state.free[class].pop());
        if kept.is_some() {
            state.kept_bytes -= capacity;
        }
        state.used_bytes = used_bytes;
        state.peak_bytes = state.peak_bytes.max(used_bytes);
        let over = (used_bytes + state.kept_bytes).saturating_sub(self.byte_budget);
        state.drop_kept(over);
        Ok(kept)
    }

    fn give_back(&self, bytes: Vec<u8>) {
        let capacity = bytes.len();
        let class = (0..CLASS_COUNT).find(|&class| class_capacity(class) == capacity);
        let mut state = self.state.lock();
        state.used_bytes -= capacity;
        if let Some(class) = class {
            state.kept_bytes += capacity;
            state.free[class].push(bytes);
        }
    }
}

impl State {
    /// Frees kept buffers, the largest first, until at least `over` bytes are gone.
    fn drop_kept(&mut self, mut over: usize) {
        for class in (0..CLASS_COUNT).rev() {
            while over > 0 && self.free[class].pop().is_some() {
                let capacity = class_capacity(class);
                self.kept_bytes -= capacity;
                over = over.saturating_sub(capacity);
            }
        }
    }
}

fn class_of(len: usize) -> Option<usize> {
    (0..CLASS_COUNT).find(|&class| len <= CLASS_MIN << class)
}

/// Bytes that a buffer of the class allocates: its size and what alignment may cost.
fn class_capacity(class: usize) -> usize {
    (CLASS_MIN << class) + ALIGN
}

/// A buffer that one owner fills.
pub struct BufferMut {
    bytes: Vec<u8>,
    range: Range<usize>,
    pool: Option<Arc<Shared>>,
}

impl BufferMut {
    /// Shares the buffer from now on; it goes back to its pool when the last of its slices is gone. One small allocation.
    pub fn freeze(self) -> Buffer {
        if self.range.is_empty() { Buffer(Bytes::new()) } else { Buffer(Bytes::from_owner(self)) }
    }
}

impl AsRef<[u8]> for BufferMut {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

impl AsMut<[u8]> for BufferMut {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.range.clone()]
    }
}

impl Drop for BufferMut {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.give_back(std::mem::take(&mut self.bytes));
        }
    }
}

impl fmt::Debug for BufferMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufferMut({} bytes)", self.range.len())
    }
}

/// A shared buffer; slices of it are cheap and keep all of it alive.
#[derive(Clone, Default)]
pub struct Buffer(Bytes);

impl Buffer {
    /// A part of it, without copying.
    ///
    /// # Panics
    /// When the range is not inside, as slices do.
    pub fn slice(&self, range: Range<usize>) -> Bytes {
        self.0.slice(range)
    }

    /// All of it.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Bytes> for Buffer {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_come_back() {
        let pool = BufferPool::new(1 << 20);
        for len in [1, 63, 64, 4096, 4097, 300_000] {
            let mut buffer = pool.take(len).unwrap();
            assert_eq!((buffer.as_ref().len(), buffer.as_ref().as_ptr().align_offset(ALIGN)), (len, 0));
            buffer.as_mut().fill(7);
            let shared = buffer.freeze();
            let slice = shared.slice(0..1);
            drop(shared);
            assert!(pool.usage().used_bytes >= len);
            drop(slice);
            assert_eq!(pool.usage().used_bytes, 0);
        }
        let kept = pool.usage().kept_bytes;
        drop(pool.take(4096).unwrap());
        assert_eq!(pool.usage().kept_bytes, kept, "the kept buffer was used again");
    }

    #[test]
    fn the_budget_bounds_what_is_out_and_what_is_kept() {
        let pool = BufferPool::new(3 * class_capacity(0));
        let held: Vec<_> = (0..3).map(|_| pool.take(4096).unwrap()).collect();
        let error = pool.take(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert_eq!(error.to_string(), "no room for 1 bytes in the buffer pool: 12,480 of 12,480 are in use");
        drop(held);
        assert_eq!(pool.usage(), PoolUsage { used_bytes: 0, kept_bytes: 12_480, peak_bytes: 12_480 });
        let large = pool.take(8192).unwrap(); // two of the kept ones make way
        assert!(pool.usage().kept_bytes + pool.usage().used_bytes <= 12_480);
        drop(large);
        assert!(pool.take(usize::MAX).is_err());
        assert!(pool.take(0).unwrap().freeze().as_ref().is_empty());
    }
}
