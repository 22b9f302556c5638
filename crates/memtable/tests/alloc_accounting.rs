//! The bytes a memtable says it holds are those the allocator handed out, at every step, and none is left at the end.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use tsloom_alloc_probe::{Probe, thread};
use tsloom_memtable::{BlockRows, Memtable, MemtableOptions, SlabPool};
use tsloom_model::{ColumnSchema, DataType, TableSchema, TimeRange, Value};
use tsloom_tablet::Tablet;

#[global_allocator]
static PROBE: Probe = Probe::new();

/// Rows of several devices; the columns written differ from tablet to tablet.
fn tablet(schema: &TableSchema, first_time: i64, rows: i64, step: usize) -> Tablet {
    let mut tablet = Tablet::with_capacity(schema, rows as usize);
    let devices = ["north", "south", "a device with a name that is longer than the others"];
    for row in 0..rows {
        let mut values = vec![Value::from(devices[(row % 3) as usize]), Value::from((row & 1 == 0).then_some("shelf"))];
        for (index, column) in schema.columns()[2..].iter().enumerate() {
            let number = row as i32 + index as i32;
            values.push(match column.data_type {
                _ if !(index + row as usize / 40).is_multiple_of(step) => Value::Null,
                DataType::Boolean => Value::Boolean(number & 1 == 0),
                DataType::Int64 => Value::Int64(number.into()),
                DataType::Double => Value::Double(number.into()),
                DataType::Text => Value::from("some text of a few words"),
                _ => Value::Int32(number),
            });
        }
        tablet.push_row(first_time + row * 7 % 40, &values).unwrap();
    }
    tablet
}

#[test]
fn what_is_charged_is_what_was_allocated() {
    let types = [DataType::Int32, DataType::Boolean, DataType::Int64, DataType::Text, DataType::Double];
    let schema = |name: &str, columns: usize| {
        let mut builder = TableSchema::builder(name).tag("site").tag("shelf");
        for column in 0..columns {
            builder = builder.field(format!("c{column}"), types[column % 5]);
        }
        builder.build().unwrap()
    };
    let (narrow, wide) = (schema("narrow", 7), schema("wide", 12));
    let tablets: Vec<Tablet> = [(0, 200, 1), (40, 64, 2), (20, 1, 3), (300, 900, 1), (0, 90, 4), (0, 70, 1)]
        .map(|(first, rows, step)| tablet(if step == 4 { &wide } else { &narrow }, first, rows, step))
        .into();
    let grown = tablet(&schema("narrow", 10), 10, 150, 1);

    for block_rows in [BlockRows::Fixed(8), BlockRows::Fixed(64), BlockRows::ByWidth] {
        let pool = SlabPool::new(0); // what is given back is gone at once
        let start = thread().live_bytes;
        let check = |memtable: &Memtable, step: &str| {
            assert_eq!(memtable.byte_count() as i64, thread().live_bytes - start, "{block_rows:?}, after {step}");
        };
        let mut memtable = Memtable::new(MemtableOptions::default().block_rows(block_rows).pool(Arc::clone(&pool)));
        check(&memtable, "making it");
        for tablet in &tablets {
            memtable.write(tablet).unwrap();
            check(&memtable, "a tablet");
        }
        let snapshot = memtable.snapshot();
        check(&memtable, "a snapshot");
        for tablet in &tablets {
            memtable.write(tablet).unwrap();
            check(&memtable, "a tablet beside a snapshot");
        }
        memtable.write(&grown).unwrap();
        check(&memtable, "new columns");
        for name in ["fleeting", "passing"] {
            memtable.write(&tablet(&schema(name, 200), 0, 3, 1)).unwrap();
            check(&memtable, "a tablet of a table that nobody else has, and which is gone");
        }
        for device in 0..5 {
            let columns = vec![ColumnSchema::field("a rather long name of a column", DataType::Int32); 1];
            let mut tablet = Tablet::for_device(format!("root.plant.d{device}"), columns);
            tablet.push_row(1, &[Value::Int32(device)]).unwrap();
            memtable.write(&tablet).unwrap();
            drop(tablet);
            check(&memtable, "a tablet of a device of the tree model, which is gone");
        }
        memtable.delete_rows("narrow", |_| true, TimeRange { start: 3, end: 9 });
        memtable.delete_cells("narrow", "c1", |_| true, TimeRange { start: 5, end: 20 });
        assert!(memtable.delete_column("wide", "c2"));
        check(&memtable, "deletes");
        for device in snapshot.device_snapshots("narrow") {
            let mut cursor = device.cursor(&["c0"], TimeRange::ALL);
            assert!(cursor.next_rows(1).is_some());
        }
        check(&memtable, "readers that sort");
        let frozen = memtable.freeze();
        assert_eq!(frozen.byte_count() as i64, thread().live_bytes - start);
        drop(frozen);
        assert!(thread().live_bytes > start, "the snapshot holds what it saw");
        drop(snapshot);
        assert_eq!(thread().live_bytes, start);
    }
}
