//! With feature `sites` the recorder names the function and the line that asked.
#![cfg(feature = "sites")]

use std::hint::black_box;

use tsloom_alloc_probe::{Probe, measure, sites};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[inline(never)]
fn asks_for_a_megabyte() -> Vec<u8> {
    black_box(vec![1_u8; 1 << 20])
}

#[test]
fn a_request_is_traced_to_the_function_that_made_it() {
    for _ in 0..2 {
        let (kept, sites) = sites::record(|| (asks_for_a_megabyte(), asks_for_a_megabyte()));
        let own = |site: &sites::Site| site.own_frames().find(|frame| frame.contains("asks_for_a_megabyte")).map(str::to_owned);
        let ours: Vec<_> = sites.iter().filter(|site| own(site).is_some()).collect();
        assert_eq!(ours.iter().map(|site| site.requests).sum::<u64>(), 2, "{sites:#?}");
        assert_eq!(ours.iter().map(|site| site.bytes_requested).sum::<u64>(), 2 << 20);
        assert!(own(ours[0]).is_some_and(|frame| frame.contains("tests/sites.rs:")), "{ours:?}");
        drop(kept);
    }
    // Without a recording running, the counts are those of the plain probe.
    let (kept, counts) = measure(asks_for_a_megabyte);
    assert_eq!((counts.requests(), counts.bytes_requested), (1, 1 << 20));
    drop(kept);
}
