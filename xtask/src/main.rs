//! Project chores, run as `cargo xtask NAME`.
//!
//! What is here: `tidy` (rules of the house that rustc and clippy cannot check), `alloc-report` (allocations of the benches'
//! scenarios against their budgets), `bench` (their times, beside a memory copy and the peers), `instructions` (those of the
//! kernels, counted), `performance` (a run as a page of docs and a line of history) and `sanitize` (threads under
//! ThreadSanitizer). It reads files, starts cargo and prints; it holds no engine code and
//! depends on no engine crate, so it compiles while the engine does not.

#![forbid(unsafe_code)]

mod alloc;
mod bench;
mod instructions;
mod performance;
mod report;
mod root;
mod sanitize;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Project chores of tsloom")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check crate floors, module heads, file length, unsafe code, and that nothing points outside the repository.
    Tidy,
    /// Count what one operation of each scenario asks of the allocator, against benches/budgets.toml.
    AllocReport(alloc::AllocReport),
    /// Time each scenario beside a memory copy of its bytes and the peers, in turn.
    Bench(bench::Bench),
    /// Write docs/performance.md and a file of benches/record from the JSON of a bench run.
    Performance(performance::Performance),
    /// Count the instructions of the kernels under Valgrind, against benches/instructions.toml.
    Instructions(instructions::Instructions),
    /// Run the tests in which threads meet under ThreadSanitizer; needs a nightly toolchain.
    Sanitize(sanitize::Sanitize),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Tidy => tidy::run(),
        Chore::AllocReport(report) => report.run(),
        Chore::Bench(bench) => bench.run(),
        Chore::Performance(performance) => performance.run(),
        Chore::Instructions(instructions) => instructions.run(),
        Chore::Sanitize(sanitize) => sanitize.run(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
