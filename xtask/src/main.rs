//! Project chores: tidy, bench, alloc-report.
fn main() {}
