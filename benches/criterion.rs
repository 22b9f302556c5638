//! `cargo bench -p tsloom-benches [-- FILTER]`: every scenario of the registry under criterion.
//!
//! Wall-clock time with criterion's statistics, against its own last run. Nothing is set up for what the filter
//! leaves out. For a comparison with peers, or with a memory copy, use `cargo xtask bench`.

#![forbid(unsafe_code)]

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for scenario in tsloom_benches::all() {
        let mut case = None;
        let mut group = criterion.benchmark_group(scenario.name);
        group.bench_function(scenario.op, |bencher| {
            let case = case.get_or_insert_with(|| {
                let set_up = scenario.set_up(&scenario.params_with(&[]));
                set_up.unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
            });
            bencher.iter(|| case.run().unwrap_or_else(|error| panic!("{}: {error}", scenario.name)));
        });
        group.finish();
    }
    criterion.final_summary();
}
