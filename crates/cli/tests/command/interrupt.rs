//! An interrupted import leaves no file behind, whole or half-made, not even while it waits for its input.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab::Lab;

fn check(signal: &str) {
    let lab = Lab::new();
    let mut child = lab.command("import - --out out.tsfile --tag site --type v=INT64").stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"time,site,v\n1,a,1\n2,a,2\n").unwrap();
    let patience = Instant::now() + Duration::from_secs(20);
    while lab.names().is_empty() {
        assert!(Instant::now() < patience, "the temporary file never came");
        thread::sleep(Duration::from_millis(2));
    }
    // The file is there a moment before the handler is.
    thread::sleep(Duration::from_millis(100));
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(lab.names(), [""; 0]);
    drop(stdin);
}

#[test]
fn ctrl_c_removes_the_half_made_file() {
    check("-INT");
}

#[test]
fn so_does_a_polite_kill() {
    check("-TERM");
}
