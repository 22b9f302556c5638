//! `docs/performance.md`.

use std::fmt::Write;

use super::bounds::{Bounds, Verdict};
use super::run::{Row, Run};
use crate::report::figure;

const HEAD: &str = "\
# Performance

<!-- Written by `cargo xtask performance RUN.json`. Change benches/bounds.toml or the code, and run it again. -->

How fast each scenario of `docs/benchmarks.md` is, how far from its bound and its limit, and why. Times are the best of the rounds, in
nanoseconds for one operation: a bound is about the work, and not about what else the machine did. `x copy` is our CPU time by that of
copying as many bytes as the operation has to move; `x beside` by the other work that `docs/benchmarks.md` names for it; a peer's
figure is its wall time by ours, batch by batch in the same run, with equal checksums. Sizes are those of the files written or read.
Bounds are for the reference machine, a processor with AVX2 at 3 GHz: one with AVX-512 copies three times as fast, and ratios to a copy
are a third higher there (`benches/record` has runs of both).

";

pub(super) fn render(run: &Run, bounds: &Bounds) -> String {
    let mut text = HEAD.to_owned();
    let machine = &run.machine;
    let _ = writeln!(
        text,
        "Run of {}: {}, {} cores at {:.2} GHz, {}, {}{}. A copy of 16 MB: {:.1} GB/s; 64 MB written and synced: {:.0} MB/s; load {:.2}.",
        machine.date,
        machine.cpu,
        machine.core_count,
        machine.clock_ghz,
        machine.system,
        machine.rustc,
        machine.versions.iter().map(|(name, version)| format!(", {name} {version}")).collect::<String>(),
        machine.memcpy_gb_per_s,
        machine.disk_write_mb_per_s,
        machine.load,
    );
    for area in areas(run) {
        let rows: Vec<&Row> = run.scenarios.iter().filter(|row| row.area() == area).collect();
        let _ = write!(text, "\n## {area}\n\n| scenario | per | ns | x copy | x beside | peers | bound | reached |\n");
        text.push_str("|---|---|---:|---:|---:|---|---|---|\n");
        for row in &rows {
            text.push_str(&line(row, run, bounds));
        }
        let mut limits =
            rows.iter().filter_map(|row| Some((row, bounds.get(&row.name)?))).filter(|(_, bound)| !bound.limit.is_empty());
        if let Some((row, bound)) = limits.next() {
            let _ = write!(text, "\nLimits, and what stands between:\n\n- `{}`: {}\n", row.name, bound.limit);
            for (row, bound) in limits {
                let _ = writeln!(text, "- `{}`: {}", row.name, bound.limit);
            }
        }
    }
    text
}

/// In the order of their first scenario.
fn areas(run: &Run) -> Vec<&str> {
    let mut areas: Vec<&str> = Vec::new();
    for row in &run.scenarios {
        if !areas.contains(&row.area()) {
            areas.push(row.area());
        }
    }
    areas
}

fn line(row: &Row, run: &Run, bounds: &Bounds) -> String {
    let verdicts = bounds.get(&row.name).map(|bound| bound.verdicts(row, run)).unwrap_or_default();
    let list = |cell: &dyn Fn(&Verdict) -> String| match verdicts.is_empty() {
        true => "-".to_owned(),
        false => verdicts.iter().map(cell).collect::<Vec<_>>().join("; "),
    };
    let peers: Vec<String> = row
        .peers
        .iter()
        .map(|peer| match peer.ratio {
            Some(ratio) => format!("{} {ratio:.1}{}", peer.peer, size(peer.file_bytes)),
            None => format!("{} void", peer.peer),
        })
        .collect();
    format!(
        "| `{}` | {} | {}{} | {:.2} | {} | {} | {} | {} |\n",
        row.name,
        row.op,
        figure(rounded(row.ours_best_ns)),
        size(row.file_bytes),
        row.memcpy_best_ratio,
        row.beside.as_ref().map_or_else(|| "-".to_owned(), |beside| format!("{:.2}", beside.best_ratio)),
        if peers.is_empty() { "-".to_owned() } else { peers.join(", ") },
        list(&|verdict| verdict.bound.clone()),
        list(&|verdict| reached(verdict)),
    )
}

/// The size of files, in parentheses, where there are any.
fn size(file_bytes: Option<u64>) -> String {
    file_bytes.map(|count| format!(" ({:.2} MB)", count as f64 / 1e6)).unwrap_or_default()
}

fn reached(verdict: &Verdict) -> String {
    let value = figure(rounded(verdict.reached));
    match verdict.excess {
        0.0 => format!("{value}, yes"),
        excess => format!("{value}, **{:.0} % over**", 100.0 * excess),
    }
}

/// To about three figures.
fn rounded(value: f64) -> f64 {
    let scale = if value.abs() < 100.0 { 100.0 } else { 1.0 };
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::performance::bounds::Bounds;
    use crate::performance::{history, run::Run};

    const RUN: &str = r#"{
        "machine": {"date": "2024-05-06", "cpu": "a chip", "core_count": 2, "clock_ghz": 2.5, "system": "Linux", "rustc": "rustc 1", "versions": {"peer": "3.4"},
            "memcpy_gb_per_s": 10.0, "disk_write_mb_per_s": 200.0, "load": 0.5},
        "scenarios": [
            {"name": "tablet/a", "op": "tablet", "params": "rows=8", "ours_ns": 2100.0, "ours_best_ns": 2000.0, "ours_cpu_ns": 2090.0,
             "memcpy_ns": 1000.0, "memcpy_best_ratio": 2.0, "beside": null, "peers": []},
            {"name": "scan/b", "op": "1,000 scans", "params": "", "ours_ns": 11.0, "ours_best_ns": 10.0, "ours_cpu_ns": 11.0, "memcpy_ns": 5.0,
             "memcpy_best_ratio": 2.0, "file_bytes": 1500000, "beside": {"what": "a loop", "best_ratio": 1.5}, "peers": [
                {"peer": "cpp", "ns": 1500.0, "ratio": 150.0, "checksum_equal": true, "file_bytes": 2250000},
                {"peer": "other", "ns": 15.0, "ratio": null, "checksum_equal": false}]}
        ]}"#;

    const BOUNDS: &str = r#"
        ["tablet/a"]
        copy = 2.1
        limit = "a copy"
        ["scan/b"]
        beside = 1.2
        peers = { cpp = 200, none = 3 }
        scenario = { "tablet/a" = 0.5 }
    "#;

    fn parsed() -> (Run, Bounds) {
        (serde_json::from_str(RUN).expect("a run"), Bounds::parse(BOUNDS).expect("bounds"))
    }

    #[test]
    fn each_bound_stands_beside_what_was_reached() {
        let (run, bounds) = parsed();
        let page = render(&run, &bounds);
        assert!(page.contains("Run of 2024-05-06: a chip, 2 cores at 2.50 GHz, Linux, rustc 1, peer 3.4. A copy"), "{page}");
        assert!(page.contains("| `tablet/a` | tablet | 2,000 | 2.00 | - | - | <= 2.1 x copy | 2, yes |"), "{page}");
        let bound = "<= 1.2 x beside; <= 0.5 x `tablet/a`; >= 200 x cpp";
        let reached = "1.5, **25 % over**; 0.01, yes; 150, **33 % over**";
        assert!(page.contains(&format!("cpp 150.0 (2.25 MB), other void | {bound} | {reached} |")), "{page}");
        assert!(page.contains("| `scan/b` | 1,000 scans | 10 (1.50 MB) |"), "{page}");
        assert!(page.contains("- `tablet/a`: a copy\n"), "{page}");
    }

    #[test]
    fn the_history_has_a_line_for_each_scenario_and_peer() {
        let csv = history::render(&parsed().0).expect("it is written");
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1], "tablet/a,tablet,rows=8,2100.00,2000.00,2090.00,1000.00,2.00,,,,,,,,");
        assert_eq!(
            lines[2],
            "scan/b,\"1,000 scans\",,11.00,10.00,11.00,5.00,2.00,a loop,1.50,1500000,cpp,1500.00,150.00,true,2250000"
        );
        assert_eq!(lines[3], "scan/b,\"1,000 scans\",,11.00,10.00,11.00,5.00,2.00,a loop,1.50,1500000,other,15.00,,false,");
    }

    /// A bound for a scenario that does not exist would never be looked at.
    #[test]
    fn a_misspelt_key_is_an_error() {
        assert!(Bounds::parse("[\"a\"]\ncopies = 2").is_err());
    }

    #[test]
    fn the_bounds_of_the_repository_can_be_read() {
        let path = crate::root::repository().join("benches/bounds.toml");
        Bounds::parse(&std::fs::read_to_string(path).expect("the file is there")).expect("its form is right");
    }
}
