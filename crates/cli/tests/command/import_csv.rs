//! `import`: types, null, tags, duplicates, order, and what is said about a CSV that does not fit.

use crate::lab::{Lab, refusal};

/// The rows of a CSV after import into a file, as ndjson with schema lines.
fn imported(csv: &str, flags: &str) -> String {
    let lab = Lab::new().with("In.csv", csv);
    assert_eq!(lab.good(&format!("import In.csv --out out.tsfile {flags}")), "");
    let rows = lab.good("cat out.tsfile -f ndjson --schema");
    // A store must come to the same.
    assert_eq!(lab.good(&format!("import In.csv --store lab.tsloom {flags}")), "");
    assert_eq!(lab.good("cat --store lab.tsloom -f ndjson --schema"), rows);
    rows
}

fn refused(status: i32, csv: impl AsRef<[u8]>, flags: &str) -> String {
    let lab = Lab::new().with("in.csv", csv);
    let line = lab.refused(status, &format!("import in.csv --out out.tsfile {flags}"));
    assert_eq!(lab.names(), ["in.csv"], "nothing is left behind");
    line
}

#[test]
fn types_are_the_narrowest_that_hold_every_cell() {
    insta::assert_snapshot!(imported(
        "time,site,n,v,on,id,note,none\n\
         10,b,1,0.5,true,007,\"\",\n\
         20,a,-2,\\N,,08,\"x,\"\"y\"\"\",\n\
         30,,,1e300,false,9,\u{e9}t\u{e9},\n",
        "",
    ));
}

#[test]
fn told_types_tags_and_nulls_win() {
    insta::assert_snapshot!(imported(
        "when,a,b,f,d,t,x,n\n\
         1970-01-01T00:00:01Z,7,1,0.1,2024-02-29,5,00ff,-\n\
         1970-01-01T02:00:00.250+01:00,8,0,nan,1000-01-01,1970-01-01T00:00:00Z,,NA\n",
        "--table T2 --time when --tag a --null - --null NA --type b=BOOLEAN --type f=FLOAT --type d=DATE \
         --type t=TIMESTAMP --type x=BLOB --type n=INT32",
    ));
}

#[test]
fn duplicates_are_merged_by_column() {
    insta::assert_snapshot!(imported(
        "time,tag,a,b\n1,x,1,\n2,x,2,2\n1,y,9,9\n2,x,,3\n2,x,4,\n2,y,9,\n",
        "",
    ), @r#"
    {"schema": {"table": "in", "columns": [{"name": "tag", "type": "STRING", "category": "TAG"}, {"name": "a", "type": "INT64", "category": "FIELD"}, {"name": "b", "type": "INT64", "category": "FIELD"}]}}
    {"table": "in", "time": 1, "tags": {"tag": "x"}, "fields": {"a": 1, "b": null}}
    {"table": "in", "time": 2, "tags": {"tag": "x"}, "fields": {"a": 4, "b": 3}}
    {"table": "in", "time": 1, "tags": {"tag": "y"}, "fields": {"a": 9, "b": 9}}
    {"table": "in", "time": 2, "tags": {"tag": "y"}, "fields": {"a": 9, "b": null}}
    "#);
}

#[test]
fn rows_of_nulls_are_rows() {
    insta::assert_snapshot!(imported("time,tag,a\n1,x,\n2,x,1\n3,x,\n", ""), @r#"
    {"schema": {"table": "in", "columns": [{"name": "tag", "type": "STRING", "category": "TAG"}, {"name": "a", "type": "INT64", "category": "FIELD"}]}}
    {"table": "in", "time": 1, "tags": {"tag": "x"}, "fields": {"a": null}}
    {"table": "in", "time": 2, "tags": {"tag": "x"}, "fields": {"a": 1}}
    {"table": "in", "time": 3, "tags": {"tag": "x"}, "fields": {"a": null}}
    "#);
}

#[test]
fn a_csv_without_rows_is_a_table_without_rows() {
    insta::assert_snapshot!(imported("time,a\n", ""), @r#"{"schema": {"table": "in", "columns": [{"name": "a", "type": "STRING", "category": "FIELD"}]}}"#);
}

#[test]
fn what_is_wrong_is_said_with_line_column_value_and_flag() {
    let csv = "time,site,power_kw\n1,a,0.5\n2,a,n/a\n";
    insta::assert_snapshot!(refused(2, csv, "--type power_kw=DOUBLE"), @r#"in.csv:3: column power_kw: "n/a" is not a DOUBLE (use --null n/a or --type power_kw=STRING)"#);
    insta::assert_snapshot!(refused(2, "time,v\n1,5\n2,6,7\n", ""), @"in.csv:3: 3 cells, but the header names 2 columns");
    insta::assert_snapshot!(refused(2, "time,v\n1,5\n,6\n", ""), @"in.csv:3: column time: a row without a time");
    insta::assert_snapshot!(refused(2, "time,v\n1,5\nnoon,6\n", ""), @r#"in.csv:3: column time: "noon" is neither whole milliseconds since 1970 nor RFC 3339, such as 2014-01-31T08:00:00Z"#);
    insta::assert_snapshot!(refused(2, "time,v\n2014-01-31T08:00:00.0001Z,6\n", ""), @r#"in.csv:2: column time: "2014-01-31T08:00:00.0001Z" is finer than a millisecond"#);
    insta::assert_snapshot!(refused(2, "time,v\n1,\"a\"b\n", ""), @"in.csv:2: text after a closing quote (inside quotes, a quote is written twice)");
    insta::assert_snapshot!(refused(2, "time,v\n1,\"a\n", ""), @"in.csv:2: a quote that is opened in this record is never closed");
    insta::assert_snapshot!(refused(2, b"time,v\n1,\xff\n", ""), @r#"in.csv:2: column v: "�" is not UTF-8"#);
    insta::assert_snapshot!(refused(2, "", ""), @"in.csv:1: empty; a header was expected");
    insta::assert_snapshot!(refused(2, "time,v,V\n", ""), @"in.csv:1: the header names column V twice (case does not count)");
    insta::assert_snapshot!(refused(1, "time,v\n", "--tag w"), @"--tag w: in.csv has no such column; it has time, v");
    insta::assert_snapshot!(refused(1, "time,v\n", "--time w"), @"--time w: in.csv has no such column; it has time, v");
}

#[test]
fn a_row_that_goes_back_names_the_store() {
    let csv = "time,site,v\n1,a,1\n5,a,2\n9,b,3\n4,a,4\n";
    insta::assert_snapshot!(refused(3, csv, ""), @"in.csv:5: time 4 of device in.a goes back behind 5; a TsFile takes rising times only, a store takes any order (use --store DIR)");
    let lab = Lab::new().with("in.csv", csv);
    lab.good("import in.csv --store lab.tsloom");
    insta::assert_snapshot!(lab.good("cat --store lab.tsloom -f csv"), @r"
    time,site,v
    1,a,1
    4,a,4
    5,a,2
    9,b,3
    ");
}

#[test]
fn a_duplicate_is_an_error_when_told() {
    let csv = "time,site,v\n1,a,1\n1,b,2\n1,a,3\n";
    insta::assert_snapshot!(refused(2, csv, "--on-duplicate error"), @"in.csv:4: time 1 of device in.a is there already, on line 2 (use --on-duplicate last)");
    let lab = Lab::new().with("in.csv", csv);
    insta::assert_snapshot!(lab.refused(1, "import in.csv --store lab --on-duplicate error"), @"--on-duplicate error needs --out; a store keeps per column the latest value that is not null");
    assert_eq!(lab.names(), ["in.csv"]);
}

#[test]
fn bad_lines_can_be_left_out() {
    let csv = "time,v\n1,5\n2,6,7\n3,\"x\"y\nnoon,8\n5,oops\n6,9\n";
    let lab = Lab::new().with("in.csv", csv);
    let ended = lab.run("import in.csv --out out.tsfile --on-error skip --type v=INT64");
    assert_eq!((ended.status, ended.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stderr, @"left out 4 of 6 rows; the first: in.csv:3: 3 cells, but the header names 2 columns");
    assert_eq!(lab.good("cat out.tsfile -f csv"), "time,v\n1,5\n6,9\n");
    let ended = lab.pipe("import - --out piped.tsfile --on-error skip --type v=INT64", csv);
    insta::assert_snapshot!(ended.stderr, @"left out 4 of 6 rows; the first: stdin:3: 3 cells, but the header names 2 columns");
    assert_eq!(lab.good("cat piped.tsfile -f csv"), "time,v\n1,5\n6,9\n");
}

#[test]
fn a_pipe_is_judged_by_its_first_rows() {
    let lab = Lab::new();
    let mut csv = String::from("time,site,v\n");
    for row in 0..10_000 {
        csv += &format!("{row},a,{row}\n");
    }
    let good = csv.clone() + "10000,a,10000\n";
    assert_eq!(lab.pipe("import - --out out.tsfile", good).status, 0);
    assert_eq!(lab.good("cat out.tsfile -f csv --columns v -n 2 --offset 9999"), "time,v\n9999,9999\n10000,10000\n");
    assert!(lab.good("schema out.tsfile -f csv --no-header").starts_with("table,data,site,TAG,STRING"));
    let ended = lab.pipe("import - --out bad.tsfile", csv + "10000,a,0.5\n");
    insta::assert_snapshot!(refusal(2, "late", &ended), @r#"stdin:10002: column v: "0.5" is not an INT64 (use --null 0.5 or --type v=DOUBLE)"#);
    assert_eq!(lab.names(), ["out.tsfile"]);
}

#[test]
fn an_output_that_is_there_survives_a_failure() {
    let lab = Lab::new().with("in.csv", "time,v\n1,5\n2,6,7\n").with("out.tsfile", "precious");
    lab.refused(2, "import in.csv --out out.tsfile");
    assert_eq!(std::fs::read_to_string(lab.path("out.tsfile")).unwrap(), "precious");
    assert_eq!(lab.names(), ["in.csv", "out.tsfile"]);
}

#[test]
fn a_target_that_cannot_be_is_a_failure() {
    let lab = Lab::new().with("in.csv", "time,v\n1,5\n");
    lab.refused(3, "import in.csv --out no/such/folder/out.tsfile");
    lab.refused(2, "import none.csv --out out.tsfile");
    lab.refused(2, "import . --out out.tsfile");
    assert_eq!(lab.names(), ["in.csv"]);
}

#[test]
fn verbose_says_what_was_done() {
    let lab = Lab::new().with("in.csv", "time,site,v\n1,a,5\n1,b,5\n");
    let ended = lab.run("-v import in.csv --out out.tsfile");
    assert!(ended.stderr.starts_with("2 rows of in.csv to out.tsfile: 2 devices, "), "{}", ended.stderr);
}

/// What `cat` prints as TSV is read back, with tabs and line ends in texts; a complaint names line and column.
#[test]
fn tsv_is_read_as_it_is_printed() {
    let csv = "time,site,v,note\n1,a,0.5,\"x\ty\"\n2,a,1.5,\"two\nlines, \"\"quoted\"\"\"\n3,b,2.5,back\\slash\n";
    let lab = Lab::new().with("in.csv", csv).with("bad.tsv", "time\tsite\tv\n1\ta\t0.5\n2\ta\tlow\n3\ta\n");
    lab.good("import in.csv --out in.tsfile");
    let printed = lab.good("cat in.tsfile -f tsv");
    std::fs::write(lab.path("again.tsv"), &printed).unwrap();
    lab.good("import again.tsv --out again.tsfile --table in");
    assert_eq!(lab.good("cat again.tsfile -f ndjson"), lab.good("cat in.tsfile -f ndjson"));
    let piped = lab.pipe("import - -f tsv --out piped.tsfile --table in", &printed);
    assert_eq!((piped.status, piped.stderr.as_str()), (0, ""));
    assert_eq!(lab.good("cat piped.tsfile -f ndjson"), lab.good("cat in.tsfile -f ndjson"));
    let line = lab.refused(2, "import bad.tsv --out bad.tsfile --type v=DOUBLE");
    assert!(line.starts_with("bad.tsv:3: column v"), "{line}");
    let line = lab.refused(2, "import bad.tsv --out bad.tsfile");
    assert!(line.starts_with("bad.tsv:4: "), "{line}");
}
