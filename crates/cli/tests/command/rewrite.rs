//! `convert`, `merge`, `export`, and how columns are encoded on `import`.

use std::fs;
use std::path::PathBuf;

use tsloom::DataType;
use tsloom::file::{FileWriter, WriterOptions};
use tsloom::model::{ColumnSchema, ColumnView, DeviceId, DeviceSchema, ValuesRef};

use crate::lab::{Lab, repository};

/// All fixtures of a folder.
fn fixtures(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository(&format!("fixtures/{folder}"))).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "tsfile")).collect();
    paths.sort();
    assert!(paths.len() >= 30, "{} files of {folder}", paths.len());
    paths
}

/// The default encoding of every type.
const DEFAULTS: &str = "--encoding PLAIN --encoding INT32=TS_2DIFF --encoding INT64=TS_2DIFF --encoding DATE=TS_2DIFF \
                        --encoding TIMESTAMP=TS_2DIFF --encoding FLOAT=GORILLA --encoding DOUBLE=GORILLA";

/// Both models, aligned or not, overlapping chunk groups, version 3: the rows stay, what is written is sound, and
/// no file is larger where the data chooses the encodings than with the defaults.
#[test]
fn every_fixture_converts_to_the_same_rows() {
    let lab = Lab::new();
    for path in fixtures("cpp").into_iter().chain(fixtures("java")) {
        let file = path.display().to_string();
        let old = if file.contains("java/enc_rlbe") { "--rlbe-floats old" } else { "" };
        // C++ wrote scaled encodings and LZO, Java GORILLA_V1, none of which is written again.
        let mut sizes = Vec::new();
        for flags in ["", DEFAULTS, "--encoding auto"] {
            lab.good(&format!("convert {file} --out out.tsfile {flags} {old}"));
            assert_eq!(lab.good("cat out.tsfile -f ndjson"), lab.good(&format!("cat {file} -f ndjson {old}")), "{file} {flags}");
            assert_eq!(lab.good("verify out.tsfile"), "", "{file} {flags}");
            sizes.push(fs::metadata(lab.path("out.tsfile")).unwrap().len());
        }
        assert!(sizes[2] <= sizes[1], "{file}: {} bytes with auto, {} with the defaults", sizes[2], sizes[1]);
        let columns = |file: &str| {
            let lines = lab.good(&format!("schema {file} --no-header"));
            lines.lines().map(|line| line.split('\t').take(5).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(columns("out.tsfile"), columns(&file), "{file}");
    }
}

/// A device of the tree model whose column `v` has a value at each of `times`, and `w` at each second; `extra` only if told.
fn write_tree(lab: &Lab, name: &str, is_aligned: bool, times: &[i64], value: f64, extra: Option<DataType>) {
    let mut columns = vec![ColumnSchema::field("v", DataType::Double), ColumnSchema::field("W", DataType::Double)];
    columns.extend(extra.map(|data_type| ColumnSchema::field("extra", data_type)));
    let device = DeviceSchema::new(DeviceId::from_path("root.sg.d1"), is_aligned, columns).unwrap();
    let mut writer = FileWriter::create(lab.path(name), WriterOptions::default()).unwrap();
    writer.add_device(&device).unwrap();
    for (row, time) in times.iter().enumerate() {
        let (double, int) = ([value], [7]);
        let double = ColumnView::new(DataType::Double, ValuesRef::Double(&double), None);
        let int = ColumnView::new(DataType::Int32, ValuesRef::Int32(&int), None);
        let extra = extra.map(|data_type| if data_type == DataType::Int32 { int } else { double });
        let columns = [Some(double), Some(double).filter(|_| row % 2 == 0), extra];
        writer.write_device_rows(device.device(), &[*time], &columns[..device.columns().len()]).unwrap();
    }
    writer.commit().unwrap();
}

/// Of tree-model devices, too, the later file is newer, column by column; what shares its times in the newest file shares them.
#[test]
fn devices_of_the_tree_model_are_merged() {
    let lab = Lab::new();
    write_tree(&lab, "a.tsfile", false, &[1, 2, 3, 9], 0.5, Some(DataType::Int32));
    write_tree(&lab, "b.tsfile", true, &[2, 3, 4, 5], 1.5, None);
    write_tree(&lab, "c.tsfile", false, &[2], 2.5, Some(DataType::Double));
    lab.good("merge a.tsfile b.tsfile --out ab.tsfile");
    insta::assert_snapshot!(lab.good("cat ab.tsfile -f csv"), @"
    time,W,extra,v
    1,0.5,7,0.5
    2,1.5,7,1.5
    3,0.5,7,1.5
    4,1.5,,1.5
    5,,,1.5
    9,,7,0.5
    ");
    lab.good("merge b.tsfile a.tsfile --out ba.tsfile");
    assert!(lab.good("cat ba.tsfile -f csv").contains("\n2,1.5,7,0.5\n3,0.5,7,0.5\n4,1.5,,1.5\n"));
    assert_eq!(lab.good("verify ab.tsfile ba.tsfile"), "");
    let is_aligned = |file: &str| lab.good(&format!("sketch {file}")).contains("chunk header: time: VECTOR");
    assert!(is_aligned("ab.tsfile") && !is_aligned("ba.tsfile"));
    insta::assert_snapshot!(lab.refused(3, "merge a.tsfile c.tsfile --out o"), @"c.tsfile: device root.sg.d1 has column extra as another DOUBLE than in the files before");
    insta::assert_snapshot!(lab.refused(1, "convert a.tsfile --out o --encoding w=PLAIN"), @"--encoding w: there is no such column, and no such type");
    lab.good("convert a.tsfile --out o --encoding W=PLAIN --encoding auto --compression extra=ZSTD");
    insta::assert_snapshot!(lab.good("schema o --no-header"), @"
    tree	root.sg.d1	W	FIELD	DOUBLE	PLAIN	LZ4
    tree	root.sg.d1	extra	FIELD	INT32	PLAIN	ZSTD
    tree	root.sg.d1	v	FIELD	DOUBLE	GORILLA	LZ4
    ");
}

/// A file may have tables and devices of the tree model.
#[test]
fn tables_and_devices_of_the_tree_model_share_a_file() {
    let lab = Lab::new().with("t.csv", "time,site,v\n1,a,0.5\n2,a,1.5\n");
    lab.good("import t.csv --out t.tsfile");
    let tree = repository("fixtures/cpp/tree_not_aligned.tsfile");
    lab.good(&format!("merge t.tsfile {} --out both.tsfile", tree.display()));
    assert_eq!(lab.good("verify both.tsfile"), "");
    let rows = |file: &str| lab.good(&format!("cat {file} -f ndjson"));
    assert_eq!(rows("both.tsfile"), rows("t.tsfile") + &rows(&tree.display().to_string()));
    let names = |file: &str| lab.good(&format!("ls {file} --no-header"));
    assert_eq!(names("both.tsfile"), names("t.tsfile") + &names(&tree.display().to_string()));
    let meta = lab.good("meta both.tsfile -f ndjson");
    assert!(meta.contains(r#""model": "table and tree""#), "{meta}");
    lab.good("convert both.tsfile --out again.tsfile --encoding DOUBLE=PLAIN");
    assert_eq!(rows("again.tsfile"), rows("both.tsfile"));
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
