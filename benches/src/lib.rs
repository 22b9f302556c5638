//! One registry of scenarios: what is timed, what is counted, and what is compared with peers.
//!
//! A [`Scenario`] has a name, a unit of work, parameters with defaults, upstream's figures where they are known,
//! and a function that sets it up and returns the [`Case`] to repeat. Three programs run the same cases:
//!
//! - `cargo bench -p tsloom-benches`: criterion, wall-clock time;
//! - `cargo xtask alloc-report`: requests and bytes per operation, against `budgets.toml`;
//! - `cargo xtask bench`: ours, a memory copy of the same bytes and the peers, in turn.
//!
//! So a scenario cannot exist in one and not in the others. [`data`] has the input, made by rules that are the same
//! in every language. How to add a scenario: `docs/benchmarks.md`.
//!
//! What it is not: the engine's tests. A case checks its result once, when it is set up, and is then only repeated.

#![forbid(unsafe_code)]

pub mod allocations;
pub mod arguments;
pub mod clock;
pub mod data;
pub mod files;
pub mod registry;
mod rules;
mod scenarios;

pub use registry::{Case, Params, Scenario, Upstream};
pub use scenarios::all;
