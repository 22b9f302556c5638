//! Where the memory of blocks comes from and goes back to: slabs in size classes under a byte budget, and the
//! ledger that counts what one memtable holds.
//!
//! ```text
//! class sizes in bytes   8, 16, ... 128, then sixteen steps to each power of two: 136, 144, ... 256, 272, ... 512, 544, ...
//! ```
//!
//! A slab is charged with the size of its class, which is what was asked of the allocator. A slab out of the pool keeps its
//! old content: positions that were not written since are unreadable by construction, and debug builds poison them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::front::Front;

/// Bytes that a slab of `count` cells is charged with.
pub(crate) fn slab_bytes<T>(count: usize) -> usize {
    class_of(count * size_of::<T>()).1
}

/// Number and size of the class that holds `bytes`.
fn class_of(bytes: usize) -> (usize, usize) {
    if bytes <= 128 {
        let class = bytes.div_ceil(8).max(1);
        return (class, class * 8);
    }
    let exponent = (bytes - 1).ilog2();
    let step = 1_usize << (exponent - 4);
    let steps = (bytes - (1 << exponent)).div_ceil(step);
    (16 * (exponent as usize - 6) + steps, (1 << exponent) + steps * step)
}

/// Recycled slabs of all memtables of one store.
///
/// ```
/// use tsloom_memtable::SlabPool;
/// let pool = SlabPool::new(64 << 20);
/// assert_eq!(pool.held_bytes(), 0);
/// ```
#[derive(Debug)]
pub struct SlabPool {
    budget_bytes: usize,
    shelves: Mutex<Shelves>,
}

#[derive(Debug, Default)]
pub(crate) struct Shelves {
    words: Vec<Vec<Box<[u64]>>>,
    bools: Vec<Vec<Box<[bool]>>>,
    held_bytes: usize,
}

/// What a slab is made of.
pub(crate) trait Cell: Copy + Default {
    /// What debug builds fill a recycled slab with.
    const POISON: Self;
    /// The shelf of slabs of this kind.
    fn shelf(shelves: &mut Shelves) -> &mut Vec<Vec<Box<[Self]>>>;
}

impl Cell for u64 {
    const POISON: Self = 0xa5a5_a5a5_a5a5_a5a5;
    fn shelf(shelves: &mut Shelves) -> &mut Vec<Vec<Box<[Self]>>> {
        &mut shelves.words
    }
}

impl Cell for bool {
    const POISON: Self = true;
    fn shelf(shelves: &mut Shelves) -> &mut Vec<Vec<Box<[Self]>>> {
        &mut shelves.bools
    }
}

impl SlabPool {
    /// A pool that keeps at most `budget_bytes` of slabs nobody uses; 0 keeps none.
    pub fn new(budget_bytes: usize) -> Arc<Self> {
        Arc::new(Self { budget_bytes, shelves: Mutex::default() })
    }

    /// Bytes of the slabs that wait for use.
    pub fn held_bytes(&self) -> usize {
        self.shelves.lock().held_bytes
    }

    /// Gives every waiting slab back to the allocator.
    pub fn clear(&self) {
        let shelves = std::mem::take(&mut *self.shelves.lock());
        drop(shelves);
    }

    /// A slab of `count` cells that was used before, if there is one.
    fn take<T: Cell>(&self, count: usize) -> Option<Box<[T]>> {
        if self.budget_bytes == 0 {
            return None; // no lock for a pool that never holds anything
        }
        let (class, bytes) = class_of(count * size_of::<T>());
        let mut shelves = self.shelves.lock();
        let mut slab = T::shelf(&mut shelves).get_mut(class).and_then(Vec::pop)?;
        shelves.held_bytes -= bytes;
        drop(shelves);
        if cfg!(debug_assertions) {
            slab.fill(T::POISON);
        }
        Some(slab)
    }

    fn put<T: Cell>(&self, slab: Box<[T]>) {
        let (class, bytes) = class_of(size_of_val(&*slab));
        if self.budget_bytes == 0 {
            return;
        }
        let mut shelves = self.shelves.lock();
        if shelves.held_bytes + bytes > self.budget_bytes {
            drop(shelves);
            return;
        }
        shelves.held_bytes += bytes;
        let shelf = T::shelf(&mut shelves);
        if shelf.len() <= class {
            shelf.resize_with(class + 1, Vec::new);
        }
        shelf[class].push(slab);
    }
}

/// Bytes that one memtable holds, its snapshots included, and the pool they come from.
#[derive(Debug)]
pub(crate) struct Ledger {
    pool: Arc<SlabPool>,
    bytes: AtomicUsize,
}

impl Ledger {
    /// What a ledger takes itself, in its `Arc`.
    pub(crate) const BYTES: usize = size_of::<Self>() + 16;

    pub(crate) fn new(pool: Arc<SlabPool>) -> Arc<Self> {
        Arc::new(Self { pool, bytes: AtomicUsize::new(0) })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn charge(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }
}

/// Cells out of the pool, charged to a ledger for as long as they live.
#[derive(Debug)]
pub(crate) struct Slab<T: Cell> {
    cells: Box<[T]>,
    ledger: Arc<Ledger>,
}

impl<T: Cell> Slab<T> {
    /// At least `count` cells of unspecified content.
    pub(crate) fn new(ledger: &Arc<Ledger>, count: usize) -> Self {
        let fresh = || vec![T::default(); slab_bytes::<T>(count) / size_of::<T>()].into();
        let cells: Box<[T]> = ledger.pool.take(count).unwrap_or_else(fresh);
        ledger.charge(size_of_val(&*cells));
        Self { cells, ledger: Arc::clone(ledger) }
    }

    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }
}

impl<T: Cell> std::ops::Deref for Slab<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.cells
    }
}

impl<T: Cell> std::ops::DerefMut for Slab<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.cells
    }
}

impl<T: Cell> Drop for Slab<T> {
    fn drop(&mut self) {
        self.ledger.release(size_of_val(&*self.cells));
        self.ledger.pool.put(std::mem::take(&mut self.cells));
    }
}

impl Slab<u64> {
    /// At least `count` words, of which `fill` writes those that have to be something; `bytes` more are charged in the same
    /// step, which the caller releases.
    pub(crate) fn filled(ledger: &Arc<Ledger>, count: usize, bytes: usize, fill: impl FnOnce(&mut Front)) -> Self {
        let word_count = slab_bytes::<u64>(count) / size_of::<u64>();
        let mut front = ledger.pool.take(count).map_or_else(|| Front::with_room(word_count), Front::over);
        fill(&mut front);
        ledger.charge(8 * word_count + bytes);
        Self { cells: front.finish(word_count), ledger: Arc::clone(ledger) }
    }
}

/// Bytes outside the slabs, charged to a ledger for as long as they live.
#[derive(Debug)]
pub(crate) struct Charge {
    ledger: Arc<Ledger>,
    bytes: usize,
}

impl Charge {
    pub(crate) fn new(ledger: &Arc<Ledger>, bytes: usize) -> Self {
        ledger.charge(bytes);
        Self { ledger: Arc::clone(ledger), bytes }
    }

    /// Makes the charge `bytes`.
    #[inline]
    pub(crate) fn set(&mut self, bytes: usize) {
        if bytes == self.bytes {
            return;
        }
        if bytes > self.bytes {
            self.ledger.charge(bytes - self.bytes);
        } else {
            self.ledger.release(self.bytes - bytes);
        }
        self.bytes = bytes;
    }

    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.ledger.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_asked_for_and_waste_a_sixteenth() {
        let mut last = (0, 0);
        for bytes in 1..300_000 {
            let (class, size) = class_of(bytes);
            assert!(size >= bytes && size.is_multiple_of(8), "{bytes}: {size}");
            assert!(bytes <= 128 || size - bytes < bytes / 16 + 1, "{bytes}: {size}");
            assert!((class, size) == last || (class == last.0 + 1 && size > last.1), "{bytes}: class {class}");
            assert_eq!(class_of(size), (class, size));
            last = (class, size);
        }
    }

    #[test]
    fn the_sizes_of_the_published_scenarios_are_classes() {
        for bytes in [512, 800, 17_408, 73_728] {
            assert_eq!(class_of(bytes).1, bytes);
        }
    }

    #[test]
    fn slabs_come_back_up_to_the_budget() {
        let pool = SlabPool::new(1_000);
        let ledger = Ledger::new(Arc::clone(&pool));
        let slabs: Vec<Slab<u64>> = (0..3).map(|_| Slab::new(&ledger, 50)).collect();
        assert_eq!((ledger.bytes(), pool.held_bytes()), (3 * 400, 0));
        drop(slabs);
        assert_eq!((ledger.bytes(), pool.held_bytes()), (0, 2 * 400));
        let again: Slab<u64> = Slab::new(&ledger, 50);
        assert_eq!((ledger.bytes(), pool.held_bytes(), again.len()), (400, 400, 50));
        let bools: Slab<bool> = Slab::new(&ledger, 399);
        assert_eq!((ledger.bytes(), pool.held_bytes(), bools.len()), (800, 400, 400));
        pool.clear();
        assert_eq!(pool.held_bytes(), 0);
    }

    #[test]
    fn a_charge_follows_its_size() {
        let ledger = Ledger::new(SlabPool::new(0));
        let mut charge = Charge::new(&ledger, 10);
        charge.set(30);
        charge.set(5);
        assert_eq!(ledger.bytes(), 5);
        drop(charge);
        assert_eq!(ledger.bytes(), 0);
    }
}
