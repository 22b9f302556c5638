//! `cargo xtask bench`: how fast, and next to what.
//!
//! Each scenario runs in turn with a copy of the bytes it has to move and with the peers that do the same work, batch by
//! batch in one go. What is reported is the median, the spread, and above all the *ratio*, taken batch by batch: times of
//! one machine on one day say little elsewhere, ratios say more.

mod machine;
mod page;
mod peers;
mod side;
mod stats;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::report::{Table, figure};
use crate::root;
use machine::Machine;
use peers::Peer;
use side::{Batch, Side};
use stats::Spread;

#[derive(Args)]
pub(crate) struct Bench {
    /// Only scenarios whose name contains this
    #[arg(long, value_name = "PART")]
    filter: Option<String>,
    /// Change a parameter, such as columns=3000; also rounds, iterations and warmup-iterations
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Batches of each side
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// About how long a batch takes, in milliseconds
    #[arg(long, default_value_t = 20)]
    batch_ms: u64,
    /// Peers to run beside
    #[arg(long, value_enum, value_delimiter = ',')]
    peers: Vec<Peer>,
    /// The TsFile library for the peer `java`, with all that it needs
    #[arg(long, value_name = "JAR")]
    java_jar: Option<PathBuf>,
    /// Install and build the peers, then stop (unless something else is asked for)
    #[arg(long)]
    setup_peers: bool,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the figures as JSON; `-` is standard output, which then holds nothing else
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// One scenario as the worker lists it.
#[derive(Clone, Debug, Deserialize)]
struct Listed {
    name: String,
    op: String,
    params: String,
    is_default: bool,
    /// Peers and their names for the same work.
    peers: Vec<(String, String)>,
    beside: Option<String>,
}

/// What is published of one scenario. Times are nanoseconds per operation, medians over the rounds; the best of the rounds stands beside
/// them, because a bound is about the work and not about what else the machine did.
#[derive(Clone, Debug, Serialize)]
struct Row {
    name: String,
    op: String,
    params: String,
    ours_ns: f64,
    /// First and third quartile.
    ours_ns_quartiles: [f64; 2],
    ours_cpu_ns: f64,
    ours_best_ns: f64,
    memcpy_ns: f64,
    memcpy_best_ns: f64,
    /// Our best CPU time by the copy's best.
    memcpy_best_ratio: f64,
    /// Our CPU time by the copy's, batch by batch: neither waits for anything, and a busy machine disturbs it less.
    memcpy_ratio: Spread,
    /// Bytes that one operation has to move at least once.
    payload_bytes: u64,
    /// Bytes of the files that one operation writes or reads.
    file_bytes: Option<u64>,
    /// Other work of our own that it is held against.
    beside: Option<BesideRow>,
    peers: Vec<PeerRow>,
    not_run: Vec<NotRun>,
}

#[derive(Clone, Debug, Serialize)]
struct BesideRow {
    what: String,
    ns: f64,
    best_ns: f64,
    /// The scenario's CPU time by this, batch by batch.
    ratio: Spread,
    /// The scenario's best CPU time by the best of this.
    best_ratio: f64,
}

#[derive(Clone, Debug, Serialize)]
struct PeerRow {
    peer: &'static str,
    /// What the peer calls the work.
    case: String,
    ns: f64,
    cpu_ns: f64,
    /// The peer's time by ours: above 1 we are faster. Void when the checksums differ.
    ratio: Option<f64>,
    ratio_quartiles: Option<[f64; 2]>,
    checksum_equal: bool,
    file_bytes: Option<u64>,
}

/// A peer that was asked for and has the same work, but cannot do it here.
#[derive(Clone, Debug, Serialize)]
struct NotRun {
    peer: &'static str,
    case: String,
    why: &'static str,
}

#[derive(Serialize)]
struct Document<'a> {
    machine: &'a Machine,
    scenarios: &'a [Row],
}

impl Bench {
    pub(crate) fn run(&self) -> Result<bool, String> {
        if self.setup_peers {
            peers::set_up()?;
            if self.filter.is_none() && self.peers.is_empty() && self.json.is_none() && self.html.is_none() {
                return Ok(true);
            }
        }
        let settings = Settings::new(self)?;
        let data = root::bench_data();
        fs::create_dir_all(&data).map_err(|error| format!("{}: {error}", data.display()))?;
        let mut rows = Vec::new();
        for listed in settings.list(self.filter.as_deref())? {
            eprintln!("bench: {} {}", listed.name, listed.params);
            rows.push(settings.compare(&listed, &data)?);
        }
        let machine = Machine::examine(&data)?;
        let document = Document { machine: &machine, scenarios: &rows };
        let json = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
        match &self.json {
            Some(path) if path.as_os_str() == "-" => println!("{json}"),
            Some(path) => fs::write(path, json).map_err(|error| format!("{}: {error}", path.display()))?,
            None => print!("{}", table(&machine, &rows)),
        }
        if let Some(path) = &self.html {
            fs::write(path, page::render(&machine, &rows)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let mut is_good = true;
        for (row, peer) in rows.iter().flat_map(|row| row.peers.iter().map(move |peer| (row, peer))) {
            if !peer.checksum_equal {
                eprintln!("bench: {}: the checksum of {} differs from ours: the row is void", row.name, peer.peer);
                is_good = false;
            }
        }
        Ok(is_good)
    }
}

/// How to run a scenario: what `--set` and the other flags say, sorted out.
struct Settings {
    rounds: u64,
    worker_arguments: Vec<String>,
    set: Vec<String>,
    peers: Vec<Peer>,
    java_jar: Option<PathBuf>,
}

impl Settings {
    fn new(bench: &Bench) -> Result<Self, String> {
        let mut settings = Settings {
            rounds: bench.rounds,
            worker_arguments: vec!["--batch-ms".to_owned(), bench.batch_ms.to_string()],
            set: Vec::new(),
            peers: bench.peers.clone(),
            java_jar: bench.java_jar.as_deref().map(peers::checked_jar).transpose()?.map(Path::to_path_buf),
        };
        for pair in &bench.set {
            let (name, value) = pair.split_once('=').ok_or_else(|| format!("--set {pair}: expected NAME=VALUE"))?;
            match name {
                "rounds" => settings.rounds = count(pair, value, 1)?,
                "iterations" | "warmup-iterations" => {
                    let least = u64::from(name == "iterations");
                    settings.worker_arguments.extend([format!("--{name}"), count(pair, value, least)?.to_string()]);
                }
                _ => settings.set.extend(["--set".to_owned(), pair.clone()]),
            }
        }
        Ok(settings)
    }

    fn list(&self, filter: Option<&str>) -> Result<Vec<Listed>, String> {
        #[derive(Deserialize)]
        struct Output {
            scenarios: Vec<Listed>,
        }
        let mut command = root::benches_program("bench-worker");
        command.arg("--list").args(&self.set);
        if let Some(part) = filter {
            command.args(["--filter", part]);
        }
        Ok(root::json_of::<Output>(command)?.scenarios)
    }

    fn compare(&self, listed: &Listed, data: &Path) -> Result<Row, String> {
        let mut worker = root::benches_program("bench-worker");
        worker.args(["--scenario", &listed.name]).args(&self.worker_arguments).args(&self.set);
        let mut ours = Side::start(worker)?;
        // Our side writes the files that all sides read, so its first batch comes before the others start.
        ours.ask("round")?;
        let (mut others, mut not_run) = (Vec::new(), Vec::new());
        for (peer, case) in self.peers_of(listed) {
            if !listed.is_default {
                not_run.push(NotRun { peer: peer.name(), case, why: "peers know the default parameters only" });
            } else if let Some(command) = peer.command(&case, data, self.java_jar.as_deref())? {
                let mut side = Side::start(command)?;
                side.ask("round")?;
                others.push((peer, case, side, Vec::new()));
            } else {
                not_run.push(NotRun { peer: peer.name(), case, why: "no jar given" });
            }
        }

        let (mut our_batches, mut copies, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            our_batches.push(ours.ask("round")?);
            copies.push(ours.ask("copy")?);
            if listed.beside.is_some() {
                beside.push(ours.ask("beside")?);
            }
            for (_, _, side, batches) in &mut others {
                batches.push(side.ask("round")?);
            }
        }
        let peers = others.into_iter().map(|(peer, case, _, batches)| PeerRow::new(peer, case, &batches, &our_batches)).collect();
        Ok(Row { peers, not_run, ..Row::new(listed, &our_batches, &copies, &beside) })
    }

    /// The peers that were asked for and do this work, in the order of the command line, with their names for it.
    fn peers_of(&self, listed: &Listed) -> Vec<(Peer, String)> {
        let cases_of = |peer: Peer| {
            listed.peers.iter().filter(move |(name, _)| name == peer.name()).map(move |(_, case)| (peer, case.clone()))
        };
        self.peers.iter().copied().flat_map(cases_of).collect()
    }
}

/// A count of the run itself: of no rounds and no iterations there is no median, and no checksum that could differ.
fn count(pair: &str, value: &str, least: u64) -> Result<u64, String> {
    let count = value.parse().ok().filter(|count| *count >= least);
    count.ok_or_else(|| format!("--set {pair}: expected a whole number from {least}"))
}

impl Row {
    fn new(listed: &Listed, ours: &[Batch], copies: &[Batch], beside: &[Batch]) -> Self {
        let spread = Spread::of(ours.iter().map(Batch::ns_per_op));
        let best_of = |batches: &[Batch], ns: fn(&Batch) -> f64| batches.iter().map(ns).fold(f64::INFINITY, f64::min);
        Row {
            name: listed.name.clone(),
            op: listed.op.clone(),
            params: listed.params.clone(),
            ours_ns: spread.median,
            ours_ns_quartiles: [spread.low, spread.high],
            ours_cpu_ns: Spread::of(ours.iter().map(Batch::cpu_ns_per_op)).median,
            ours_best_ns: best_of(ours, Batch::ns_per_op),
            memcpy_ns: Spread::of(copies.iter().map(Batch::ns_per_op)).median,
            memcpy_best_ns: best_of(copies, Batch::ns_per_op),
            memcpy_best_ratio: best_of(ours, Batch::cpu_ns_per_op) / best_of(copies, Batch::cpu_ns_per_op),
            memcpy_ratio: cpu_ratio(ours, copies),
            payload_bytes: ours.last().map_or(0, |batch| batch.payload_bytes),
            file_bytes: ours.last().and_then(|batch| batch.file_bytes),
            beside: listed.beside.clone().map(|what| BesideRow {
                what,
                ns: Spread::of(beside.iter().map(Batch::ns_per_op)).median,
                best_ns: best_of(beside, Batch::ns_per_op),
                ratio: cpu_ratio(ours, beside),
                best_ratio: best_of(ours, Batch::cpu_ns_per_op) / best_of(beside, Batch::cpu_ns_per_op),
            }),
            peers: Vec::new(),
            not_run: Vec::new(),
        }
    }
}

fn cpu_ratio(ours: &[Batch], others: &[Batch]) -> Spread {
    Spread::of(ours.iter().zip(others).map(|(ours, other)| ours.cpu_ns_per_op() / other.cpu_ns_per_op()))
}

impl PeerRow {
    fn new(peer: Peer, case: String, batches: &[Batch], ours: &[Batch]) -> Self {
        let ratio = Spread::of(batches.iter().zip(ours).map(|(peer, ours)| peer.ns_per_op() / ours.ns_per_op()));
        let checksum_equal = batches.iter().zip(ours).all(|(peer, ours)| peer.checksum == ours.checksum);
        PeerRow {
            peer: peer.name(),
            case,
            ns: Spread::of(batches.iter().map(Batch::ns_per_op)).median,
            cpu_ns: Spread::of(batches.iter().map(Batch::cpu_ns_per_op)).median,
            ratio: checksum_equal.then_some(ratio.median),
            ratio_quartiles: checksum_equal.then_some([ratio.low, ratio.high]),
            checksum_equal,
            file_bytes: batches.last().and_then(|batch| batch.file_bytes),
        }
    }
}

/// The first of the columns about a peer.
const PEER: usize = 15;

fn table(machine: &Machine, rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "scenario",
        "per",
        "bytes",
        "files",
        "ns",
        "quartiles",
        "best",
        "CPU ns",
        "copy ns",
        "x copy",
        "best",
        "beside",
        "its ns",
        "x it",
        "best",
        "peer",
        "peer ns",
        "x ours",
        "its files",
    ]);
    for row in rows {
        let [low, high] = row.ours_ns_quartiles;
        let beside = row.beside.as_ref();
        let mut cells = [
            row.name.clone(),
            row.op.clone(),
            figure(row.payload_bytes as f64),
            bytes(row.file_bytes),
            short(row.ours_ns),
            format!("{}..{}", short(low), short(high)),
            short(row.ours_best_ns),
            short(row.ours_cpu_ns),
            short(row.memcpy_ns),
            format!("{:.2}", row.memcpy_ratio.median),
            format!("{:.2}", row.memcpy_best_ratio),
            beside.map_or_else(|| "-".to_owned(), |beside| beside.what.clone()),
            beside.map_or_else(|| "-".to_owned(), |beside| short(beside.ns)),
            beside.map_or_else(|| "-".to_owned(), |beside| format!("{:.2}", beside.ratio.median)),
            beside.map_or_else(|| "-".to_owned(), |beside| format!("{:.2}", beside.best_ratio)),
            "-".to_owned(),
            "-".to_owned(),
            "-".to_owned(),
            "-".to_owned(),
        ];
        if row.peers.is_empty() && row.not_run.is_empty() {
            table.row(cells);
            continue;
        }
        for peer in &row.peers {
            cells[PEER] = format!("{} {}", peer.peer, peer.case);
            cells[PEER + 1] = short(peer.ns);
            cells[PEER + 2] = match (peer.ratio, peer.ratio_quartiles) {
                (Some(ratio), Some([low, high])) => format!("{ratio:.2} ({low:.2}..{high:.2})"),
                _ => "void".to_owned(),
            };
            cells[PEER + 3] = bytes(peer.file_bytes);
            table.row(cells.clone());
        }
        for peer in &row.not_run {
            cells[PEER] = format!("{} {}", peer.peer, peer.case);
            cells[PEER + 1] = "-".to_owned();
            cells[PEER + 2] = format!("not run: {}", peer.why);
            cells[PEER + 3] = "-".to_owned();
            table.row(cells.clone());
        }
    }
    format!("{}{machine}\n", table.render())
}

/// Bytes of files, where there are any.
fn bytes(count: Option<u64>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| figure(count as f64))
}

/// Nanoseconds with about three figures.
fn short(ns: f64) -> String {
    let decimals = if ns < 10.0 {
        100.0
    } else if ns < 100.0 {
        10.0
    } else {
        1.0
    };
    figure((ns * decimals).round() / decimals)
}

#[cfg(test)]
mod tests {
    use super::{Batch, Peer, PeerRow, count};

    fn batch(ns: u64, checksum: u64) -> Batch {
        let text = format!(r#"{{"op_count":1,"ns":{ns},"cpu_ns":{ns},"checksum":{checksum}}}"#);
        serde_json::from_str(&text).expect("an answer of a side")
    }

    #[test]
    fn a_ratio_stands_only_where_all_checksums_agree() {
        let ours = [batch(10, 3), batch(10, 3)];
        let row = |theirs: [Batch; 2]| PeerRow::new(Peer::Cpp, "w1".to_owned(), &theirs, &ours);
        let equal = row([batch(40, 3), batch(60, 3)]);
        assert_eq!((equal.checksum_equal, equal.ratio, equal.ns), (true, Some(5.0), 50.0));
        let void = row([batch(40, 3), batch(60, 4)]);
        assert_eq!((void.checksum_equal, void.ratio), (false, None));
    }

    #[test]
    fn a_run_has_at_least_one_round() {
        assert_eq!((count("rounds=1", "1", 1), count("warmup-iterations=0", "0", 0)), (Ok(1), Ok(0)));
        for value in ["0", "-1", "1.5", "many", ""] {
            assert!(count("rounds=", value, 1).is_err_and(|message| message.contains("from 1")), "{value}");
        }
    }
}
