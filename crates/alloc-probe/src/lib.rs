//! A counting global allocator for tests, benches and users' programs.
//!
//! "This call allocates nothing" is a claim; [`Probe`] is how it is checked. It forwards every request to
//! the system allocator and counts it twice: for the thread that asked, and for the whole process.
//!
//! ```
//! use tsloom_alloc_probe::{Probe, measure};
//!
//! #[global_allocator]
//! static PROBE: Probe = Probe::new();
//!
//! let mut out: Vec<u64> = Vec::with_capacity(1_000);
//! let ((), counts) = measure(|| out.extend(0..1_000));
//! assert_eq!(counts.requests(), 0);
//!
//! let (copy, counts) = measure(|| out.clone());
//! assert_eq!((counts.requests(), counts.bytes_requested), (1, 8_000));
//! # drop(copy);
//! ```
//!
//! What it counts is *requests*: `bytes_requested` is what was asked for, not what the system rounds it to,
//! and a reallocation is one request of its new size. So the counts of single-threaded code repeat exactly
//! from run to run and from machine to machine.
//!
//! What it is not: a profiler. It names no call sites, unless feature `sites` is on: then dhat's recording
//! allocator stands behind the probe and `sites::record` tells where the requests come from. That
//! build is slow and is a second binary, never the one that is timed or counted.

mod counts;
mod probe;
#[cfg(feature = "sites")]
pub mod sites;

pub use counts::{Counts, measure, thread, total};
pub use probe::Probe;
