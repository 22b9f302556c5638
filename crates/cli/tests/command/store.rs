//! `store` and `wal`: a database from the command line.

use std::fs;

use crate::lab::Lab;

/// A store with a table of two sites; six rows are in files, six in the log.
fn lab() -> Lab {
    let lab = Lab::new()
        .with("one.csv", "time,site,v,w\n1,a,1,10\n2,a,2,20\n3,a,3,30\n1,b,4,40\n2,b,5,50\n3,b,6,60\n")
        .with("two.csv", "time,site,v,w\n3,a,7,70\n4,a,8,80\n5,a,9,90\n3,b,1,10\n4,b,2,20\n5,b,3,30\n");
    lab.good("store init lab.tsloom");
    lab.good("store write one.csv --store lab.tsloom -t t");
    lab.good("store flush lab.tsloom");
    lab.good("store write two.csv --store lab.tsloom -t t");
    lab
}

fn stat(lab: &Lab, name: &str) -> String {
    let stats = lab.good("store stats lab.tsloom -f tsv --no-header");
    let line = stats.lines().find_map(|line| line.strip_prefix(&format!("{name}\t")));
    line.unwrap_or_else(|| panic!("{name} is not in {stats}")).to_owned()
}

#[test]
fn rows_are_written_scanned_deleted_and_merged() {
    let lab = lab();
    assert_eq!([stat(&lab, "files"), stat(&lab, "file_rows"), stat(&lab, "rows_in_log")], ["1", "6", "6"]);
    insta::assert_snapshot!(lab.good("store scan lab.tsloom -t t --where-tag site=a -f csv"), @r"
    time,site,v,w
    1,a,1,10
    2,a,2,20
    3,a,7,70
    4,a,8,80
    5,a,9,90
    ");
    lab.good("store delete lab.tsloom -t t --where-tag site=a --end 2");
    lab.good("store delete lab.tsloom -t t -m w --start 5");
    insta::assert_snapshot!(lab.good("store scan lab.tsloom -f csv"), @r"
    time,site,v,w
    3,a,7,70
    4,a,8,80
    5,a,9,
    1,b,4,40
    2,b,5,50
    3,b,1,10
    4,b,2,20
    5,b,3,
    ");
    let before = lab.good("store scan lab.tsloom -f csv");
    assert_eq!(stat(&lab, "erasures"), "2");
    lab.good("store compact lab.tsloom");
    assert_eq!(lab.good("store scan lab.tsloom -f csv"), before);
    assert_eq!(["files", "late_files", "file_rows", "rows_in_log"].map(|name| stat(&lab, name)), ["1", "0", "8", "0"]);
}

#[test]
fn a_backup_is_a_store() {
    let lab = lab();
    lab.good("store backup lab.tsloom copy.tsloom");
    assert_eq!(lab.good("cat --store copy.tsloom -f csv"), lab.good("cat --store lab.tsloom -f csv"));
    assert_eq!(lab.refused(3, "store backup lab.tsloom copy.tsloom"), "there is a store in copy.tsloom");
}

#[test]
fn what_is_damaged_is_found() {
    let lab = lab();
    assert_eq!(lab.good("store verify lab.tsloom"), "");
    let file = lab.path("lab.tsloom/data/000001.tsfile");
    let mut bytes = fs::read(&file).unwrap();
    bytes[60] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    let ended = lab.run("store verify lab.tsloom");
    assert_eq!((ended.status, ended.stderr.as_str()), (2, "not sound: data/000001.tsfile\n"));
    assert!(!ended.stdout.is_empty());
}

#[test]
fn a_log_is_listed_and_cut() {
    let lab = lab();
    let dump = lab.good("wal dump lab.tsloom -f csv");
    assert!(dump.contains(",tablet,1,\"t, 6 rows, 3 columns\"\n"), "{dump}");
    let verified = lab.good("wal verify lab.tsloom -f csv --no-header");
    assert!(verified.lines().all(|line| line.ends_with(",whole")), "{verified}");
    assert_eq!(lab.good("wal repair lab.tsloom"), "");
    // One more entry, so that the one before it is known to have been on disk; then that one is damaged.
    lab.good("store write two.csv --store lab.tsloom -t t --batch-rows 1");
    let place = lab.good("wal dump lab.tsloom -f csv --no-header").lines().rev().nth(3).unwrap().to_owned();
    let mut cells = place.split(',');
    let (name, offset) = (cells.next().unwrap(), cells.next().unwrap().parse::<usize>().unwrap());
    let file = lab.path(&format!("lab.tsloom/{name}"));
    let mut bytes = fs::read(&file).unwrap();
    bytes[offset + 18] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(lab.run("cat --store lab.tsloom").status, 2);
    assert_eq!(lab.run("wal verify lab.tsloom").status, 2);
    assert_eq!(lab.good("wal repair lab.tsloom"), format!("{name}.aside\n"));
    assert_eq!(lab.good("cat --store lab.tsloom -f csv").lines().count(), 11);
    assert!(lab.good("wal verify lab.tsloom").lines().count() > 1);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let lab = lab();
    assert_eq!(lab.refused(3, "store init lab.tsloom"), "there is a store in lab.tsloom already");
    assert_eq!(lab.refused(1, "store delete lab.tsloom"), "name the table to delete from with -t");
    lab.refused(3, "store delete lab.tsloom -t none");
    lab.refused(2, "store flush none.tsloom");
    lab.refused(2, "wal dump none.tsloom");
    assert_eq!(lab.names(), ["lab.tsloom", "one.csv", "two.csv"]);
}
