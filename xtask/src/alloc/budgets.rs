//! `benches/budgets.toml`: what each scenario may cost, and why it costs anything.
//!
//! ```toml
//! ["tablet/to_bytes/1024x10"]
//! allocs = 1
//! bytes = 112904
//! reason = "the buffer that is returned"
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Measured;
use super::judge::Row;

/// What one operation may cost.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    pub(super) allocs: f64,
    pub(super) bytes: f64,
    #[serde(default)]
    pub(super) reason: String,
}

impl Budget {
    pub(super) fn lacks_reason(&self) -> bool {
        (self.allocs != 0.0 || self.bytes != 0.0) && self.reason.trim().is_empty()
    }
}

/// All budgets by scenario, in the order of names.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    budgets: BTreeMap<String, Budget>,
}

/// How far the blessed ceiling of a threaded scenario lies above what was counted.
const CEILING_ROOM: f64 = 1.25;

const HEAD: &str = "\
# What one operation of each scenario may ask of the allocator: requests and bytes, a reallocation being one request of
# its new size. Exact for single-threaded scenarios (less is a failure too: bless it, so that it cannot creep back), a
# ceiling for threaded ones. Whatever is not zero has a reason.
#
# `cargo xtask alloc-report` checks it, `cargo xtask alloc-report --bless` writes it and keeps the reasons.
";

impl Budgets {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let budgets = toml::from_str(text).map_err(|error| error.to_string())?;
        Ok(Budgets { budgets })
    }

    pub(super) fn get(&self, name: &str) -> Option<&Budget> {
        self.budgets.get(name)
    }

    /// Takes what was measured with default parameters as the budget. When everything was measured, budgets of
    /// scenarios that no longer exist go.
    pub(super) fn bless(&mut self, measured: &[Measured], is_whole: bool) {
        if is_whole {
            self.budgets.retain(|name, _| measured.iter().any(|one| one.name == *name));
        }
        for one in measured.iter().filter(|one| one.is_default) {
            let reason = self.budgets.remove(&one.name).map(|old| old.reason).unwrap_or_default();
            // A ceiling has some room: what threads do differs from run to run.
            let budget_of = |figure: f64| if one.is_threaded { (figure * CEILING_ROOM).ceil() } else { figure };
            let budget = Budget { allocs: budget_of(one.allocs_per_op), bytes: budget_of(one.bytes_per_op), reason };
            self.budgets.insert(one.name.clone(), budget);
        }
    }

    /// Budgets of scenarios that were not measured, when all were.
    pub(super) fn stale(&self, rows: &[Row]) -> Vec<String> {
        let is_measured = |name: &str| rows.iter().any(|row| row.measured.name == name);
        let stale = self.budgets.keys().filter(|name| !is_measured(name));
        stale.map(|name| format!("{name}: a budget without a scenario; take it out of benches/budgets.toml")).collect()
    }

    pub(super) fn to_toml(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, budget) in &self.budgets {
            let (allocs, bytes) = (budget.allocs, budget.bytes);
            // Writing to a string does not fail. `{}` gives a whole f64 without a decimal point, which TOML takes
            // for an integer and serde for an f64 again.
            let _ = write!(text, "\n[\"{name}\"]\nallocs = {allocs}\nbytes = {bytes}\n");
            if allocs != 0.0 || bytes != 0.0 || !budget.reason.is_empty() {
                let _ = writeln!(text, "reason = {}", toml::Value::from(budget.reason.as_str()));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Budgets, HEAD};
    use crate::alloc::Measured;
    use crate::alloc::judge::Row;
    use crate::alloc::tests::measured;

    const TWO: &str = "\n[\"a/one\"]\nallocs = 1.5\nbytes = 112904\nreason = 'a \"quoted\" reason'\n\
        \n[\"b/zero\"]\nallocs = 0\nbytes = 0\n";

    #[test]
    fn what_is_written_is_what_was_read() {
        let text = format!("{HEAD}{TWO}");
        assert_eq!(Budgets::parse(&text).map(|budgets| budgets.to_toml()), Ok(text));
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        assert!(Budgets::parse("[\"a/b\"]\nallocs = 1\nbites = 2\n").is_err());
    }

    #[test]
    fn blessing_keeps_reasons_and_drops_what_is_gone() {
        let mut budgets = Budgets::parse(TWO).expect("a good file");
        budgets.bless(&[measured("a/one", 2.0, 64.0)], false);
        let one = budgets.get("a/one").expect("it was blessed");
        assert_eq!((one.allocs, one.bytes, one.reason.as_str()), (2.0, 64.0, "a \"quoted\" reason"));
        assert!(budgets.get("b/zero").is_some(), "only what was measured may change under a filter");

        budgets.bless(&[measured("c/new", 3.0, 8.0)], true);
        assert!(budgets.get("a/one").is_none());
        assert!(budgets.get("c/new").is_some_and(super::Budget::lacks_reason));
    }

    #[test]
    fn a_threaded_scenario_gets_a_ceiling_with_room() {
        let mut budgets = Budgets::default();
        budgets.bless(&[Measured { is_threaded: true, ..measured("a/b", 10.0, 1_001.0) }], true);
        assert_eq!(budgets.get("a/b").map(|budget| (budget.allocs, budget.bytes)), Some((13.0, 1_252.0)));
    }

    #[test]
    fn changed_parameters_are_never_blessed() {
        let mut budgets = Budgets::parse(TWO).expect("a good file");
        let mut other = measured("a/one", 9.0, 9.0);
        other.is_default = false;
        budgets.bless(&[other], false);
        assert_eq!(budgets.get("a/one").map(|budget| budget.allocs), Some(1.5));
    }

    #[test]
    fn a_budget_without_a_scenario_is_named() {
        let budgets = Budgets::parse(TWO).expect("a good file");
        let rows = [Row::new(measured("a/one", 1.5, 112_904.0), &budgets)];
        let stale = budgets.stale(&rows);
        assert_eq!(stale.len(), 1);
        assert!(stale[0].starts_with("b/zero: a budget without a scenario"), "{stale:?}");
    }
}
