//! Benchmark and allocation scenarios.
