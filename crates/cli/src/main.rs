//! The `tsloom` command: one module a verb, and nothing that the library could do.
//!
//! Data goes to standard output, words to standard error. A verb returns an [`Outcome`]; only `main` prints its message
//! and turns it into an exit status. Text in (`input`) and text out (`text`) know nothing of each other.
#![forbid(unsafe_code)]

mod args;
mod convert;
mod count;
mod encode;
mod export;
mod failure;
mod format;
mod import;
mod input;
mod interrupt;
mod ls;
mod merge;
mod meta;
mod mods;
mod opened;
mod plot;
mod printer;
mod progress;
mod quickstart;
mod recover;
mod rewrite;
mod rows;
mod schema;
mod sketch;
mod stats;
mod store;
mod tablet;
mod text;
mod timeline;
mod verify;
mod wal;
mod write;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Verb};
use failure::{Failure, Outcome};

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(rows::args::spelled_out(std::env::args_os())) {
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
    let is_verbose = cli.verbose;
    let mut out = io::stdout().lock();
    match cli.verb {
        Verb::Ls(args) => ls::run(&args, &mut out),
        Verb::Meta(args) => meta::run(&args, &mut out),
        Verb::Schema(args) => schema::run(&args, &mut out),
        Verb::Stats(args) => stats::run(&args, &mut out),
        Verb::Count(args) => count::run(&args, &mut out),
        Verb::Head(args) => rows::head(&args, &mut out),
        Verb::Cat(args) => rows::cat(&args, &mut out),
        Verb::Export(args) => export::run(&args, is_verbose),
        Verb::Import(args) => {
            // The acknowledgements of an import take the lock line by line.
            drop(out);
            import::run(&args, is_verbose)
        }
        Verb::Write(args) => {
            drop(out);
            write::run(args, is_verbose)
        }
        Verb::Store(args) => store::run(&args.verb, is_verbose, &mut out),
        Verb::Wal(args) => wal::run(&args.verb, is_verbose, &mut out),
        Verb::Convert(args) => convert::run(&args, is_verbose),
        Verb::Merge(args) => merge::run(&args, is_verbose),
        Verb::Sketch(args) => sketch::run(&args, &mut out),
        Verb::Verify(args) => verify::run(&args, is_verbose, &mut out),
        Verb::Recover(args) => recover::run(&args, is_verbose, &mut out),
        Verb::Plot(args) => plot::run(&args, is_verbose),
        Verb::Tablet(args) => tablet::run(&args.verb, is_verbose, &mut out),
        Verb::Quickstart => quickstart::run(&mut out),
    }
}
