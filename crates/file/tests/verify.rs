//! `verify` and the byte map: sound files of all writers are sound, and every planted defect is found.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::fs;
use std::path::{Path, PathBuf};

use tsloom_file::{ByteMap, FileReader, FileWriter, PartKind, Verification, VerifyOptions, WriterOptions, verify};
use tsloom_model::{ColumnView, DataType, DeviceId, Limits, TableSchema, ValuesRef};

/// Files whose encoder lost values (SPRINTZ on wide steps), or whose RLBE floats have the old meaning, which has to be asked for:
/// their values are not those of their statistics, as `fixtures/*/README.md` says.
const LOSSY: [&str; 2] = ["enc_sprintz_", "enc_rlbe_"];

fn fixtures() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in ["cpp", "java"] {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(folder);
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "tsfile")));
    }
    paths.sort();
    paths
}

fn verified(bytes: &[u8]) -> tsloom_model::Result<Verification> {
    let reader = FileReader::new(bytes, "f", Limits::default())?;
    verify(&reader, VerifyOptions::default(), &mut |_, _| {})
}

fn messages(verification: &Verification) -> Vec<String> {
    verification.findings.iter().map(|finding| format!("{}: {}", finding.kind.name(), finding.error)).collect()
}

#[test]
fn files_of_all_writers_are_sound() {
    let mut count = 0;
    let mut unsound = Vec::new();
    for path in fixtures() {
        let verification = verified(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if !verification.is_sound() && !LOSSY.iter().any(|lossy| name.starts_with(lossy)) {
            unsound.push((name.to_owned(), messages(&verification)));
        }
        count += 1;
    }
    assert!(unsound.is_empty(), "{unsound:#?}");
    assert!(count > 90, "{count} fixtures");
}

#[test]
fn every_byte_of_every_fixture_is_something() {
    for path in fixtures() {
        let bytes = fs::read(&path).unwrap();
        let reader = FileReader::new(&bytes[..], "f", Limits::default()).unwrap();
        let map = ByteMap::of(&reader).unwrap();
        assert!(map.problems.is_empty(), "{}: {:?}", path.display(), map.problems);
        let mut end = 0;
        for part in &map.parts {
            assert_eq!((part.offset, part.kind == PartKind::Unknown), (end, false), "{}: {part:?}", path.display());
            end += part.size;
        }
        assert_eq!(end, bytes.len() as u64, "{}", path.display());
    }
}

/// A file with several pages, chunk groups, devices, nulls and types.
fn own_file() -> Vec<u8> {
    let schema = TableSchema::builder("wind")
        .tag("turbine")
        .field("power", DataType::Double)
        .field("count", DataType::Int32)
        .field("note", DataType::String)
        .build()
        .unwrap();
    let options = WriterOptions::builder().page_rows_max(16).index_degree(3).build().unwrap();
    let mut writer = FileWriter::new(Vec::new(), options).unwrap();
    writer.add_table(&schema).unwrap();
    for turn in 0..2 {
        for device in 0..5 {
            let times: Vec<i64> = (0..40).map(|row| turn * 1000 + row * 10).collect();
            let power: Vec<f64> = times.iter().map(|time| *time as f64 / 7.0).collect();
            let count: Vec<i32> = times.iter().map(|time| *time as i32 * 3 + device).collect();
            let mut note = tsloom_model::Values::new(DataType::String.physical());
            times.iter().for_each(|time| assert!(note.push(format!("n{time}").as_str().into())));
            let columns = [
                Some(ColumnView::new(DataType::Double, ValuesRef::Double(&power), None)),
                Some(ColumnView::new(DataType::Int32, ValuesRef::Int32(&count), None)),
                Some(ColumnView::new(DataType::String, note.as_values(), None)),
            ];
            let id = DeviceId::new("wind", [Some(format!("R{device}").as_str())]);
            writer.write_rows("wind", &id, &times, &columns).unwrap();
        }
        writer.flush_groups().unwrap();
    }
    writer.finish().unwrap().0
}

#[test]
fn counts_say_what_was_looked_at() {
    let verification = verified(&own_file()).unwrap();
    assert_eq!(messages(&verification), [""; 0]);
    assert_eq!((verification.device_count, verification.series_count), (5, 20));
    assert_eq!((verification.chunk_count, verification.page_count), (40, 120));
    assert_eq!((verification.row_count, verification.value_count), (400, 1200));
}

/// Changes the byte at `at` and expects a finding with these words, or an error when the file is opened.
fn check(good: &[u8], at: u64, change: impl Fn(u8) -> u8, words: &[&str]) {
    let mut bad = good.to_vec();
    bad[at as usize] = change(bad[at as usize]);
    let said = match verified(&bad) {
        Ok(verification) => messages(&verification),
        Err(error) => vec![error.to_string()],
    };
    assert!(said.iter().any(|line| words.iter().any(|word| line.contains(word))), "byte {at}, for {words:?}: {said:?}");
}

#[test]
fn planted_defects_are_named() {
    let good = own_file();
    let reader = FileReader::new(&good[..], "f", Limits::default()).unwrap();
    let map = ByteMap::of(&reader).unwrap();
    let parts = |kind: PartKind| map.parts.iter().filter(move |part| part.kind == kind);
    let flip = |byte: u8| byte ^ 1;
    for part in parts(PartKind::Series) {
        // Behind bits, name, type and list size stand the count and two times; at the end the offset of the last chunk.
        let count_at = part.offset + 2 + u64::from(good[part.offset as usize + 1] / 2) + 1 + 2;
        if part.detail.contains(": time:") {
            check(&good, part.offset + part.size - 17, flip, &["end time", "count"]);
        }
        check(&good, count_at, flip, &["statistics: ", "series metadata", "opened"]);
    }
    for part in parts(PartKind::ChunkHeader) {
        check(&good, part.offset, |_| 0x77, &["structure: "]);
    }
    for part in parts(PartKind::ChunkGroup) {
        check(&good, part.offset + part.size - 1, flip, &["which the index gives to"]);
    }
    for part in parts(PartKind::PageHeader).filter(|part| part.size > 20) {
        // Eight bytes before their end statistics have the upper end of a sum or a time, or a text.
        check(&good, part.offset + part.size - 8, |byte| byte ^ 0x40, &["statistics: ", "structure: "]);
    }
    for part in parts(PartKind::IndexNode) {
        check(&good, part.offset + part.size - 1, |_| 9, &["index node type 9 is not known"]);
        check(&good, part.offset + part.size - 2, flip, &["index: "]);
    }
    let filter = parts(PartKind::BloomFilter).next().unwrap();
    // Behind the number of bytes; before number of bits and hashes.
    let first = (filter.offset + 1..filter.offset + filter.size - 3).find(|at| good[*at as usize] != 0).unwrap();
    check(&good, first, |_| 0, &["bloom_filter: f: bloom filter"]);
    for part in parts(PartKind::Schema) {
        // The type of the column "count": its name, then the code.
        let schema = &good[part.offset as usize..(part.offset + part.size) as usize];
        let at = schema.windows(5).position(|window| window == b"count").unwrap() as u64 + 5;
        check(&good, part.offset + at, |_| DataType::Int64.code(), &["is INT64, its values are INT32"]);
    }
    check(
        &good,
        map.parts.iter().find(|part| part.kind == PartKind::Separator).unwrap().offset,
        |_| 4,
        &["separator", "structure: "],
    );
}

#[test]
fn nearly_every_flipped_bit_is_found() {
    // A bit of a value that leaves its bounds and its sum as they were cannot be found; all else is.
    let good = own_file();
    let reader = FileReader::new(&good[..], "f", Limits::default()).unwrap();
    let map = ByteMap::of(&reader).unwrap();
    let mut missed = Vec::new();
    let mut flipped = 0;
    for part in map.parts.iter().filter(|part| !matches!(part.kind, PartKind::Properties | PartKind::BloomFilter)) {
        for at in (part.offset..part.offset + part.size).step_by(3) {
            let mut bad = good.clone();
            bad[at as usize] ^= 1 << (at % 8);
            flipped += 1;
            if verified(&bad).is_ok_and(|verification| verification.is_sound()) {
                missed.push(format!("{} {at}: {}", part.kind.name(), part.detail));
            }
        }
    }
    assert!(missed.len() * 10 < flipped, "{} of {flipped} missed: {missed:#?}", missed.len());
}

#[test]
fn findings_past_the_greatest_number_are_counted() {
    let mut bad = own_file();
    let middle = bad.len() / 4;
    bad[middle..middle + 200].fill(0xff);
    let reader = FileReader::new(&bad[..], "f", Limits::default()).unwrap();
    let options = VerifyOptions { findings_max: 1 };
    let verification = verify(&reader, options, &mut |_, _| {}).unwrap();
    assert!(verification.findings.len() == 1 && verification.findings_left_out > 0);
}
