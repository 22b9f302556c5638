//! `cargo xtask instructions`: what one operation of the kernels costs in instructions, against `benches/instructions.toml`.
//!
//! Callgrind (of Valgrind) counts what the processor would do, so a busy machine changes nothing. One operation is counted,
//! after others have warmed it up. What it is not: time. An instruction that waits for memory counts as much as one that does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde::Deserialize;

use crate::report::{Table, figure};
use crate::root;

#[derive(Args)]
pub(crate) struct Instructions {
    /// Only kernels whose name contains this
    #[arg(long, value_name = "PART")]
    filter: Option<String>,
    /// Write what was counted into the baseline
    #[arg(long)]
    bless: bool,
    /// The baseline, instead of benches/instructions.toml
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
}

/// Where callgrind begins and ends to count; see `benches/src/bin/bench_worker.rs`.
const COUNTED: &str = "*counted_operation*";

#[derive(Debug, Deserialize)]
struct Baseline {
    /// How much more than its count a kernel may cost.
    tolerance_percent: f64,
    /// Scenarios, and the instructions of one operation.
    kernels: toml::Table,
}

impl Instructions {
    pub(crate) fn run(&self) -> Result<bool, String> {
        if self.baseline.is_none() && !counts_are_comparable() {
            eprintln!("instructions: not judged: the committed baseline is for processors with AVX2, this one has none");
            return Ok(true);
        }
        let path = self.baseline.clone().unwrap_or_else(|| root::repository().join("benches/instructions.toml"));
        let mut text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let baseline: Baseline = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let worker = build_worker()?;

        let mut table = Table::new(&["kernel", "", "instructions", "baseline", "change"]);
        let mut failures = Vec::new();
        for (name, known) in &baseline.kernels {
            if self.filter.as_ref().is_some_and(|part| !name.contains(part)) {
                continue;
            }
            let known = known.as_integer().filter(|count| *count >= 0).ok_or(format!("{name}: expected a count"))? as u64;
            let count = count(&worker, name)?;
            let percent = change_percent(count, known);
            table.row([name.clone(), String::new(), figure(count as f64), figure(known as f64), format!("{percent:+.2} %")]);
            if self.bless {
                text = text.replace(&line(name, known), &line(name, count));
            } else if percent > baseline.tolerance_percent {
                let tolerance = baseline.tolerance_percent;
                failures.push(format!("{name}: {count} instructions, {percent:+.2} % of {known} (tolerance {tolerance} %)"));
            }
        }
        print!("{}", table.render());
        if self.bless {
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        for failure in &failures {
            eprintln!("instructions: {failure}");
        }
        Ok(failures.is_empty())
    }
}

/// Kernels choose their code by what the processor has, and Valgrind knows AVX2 at most.
fn counts_are_comparable() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// The line of a kernel in the baseline.
fn line(name: &str, count: u64) -> String {
    format!("\"{name}\" = {count}\n")
}

fn change_percent(count: u64, known: u64) -> f64 {
    100.0 * (count as f64 - known as f64) / (known.max(1) as f64)
}

fn build_worker() -> Result<PathBuf, String> {
    let mut build = root::cargo();
    build.args(["build", "--quiet", "--release", "--package", "tsloom-benches", "--bin", "bench-worker"]);
    let status = build.status().map_err(|error| format!("{build:?}: {error}"))?;
    let worker = root::target().join("release/bench-worker");
    if status.success() { Ok(worker) } else { Err(format!("{build:?}: {status}")) }
}

fn count(worker: &Path, scenario: &str) -> Result<u64, String> {
    let out = root::target().join("instructions.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet", "--collect-atstart=no"]).arg(format!("--toggle-collect={COUNTED}"));
    valgrind.arg(format!("--callgrind-out-file={}", out.display()));
    valgrind.arg(worker).args(["--scenario", scenario, "--warmup-iterations", "4", "--once"]).stdout(Stdio::null());
    let status = valgrind.status().map_err(|error| format!("{valgrind:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{valgrind:?}: {status}"));
    }
    let profile = fs::read_to_string(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    match total(&profile) {
        Some(count) if count > 0 => Ok(count),
        _ => Err(format!("{scenario}: callgrind counted nothing in {COUNTED}")),
    }
}

/// The sum over a profile of callgrind.
fn total(profile: &str) -> Option<u64> {
    profile.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Baseline, change_percent, line, total};

    #[test]
    fn the_total_of_a_profile_is_found() {
        assert_eq!(total("# callgrind format\nevents: Ir\nfn=(1) a\n0 12\n\ntotals: 1234\n"), Some(1_234));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn a_change_is_told_in_percent_of_the_baseline() {
        assert_eq!([change_percent(102, 100), change_percent(95, 100), change_percent(3, 0)], [2.0, -5.0, 300.0]);
    }

    #[test]
    fn the_committed_baseline_has_a_dozen_kernels_each_on_its_own_line() {
        let path = crate::root::repository().join("benches/instructions.toml");
        let text = std::fs::read_to_string(path).expect("the baseline is there");
        let baseline: Baseline = toml::from_str(&text).expect("it is whole");
        assert!(baseline.kernels.len() >= 12 && baseline.tolerance_percent <= 5.0, "{baseline:?}");
        for (name, count) in &baseline.kernels {
            let count = count.as_integer().and_then(|count| u64::try_from(count).ok()).expect("a count");
            assert!(count > 0 && text.contains(&line(name, count)), "{name}");
        }
    }
}
