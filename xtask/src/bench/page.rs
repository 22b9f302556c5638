//! The bench report as one HTML page: times per operation, ours beside the copy and the peers.

use super::machine::Machine;
use super::stats::Spread;
use super::{Row, bytes, short};
use crate::report::{escape, page};

pub(super) fn render(machine: &Machine, rows: &[Row]) -> String {
    let mut body = format!(
        "<p>{} scenarios. Medians in nanoseconds per operation; the ratio is taken batch by batch, with its quartiles. \
         Bars of one scenario share one scale.</p>\n<p>{}</p>\n",
        rows.len(),
        escape(&machine.to_string())
    );
    for row in rows {
        body.push_str(&section(row));
    }
    page("tsloom: time", &body)
}

fn section(row: &Row) -> String {
    let name = escape(&row.name);
    let copy = &row.memcpy_ratio;
    let mut text = format!(
        "<section data-scenario=\"{name}\">\n<h2>{name}</h2>\n<small>per {} {}; {:.2} x the CPU time of a copy of its bytes ({:.2} to {:.2})</small>\n",
        escape(&row.op),
        escape(&row.params),
        copy.median,
        copy.low,
        copy.high
    );
    let others = row.peers.iter().map(|peer| peer.ns).chain(row.beside.as_ref().map(|beside| beside.ns));
    if let Some(count) = row.file_bytes {
        let theirs =
            row.peers.iter().filter_map(|peer| Some(format!("; {} {}: {}", peer.peer, peer.case, bytes(Some(peer.file_bytes?)))));
        text.push_str(&format!("<p>Bytes of files: {}{}</p>\n", bytes(Some(count)), escape(&theirs.collect::<String>())));
    }
    let largest = others.fold(row.ours_ns.max(row.memcpy_ns), f64::max);
    let mut bar = |label: &str, class: &str, ns: f64, note: &str| {
        let percent = 100.0 * ns / largest;
        text.push_str(&format!(
            "<div class=\"bar\"><span>{label}</span><i class=\"{class}\" style=\"width:{percent:.2}%\"></i><b>{} ns{note}</b></div>\n",
            short(ns)
        ));
    };
    bar("tsloom", "ours", row.ours_ns, "");
    bar("memory copy", "budget", row.memcpy_ns, "");
    if let Some(beside) = &row.beside {
        let Spread { low, median, high } = beside.ratio;
        bar(&escape(&beside.what), "budget", beside.ns, &format!(" (ours: {median:.2} x, {low:.2} to {high:.2})"));
    }
    for peer in &row.peers {
        let note = match (peer.ratio, peer.ratio_quartiles) {
            (Some(ratio), Some([low, high])) => format!(" ({ratio:.1} x, {low:.1} to {high:.1})"),
            _ => " (void: checksums differ)".to_owned(),
        };
        bar(&escape(&format!("{} {}", peer.peer, peer.case)), "after", peer.ns, &note);
    }
    for peer in &row.not_run {
        text.push_str(&format!("<p>{} {}: not run: {}</p>\n", peer.peer, escape(&peer.case), peer.why));
    }
    text.push_str("</section>\n");
    text
}
