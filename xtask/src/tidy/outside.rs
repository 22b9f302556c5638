//! The repository is whole in itself: no line and no link points out of it.
//!
//! Three ways out are looked for: an absolute path into somebody's home or into the folder this checkout stands
//! in; a relative path that climbs above the root, or to a name that exists nowhere here; and a
//! symbolic link that ends outside. A line that must hold such a path says `tidy: outside because ...`.

use std::path::Path;

use super::manifests::resolve;
use super::{Finding, SourceFile, Tree};

const EXCUSE: &str = "tidy: outside because ";

/// First folders that every machine has, so that naming them points at no particular one.
const SYSTEM_FOLDERS: [&str; 10] = ["bin", "boot", "dev", "etc", "lib", "proc", "sbin", "sys", "usr", "var"];

/// First folders that hold people's own files.
const PRIVATE_FOLDERS: [&str; 3] = ["home", "root", "Users"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let private = private_prefixes(&tree.root);
    let mut findings = Vec::new();
    for file in &tree.files {
        let mut is_excused = false;
        for (number, line) in file.lines() {
            // The excuse stands on the line or on the one above it.
            let is_excuse = line.contains(EXCUSE);
            if !is_excuse && !is_excused {
                line_findings(tree, file, number, line, &private, &mut findings);
            }
            is_excused = is_excuse;
        }
    }
    for (path, target) in &tree.links {
        let folder = path.parent().unwrap_or(Path::new(""));
        if resolve(folder, target).is_none() {
            let message = format!("symbolic link to {}, outside the repository", target.display());
            findings.push(Finding::new(path, 1, message));
        }
    }
    findings
}

/// `/NAME/` for each folder that names a machine or a person: the one this checkout stands in among them.
fn private_prefixes(root: &Path) -> Vec<String> {
    let mut folders: Vec<String> = PRIVATE_FOLDERS.map(String::from).to_vec();
    let first = root.components().nth(1).map(|name| name.as_os_str().to_string_lossy().into_owned());
    folders.extend(first.filter(|name| !SYSTEM_FOLDERS.contains(&name.as_str())));
    folders.iter().map(|name| format!("/{name}/")).collect()
}

fn line_findings(tree: &Tree, file: &SourceFile, number: usize, line: &str, private: &[String], findings: &mut Vec<Finding>) {
    for prefix in private {
        let stands_alone = |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-/}".contains(before));
        if line.match_indices(prefix.as_str()).any(|(at, _)| stands_alone(at)) {
            let message = format!("absolute path {prefix}...: a stranger does not have it");
            findings.push(Finding::new(&file.path, number, message));
        }
    }
    for path in climbing_paths(line) {
        if !stays_inside(tree, file, path) {
            findings.push(Finding::new(&file.path, number, format!("path {path} leads out of the repository")));
        }
    }
}

/// Every upward path of a line, with all its `..`, and with the `/` before it if it is there.
fn climbing_paths(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |character: char| character.is_alphanumeric() || "._-/".contains(character);
    line.split(move |character: char| !is_path(character))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| word.trim_start_matches('/').starts_with("../"))
}

/// A path leads to something here, seen from the file's folder or from its crate's folder. With a `/` before it, as
/// in `concat!(env!("CARGO_MANIFEST_DIR"), "/..")`, it is meant from the crate's folder.
fn stays_inside(tree: &Tree, file: &SourceFile, path: &str) -> bool {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let crate_folder = folder.ancestors().find(|above| tree.root.join(above).join("Cargo.toml").is_file());
    let leads_here = |base: &Path| {
        let relative = Path::new(path.trim_start_matches('/'));
        resolve(base, relative).is_some_and(|inside| tree.root.join(inside).exists())
    };
    let is_from_crate = path.starts_with('/');
    (!is_from_crate && leads_here(folder)) || crate_folder.is_some_and(leads_here)
}

#[cfg(test)]
mod tests {
    use super::{check, private_prefixes};
    use crate::tidy::Tree;
    use crate::tidy::tests::{findings, write_tree};
    use std::path::Path;

    /// Paths are written with `@@` for `..` here, so that this file points nowhere itself.
    fn found_in(path: &str, line: &str) -> Vec<String> {
        let line = line.replace("@@", "..");
        let files = [("crates/x/Cargo.toml", "[package]\n"), ("fixtures/a.md", "x\n"), (path, line.as_str())];
        findings(&files, check)
    }

    #[test]
    fn paths_that_stay_inside_are_fine() {
        let fixture = "concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/@@/@@/fixtures/a.md\")";
        assert_eq!(found_in("crates/x/tests/deep/a.rs", fixture), [""; 0]);
        assert_eq!(found_in("crates/x/README.md", "see [a](@@/@@/fixtures/a.md#part) and @@/x/Cargo.toml."), [""; 0]);
        assert_eq!(found_in("crates/x/src/a.rs", "for i in 0..9 { a[i..] } // and so on.../b"), [""; 0]);
        assert_eq!(found_in("run", "#!/usr/bin/env bash\ncat /proc/self/stat https://a.b/home/c"), [""; 0]);
    }

    #[test]
    fn a_path_that_climbs_out_is_named() {
        let found = found_in("README.md", "first\nread @@/shared/design.md");
        assert_eq!(found, ["README.md:2: path @@/shared/design.md leads out of the repository".replace("@@", "..")]);
        assert_eq!(found_in("crates/x/src/a.rs", "//! @@/shared/design.md").len(), 1);
        assert_eq!(found_in("crates/x/src/a.rs", "\"/@@/@@/@@/fixtures/a.md\"").len(), 1);
        assert_eq!(found_in("crates/x/src/a.rs", "\"/@@/@@/fixtures/b.md\"").len(), 1);
    }

    #[test]
    fn a_path_into_somebodys_home_is_named() {
        for home in super::PRIVATE_FOLDERS {
            let found = found_in("run", &format!("\n\ncd \"/{home}/me/x\""));
            assert_eq!(found, [format!("run:3: absolute path /{home}/...: a stranger does not have it")]);
        }
        // The temporary folder in which this test's tree stands plays the checkout's first folder.
        let here = std::env::temp_dir().join("x").display().to_string();
        assert_eq!(found_in("run", &format!("cat {here}")).len(), 1);
    }

    #[test]
    fn an_excuse_covers_its_line_and_the_next_only() {
        let excuse = "// tidy: outside because a test of exactly this";
        assert_eq!(found_in("a.rs", &format!("let a = \"@@/b\"; {excuse}")), [""; 0]);
        assert_eq!(found_in("a.rs", &format!("{excuse}\nlet a = \"@@/b\";")), [""; 0]);
        assert_eq!(found_in("a.rs", &format!("{excuse}\n\nlet a = \"@@/b\";")).len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_ends_outside_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_tree(folder.path(), &[("a/b.md", "x\n")]);
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, folder.path().join(name)).expect("make a link");
        };
        link("b.md", "a/inside.md");
        link("../../b.md", "a/outside.md"); // tidy: outside because it is the wrong target
        link("/etc/hosts", "absolute");
        let tree = Tree::read(folder.path()).expect("the tree was just written");
        let mut named: Vec<_> = check(&tree).iter().map(|finding| finding.path.display().to_string()).collect();
        named.sort();
        assert_eq!(named, ["a/outside.md", "absolute"]);
    }

    #[test]
    fn the_folder_of_this_checkout_and_homes_are_private() {
        let prefixes = private_prefixes(Path::new("/srv/x/tsloom"));
        assert_eq!(prefixes.last().map(String::as_str), Some("/srv/"));
        assert_eq!(private_prefixes(Path::new("/usr/src/tsloom")).len(), 3);
    }
}
