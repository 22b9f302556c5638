//! What the tests of the command share: running it, and where the fixtures are.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder of its own in which the command runs.
pub(crate) struct Lab {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A file of this name in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a file into the folder.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    /// Names of what is in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, to be started in the folder. Words are parted by spaces.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tsloom"));
        command.current_dir(self.folder.path()).args(words.split(' ').filter(|word| !word.is_empty()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, words: &str) -> Ended {
        ended(&mut self.command(words), b"")
    }

    /// Runs the command with something on standard input.
    pub(crate) fn pipe(&self, words: &str, input: impl AsRef<[u8]>) -> Ended {
        ended(&mut self.command(words), input.as_ref())
    }

    /// Runs the command, which must end well and say nothing; what it printed.
    pub(crate) fn good(&self, words: &str) -> String {
        let ended = self.run(words);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{words}");
        ended.stdout
    }

    /// Runs the command, which must end with `status`, one line on standard error and nothing else; that line.
    pub(crate) fn refused(&self, status: i32, words: &str) -> String {
        refusal(status, words, &self.run(words))
    }
}

/// The one line of a run that must have ended with `status` and printed nothing.
pub(crate) fn refusal(status: i32, words: &str, ended: &Ended) -> String {
    assert_eq!((ended.status, ended.stdout.as_str()), (status, ""), "{words}: {}", ended.stderr);
    assert_eq!(ended.stderr.matches('\n').count(), 1, "{words}: {}", ended.stderr);
    ended.stderr.trim_end().to_owned()
}

fn ended(command: &mut Command, input: &[u8]) -> Ended {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // On a thread of its own: the command may print before it has read everything, or end without reading.
    let feeder = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Ended {
        status: output.status.code().expect("no signal ended it"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the repository. It must be there.
pub(crate) fn repository(path: &str) -> PathBuf {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    assert!(path.exists(), "{} is missing", path.display());
    path
}
