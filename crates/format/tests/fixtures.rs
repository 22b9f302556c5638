//! The metadata of real files, found from their tails: every structure parses, and the bloom filter of every C++ file is
//! what this crate computes from the series names, bit for bit.
#![expect(clippy::unwrap_used, reason = "a fixture that does not parse is a failed test")]

use std::path::Path;

use tsloom_encoding::{ToWire, WireReader};
use tsloom_format::{BloomFilter, IndexNode, KeyForm, SeriesMetadata, TailBytes, TsFileMetadata};

/// Every file of a fixture folder, by name.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tsfile"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() > 30, "{} holds the fixtures", folder.display());
    files
}

fn footer(file: &[u8]) -> TsFileMetadata {
    let end = file.len() - 10;
    let size = u32::from_be_bytes(*file[end..].first_chunk().unwrap()) as usize;
    let mut wire = WireReader::with_base(&file[end - size..end], end - size);
    let metadata = TsFileMetadata::parse(file[6], &mut wire).unwrap();
    assert!(wire.is_empty(), "{} bytes are left", wire.remaining());
    metadata
}

/// Names of all series as they are in a filter, with their numbers of chunks. Devices are given `segment_count` segments by nulls at their end, as C++
/// leaves them.
fn series_names(file: &[u8], node: &IndexNode<'_>, segment_count: usize, names: &mut Vec<(String, usize)>) {
    for child in node.devices() {
        let bytes = &file[child.start as usize..child.end as usize];
        if node.node_type().is_inner() {
            series_names(file, &IndexNode::parse(&mut WireReader::new(bytes), KeyForm::Device).unwrap(), segment_count, names);
        } else {
            let id = child.key.to_id();
            let device = format!("{id}{}", ".null".repeat(segment_count.saturating_sub(id.segment_count())));
            let root = IndexNode::parse(&mut WireReader::new(bytes), KeyForm::Measurement).unwrap();
            measurements(file, &root, &mut |series| {
                names.push((format!("{device}.{}", series.measurement), series.chunks().count()));
            });
        }
    }
}

fn measurements(file: &[u8], node: &IndexNode<'_>, each: &mut dyn FnMut(SeriesMetadata<'_>)) {
    for child in node.measurements() {
        let bytes = &file[child.start as usize..child.end as usize];
        let mut wire = WireReader::with_base(bytes, child.start as usize);
        if node.node_type().is_inner() {
            measurements(file, &IndexNode::parse(&mut wire, KeyForm::Measurement).unwrap(), each);
            continue;
        }
        let mut first = true;
        while !wire.is_empty() {
            let series = SeriesMetadata::parse(&mut wire).unwrap();
            assert!(!first || series.measurement == child.key, "a key is the first name in its run");
            first = false;
            each(series);
        }
    }
}

/// The filter of a file, computed again from its series names.
fn check_filter(name: &str, file: &[u8], tail_bytes: TailBytes, element_count: impl Fn(&[(String, usize)], bool) -> usize) {
    let metadata = footer(file);
    let mut elements = Vec::new();
    for table in &metadata.tables {
        let keeps_nulls = tail_bytes == TailBytes::Unsigned;
        let schema = metadata.schema(table.name()).filter(|_| keeps_nulls);
        let segment_count = schema.map_or(0, |schema| schema.tag_count() + 1);
        series_names(file, &table.node().unwrap(), segment_count, &mut elements);
    }
    let Some(stored) = &metadata.bloom_filter else {
        assert!(elements.is_empty(), "{name}");
        return;
    };
    let mut computed = BloomFilter::new(element_count(&elements, metadata.schemas.is_empty()) as u64, 0.05);
    elements.iter().for_each(|(element, _)| computed.add_as(element.as_bytes(), tail_bytes));
    assert_eq!((stored.size(), stored.hash_count()), (computed.size(), computed.hash_count()), "{name}");
    assert!(stored.to_vec() == computed.to_vec(), "{name}: {elements:?}");
    assert!(elements.iter().all(|(element, _)| stored.may_contain(element.as_bytes())), "{name}");
}

#[test]
fn bloom_filters_of_cpp_files_are_recomputed_bit_for_bit() {
    for (name, file) in files("cpp") {
        // C++ counts one series less in table-model files.
        check_filter(&name, &file, TailBytes::Unsigned, |series, is_tree| series.len().saturating_sub(usize::from(!is_tree)));
    }
}

#[test]
fn bloom_filters_of_java_files_are_recomputed_bit_for_bit() {
    for (name, file) in files("java").into_iter().filter(|(_, file)| file[6] == 4) {
        // Java counts chunks, not series.
        check_filter(&name, &file, TailBytes::Signed, |series, _| series.iter().map(|(_, chunk_count)| chunk_count).sum());
    }
}

#[test]
fn a_version_3_footer_is_one_root_with_paths() {
    let (_, file) = files("java").into_iter().find(|(name, _)| name == "v3_tree").unwrap();
    let metadata = footer(&file);
    assert!(metadata.schemas.is_empty() && metadata.properties.is_empty());
    let root = metadata.table("root.anything").unwrap().node().unwrap();
    let devices: Vec<String> = root.devices().map(|child| child.key.to_id().to_string()).collect();
    assert!(!devices.is_empty() && devices.iter().all(|device| device.starts_with("root.")), "{devices:?}");
}
