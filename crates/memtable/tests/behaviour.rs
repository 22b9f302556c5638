//! Behaviour that the reference implementation has, or should have had, and that no other file here pins: ranges of batches,
//! order, equal times across borders, sizes of points, and when a flush is due.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_memtable::{AlignedList, BlockRows, ColumnState, DeviceSnapshot, ListShape, Memtable, MemtableOptions, SlabPool};
use tsloom_model::{ColumnSchema, ColumnView, DataType, RowPolicy, TimeRange, Value, ValuesRef};
use tsloom_tablet::Tablet;

fn empty_list(block_rows: usize) -> (AlignedList, ListShape) {
    let shape = ListShape::new(&SlabPool::new(1 << 20), BlockRows::Fixed(block_rows), 2);
    (AlignedList::new(&shape), shape)
}

/// A tablet of one device whose columns are INT32 and in which row r has time r and, where `has_value`, r in each column.
fn tablet(columns: &[&str], rows: i32, has_value: impl Fn(usize, i32) -> bool) -> Tablet {
    let schema = columns.iter().map(|name| ColumnSchema::field(*name, DataType::Int32)).collect();
    let mut tablet = Tablet::for_device("root.sg.d", schema);
    for row in 0..rows {
        let cell = |column: usize| if has_value(column, row) { Value::Int32(row) } else { Value::Null };
        tablet.push_row(i64::from(row), &(0..columns.len()).map(cell).collect::<Vec<_>>()).unwrap();
    }
    tablet
}

/// Times and cells of one INT32 column.
fn read(list: &AlignedList, policy: RowPolicy, row_max: usize) -> Vec<(i64, Option<i32>)> {
    let view = Arc::new(list.view());
    let mut cursor = view.query(&[Some((0, DataType::Int32))]).row_policy(policy).cursor();
    let mut cells = Vec::new();
    while let Some(rows) = cursor.next_rows(row_max) {
        let column = rows.column(0);
        for (row, time) in rows.times().iter().enumerate() {
            let value = column.map_or(Value::Null, |column| column.value(row));
            cells.push((*time, if let Value::Int32(value) = value { Some(value) } else { None }));
        }
    }
    cells
}

#[test]
fn a_range_takes_its_rows_and_their_nulls_wherever_it_begins() {
    let times: Vec<i64> = (0..200).collect();
    let values: Vec<i32> = (0..200).collect();
    let (null_words, failed_words) = (vec![0x8421_0842_1084_2108_u64; 4], vec![1_u64 << 40 | 1; 4]);
    let (nulls, failed) = (NullWords::new(&null_words, 0, 200), NullWords::new(&failed_words, 0, 200));
    let columns = [(0, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), Some(nulls)))];
    let expected: Vec<(i64, Option<i32>)> =
        (0..200).map(|row| (times[row], (!nulls.is_null(row) && !failed.is_null(row)).then_some(values[row]))).collect();
    for block_rows in [8, 64, 1024] {
        for cut in [0, 1, 37, 63, 64, 65, 128, 199] {
            let (mut list, mut shape) = empty_list(block_rows);
            list.append(&mut shape, &times, 0..cut, columns.as_slice(), Some(failed));
            list.append(&mut shape, &times, cut..cut, columns.as_slice(), Some(failed));
            assert_eq!(list.row_count(), cut, "an empty range is nothing");
            list.append(&mut shape, &times, cut..200, columns.as_slice(), Some(failed));
            assert_eq!(read(&list, RowPolicy::KeepAllNull, 1_000), expected, "{block_rows} rows a block, cut at {cut}");
        }
    }
}

#[test]
fn an_empty_write_opens_no_block() {
    let (mut list, mut shape) = empty_list(8);
    let before = shape.byte_count();
    let none: &[(u32, ColumnView<'_>)] = &[];
    list.append(&mut shape, &[], 0..0, none, None);
    assert_eq!((list.row_count(), shape.byte_count()), (0, before));
    assert_eq!(list.view().block_count(), 0);
}

/// The reference counts one row less than there are in order, and looks one row past the end of a range.
#[test]
fn order_is_told_exactly_whatever_the_batches() {
    let none: &[(u32, ColumnView<'_>)] = &[];
    for times in [vec![1, 2, 2, 5, 4, 9], vec![1, 1, 1], vec![3, 2, 1], vec![1, 2, 3, 4], vec![i64::MAX, i64::MIN, 0], vec![7]] {
        for cut in 0..=times.len() {
            let (mut list, mut shape) = empty_list(8);
            for rows in [0..cut, cut..times.len()] {
                let end = rows.end;
                list.append(&mut shape, &times, rows, none, None);
                let written = &times[..end];
                let ordered = (1..=end).take_while(|count| written[..*count].is_sorted()).count();
                assert_eq!(list.ordered_rows(), ordered, "{written:?}");
                assert_eq!(list.is_ordered(), ordered == end, "{written:?}");
            }
        }
        let (mut list, mut shape) = empty_list(8);
        times.iter().for_each(|time| list.push_row(&mut shape, *time, &[], &[]));
        assert_eq!(list.ordered_rows(), (1..=times.len()).take_while(|count| times[..*count].is_sorted()).count());
    }
}

#[test]
fn of_one_time_the_latest_value_is_seen_and_a_later_null_is_not() {
    let (mut list, mut shape) = empty_list(8);
    for (time, cell) in [(1, Value::Int32(1)), (2, Value::Int32(2)), (2, Value::Null), (3, Value::Null)] {
        list.push_row(&mut shape, time, &[0], &[cell]);
    }
    assert_eq!(read(&list, RowPolicy::KeepAllNull, 10), [(1, Some(1)), (2, Some(2)), (3, None)]);
    assert_eq!(read(&list, RowPolicy::DropAllNull, 10), [(1, Some(1)), (2, Some(2))]);
    list.push_row(&mut shape, 2, &[0], &[Value::Int32(-2)]);
    list.push_row(&mut shape, 2, &[0], &[Value::Null]);
    assert_eq!(read(&list, RowPolicy::DropAllNull, 10), [(1, Some(1)), (2, Some(-2))]);
}

#[test]
fn rows_of_one_time_are_never_parted_by_a_page_or_a_block() {
    let (mut list, mut shape) = empty_list(8);
    for row in 0..60 {
        // Each time comes five times, its value first.
        let cell = if row % 5 == 0 { Value::Int32(row) } else { Value::Null };
        list.push_row(&mut shape, i64::from(row / 5), &[0], &[cell]);
    }
    let expected: Vec<(i64, Option<i32>)> = (0..12).map(|time| (time, Some(5 * time as i32))).collect();
    for row_max in 1..14 {
        assert_eq!(read(&list, RowPolicy::KeepAllNull, row_max), expected, "{row_max} rows at a time");
    }
}

/// The reference mixed up the rows at hand and the rows a reader had captured.
#[test]
fn a_view_tells_of_the_rows_it_has_seen_and_of_no_later_ones() {
    let (mut list, mut shape) = empty_list(64);
    (0..10).for_each(|time| list.push_row(&mut shape, time, &[0], &[Value::Null]));
    let view = list.view();
    (10..100).for_each(|time| list.push_row(&mut shape, time, &[0], &[Value::Int32(1)]));
    assert_eq!((view.row_count(), view.all_null_rows(&[0])), (10, vec![(1 << 10) - 1]));
    assert_eq!(view.time_range(), TimeRange { start: 0, end: 9 });
    assert_eq!(view.column_state(0, 0), ColumnState::Implicit);
    assert_eq!(list.view().column_state(0, 0), ColumnState::Masked);
}

#[test]
fn the_largest_point_is_that_of_the_fullest_text_column() {
    let (mut list, mut shape) = empty_list(8);
    let texts = [[b'x'; 30].as_slice(), &[b'y'; 10]];
    for row in 0..20 {
        let second = if row % 4 == 0 { Value::Text(texts[1]) } else { Value::Null };
        list.push_row(&mut shape, row, &[0, 1, 2], &[Value::Text(texts[0]), second, Value::Int32(1)]);
    }
    let view = list.view();
    assert_eq!(view.largest_point_size(&[0, 1, 2]), 30);
    assert_eq!(view.largest_point_size(&[1, 2]), 10);
    assert_eq!(view.largest_point_size(&[2]), 8, "a number or its time");
    assert_eq!(view.largest_point_size(&[]), 8);
}

#[test]
fn a_device_without_columns_has_rows_in_the_table_model_only() {
    let mut memtable = Memtable::new(MemtableOptions::default());
    memtable.write(&tablet(&[], 3, |_, _| true)).unwrap();
    let device = memtable.snapshot().device_snapshots("root.sg").next().unwrap();
    assert_eq!(device.query(&[]).cursor().row_count(), 3);
    assert_eq!(device.query(&[]).row_policy(RowPolicy::DropAllNull).cursor().row_count(), 0);
}

/// What a log does: rows are read, kept as a tablet and written again.
#[test]
fn absent_columns_stay_absent_when_rows_are_written_again() {
    use ColumnState::{Implicit, Masked, Plain};
    let columns = ["absent", "some", "whole"];
    let write = |tablet: &Tablet| {
        let mut memtable = Memtable::new(MemtableOptions::default().block_rows(BlockRows::Fixed(64)));
        memtable.write(tablet).unwrap();
        memtable.snapshot().device_snapshots("root.sg").next().unwrap()
    };
    let states = |device: &DeviceSnapshot| columns.map(|column| [0, 1].map(|block| device.column_state(column, block)));
    let before = write(&tablet(&columns, 100, |column, row| column == 2 || column == 1 && row > 70));
    assert_eq!(states(&before), [[Implicit, Implicit], [Implicit, Masked], [Plain, Plain]]);

    let mut again = tablet(&columns, 0, |_, _| true);
    let mut cursor = before.cursor(&columns, TimeRange::ALL);
    while let Some(rows) = cursor.next_rows(1_000) {
        for (row, time) in rows.times().iter().enumerate() {
            let cells = rows.columns().map(|column| column.map_or(Value::Null, |column| column.value(row)));
            again.push_row(*time, &cells.collect::<Vec<_>>()).unwrap();
        }
    }
    assert_eq!(states(&write(&again)), states(&before));
}

#[test]
fn a_write_says_when_a_flush_is_due() {
    let mut memtable = Memtable::new(MemtableOptions::default().flush_threshold_bytes(64 << 10));
    let batch = tablet(&["a", "b"], 1_000, |_, _| true);
    let mut verdicts = Vec::new();
    while verdicts.last() != Some(&true) {
        let report = memtable.write(&batch).unwrap();
        assert_eq!(report.is_flush_due, memtable.byte_count() >= 64 << 10);
        assert_eq!(report.is_flush_due, memtable.is_flush_due());
        verdicts.push(report.is_flush_due);
    }
    assert!(verdicts.len() > 1, "16 KB are no reason");
    assert!(memtable.write(&batch).unwrap().is_flush_due, "it says so until somebody freezes it");
    assert_eq!(memtable.freeze().row_count(), 1_000 * (verdicts.len() as u64 + 1));
}
