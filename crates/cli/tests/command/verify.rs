//! `verify` and `recover`.

use std::fs;

use tsloom::file::FileReader;

use crate::lab::{Lab, repository};

fn lab() -> Lab {
    let mut csv = String::from("time,site,v,note\n");
    for row in 0..300 {
        csv += &format!("{},{},{},n{row}\n", row / 2, ["a", "b"][row % 2], row as f64 / 8.0);
    }
    let lab = Lab::new().with("in.csv", csv);
    lab.good("import in.csv --out in.tsfile --tag site");
    lab
}

#[test]
fn a_sound_file_is_silent() {
    let lab = lab();
    assert_eq!(lab.good("verify in.tsfile"), "");
    let ended = lab.run("verify in.tsfile -v");
    assert_eq!((ended.status, ended.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stderr, @"in.tsfile: sound: 2 devices, 6 series, 6 chunks, 6 pages, 300 rows, 600 values");
    let report: serde_json::Value = serde_json::from_str(&lab.good("verify in.tsfile --json")).unwrap();
    let file = &report["files"][0];
    assert_eq!(
        (file["sound"].as_bool(), file["rows"].as_u64(), file["findings"].as_array().unwrap().len()),
        (Some(true), Some(300), 0)
    );
}

#[test]
fn what_is_found_is_printed() {
    let lab = lab();
    let good = fs::read(lab.path("in.tsfile")).unwrap();
    let mut bad = good.clone();
    // The count in the statistics of the first series.
    let sketch = lab.good("sketch in.tsfile --no-header");
    let series = sketch.lines().find(|line| line.contains("series metadata: in.a: time")).unwrap();
    let offset: usize = series.split('\t').next().unwrap().parse().unwrap();
    bad[offset + 4] ^= 1;
    let lab = lab.with("bad.tsfile", &bad).with("cut.tsfile", &good[..good.len() / 2]);
    let ended = lab.run("verify in.tsfile bad.tsfile cut.tsfile");
    assert_eq!(ended.status, 2);
    insta::assert_snapshot!(ended.stderr, @"not sound: bad.tsfile (1 findings), cut.tsfile");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(
        lines[0].starts_with("bad.tsfile: metadata of the chunk at offset ") && lines[1].starts_with("cut.tsfile: file tail"),
        "{lines:?}"
    );
    let report = lab.run("verify bad.tsfile cut.tsfile --json");
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    let finding = &report["files"][0]["findings"][0];
    assert_eq!(finding["kind"], "statistics");
    assert!(finding["message"].as_str().unwrap().contains("the statistics have the count"), "{finding}");
    assert_eq!(report["files"][1]["findings"][0]["kind"], "unreadable");
}

#[test]
fn the_old_meaning_of_rlbe_has_to_be_asked_for() {
    let lab = Lab::new();
    for name in ["enc_rlbe_float", "enc_rlbe_double"] {
        let file = repository(&format!("fixtures/java/{name}.tsfile"));
        let found = |flags: &str| lab.run(&format!("verify {} {flags}", file.display())).stdout.lines().count();
        assert!(found("--rlbe-floats old") < found(""), "{name}");
    }
}

#[test]
fn an_unfinished_file_is_recovered() {
    let lab = lab();
    let good = fs::read(lab.path("in.tsfile")).unwrap();
    let sketch = lab.good("sketch in.tsfile --no-header");
    let separator = sketch.lines().find(|line| line.ends_with("\tseparator")).unwrap();
    let end: usize = separator.split('\t').next().unwrap().parse().unwrap();
    let lab = lab.with("cut.tsfile", &good[..end]);
    let ended = lab.run("recover cut.tsfile -f csv");
    assert_eq!(ended.status, 0);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines.len() == 3 && lines[1].contains(",in.a,2,3"), "{lines:?}");
    assert!(ended.stderr.starts_with("cut.tsfile: ") && ended.stderr.contains("the file is not finished"), "{}", ended.stderr);

    assert_eq!(lab.good("recover cut.tsfile --write whole.tsfile --like in.tsfile"), "");
    assert_eq!(lab.good("cat whole.tsfile -f csv"), lab.good("cat in.tsfile -f csv"));
    assert_eq!(lab.good("verify whole.tsfile"), "");
    lab.good("recover cut.tsfile --write named.tsfile");
    assert_eq!(lab.good("cat named.tsfile -f csv").lines().next(), Some("time,tag1,note,v"));
    let line = lab.refused(3, "recover in.tsfile --write again.tsfile");
    assert!(line.contains("the file is finished"), "{line}");
    assert!(!lab.names().iter().any(|name| name.contains("tmp") || name == "again.tsfile"), "{:?}", lab.names());
}

/// Of every fixture, cut where its body ends, and padded with zeros: all rows are still there.
#[test]
fn unfinished_files_of_both_models_are_recovered() {
    let lab = Lab::new();
    let mut count = 0;
    for folder in ["cpp", "java"] {
        for entry in fs::read_dir(repository(&format!("fixtures/{folder}"))).unwrap() {
            let path = entry.unwrap().path();
            let file = path.display().to_string();
            if !file.ends_with(".tsfile") || file.contains("v3_") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let end = FileReader::open(&path).unwrap().body_end() as usize;
            // Where the last chunk ends in a zero, zeros behind it would make its end unsure.
            let zeros = if bytes[end - 1] == 0 { 0 } else { 4096 };
            fs::write(lab.path("cut.tsfile"), [&bytes[..end], &vec![0; zeros]].concat()).unwrap();
            let old = if file.contains("java/enc_rlbe") { "--rlbe-floats old" } else { "" };
            let is_table = lab.good(&format!("meta {file} -f ndjson")).contains(r#""model": "table""#);
            let like = if is_table { format!("--like {file}") } else { String::new() };
            lab.good(&format!("recover cut.tsfile --write whole.tsfile {old} {like}"));
            let rows = |file: &str| lab.good(&format!("cat {file} -f ndjson {old}"));
            assert_eq!(rows("whole.tsfile"), rows(&file), "{file}");
            count += 1;
        }
    }
    assert!(count >= 100, "{count} files");
    let version_3 = fs::read(repository("fixtures/java/v3_tree.tsfile")).unwrap();
    let lab = lab.with("v3.tsfile", &version_3[..20_000]);
    let line = lab.refused(2, "recover v3.tsfile --write o");
    assert!(line.contains("version 3"), "{line}");
}
