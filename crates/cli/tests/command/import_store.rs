//! `import --store`: batches, acknowledgements, and a table that is there already.

use crate::lab::{Lab, refusal};

fn rows(count: usize) -> String {
    let mut csv = String::from("time,site,v\n");
    for row in 0..count {
        csv += &format!("{row},{},{row}\n", ["a", "b"][row % 2]);
    }
    csv
}

#[test]
fn acknowledgements_count_rows_of_the_input() {
    let lab = Lab::new().with("in.csv", rows(25));
    insta::assert_snapshot!(lab.good("import in.csv --store lab.tsloom --ack --batch-rows 10"), @r#"
    {"acknowledged_rows": 10}
    {"acknowledged_rows": 20}
    {"acknowledged_rows": 25}
    "#);
    insta::assert_snapshot!(lab.good("import in.csv --store lab.tsloom --ack --batch-rows 25"), @r#"{"acknowledged_rows": 25}"#);
    assert_eq!(lab.good("cat --store lab.tsloom -f csv").lines().count(), 26);
}

#[test]
fn batches_before_a_bad_line_stay() {
    let lab = Lab::new().with("in.csv", rows(25) + "26,a,oops,5\n");
    let ended = lab.run("import in.csv --store lab.tsloom --ack --batch-rows 10");
    assert_eq!((ended.status, ended.stdout.lines().count()), (2, 2));
    assert_eq!(lab.good("cat --store lab.tsloom -f csv").lines().count(), 21);
}

#[test]
fn lines_that_were_left_out_are_rows_of_the_input() {
    let lab = Lab::new().with("in.csv", "time,v\n1,1\n2\n3\n4,4\n5,5\n");
    let ended = lab.run("import in.csv --store lab.tsloom --ack --batch-rows 2 --on-error skip");
    insta::assert_snapshot!(ended.stdout, @r#"
    {"acknowledged_rows": 2}
    {"acknowledged_rows": 4}
    {"acknowledged_rows": 5}
    "#);
    assert_eq!(lab.good("cat --store lab.tsloom -f csv"), "time,v\n1,1\n4,4\n5,5\n");
}

#[test]
fn a_table_that_is_there_keeps_its_types() {
    let lab = Lab::new()
        .with("wind.csv", "time,site,v,w\n1,a,0.5,x\n")
        .with("more.csv", "v,time,site\n7,2,008\n")
        .with("gust.csv", "time,site,gust\n3,a,1\n")
        .with("anon.csv", "time,v\n3,1\n");
    lab.good("import wind.csv --store lab.tsloom");
    lab.good("import more.csv --store lab.tsloom -t Wind");
    insta::assert_snapshot!(lab.good("cat --store lab.tsloom -f csv"), @r"
    time,site,v,w
    2,008,7.0,
    1,a,0.5,x
    ");
    insta::assert_snapshot!(lab.refused(3, "import gust.csv --store lab.tsloom -t wind"), @"gust.csv: table wind has no column gust; it has site, v, w");
    insta::assert_snapshot!(lab.refused(3, "import anon.csv --store lab.tsloom -t wind"), @"anon.csv has no column for TAG site of table wind");
    insta::assert_snapshot!(lab.refused(3, "import more.csv --store lab.tsloom -t wind --type v=INT64"), @"column v of table wind is DOUBLE");
    let words = "import - --store lab.tsloom -t wind";
    insta::assert_snapshot!(refusal(2, words, &lab.pipe(words, "time,site,v\n9,a,high\n")), @r#"stdin:2: column v: "high" is not a DOUBLE (use --null high)"#);
}

#[test]
fn what_is_no_store_is_said() {
    let lab = Lab::new().with("in.csv", rows(1)).with("file", "x");
    lab.refused(3, "import in.csv --store file");
    lab.refused(2, "cat --store none.tsloom");
    assert_eq!(lab.names(), ["file", "in.csv"]);
}
