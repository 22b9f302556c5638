//! Scripts of the official `tsfile-cli`: its verbs, flags, the names of its columns and its exit statuses, line by line.

use crate::lab::{Lab, repository};

/// A line of a script, how it ends, and the first line that it prints. The file stands last, as that tool wants it.
/// TREE and TABLE stand for files.
const LINES: &[(&str, i32, &str)] = &[
    ("ls -f csv TREE", 0, "model,object"),
    ("ls --format ndjson TABLE", 0, r#"{"model": "table", "object": "t"}"#),
    ("ls -f table TABLE", 0, "model  object"),
    ("schema -t t -m v -f csv TABLE", 0, "model,object,column,category,data_type,encoding,compression"),
    ("schema -d root.sg.al1 -f csv TREE", 0, "model,object,column,category,data_type,encoding,compression"),
    ("meta -f csv TABLE", 0, "size_bytes,format_version,model,"),
    (
        "stats --table t --measurements v -f csv TABLE",
        0,
        "model,object,tag.site,tag.unit,field,data_type,non_null_count,null_count,min_time,max_time,min,max,first,last,sum,stats_source",
    ),
    (
        "stats -f csv TREE",
        0,
        "model,object,field,data_type,non_null_count,null_count,min_time,max_time,min,max,first,last,sum,stats_source",
    ),
    (
        "count -m v -m n -f csv TABLE",
        0,
        "model,object,column,category,row_count,entity_count,non_null_count,null_count,min_time,max_time,time_source",
    ),
    ("head -t t -n 1 -f csv TABLE", 0, "time,site,unit,v,n"),
    ("head --limit 1 --offset 1 -f csv --no-header TABLE", 0, "20,a,,1.5,2"),
    ("cat -t t --measurements n --measurements v -f csv TABLE", 0, "time,n,v"),
    ("cat --start 20 --end 20 -f csv --no-header TABLE", 0, "20,a,,1.5,2"),
    ("cat --tag-filter site eq b -f csv --no-header TABLE", 0, "10,b,u,2.5,3"),
    ("cat --tag-filter site neq a -f csv --no-header TABLE", 0, "10,b,u,2.5,3"),
    ("cat --tag-filter site regexp ^b --no-header -f csv TABLE", 0, "10,b,u,2.5,3"),
    ("cat -f csv --no-header --tag-filter unit not-null TABLE", 0, "10,b,u,2.5,3"),
    ("cat -f csv --no-header --tag-filter unit is-null TABLE", 0, "10,a,,0.5,1"),
    ("cat --tag-filter unit is-null --tag-filter site eq b --tag-match any -f csv --no-header TABLE", 0, "10,a,,0.5,1"),
    ("cat --tag-filter unit is-null --tag-filter site eq b --tag-match all -f csv --no-header TABLE", 0, ""),
    ("export -t t --type csv -o t.csv TABLE", 0, ""),
    ("export -t t --type ndjson --output t.ndjson --force TABLE", 0, ""),
    ("export -d root.sg.al1 -d root.sg.al2 --type csv --output-dir both TREE", 0, ""),
    ("sketch -o sketch.txt --force TABLE", 0, ""),
    ("sketch --output sketch.txt TABLE", 0, ""),
    ("write --table w --tag site STRING --tag unit STRING --field v DOUBLE --field n INT64 -i in.csv -o w1.tsfile", 0, ""),
    (
        "write --table w --field v DOUBLE --encoding DOUBLE PLAIN --compression DOUBLE ZSTD --input v.csv --output w2.tsfile",
        0,
        "",
    ),
    ("write --table w --field v DOUBLE --stdin -i v.csv -o w3.tsfile", 1, ""),
    ("write --table w --field v DOUBLE -i v.csv", 1, ""),
    ("write --table w --field v DOUBLE -i v.csv -o TABLE", 3, ""),
    ("cat -t t -d d TABLE", 1, ""),
    ("cat -f xml TABLE", 1, ""),
    ("cat --tag-filter site like a TABLE", 1, ""),
    ("cat", 1, ""),
    ("cat nowhere.tsfile", 2, ""),
    ("cat in.csv", 2, ""),
    ("cat -t nothing TABLE", 3, ""),
    ("stats -m site TABLE", 3, ""),
];

#[test]
fn scripts_of_the_official_tool_move_over() {
    let lab = Lab::new()
        .with("in.csv", "time,site,unit,v,n\n10,a,\\N,0.5,1\n20,a,\\N,1.5,2\n10,b,u,2.5,3\n")
        .with("v.csv", "time,v\n1,0.5\n");
    lab.good("import in.csv --out t.tsfile --table t --tag site --tag unit");
    let tree = repository("fixtures/cpp/tree_aligned.tsfile").display().to_string();
    for (line, status, first) in LINES {
        let ended = lab.run(&line.replace("TREE", &tree).replace("TABLE", "t.tsfile"));
        assert_eq!(ended.status, *status, "{line}: {}", ended.stderr);
        let got = ended.stdout.lines().next().unwrap_or_default();
        // `meta` goes on behind the columns of that tool.
        let is_so = if first.ends_with(',') { got.starts_with(first) } else { got == *first };
        assert!(is_so, "{line}: {got}");
        assert_eq!(ended.stderr.is_empty(), *status == 0, "{line}: {}", ended.stderr);
    }
    let read = |name: &str| std::fs::read_to_string(lab.path(name)).unwrap();
    assert_eq!(read("t.csv"), lab.good("cat t.tsfile -f csv"));
    assert_eq!(read("sketch.txt"), lab.good("sketch t.tsfile"));
    let manifest: serde_json::Value = serde_json::from_str(&read("both/_manifest.json")).unwrap();
    assert_eq!(manifest["objects"].as_array().unwrap().len(), 2);
    assert_eq!(lab.good("cat w1.tsfile -f csv"), lab.good("cat t.tsfile -f csv"));
    let piped = lab.pipe("write --table w --field v DOUBLE -o w3.tsfile --stdin", read("v.csv"));
    assert_eq!((piped.status, piped.stderr.as_str()), (0, ""));
    assert_eq!(lab.good("cat w3.tsfile"), lab.good("cat w2.tsfile"));
    insta::assert_snapshot!(lab.good("schema w2.tsfile --no-header"), @"table	w	v	FIELD	DOUBLE	PLAIN	ZSTD");
}
