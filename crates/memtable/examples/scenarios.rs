//! Times the list level of the memtable against the same column copies without any structure, in one run.
//!
//! `cargo run --release -p tsloom-memtable --example scenarios [part of a name]`. Each line is the second best of several
//! rounds by the thread's processor time, ours and the bare copies in turn; both write to slabs that were touched before.
//! Input, as in upstream's performance tests: INT32 columns, and the same batch (times 0..rows) appended over and over.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tsloom_bitmap::NullWords;
use tsloom_memtable::{AlignedList, BlockRows, ListShape, SlabPool};
use tsloom_model::{ColumnView, DataType, Value, ValuesRef};

const ROUNDS: usize = 11;

/// One batch and how often it is written.
struct Scenario {
    name: &'static str,
    columns: usize,
    written: usize,
    rows: usize,
    batches: usize,
    block_rows: usize,
    /// Every batch goes to a list of its own.
    fresh: bool,
    /// Every second cell is null, by the parity of its column.
    nulls: bool,
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    let base = Scenario {
        name: "dense 64x64, g=1",
        columns: 64,
        written: 64,
        rows: 64,
        batches: 4_000,
        block_rows: 64,
        fresh: false,
        nulls: false,
    };
    println!("{:28} {:>9} {:>9} {:>6}", "scenario", "us", "copies us", "ratio");
    for scenario in [
        Scenario { name: "dense 64x64, g=4", block_rows: 256, ..base },
        Scenario { name: "dense 64x64, 4 MB, g=1", batches: 250, ..base },
        Scenario { name: "dense 64x64, 4 MB, g=4", batches: 250, block_rows: 256, ..base },
        Scenario { name: "sparse 64x64, g=1", written: 1, ..base },
        Scenario { name: "sparse 64x64, g=4", written: 1, block_rows: 256, ..base },
        Scenario { name: "all-null 64x64, g=1", written: 0, ..base },
        Scenario { name: "all-null 64x64, g=4", written: 0, block_rows: 256, ..base },
        Scenario { name: "sparse 3000x64, g=1", columns: 3_000, written: 1, ..base },
        Scenario { name: "dense 3000x64, g=1", columns: 3_000, written: 3_000, batches: 100, ..base },
        Scenario { name: "dense 64x256 fresh, g=1", rows: 256, fresh: true, batches: 1_000, ..base },
        Scenario { name: "dense 64x256 fresh, g=4", rows: 256, fresh: true, block_rows: 256, batches: 1_000, ..base },
        Scenario { name: "null-heavy 64x64, g=1", nulls: true, ..base },
        Scenario {
            name: "null-heavy 64x256 fresh, g=4",
            nulls: true,
            rows: 256,
            fresh: true,
            block_rows: 256,
            batches: 1_000,
            ..base
        },
        base,
    ] {
        if scenario.name.contains(&only) {
            run(&scenario);
        }
    }
    if "row by row".contains(&only) {
        rows_one_by_one(64, 256);
        rows_one_by_one(64, 64);
        rows_one_by_one(10, 1024);
    }
    if "null prefix".contains(&only) {
        null_prefix();
    }
    if "snapshot".contains(&only) {
        snapshots();
    }
    if "read".contains(&only) {
        reading();
    }
}

/// Time this thread has had a processor.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn seconds_since(start: Duration) -> f64 {
    (cpu_time() - start).as_secs_f64()
}

/// The second best: the best can be luck, and whatever else runs on the machine only makes times longer.
fn typical(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[1]
}

fn run(scenario: &Scenario) {
    let times: Vec<i64> = (0..scenario.rows as i64).collect();
    let values: Vec<Vec<i32>> =
        (0..scenario.written).map(|column| (0..scenario.rows as i32).map(|row| row + column as i32).collect()).collect();
    let words: Vec<Vec<u64>> =
        (0..scenario.written).map(|column| vec![0x5555_5555_5555_5555 << (column % 2); scenario.rows.div_ceil(64)]).collect();
    let columns: Vec<(u32, ColumnView<'_>)> = (0..)
        .zip(values.iter().zip(&words))
        .map(|(id, (values, words))| {
            let nulls = scenario.nulls.then(|| NullWords::new(words, 0, scenario.rows));
            (id, ColumnView::new(DataType::Int32, ValuesRef::Int32(values), nulls))
        })
        .collect();

    let pool = SlabPool::new(1 << 30);
    let mut shape = ListShape::new(&pool, BlockRows::Fixed(scenario.block_rows), scenario.columns);
    let slab_count = if scenario.fresh { 1 } else { scenario.batches };
    let mut slabs = vec![vec![1_u64; scenario.rows * (1 + scenario.written.div_ceil(2))]; slab_count];
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = cpu_time();
        let mut list = AlignedList::new(&shape);
        for _ in 0..scenario.batches {
            if scenario.fresh {
                list = AlignedList::new(&shape);
            }
            list.append(&mut shape, black_box(&times), 0..scenario.rows, black_box(columns.as_slice()), None);
        }
        ours.push(seconds_since(start));
        drop(list);

        let start = cpu_time();
        for batch in 0..scenario.batches {
            let slab = &mut slabs[batch % slab_count];
            let (target, mut place) = slab.split_at_mut(scenario.rows);
            bytemuck::cast_slice_mut(target).copy_from_slice(black_box(&times));
            for values in black_box(&values) {
                let (target, rest) = place.split_at_mut(scenario.rows / 2);
                bytemuck::cast_slice_mut(target).copy_from_slice(values);
                place = rest;
            }
            black_box(slab);
        }
        bare.push(seconds_since(start));
    }
    let per_batch = |times: Vec<f64>| typical(times) / scenario.batches as f64 * 1e6;
    let (ours, bare) = (per_batch(ours), per_batch(bare));

    println!("{:28} {ours:9.3} {bare:9.3} {:6.2}", scenario.name, ours / bare);
}

fn rows_one_by_one(column_count: usize, block_rows: usize) {
    let ids: Vec<u32> = (0..column_count as u32).collect();
    let row: Vec<Value<'_>> = (0..column_count as i32).map(Value::Int32).collect();
    let pool = SlabPool::new(1 << 30);
    let mut shape = ListShape::new(&pool, BlockRows::Fixed(block_rows), column_count);
    let row_count = 50_000;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let mut list = AlignedList::new(&shape);
        let start = cpu_time();
        for time in 0..row_count {
            list.push_row(&mut shape, time, &ids, black_box(&row));
        }
        rounds.push(seconds_since(start));
    }
    let ns = typical(rounds) / row_count as f64 * 1e9;
    println!(
        "row by row, {column_count} columns, {block_rows} rows a block: {ns:.1} ns a row, {:.2} ns a cell",
        ns / column_count as f64
    );
}

fn null_prefix() {
    let times: Vec<i64> = (0..64).collect();
    let value = [7];
    let columns = [(0, ColumnView::new(DataType::Int32, ValuesRef::Int32(&value), None))];
    let none: &[(u32, ColumnView<'_>)] = &[];
    let pool = SlabPool::new(1 << 30);
    let mut shape = ListShape::new(&pool, BlockRows::Fixed(64), 64);
    let append = |shape: &mut ListShape, batches: usize| {
        let mut list = AlignedList::new(shape);
        for _ in 0..batches {
            list.append(shape, black_box(&times), 0..63, none, None);
            list.append(shape, black_box(&times[63..]), 0..1, columns.as_slice(), None);
        }
    };
    append(&mut shape, 5_000);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let start = cpu_time();
        append(&mut shape, 5_000);
        rounds.push(seconds_since(start));
    }
    println!("null prefix 63 + 1: {:.3} us", typical(rounds) / 5_000.0 * 1e6);
}

fn snapshots() {
    let times: Vec<i64> = (0..1_000_000).collect();
    let values: Vec<i32> = (0..1_000_000).collect();
    let columns: Vec<(u32, ColumnView<'_>)> =
        (0..10).map(|id| (id, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), None))).collect();
    for block_rows in [64, 1024] {
        let mut shape = ListShape::new(&SlabPool::new(1 << 20), BlockRows::Fixed(block_rows), 10);
        let mut list = AlignedList::new(&shape);
        list.append(&mut shape, &times, 0..1_000_000, columns.as_slice(), None);
        let start = cpu_time();
        for _ in 0..100_000 {
            black_box(list.view());
        }
        println!("snapshot of 1M x 10, {block_rows} rows a block: {:.3} us", seconds_since(start) / 1e5 * 1e6);
    }
}

/// The same numbers in every run.
fn noise(below: u64, state: &mut u64) -> i64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % below) as i64
}

/// One million rows of ten INT32 columns: time to sort the rows, and to hand all values to an encoder page by page.
fn reading() {
    const ROWS: i64 = 1_000_000;
    let mut state = 7;
    let in_order: Vec<i64> = (0..ROWS).collect();
    let mut late = |share: u64, by: u64| -> Vec<i64> {
        let mut time = |row: i64| if noise(100, &mut state) < share as i64 { row - 1 - noise(by, &mut state) } else { row };
        // A late row has a time of its own.
        (0..ROWS).map(|row| (time(row) << 20) + row).collect()
    };
    let (some_late, late_anywhere) = (late(5, 1_000), late(5, 1_000_000));
    let random: Vec<i64> = (0..ROWS).map(|_| noise(1 << 30, &mut state)).collect();
    let values: Vec<i32> = (0..ROWS as i32).collect();
    let words: Vec<u64> = vec![0x0101_0101_0101_0101; values.len().div_ceil(64)];
    let columns = |has_nulls: bool| -> Vec<(u32, ColumnView<'_>)> {
        let nulls = has_nulls.then(|| NullWords::new(&words, 0, values.len()));
        (0..10).map(|id| (id, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), nulls))).collect()
    };
    let (plain, sparse) = (columns(false), columns(true));
    for (name, times, columns, block_rows) in [
        ("in order", &in_order, &plain, 1024),
        ("in order", &in_order, &plain, 256),
        ("in order", &in_order, &plain, 64),
        ("in order, 1/8 null", &in_order, &sparse, 1024),
        ("in order, 1/8 null", &in_order, &sparse, 256),
        ("5 % late by < 1,000", &some_late, &plain, 1024),
        ("5 % late anywhere", &late_anywhere, &plain, 1024),
        ("random", &random, &plain, 1024),
    ] {
        let mut shape = ListShape::new(&SlabPool::new(1 << 20), BlockRows::Fixed(block_rows), 10);
        let mut list = AlignedList::new(&shape);
        list.append(&mut shape, times, 0..times.len(), columns.as_slice(), None);
        let ids: Vec<Option<(u32, DataType)>> = (0..10).map(|id| Some((id, DataType::Int32))).collect();
        let (mut sorting, mut feeding) = (Vec::new(), Vec::new());
        let mut page: Vec<i32> = Vec::with_capacity(1_024);
        for _ in 0..3 {
            let start = cpu_time();
            let view = std::sync::Arc::new(list.view());
            let mut cursor = view.query(&ids).cursor();
            sorting.push(seconds_since(start));
            let start = cpu_time();
            while let Some(rows) = cursor.next_rows(1_024) {
                for column in rows.columns().flatten() {
                    page.clear();
                    present_values(column, &mut page);
                    black_box(&page);
                }
            }
            feeding.push(seconds_since(start));
        }
        println!(
            "read 1M x 10, {name}, {block_rows} rows a block: order {:.1} ns a row, values {:.2} ns each",
            typical(sorting) / ROWS as f64 * 1e9,
            typical(feeding) / ROWS as f64 / 10.0 * 1e9
        );
    }
}

/// What an encoder does first: the values of rows that are not null, side by side.
fn present_values(column: ColumnView<'_>, page: &mut Vec<i32>) {
    let ValuesRef::Int32(values) = column.values() else { return };
    let Some(nulls) = column.nulls() else { return page.extend_from_slice(values) };
    for (index, values) in values.chunks(64).enumerate() {
        let mut present = !nulls.word(index);
        if present == u64::MAX {
            page.extend_from_slice(values);
            continue;
        }
        if values.len() < 64 {
            present &= (1 << values.len()) - 1;
        }
        while present != 0 {
            page.push(values[present.trailing_zeros() as usize]);
            present &= present - 1;
        }
    }
}
