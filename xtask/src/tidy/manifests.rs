//! Manifests: an outside dependency has its version in the root manifest, with the one reason it is here.

use std::path::{Component, Path, PathBuf};

use super::{Finding, SourceFile, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_manifest()) {
        let is_root = file.path == Path::new("Cargo.toml");
        if is_root {
            reasons(file, &mut findings);
        } else if !is_own_workspace(file) {
            versions(file, &mut findings);
        }
        paths(file, &mut findings);
    }
    findings
}

/// The peers and the fuzz targets are workspaces of their own, with versions of their own.
fn is_own_workspace(file: &SourceFile) -> bool {
    let peers = Path::new("benches/peers");
    file.lines().any(|(_, line)| line.starts_with("[workspace]")) || file.path.starts_with(peers)
}

/// Each line of `[workspace.dependencies]` that brings an outside crate ends in a comment, or stands below one.
fn reasons(file: &SourceFile, findings: &mut Vec<Finding>) {
    let mut section = "";
    let mut comment_above = false;
    for (number, line) in file.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        }
        let names_a_crate = line.contains('=') && !line.starts_with('#');
        let is_ours = line.contains("path = ");
        let has_reason = comment_above || comment_of(line).is_some_and(|comment| !comment.is_empty());
        if section == "[workspace.dependencies]" && names_a_crate && !is_ours && !has_reason {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            findings.push(Finding::new(&file.path, number, format!("{name} has no reason: add `# why it is here`")));
        }
        // A comment speaks for the line right below it; the title of the list speaks for none.
        comment_above = line.starts_with('#') && !line.starts_with("# Each ");
    }
}

fn comment_of(line: &str) -> Option<&str> {
    line.rsplit_once('#').map(|(_, comment)| comment.trim())
}

/// Members take every dependency from the workspace.
fn versions(file: &SourceFile, findings: &mut Vec<Finding>) {
    let mut in_dependencies = false;
    for (number, line) in file.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            in_dependencies = line.trim_end_matches(']').ends_with("dependencies");
            continue;
        }
        if !in_dependencies || line.is_empty() || line.starts_with('#') || !line.contains('=') {
            continue;
        }
        let from_workspace = line.contains("workspace = true");
        if !from_workspace {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            let message = format!("{name} names its own version or path: use `{name}.workspace = true`");
            findings.push(Finding::new(&file.path, number, message));
        }
    }
}

/// `path = "..."` stays inside the repository.
fn paths(file: &SourceFile, findings: &mut Vec<Finding>) {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    for (number, line) in file.lines() {
        let Some((_, rest)) = line.split_once("path = \"") else {
            continue;
        };
        let target = rest.split('"').next().unwrap_or(rest);
        if resolve(folder, Path::new(target)).is_none() {
            findings.push(Finding::new(&file.path, number, format!("path {target} leaves the repository")));
        }
    }
}

/// `path` seen from `folder`, both relative to the root; `None` when it climbs out or is absolute.
pub(super) fn resolve(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::Normal(name) => resolved.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !resolved.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(resolved)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::findings;

    #[test]
    fn a_dependency_without_a_reason_is_named() {
        let manifest = "[workspace.dependencies]\n\
            ours = { path = \"crates/ours\" }\n\
            # Each outside crate enters with a reason.\n\
            serde = \"1\"\n\
            bytes = \"1\" # the wire\n\
            # the command line\n\
            clap = { version = \"4\", features = [\"derive\"] }\n\
            [profile.release]\n\
            lto = \"thin\"\n";
        let found = findings(&[("Cargo.toml", manifest)], check);
        assert_eq!(found, ["Cargo.toml:4: serde has no reason: add `# why it is here`"]);
    }

    #[test]
    fn a_member_with_its_own_version_is_named() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nbytes.workspace = true\n\
            dhat = { workspace = true, optional = true }\n\n# a comment = 1\nserde = \"1\"\n\
            [dev-dependencies]\nclap = { version = \"4\" }\n[lints]\nworkspace = true\n";
        let found = findings(&[("crates/x/Cargo.toml", manifest)], check);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/x/Cargo.toml:8: serde names its own version"), "{found:?}");
        assert!(found[1].starts_with("crates/x/Cargo.toml:10: clap names its own version"), "{found:?}");
        assert_eq!(findings(&[("benches/peers/rust/Cargo.toml", manifest)], check), [""; 0]);
    }

    #[test]
    fn a_path_out_of_the_repository_is_named() {
        // `@@` is `..`, so that this file points nowhere itself.
        let manifest = "[workspace]\n[dependencies]\na = { path = \"@@/@@/b\" }\nc = { path = \"@@/@@/@@/c\" }\n";
        let found = findings(&[("crates/x/Cargo.toml", &manifest.replace("@@", ".."))], check);
        assert_eq!(found, ["crates/x/Cargo.toml:4: path @@/@@/@@/c leaves the repository".replace("@@", "..")]);
        let absolute = "[workspace]\n[dependencies]\na = { path = \"/b\" }\n";
        assert_eq!(findings(&[("Cargo.toml", absolute)], check).len(), 1);
    }
}
