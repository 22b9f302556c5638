//! What went wrong in other systems' memtables, one test each, named after what must hold.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tsloom_memtable::{BlockRows, DeviceSnapshot, Memtable, MemtableOptions};
use tsloom_model::{ColumnSchema, DataType, DeviceId, ErrorKind, RowPolicy, TableSchema, TimeRange, Value};
use tsloom_tablet::Tablet;

const ALL: TimeRange = TimeRange::ALL;

fn memtable() -> Memtable {
    Memtable::new(MemtableOptions::default().block_rows(BlockRows::Fixed(8)))
}

/// A tree-model tablet of INT32 columns.
fn tablet(columns: &[&str], rows: &[(i64, &[Option<i32>])]) -> Tablet {
    typed_tablet(DataType::Int32, columns, rows)
}

fn typed_tablet(data_type: DataType, columns: &[&str], rows: &[(i64, &[Option<i32>])]) -> Tablet {
    let mut tablet = Tablet::for_device("root.sg.d1", columns.iter().map(|name| ColumnSchema::field(*name, data_type)).collect());
    for (time, cells) in rows {
        tablet.push_row(*time, &cells.iter().map(|cell| Value::from(*cell)).collect::<Vec<_>>()).unwrap();
    }
    tablet
}

fn device(memtable: &Memtable) -> DeviceSnapshot {
    memtable.snapshot().device(&DeviceId::from_path("root.sg.d1")).unwrap()
}

/// Rows as text, in time order: `2: 1 . 3`.
fn rows(device: &DeviceSnapshot, columns: &[&str], policy: RowPolicy) -> Vec<String> {
    let mut cursor = device.query(columns).row_policy(policy).cursor();
    let mut lines = Vec::new();
    while let Some(rows) = cursor.next_rows(3) {
        for (row, time) in rows.times().iter().enumerate() {
            let cells = rows.columns().map(|column| match column.map_or(Value::Null, |column| column.value(row)) {
                Value::Null => ".".to_owned(),
                value => format!("{value:?}"),
            });
            lines.push(format!("{time}: {}", cells.collect::<Vec<_>>().join(" ")));
        }
    }
    lines
}

/// apache/iotdb#15153, #15169
#[test]
fn a_column_deleted_and_written_again_is_a_new_one() {
    let mut memtable = memtable();
    memtable.write(&tablet(&["s1", "s2"], &[(1, &[Some(1), Some(10)]), (2, &[Some(2), Some(20)])])).unwrap();
    let before = device(&memtable);
    assert!(memtable.delete_column("root.sg", "s1"));
    assert_eq!(rows(&device(&memtable), &["s1", "s2"], RowPolicy::KeepAllNull), ["1: . 10", "2: . 20"]);
    memtable.write(&typed_tablet(DataType::Double, &["s1"], &[(3, &[Some(3)])])).unwrap();
    let after = device(&memtable);
    assert_eq!(after.columns().collect::<Vec<_>>(), [("s2", DataType::Int32), ("s1", DataType::Double)]);
    assert_eq!(rows(&after, &["s1", "s2"], RowPolicy::KeepAllNull), ["1: . 10", "2: . 20", "3: 3.0 ."]);
    assert_eq!(rows(&before, &["s1", "s2"], RowPolicy::KeepAllNull), ["1: 1 10", "2: 2 20"]);
}

/// apache/iotdb#11844
#[test]
fn the_all_null_check_goes_by_the_row_and_not_by_its_place_in_time() {
    let mut memtable = memtable();
    let times = [10, 20, 30, 40];
    memtable.write(&tablet(&["s1"], &times.map(|time| (time, &[Some(1)][..])))).unwrap();
    memtable.write(&tablet(&["s1", "s2"], &times.map(|time| (time, &[Some(2), Some(3)][..])))).unwrap();
    for column in ["s1", "s2"] {
        memtable.delete_cells("root.sg", column, |_| true, TimeRange { start: i64::MIN, end: 29 });
    }
    assert_eq!(rows(&device(&memtable), &["s1", "s2"], RowPolicy::DropAllNull), ["30: 2 3", "40: 2 3"]);
    assert_eq!(rows(&device(&memtable), &["s1", "s2"], RowPolicy::KeepAllNull), ["10: . .", "20: . .", "30: 2 3", "40: 2 3"]);
}

/// apache/iotdb#18158, #17718, #17193, #16328
#[test]
fn an_open_reader_is_immune_to_later_rows_and_to_other_readers_that_sort() {
    let mut memtable = memtable();
    let first: Vec<(i64, [Option<i32>; 1])> = (0..10).map(|row| (100 + row, [Some(row as i32)])).collect();
    let first: Vec<(i64, &[Option<i32>])> = first.iter().map(|(time, cells)| (*time, &cells[..])).collect();
    memtable.write(&tablet(&["s1"], &first)).unwrap();
    let snapshot = device(&memtable);
    let expected = rows(&snapshot, &["s1"], RowPolicy::DropAllNull);
    let mut reader = snapshot.cursor(&["s1"], ALL);
    assert_eq!(reader.next_rows(4).unwrap().times(), [100, 101, 102, 103]);

    let older: Vec<(i64, &[Option<i32>])> = (0..10).map(|row| (row, &[Some(-1)][..])).collect();
    memtable.write(&tablet(&["s1"], &older)).unwrap();
    assert_eq!(rows(&device(&memtable), &["s1"], RowPolicy::DropAllNull)[0], "0: -1");

    let mut times = Vec::new();
    while let Some(rows) = reader.next_rows(4) {
        times.extend_from_slice(rows.times());
    }
    assert_eq!(times, [104, 105, 106, 107, 108, 109]);
    assert_eq!(rows(&snapshot, &["s1"], RowPolicy::DropAllNull), expected);
}

/// apache/iotdb#3128, iotdb-docs#1123
#[test]
fn a_later_null_takes_no_value_away() {
    let mut memtable = memtable();
    memtable.write(&tablet(&["a", "b", "c"], &[(2, &[Some(1), Some(2), None])])).unwrap();
    memtable.write(&tablet(&["a", "b", "c"], &[(2, &[None, Some(2), Some(3)])])).unwrap();
    assert_eq!(rows(&device(&memtable), &["a", "b", "c"], RowPolicy::KeepAllNull), ["2: 1 2 3"]);
}

/// apache/iotdb#12386, #12375
#[test]
fn rows_of_one_time_are_merged_column_by_column() {
    let mut memtable = memtable();
    for column in 0..3_usize {
        let mut cells = [[None; 3]; 5];
        (0..5).for_each(|row| cells[row][column] = Some((10 * column + row) as i32));
        let rows: Vec<(i64, &[Option<i32>])> = (0..).zip(&cells).map(|(time, cells)| (time, &cells[..])).collect();
        memtable.write(&tablet(&["a", "b", "c"], &rows)).unwrap();
    }
    assert_eq!(
        rows(&device(&memtable), &["a", "b", "c"], RowPolicy::DropAllNull),
        ["0: 0 10 20", "1: 1 11 21", "2: 2 12 22", "3: 3 13 23", "4: 4 14 24"]
    );
}

/// apache/iotdb#9427
#[test]
fn times_are_compared_and_never_subtracted() {
    let mut memtable = memtable();
    let times = [i64::MAX, 0, i64::MIN, i64::MAX, 1, -1];
    let cells: Vec<(i64, [Option<i32>; 1])> = times.iter().zip(0..).map(|(time, value)| (*time, [Some(value)])).collect();
    let cells: Vec<(i64, &[Option<i32>])> = cells.iter().map(|(time, cells)| (*time, &cells[..])).collect();
    memtable.write(&tablet(&["a"], &cells)).unwrap();
    let expected = [format!("{}: 2", i64::MIN), "-1: 5".into(), "0: 1".into(), "1: 4".into(), format!("{}: 3", i64::MAX)];
    assert_eq!(rows(&device(&memtable), &["a"], RowPolicy::KeepAllNull), expected);
}

/// apache/iotdb#14777, #15163
#[test]
fn a_tablet_of_nulls_is_rows_in_the_table_model_and_nothing_in_the_tree_model() {
    let mut memtable = memtable();
    memtable.write(&tablet(&["a"], &[(1, &[None]), (2, &[None])])).unwrap();
    assert_eq!(rows(&device(&memtable), &["a"], RowPolicy::DropAllNull), [""; 0]);
    assert_eq!(rows(&device(&memtable), &["a"], RowPolicy::KeepAllNull), ["1: .", "2: ."]);
}

/// The flush path that wrote value pages longer than their time page after a delete of rows, and counted a deleted first row.
#[test]
fn deleted_rows_are_in_no_column_and_do_not_count() {
    let mut memtable = memtable();
    let cells: Vec<(i64, &[Option<i32>])> = (0..40).map(|row| (row, &[Some(1), None][..])).collect();
    memtable.write(&tablet(&["a", "b"], &cells)).unwrap();
    memtable.delete_rows("root.sg", |_| true, TimeRange { start: 0, end: 0 });
    memtable.delete_rows("root.sg", |_| true, TimeRange { start: 7, end: 18 });
    let mut cursor = device(&memtable).cursor(&["a", "b"], ALL);
    assert_eq!(cursor.row_count(), 27);
    let mut seen = 0;
    while let Some(rows) = cursor.next_rows(5) {
        assert!(rows.columns().flatten().all(|column| column.row_count() == rows.row_count()));
        seen += rows.row_count();
    }
    assert_eq!(seen, 27);
}

/// Deletes cover what came before them, and only that.
#[test]
fn rows_written_after_a_delete_stay() {
    let mut memtable = memtable();
    memtable.write(&tablet(&["a", "b"], &[(1, &[Some(1), Some(1)]), (2, &[Some(1), Some(1)])])).unwrap();
    assert_eq!(memtable.delete_rows("root.sg", |_| true, ALL), 1);
    memtable.write(&tablet(&["a", "b"], &[(2, &[None, Some(2)])])).unwrap();
    assert_eq!(rows(&device(&memtable), &["a", "b"], RowPolicy::KeepAllNull), ["2: . 2"]);
    assert_eq!(memtable.delete_cells("root.sg", "b", |_| true, ALL), 1);
    memtable.write(&tablet(&["a", "b"], &[(2, &[Some(3), None])])).unwrap();
    assert_eq!(rows(&device(&memtable), &["a", "b"], RowPolicy::KeepAllNull), ["2: 3 ."]);
    assert_eq!(memtable.delete_rows("nowhere", |_| true, ALL), 0);
    assert_eq!(memtable.delete_cells("root.sg", "never", |_| true, ALL), 0);
}

#[test]
fn a_write_that_does_not_fit_changes_nothing() {
    let table = |data_type| TableSchema::builder("t").tag("d").field("a", data_type).field("b", DataType::Text).build().unwrap();
    let mut good = Tablet::new(&table(DataType::Int32));
    good.push_row(1, &["x".into(), 1.into(), "one".into()]).unwrap();
    let mut bad = Tablet::new(&table(DataType::Double));
    bad.push_row(2, &["y".into(), 2.0.into(), "two".into()]).unwrap();

    let mut memtable = memtable();
    memtable.write(&good).unwrap();
    let bytes = memtable.byte_count();
    let error = memtable.write(&bad).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert_eq!(error.to_string(), "column a: it is INT32 in t, the tablet has DOUBLE");
    let twice = vec![ColumnSchema::field("a", DataType::Int32), ColumnSchema::field("a", DataType::Int32)];
    let error = memtable.write(&Tablet::for_device("root.x", twice)).unwrap_err();
    assert_eq!(error.to_string(), "column a: the tablet has two columns of this name");
    assert_eq!((memtable.byte_count(), memtable.row_count(), memtable.device_count()), (bytes, 1, 1));
    assert_eq!(memtable.time_range(), TimeRange { start: 1, end: 1 });
    assert_eq!(memtable.snapshot().tables().collect::<Vec<_>>(), ["t"]);
}

/// Columns of one type are written in runs, and rows out of order are gathered: nulls must come through both.
#[test]
fn nulls_of_a_whole_batch_survive_a_change_of_order() {
    let names: Vec<String> = (0..8).map(|index| format!("s{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let row = |time: i64| -> Vec<Option<i32>> { (0..8).map(|column| (column != time).then_some(1)).collect() };
    let mut memtable = memtable();
    // The first batch has no null, so the block has none until the second one.
    for times in [[16, 14, 12], [5, 3, 1]] {
        let cells = times.map(row);
        let batch: Vec<(i64, &[Option<i32>])> = times.into_iter().zip(cells.iter().map(Vec::as_slice)).collect();
        memtable.write(&tablet(&names, &batch)).unwrap();
    }
    let expected: Vec<String> = [1, 3, 5, 12, 14, 16]
        .into_iter()
        .map(|time| {
            let cells = row(time).into_iter().map(|cell| cell.map_or(".".to_owned(), |value| value.to_string()));
            format!("{time}: {}", cells.collect::<Vec<_>>().join(" "))
        })
        .collect();
    assert_eq!(rows(&device(&memtable), &names, RowPolicy::KeepAllNull), expected);
}
