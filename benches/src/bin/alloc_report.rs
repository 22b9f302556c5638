//! Counts the selected scenarios and prints one JSON object: `{"scenarios": [...]}`.
//!
//! The raw figures only; `cargo xtask alloc-report` starts this program and judges what it prints.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use tsloom_alloc_probe::Probe;
use tsloom_benches::{allocations, arguments::Selection, registry};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    selection: Selection,
}

fn main() -> ExitCode {
    match report(&Cli::parse().selection) {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("alloc-report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(selection: &Selection) -> registry::Result<serde_json::Value> {
    let mut reports = Vec::new();
    for (scenario, params) in selection.select()? {
        reports.push(allocations::count(&scenario, &params).map_err(|error| error.in_file(scenario.name))?);
    }
    Ok(serde_json::json!({ "scenarios": reports }))
}
