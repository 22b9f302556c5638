//! The floors of the crate graph, from `cargo metadata`.
//!
//! Each member's manifest says where it stands:
//!
//! ```toml
//! [package.metadata.tsloom]
//! floor = 2        # or: beside = true
//! ```
//!
//! A floor crate depends on crates of strictly lower floors. Crates beside the house (test kit, probe, benches, xtask)
//! may use anything, and the house may use them in its tests only.

use std::path::Path;

use serde::Deserialize;

use super::{Finding, Tree};
use crate::root;

/// The part of `cargo metadata --no-deps` that matters here.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
    /// `null` in a manifest without `[package.metadata]`.
    metadata: Option<PackageMetadata>,
}

#[derive(Debug, Default, Deserialize)]
struct PackageMetadata {
    #[serde(default)]
    tsloom: Placement,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Placement {
    floor: Option<u32>,
    #[serde(default)]
    beside: bool,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `null` for a normal one, else `dev` or `build`.
    kind: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Floor(u32),
    Beside,
}

/// Asks cargo about the members of the workspace.
pub(super) fn metadata() -> Result<Metadata, String> {
    let output = root::cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

pub(super) fn check(metadata: &Metadata, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(place) = place_of(package) else {
            let message = format!(
                "{} has no place: say `floor = N` or `beside = true` (one of them) in [package.metadata.tsloom]",
                package.name
            );
            findings.push(at(tree, package, "[package.metadata.tsloom]", message));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(target) = metadata.packages.iter().find(|other| other.name == dependency.name) else {
                continue; // an outside crate
            };
            let is_dev = dependency.kind.as_deref() == Some("dev");
            if let Some(message) = wrong_edge(package, place, target, is_dev) {
                findings.push(at(tree, package, &dependency.name, message));
            }
        }
    }
    findings
}

fn place_of(package: &Package) -> Option<Place> {
    let placement = package.metadata.as_ref().map(|metadata| metadata.tsloom).unwrap_or_default();
    match (placement.floor, placement.beside) {
        (Some(floor), false) => Some(Place::Floor(floor)),
        (None, true) => Some(Place::Beside),
        _ => None,
    }
}

fn wrong_edge(from: &Package, place: Place, to: &Package, is_dev: bool) -> Option<String> {
    let Place::Floor(floor) = place else {
        return None;
    };
    match place_of(to)? {
        Place::Beside if is_dev => None,
        Place::Beside => Some(format!(
            "{} (floor {floor}) uses {}, which stands beside the house: allowed under [dev-dependencies] only",
            from.name, to.name
        )),
        Place::Floor(below) if below < floor => None,
        Place::Floor(other) => {
            Some(format!("{} (floor {floor}) depends on {} (floor {other}): only lower floors are allowed", from.name, to.name))
        }
    }
}

/// A finding at the line of the manifest that begins with `wanted`.
fn at(tree: &Tree, package: &Package, wanted: &str, message: String) -> Finding {
    let full = Path::new(&package.manifest_path);
    let path = full.strip_prefix(&tree.root).unwrap_or(full);
    let line = tree
        .file(path)
        .and_then(|file| file.lines().find(|(_, line)| line.starts_with(wanted)).map(|(number, _)| number))
        .unwrap_or(1);
    Finding::new(path, line, message)
}

#[cfg(test)]
mod tests {
    use super::{Metadata, check};
    use crate::tidy::Tree;
    use crate::tidy::tests::write_tree;

    const LOW: &str = r#"{"name": "low", "metadata": {"tsloom": {"floor": 0}}, "dependencies": DEPS}"#;
    const HIGH: &str = r#"{"name": "high", "metadata": {"tsloom": {"floor": 3}}, "dependencies": DEPS}"#;
    const PEER: &str = r#"{"name": "peer", "metadata": {"tsloom": {"floor": 3}}, "dependencies": DEPS}"#;
    const KIT: &str = r#"{"name": "kit", "metadata": {"tsloom": {"beside": true}}, "dependencies": DEPS}"#;

    /// `uses`: the package, whom it uses, and the kind of the dependency in JSON.
    fn broken(packages: &[&str], uses: (&str, &str, &str)) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let manifest = format!("[package]\n[dependencies]\n{}.workspace = true\n", uses.1);
        write_tree(folder.path(), &[("high/Cargo.toml", &manifest)]);
        let root = folder.path().display();
        let packages: Vec<String> = packages
            .iter()
            .map(|package| {
                let mut value: String = (*package).to_owned();
                let is_user = value.contains(&format!("\"name\": \"{}\"", uses.0));
                let edge = format!(r#"[{{"name": "{}", "kind": {}}}, {{"name": "serde", "kind": null}}]"#, uses.1, uses.2);
                value = value.replace("DEPS", if is_user { &edge } else { "[]" });
                value.replacen('{', &format!(r#"{{"manifest_path": "{root}/high/Cargo.toml", "#), 1)
            })
            .collect();
        let json = format!(r#"{{"packages": [{}]}}"#, packages.join(","));
        let metadata: Metadata = serde_json::from_str(&json).expect("the form of cargo metadata");
        let tree = Tree::read(folder.path()).expect("the tree was just written");
        check(&metadata, &tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn down_is_allowed() {
        assert_eq!(broken(&[LOW, HIGH], ("high", "low", "null")), [""; 0]);
    }

    #[test]
    fn up_and_sideways_are_not() {
        let message = "high/Cargo.toml:3: low (floor 0) depends on high (floor 3): only lower floors are allowed";
        assert_eq!(broken(&[LOW, HIGH], ("low", "high", "null")), [message]);
        assert_eq!(broken(&[LOW, HIGH], ("low", "high", "\"build\"")), [message]);
        assert_eq!(broken(&[LOW, HIGH], ("low", "high", "\"dev\"")), [message]);
        let message = "high/Cargo.toml:3: high (floor 3) depends on peer (floor 3): only lower floors are allowed";
        assert_eq!(broken(&[PEER, HIGH], ("high", "peer", "null")), [message]);
    }

    #[test]
    fn what_stands_beside_is_for_tests_only() {
        assert_eq!(broken(&[KIT, HIGH], ("high", "kit", "\"dev\"")), [""; 0]);
        assert_eq!(broken(&[KIT, HIGH], ("kit", "high", "null")), [""; 0]);
        let found = broken(&[KIT, HIGH], ("high", "kit", "null"));
        assert_eq!(found.len(), 1);
        assert!(found[0].ends_with("allowed under [dev-dependencies] only"), "{found:?}");
    }

    #[test]
    fn every_member_has_exactly_one_place() {
        for metadata in ["null", "{}", r#"{"tsloom": {}}"#, r#"{"tsloom": {"floor": 1, "beside": true}}"#] {
            let package = format!(r#"{{"name": "lost", "metadata": {metadata}, "dependencies": DEPS}}"#);
            let found = broken(&[&package], ("lost", "nobody", "null"));
            assert_eq!(found.len(), 1, "{metadata}");
            assert!(found[0].contains("lost has no place"), "{found:?}");
        }
    }
}
