//! Where the repository is, and how its own cargo and programs are started.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

/// How the programs of the benches learn where to keep their files.
const DATA_FOLDER_VARIABLE: &str = "TSLOOM_BENCH_DATA";

/// The root of the repository this xtask was compiled from.
pub(crate) fn repository() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// The cargo that started us (it passes itself on), in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository());
    command
}

/// A program of the benches as users would build it, ready for its arguments.
pub(crate) fn benches_program(name: &str) -> Command {
    let mut command = cargo();
    command.env(DATA_FOLDER_VARIABLE, bench_data());
    command.args(["run", "--quiet", "--release", "--package", "tsloom-benches", "--bin", name, "--"]);
    command
}

/// A program of the benches with dhat behind the allocator and with line numbers, so that it can name call sites.
pub(crate) fn recording_benches_program(name: &str) -> Command {
    let mut command = cargo();
    command.env(DATA_FOLDER_VARIABLE, bench_data());
    command.args(["run", "--quiet", "--profile", "sites", "--package", "tsloom-benches"]);
    command.args(["--features", "sites", "--bin", name, "--"]);
    command
}

/// Runs a program that prints one JSON document. What it says on standard error goes to ours.
pub(crate) fn json_of<T: DeserializeOwned>(mut command: Command) -> Result<T, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{command:?}: {error}"))
}

/// Cargo's target folder.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from)
}

/// The folder in which benches keep the files they write and read; they make it.
pub(crate) fn bench_data() -> PathBuf {
    target().join("bench-data")
}
