//! `ls`, `meta`, `schema`, `stats`, `count`: what metadata tells, for people and for scripts of the official tool.

use crate::lab::{Lab, repository};

const CSV: &str = "time,site,n,v,on,note\n10,b,1,0.5,true,x\n20,a,-2,,,\n30,a,,1.5,false,\n40,a,7,2.5,true,y\n";

fn lab() -> Lab {
    let lab = Lab::new().with("in.csv", CSV);
    lab.good("import in.csv --out in.tsfile --tag site --type on=BOOLEAN");
    lab.good("import in.csv --store lab.tsloom --tag site --type on=BOOLEAN");
    lab
}

#[test]
fn ls_lists_tables_and_devices() {
    let lab = lab();
    insta::assert_snapshot!(lab.good("ls in.tsfile -f csv"), @r"
    model,object
    table,in
    ");
    insta::assert_snapshot!(lab.good("ls in.tsfile --devices -f table"), @"
    model  object  tag.site  row_count  min_time  max_time
    table  in      a                 3        20        40
    table  in      b                 1        10        10
    ");
    let tree = repository("fixtures/cpp/tree_aligned.tsfile");
    insta::assert_snapshot!(lab.good(&format!("ls {}", tree.display())), @"
    model	object
    tree	root.sg.al1
    tree	root.sg.al2
    ");
    let old = repository("fixtures/java/v3_tree.tsfile");
    insta::assert_snapshot!("ls_version_3", lab.good(&format!("ls {} --devices", old.display())));
}

#[test]
fn meta_is_one_line() {
    let lab = lab();
    let size = std::fs::metadata(lab.path("in.tsfile")).unwrap().len();
    insta::assert_snapshot!(lab.good("meta in.tsfile -f csv").replace(&size.to_string(), "SIZE"), @r"
    size_bytes,format_version,model,tables,devices,series,rows,min_time,max_time,properties
    SIZE,4,table,1,2,10,4,10,40,encryptLevel=0; encryptType=org.apache.tsfile.encrypt.UNENCRYPTED; encryptKey=
    ");
    let old = repository("fixtures/java/v3_tree.tsfile");
    insta::assert_snapshot!("meta_version_3", lab.good(&format!("meta {} -f json", old.display())));
}

#[test]
fn stats_are_those_of_the_values() {
    let lab = lab();
    insta::assert_snapshot!("stats_csv", lab.good("stats in.tsfile -f csv"));
    insta::assert_snapshot!(lab.good("stats in.tsfile -m v -f ndjson"), @r#"
    {"model": "table", "object": "in", "tag.site": "a", "field": "v", "data_type": "DOUBLE", "non_null_count": 2, "null_count": 1, "min_time": 30, "max_time": 40, "min": 1.5, "max": 2.5, "first": 1.5, "last": 2.5, "sum": 4.0, "stats_source": "statistics"}
    {"model": "table", "object": "in", "tag.site": "b", "field": "v", "data_type": "DOUBLE", "non_null_count": 1, "null_count": 0, "min_time": 10, "max_time": 10, "min": 0.5, "max": 0.5, "first": 0.5, "last": 0.5, "sum": 0.5, "stats_source": "statistics"}
    "#);
    insta::assert_snapshot!(lab.refused(3, "stats in.tsfile -m w"), @"in.tsfile has no FIELD w");
    insta::assert_snapshot!(lab.refused(3, "stats in.tsfile -t w"), @"in.tsfile has no table w; it has in");
    // A FIELD that a device has no value of has a line as well.
    let lab = lab.with("gap.csv", "time,site,v,w\n1,a,1,\n2,a,2,\n1,b,,5\n");
    lab.good("import gap.csv --out gap.tsfile");
    insta::assert_snapshot!(lab.good("stats gap.tsfile --columns v,w --no-header -f csv"), @"
    table,gap,a,v,INT64,2,0,1,2,1,2,1,2,3.0,statistics
    table,gap,a,w,INT64,0,2,,,,,,,,
    table,gap,b,v,INT64,0,1,,,,,,,,
    table,gap,b,w,INT64,1,0,1,1,5,5,5,5,5.0,statistics
    ");
    let tree = repository("fixtures/java/tree_mixed_devices.tsfile");
    insta::assert_snapshot!("stats_tree", lab.good(&format!("stats {} -f csv", tree.display())));
}

#[test]
fn counts_agree_with_the_rows() {
    let lab = lab();
    let file = lab.good("count in.tsfile -f csv");
    insta::assert_snapshot!(file, @r"
    model,object,column,category,row_count,entity_count,non_null_count,null_count,min_time,max_time,time_source
    table,in,site,TAG,4,2,4,0,10,40,statistics
    table,in,n,FIELD,4,2,3,1,10,40,statistics
    table,in,v,FIELD,4,2,3,1,10,40,statistics
    table,in,on,FIELD,4,2,3,1,10,40,statistics
    table,in,note,FIELD,4,2,2,2,10,40,statistics
    ");
    assert_eq!(lab.good("count --store lab.tsloom -f csv"), file.replace("statistics", "scan"));
    insta::assert_snapshot!(lab.good("count in.tsfile -m V --no-header"), @"table	in	v	FIELD	4	2	3	1	10	40	statistics");
    insta::assert_snapshot!(lab.refused(3, "count in.tsfile -m w"), @"in.tsfile has no column w");
}

/// Chunk groups that overlap in time: statistics count a row twice, and only a scan knows.
#[test]
fn what_is_there_twice_counts_once() {
    let lab = Lab::new();
    for (folder, least) in [("cpp", 30), ("java", 60)] {
        let mut count = 0;
        for entry in std::fs::read_dir(repository(&format!("fixtures/{folder}"))).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let is_old_rlbe = folder == "java" && name.starts_with("enc_rlbe");
            if path.extension().is_none_or(|extension| extension != "tsfile") || is_old_rlbe || name.contains("suspect") {
                continue;
            }
            let file = path.display();
            let rows = lab.good(&format!("cat {file} -f ndjson")).lines().count() as u64;
            let counted = lab.good(&format!("count {file} -f ndjson"));
            let mut objects = std::collections::BTreeMap::new();
            for line in counted.lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                objects.insert(line["object"].as_str().unwrap().to_owned(), line["row_count"].as_u64().unwrap());
            }
            // A table without columns has no line.
            if !objects.is_empty() {
                assert_eq!(objects.values().sum::<u64>(), rows, "{file}: {counted}");
            }
            count += 1;
        }
        assert!(count >= least, "{count} files of {folder}");
    }
}

#[test]
fn schema_of_stores_and_of_trees() {
    let lab = lab();
    assert_eq!(lab.good("schema --store lab.tsloom"), lab.good("schema in.tsfile"));
    insta::assert_snapshot!(lab.good("schema in.tsfile -m V -m site -f table"), @"
    model  object  column  category  data_type  encoding  compression
    table  in      site    TAG       STRING     PLAIN     LZ4
    table  in      v       FIELD     DOUBLE     GORILLA   LZ4
    ");
    let tree = repository("fixtures/cpp/tree_not_aligned.tsfile");
    insta::assert_snapshot!("schema_tree", lab.good(&format!("schema {} -d root.sg.d1 -f csv", tree.display())));
}

#[test]
fn hostile_files_end_in_lines_or_in_one_line() {
    let lab = Lab::new();
    for entry in std::fs::read_dir(repository("fixtures/cpp/hostile")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "tsfile") {
            for verb in ["ls --devices", "meta", "schema", "stats", "count", "head -f ndjson", "sketch", "verify", "recover"] {
                let (verb, flags) = verb.split_once(' ').unwrap_or((verb, ""));
                let ended = lab.run(&format!("{verb} {} {flags}", path.display()));
                assert!(matches!(ended.status, 0 | 2), "{verb} {}: {}", path.display(), ended.status);
                assert!(ended.stderr.lines().count() <= 2, "{verb} {}: {}", path.display(), ended.stderr);
            }
        }
    }
}
