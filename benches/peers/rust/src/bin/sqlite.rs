//! The peer `sqlite`: W1 in one table of an SQLite database in WAL mode, with an index on device and time.
//!
//! | case | work |
//! |---|---|
//! | `w1` | a new database, a transaction every 1,024 rows, the log folded into the database at the end |
//! | `r1` | all columns of all rows; the database is opened for each query |
//! | `r2` | two columns of a thousand rows of each device, found by the index; opened for each query |
//!
//! `synchronous = NORMAL`: the log is synced when it is folded in, not at each commit.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rusqlite::{Connection, params};
use tsloom_peers::rules::{W1_TABLET_ROW_COUNT, W1Device};
use tsloom_peers::{FIELDS, Operation, Result, note_file, r2_times, serve, sum, w1};

fn main() -> ExitCode {
    serve(operation)
}

fn operation(case: &str, folder: &Path) -> Result<Operation> {
    let kept = folder.join("w1.sqlite");
    match case {
        "w1" => {
            let devices = w1();
            let path = folder.join(format!("sqlite-written-{}.sqlite", std::process::id()));
            Ok(Box::new(move || {
                let row_count = write(&devices, &path)?;
                note_file(&path)?;
                std::fs::remove_file(&path)?;
                Ok(row_count)
            }))
        }
        "r1" => {
            write_once(&kept)?;
            Ok(Box::new(move || read_all(&Connection::open(&kept)?)))
        }
        "r2" => {
            write_once(&kept)?;
            let names: Vec<String> = w1().into_iter().map(|device| device.name).collect();
            Ok(Box::new(move || read_range(&Connection::open(&kept)?, &names)))
        }
        _ => Err(format!("no case {case}").into()),
    }
}

fn write_once(path: &PathBuf) -> Result<()> {
    if !path.is_file() {
        // Under another name until it is whole, so that an interrupted run leaves nothing that looks whole.
        let unfinished = path.with_extension(format!("unfinished-{}", std::process::id()));
        write(&w1(), &unfinished)?;
        std::fs::rename(unfinished, path)?;
    }
    note_file(path)
}

fn write(devices: &[W1Device], path: &Path) -> Result<u64> {
    let database = Connection::open(path)?;
    let columns: Vec<String> =
        FIELDS.iter().map(|name| format!("{name} {}", if name.starts_with('i') { "INTEGER" } else { "REAL" })).collect();
    database.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE w1 (dev TEXT, time INTEGER, {});
         CREATE INDEX w1_by_time ON w1 (dev, time);",
        columns.join(", ")
    ))?;
    let mut insert = database.prepare("INSERT INTO w1 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut written = 0;
    for device in devices {
        let W1Device { name, times, ints, doubles } = device;
        for start in (0..times.len()).step_by(W1_TABLET_ROW_COUNT) {
            let end = times.len().min(start + W1_TABLET_ROW_COUNT);
            database.execute_batch("BEGIN")?;
            for row in start..end {
                let [i0, i1, i2, i3, i4] = std::array::from_fn(|column| ints[column][row]);
                let [f0, f1, f2, f3, f4] = std::array::from_fn(|column| doubles[column][row]);
                written += insert.execute(params![name, times[row], i0, i1, i2, i3, i4, f0, f1, f2, f3, f4])?;
            }
            database.execute_batch("COMMIT")?;
        }
    }
    drop(insert);
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    database.close().map_err(|(_, error)| error)?;
    Ok(written as u64)
}

fn read_all(database: &Connection) -> Result<u64> {
    let mut query = database.prepare(&format!("SELECT dev, time, {} FROM w1", FIELDS.join(", ")))?;
    let mut rows = query.query([])?;
    let mut total = 0_u64;
    while let Some(row) = rows.next()? {
        let name_size = row.get_ref(0)?.as_str()?.len() as u64;
        let mut row_sum = name_size.wrapping_add(row.get::<_, i64>(1)? as u64);
        for column in 2..7 {
            row_sum = row_sum.wrapping_add(row.get::<_, i64>(column)? as u64);
        }
        for column in 7..12 {
            row_sum = row_sum.wrapping_add(row.get::<_, f64>(column)?.to_bits());
        }
        total = total.wrapping_add(row_sum);
    }
    Ok(total)
}

fn read_range(database: &Connection, names: &[String]) -> Result<u64> {
    let (first, last) = r2_times();
    let mut query = database.prepare("SELECT time, i2, f1 FROM w1 WHERE dev = ? AND time BETWEEN ? AND ?")?;
    let mut total = 0_u64;
    for name in names {
        let mut rows = query.query(params![name, first, last])?;
        while let Some(row) = rows.next()? {
            let patterns = [row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64, row.get::<_, f64>(2)?.to_bits()];
            total = total.wrapping_add(sum(patterns.into_iter()));
        }
    }
    Ok(total)
}
