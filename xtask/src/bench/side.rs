//! One side of a comparison: a program that runs a batch when it is asked to.
//!
//! It reads a line (`round`, or `copy`) and answers with one line of JSON; see `benches/src/bin/bench_worker.rs`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;

/// A batch of operations and what it took in all.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Batch {
    op_count: u64,
    ns: u64,
    cpu_ns: u64,
    pub(super) checksum: u64,
    /// Ours only.
    #[serde(default)]
    pub(super) payload_bytes: u64,
    /// Of the files that an operation writes or reads.
    #[serde(default)]
    pub(super) file_bytes: Option<u64>,
}

impl Batch {
    pub(super) fn ns_per_op(&self) -> f64 {
        self.ns as f64 / self.op_count.max(1) as f64
    }

    pub(super) fn cpu_ns_per_op(&self) -> f64 {
        self.cpu_ns as f64 / self.op_count.max(1) as f64
    }
}

/// A running program; it ends when this is dropped.
pub(super) struct Side {
    name: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Side {
    pub(super) fn start(mut command: Command) -> Result<Self, String> {
        let name = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(answers)) => Ok(Side { name, child, requests, answers: BufReader::new(answers) }),
            _ => Err(format!("{name}: no pipes")),
        }
    }

    pub(super) fn ask(&mut self, request: &str) -> Result<Batch, String> {
        let mut answer = String::new();
        writeln!(self.requests, "{request}").map_err(|error| format!("{}: {error}", self.name))?;
        self.answers.read_line(&mut answer).map_err(|error| format!("{}: {error}", self.name))?;
        if answer.is_empty() {
            return Err(format!("{}: ended without an answer", self.name));
        }
        serde_json::from_str(&answer).map_err(|error| format!("{}: {error}: {answer}", self.name))
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is waited for, so that none is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Side;
    use std::process::Command;

    fn shell(script: &str) -> Side {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Side::start(command).expect("sh is there")
    }

    #[test]
    fn a_question_has_one_answer() {
        let mut side = shell("while read q; do echo '{\"op_count\":4,\"ns\":10,\"cpu_ns\":8,\"checksum\":3}'; done");
        for _ in 0..2 {
            let batch = side.ask("round").expect("it answers");
            assert_eq!((batch.ns_per_op(), batch.cpu_ns_per_op(), batch.checksum), (2.5, 2.0, 3));
        }
    }

    #[test]
    fn a_program_that_ends_or_babbles_is_an_error() {
        assert!(shell("read q").ask("round").is_err_and(|message| message.contains("without an answer")));
        assert!(shell("read q; echo hello").ask("round").is_err_and(|message| message.contains("hello")));
    }
}
