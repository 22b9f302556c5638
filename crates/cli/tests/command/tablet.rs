//! `tablet`: every file that Java wrote is described as its description says, and written again as the rules say.
//!
//! The descriptions beside the fixtures are the judge; `interop/check_tablets.py` is a second one, in another language.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::lab::{Lab, repository};

fn fixtures() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(repository("fixtures/tablet")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "bin"));
    paths.sort();
    assert_eq!(paths.len(), 35);
    paths
}

/// The description of a fixture without what does not stand in its bytes: the capacity, the bitmap object, NaNs of many kinds,
/// whether there was a map of properties, and days without a date object.
fn described(path: &Path) -> Json {
    let mut json: Json = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
    for key in ["name", "about", "max_rows", "sha256", "java_reserialized_sha256"] {
        json.as_object_mut().unwrap().remove(key);
    }
    for column in json["columns"].as_array_mut().unwrap() {
        column.as_object_mut().unwrap().remove("bitmap");
        if column["props"] == json!([]) {
            column["props"] = Json::Null;
        }
        let (data_type, slots) = (column["type"].as_str().unwrap().to_owned(), column["slots"].as_array_mut());
        for slot in slots.into_iter().flatten() {
            match (data_type.as_str(), slot.as_str()) {
                ("FLOAT", Some(hex)) if f32::from_bits(u32::from_str_radix(hex, 16).unwrap()).is_nan() => {
                    *slot = json!("7fc00000");
                }
                ("DOUBLE", Some(hex)) if f64::from_bits(u64::from_str_radix(hex, 16).unwrap()).is_nan() => {
                    *slot = json!("7ff8000000000000");
                }
                ("DATE", None) if slot.is_null() => *slot = json!(10_000_101),
                _ => {}
            }
        }
    }
    json
}

#[test]
fn every_fixture_is_described_as_its_description_says() {
    let lab = Lab::new();
    for path in fixtures() {
        let printed = lab.good(&format!("tablet dump {} --json", path.display()));
        let printed: Json = serde_json::from_str(&printed).unwrap();
        assert_eq!(printed, described(&path), "{}", path.display());
    }
}

#[test]
fn what_is_written_again_says_the_same_and_stays() {
    let lab = Lab::new();
    for path in fixtures() {
        assert_eq!(lab.good(&format!("tablet reencode {} --out once.bin", path.display())), "");
        lab.good("tablet reencode once.bin --out twice.bin");
        let once = fs::read(lab.path("once.bin")).unwrap();
        assert!(once == fs::read(lab.path("twice.bin")).unwrap(), "{}", path.display());
        let mut again: Json = serde_json::from_str(&lab.good("tablet dump once.bin --json")).unwrap();
        let mut expected = described(&path);
        for json in [&mut again, &mut expected] {
            json.as_object_mut().unwrap().remove("bytes");
            for column in json["columns"].as_array_mut().unwrap() {
                let nulls: Vec<usize> = serde_json::from_value(column["nulls"].clone()).unwrap();
                if let Some(slots) = column["slots"].as_array_mut() {
                    nulls.into_iter().for_each(|row| slots[row] = Json::Null);
                }
            }
        }
        assert_eq!(again, expected, "{}", path.display());
        assert_eq!(lab.names(), ["once.bin", "twice.bin"]);
    }
}

#[test]
fn a_dump_is_for_the_eye() {
    let lab = Lab::new();
    for name in ["all10_r9", "schema_props", "missing_value_array", "null_target", "no_columns"] {
        let bytes = fs::read(repository(&format!("fixtures/tablet/{name}.bin"))).unwrap();
        let lab = Lab::new().with("tablet.bin", bytes);
        insta::assert_snapshot!(format!("dump_{name}"), lab.good("tablet dump tablet.bin"));
    }
    let bytes = fs::read(repository("fixtures/tablet/all10_r1024_full.bin")).unwrap();
    let piped = lab.pipe("tablet dump - -n 2", &bytes);
    assert_eq!((piped.status, piped.stderr.as_str()), (0, ""));
    assert!(piped.stdout.starts_with("standard input: 79,240 bytes, 1024 rows x 10 columns\n"), "{}", piped.stdout);
    assert!(piped.stdout.ends_with("\nrows left out: 1022 (see -n and --json)\n"), "{}", piped.stdout);
}

#[test]
fn what_is_no_tablet_is_one_line_and_leaves_nothing() {
    let whole = fs::read(repository("fixtures/tablet/all10_r7.bin")).unwrap();
    let mut bad_type = whole.clone();
    let type_at = 4 + 10 + 4 + 1 + 4 + 1 + 4 + "s0_boolean".len();
    bad_type[type_at] = 99;
    let lab = Lab::new()
        .with("empty.bin", "")
        .with("cut.bin", &whole[..whole.len() - 1])
        .with("longer.bin", [&whole[..], b"x"].concat())
        .with("type.bin", bad_type);
    let before = lab.names();
    let refusals = [
        "empty.bin: tablet at offset 0: need 4 bytes at position 0, 0 are left",
        "cut.bin: tablet at offset 854: need 56 bytes at position 854, 55 are left",
        "longer.bin: tablet at offset 910: 1 bytes follow the tablet",
        "type.bin: tablet at offset 38: 99 is the code of no data type",
    ];
    for verb in ["dump", "dump --json", "reencode --out out.bin"] {
        for refusal in refusals {
            let file = refusal.split(':').next().unwrap();
            assert_eq!(lab.refused(2, &format!("tablet {verb} {file}")), refusal);
        }
        assert!(lab.refused(2, &format!("tablet {verb} none.bin")).starts_with("none.bin: "));
    }
    assert_eq!(lab.names(), before);
    let lab = lab.with("good.bin", whole);
    let line = lab.refused(3, "tablet reencode good.bin --out none/out.bin");
    assert!(line.starts_with("none/out.bin: "), "{line}");
    let piped = lab.run("tablet reencode good.bin --out out.bin -v");
    insta::assert_snapshot!(piped.stderr, @"7 rows, 910 bytes of good.bin as 910 bytes of out.bin");
}
