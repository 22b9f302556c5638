//! `benches/bounds.toml`: what a scenario has to reach, and what its limit is.
//!
//! ```toml
//! ["tablet/write_into/1024x10"]
//! copy = 2.1                                          # at most so many times a copy of the bytes
//! limit = "one copy, and a walk over the text cells"  # what nobody can get below, and what stands between
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use super::run::{Row, Run};

/// One scenario's bounds; any number of them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bound {
    /// Nanoseconds of one operation, at most.
    ns: Option<f64>,
    /// Times a copy of the bytes that have to be moved, at most.
    copy: Option<f64>,
    /// Times the work of our own that stands beside, at most.
    beside: Option<f64>,
    /// Times another scenario, at most.
    #[serde(default)]
    scenario: BTreeMap<String, f64>,
    /// Times as fast as a peer, at least.
    #[serde(default)]
    peers: BTreeMap<String, f64>,
    /// What cannot be gone below, and what lies between.
    #[serde(default)]
    pub(super) limit: String,
}

#[derive(Debug)]
pub(super) struct Bounds(BTreeMap<String, Bound>);

/// A bound and how it was met.
pub(super) struct Verdict {
    /// Such as `<= 2.1 x copy`.
    pub(super) bound: String,
    pub(super) reached: f64,
    /// How far over the bound, as a part of it; nothing when within.
    pub(super) excess: f64,
}

impl Bounds {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Bound> {
        self.0.get(name)
    }
}

impl Bound {
    /// Each bound against the best of the run. A peer or scenario that the run does not have says nothing.
    pub(super) fn verdicts(&self, row: &Row, run: &Run) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let mut at_most = |what: &str, bound: Option<f64>, reached: Option<f64>| {
            if let (Some(bound), Some(reached)) = (bound, reached) {
                let excess = (reached / bound - 1.0).max(0.0);
                verdicts.push(Verdict { bound: format!("<= {bound} {what}"), reached, excess });
            }
        };
        at_most("ns", self.ns, Some(row.ours_best_ns));
        at_most("x copy", self.copy, Some(row.memcpy_best_ratio));
        at_most("x beside", self.beside, row.beside.as_ref().map(|beside| beside.best_ratio));
        for (name, bound) in &self.scenario {
            let other = run.scenarios.iter().find(|other| other.name == *name);
            at_most(&format!("x `{name}`"), Some(*bound), other.map(|other| row.ours_best_ns / other.ours_best_ns));
        }
        for (name, bound) in &self.peers {
            let ratio = row.peers.iter().find(|peer| peer.peer == *name).and_then(|peer| peer.ratio);
            if let Some(reached) = ratio {
                let excess = (bound / reached - 1.0).max(0.0);
                verdicts.push(Verdict { bound: format!(">= {bound} x {name}"), reached, excess });
            }
        }
        verdicts
    }
}
