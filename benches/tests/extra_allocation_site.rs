//! With feature `sites` the line of an allocation that creeps into a hot path is named.
//!
//! One test in a file of its own: the recording covers every thread of the process. The test profile has too little debug
//! information to tell whose a frame is; profile `sites` has enough.
#![cfg(all(feature = "sites", not(debug_assertions)))]

use std::hint::black_box;

use tsloom_alloc_probe::Probe;
use tsloom_benches::allocations;
use tsloom_benches::registry::{Case, Params, Result, Scenario};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[inline(never)]
fn creeps_in() -> Vec<u8> {
    black_box(vec![1_u8; 4_096])
}

fn wasteful(_: &Params) -> Result<Case> {
    Ok(Case::new(8, || Ok(creeps_in().len() as u64)))
}

#[test]
fn its_line_is_named() {
    let scenario = Scenario::new("test/one", "run", wasteful);
    let sites = allocations::sites(&scenario, &scenario.params_with(&[])).expect("the case does not fail");
    assert_eq!(sites.len(), 1, "{sites:?}");
    assert_eq!((sites[0].requests, sites[0].bytes), (1, 4_096));
    assert!(sites[0].site.contains("creeps_in") && sites[0].site.contains("extra_allocation_site.rs:"), "{sites:?}");
}
