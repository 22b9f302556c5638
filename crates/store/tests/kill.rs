//! Real processes, killed with signal 9 while they write: every row they have said is acknowledged must be there, and of the
//! rest whole tablets.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use tsloom_model::{DataType, Result, TableSchema};
use tsloom_store::{Store, StoreOptions};
use tsloom_tablet::Tablet;
use tsloom_testkit::Random;

/// Where the child finds the store; set only for it.
const STORE: &str = "TSLOOM_KILL_TEST_STORE";

const ROWS: i64 = 50;
const TABLETS: i64 = 120;

fn schema() -> Result<TableSchema> {
    TableSchema::builder("t").tag("device").field("value", DataType::Int64).build()
}

/// The child: appends tablets behind what is there, one acknowledgement a line, a flush now and then.
fn write_and_acknowledge(path: &Path) -> Result<()> {
    let store = Store::open(path, StoreOptions::default())?;
    let schema = schema()?;
    store.create_table(&schema)?;
    let first = row_count(&store)? / ROWS;
    let mut tablet = Tablet::with_capacity(&schema, ROWS as usize);
    for number in first..first + TABLETS {
        tablet.clear();
        for time in number * ROWS..(number + 1) * ROWS {
            tablet.push_row(time, &["d".into(), (time * 3).into()])?;
        }
        store.write(&tablet)?;
        println!("acknowledged {}", (number + 1) * ROWS);
        if number % 37 == 36 {
            store.flush()?;
        }
    }
    Ok(())
}

/// Counts the rows, and checks that they are 0, 1, 2, ... with the right values.
fn row_count(store: &Store) -> Result<i64> {
    let mut count = 0;
    let mut scan = store.scan("t").open()?;
    while let Some(block) = scan.next_block()? {
        for (row, time) in block.times().iter().enumerate() {
            assert_eq!((*time, block.column(1).i64(row)), (count, Some(count * 3)));
            count += 1;
        }
    }
    Ok(count)
}

#[test]
fn child() {
    if let Some(path) = std::env::var_os(STORE) {
        write_and_acknowledge(Path::new(&path)).expect("the child writes until it is killed");
    }
}

#[test]
fn killed_anywhere_every_acknowledged_row_is_there() {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let path = folder.path().join("killed.tsloom");
    let mut random = Random::new(9);
    let mut between = 0;
    for run in 0..30 {
        let mut child = Command::new(std::env::current_exe().expect("tests know their own path"))
            .args(["--exact", "child", "--nocapture"])
            .env(STORE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test runs itself");
        let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let mut next = || {
            lines.by_ref().map_while(std::result::Result::ok).find_map(|line| line.strip_prefix("acknowledged ")?.parse().ok())
        };
        let wanted = 1 + random.below(TABLETS as usize - 20);
        let mut acknowledged: i64 = 0;
        for _ in 0..wanted {
            acknowledged = next().unwrap_or(acknowledged);
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        // What was printed before it ended was acknowledged too.
        while let Some(more) = next() {
            acknowledged = more;
        }
        between += i32::from(acknowledged % (TABLETS * ROWS) != 0);
        let store = Store::open(&path, StoreOptions::default()).expect("a killed store opens");
        let found = row_count(&store).expect("its rows can be read");
        assert!(found >= acknowledged && found % ROWS == 0, "run {run}: {found} rows, {acknowledged} acknowledged");
        assert!(found <= acknowledged + ROWS, "run {run}: {found} rows, {acknowledged} acknowledged");
    }
    println!("30 kills, {between} of them between the first and the last acknowledgement");
    assert!(between >= 25);
}
