//! One scenario, run a batch at a time as its standard input asks: our side of `cargo xtask bench`.
//!
//! ```text
//! -> round        one batch of the scenario
//! -> copy         one batch of copying as many bytes as the scenario has to move
//! -> beside       one batch of the work that the scenario is held against, where it has such
//! <- {"op_count":1500,"ns":20100000,"cpu_ns":20090000,"checksum":0,"payload_bytes":112904,"file_bytes":null}
//! ```
//!
//! A peer is a program that answers `round` the same way. So all sides run in turn, batch by batch, in one
//! go, and a change of the machine's mood hits all of them.

#![forbid(unsafe_code)]

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tsloom_benches::{Case, Params, Scenario, arguments::Selection, clock, registry};

#[derive(Parser)]
struct Cli {
    /// List the selected scenarios as JSON instead
    #[arg(long)]
    list: bool,
    /// The full name of the scenario
    #[arg(long, required_unless_present = "list", default_value = "")]
    scenario: String,
    /// About how long a batch takes, in milliseconds
    #[arg(long, default_value_t = 20)]
    batch_ms: u64,
    /// Operations of a batch, instead of as many as fill its time
    #[arg(long)]
    iterations: Option<u64>,
    /// Operations before the first batch, besides those that find the size of a batch
    #[arg(long, default_value_t = 1)]
    warmup_iterations: u64,
    /// Warm up, do one more operation, and end: for tools that count what an operation does
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    selection: Selection,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = if cli.list { list(&cli.selection) } else { serve(&cli) };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `{"scenarios": [{"name", "op", "params", "is_default", "peers", "beside"}]}`, so that the caller knows what there is to run.
fn list(selection: &Selection) -> registry::Result<()> {
    let line = |(scenario, params): (Scenario, Params)| {
        serde_json::json!({
            "name": scenario.name, "op": scenario.op, "params": params.to_string(),
            "is_default": params.values() == scenario.params, "peers": scenario.peers, "beside": scenario.what_is_beside(),
        })
    };
    let scenarios: Vec<_> = selection.select()?.into_iter().map(line).collect();
    println!("{}", serde_json::json!({ "scenarios": scenarios }));
    Ok(())
}

/// One operation, under a name that `cargo xtask instructions` can find in a profile.
#[inline(never)]
fn counted_operation(case: &mut Case) -> registry::Result<u64> {
    std::hint::black_box(case.run())
}

fn serve(cli: &Cli) -> registry::Result<()> {
    let wanted = cli.scenario.as_str();
    let all = tsloom_benches::all();
    let scenario = all.iter().find(|one| one.name == wanted);
    let scenario = scenario.ok_or_else(|| registry::invalid(format!("no scenario is named {wanted}")))?;
    let params = scenario.params_with(&cli.selection.set);
    let mut case = scenario.set_up(&params)?;
    let mut beside = scenario.set_up_beside(&params)?;
    let mut copy = clock::copy_case(case.payload_size);
    for _ in 0..cli.warmup_iterations {
        case.run()?;
    }
    if cli.once {
        counted_operation(&mut case)?;
        return Ok(());
    }
    let batch = Duration::from_millis(cli.batch_ms);
    let case_count = match cli.iterations {
        Some(count) => count.max(1),
        None => clock::calibrate(&mut case, batch)?,
    };
    let copy_count = clock::calibrate(&mut copy, batch)?;
    let beside_count = beside.as_mut().map_or(Ok(0), |beside| clock::calibrate(beside, batch))?;

    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let timed = match (line?.trim(), &mut beside) {
            ("round", _) => clock::time(&mut case, case_count)?,
            ("copy", _) => clock::time(&mut copy, copy_count)?,
            ("beside", Some(beside)) => clock::time(beside, beside_count)?,
            (other, _) => return Err(registry::invalid(format!("expected round, copy or beside, got {other:?}"))),
        };
        writeln!(out, "{}", serde_json::json!(timed))?;
        out.flush()?;
    }
    Ok(())
}
