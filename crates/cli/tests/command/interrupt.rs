//! An interrupted import leaves no file behind, whole or half-made, not even while it waits for its input.

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab::Lab;

const PATIENCE: Duration = Duration::from_secs(20);

fn check(signal: &str) {
    let lab = Lab::new();
    let import = lab.command("import - --out out.tsfile --tag site --type v=INT64");
    let mut child = listening(import).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"time,site,v\n1,a,1\n2,a,2\n").unwrap();
    let patience = Instant::now() + PATIENCE;
    while lab.names().is_empty() {
        assert!(Instant::now() < patience, "the temporary file never came");
        thread::sleep(Duration::from_millis(2));
    }
    // The file is there a moment before the handler is.
    thread::sleep(Duration::from_millis(100));
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(end_of(&mut child).code(), Some(130));
    assert_eq!(lab.names(), [""; 0]);
    drop(stdin);
}

/// The command with its signals as a terminal gives them. Where the tests run in the background of a script, signals are
/// ignored, and what starts from there would go on ignoring them.
fn listening(command: Command) -> Command {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    let ignored = u64::from_str_radix(mask, 16).unwrap();
    // Signal n is bit n - 1: HUP 1, INT 2, TERM 15.
    if ignored & (1 << 0 | 1 << 1 | 1 << 14) == 0 {
        return command;
    }
    let mut reset = Command::new("env");
    reset.arg("--default-signal=HUP,INT,TERM").arg(command.get_program()).args(command.get_args());
    reset.current_dir(command.get_current_dir().expect("a lab has a folder"));
    reset.stdout(Stdio::piped()).stderr(Stdio::piped());
    reset
}

/// How it ended; a process that does not end is stopped, and fails the test.
fn end_of(child: &mut Child) -> ExitStatus {
    let patience = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > patience {
            child.kill().unwrap();
            panic!("the signal did not end it");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn ctrl_c_removes_the_half_made_file() {
    check("-INT");
}

#[test]
fn so_does_a_polite_kill() {
    check("-TERM");
}
