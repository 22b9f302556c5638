//! Where the requests come from: a recording by dhat, read back as a list of call sites.
//!
//! Only one recording may run at a time in a process, and it covers all threads. Recording costs a stack walk
//! per request, so nothing measured in this build says anything about time. Names and lines need debug
//! information (`debug = "limited"`; line tables alone leave out the paths by which own frames are told from others).

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
    /// The frames of one's own code, innermost first: the first is the line to look at.
    pub fn own_frames(&self) -> impl Iterator<Item = &str> {
        self.frames.iter().map(String::as_str).filter(|frame| !is_foreign(frame))
    }
}

/// Whether a frame is of the standard library, of the recorder, or of a crate with a version in its folder's name.
fn is_foreign(frame: &str) -> bool {
    const CRATES: [&str; 7] = ["alloc::", "core::", "std::", "test::", "dhat::", "tsloom_alloc_probe::", "__rust"];
    let (function, file) = frame.rsplit_once(" (").unwrap_or((frame, ""));
    // `<type as trait>::function` belongs to the crate of the type, or of the trait when the type is of no crate (`u8`).
    let function = match function.split_once(" as ") {
        Some((own_type, of_trait)) if !own_type.contains("::") => of_trait,
        _ => function.trim_start_matches(['<', '&', '*', '[']),
    };
    let first_folder = file.split('/').next().unwrap_or(file);
    let version = first_folder.rsplit_once('-').map_or("", |(_, version)| version);
    CRATES.iter().any(|foreign| function.starts_with(foreign)) || version.starts_with(|first: char| first.is_ascii_digit())
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

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn own_frames_are_told_from_others() {
        let foreign = [
            "<alloc::alloc::Global as core::alloc::Allocator>::allocate (alloc/src/alloc.rs:429:14)",
            "alloc::raw_vec::RawVec<T,A>::with_capacity_in (src/raw_vec/mod.rs:177:20)",
            "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem (src/vec/spec_from_elem.rs:53:21)",
            "<alloc::vec::Vec<tsloom_model::Value>>::push (src/vec/mod.rs:1:1)",
            "tsloom_alloc_probe::sites::record (alloc-probe/src/sites.rs:44:18)",
            "bytes::bytes_mut::BytesMut::reserve (bytes-1.12.0/src/bytes_mut.rs:1:1)",
            "__rustc::__rust_alloc (???:0:0)",
        ];
        let own = [
            "tsloom_tablet::wire::<impl tsloom_tablet::tablet::Tablet>::to_bytes (tablet/src/wire.rs:77:19)",
            "<tsloom_scan::rows::Rows as core::iter::Iterator>::next (scan/src/rows.rs:1:1)",
            "sites::asks_for_a_megabyte (alloc-probe/tests/sites.rs:15:15)",
        ];
        assert_eq!(foreign.map(is_foreign), [true; 7]);
        assert_eq!(own.map(is_foreign), [false; 3]);
    }
}
