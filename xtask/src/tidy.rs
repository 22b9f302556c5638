//! `cargo xtask tidy`: rules of the house that neither rustc nor clippy checks.
//!
//! | rule | module |
//! |---|---|
//! | a crate depends only on crates of a lower floor | `floors` |
//! | every outside dependency has its reason, and its version in one place | `manifests` |
//! | every source file says what it is; long ones say why; `unsafe` is forbidden or proved | `sources` |
//! | nothing points out of the repository | `outside` |
//!
//! A rule is a function from the tree (or from cargo's metadata) to findings, so each has a test with a broken tree.

mod floors;
mod manifests;
mod outside;
mod sources;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// One broken rule at one place. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: PathBuf,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// Prints every finding, one a line, and says whether there was none.
pub(crate) fn run() -> Result<bool, String> {
    let root = root::repository();
    let tree = Tree::read(&root)?;
    let mut findings = floors::check(&floors::metadata()?, &tree);
    findings.extend(manifests::check(&tree));
    findings.extend(sources::check(&tree));
    findings.extend(outside::check(&tree));
    findings.sort();
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => eprintln!("tidy: {} files, nothing to mend", tree.files.len()),
        count => eprintln!("tidy: {count} to mend"),
    }
    Ok(findings.is_empty())
}

/// The text files of the repository, read once, with paths relative to its root.
struct Tree {
    root: PathBuf,
    files: Vec<SourceFile>,
    /// Symbolic links: where they are, and what they hold.
    links: Vec<(PathBuf, PathBuf)>,
}

struct SourceFile {
    path: PathBuf,
    text: String,
}

impl SourceFile {
    fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|found| found == extension)
    }

    fn is_manifest(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == "Cargo.toml")
    }

    /// Lines with their number, counted from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Folders that hold what is made, not what is written.
const SKIPPED_FOLDERS: [&str; 5] = [".git", "target", "__pycache__", ".venv", "node_modules"];

/// Kinds of files that people write. Fixtures and data sets are bytes from elsewhere and are not judged.
const WRITTEN: [&str; 12] = ["rs", "toml", "md", "py", "sh", "cc", "h", "java", "yml", "yaml", "html", "js"];

impl Tree {
    fn read(root: &Path) -> Result<Tree, String> {
        let mut tree = Tree { root: root.to_owned(), files: Vec::new(), links: Vec::new() };
        tree.walk(Path::new(""))?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path) -> Result<(), String> {
        let full = self.root.join(folder);
        let problem = |error: std::io::Error| format!("{}: {error}", full.display());
        for entry in fs::read_dir(&full).map_err(problem)? {
            let entry = entry.map_err(problem)?;
            let kind = entry.file_type().map_err(problem)?;
            let name = entry.file_name();
            let path = folder.join(&name);
            if kind.is_symlink() {
                let target = fs::read_link(entry.path()).map_err(problem)?;
                self.links.push((path, target));
            } else if kind.is_dir() {
                if !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                    self.walk(&path)?;
                }
            } else if is_written_by_people(&path) {
                // A file that is not UTF-8 is not text, whatever its name says.
                if let Ok(text) = fs::read_to_string(entry.path()) {
                    self.files.push(SourceFile { path, text });
                }
            }
        }
        Ok(())
    }

    fn file(&self, path: &Path) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

fn is_written_by_people(path: &Path) -> bool {
    match path.extension() {
        Some(extension) => WRITTEN.iter().any(|known| extension == *known),
        // Scripts and notices: `.ci/run`, `NOTICE`. The licence text is not ours.
        None => path.file_name().is_some_and(|name| name != "LICENSE"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, Tree};
    use std::fs;
    use std::path::Path;

    /// Writes a small tree and gives it to `check`; the findings come back as `path:line: message`.
    pub(super) fn findings(files: &[(&str, &str)], check: fn(&Tree) -> Vec<Finding>) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_tree(folder.path(), files);
        let tree = Tree::read(folder.path()).expect("the tree was just written");
        check(&tree).iter().map(ToString::to_string).collect()
    }

    pub(super) fn write_tree(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a file has a folder")).expect("create folder");
            fs::write(path, text).expect("write file");
        }
    }

    #[test]
    fn built_and_foreign_files_are_not_judged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files =
            [("a.rs", ""), ("target/b.rs", ""), (".git/c.rs", ""), ("fixtures/d.jsonl", ""), ("x/.ci/run", ""), ("LICENSE", "")];
        write_tree(folder.path(), &files);
        let tree = Tree::read(folder.path()).expect("the tree was just written");
        let paths: Vec<_> = tree.files.iter().map(|file| file.path.display().to_string()).collect();
        assert_eq!(paths, ["a.rs", "x/.ci/run"]);
    }
}
