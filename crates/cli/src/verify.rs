//! `tsloom verify`: is a file what it says it is.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};
use tsloom::file::{FileReader, Finding, ReadOptions, Verification, VerifyOptions, verify};
use tsloom::model::{FileOffset, Grouped};

use crate::failure::{Failure, Outcome};
use crate::mods;
use crate::opened::ReadArgs;
use crate::progress::Progress;

/// What `verify` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Every page is decoded; counts, times, least and greatest values and sums in page headers, chunk metadata and series metadata are
compared with the values; the index must lead to every chunk once, every byte of the metadata must belong to something, and the
bloom filter must know every series. What is found is printed, one line each; a sound file prints nothing (-v says what was
looked at). Exit status 2 when anything is found.

Examples:
  tsloom verify *.tsfile
  tsloom verify wind.tsfile --json")]
pub(crate) struct VerifyArgs {
    /// TsFiles
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,

    /// Print a report as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    read: ReadArgs,
}

/// What became of one file.
enum Judged {
    Looked { size: u64, verification: Verification },
    Unreadable(tsloom::Error),
}

/// Verifies the files of `args`.
pub(crate) fn run(args: &VerifyArgs, is_verbose: bool, out: &mut impl Write) -> Outcome {
    let mut reports = Vec::new();
    let mut bad = Vec::new();
    for path in &args.files {
        mods::check(path, args.read.is_strict())?;
        let judged = judge(path, args.read.options());
        match &judged {
            Judged::Looked { verification, .. } if verification.is_sound() => {
                if is_verbose {
                    eprintln!("{}", summary(path, verification));
                }
            }
            Judged::Looked { verification, .. } => bad.push(format!("{} ({} findings)", path.display(), count(verification))),
            Judged::Unreadable(_) => bad.push(path.display().to_string()),
        }
        if args.json {
            reports.push(report(path, &judged));
        } else {
            print(&judged, out)?;
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&json!({ "files": reports })).map_err(Failure::failed)?;
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| Failure::of_stdout(&error))?;
    }
    if bad.is_empty() { Ok(()) } else { Err(Failure::unreadable(format_args!("not sound: {}", bad.join(", ")))) }
}

fn judge(path: &Path, options: ReadOptions) -> Judged {
    let mut progress = Progress::new();
    let mut verified = |reader: FileReader| {
        let verification = verify(&reader, VerifyOptions::default(), &mut |done, total| progress.show(done, total))?;
        Ok((reader.size(), verification))
    };
    let verified = FileReader::open_with(path, options).and_then(&mut verified);
    match verified {
        Ok((size, verification)) => Judged::Looked { size, verification },
        Err(error) => Judged::Unreadable(error),
    }
}

fn count(verification: &Verification) -> u64 {
    verification.findings.len() as u64 + verification.findings_left_out
}

fn summary(path: &Path, verification: &Verification) -> String {
    let Verification { device_count, series_count, chunk_count, page_count, row_count, value_count, .. } = verification;
    format!(
        "{}: sound: {} devices, {} series, {} chunks, {} pages, {} rows, {} values",
        path.display(),
        Grouped(*device_count),
        Grouped(*series_count),
        Grouped(*chunk_count),
        Grouped(*page_count),
        Grouped(*row_count),
        Grouped(*value_count)
    )
}

fn print(judged: &Judged, out: &mut impl Write) -> Outcome {
    let mut lines: Vec<String> = Vec::new();
    match judged {
        Judged::Looked { verification, .. } => {
            lines.extend(verification.findings.iter().map(|finding| Failure::unreadable(&finding.error).to_string()));
            if verification.findings_left_out > 0 {
                lines.push(format!("and {} more", Grouped(verification.findings_left_out)));
            }
        }
        Judged::Unreadable(error) => lines.push(Failure::unreadable(error).to_string()),
    }
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
        .and_then(|()| out.flush())
        .map_err(|error| Failure::of_stdout(&error))
}

fn report(path: &Path, judged: &Judged) -> Value {
    let mut report = Map::new();
    report.insert("file".to_owned(), json!(path.to_string_lossy()));
    match judged {
        Judged::Looked { size, verification } => {
            report.insert("sound".to_owned(), json!(verification.is_sound()));
            let counts = [
                ("size_bytes", *size),
                ("devices", verification.device_count),
                ("series", verification.series_count),
                ("chunks", verification.chunk_count),
                ("pages", verification.page_count),
                ("rows", verification.row_count),
                ("values", verification.value_count),
            ];
            report.extend(counts.map(|(name, count)| (name.to_owned(), json!(count))));
            report.insert("findings".to_owned(), verification.findings.iter().map(finding).collect());
            report.insert("findings_left_out".to_owned(), json!(verification.findings_left_out));
        }
        Judged::Unreadable(error) => {
            report.insert("sound".to_owned(), json!(false));
            report.insert("findings".to_owned(), json!([described("unreadable", error)]));
            report.insert("findings_left_out".to_owned(), json!(0));
        }
    }
    Value::Object(report)
}

fn finding(finding: &Finding) -> Value {
    described(finding.kind.name(), &finding.error)
}

fn described(kind: &str, error: &tsloom::Error) -> Value {
    json!({
        "kind": kind,
        "offset": error.offset().map(FileOffset::get),
        "column": error.column(),
        "message": error.to_string(),
    })
}
