//! Project chores, run as `cargo xtask NAME`.
//!
//! What is here: `tidy` (rules of the house that rustc and clippy cannot check). It reads files, starts cargo and
//! prints; it holds no engine code and depends on no engine crate, so it compiles while the engine does not.

#![forbid(unsafe_code)]

mod root;
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
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Tidy => tidy::run(),
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
