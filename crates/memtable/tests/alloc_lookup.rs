//! A write to devices that are there finds them, and its columns, without asking for memory; so does who asks what they hold.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tsloom_alloc_probe::{Probe, measure};
use tsloom_memtable::{BlockRows, MemUsage, Memtable, MemtableOptions};
use tsloom_model::{ColumnSchema, DataType, DeviceId, TableSchema};
use tsloom_tablet::Tablet;

#[global_allocator]
static PROBE: Probe = Probe::new();

/// One row of each device; the schema is made anew every time, as by a client of its own.
fn tablet(devices: &[&str], time: i64) -> Tablet {
    let schema = TableSchema::builder("weather").tag("site").tag("shelf").field("temp", DataType::Double);
    let mut tablet = Tablet::new(&schema.field("rain", DataType::Int32).build().unwrap());
    for device in devices {
        tablet.push_row(time, &[(*device).into(), "top".into(), 3.5.into(), 7.into()]).unwrap();
    }
    tablet
}

#[test]
fn known_devices_and_columns_are_found_for_nothing() {
    let mut memtable = Memtable::new(MemtableOptions::default().block_rows(BlockRows::Fixed(64)));
    let sites = ["north", "south", "a site with a name that is longer than the others"];
    memtable.write(&tablet(&sites, 0)).unwrap();
    for time in 1..20 {
        let batch = tablet(if time % 2 == 0 { &sites } else { &sites[..1] }, time);
        let (report, counts) = measure(|| memtable.write(&batch).unwrap());
        assert_eq!((report.new_devices, report.new_columns, counts.requests()), (0, 0, 0), "row {time}: {counts}");
    }

    // The tree model has its devices by path; devices of one beginning stand beside each other.
    for path in ["root.sg.d1", "root.sg.d10", "root.sg.d1.s"] {
        let mut tablet = Tablet::for_device(path, vec![ColumnSchema::field("temp", DataType::Double)]);
        tablet.push_row(1, &[3.5.into()]).unwrap();
        memtable.write(&tablet).unwrap();
    }
    let snapshot = memtable.snapshot();
    let names = [("weather", 3), ("root.sg", 2), ("root.sg.d1", 1)];
    for (name, count) in names {
        let devices: Vec<DeviceId> = snapshot.devices(name).cloned().collect();
        assert_eq!(devices.len(), count, "{name}");
        for id in devices {
            let (usage, counts) = measure(|| memtable.device_usage(&id));
            let device = snapshot.device(&id).unwrap();
            let expected = MemUsage { rows: device.row_count() as u64, bytes: device.byte_count() };
            assert_eq!((usage, counts.requests()), (Some(expected), 0), "{id}");
        }
    }
    for absent in ["root.sg.d2", "root.sg.d1.t", "root.s", "west"] {
        assert_eq!(memtable.device_usage(&DeviceId::from_path(absent)), None, "{absent}");
    }
    let usage = memtable.usage();
    assert_eq!((usage.rows, usage.bytes), (memtable.row_count(), memtable.byte_count()));
}

#[test]
fn a_column_more_touches_no_block() {
    let mut memtable = Memtable::new(MemtableOptions::default());
    let with = |columns: usize| {
        let columns = (0..columns).map(|column| ColumnSchema::field(format!("c{column}"), DataType::Int32));
        Tablet::for_device("root.sg.d", columns.collect())
    };
    let mut first = with(1);
    first.extend_times(&(0..5_000).collect::<Vec<_>>());
    first.column_mut(0).extend_i32s(&(0..5_000).collect::<Vec<_>>()).unwrap();
    memtable.write(&first).unwrap();
    let id = DeviceId::from_path("root.sg.d");
    let before = memtable.device_usage(&id);
    for columns in 2..100 {
        let more = with(columns);
        let (report, counts) = measure(|| memtable.write(&more).unwrap());
        assert_eq!((report.new_columns, report.rows, memtable.device_usage(&id)), (1, 0, before));
        // Its name, lists of the tablet's columns, and now and then those of the table: no row, and no name that is known already.
        assert!(counts.requests() <= 8, "{columns} columns: {counts}");
    }
}
