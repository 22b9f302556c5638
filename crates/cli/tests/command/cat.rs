//! `cat` and `schema`: fixtures to their lines, and every flag.

use std::fs;
use std::io::Read;

use crate::lab::{Lab, repository};

/// It lost data when C++ wrote it (see `fixtures/cpp`).
const NOT_READ: [&str; 1] = ["enc_sprintz_double_suspect"];

#[test]
fn every_fixture_reads_to_its_lines() {
    let lab = Lab::new();
    let mut read = 0;
    for entry in fs::read_dir(repository("fixtures/cpp")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_none_or(|extension| extension != "tsfile") || NOT_READ.contains(&name) {
            continue;
        }
        let expected = fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let printed = lab.good(&format!("cat {} -f ndjson --schema", path.display()));
        for (number, (printed, expected)) in printed.lines().zip(expected.lines()).enumerate() {
            assert_eq!(printed, expected, "{name}, line {}", number + 1);
        }
        assert_eq!(printed.lines().count(), expected.lines().count(), "{name}");
        read += 1;
    }
    assert!(read >= 30, "{read} fixtures");
}

#[test]
fn damaged_files_end_in_rows_or_in_one_line() {
    let lab = Lab::new();
    let mut seen = 0;
    for entry in fs::read_dir(repository("fixtures/cpp/hostile")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "tsfile") {
            let ended = lab.run(&format!("cat {} -f ndjson", path.display()));
            match ended.status {
                0 => assert_eq!(ended.stderr, ""),
                2 => {
                    assert_eq!(ended.stderr.matches('\n').count(), 1, "{}", ended.stderr);
                    assert!(ended.stderr.contains("offset "), "{}", ended.stderr);
                }
                status => panic!("{}: {status}", path.display()),
            }
            seen += 1;
        }
    }
    assert!(seen >= 19, "{seen} files");
}

#[test]
fn a_truncated_or_foreign_file_is_one_line() {
    let whole = fs::read(repository("fixtures/cpp/tag1_all_types.tsfile")).unwrap();
    let lab = Lab::new().with("cut.tsfile", &whole[..1000]).with("empty.tsfile", "").with("other.tsfile", {
        let mut other = whole.clone();
        other[..4].copy_from_slice(b"PAR1");
        other
    });
    for name in ["cut.tsfile", "empty.tsfile", "other.tsfile"] {
        for verb in ["cat", "schema"] {
            let line = lab.refused(2, &format!("{verb} {name}"));
            assert!(line.starts_with(&format!("{name}: ")) && line.contains("offset "), "{line}");
        }
    }
    let line = lab.refused(2, "cat none.tsfile");
    assert!(line.starts_with("none.tsfile: "), "{line}");
}

const CSV: &str = "time,site,unit,v,note\n0,a,1,0.5,\"x,y\"\n1000,a,1,,\"\"\n2000,a,2,1.5,\n3000,b,1,2.5,z\n4000,b,2,-0.0,w\n";

fn lab() -> Lab {
    let lab = Lab::new().with("in.csv", CSV);
    lab.good("import in.csv --out in.tsfile --tag site --tag unit");
    lab.good("import in.csv --store lab.tsloom --tag site --tag unit");
    lab
}

/// The same flags on a file and on a store give the same lines; CSV unless another form is among them.
fn cat(lab: &Lab, flags: &str) -> String {
    let flags = if flags.contains("-f ") { flags.to_owned() } else { format!("-f csv {flags}") };
    let printed = lab.good(&format!("cat in.tsfile {flags}"));
    assert_eq!(lab.good(&format!("cat --store lab.tsloom {flags}")), printed, "{flags}");
    printed
}

#[test]
fn csv_reads_back() {
    let lab = lab();
    assert_eq!(cat(&lab, ""), CSV);
    assert_eq!(cat(&lab, "--no-header -n 1"), "0,a,1,0.5,\"x,y\"\n");
}

#[test]
fn rows_are_chosen_by_time_tag_and_number() {
    let lab = lab();
    let times = |flags: &str| {
        let printed = cat(&lab, &format!("--columns v --no-header {flags}"));
        printed.lines().map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(times("--start 1000 --end 3000"), "1000 2000 3000");
    assert_eq!(times("--from 1970-01-01T00:00:01Z --to 1970-01-01T01:00:02+01:00"), "1000 2000");
    assert_eq!(times("--start -5 --end 0"), "0");
    assert_eq!(times("--start 5 --end 4"), "");
    assert_eq!(times("--where-tag site=b"), "3000 4000");
    assert_eq!(times("--where-tag site=b --where-tag UNIT=1"), "3000");
    assert_eq!(times("--where-tag site=c"), "");
    assert_eq!(times("-n 2 --offset 1"), "1000 2000");
    assert_eq!(times("-n 2 --offset 4"), "4000");
    assert_eq!(times("-n 0"), "");
    assert_eq!(times("--offset 9"), "");
    assert_eq!(times("--where-tag site=b --offset 1 --start 0 -n 7"), "4000");
}

#[test]
fn columns_are_chosen_in_order() {
    let lab = lab();
    assert_eq!(cat(&lab, "--columns v,site -n 1"), "time,v,site\n0,0.5,a\n");
    assert_eq!(cat(&lab, "-m note -m V -n 1"), "time,note,v\n0,\"x,y\",0.5\n");
    assert_eq!(
        cat(&lab, "-f ndjson --columns v,site --offset 4"),
        "{\"table\": \"in\", \"time\": 4000, \"tags\": {\"site\": \"b\"}, \"fields\": {\"v\": -0.0}}\n"
    );
}

#[test]
fn times_can_be_rfc_3339() {
    assert_eq!(
        cat(&lab(), "--columns v -n 2 --time-format rfc3339"),
        "time,v\n1970-01-01T00:00:00Z,0.5\n1970-01-01T00:00:01Z,\n"
    );
}

#[test]
fn what_is_not_there_is_a_failed_query() {
    let lab = lab();
    insta::assert_snapshot!(lab.refused(3, "cat in.tsfile -t out"), @"in.tsfile has no table out; it has in");
    insta::assert_snapshot!(lab.refused(3, "cat --store lab.tsloom -t out"), @"lab.tsloom has no table out; it has in");
    insta::assert_snapshot!(lab.refused(3, "cat in.tsfile --columns w -f ndjson"), @"table in has no column w; it has site, unit, v, note");
    insta::assert_snapshot!(lab.refused(3, "cat in.tsfile --columns v,note,V"), @"column V of table in is asked for twice");
    insta::assert_snapshot!(lab.refused(3, "cat in.tsfile --where-tag v=1 -f ndjson"), @"column v of table in is no TAG");
    insta::assert_snapshot!(lab.refused(3, "schema in.tsfile -t out"), @"in.tsfile has no table out; it has in");
}

#[test]
fn several_tables_need_a_choice_in_csv() {
    let lab = Lab::new();
    let path = repository("fixtures/cpp/three_tables.tsfile");
    let file = path.display();
    let line = lab.refused(1, &format!("cat {file} -f csv"));
    assert!(line.contains("has 3 tables (") && line.ends_with("choose one with -t, or print all with -f ndjson"), "{line}");
    let line = lab.refused(3, &format!("cat {file} -f ndjson --columns dev"));
    assert!(line.starts_with("table beta has no column dev; "), "{line}");
    let all = lab.good(&format!("cat {file} -f ndjson"));
    let lines: Vec<&str> = all.lines().collect();
    for (offset, limit) in [(0, 1), (3, 5), (lines.len() - 2, 9), (lines.len(), 1), (0, lines.len())] {
        let expected: String = lines.iter().skip(offset).take(limit).map(|line| format!("{line}\n")).collect();
        assert_eq!(lab.good(&format!("cat {file} -f ndjson --offset {offset} -n {limit}")), expected);
    }
}

#[test]
fn schema_lists_columns_as_the_official_tool_does() {
    insta::assert_snapshot!(lab().good("schema in.tsfile -f csv"), @r"
    model,object,column,category,data_type,encoding,compression
    table,in,site,TAG,STRING,PLAIN,LZ4
    table,in,unit,TAG,STRING,PLAIN,LZ4
    table,in,v,FIELD,DOUBLE,GORILLA,LZ4
    table,in,note,FIELD,STRING,PLAIN,LZ4
    ");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let lab = Lab::new();
    let source = repository("examples/data/imu_watch_50hz.csv");
    lab.good(&format!("import {} --out imu.tsfile", source.display()));
    let mut child = lab.command("cat imu.tsfile").spawn().unwrap();
    let mut first = [0; 5];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
