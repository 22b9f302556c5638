//! What is reserved before a write is what the write takes, to the byte: by the memtable's count and by the allocator's.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tsloom_alloc_probe::{Probe, thread};
use tsloom_memtable::{AlignedList, BlockRows, ListShape, Memtable, MemtableOptions, SlabPool};
use tsloom_model::{ColumnView, DataType, TableSchema, Value, ValuesRef};
use tsloom_tablet::Tablet;

#[global_allocator]
static PROBE: Probe = Probe::new();

const TYPES: [DataType; 4] = [DataType::Int32, DataType::Boolean, DataType::Double, DataType::Timestamp];

/// `present` has a bit for each column that is written, `devices` how many devices take turns, every so many rows.
fn tablet(schema: &TableSchema, rows: usize, present: u32, devices: usize, turn: usize) -> Tablet {
    let mut tablet = Tablet::with_capacity(schema, rows);
    for row in 0..rows {
        let mut values = vec![Value::from(["a", "b", "c"][row / turn % devices])];
        values.extend((0..8).map(|column| match TYPES[column % 4] {
            _ if present >> column & 1 == 0 || (row + column).is_multiple_of(5) => Value::Null,
            DataType::Boolean => Value::Boolean(true),
            DataType::Double => Value::Double(0.5),
            DataType::Timestamp => Value::Int64(1),
            _ => Value::Int32(1),
        }));
        tablet.push_row(row as i64, &values).unwrap();
    }
    tablet
}

#[test]
fn a_reservation_is_exact() {
    let mut schema = TableSchema::builder("t").tag("d");
    for column in 0..8 {
        schema = schema.field(format!("c{column}"), TYPES[column % 4]);
    }
    let schema = schema.build().unwrap();
    let first = tablet(&schema, 3, 0b1, 3, 1);
    let tablets: Vec<Tablet> = [
        (64, 0b1111_1111, 1, 1),
        (1, 0b10, 1, 1),
        (100, 0, 1, 1),
        (700, 0b1010_1010, 3, 50),
        (40, 0b1111, 3, 1),
        (3_000, 0b1111_1111, 2, 1_000),
        (9, 0b100_0000, 3, 2),
    ]
    .map(|(rows, present, devices, turn)| tablet(&schema, rows, present, devices, turn))
    .into();
    for block_rows in [BlockRows::Fixed(8), BlockRows::Fixed(64), BlockRows::ByWidth] {
        let mut memtable = Memtable::new(MemtableOptions::default().block_rows(block_rows).pool(SlabPool::new(0)));
        memtable.write(&first).unwrap();
        let mut held = Vec::new();
        for round in 0..3 {
            for (index, tablet) in tablets.iter().enumerate() {
                if round == 1 {
                    held.push(memtable.snapshot());
                }
                let reserved = memtable.reserve(tablet, None).unwrap();
                let (charged, live) = (memtable.byte_count(), thread().live_bytes);
                memtable.write(tablet).unwrap();
                let added = memtable.byte_count() - charged;
                assert_eq!(reserved, added, "{block_rows:?}, round {round}, tablet {index}");
                assert_eq!(added as i64, thread().live_bytes - live, "{block_rows:?}, round {round}, tablet {index}");
            }
        }
    }
    many_blocks();
}

/// Past two full nodes of blocks, with and without a reader of the nodes.
fn many_blocks() {
    let values = [1; 8];
    let times: Vec<i64> = (0..8).collect();
    let columns = [(0, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), None))];
    for reads in [false, true] {
        let mut shape = ListShape::new(&SlabPool::new(0), BlockRows::Fixed(8), 1);
        let mut list = AlignedList::new(&shape);
        let mut views = Vec::new();
        for batch in 0..600 {
            if reads && batch % 50 == 49 {
                views.push(list.view());
            }
            let reserved = list.reserve(&mut shape, 0..8, columns.as_slice(), None);
            let before = shape.byte_count();
            list.append(&mut shape, &times, 0..8, columns.as_slice(), None);
            assert_eq!(shape.byte_count() - before, reserved, "batch {batch}");
        }
    }
}
