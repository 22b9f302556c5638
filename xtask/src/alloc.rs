//! `cargo xtask alloc-report`: what one operation of each scenario asks of the allocator, against its budget.
//!
//! The counting is done by programs of the benches (`alloc-report`, and `alloc-sites` for the call sites); here the
//! figures meet `benches/budgets.toml` and become a table, a page or JSON. The exit status says whether all is within.

mod budgets;
mod judge;
mod page;
mod table;

use std::fs;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::root;
use budgets::Budgets;
use judge::{Row, Verdict};

#[derive(Args)]
pub(crate) struct AllocReport {
    /// Only scenarios whose name contains this
    #[arg(long, value_name = "PART")]
    filter: Option<String>,
    /// Change a parameter, such as columns=3000; budgets are not applied to what it changes
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Name the call sites of what still allocates (a second, slower build)
    #[arg(long)]
    sites: bool,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the figures as JSON; `-` is standard output, which then holds nothing else
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write what was counted into the file of budgets; reasons are kept
    #[arg(long)]
    bless: bool,
    /// The file of budgets, instead of benches/budgets.toml
    #[arg(long, value_name = "FILE")]
    budgets: Option<PathBuf>,
}

/// What the counting program says of one scenario.
#[derive(Clone, Debug, Deserialize)]
struct Measured {
    name: String,
    op: String,
    params: String,
    is_default: bool,
    is_threaded: bool,
    allocs_per_op: f64,
    bytes_per_op: f64,
    peak_bytes: u64,
    steady_op_count: u64,
    steady_allocs_per_op: f64,
    steady_bytes_per_op: f64,
    is_steady: bool,
    payload_size: u64,
    upstream: Option<Upstream>,
}

/// Upstream's figures for the same work, before and after its own change.
#[derive(Clone, Debug, Deserialize)]
struct Upstream {
    source: String,
    before_allocs: Option<u64>,
    before_bytes: Option<u64>,
    after_allocs: Option<u64>,
    after_bytes: Option<u64>,
}

/// One call site that asked for memory in one operation.
#[derive(Clone, Debug, Deserialize)]
struct Site {
    name: String,
    requests: u64,
    bytes: u64,
    site: String,
}

impl AllocReport {
    pub(crate) fn run(&self) -> Result<bool, String> {
        let measured = self.measure()?;
        let is_whole = self.filter.is_none();
        let path = self.budgets.clone().unwrap_or_else(|| root::repository().join("benches/budgets.toml"));
        let mut budgets = Budgets::read(&path)?;
        if self.bless {
            budgets.bless(&measured, is_whole);
            fs::write(&path, budgets.to_toml()).map_err(|error| format!("{}: {error}", path.display()))?;
        }

        let rows: Vec<Row> = measured.into_iter().map(|one| Row::new(one, &budgets)).collect();
        let sites = if self.sites { self.find_sites(&rows)? } else { Vec::new() };
        let is_json_only = self.json.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if is_json_only {
            println!("{}", json(&rows)?);
        } else {
            print!("{}", table::render(&rows, &sites));
            if let Some(path) = &self.json {
                write(path, &json(&rows)?)?;
            }
        }
        if let Some(path) = &self.html {
            write(path, &page::render(&rows, &sites))?;
        }

        let mut failures: Vec<String> = rows.iter().flat_map(|row| row.failures(&sites)).collect();
        if is_whole {
            failures.extend(budgets.stale(&rows));
        }
        for failure in &failures {
            eprintln!("alloc-report: {failure}");
        }
        Ok(failures.is_empty())
    }

    fn measure(&self) -> Result<Vec<Measured>, String> {
        #[derive(Deserialize)]
        struct Output {
            scenarios: Vec<Measured>,
        }
        let mut command = root::benches_program("alloc-report");
        command.args(self.selection());
        Ok(root::json_of::<Output>(command)?.scenarios)
    }

    /// Asks the recording build about the scenarios that asked for memory at all.
    fn find_sites(&self, rows: &[Row]) -> Result<Vec<Site>, String> {
        #[derive(Deserialize)]
        struct Output {
            sites: Vec<Site>,
        }
        if rows.iter().all(|row| row.measured.allocs_per_op == 0.0) {
            return Ok(Vec::new());
        }
        let mut command = root::recording_benches_program("alloc-sites");
        command.args(self.selection());
        let mut sites = root::json_of::<Output>(command)?.sites;
        let root = format!("{}/", root::repository().display());
        for site in &mut sites {
            site.site = site.site.replace(&root, "");
        }
        Ok(sites)
    }

    fn selection(&self) -> Vec<String> {
        let filter = self.filter.iter().flat_map(|part| ["--filter".to_owned(), part.clone()]);
        let set = self.set.iter().flat_map(|pair| ["--set".to_owned(), pair.clone()]);
        filter.chain(set).collect()
    }
}

fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The form that others build on; its names do not change.
fn json(rows: &[Row]) -> Result<String, String> {
    #[derive(Serialize)]
    struct Line<'a> {
        name: &'a str,
        op: &'a str,
        allocs_per_op: serde_json::Value,
        bytes_per_op: serde_json::Value,
        peak_bytes: u64,
        budget_allocs: Option<serde_json::Value>,
        budget_bytes: Option<serde_json::Value>,
        within: bool,
    }
    #[derive(Serialize)]
    struct Document<'a> {
        scenarios: Vec<Line<'a>>,
    }
    let scenarios = rows
        .iter()
        .map(|row| Line {
            name: &row.measured.name,
            op: &row.measured.op,
            allocs_per_op: number(row.measured.allocs_per_op),
            bytes_per_op: number(row.measured.bytes_per_op),
            peak_bytes: row.measured.peak_bytes,
            budget_allocs: row.budget.as_ref().map(|budget| number(budget.allocs)),
            budget_bytes: row.budget.as_ref().map(|budget| number(budget.bytes)),
            within: matches!(row.verdict(), Verdict::Within | Verdict::Below | Verdict::NotJudged),
        })
        .collect();
    serde_json::to_string_pretty(&Document { scenarios }).map_err(|error| error.to_string())
}

/// A whole number without a decimal point, as people and budgets write it.
fn number(figure: f64) -> serde_json::Value {
    if figure.fract() == 0.0 && figure.abs() < 9e15 { (figure as i64).into() } else { figure.into() }
}

#[cfg(test)]
mod tests {
    use super::budgets::Budgets;
    use super::judge::Row;
    use super::{Measured, json};

    /// A measured scenario, as a starting point for tests.
    pub(super) fn measured(name: &str, allocs_per_op: f64, bytes_per_op: f64) -> Measured {
        Measured {
            name: name.to_owned(),
            op: "tablet".to_owned(),
            params: String::new(),
            is_default: true,
            is_threaded: false,
            allocs_per_op,
            bytes_per_op,
            peak_bytes: 7,
            steady_op_count: 64,
            steady_allocs_per_op: allocs_per_op,
            steady_bytes_per_op: bytes_per_op,
            is_steady: true,
            payload_size: 100,
            upstream: None,
        }
    }

    #[test]
    fn json_has_exactly_the_promised_names() {
        let budgets = Budgets::parse("[\"a/b\"]\nallocs = 1\nbytes = 10.5\nreason = \"r\"\n").expect("a good file");
        let rows = [Row::new(measured("a/b", 1.0, 10.5), &budgets), Row::new(measured("a/c", 2.0, 3.0), &budgets)];
        let expected = r#"{
  "scenarios": [
    {
      "name": "a/b",
      "op": "tablet",
      "allocs_per_op": 1,
      "bytes_per_op": 10.5,
      "peak_bytes": 7,
      "budget_allocs": 1,
      "budget_bytes": 10.5,
      "within": true
    },
    {
      "name": "a/c",
      "op": "tablet",
      "allocs_per_op": 2,
      "bytes_per_op": 3,
      "peak_bytes": 7,
      "budget_allocs": null,
      "budget_bytes": null,
      "within": false
    }
  ]
}"#;
        assert_eq!(json(&rows).as_deref(), Ok(expected));
    }
}
