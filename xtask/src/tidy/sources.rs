//! Source files: each says what it is, a long one says why it is long, and `unsafe` is forbidden or proved.

use std::path::{Path, PathBuf};

use super::{Finding, SourceFile, Tree};

/// A file past this many lines holds two rooms, or a sentence that says why it does not.
const LINE_COUNT_MAX: usize = 500;

/// The sentence: `// tidy: long because ...`.
const LONG_BECAUSE: &str = "tidy: long because ";

/// How far above an `unsafe` its `SAFETY:` comment may begin (a proof of several lines, or one for a few arms).
const PROOF_DISTANCE: usize = 12;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in rust_files(tree) {
        head(file, &mut findings);
        length(file, &mut findings);
        proofs(file, &mut findings);
    }
    for file in rust_files(tree).filter(|file| is_crate_root(&file.path)) {
        forbidden_or_used(tree, file, &mut findings);
    }
    findings
}

fn rust_files(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    tree.files.iter().filter(|file| file.has_extension("rs"))
}

fn is_crate_root(path: &Path) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs")
}

fn head(file: &SourceFile, findings: &mut Vec<Finding>) {
    let first = file.text.lines().next().unwrap_or("");
    let says_something = first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty());
    if !says_something {
        findings.push(Finding::new(&file.path, 1, "no head: begin with `//!` and what this file is"));
    }
}

fn length(file: &SourceFile, findings: &mut Vec<Finding>) {
    let line_count = file.text.lines().count();
    let has_reason = file.text.contains(&format!("// {LONG_BECAUSE}"));
    if line_count > LINE_COUNT_MAX && !has_reason {
        let message = format!("{line_count} lines, past {LINE_COUNT_MAX}: split it, or say `// {LONG_BECAUSE}...`");
        findings.push(Finding::new(&file.path, LINE_COUNT_MAX + 1, message));
    }
}

/// Every `unsafe` block or impl stands below a `SAFETY:` comment, in a file that expects the lint with a reason.
fn proofs(file: &SourceFile, findings: &mut Vec<Finding>) {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut is_expected = false;
    for (index, line) in lines.iter().enumerate() {
        is_expected |= line.contains("expect(unsafe_code, reason") || line.trim() == "unsafe_code,";
        let Some(follows) = after_unsafe(line) else {
            continue;
        };
        if !is_expected {
            let message = "unsafe without `#[expect(unsafe_code, reason = \"...\")]` above it";
            findings.push(Finding::new(&file.path, index + 1, message));
        }
        let needs_proof = follows.starts_with('{') || follows.starts_with("impl");
        let from = index.saturating_sub(PROOF_DISTANCE);
        let has_proof = lines[from..=index].iter().any(|above| above.contains("SAFETY:"));
        if needs_proof && !has_proof {
            findings.push(Finding::new(&file.path, index + 1, "unsafe without a `// SAFETY:` comment"));
        }
    }
}

/// What follows the keyword `unsafe` on this line of code, if it is there outside comments and strings.
fn after_unsafe(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or(line);
    let (before, after) = code.split_once("unsafe ")?;
    let is_word = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    let in_string = before.matches('"').count() % 2 == 1;
    let follows = after.trim_start();
    let is_keyword = ["{", "impl", "fn", "extern", "trait"].iter().any(|next| follows.starts_with(next));
    (is_word && !in_string && is_keyword).then_some(follows)
}

/// A crate without `unsafe` forbids it, so that it cannot come in by the back door.
fn forbidden_or_used(tree: &Tree, crate_root: &SourceFile, findings: &mut Vec<Finding>) {
    let source_folder: PathBuf = crate_root.path.parent().map(Path::to_owned).unwrap_or_default();
    let has_unsafe = rust_files(tree)
        .filter(|file| file.path.starts_with(&source_folder))
        .any(|file| file.lines().any(|(_, line)| after_unsafe(line).is_some()));
    let forbids = crate_root.lines().any(|(_, line)| line.trim() == "#![forbid(unsafe_code)]");
    if !has_unsafe && !forbids {
        let message = "this crate has no unsafe code: say `#![forbid(unsafe_code)]`";
        findings.push(Finding::new(&crate_root.path, 1, message));
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::findings;

    const GOOD_ROOT: &str = "//! A crate.\n#![forbid(unsafe_code)]\n";

    #[test]
    fn a_file_without_a_head_is_named() {
        let files = [
            ("x/src/lib.rs", GOOD_ROOT),
            ("x/src/a.rs", "//! Says it.\n"),
            ("x/src/b.rs", "use std::fs;\n"),
            ("x/src/c.rs", "//!\n"),
            ("x/src/d.rs", ""),
            ("x/tests/e.rs", "#![allow(x)]\n//! Too late.\n"),
        ];
        let found = findings(&files, check);
        let message = "no head: begin with `//!` and what this file is";
        let expected = ["x/src/b.rs", "x/src/c.rs", "x/src/d.rs", "x/tests/e.rs"].map(|path| format!("{path}:1: {message}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_long_file_without_a_reason_is_named() {
        let lines = |count: usize| format!("//! Head.\n{}", "// x\n".repeat(count - 1));
        let reasoned = format!("{}// tidy: long because one table\n", lines(500));
        let files = [("tests/a.rs", lines(500)), ("tests/b.rs", lines(501)), ("tests/c.rs", reasoned)];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let found = findings(&files, check);
        assert_eq!(found, ["tests/b.rs:501: 501 lines, past 500: split it, or say `// tidy: long because ...`"]);
    }

    #[test]
    fn a_crate_without_unsafe_must_forbid_it() {
        let found = findings(&[("x/src/main.rs", "//! A command.\n//! #![forbid(unsafe_code)]\n")], check);
        assert_eq!(found, ["x/src/main.rs:1: this crate has no unsafe code: say `#![forbid(unsafe_code)]`"]);
    }

    #[test]
    fn unsafe_needs_a_reason_and_a_proof() {
        let root = ("x/src/lib.rs", "//! A crate.\n");
        let proved = "//! Kernel.\n#[expect(unsafe_code, reason = \"SIMD\")]\nfn f() {\n\
            // SAFETY: detected above.\nunsafe { g() }\n}\n";
        assert_eq!(findings(&[root, ("x/src/a.rs", proved)], check), [""; 0]);

        let unproved = proved.replace("SAFETY:", "surely");
        let found = findings(&[root, ("x/src/a.rs", &unproved)], check);
        assert_eq!(found, ["x/src/a.rs:5: unsafe without a `// SAFETY:` comment"]);

        let unexpected = proved.replace("#[expect", "#[allow");
        let found = findings(&[root, ("x/src/a.rs", &unexpected)], check);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("x/src/a.rs:5: unsafe without `#[expect(unsafe_code"), "{found:?}");
    }

    #[test]
    fn the_word_in_comments_strings_and_names_is_not_the_keyword() {
        let text = "//! Head.\n// unsafe { }\nlet a = \"unsafe { }\";\nlet not_unsafe = 1;\n";
        assert_eq!(findings(&[("tests/a.rs", text)], check), [""; 0]);
    }
}
