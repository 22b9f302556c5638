//! Where the requests come from: a recording by dhat, read back as a list of call sites.
//!
//! Only one recording may run at a time in a process, and it covers all threads. Recording costs a stack walk
//! per request, so nothing measured in this build says anything about time. Line numbers need debug
//! information (`debug = "line-tables-only"` is enough).

use serde::Deserialize;

/// One place in the code that asked for memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Requests made from here.
    pub requests: u64,
    /// Bytes asked for from here.
    pub bytes_requested: u64,
    /// The call stack, innermost first, as `function (file:line:column)`.
    pub frames: Vec<String>,
}

impl Site {
    /// The innermost frame whose function name contains `part`: the line to look at in one's own code.
    pub fn innermost_in(&self, part: &str) -> Option<&str> {
        self.frames.iter().map(String::as_str).find(|frame| frame.contains(part))
    }
}

/// Runs `work` and lists the call sites of its requests, the one with the most bytes first.
///
/// # Panics
///
/// When another recording is running in this process.
pub fn record<R>(work: impl FnOnce() -> R) -> (R, Vec<Site>) {
    let mut profiler = dhat::Profiler::builder().trim_backtraces(Some(24)).build();
    let result = work();
    let json = profiler.drop_and_get_memory_output();
    // The recording ended above; dropping the profiler would end it a second time, which dhat treats as a bug.
    std::mem::forget(profiler);
    (result, parse(&json))
}

/// The part of dhat's file format (version 2) that matters here.
#[derive(Deserialize)]
struct Recording {
    pps: Vec<Point>,
    ftbl: Vec<String>,
}

#[derive(Deserialize)]
struct Point {
    /// Total bytes and total blocks.
    tb: u64,
    tbk: u64,
    /// Indices into `ftbl`, innermost first.
    fs: Vec<usize>,
}

fn parse(json: &str) -> Vec<Site> {
    let recording: Recording = serde_json::from_str(json).expect("dhat writes its own format");
    let frame = |index: &usize| strip_address(&recording.ftbl[*index]).to_owned();
    let mut sites: Vec<Site> = recording
        .pps
        .iter()
        .map(|point| Site { requests: point.tbk, bytes_requested: point.tb, frames: point.fs.iter().map(frame).collect() })
        .collect();
    sites.sort_by(|a, b| (b.bytes_requested, &a.frames).cmp(&(a.bytes_requested, &b.frames)));
    sites
}

/// `0x55e1: path::function (file:1:2)` without the address, which differs from run to run.
fn strip_address(frame: &str) -> &str {
    frame.split_once(": ").map_or(frame, |(_, rest)| rest)
}
