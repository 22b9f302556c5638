//! `import` of lines of JSON, times in other units, and `write`, which guesses nothing.

use std::fs;

use crate::lab::{Lab, repository};

/// Lines that other implementations wrote into files, as they were described outside of this command.
#[test]
fn the_lines_of_the_fixtures_come_back_as_they_were() {
    let mut read = 0;
    for entry in fs::read_dir(repository("fixtures/cpp")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // Several tables, or devices of the tree model.
        if !name.ends_with(".jsonl") || name.starts_with("three_tables") || name.starts_with("tree_") {
            continue;
        }
        let lines = fs::read_to_string(&path).unwrap();
        let lab = Lab::new().with("in.jsonl", &lines);
        if name == "empty_table.jsonl" {
            assert_eq!(lab.refused(2, "import in.jsonl -o out.tsfile"), "in.jsonl:1: empty; a header was expected");
            continue;
        }
        assert_eq!(lab.good("import in.jsonl -o out.tsfile"), "", "{name}");
        assert!(lab.good("cat out.tsfile -f ndjson --schema") == lines, "{name}");
        read += 1;
    }
    assert!(read >= 25, "{read} fixtures");
}

#[test]
fn without_a_line_that_describes_them_types_are_found_and_texts_stay_texts() {
    let rows = "{\"table\": \"w\", \"time\": 1, \"tags\": {}, \"fields\": {\"id\": \"007\", \"n\": 5, \"v\": \"NaN\", \"z\": {\"hex\": \"00ff\"}, \"t\": \"12\"}}\n\
                {\"table\": \"w\", \"time\": 2, \"tags\": {}, \"fields\": {\"id\": null, \"n\": -7, \"v\": 0.1, \"z\": null, \"t\": \"x\"}}\n";
    let lab = Lab::new();
    assert_eq!(lab.pipe("import - -f ndjson -o out.tsfile", rows).stderr, "");
    assert_eq!(lab.good("cat out.tsfile -f ndjson"), rows);
    let types = [
        "id,FIELD,STRING,PLAIN",
        "n,FIELD,INT64,TS_2DIFF",
        "v,FIELD,DOUBLE,GORILLA",
        "z,FIELD,BLOB,PLAIN",
        "t,FIELD,STRING,PLAIN",
    ];
    let lines: String = types.iter().map(|column| format!("table,w,{column},LZ4\n")).collect();
    assert_eq!(lab.good("schema out.tsfile -f csv --no-header"), lines);
}

#[test]
fn a_column_that_is_described_and_in_no_row_is_not_there() {
    let lines = "{\"schema\": {\"table\": \"w\", \"columns\": [{\"name\": \"v\", \"type\": \"FLOAT\"}, {\"name\": \"gone\", \"type\": \"INT32\"}]}}\n\
                 {\"table\": \"w\", \"time\": 1, \"tags\": {}, \"fields\": {\"v\": 0.5}}\n";
    let lab = Lab::new().with("in.ndjson", lines);
    lab.good("import in.ndjson -o out.tsfile");
    assert_eq!(lab.good("schema out.tsfile -f csv --no-header"), "table,w,v,FIELD,FLOAT,GORILLA,LZ4\n");
}

#[test]
fn as_many_columns_are_described_as_a_wide_table_has() {
    let described: Vec<String> = (0..3_000).map(|index| format!("{{\"name\": \"c{index}\", \"type\": \"FLOAT\"}}")).collect();
    let cells: Vec<String> = (0..3_000).map(|index| format!("\"c{index}\": {index}.5")).collect();
    let row = format!("{{\"table\": \"w\", \"time\": 1, \"tags\": {{}}, \"fields\": {{{}}}}}\n", cells.join(", "));
    let schema = format!("{{\"schema\": {{\"table\": \"w\", \"columns\": [{}]}}}}\n", described.join(", "));
    let lab = Lab::new().with("in.ndjson", schema + &row);
    lab.good("import in.ndjson -o out.tsfile");
    assert!(lab.good("cat out.tsfile -f ndjson") == row);
    assert_eq!(lab.good("schema out.tsfile -f csv").matches(",FLOAT,").count(), 3_000);
}

#[test]
fn flat_rows_are_read_like_a_csv() {
    let lab = Lab::new()
        .with("in.ndjson", "{\"time\":\"1\",\"site\":\"a\",\"n\":\"5\"}\n\n{\"time\":\"2\",\"site\":\"a\",\"n\":null}\n");
    lab.good("import in.ndjson -o out.tsfile --table w");
    assert_eq!(
        lab.good("cat out.tsfile -f ndjson"),
        "{\"table\": \"w\", \"time\": 1, \"tags\": {\"site\": \"a\"}, \"fields\": {\"n\": 5}}\n\
         {\"table\": \"w\", \"time\": 2, \"tags\": {\"site\": \"a\"}, \"fields\": {\"n\": null}}\n"
    );
}

#[test]
fn a_line_that_is_no_row_is_named_or_left_out() {
    let lab = Lab::new().with("in.ndjson", "{\"time\":1,\"v\":5}\n{\"time\":2,\"v\":[6]}\n{\"time\":3,\"v\":7}\n");
    insta::assert_snapshot!(lab.refused(2, "import in.ndjson -o out.tsfile"), @"in.ndjson:2: column v: an array is no cell");
    assert_eq!(lab.names(), ["in.ndjson"], "nothing is left behind");
    let ended = lab.run("import in.ndjson -o out.tsfile --on-error skip");
    assert_eq!(
        (ended.status, ended.stderr.as_str()),
        (0, "left out 1 of 3 rows; the first: in.ndjson:2: column v: an array is no cell\n")
    );
    assert_eq!(lab.good("cat out.tsfile -f tsv --no-header"), "1\t5\n3\t7\n");
}

#[test]
fn a_first_row_without_columns_and_a_time_of_bytes_are_no_rows() {
    let lab = Lab::new().with("in.ndjson", "{}\n").with("hex.ndjson", "{\"time\": {\"hex\": \"31\"}, \"v\": 1}\n");
    assert_eq!(lab.refused(2, "import in.ndjson -o out.tsfile"), "in.ndjson:1: the first row names no column");
    assert_eq!(lab.refused(2, "import hex.ndjson -o out.tsfile"), "hex.ndjson:1: column time: bytes are no time");
}

#[test]
fn a_unit_is_that_of_integers_and_of_the_file() {
    let csv = "time,v\n1,5\n1970-01-01T00:00:02Z,6\n";
    for (unit, times) in
        [("s", "1000\t5\n2000\t6\n"), ("ms", "1\t5\n2000\t6\n"), ("us", "1\t5\n2000000\t6\n"), ("ns", "1\t5\n2000000000\t6\n")]
    {
        let lab = Lab::new().with("in.csv", csv);
        lab.good(&format!("import in.csv -o out.tsfile --time-unit {unit}"));
        assert_eq!(lab.good("cat out.tsfile -f tsv --no-header"), times, "{unit}");
    }
}

const CSV: &str = "time,dev,note,v\n1,a,x,0.5\n2,a,,0.25\n";

#[test]
fn write_takes_what_is_told_and_nothing_else() {
    let lab = Lab::new().with("in.csv", CSV);
    let told = "write --table T --tag dev STRING --field note STRING --field v FLOAT";
    assert_eq!(lab.good(&format!("{told} --encoding FLOAT PLAIN --compression FLOAT SNAPPY -i in.csv -o out.tsfile")), "");
    assert_eq!(
        lab.good("schema out.tsfile -f csv --no-header"),
        "table,t,dev,TAG,STRING,PLAIN,LZ4\ntable,t,note,FIELD,STRING,PLAIN,LZ4\ntable,t,v,FIELD,FLOAT,PLAIN,SNAPPY\n"
    );
    let piped = lab.pipe(&format!("{told} --stdin -o piped.tsfile"), CSV);
    assert_eq!((piped.status, piped.stderr.as_str()), (0, ""));
    assert_eq!(lab.good("cat piped.tsfile -f ndjson"), lab.good("cat out.tsfile -f ndjson"));

    // No TAG is told, and none is found.
    let fields = "write --table t --field note STRING --field dev STRING";
    assert_eq!(lab.good(&format!("{fields} --field v DOUBLE -i in.csv -o no_tags.tsfile")), "");
    assert_eq!(lab.good("cat no_tags.tsfile -f csv"), CSV);
    assert!(lab.good("schema no_tags.tsfile -f csv").matches("TAG").count() == 0);

    for (words, expected) in [
        (fields.to_owned(), "in.csv: column v is neither a --tag nor a --field"),
        (format!("{told} --field gust FLOAT"), "in.csv has no column gust"),
        (format!("{told} --field V INT32"), "column v is told twice"),
        (format!("{told} --field time INT64"), "column time is told twice"),
        ("write --table t --tag v DOUBLE --field dev STRING".to_owned(), "--tag v DOUBLE: a TAG is a STRING"),
        (
            format!("{told} --compression FLOAT ZIP"),
            "--compression FLOAT ZIP: \"ZIP\" is no compression; there is UNCOMPRESSED, SNAPPY, GZIP, LZO, LZ4, ZSTD, LZMA2",
        ),
    ] {
        assert_eq!(lab.refused(1, &format!("{words} -i in.csv -o x.tsfile")), expected);
    }
    assert_eq!(lab.refused(3, &format!("{told} -i in.csv -o out.tsfile")), "out.tsfile is there already");
    assert_eq!(lab.names(), ["in.csv", "no_tags.tsfile", "out.tsfile", "piped.tsfile"]);
    let lab = Lab::new().with("in.csv", "when,v\n1,2\n");
    assert_eq!(
        lab.refused(1, "write --table t --field v INT64 --field when INT64 -i in.csv -o x.tsfile"),
        "in.csv has no column time"
    );
}
