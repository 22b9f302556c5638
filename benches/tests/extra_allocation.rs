//! An allocation that creeps into a hot path is counted.

use std::hint::black_box;

use tsloom_alloc_probe::Probe;
use tsloom_benches::allocations::count;
use tsloom_benches::registry::{Case, Params, Result, Scenario, Setup};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[inline(never)]
fn creeps_in() -> Vec<u8> {
    black_box(vec![1_u8; 4_096])
}

fn frugal(_: &Params) -> Result<Case> {
    Ok(Case::new(8, || Ok(black_box(7))))
}

fn wasteful(_: &Params) -> Result<Case> {
    Ok(Case::new(8, || Ok(creeps_in().len() as u64)))
}

/// Keeps everything: twice the memory at each doubling, so that operations do not cost the same.
fn hoarding(_: &Params) -> Result<Case> {
    let mut kept: Vec<u64> = Vec::new();
    Ok(Case::new(8, move || {
        kept.push(1);
        Ok(kept.len() as u64)
    }))
}

/// Allocations, bytes, peak, and whether the figures are steady.
fn counted(setup: Setup) -> (f64, f64, u64, bool) {
    let scenario = Scenario::new("test/one", "run", setup);
    let report = count(&scenario, &scenario.params_with(&[])).expect("the case does not fail");
    (report.allocs_per_op, report.bytes_per_op, report.peak_bytes, report.is_steady)
}

#[test]
fn one_more_allocation_shows_in_every_figure() {
    assert_eq!(counted(frugal), (0.0, 0.0, 0, true));
    assert_eq!(counted(wasteful), (1.0, 4_096.0, 4_096, true));
    assert!(!counted(hoarding).3);
}
