//! `convert`, `merge`, `export`, and how columns are encoded on `import`.

use std::fs;

use crate::lab::{Lab, repository};

#[test]
fn every_table_fixture_converts_to_the_same_rows() {
    let lab = Lab::new();
    let mut count = 0;
    for entry in fs::read_dir(repository("fixtures/cpp")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "tsfile") || name.contains("suspect") || name.starts_with("tree")
        {
            continue;
        }
        // C++ wrote scaled encodings and LZO, which we do not write.
        lab.good(&format!("convert {} --out out.tsfile --encoding auto --compression ZSTD", path.display()));
        let rows = |file: &str| lab.good(&format!("cat {file} -f ndjson"));
        assert_eq!(rows("out.tsfile"), rows(&path.to_string_lossy()), "{name}");
        assert_eq!(lab.good("verify out.tsfile"), "", "{name}");
        count += 1;
    }
    assert!(count >= 30, "{count} fixtures");
    let tree = repository("fixtures/cpp/tree_aligned.tsfile");
    let line = lab.refused(3, &format!("convert {} --out tree.tsfile", tree.display()));
    assert!(line.contains("tree model"), "{line}");
}

#[test]
fn encodings_and_compressions_are_as_told() {
    let lab = Lab::new().with("in.csv", "time,site,v,w,n\n1,a,0.5,1.5,3\n2,a,1.5,2.5,4\n");
    lab.good("import in.csv --out in.tsfile --encoding DOUBLE=CHIMP --encoding w=PLAIN --compression ZSTD --compression n=GZIP");
    insta::assert_snapshot!(lab.good("schema in.tsfile --no-header"), @"
    table	in	site	TAG	STRING	PLAIN	LZ4
    table	in	v	FIELD	DOUBLE	CHIMP	ZSTD
    table	in	w	FIELD	DOUBLE	PLAIN	ZSTD
    table	in	n	FIELD	INT64	TS_2DIFF	GZIP
    ");
    let sketch = lab.good("sketch in.tsfile");
    assert!(
        sketch.contains("chunk header: v: DOUBLE, CHIMP, ZSTD") && sketch.contains("chunk header: n: INT64, TS_2DIFF, GZIP"),
        "{sketch}"
    );
    lab.good("convert in.tsfile --out out.tsfile --encoding v=GORILLA --compression UNCOMPRESSED");
    assert!(lab.good("sketch out.tsfile").contains("chunk header: v: DOUBLE, GORILLA, UNCOMPRESSED"));
    assert_eq!(lab.good("cat out.tsfile"), lab.good("cat in.tsfile"));
    insta::assert_snapshot!(lab.refused(1, "convert in.tsfile --out o --encoding x=RLE"), @"--encoding x: there is no such column, and no such type");
    insta::assert_snapshot!(lab.refused(1, "convert in.tsfile --out o --encoding v=DICTIONARY"), @"--encoding v=DICTIONARY: column v is DOUBLE, which does not take it");
    let line = lab.refused(3, "convert in.tsfile --out o --compression LZO");
    assert!(line.contains("LZO"), "{line}");
    assert!(!lab.names().contains(&"o".to_owned()));
}

#[test]
fn of_several_files_the_later_is_newer() {
    let lab = Lab::new()
        .with("a.csv", "time,site,v,w\n1,x,1,1\n2,x,2,2\n5,y,5,5\n")
        .with("b.csv", "time,site,v,u\n2,x,20,7\n3,x,30,8\n4,x,,9\n")
        .with("c.csv", "time,unit,v\n1,x,1\n")
        .with("d.csv", "time,site,v\n1,x,0.5\n");
    for name in ["a", "b", "c", "d"] {
        lab.good(&format!("import {name}.csv --out {name}.tsfile --table t"));
    }
    lab.good("merge a.tsfile b.tsfile --out ab.tsfile");
    insta::assert_snapshot!(lab.good("cat ab.tsfile -f csv"), @"
    time,site,v,w,u
    1,x,1,1,
    2,x,20,2,7
    3,x,30,,8
    4,x,,,9
    5,y,5,5,
    ");
    lab.good("merge b.tsfile a.tsfile --out ba.tsfile");
    assert!(lab.good("cat ba.tsfile -f csv --columns v").contains("\n2,2\n"));
    assert_eq!(lab.good("verify ab.tsfile ba.tsfile"), "");
    insta::assert_snapshot!(lab.refused(3, "merge a.tsfile c.tsfile --out o"), @"c.tsfile: table t has other TAG columns than in the files before");
    insta::assert_snapshot!(lab.refused(3, "merge a.tsfile d.tsfile --out o"), @"d.tsfile: table t has column v as another FIELD DOUBLE than in the files before");
}

#[test]
fn one_object_is_a_file_and_several_are_a_folder() {
    let lab = Lab::new();
    let file = repository("fixtures/cpp/three_tables.tsfile");
    let file = file.display();
    let line = lab.refused(1, &format!("export {file} -o all.csv"));
    assert!(line.contains("has 3 tables"), "{line}");
    assert_eq!(lab.names(), [""; 0]);

    lab.good(&format!("export {file} -o beta.csv -t beta -n 2"));
    assert_eq!(fs::read_to_string(lab.path("beta.csv")).unwrap(), lab.good(&format!("cat {file} -t beta -n 2 -f csv")));
    lab.good(&format!("export {file} --type ndjson --output-dir all"));
    let manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(lab.path("all/_manifest.json")).unwrap()).unwrap();
    let mut text = String::new();
    for object in manifest["objects"].as_array().unwrap() {
        let rows = fs::read_to_string(lab.path("all").join(object["file"].as_str().unwrap())).unwrap();
        assert_eq!(rows.lines().count() as u64, object["rows"].as_u64().unwrap());
        text += &rows;
    }
    assert_eq!(text, lab.good(&format!("cat {file} -f ndjson")));
    let line = lab.refused(3, &format!("export {file} --output-dir all"));
    assert!(line.contains("is there already"), "{line}");
    assert_eq!(lab.names(), ["all", "beta.csv"]);
}
