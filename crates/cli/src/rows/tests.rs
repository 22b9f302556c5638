//! `cat` on damaged files: one line with file, offset and cause, or well-formed rows; never a panic.
//!
//! The format has no checksum over its data, so a changed value may read as another value. In the process, thousands of
//! files take a second; `interop/check_mutations.py` does the same to the binary from outside.

use std::fs;
use std::path::Path;

use clap::Parser;

use crate::args::{Cli, Verb};
use crate::failure::{Exit, Failure};
use crate::import;

fn verb(words: &str) -> Verb {
    Cli::try_parse_from(words.split(' ')).unwrap().verb
}

fn cat(path: &Path) -> Result<Vec<u8>, Failure> {
    let Verb::Cat(args) = verb(&format!("tsloom cat {} -f ndjson --schema", path.display())) else { unreachable!() };
    let mut out = Vec::new();
    super::cat(&args, &mut out)?;
    Ok(out)
}

/// The same numbers on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % sides
    }
}

/// A copy of `good` with one thing wrong, and what it is.
fn mutate(good: &[u8], dice: &mut Dice) -> (Vec<u8>, String) {
    let mut bytes = good.to_vec();
    // Every second one hits the last quarter, where the index and the metadata are.
    let from = if dice.roll(2) == 0 { good.len() * 3 / 4 } else { 0 };
    let at = from + dice.roll(good.len() - from);
    let kind = dice.roll(7);
    match kind {
        0 | 1 => bytes[at] ^= 1 << dice.roll(8),
        2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff][dice.roll(6)],
        3 => bytes.truncate(at),
        4 => {
            let end = (at + 1 + dice.roll(64)).min(bytes.len());
            bytes[at..end].fill(0);
        }
        5 => bytes.insert(at, dice.roll(256) as u8),
        _ => {
            bytes.remove(at);
        }
    }
    (bytes, format!("kind {kind} at {at}"))
}

fn check(good: &Path, count: usize) {
    let bytes = fs::read(good).unwrap();
    cat(good).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mutated.tsfile");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for number in 0..count {
        let (mutated, what) = mutate(&bytes, &mut dice);
        fs::write(&path, mutated).unwrap();
        match cat(&path) {
            Ok(text) => {
                for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    let row: Result<serde_json::Value, _> = serde_json::from_slice(line);
                    assert!(row.is_ok_and(|row| row.is_object()), "mutation {number}, {what}");
                }
                read += 1;
            }
            Err(Failure::Said { exit: Exit::Unreadable, message }) => {
                let is_whole = message.starts_with(&*path.to_string_lossy()) && message.contains("offset ");
                assert!(is_whole && !message.contains('\n'), "mutation {number}, {what}: {message}");
                refused += 1;
            }
            Err(other) => panic!("mutation {number}, {what}: {other:?}"),
        }
    }
    assert!(read > count / 50 && refused > count / 50, "{read} read, {refused} refused");
}

#[test]
fn a_file_of_upstream() {
    check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/cpp/tag1_all_types.tsfile")), 1500);
}

#[test]
fn a_file_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("own.csv");
    let mut text = String::from("time,site,n,v,on,note\n");
    for row in 0..240 {
        let on = ["", "true", "false"][row % 3];
        text += &format!("{},{},{},{},{on},n{row}\n", row / 3 * 10, ["a", "b", "c"][row % 3], row * row, row as f64 / 7.0);
    }
    fs::write(&csv, text).unwrap();
    let file = folder.path().join("own.tsfile");
    let Verb::Import(args) = verb(&format!("tsloom import {} --out {}", csv.display(), file.display())) else { unreachable!() };
    import::run(&args, false).unwrap();
    check(&file, 1500);
}
