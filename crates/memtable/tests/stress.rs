//! One writer and several readers at full speed, with deletes, freezing, and memtables that go away while they are read: the test
//! that `cargo xtask sanitize` runs under ThreadSanitizer, with more batches. What the readers see is checked all the same.
//!
//! The locks are those of parking_lot, as in the crate: the sanitizer does not see into a lock of the standard library.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tsloom_memtable::{
    BlockRows, DeviceSnapshot, Frozen, Memtable, MemtableOptions, MemtableSnapshot, MergeQuery, RowsView, SlabPool,
};
use tsloom_model::{DataType, TableSchema, TimeRange, Value};
use tsloom_tablet::Tablet;

/// Rows of a batch. A block has eight, so batches end in the middle of blocks.
const BATCH_ROWS: i64 = 5;
const COLUMNS: [&str; 4] = ["int", "text", "flag", "late"];

/// A number out of the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |count| count.parse().unwrap())
}

/// The times of batch `number`: every third batch comes late, before the two that were written before it.
fn times(number: i64) -> std::ops::Range<i64> {
    let place = if number % 3 == 2 { number - 2 } else { number + i64::from(number % 3 < 2) };
    place * BATCH_ROWS..(place + 1) * BATCH_ROWS
}

/// What the cells of a time are, whoever wrote them; the last column appears in every seventh time only.
fn cells(time: i64) -> [Value<'static>; 4] {
    const TEXTS: [&str; 3] = ["", "some text", "a text that is longer than most of them are"];
    let late = if time % 7 == 0 { Value::Double(time as f64) } else { Value::Null };
    [Value::Int64(time), TEXTS[time.rem_euclid(3) as usize].into(), Value::Boolean(time % 2 == 0), late]
}

fn batch(schema: &TableSchema, number: i64) -> Tablet {
    let mut tablet = Tablet::with_capacity(schema, BATCH_ROWS as usize);
    times(number).for_each(|time| tablet.push_row(time, &cells(time)).unwrap());
    tablet
}

/// What the writer changes and readers take snapshots of, under a lock that nobody reads under.
struct State {
    frozen: Vec<Frozen>,
    working: Memtable,
}

impl State {
    fn snapshots(&self) -> Vec<MemtableSnapshot> {
        self.frozen.iter().map(Frozen::snapshot).chain([self.working.snapshot()]).collect()
    }
}

fn check(rows: &RowsView<'_>) {
    for (row, &time) in rows.times().iter().enumerate() {
        for (column, expected) in cells(time).into_iter().enumerate() {
            let value = rows.column(column).map_or(Value::Null, |column| column.value(row));
            assert_eq!(value, expected, "{} at {time}", COLUMNS[column]);
        }
    }
}

/// Reads all memtables merged, and the newest by itself; both ascending or descending.
fn read(snapshots: &[MemtableSnapshot], is_descending: bool) {
    let devices: Vec<DeviceSnapshot> = snapshots.iter().flat_map(|snapshot| snapshot.device_snapshots("t")).collect();
    let query = MergeQuery::new(&devices, &COLUMNS);
    let mut cursor = if is_descending { query.descending() } else { query }.cursor();
    let (mut count, mut last) = (0, None);
    while let Some(rows) = cursor.next_rows(7) {
        check(&rows);
        for &time in rows.times() {
            assert!(last.is_none_or(|last| if is_descending { time < last } else { last < time }));
            last = Some(time);
        }
        count += rows.row_count();
    }
    assert!(count.is_multiple_of(BATCH_ROWS as usize), "{count} rows are no whole batches");

    let Some(newest) = devices.last() else { return };
    let query = newest.query(&COLUMNS);
    let mut cursor = if is_descending { query.descending() } else { query }.cursor();
    while let Some(rows) = cursor.next_rows(50) {
        check(&rows);
    }
}

#[test]
fn readers_see_whole_batches_whatever_the_writer_does() {
    let mut builder = TableSchema::builder("t");
    for (name, data_type) in COLUMNS.iter().zip([DataType::Int64, DataType::Text, DataType::Boolean, DataType::Double]) {
        builder = builder.field(*name, data_type);
    }
    let schema = builder.build().unwrap();
    // Without a pool the sanitizer sees every slab come and go.
    let pool = SlabPool::new(setting("TSLOOM_STRESS_POOL_BYTES", 1 << 20));
    let options = MemtableOptions::default().block_rows(BlockRows::Fixed(8)).pool(pool);
    let state = Mutex::new(State { frozen: Vec::new(), working: Memtable::new(options.clone()) });
    // The snapshots that a reader took last, to be read by another one at the same time.
    let shared: Mutex<Arc<Vec<MemtableSnapshot>>> = Mutex::default();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [0, 1, 2].map(|reader| {
            let (state, shared, is_done) = (&state, &shared, &is_done);
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    let snapshots = if reader == 0 {
                        Arc::clone(&shared.lock())
                    } else {
                        let snapshots = Arc::new(state.lock().snapshots());
                        *shared.lock() = Arc::clone(&snapshots);
                        snapshots
                    };
                    read(&snapshots, reader == 2);
                }
            })
        });
        for number in 0..setting("TSLOOM_STRESS_BATCHES", 300) as i64 {
            let tablet = batch(&schema, number);
            let mut state = state.lock();
            state.working.write(&tablet).unwrap();
            if number % 10 == 9 {
                let deleted = times(number - 4);
                let range = TimeRange { start: deleted.start, end: deleted.end - 1 };
                state.working.delete_rows("t", |_| true, range);
                state.frozen.iter_mut().for_each(|frozen| _ = frozen.delete_rows("t", |_| true, range));
            }
            if number % 30 == 29 {
                let full = std::mem::replace(&mut state.working, Memtable::new(options.clone()));
                state.frozen.push(full.freeze());
            }
            if state.frozen.len() > 2 {
                state.frozen.remove(0);
            }
        }
        is_done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    read(&state.into_inner().snapshots(), false);
}
