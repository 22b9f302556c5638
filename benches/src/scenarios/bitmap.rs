//! Bitmaps: "does this block have a null?", asked of 1,000 bitmaps so that a check is not lost in the clock.

use tsloom_bitmap::BitMap;

use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("bitmap/prefix64", "1,000 checks", |params| checks(params, 0, 64))
        .params(COUNT)
        .upstream(java(15_900, 32_000, 1_200, 0)),
    Scenario::new("bitmap/partial63", "1,000 checks", |params| checks(params, 1, 63))
        .params(COUNT)
        .upstream(java(15_400, 32_000, 15_000, 32_000)),
];

const COUNT: &[(&str, u64)] = &[("bitmaps", 1_000)];

const fn java(before_ns: u64, before_bytes: u64, after_ns: u64, after_bytes: u64) -> Upstream {
    Upstream {
        source: "apache/iotdb#18358 (Java), times 1,000",
        before: Figures { allocs: None, bytes: Some(before_bytes), ns: Some(before_ns) },
        after: Figures { allocs: None, bytes: Some(after_bytes), ns: Some(after_ns) },
    }
}

fn checks(params: &Params, start: usize, count: usize) -> Result<Case> {
    let bitmaps = vec![BitMap::new(64); params.count("bitmaps")?];
    Ok(Case::new(8 * bitmaps.len(), move || {
        let bitmaps = std::hint::black_box(&bitmaps);
        Ok(bitmaps.iter().filter(|bitmap| bitmap.any_marked(start, count)).count() as u64)
    }))
}
