//! The `tsloom` command: one module a verb, and nothing that the library could do.
//!
//! Data goes to standard output, words to standard error. A verb returns an [`Outcome`]; only `main` prints its message
//! and turns it into an exit status. Text in (`input`) and text out (`text`) know nothing of each other.
#![forbid(unsafe_code)]

mod args;
mod cat;
mod failure;
mod import;
mod input;
mod interrupt;
mod opened;
mod printer;
mod quickstart;
mod schema;
mod tablet;
mod text;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Verb};
use failure::{Failure, Outcome};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // clap prints help to standard output and complaints to standard error; its own status for the latter is 2.
        Err(error) => {
            let exit = if error.use_stderr() { ExitCode::from(failure::Exit::Usage as u8) } else { ExitCode::SUCCESS };
            let _ = error.print();
            return exit;
        }
    };
    match run(cli) {
        Ok(()) | Err(Failure::PipeClosed) => ExitCode::SUCCESS,
        Err(Failure::Said { exit, message }) => {
            eprintln!("{message}");
            ExitCode::from(exit as u8)
        }
    }
}

fn run(cli: Cli) -> Outcome {
    let mut out = io::stdout().lock();
    match cli.verb {
        Verb::Import(args) => {
            // The acknowledgements of an import take the lock line by line.
            drop(out);
            import::run(&args, cli.verbose)
        }
        Verb::Cat(args) => cat::run(&args, &mut out),
        Verb::Schema(args) => schema::run(&args, &mut out),
        Verb::Tablet(args) => tablet::run(&args.verb, cli.verbose, &mut out),
        Verb::Quickstart => quickstart::run(&mut out),
    }
}
