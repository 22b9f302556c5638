//! The registry: every scenario, by area, in the order of the reports.

mod bitmap;
mod codec;
mod exchange;
mod file;
mod memtable;
mod page;
mod scan;
mod store;
mod tablet;

use crate::registry::Scenario;

/// All scenarios.
pub fn all() -> Vec<Scenario> {
    [
        tablet::SCENARIOS,
        page::SCENARIOS,
        bitmap::SCENARIOS,
        codec::SCENARIOS,
        memtable::SCENARIOS,
        file::SCENARIOS,
        scan::SCENARIOS,
        store::SCENARIOS,
        exchange::SCENARIOS,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn names_are_unique_and_have_an_area() {
        let mut names: Vec<&str> = all().iter().map(|one| one.name).collect();
        assert!(names.iter().all(|name| name.contains('/')), "{names:?}");
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    /// Each case runs, and gives the same checksum again: an operation starts from the same state every time. Long ones
    /// run with fewer rows.
    #[test]
    fn every_case_repeats() {
        for scenario in all() {
            let is_long = scenario.params.iter().any(|(name, rows)| *name == "rows" && *rows > 10_000);
            let fewer = is_long.then(|| ("rows".to_owned(), 2_500));
            let params = scenario.params_with(&Vec::from_iter(fewer));
            let outcome = scenario.set_up(&params).and_then(|mut case| Ok((case.run()?, case.run()?)));
            let (first, second) = outcome.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
            assert_eq!(first, second, "{}", scenario.name);
        }
    }
}
