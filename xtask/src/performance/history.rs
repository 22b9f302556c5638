//! A run as CSV, one line for a scenario and peer: what `benches/record/DATE.csv` keeps.

use super::run::Run;

pub(super) fn render(run: &Run) -> Result<String, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record([
        "scenario",
        "per",
        "params",
        "ns",
        "best_ns",
        "cpu_ns",
        "copy_ns",
        "best_x_copy",
        "beside",
        "best_x_beside",
        "file_bytes",
        "peer",
        "peer_ns",
        "x_ours",
        "checksum_equal",
        "peer_file_bytes",
    ])?;
    for row in &run.scenarios {
        let number = |value: f64| format!("{value:.2}");
        let bytes = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        let (beside, ratio) = match &row.beside {
            Some(beside) => (beside.what.clone(), number(beside.best_ratio)),
            None => (String::new(), String::new()),
        };
        let ours = [
            row.name.clone(),
            row.op.clone(),
            row.params.clone(),
            number(row.ours_ns),
            number(row.ours_best_ns),
            number(row.ours_cpu_ns),
            number(row.memcpy_ns),
            number(row.memcpy_best_ratio),
            beside,
            ratio,
            bytes(row.file_bytes),
        ];
        if row.peers.is_empty() {
            out.write_record(ours.iter().map(String::as_str).chain([""; 5]))?;
        }
        for peer in &row.peers {
            let ratio = peer.ratio.map(number).unwrap_or_default();
            let theirs = [peer.peer.clone(), number(peer.ns), ratio, peer.checksum_equal.to_string(), bytes(peer.file_bytes)];
            out.write_record(ours.iter().chain(&theirs))?;
        }
    }
    let bytes = out.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
