//! Generators, fixtures and fault injection for tests.
//!
//! What it is: the tools that tests of several crates share. What it is not: part of what users get; nothing here is
//! reachable from the facade.
//!
//! - [`faults`]: a directory in memory that records every call, fails the one it is told to, and shows what a crash would
//!   have left at any moment.
//! - [`TabletGenerator`]: random tablets, with what breaks things at high odds.
//! - [`CountedReads`]: bytes that count how they are read.
//! - [`Random`]: small repeatable randomness; the seed is the name of the case.
#![forbid(unsafe_code)]

mod counted;
pub mod faults;
mod random;
mod tablets;

pub use counted::CountedReads;
pub use random::Random;
pub use tablets::TabletGenerator;
