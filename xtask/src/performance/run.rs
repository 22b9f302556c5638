//! The JSON of a run, as far as the page and the history need it.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) machine: Machine,
    pub(super) scenarios: Vec<Row>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Machine {
    pub(super) date: String,
    pub(super) cpu: String,
    pub(super) core_count: usize,
    pub(super) clock_ghz: f64,
    pub(super) system: String,
    pub(super) rustc: String,
    #[serde(default)]
    pub(super) versions: BTreeMap<String, String>,
    pub(super) memcpy_gb_per_s: f64,
    pub(super) disk_write_mb_per_s: f64,
    pub(super) load: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) op: String,
    pub(super) params: String,
    pub(super) ours_ns: f64,
    pub(super) ours_best_ns: f64,
    pub(super) ours_cpu_ns: f64,
    pub(super) memcpy_ns: f64,
    pub(super) memcpy_best_ratio: f64,
    pub(super) file_bytes: Option<u64>,
    pub(super) beside: Option<Beside>,
    pub(super) peers: Vec<Peer>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Beside {
    pub(super) what: String,
    pub(super) best_ratio: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Peer {
    pub(super) peer: String,
    pub(super) ns: f64,
    /// The peer's time by ours; none where the checksums differ.
    pub(super) ratio: Option<f64>,
    pub(super) checksum_equal: bool,
    pub(super) file_bytes: Option<u64>,
}

impl Row {
    /// What the name begins with: the area that the scenario belongs to.
    pub(super) fn area(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(area, _)| area)
    }
}
