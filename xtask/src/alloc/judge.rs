//! The verdict on one scenario: its figures against its budget.

use super::budgets::{Budget, Budgets};
use super::{Measured, Site};
use crate::report::figure;

/// One scenario with its budget.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) measured: Measured,
    pub(super) budget: Option<Budget>,
}

/// How a scenario stands; everything but `Within` and `NotJudged` fails the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As budgeted: exactly, or under the ceiling of a threaded scenario.
    Within,
    /// More than budgeted.
    Over,
    /// Less than the exact budget, which would let it creep back.
    Below,
    /// N and 2N operations do not cost the same each.
    NotSteady,
    /// No budget in the file.
    NoBudget,
    /// As budgeted, but the budget does not say why it is not zero.
    NoReason,
    /// `--set` changed a parameter: no budget applies.
    NotJudged,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::Within => "within",
            Verdict::Over => "OVER",
            Verdict::Below => "BELOW",
            Verdict::NotSteady => "NOT STEADY",
            Verdict::NoBudget => "NO BUDGET",
            Verdict::NoReason => "NO REASON",
            Verdict::NotJudged => "-",
        }
    }

    pub(super) fn is_failure(self) -> bool {
        !matches!(self, Verdict::Within | Verdict::NotJudged)
    }
}

impl Row {
    /// Budgets hold for the default parameters only.
    pub(super) fn new(measured: Measured, budgets: &Budgets) -> Self {
        let budget = budgets.get(&measured.name).filter(|_| measured.is_default).cloned();
        Row { measured, budget }
    }

    pub(super) fn verdict(&self) -> Verdict {
        let measured = &self.measured;
        if !measured.is_steady {
            return Verdict::NotSteady;
        }
        if !measured.is_default {
            return Verdict::NotJudged;
        }
        let Some(budget) = &self.budget else {
            return Verdict::NoBudget;
        };
        let over = measured.allocs_per_op > budget.allocs || measured.bytes_per_op > budget.bytes;
        let below = measured.allocs_per_op < budget.allocs || measured.bytes_per_op < budget.bytes;
        match (over, below) {
            (true, _) => Verdict::Over,
            (false, true) if !measured.is_threaded => Verdict::Below,
            _ if budget.lacks_reason() => Verdict::NoReason,
            _ => Verdict::Within,
        }
    }

    /// What to say about a failure: the scenario, the budget, the figure, and where it comes from if that is known.
    pub(super) fn failures(&self, sites: &[Site]) -> Vec<String> {
        let measured = &self.measured;
        let name = &measured.name;
        let mut lines = match self.verdict() {
            Verdict::Within | Verdict::NotJudged => return Vec::new(),
            Verdict::Over => vec![format!("{name}: over budget: {}", self.comparison())],
            Verdict::Below => {
                let what = self.comparison();
                vec![format!("{name}: below budget: {what}; take the gain with `cargo xtask alloc-report --bless`")]
            }
            Verdict::NotSteady => vec![format!(
                "{name}: not steady: {} allocations and {} bytes per {} over {} operations, {} and {} over {}",
                figure(measured.steady_allocs_per_op),
                figure(measured.steady_bytes_per_op),
                measured.op,
                measured.steady_op_count,
                figure(measured.allocs_per_op),
                figure(measured.bytes_per_op),
                2 * measured.steady_op_count,
            )],
            Verdict::NoBudget => vec![format!(
                "{name}: no budget ({} allocations, {} bytes per {}): `cargo xtask alloc-report --filter {name} --bless`",
                figure(measured.allocs_per_op),
                figure(measured.bytes_per_op),
                measured.op
            )],
            Verdict::NoReason => {
                vec![format!("{name}: its budget is not zero and has no reason: add one in benches/budgets.toml")]
            }
        };
        let own_sites = sites.iter().filter(|site| site.name == *name);
        lines.extend(own_sites.map(|site| format!("    {} x {} bytes at {}", site.requests, site.bytes, site.site)));
        lines
    }

    fn comparison(&self) -> String {
        let measured = &self.measured;
        let (allocs, bytes) = self.budget.as_ref().map_or((0.0, 0.0), |budget| (budget.allocs, budget.bytes));
        let change = |actual: f64, budget: f64| {
            let sign = if actual >= budget { "+" } else { "-" };
            format!("budget {}, {sign}{}", figure(budget), figure((actual - budget).abs()))
        };
        format!(
            "{} allocations per {} ({}), {} bytes ({})",
            figure(measured.allocs_per_op),
            measured.op,
            change(measured.allocs_per_op, allocs),
            figure(measured.bytes_per_op),
            change(measured.bytes_per_op, bytes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Verdict};
    use crate::alloc::budgets::Budgets;
    use crate::alloc::tests::measured;
    use crate::alloc::{Measured, Site};

    fn row(one: Measured, budget: &str) -> Row {
        let budgets = Budgets::parse(&format!("[\"a/b\"]\n{budget}")).expect("a good budget");
        Row::new(one, &budgets)
    }

    const ONE: &str = "allocs = 1\nbytes = 100\nreason = \"the result\"\n";

    fn check(one: Measured, budget: &str, expected: Verdict) {
        let row = row(one, budget);
        assert_eq!(row.verdict(), expected);
        assert_eq!(row.failures(&[]).is_empty(), !expected.is_failure());
    }

    #[test]
    fn single_threaded_budgets_are_exact() {
        check(measured("a/b", 1.0, 100.0), ONE, Verdict::Within);
        check(measured("a/b", 2.0, 100.0), ONE, Verdict::Over);
        check(measured("a/b", 1.0, 101.0), ONE, Verdict::Over);
        check(measured("a/b", 0.5, 101.0), ONE, Verdict::Over);
        check(measured("a/b", 1.0, 99.0), ONE, Verdict::Below);
        check(measured("a/b", 0.0, 0.0), "allocs = 0\nbytes = 0\n", Verdict::Within);
    }

    #[test]
    fn threaded_budgets_are_ceilings() {
        let threaded = |allocs, bytes| Measured { is_threaded: true, ..measured("a/b", allocs, bytes) };
        check(threaded(0.5, 60.0), ONE, Verdict::Within);
        check(threaded(1.5, 60.0), ONE, Verdict::Over);
    }

    #[test]
    fn what_is_not_zero_has_a_reason_and_every_scenario_a_budget() {
        check(measured("a/b", 1.0, 100.0), "allocs = 1\nbytes = 100\nreason = \" \"\n", Verdict::NoReason);
        check(measured("a/c", 0.0, 0.0), ONE, Verdict::NoBudget);
    }

    #[test]
    fn changed_parameters_are_not_judged_unless_they_never_settle() {
        let set = Measured { is_default: false, ..measured("a/b", 9.0, 900.0) };
        check(set.clone(), ONE, Verdict::NotJudged);
        check(Measured { is_steady: false, ..set }, ONE, Verdict::NotSteady);
    }

    #[test]
    fn a_failure_names_scenario_budget_actual_and_call_site() {
        let site = |name: &str| Site {
            name: name.to_owned(),
            requests: 1,
            bytes: 112_904,
            site: "tsloom_tablet::wire::grow (crates/tablet/src/wire.rs:7:9)".to_owned(),
        };
        let row = row(measured("a/b", 2.0, 113_004.0), ONE);
        let expected = [
            "a/b: over budget: 2 allocations per tablet (budget 1, +1), 113,004 bytes (budget 100, +112,904)",
            "    1 x 112904 bytes at tsloom_tablet::wire::grow (crates/tablet/src/wire.rs:7:9)",
        ];
        assert_eq!(row.failures(&[site("a/b"), site("a/other")]), expected);
    }
}
