//! Counting what one operation asks of the allocator, and proving that it is the same for the next one.
//!
//! A case is warmed up, then repeated N and 2N times. Both runs must cost the same per operation within 1 %: what
//! grows with the number of operations is no steady state, and a figure per operation would mean nothing.

use serde::Serialize;
use tsloom_alloc_probe::{Counts, measure, total};

use crate::registry::{Case, Params, Result, Scenario, Upstream};

/// How much the two runs may differ.
const STEADY_TOLERANCE: f64 = 0.01;

/// The same where other threads work too: when they take over a memtable or join a sync differs from run to run.
const STEADY_TOLERANCE_THREADED: f64 = 0.3;

/// What one operation of a scenario costs. Figures per operation are rounded to 1/10,000.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The scenario.
    pub name: &'static str,
    /// What one operation is.
    pub op: &'static str,
    /// Parameters as `name=value`, separated by spaces.
    pub params: String,
    /// Whether `--set` changed a parameter: budgets do not hold then.
    pub is_default: bool,
    /// Whether the whole process was counted.
    pub is_threaded: bool,
    /// Requests per operation in the longer run.
    pub allocs_per_op: f64,
    /// Bytes asked for per operation in the longer run.
    pub bytes_per_op: f64,
    /// The most bytes that one operation held at once above what was held before it.
    pub peak_bytes: u64,
    /// Operations of the shorter run, and what they cost each.
    pub steady_op_count: u64,
    /// Requests per operation in the shorter run.
    pub steady_allocs_per_op: f64,
    /// Bytes asked for per operation in the shorter run.
    pub steady_bytes_per_op: f64,
    /// Whether both runs agree within 1 % (30 % where other threads work too: who waits for whom is not the same twice).
    pub is_steady: bool,
    /// Bytes that one operation has to move at least once.
    pub payload_size: usize,
    /// Upstream's figures, where known.
    pub upstream: Option<UpstreamReport>,
}

/// [`Upstream`] as it goes into a report.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UpstreamReport {
    source: &'static str,
    before_allocs: Option<u64>,
    before_bytes: Option<u64>,
    before_ns: Option<u64>,
    after_allocs: Option<u64>,
    after_bytes: Option<u64>,
    after_ns: Option<u64>,
}

impl From<Upstream> for UpstreamReport {
    fn from(upstream: Upstream) -> Self {
        UpstreamReport {
            source: upstream.source,
            before_allocs: upstream.before.allocs,
            before_bytes: upstream.before.bytes,
            before_ns: upstream.before.ns,
            after_allocs: upstream.after.allocs,
            after_bytes: upstream.after.bytes,
            after_ns: upstream.after.ns,
        }
    }
}

/// Sets the scenario up and counts it.
///
/// # Errors
///
/// What its setup or an operation meets.
///
/// # Panics
///
/// When the program has no [`Probe`](tsloom_alloc_probe::Probe) for its allocator.
pub fn count(scenario: &Scenario, params: &Params) -> Result<Report> {
    let mut case = scenario.set_up(params)?;
    for _ in 0..scenario.op_count {
        std::hint::black_box(case.run()?);
    }
    let once = run(scenario, &mut case, scenario.op_count)?;
    let twice = run(scenario, &mut case, 2 * scenario.op_count)?;
    let tolerance = if scenario.is_threaded { STEADY_TOLERANCE_THREADED } else { STEADY_TOLERANCE };
    Ok(Report {
        name: scenario.name,
        op: scenario.op,
        params: params.to_string(),
        is_default: *params == scenario.params_with(&[]),
        is_threaded: scenario.is_threaded,
        allocs_per_op: twice.allocs_per_op,
        bytes_per_op: twice.bytes_per_op,
        peak_bytes: once.peak_bytes.max(twice.peak_bytes),
        steady_op_count: scenario.op_count,
        steady_allocs_per_op: once.allocs_per_op,
        steady_bytes_per_op: once.bytes_per_op,
        is_steady: agree(once.allocs_per_op, twice.allocs_per_op, tolerance)
            && agree(once.bytes_per_op, twice.bytes_per_op, tolerance),
        payload_size: case.payload_size,
        upstream: scenario.upstream.map(UpstreamReport::from),
    })
}

struct PerOp {
    allocs_per_op: f64,
    bytes_per_op: f64,
    peak_bytes: u64,
}

fn run(scenario: &Scenario, case: &mut Case, op_count: u64) -> Result<PerOp> {
    let (mut requests, mut bytes, mut peak_bytes) = (0, 0, 0);
    for _ in 0..op_count {
        let (result, counts) = if scenario.is_threaded { measure_all(case) } else { measure(|| case.run()) };
        std::hint::black_box(result?);
        requests += counts.requests();
        bytes += counts.bytes_requested;
        peak_bytes = peak_bytes.max(counts.peak_bytes);
    }
    let per_op = |sum: u64| rounded(sum as f64 / op_count as f64);
    Ok(PerOp { allocs_per_op: per_op(requests), bytes_per_op: per_op(bytes), peak_bytes })
}

/// All threads. The peak is that of the whole process so far, less what was held: a ceiling, not an exact figure.
fn measure_all(case: &mut Case) -> (Result<u64>, Counts) {
    let before = total();
    let result = case.run();
    let mut counts = total() - before;
    counts.peak_bytes = counts.peak_bytes.saturating_sub(before.live_bytes.max(0) as u64);
    (result, counts)
}

fn rounded(figure: f64) -> f64 {
    (figure * 10_000.0).round() / 10_000.0
}

fn agree(once: f64, twice: f64, tolerance: f64) -> bool {
    (once - twice).abs() <= tolerance * once.max(twice)
}

/// The call sites of one operation in the steady state, as `(requests, bytes, frame)` with the frame nearest to the
/// work that is ours, the one with the most bytes first.
///
/// # Errors
///
/// As [`count`].
#[cfg(feature = "sites")]
pub fn sites(scenario: &Scenario, params: &Params) -> Result<Vec<SiteReport>> {
    let mut case = scenario.set_up(params)?;
    for _ in 0..scenario.op_count {
        std::hint::black_box(case.run()?);
    }
    let (result, sites) = tsloom_alloc_probe::sites::record(|| case.run());
    std::hint::black_box(result?);
    let reports = sites.into_iter().map(|site| {
        let in_engine = |frame: &&str| frame.contains("tsloom_") && !frame.contains("tsloom_benches");
        let frame = site.own_frames().find(in_engine).or(site.own_frames().next());
        let frame = frame.or(site.frames.first().map(String::as_str)).unwrap_or("unknown");
        SiteReport { name: scenario.name, requests: site.requests, bytes: site.bytes_requested, site: frame.to_owned() }
    });
    Ok(reports.collect())
}

/// One call site of one scenario.
#[cfg(feature = "sites")]
#[derive(Clone, Debug, Serialize)]
pub struct SiteReport {
    /// The scenario.
    pub name: &'static str,
    /// Requests in one operation.
    pub requests: u64,
    /// Bytes asked for in one operation.
    pub bytes: u64,
    /// `function (file:line:column)`.
    pub site: String,
}
