//! After the first devices of a shape, a scan goes over any number of others without asking the allocator for anything.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::sync::Arc;

use support::open;
use tsloom_alloc_probe::{Probe, measure};
use tsloom_model::TimeRange;
use tsloom_scan::{ScanRequest, TableScan};

#[global_allocator]
static PROBE: Probe = Probe::new();

/// Scans all of a table; requests after the first `warm_up` blocks must be 0. Gives all requests.
fn check(file: &str, table: &str, request: &ScanRequest, warm_up: usize, device_count: u64) -> u64 {
    let reader = open(file).unwrap();
    let (mut scan, counts) = measure(|| TableScan::of_file(Arc::clone(&reader), table, request).unwrap());
    let mut requests = counts.requests();
    let mut blocks = 0;
    loop {
        let (more, counts) = measure(|| scan.next_block().unwrap().is_some());
        requests += counts.requests();
        if !more {
            break;
        }
        blocks += 1;
        assert!(blocks <= warm_up || counts.requests() == 0, "{file}, block {blocks}: {} requests", counts.requests());
    }
    let stats = scan.stats();
    assert_eq!((stats.block_builds, stats.devices), (1, device_count));
    requests
}

#[test]
fn the_next_device_allocates_nothing() {
    let all = ScanRequest::new().devices_apart(true);
    let first = check("java/table_30dev_x_20rows_x_16int64", "wide", &all, 1, 30);
    let many = check("cpp/devices600", "t", &all, 1, 600);
    assert!(first < 400 && many < 400, "{first} and {many} requests, opening included");
    check(
        "cpp/devices600",
        "t",
        &ScanRequest { time: TimeRange { start: 1_005, end: 2_000 }, ..all.clone().columns(["w"]) },
        1,
        600,
    );
    check("cpp/pages_chunks", "t", &all.clone().row_budget(64), 12, 2);
}
