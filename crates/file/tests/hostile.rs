//! Damaged files: every cut and thousands of mutations of small fixtures, and the files that bring the C++ reader down.
//! Each walk ends with an error or with whole pages, without a panic, in memory bounded by the size of the file.
#![expect(clippy::unwrap_used, reason = "a fixture that is not there is a failed test")]

use std::path::{Path, PathBuf};

use tsloom_alloc_probe::{Probe, measure};
use tsloom_file::{ChunkRef, DeviceSeries, FileReader, Recovery};
use tsloom_model::{Error, ErrorKind, Limits, Result};

#[global_allocator]
static PROBE: Probe = Probe::new();

/// Everything the reader can be asked about a file: devices, series, chunks, pages. Returns the number of pages.
fn walk(bytes: &[u8]) -> Result<usize> {
    let _ = Recovery::of(bytes, &Limits::default());
    let reader = FileReader::new(bytes, "hostile", Limits::default())?;
    let mut cursor = reader.all_devices();
    let mut series = DeviceSeries::default();
    let mut page_count = 0;
    while cursor.advance(&reader)? {
        // One bad device does not hide the others.
        if cursor.read_series(&reader, &mut series).is_err() {
            continue;
        }
        let _ = (cursor.device().to_id(), series.time().is_some());
        for series in series.iter() {
            let _ = (series.name(), series.statistics().values());
            for meta in series.chunks() {
                let body = &bytes[meta.offset as usize..reader.body_end() as usize];
                let Ok(chunk) = ChunkRef::parse(body, meta.offset) else {
                    continue;
                };
                page_count += chunk.pages().filter(Result::is_ok).count();
            }
        }
    }
    Ok(page_count)
}

fn check(bytes: &[u8], what: impl Fn() -> String) -> Result<usize> {
    let (walked, counts) = measure(|| walk(bytes));
    let bound = 16 * bytes.len() as u64 + (256 << 10);
    assert!(counts.peak_bytes <= bound, "{}: {} bytes at the peak, {} of input", what(), counts.peak_bytes, bytes.len());
    if let Err(error) = &walked {
        check_message(error, &what);
    }
    walked
}

fn check_message(error: &Error, what: impl Fn() -> String) {
    let text = error.to_string();
    assert!(text.starts_with("hostile: "), "{}: {text}", what());
    let kinds =
        [ErrorKind::Truncated, ErrorKind::Corrupt, ErrorKind::Unsupported, ErrorKind::LimitExceeded, ErrorKind::SchemaMismatch];
    assert!(kinds.contains(&error.kind()), "{}: {error:?}", what());
}

fn small_fixtures(size_max: u64) -> Vec<PathBuf> {
    let folder = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    let entries = ["cpp", "java"].into_iter().flat_map(|name| std::fs::read_dir(folder(name)).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "tsfile") && path.metadata().unwrap().len() <= size_max);
    paths.sort();
    assert!(paths.len() > 10, "the fixtures are there");
    paths
}

#[test]
fn a_file_cut_at_any_byte_has_no_end() {
    for path in small_fixtures(2500) {
        let bytes = std::fs::read(&path).unwrap();
        walk(&bytes).unwrap();
        for size in 0..bytes.len() {
            let error = check(&bytes[..size], || format!("{} cut at {size}", path.display())).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
        }
    }
}

#[test]
fn a_tail_of_zeros_is_no_end_either() {
    for path in small_fixtures(2500) {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.resize(bytes.len() + 4096, 0);
        assert_eq!(walk(&bytes).unwrap_err().kind(), ErrorKind::Truncated);
    }
}

#[test]
fn mutations_end_in_an_error_or_in_pages() {
    let mut state = 1_u64;
    let mut random = move |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % bound
    };
    for path in small_fixtures(6_000) {
        let original = std::fs::read(&path).unwrap();
        // The body is not decoded here, so most of the damage goes to the metadata.
        let reader = FileReader::open(&path).unwrap();
        let meta = reader.body_end() as usize;
        for round in 0..400 {
            let mut bytes = original.clone();
            for _ in 0..1 + random(3) {
                let at = if random(4) == 0 { random(bytes.len()) } else { meta + random(bytes.len() - meta) };
                match random(3) {
                    0 => bytes[at] ^= 1 << random(8),
                    1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random(5)],
                    _ => bytes[at] = random(256) as u8,
                }
            }
            let _ = check(&bytes, || format!("{} round {round}", path.display()));
        }
    }
}

#[test]
fn files_that_bring_the_cpp_reader_down_do_not_bring_this_one_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cpp/hostile");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "tsfile") {
            let _ = check(&std::fs::read(&path).unwrap(), || path.display().to_string());
            seen += 1;
        }
    }
    assert!(seen > 10);
}

/// A footer whose index has a leaf for the same children over and over.
#[test]
fn an_index_that_points_to_the_same_bytes_again_and_again_ends() {
    use tsloom_encoding::ToWire;
    use tsloom_format::{NodeType, TableRoot, TsFileMetadata, put_device_node, put_measurement_node};
    use tsloom_model::DeviceId;

    let id = DeviceId::new("t", [Some("a")]);
    let mut bytes = b"TsFile\x04\x02".to_vec();
    let leaf = bytes.len() as u64;
    put_measurement_node(&[], leaf, NodeType::LeafMeasurement, &mut bytes);
    // Every level has two nodes that both point to both nodes of the level below: 2^60 paths through 120 nodes.
    let mut below = [leaf, bytes.len() as u64];
    put_device_node(&[(&id, leaf)], below[1], NodeType::LeafDevice, &mut bytes);
    below = [below[1], bytes.len() as u64];
    put_device_node(&[(&id, leaf)], below[0], NodeType::LeafDevice, &mut bytes);
    let mut end = bytes.len() as u64;
    for _ in 0..60 {
        let start = end;
        put_device_node(&[(&id, below[0]), (&id, below[1])], end, NodeType::InnerDevice, &mut bytes);
        let second = bytes.len() as u64;
        put_device_node(&[(&id, below[0]), (&id, below[1])], end, NodeType::InnerDevice, &mut bytes);
        (below, end) = ([start, second], bytes.len() as u64);
    }
    let mut root = Vec::new();
    put_device_node(&[(&id, below[0]), (&id, below[1])], end, NodeType::InnerDevice, &mut root);
    let footer = TsFileMetadata {
        tables: vec![TableRoot::new("t", &root)],
        schemas: Vec::new(),
        meta_offset: 7,
        bloom_filter: None,
        properties: Vec::new(),
    };
    let footer = footer.to_vec();
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(&(footer.len() as i32).to_be_bytes());
    bytes.extend_from_slice(b"TsFile");
    let error = check(&bytes, || "the lattice".to_owned()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("points to more bytes than the metadata has"), "{error}");
}
