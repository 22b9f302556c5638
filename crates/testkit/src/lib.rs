//! Generators, fixtures and fault injection for tests.
//!
//! What it is: the tools that tests of several crates share. What it is not: part of what users get; nothing here is
//! reachable from the facade.
//!
//! - [`faults`]: a directory in memory that records every call, fails the one it is told to, and shows what a crash would
//!   have left at any moment.
//! - [`TabletGenerator`]: random tablets, with what breaks things at high odds.
//! - [`Random`]: small repeatable randomness; the seed is the name of the case.
#![forbid(unsafe_code)]

pub mod faults;
mod random;
mod tablets;

pub use random::Random;
pub use tablets::TabletGenerator;
