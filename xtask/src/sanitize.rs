//! `cargo xtask sanitize`: the memtable's threads under ThreadSanitizer.
//!
//! Needs a nightly toolchain; the repository itself is built by the stable one that rust-toolchain.toml names. The standard
//! library stays as it is delivered, without instrumentation: `-Cunsafe-allow-abi-mismatch=sanitizer` lets it be linked. What the
//! sanitizer therefore does not see, such as the end of an `Arc` and the making of a `OnceLock`, is listed in
//! `sanitize/suppressions.txt`. Before the tests a program with a data race is tried: a sanitizer that does not report it would
//! report nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::root;

#[derive(Args)]
pub(crate) struct Sanitize {
    /// The toolchain to build with
    #[arg(long, default_value = "nightly")]
    toolchain: String,
    /// Batches that the stress test writes
    #[arg(long, default_value_t = 3_000)]
    batches: u32,
}

/// Tests in which threads meet, of package and name.
const TESTS: [(&str, &str); 1] = [("tsloom-memtable", "stress")];

const FLAGS: [&str; 2] = ["-Zsanitizer=thread", "-Cunsafe-allow-abi-mismatch=sanitizer"];

/// Two threads write one number.
const RACE: &str = include_str!("sanitize/race.rs.txt");

/// What the sanitizer says of it.
const REPORT: &str = "WARNING: ThreadSanitizer: data race";

impl Sanitize {
    pub(crate) fn run(&self) -> Result<bool, String> {
        let host = self.host()?;
        let folder = root::target().join("sanitize");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        self.try_alarm(&folder)?;
        let suppressions = root::repository().join("xtask/src/sanitize/suppressions.txt");
        for (package, test) in TESTS {
            eprintln!("sanitize: {package}, test {test}");
            let mut command = self.tool("cargo");
            command.args(["test", "--package", package, "--test", test, "--target", &host, "--target-dir"]).arg(&folder);
            command.env("RUSTFLAGS", FLAGS.join(" ")).env("TSLOOM_STRESS_BATCHES", self.batches.to_string());
            command.env("TSLOOM_STRESS_POOL_BYTES", "0");
            command.env("TSAN_OPTIONS", format!("halt_on_error=1 suppressions={}", suppressions.display()));
            let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
            if !status.success() {
                eprintln!("sanitize: {package}, test {test}: {status}");
                return Ok(false);
            }
        }
        println!("sanitize: no data race");
        Ok(true)
    }

    /// A program of the toolchain, in the root of the repository.
    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new("rustup");
        command.args(["run", &self.toolchain, name]).current_dir(root::repository());
        // What the cargo that runs us has set for itself.
        command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
        command
    }

    /// The machine's target triple, by the toolchain's own word; an error when there is no such toolchain.
    fn host(&self) -> Result<String, String> {
        let toolchain = &self.toolchain;
        let missing = |why: String| {
            format!(
                "sanitize needs the toolchain {toolchain}, which is not here ({why}); get it with: rustup toolchain install {toolchain}"
            )
        };
        let output = self.tool("rustc").arg("-vV").output().map_err(|error| missing(error.to_string()))?;
        if !output.status.success() {
            return Err(missing(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        host.map(str::to_owned).ok_or_else(|| format!("rustc -vV of {toolchain} names no host"))
    }

    /// Makes sure that a race is reported.
    fn try_alarm(&self, folder: &Path) -> Result<(), String> {
        let (source, program) = (folder.join("race.rs"), folder.join("race"));
        fs::write(&source, RACE).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut compile = self.tool("rustc");
        compile.args(["--edition", "2024", "-g"]).args(FLAGS).arg("-o").arg(&program).arg(&source);
        let status = compile.status().map_err(|error| format!("{compile:?}: {error}"))?;
        if !status.success() {
            return Err(format!("the program with a race does not compile: {status}"));
        }
        let output = Command::new(&program)
            .env_remove("TSAN_OPTIONS")
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !said.contains(REPORT) {
            return Err(format!("the sanitizer did not report a race that is there ({}): {said}", output.status));
        }
        eprintln!("sanitize: the alarm works");
        Ok(())
    }
}
