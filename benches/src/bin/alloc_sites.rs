//! Names the call sites of what the selected scenarios still ask for: `{"sites": [...]}`.
//!
//! The second binary beside alloc-report: here dhat records every request, so nothing is timed or counted.

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
            eprintln!("alloc-sites: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(selection: &Selection) -> registry::Result<serde_json::Value> {
    let mut sites = Vec::new();
    for (scenario, params) in selection.select()? {
        sites.extend(allocations::sites(&scenario, &params).map_err(|error| error.in_file(scenario.name))?);
    }
    Ok(serde_json::json!({ "sites": sites }))
}
