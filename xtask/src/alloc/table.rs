//! The allocation report for a terminal.

use super::Site;
use super::judge::Row;
use crate::report::{Table, figure};

pub(super) fn render(rows: &[Row], sites: &[Site]) -> String {
    let mut table = Table::new(&[
        "scenario",
        "per",
        "allocs",
        "bytes",
        "peak",
        "budget allocs",
        "budget bytes",
        "upstream before",
        "after",
        "verdict",
    ]);
    let mut sources: Vec<&str> = Vec::new();
    for row in rows {
        let measured = &row.measured;
        let budget = |pick: fn(&super::budgets::Budget) -> f64| {
            row.budget.as_ref().map_or_else(|| "-".to_owned(), |budget| figure(pick(budget)))
        };
        let (before, after) = upstream(row);
        sources.extend(measured.upstream.iter().map(|upstream| upstream.source.as_str()));
        let name = if measured.is_default { measured.name.clone() } else { format!("{} ({})", measured.name, measured.params) };
        table.row([
            name,
            measured.op.clone(),
            figure(measured.allocs_per_op),
            figure(measured.bytes_per_op),
            figure(measured.peak_bytes as f64),
            budget(|budget| budget.allocs),
            budget(|budget| budget.bytes),
            before,
            after,
            row.verdict().word().to_owned(),
        ]);
    }
    let mut text = table.render();
    sources.sort_unstable();
    sources.dedup();
    for source in sources {
        text.push_str(&format!("upstream: {source}\n"));
    }
    for site in sites {
        text.push_str(&format!("{}: {} x {} bytes at {}\n", site.name, site.requests, site.bytes, site.site));
    }
    text
}

/// Bytes per operation, with requests before them where they are known: `12 / 4,096 B`.
fn upstream(row: &Row) -> (String, String) {
    let text = |allocs: Option<u64>, bytes: Option<u64>| match (allocs, bytes) {
        (Some(allocs), Some(bytes)) => format!("{} / {} B", figure(allocs as f64), figure(bytes as f64)),
        (Some(allocs), None) => figure(allocs as f64),
        (None, Some(bytes)) => format!("{} B", figure(bytes as f64)),
        (None, None) => "-".to_owned(),
    };
    match &row.measured.upstream {
        Some(upstream) => {
            (text(upstream.before_allocs, upstream.before_bytes), text(upstream.after_allocs, upstream.after_bytes))
        }
        None => ("-".to_owned(), "-".to_owned()),
    }
}
