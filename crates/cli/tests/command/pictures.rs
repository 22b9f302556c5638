//! `sketch` and `plot`.

use std::fs;

use crate::lab::{Lab, repository};

fn lab() -> Lab {
    let mut csv = String::from("time,site,v,note\n");
    for row in 0..2000 {
        let value = if row == 777 { 1e6 } else { f64::from(row % 10) };
        csv += &format!("{},{},{value},x\n", 1_400_000_000_000_i64 + i64::from(row / 2) * 60_000, ["a", "b"][(row % 2) as usize]);
    }
    let lab = Lab::new().with("in.csv", csv);
    lab.good("import in.csv --out in.tsfile --tag site");
    lab.good("import in.csv --store lab.tsloom --tag site");
    lab
}

#[test]
fn the_byte_map_covers_the_file() {
    let lab = Lab::new();
    insta::assert_snapshot!(
        "sketch",
        lab.good(&format!("sketch {} -f table", repository("fixtures/cpp/notag_all_types.tsfile").display()))
    );
    for name in ["cpp/tree_not_aligned", "java/v3_tree", "cpp/devices600"] {
        let file = repository(&format!("fixtures/{name}.tsfile"));
        let mut end = 0;
        for line in lab.good(&format!("sketch {} --no-header", file.display())).lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            assert_eq!(cells[0].parse::<u64>().unwrap(), end, "{name}: {line}");
            end += cells[1].parse::<u64>().unwrap();
        }
        assert_eq!(end, fs::metadata(&file).unwrap().len(), "{name}");
    }
}

#[test]
fn the_byte_map_is_a_page_of_its_own() {
    let lab = lab();
    assert_eq!(lab.good("sketch in.tsfile --html map.html"), "");
    let page = fs::read_to_string(lab.path("map.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<svg") && page.contains("bloom filter") && !page.contains("http"), "{page}");
    assert!(!page.contains("<script"));
}

#[test]
fn an_unfinished_file_has_a_map_too() {
    let lab = lab();
    let good = fs::read(lab.path("in.tsfile")).unwrap();
    let lab = lab.with("cut.tsfile", &good[..good.len() - 50]);
    let ended = lab.run("sketch cut.tsfile");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("page header: v") && ended.stdout.ends_with("unknown bytes\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("the file has no end"), "{}", ended.stderr);
}

#[test]
fn columns_are_drawn() {
    let lab = lab();
    let ended = lab.run("plot in.tsfile --columns v --out v.svg -v");
    assert_eq!((ended.status, ended.stdout.as_str()), (0, ""));
    assert!(ended.stderr.starts_with("2000 rows to "), "{}", ended.stderr);
    let svg = fs::read_to_string(lab.path("v.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("v a") && svg.contains("v b") && svg.contains("2014-05-"), "{svg}");
    assert!(svg.matches("<polyline").count() >= 2);
    lab.good("plot --store lab.tsloom -m v --where-tag site=a --start 1400000000000 --end 1400000600000 --out a.svg");
    assert!(!fs::read_to_string(lab.path("a.svg")).unwrap().contains("v b"));
    let tree = repository("fixtures/cpp/tree_aligned.tsfile");
    lab.good(&format!("plot {} -d root.sg.al1 --out tree.svg", tree.display()));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let lab = lab();
    insta::assert_snapshot!(lab.refused(3, "plot in.tsfile --columns note --out o.svg"), @"column note of in is STRING; only numbers are drawn");
    insta::assert_snapshot!(lab.refused(3, "plot in.tsfile --columns w --out o.svg"), @"table in has no column w; it has site, v, note");
    insta::assert_snapshot!(lab.refused(3, "plot in.tsfile --columns v --end 5 --out o.svg"), @"in.tsfile has no value of v there");
    let wide = repository("fixtures/cpp/wide300.tsfile");
    let line = lab.refused(3, &format!("plot {} --out o.svg", wide.display()));
    assert!(line.contains("more than 24 lines"), "{line}");
    assert!(!lab.names().contains(&"o.svg".to_owned()));
}
