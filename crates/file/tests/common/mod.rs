//! Where the fixtures are, and what their `.jsonl` says.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tsloom_file::{ChunkRef, FileReader, PageRef};

/// The `.tsfile` files of a fixture folder, by name.
pub(crate) fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tsfile"))
        .collect();
    paths.sort();
    assert!(paths.len() > 10, "{} holds the fixtures", folder.display());
    paths
}

/// The lines of the `.jsonl` beside a fixture.
#[allow(dead_code, reason = "who compares bytes does not ask for them")]
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path.with_extension("jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The bytes of the chunk at `offset`.
pub(crate) fn chunk_bytes(reader: &FileReader, offset: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut prefix_size = 64;
    let size = loop {
        let left = reader.body_end() - offset;
        reader.read_range(offset, left.min(prefix_size), &mut bytes).unwrap();
        match ChunkRef::size_of(&bytes, offset).unwrap() {
            Some(size) => break size,
            None => prefix_size *= 2,
        }
    };
    reader.read_range(offset, size, &mut bytes).unwrap();
    bytes
}

/// The pages of a chunk.
pub(crate) fn pages<'a>(chunk: &ChunkRef<'a>) -> Vec<PageRef<'a>> {
    chunk.pages().map(Result::unwrap).collect()
}
