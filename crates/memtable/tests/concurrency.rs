//! One writer and several readers. What a snapshot is depends on its place among the writes and on nothing else, in every
//! interleaving; and readers on other threads see whole batches only, while the writer goes on.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tsloom_memtable::{BlockRows, DeviceCursor, Frozen, Memtable, MemtableOptions, MemtableSnapshot, SlabPool};
use tsloom_model::{DataType, TableSchema, TimeRange, Value};
use tsloom_tablet::Tablet;

/// Rows of a batch; a block has eight, so batches end in the middle of blocks.
const BATCH_ROWS: i64 = 5;

fn schema() -> TableSchema {
    TableSchema::builder("t").field("a", DataType::Int64).field("b", DataType::Text).build().unwrap()
}

/// Batch `number`: its rows come before those of the batch before, and each says which batch it is of.
fn batch(schema: &TableSchema, number: i64) -> Tablet {
    let mut tablet = Tablet::with_capacity(schema, BATCH_ROWS as usize);
    let text = number.to_string();
    for row in 0..BATCH_ROWS {
        tablet.push_row(row - number * BATCH_ROWS, &[Value::Int64(number), text.as_str().into()]).unwrap();
    }
    tablet
}

fn options(pool_bytes: usize) -> MemtableOptions {
    MemtableOptions::default().block_rows(BlockRows::Fixed(8)).pool(SlabPool::new(pool_bytes))
}

fn cursor(snapshot: &MemtableSnapshot) -> Option<DeviceCursor> {
    Some(snapshot.device_snapshots("t").next()?.cursor(&["a", "b"], TimeRange::ALL))
}

/// Reads on; true while rows come. Every row must be right by itself and come after the last.
fn read_some(cursor: &mut DeviceCursor, last: &mut i64) -> usize {
    let Some(rows) = cursor.next_rows(3) else { return 0 };
    for (row, time) in rows.times().iter().enumerate() {
        assert!(*last < *time);
        *last = *time;
        let number = (BATCH_ROWS - 1 - time).div_euclid(BATCH_ROWS);
        assert_eq!(rows.column(0).unwrap().value(row), Value::Int64(number));
        assert_eq!(rows.column(1).unwrap().value(row), Value::from(number.to_string().as_str()));
    }
    rows.row_count()
}

/// What a script does next.
#[derive(Clone, Copy)]
enum Step {
    Write,
    Delete,
    Freeze,
    Snapshot,
    /// The next three rows of the snapshot taken.
    Read,
    /// The rest of it, all rows counted.
    Finish,
}

/// All orders in which the steps of the scripts can follow each other.
fn interleavings(lengths: &[usize]) -> Vec<Vec<usize>> {
    if lengths.iter().all(|length| *length == 0) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for script in (0..lengths.len()).filter(|script| lengths[*script] > 0) {
        let mut left = lengths.to_vec();
        left[script] -= 1;
        for mut rest in interleavings(&left) {
            rest.push(script);
            all.push(rest);
        }
    }
    all
}

/// A reader: its cursor, the rows it must see, those it saw.
#[derive(Default)]
struct Reader {
    cursor: Option<DeviceCursor>,
    expected: usize,
    seen: usize,
    last: i64,
}

#[test]
fn every_interleaving_of_writes_snapshots_reads_and_freeze_is_as_if_alone() {
    use Step::{Delete, Finish, Freeze, Read, Snapshot, Write};
    let scripts: [&[Step]; 3] =
        [&[Write, Write, Delete, Write, Freeze], &[Snapshot, Read, Read, Finish], &[Snapshot, Read, Finish]];
    let orders = interleavings(&scripts.map(<[Step]>::len));
    assert_eq!(orders.len(), 27_720); // 12! / (5! 4! 3!)
    let schema = schema();
    let batches: Vec<Tablet> = (0..3).map(|number| batch(&schema, number)).collect();
    for order in orders {
        let (mut memtable, mut frozen): (Option<Memtable>, Option<Frozen>) = (Some(Memtable::new(options(1 << 16))), None);
        let mut at = [0; 3];
        let (mut written, mut visible) = (0, 0);
        let mut readers = [Reader::default(), Reader::default()];
        for script in order.into_iter().rev() {
            let step = scripts[script][at[script]];
            at[script] += 1;
            match step {
                Write => {
                    memtable.as_mut().unwrap().write(&batches[written]).unwrap();
                    written += 1;
                    visible += BATCH_ROWS as usize;
                }
                // The first row of the latest batch, which is the very first in time.
                Delete => {
                    let first = -(written as i64 - 1) * BATCH_ROWS;
                    let recorded = memtable.as_mut().unwrap().delete_rows("t", |_| true, TimeRange { start: first, end: first });
                    visible -= recorded;
                    assert_eq!(recorded, 1);
                }
                Freeze => frozen = memtable.take().map(Memtable::freeze),
                Snapshot => {
                    let snapshot = memtable.as_ref().map_or_else(|| frozen.as_ref().unwrap().snapshot(), Memtable::snapshot);
                    readers[script - 1] = Reader { cursor: cursor(&snapshot), expected: visible, seen: 0, last: i64::MIN };
                }
                Read => {
                    let Reader { cursor, seen, last, .. } = &mut readers[script - 1];
                    *seen += cursor.as_mut().map_or(0, |cursor| read_some(cursor, last));
                }
                Finish => {
                    let Reader { cursor, expected, seen, last } = &mut readers[script - 1];
                    if let Some(cursor) = cursor {
                        while let rows @ 1.. = read_some(cursor, last) {
                            *seen += rows;
                        }
                    }
                    assert_eq!(seen, expected);
                }
            }
        }
    }
}

#[test]
fn readers_on_other_threads_see_whole_batches_and_stop_nobody() {
    let schema = schema();
    let shared = Mutex::new(Memtable::new(options(1 << 20)));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut most = 0;
                while !is_done.load(Ordering::Relaxed) {
                    // The lock is for the moment of the snapshot only; reading goes on without it.
                    let snapshot = shared.lock().unwrap().snapshot();
                    let Some(mut cursor) = cursor(&snapshot) else { continue };
                    let (mut seen, mut last) = (0, i64::MIN);
                    while let rows @ 1.. = read_some(&mut cursor, &mut last) {
                        seen += rows;
                    }
                    assert!(seen.is_multiple_of(BATCH_ROWS as usize), "{seen} rows are no whole batches");
                    assert!(seen >= most);
                    most = seen;
                }
            });
        }
        for number in 0..400 {
            let tablet = batch(&schema, number);
            shared.lock().unwrap().write(&tablet).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    let memtable = shared.into_inner().unwrap();
    assert_eq!(memtable.row_count(), 400 * BATCH_ROWS as u64);
}
