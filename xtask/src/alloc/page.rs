//! The allocation report as one HTML page: bars of bytes and requests per operation, ours beside upstream's.

use super::Site;
use super::judge::Row;
use crate::report::{escape, figure, page};

pub(super) fn render(rows: &[Row], sites: &[Site]) -> String {
    let failed = rows.iter().filter(|row| row.verdict().is_failure()).count();
    let mut body = format!(
        "<p>{} scenarios, {failed} outside their budget. Requests and requested bytes of one operation in the steady \
         state; a reallocation is one request of its new size. Bars of one scenario share one scale.</p>\n",
        rows.len()
    );
    for row in rows {
        body.push_str(&section(row, sites));
    }
    page("tsloom: allocations", &body)
}

fn section(row: &Row, sites: &[Site]) -> String {
    let measured = &row.measured;
    let verdict = row.verdict();
    let class = if verdict.is_failure() { "verdict bad" } else { "verdict" };
    let name = escape(&measured.name);
    let mut text = format!(
        "<section data-scenario=\"{name}\">\n<span class=\"{class}\">{}</span>\n<h2>{name}</h2>\n\
         <small>per {}{}; peak {} bytes; {} bytes have to move</small>\n",
        verdict.word(),
        escape(&measured.op),
        if measured.params.is_empty() { String::new() } else { format!(", {}", escape(&measured.params)) },
        figure(measured.peak_bytes as f64),
        figure(measured.payload_size as f64),
    );

    let upstream = measured.upstream.as_ref();
    let budget = row.budget.as_ref();
    text.push_str(&bars(
        "bytes",
        &[
            ("tsloom", "ours", Some(measured.bytes_per_op)),
            ("upstream before", "before", upstream.and_then(|figures| figures.before_bytes).map(|bytes| bytes as f64)),
            ("upstream after", "after", upstream.and_then(|figures| figures.after_bytes).map(|bytes| bytes as f64)),
            ("budget", "budget", budget.map(|budget| budget.bytes)),
        ],
    ));
    text.push_str(&bars(
        "allocations",
        &[
            ("tsloom", "ours", Some(measured.allocs_per_op)),
            ("upstream before", "before", upstream.and_then(|figures| figures.before_allocs).map(|count| count as f64)),
            ("upstream after", "after", upstream.and_then(|figures| figures.after_allocs).map(|count| count as f64)),
            ("budget", "budget", budget.map(|budget| budget.allocs)),
        ],
    ));
    if let Some(reason) = budget.map(|budget| budget.reason.as_str()).filter(|reason| !reason.is_empty()) {
        text.push_str(&format!("<p>{}</p>\n", escape(reason)));
    }
    if let Some(upstream) = upstream {
        text.push_str(&format!("<small>upstream: {}</small>\n", escape(&upstream.source)));
    }
    for site in sites.iter().filter(|site| site.name == measured.name) {
        let line = format!("{} x {} bytes at {}", site.requests, site.bytes, site.site);
        text.push_str(&format!("<pre>{}</pre>\n", escape(&line)));
    }
    text.push_str("</section>\n");
    text
}

/// One bar for each figure that is known, all on the scale of the largest.
fn bars(unit: &str, figures: &[(&str, &str, Option<f64>)]) -> String {
    let largest = figures.iter().filter_map(|(_, _, value)| *value).fold(0.0, f64::max);
    let mut text = String::new();
    for (label, class, value) in figures {
        let Some(value) = value else {
            continue;
        };
        let percent = if largest > 0.0 { 100.0 * value / largest } else { 0.0 };
        text.push_str(&format!(
            "<div class=\"bar\"><span>{label}</span><i class=\"{class}\" style=\"width:{percent:.2}%\"></i><b>{} {unit}</b></div>\n",
            figure(*value)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::alloc::budgets::Budgets;
    use crate::alloc::judge::Row;
    use crate::alloc::tests::measured;
    use crate::alloc::{Measured, Upstream};

    #[test]
    fn every_scenario_is_on_the_page_with_its_bars() {
        let upstream = Upstream {
            source: "a<b".to_owned(),
            before_allocs: None,
            before_bytes: Some(400),
            after_allocs: None,
            after_bytes: Some(200),
        };
        let budgets = Budgets::parse("[\"a/b\"]\nallocs = 1\nbytes = 100\nreason = \"why\"\n").expect("a good file");
        let rows = [
            Row::new(Measured { upstream: Some(upstream), ..measured("a/b", 1.0, 100.0) }, &budgets),
            Row::new(measured("a/c", 0.0, 0.0), &budgets),
        ];
        let page = render(&rows, &[]);
        assert!(page.contains("data-scenario=\"a/b\"") && page.contains("data-scenario=\"a/c\""));
        assert!(page.contains("class=\"ours\" style=\"width:25.00%\""));
        assert!(page.contains("class=\"before\" style=\"width:100.00%\""));
        assert!(page.contains("class=\"after\" style=\"width:50.00%\""));
        assert!(page.contains("NO BUDGET") && page.contains("upstream: a&lt;b"));
    }
}
