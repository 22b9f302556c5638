//! The counters: one set per thread in constant-initialised cells, one for the process in atomics.
//!
//! Nothing here allocates, because every line of it runs inside the allocator: thread locals without a
//! destructor and with a constant first value need no registration, and atomics need no lock.
//!
//! *Live* is signed. Memory may be freed by another thread than the one that asked for it, and a thread may
//! begin to be measured when it already holds memory; both can take a difference below zero.

use std::cell::Cell;
use std::fmt;
use std::ops::Sub;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// What was asked of the allocator, and what is still held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Fresh allocations, zeroed ones included.
    pub allocations: u64,
    /// Allocations that were resized.
    pub reallocations: u64,
    /// Bytes asked for: the size of each allocation and the *new* size of each reallocation.
    pub bytes_requested: u64,
    /// Bytes held now; in a difference, bytes held more (or, below zero, less) than at its start.
    pub live_bytes: i64,
    /// The most bytes held at once; in the result of [`measure`], above what was held at its start.
    pub peak_bytes: u64,
}

impl Counts {
    /// Allocations and reallocations together: how often the allocator was asked for memory.
    pub const fn requests(&self) -> u64 {
        self.allocations + self.reallocations
    }
}

/// The difference of two readings of the same counters. `peak_bytes` does not subtract: the later one stays.
impl Sub for Counts {
    type Output = Counts;

    fn sub(self, earlier: Counts) -> Counts {
        Counts {
            allocations: self.allocations - earlier.allocations,
            reallocations: self.reallocations - earlier.reallocations,
            bytes_requested: self.bytes_requested - earlier.bytes_requested,
            live_bytes: self.live_bytes - earlier.live_bytes,
            peak_bytes: self.peak_bytes,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} allocations, {} reallocations, {} bytes requested, {} live, {} at the peak",
            self.allocations, self.reallocations, self.bytes_requested, self.live_bytes, self.peak_bytes
        )
    }
}

struct ThreadCounts {
    allocations: Cell<u64>,
    reallocations: Cell<u64>,
    bytes_requested: Cell<u64>,
    live_bytes: Cell<i64>,
    /// Highest `live_bytes` since the thread began or the innermost `measure` did.
    peak_live: Cell<i64>,
}

thread_local! {
    static THREAD: ThreadCounts = const {
        ThreadCounts {
            allocations: Cell::new(0),
            reallocations: Cell::new(0),
            bytes_requested: Cell::new(0),
            live_bytes: Cell::new(0),
            peak_live: Cell::new(0),
        }
    };
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static REALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES_REQUESTED: AtomicU64 = AtomicU64::new(0);
static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);
static PEAK_LIVE: AtomicI64 = AtomicI64::new(0);

fn add(cell: &Cell<u64>, count: u64) {
    cell.set(cell.get().wrapping_add(count));
}

/// `size` bytes were allocated by this thread.
pub(crate) fn allocated(size: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    BYTES_REQUESTED.fetch_add(size as u64, Relaxed);
    THREAD.with(|thread| {
        add(&thread.allocations, 1);
        add(&thread.bytes_requested, size as u64);
    });
    held(size as i64);
}

/// An allocation of `old_size` bytes became one of `new_size` bytes.
pub(crate) fn reallocated(old_size: usize, new_size: usize) {
    REALLOCATIONS.fetch_add(1, Relaxed);
    BYTES_REQUESTED.fetch_add(new_size as u64, Relaxed);
    THREAD.with(|thread| {
        add(&thread.reallocations, 1);
        add(&thread.bytes_requested, new_size as u64);
    });
    held(new_size as i64 - old_size as i64);
}

/// `size` bytes were given back.
pub(crate) fn freed(size: usize) {
    held(-(size as i64));
}

/// Sizes fit an `i64`: a `Layout` is at most `isize::MAX` bytes.
fn held(change: i64) {
    let live = LIVE_BYTES.fetch_add(change, Relaxed) + change;
    if change > 0 {
        PEAK_LIVE.fetch_max(live, Relaxed);
    }
    THREAD.with(|thread| {
        let live = thread.live_bytes.get() + change;
        thread.live_bytes.set(live);
        if live > thread.peak_live.get() {
            thread.peak_live.set(live);
        }
    });
}

/// All requests of the process so far. Other threads may go on asking while the numbers are read.
pub fn total() -> Counts {
    Counts {
        allocations: ALLOCATIONS.load(Relaxed),
        reallocations: REALLOCATIONS.load(Relaxed),
        bytes_requested: BYTES_REQUESTED.load(Relaxed),
        live_bytes: LIVE_BYTES.load(Relaxed),
        peak_bytes: PEAK_LIVE.load(Relaxed).max(0) as u64,
    }
}

/// All requests of the current thread so far. Inside [`measure`] the peak is that of the measured part.
pub fn thread() -> Counts {
    THREAD.with(|thread| Counts {
        allocations: thread.allocations.get(),
        reallocations: thread.reallocations.get(),
        bytes_requested: thread.bytes_requested.get(),
        live_bytes: thread.live_bytes.get(),
        peak_bytes: thread.peak_live.get().max(0) as u64,
    })
}

/// Runs `work` and says what the current thread asked of the allocator meanwhile.
///
/// What `work` returns is still held when the counts are taken, so it is in `live_bytes`. Calls may be nested.
///
/// # Panics
///
/// When [`Probe`](crate::Probe) is not the program's global allocator: every count would be a false zero.
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, Counts) {
    assert_probe_counts();
    let outer_peak = PeakGuard::start();
    let before = thread();
    let result = work();
    let mut counts = thread() - before;
    counts.peak_bytes = outer_peak.above_start();
    (result, counts)
}

/// One allocation that must be seen, so that a forgotten `#[global_allocator]` cannot pass as "no allocation".
fn assert_probe_counts() {
    let before = thread();
    drop(std::hint::black_box(Box::new(0_u8)));
    assert!(
        thread().allocations > before.allocations,
        "nothing is counted: declare `#[global_allocator] static PROBE: Probe = Probe::new();` in this program"
    );
}

/// Lets a nested `measure` have a peak of its own, and gives the outer one back even when `work` panics.
struct PeakGuard {
    start_live: i64,
    outer_peak: i64,
}

impl PeakGuard {
    fn start() -> Self {
        THREAD.with(|thread| {
            let start_live = thread.live_bytes.get();
            let outer_peak = thread.peak_live.replace(start_live);
            PeakGuard { start_live, outer_peak }
        })
    }

    fn above_start(&self) -> u64 {
        THREAD.with(|thread| thread.peak_live.get() - self.start_live) as u64
    }
}

impl Drop for PeakGuard {
    fn drop(&mut self) {
        THREAD.with(|thread| {
            thread.peak_live.set(thread.peak_live.get().max(self.outer_peak));
        });
    }
}
