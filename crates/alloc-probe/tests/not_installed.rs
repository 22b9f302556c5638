//! A program that forgot to install the probe is told so: a false zero would pass every allocation test.

#[test]
#[should_panic(expected = "nothing is counted")]
fn measuring_without_the_probe_panics() {
    tsloom_alloc_probe::measure(|| ());
}
