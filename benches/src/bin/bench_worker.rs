//! One scenario, run a batch at a time as its standard input asks: our side of `cargo xtask bench`.
//!
//! ```text
//! -> round        one batch of the scenario
//! -> copy         one batch of copying as many bytes as the scenario has to move
//! <- {"op_count":1500,"ns":20100000,"cpu_ns":20090000,"checksum":0}
//! ```
//!
//! A peer is a program that answers `round` the same way. So all sides run in turn, batch by batch, in one
//! go, and a change of the machine's mood hits all of them.

#![forbid(unsafe_code)]

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tsloom_benches::{arguments::Selection, clock, registry};

#[derive(Parser)]
struct Cli {
    /// The full name of the scenario
    #[arg(long)]
    scenario: String,
    /// About how long a batch takes, in milliseconds
    #[arg(long, default_value_t = 20)]
    batch_ms: u64,
    #[command(flatten)]
    selection: Selection,
}

fn main() -> ExitCode {
    match serve(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(cli: &Cli) -> registry::Result<()> {
    let wanted = cli.scenario.as_str();
    let all = tsloom_benches::all();
    let scenario = all.iter().find(|one| one.name == wanted);
    let scenario = scenario.ok_or_else(|| registry::invalid(format!("no scenario is named {wanted}")))?;
    let mut case = scenario.set_up(&scenario.params_with(&cli.selection.set))?;
    let mut copy = clock::copy_case(case.payload_size);
    let batch = Duration::from_millis(cli.batch_ms);
    let (case_count, copy_count) = (clock::calibrate(&mut case, batch)?, clock::calibrate(&mut copy, batch)?);

    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let timed = match line?.trim() {
            "round" => clock::time(&mut case, case_count)?,
            "copy" => clock::time(&mut copy, copy_count)?,
            other => return Err(registry::invalid(format!("expected round or copy, got {other:?}"))),
        };
        writeln!(out, "{}", serde_json::json!(timed))?;
        out.flush()?;
    }
    Ok(())
}
