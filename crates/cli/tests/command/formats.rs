//! Every form of rows, and conditions on tags.

use crate::lab::{Lab, repository};

const CSV: &str = "time,site,unit,v,note\n0,a,1,0.5,\"x\ty\"\n1000,a,,,\"\"\n2000,b,2,1.5,\n";

fn lab() -> Lab {
    let lab = Lab::new().with("in.csv", CSV);
    lab.good("import in.csv --out in.tsfile --tag site --tag unit");
    lab
}

#[test]
fn rows_in_every_form() {
    let lab = lab();
    assert_eq!(lab.good("cat in.tsfile"), lab.good("cat in.tsfile -f tsv"), "a pipe gets tab-separated lines");
    insta::assert_snapshot!("rows_tsv", lab.good("cat in.tsfile -f tsv"));
    insta::assert_snapshot!("rows_table", lab.good("cat in.tsfile -f table --time-format rfc3339"));
    insta::assert_snapshot!("rows_json", lab.good("cat in.tsfile -f json"));
    insta::assert_snapshot!("rows_ndjson", lab.good("cat in.tsfile -f ndjson"));
    insta::assert_snapshot!("rows_flat", lab.good("cat in.tsfile -f ndjson --flat"));
    assert_eq!(lab.good("cat in.tsfile -f json -n 0"), "[]\n");
    assert_eq!(lab.good("cat in.tsfile -f tsv --no-header -n 1 --offset 1"), "0\ta\t1\t0.5\tx\\ty\n");
    let parsed: serde_json::Value = serde_json::from_str(&lab.good("cat in.tsfile -f json")).unwrap();
    assert_eq!(parsed.as_array().unwrap().len(), 3);
}

#[test]
fn head_shows_ten_rows() {
    let lab = Lab::new();
    let file = repository("fixtures/cpp/tag1_all_types.tsfile");
    let file = file.display();
    assert_eq!(lab.good(&format!("head {file}")), lab.good(&format!("cat {file} -n 10")));
    assert_eq!(lab.good(&format!("head {file} -n 2 --offset 1 -f csv")), lab.good(&format!("cat {file} -n 2 --offset 1 -f csv")));
}

#[test]
fn tags_are_tested() {
    let lab = lab();
    lab.good("import in.csv --store lab.tsloom --tag site --tag unit");
    let times = |flags: &str| {
        let printed = lab.good(&format!("cat in.tsfile --no-header --columns v {flags}"));
        assert_eq!(lab.good(&format!("cat --store lab.tsloom --no-header --columns v {flags}")), printed, "{flags}");
        printed.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(times("--tag-filter site eq a"), "1000 0");
    assert_eq!(times("--tag-filter site neq a"), "2000");
    assert_eq!(times("--tag-filter site gt a"), "2000");
    assert_eq!(times("--tag-filter site regexp [ab]$"), "1000 0 2000");
    assert_eq!(times("--tag-filter site regexp ^b"), "2000");
    assert_eq!(times("--tag-filter unit is-null"), "1000");
    assert_eq!(times("--tag-filter unit not-null --tag-filter site le a"), "0");
    assert_eq!(times("--tag-filter unit is-null --tag-filter site eq b --tag-match any"), "1000 2000");
    insta::assert_snapshot!(lab.refused(1, "cat in.tsfile --tag-filter site eq"), @"--tag-filter site eq: a value is missing");
    insta::assert_snapshot!(lab.refused(3, "cat in.tsfile --tag-filter v regexp x"), @"column v of table in is no TAG");
    let line = lab.refused(1, "cat in.tsfile --tag-filter site regexp (");
    assert!(line.starts_with("--tag-filter site regexp: regular expression (: unclosed group"), "{line}");
}

#[test]
fn a_field_named_time_comes_back() {
    let lab = Lab::new().with("in.csv", "time,site,time,v\n1,a,10,0.5\n2,a,,1.5\n");
    lab.good("import in.csv --out in.tsfile");
    let csv = lab.good("cat in.tsfile -f csv");
    assert_eq!(csv, "time,site,time,v\n1,a,10,0.5\n2,a,,1.5\n");
    let again = lab.with("again.csv", &csv);
    again.good("import again.csv --out again.tsfile -t in");
    assert_eq!(again.good("cat again.tsfile -f csv"), csv);
}

/// An entry of version 2: all rows of table `in` in these times.
fn deletion(start: i64, end: i64) -> Vec<u8> {
    [&[0], &start.to_be_bytes()[..], &end.to_be_bytes(), b"\x04in", &[0, 0]].concat()
}

#[test]
fn deletions_beside_a_file_are_applied() {
    let lab = Lab::new().with("in.csv", "time,site,v\n1,a,0.5\n2,a,1.5\n3,b,2.5\n");
    lab.good("import in.csv --out in.tsfile");
    std::fs::write(lab.path("in.tsfile.mods2"), deletion(2, 3)).unwrap();
    for line in ["cat in.tsfile -f csv", "head in.tsfile -f csv"] {
        assert_eq!(lab.good(line), "time,site,v\n1,a,0.5\n", "{line}");
    }
    lab.good("export in.tsfile --type csv --out out.csv");
    assert_eq!(std::fs::read_to_string(lab.path("out.csv")).unwrap(), "time,site,v\n1,a,0.5\n");
    let counts = lab.good("count in.tsfile -m v -f csv");
    assert!(counts.lines().last().unwrap().contains(",FIELD,1,1,1,0,"), "{counts}");
    lab.good("convert in.tsfile --out copy.tsfile");
    assert_eq!(lab.good("cat copy.tsfile -f csv"), "time,site,v\n1,a,0.5\n");
    let ended = lab.run("stats in.tsfile");
    assert!(ended.stderr.starts_with("in.tsfile.mods2: rows were deleted here by IoTDB"), "{}", ended.stderr);
    std::fs::write(lab.path("in.tsfile.mods2"), [9; 40]).unwrap();
    assert!(lab.refused(2, "cat in.tsfile").contains("in.tsfile.mods2: deletion at offset 0: kind 9 is not known"));
}

#[test]
fn strict_refuses_deletions_beside_a_file() {
    let lab = lab().with("in.tsfile.mods", "x");
    for verb in ["cat", "ls", "meta", "schema", "stats", "count", "verify"] {
        let line = lab.refused(2, &format!("{verb} in.tsfile --strict"));
        assert!(line.contains("--strict"), "{line}");
    }
}

#[test]
fn devices_of_the_tree_model_are_objects() {
    let lab = Lab::new();
    let file = repository("fixtures/cpp/tree_not_aligned.tsfile");
    let file = file.display();
    let line = lab.refused(1, &format!("cat {file}"));
    assert!(line.ends_with("choose one with -d, or print all with -f ndjson"), "{line}");
    insta::assert_snapshot!("tree_rows", lab.good(&format!("cat {file} -d root.sg.d2 -n 3 -f csv")));
    let line = lab.refused(3, &format!("cat {file} -d root.sg.d9"));
    assert!(line.contains("has no device root.sg.d9; it has root.sg.d1, root.sg.d2"), "{line}");
}

#[test]
fn a_closed_pipe_is_no_error_for_any_verb() {
    use std::io::Read;
    let lab = Lab::new();
    let file = repository("fixtures/cpp/wide300.tsfile");
    for verb in ["cat -f ndjson", "stats", "count", "schema", "sketch", "ls --devices"] {
        let mut words = verb.split(' ');
        let line = format!("{} {} {}", words.next().unwrap(), file.display(), words.collect::<Vec<_>>().join(" "));
        let mut child = lab.command(&line).spawn().unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{verb}");
    }
}
