//! Filling tablets: what is refused, what is cleared, and the reports of others that must not come true here.

#![expect(clippy::unwrap_used, reason = "code of tests")]

use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnSchema, ColumnView, DataType, DeviceId, ErrorKind, TableSchema, Value, ValuesRef};
use tsloom_tablet::{DeviceRun, Devices, Tablet, TabletView};

fn schema() -> TableSchema {
    TableSchema::builder("t")
        .tag("tag")
        .field("number", DataType::Int32)
        .field("day", DataType::Date)
        .field("text", DataType::Text)
        .field("real", DataType::Double)
        .build()
        .unwrap()
}

fn row<'v>(tag: &'v str, number: Option<i32>) -> [Value<'v>; 5] {
    [tag.into(), number.into(), Value::Null, Value::Null, Value::Null]
}

fn numbers(tablet: &Tablet, column: usize) -> Vec<Value<'_>> {
    let view = tablet.column(column).unwrap();
    (0..view.row_count()).map(|row| view.value(row)).collect()
}

#[track_caller]
fn check_refused(tablet: &mut Tablet, values: &[Value<'_>], kind: ErrorKind, message: &str) {
    let before = tablet.to_bytes();
    let error = tablet.push_row(9, values).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
    assert_eq!(tablet.to_bytes(), before, "a refused row changes nothing");
}

#[test]
fn a_refused_row_changes_nothing_and_says_why() {
    let mut tablet = Tablet::new(&schema());
    tablet.push_row(1, &row("a", Some(1))).unwrap();
    let mismatch = ErrorKind::SchemaMismatch;
    check_refused(&mut tablet, &row("a", None)[..4], mismatch, "4 values for 5 columns");
    let values = ["a".into(), 2.5.into(), Value::Null, Value::Null, Value::Null];
    check_refused(&mut tablet, &values, mismatch, "column number: 2.5 is not a INT32");
    let values = ["a".into(), 2.into(), 20_230_229.into(), Value::Null, Value::Null];
    check_refused(&mut tablet, &values, mismatch, "column day: 20230229 is not a day between 10000101 and 99991231");
    let values = [Value::Text(&[0xff]), 2.into(), Value::Null, Value::Null, Value::Null];
    check_refused(&mut tablet, &values, mismatch, "column tag: a TAG is UTF-8 text");
    let values = ["a".into(), 2.into(), Value::Null, Value::Null, "x".into()];
    check_refused(&mut tablet, &values, mismatch, "column real: \"x\" is not a DOUBLE");
}

#[test]
fn numbers_widen_where_nothing_is_lost() {
    let mut tablet = Tablet::new(&schema());
    tablet.push_row(1, &["a".into(), Value::Null, Value::Null, Value::Null, 7.into()]).unwrap();
    tablet.push_row(2, &["a".into(), Value::Null, Value::Null, Value::Null, 0.5_f32.into()]).unwrap();
    assert_eq!(numbers(&tablet, 4), [7.0.into(), 0.5.into()]);
}

#[test]
fn a_column_without_values_is_absent_and_a_late_one_gets_its_nulls() {
    let mut tablet = Tablet::with_capacity(&schema(), 100);
    for time in 0..70 {
        tablet.push_row(time, &row("a", None)).unwrap();
    }
    assert_eq!(tablet.present_columns().collect::<Vec<_>>(), [0]);
    tablet.push_row(70, &row("a", Some(5))).unwrap();
    assert_eq!(tablet.column(1).unwrap().null_count(), 70);
    assert_eq!(tablet.column(1).unwrap().value(70), 5.into());
    assert!(tablet.column(4).is_none());
}

#[test]
fn clear_forgets_rows_and_nulls_and_keeps_the_schema() {
    let mut tablet = Tablet::new(&schema());
    tablet.push_row(1, &row("a", Some(1))).unwrap();
    tablet.push_row(2, &row("b", None)).unwrap();
    tablet.clear();
    assert_eq!(tablet.to_bytes(), Tablet::new(&schema()).to_bytes());
    tablet.push_row(3, &row("c", Some(3))).unwrap();
    assert_eq!(tablet.column(1).unwrap().null_count(), 0);
    let mut fresh = Tablet::new(&schema());
    fresh.push_row(3, &row("c", Some(3))).unwrap();
    assert_eq!(tablet.to_bytes(), fresh.to_bytes());
}

/// apache/iotdb#15228: the bitmap was as long as the capacity.
#[test]
fn a_bitmap_is_as_long_as_the_rows_in_use() {
    let mut tablet = Tablet::with_capacity(&schema(), 100);
    for (time, number) in [(1, Some(1)), (2, None), (3, Some(3))] {
        tablet.push_row(time, &row("a", number)).unwrap();
    }
    let bytes = tablet.to_bytes();
    let view = TabletView::parse(&bytes).unwrap();
    assert!(view.column(1).is_null(1));
    let expected = [1, 0, 0, 0, 3, 0, 0, 0, 1, 0b010];
    assert_eq!(bytes.windows(10).filter(|window| *window == expected).count(), 1);
}

/// apache/iotdb-client-go#175: the null bit stayed set.
#[test]
fn a_value_over_a_null_clears_the_null() {
    let mut tablet = Tablet::new(&schema());
    tablet.push_row(1, &row("a", None)).unwrap();
    tablet.push_row(2, &row("a", Some(2))).unwrap();
    tablet.column_mut(1).set(0, 1.into()).unwrap();
    tablet.column_mut(3).set(1, "text".into()).unwrap(); // an absent column becomes present
    tablet.column_mut(3).set(1, "longer text".into()).unwrap();
    tablet.column_mut(3).set(0, "x".into()).unwrap();
    assert_eq!(numbers(&tablet, 1), [1.into(), 2.into()]);
    assert_eq!(numbers(&tablet, 3), ["x".into(), "longer text".into()]);
    let mut direct = Tablet::new(&schema());
    for (time, text) in [(1, "x"), (2, "longer text")] {
        direct.push_row(time, &["a".into(), (time as i32).into(), Value::Null, text.into(), Value::Null]).unwrap();
    }
    assert_eq!(tablet.to_bytes(), direct.to_bytes());
    tablet.column_mut(3).set(0, Value::Null).unwrap();
    assert_eq!(numbers(&tablet, 3), [Value::Null, "longer text".into()]);
}

/// apache/tsfile#250, #329, #330, #234, apache/iotdb#13669: sending a null DATE, TEXT or BLOB crashed.
#[test]
fn null_dates_and_texts_are_sent_as_placeholders() {
    let columns = [DataType::Date, DataType::Text, DataType::Blob, DataType::String]
        .map(|data_type| ColumnSchema::field(data_type.name().to_lowercase(), data_type));
    let mut tablet = Tablet::for_device("root.d", columns.to_vec());
    tablet.push_row(1, &[Value::Null; 4]).unwrap();
    tablet.push_row(2, &[20_240_229.into(), "t".into(), "b".into(), "s".into()]).unwrap();
    let bytes = tablet.to_bytes();
    let view = TabletView::parse(&bytes).unwrap();
    for column in view.columns() {
        assert!(column.is_null(0) && !column.is_null(1));
    }
    let mut days = [0; 2];
    view.column(0).read_i32s(&mut days).unwrap();
    assert_eq!(days, [10_000_101, 20_240_229]);
    assert_eq!((view.column(1).cell(0), view.column(1).cell(1)), (None, Some(&b"t"[..])));
    assert_eq!(Tablet::parse(&bytes).unwrap().to_bytes(), bytes);
}

/// apache/iotdb#12386, #12375: rows were lost when times repeat and most cells are null.
#[test]
fn rows_of_equal_time_are_merged_column_by_column() {
    let columns = ["a", "b", "c"].map(|name| ColumnSchema::field(name, DataType::Int64));
    let mut tablet = Tablet::for_device("root.d", columns.to_vec());
    for round in 0..3_usize {
        for time in (0..5).rev() {
            let mut values = [Value::Null; 3];
            values[round] = (time * 10 + round as i64).into();
            tablet.push_row(time, &values).unwrap();
        }
    }
    tablet.sort_by_time();
    assert_eq!(tablet.dedup(), 10);
    assert_eq!(tablet.times(), [0, 1, 2, 3, 4]);
    for column in 0..3 {
        let expected: Vec<Value<'_>> = (0..5).map(|time| (time * 10 + column as i64).into()).collect();
        assert_eq!(numbers(&tablet, column), expected);
    }
}

/// apache/iotdb#9427: times were compared by subtraction.
#[test]
fn times_sort_at_the_ends_of_their_range() {
    let mut tablet = Tablet::for_device("root.d", vec![ColumnSchema::field("a", DataType::Int32)]);
    for (time, value) in [(i64::MAX, 3), (0, 1), (i64::MIN, 0), (0, 2)] {
        tablet.push_row(time, &[value.into()]).unwrap();
    }
    tablet.sort_by_time();
    assert_eq!(tablet.times(), [i64::MIN, 0, 0, i64::MAX]);
    assert_eq!(numbers(&tablet, 0), [0.into(), 1.into(), 2.into(), 3.into()]);
}

#[test]
fn devices_are_runs_of_equal_tags() {
    let mut tablet = Tablet::new(&schema());
    for (time, tag) in [(1, Some("a")), (2, Some("a")), (3, None), (4, Some("")), (5, Some("a"))] {
        tablet.push_row(time, &[tag.into(), 1.into(), Value::Null, Value::Null, Value::Null]).unwrap();
    }
    let id = |tag: Option<&str>| DeviceId::new("t", [tag]);
    let runs = vec![(id(Some("a")), 2), (id(None), 3), (id(Some("")), 4), (id(Some("a")), 5)];
    assert_eq!(tablet.devices(), Devices::Runs(runs));
    assert_eq!(tablet.device_runs().next(), Some(DeviceRun { start: 0, end: 2 }));
    assert_eq!(tablet.tags_of(2).collect::<Vec<_>>(), [None]);

    tablet.set_single_device(true);
    assert_eq!(tablet.devices(), Devices::One(id(Some("a"))));
    assert_eq!(tablet.device_runs().collect::<Vec<_>>(), [DeviceRun { start: 0, end: 5 }]);

    // The promise was about these rows: other rows are looked at again.
    let mut other = Tablet::new(&schema());
    other.push_row(1, &row("x", Some(1))).unwrap();
    other.push_row(2, &row("y", Some(1))).unwrap();
    tablet.read(&other.to_bytes()).unwrap();
    assert_eq!(tablet.device_runs().count(), 2);
    tablet.set_single_device(true);
    tablet.clear();
    assert!(!tablet.is_single_device());

    let tree = Tablet::for_device("root.sg.d1", Vec::new());
    assert_eq!(tree.devices(), Devices::One(DeviceId::from_segments([Some("root.sg"), Some("d1")])));
}

#[test]
fn columns_fill_the_rows_added_last() {
    let mut tablet = Tablet::new(&schema());
    tablet.extend_times(&[1, 2]);
    tablet.column_mut(1).extend_i32s(&[1]).unwrap();
    tablet.extend_times(&[3, 4, 5]);
    let mut column = tablet.column_mut(1);
    assert_eq!(column.next_row(), 2);
    column.extend_nulls(1).unwrap();
    column.extend_i32s(&[4, 5]).unwrap();
    let error = column.extend_i32s(&[6]).unwrap_err();
    assert_eq!(error.to_string(), "column number: 1 rows from row 5 on do not fit the 5 rows of the tablet");
    drop(column);
    assert_eq!(numbers(&tablet, 1), [1.into(), Value::Null, Value::Null, 4.into(), 5.into()]);

    // In two goes, the second time after a padded first; then a whole column of nulls stays absent.
    tablet.extend_times(&[6, 7]);
    tablet.column_mut(1).push(6).unwrap();
    tablet.column_mut(1).push(7).unwrap();
    assert_eq!(numbers(&tablet, 1)[5..], [6.into(), 7.into()]);
    tablet.column_mut(4).extend_nulls(2).unwrap();
    assert!(tablet.column(4).is_none());
    tablet.column_mut(3).extend_texts(&["x", "yz"]).unwrap();
    assert_eq!(numbers(&tablet, 3)[5..], ["x".into(), "yz".into()]);
    tablet.column_mut(3).set_nulls(0, 7).unwrap();
    assert_eq!(tablet.column(3).unwrap().null_count(), 7);
}

/// Java sends marks of a column without values, too (fixture `missing_value_array`). Rows that come later have a bit then.
#[test]
fn an_absent_column_with_marks_takes_more_rows() {
    let mut plain = Tablet::for_device("root.d", vec![ColumnSchema::field("number", DataType::Int32)]);
    plain.extend_times(&[1, 2]);
    let bytes = plain.to_bytes();
    let (front, flags) = bytes.split_at(bytes.len() - 4);
    assert_eq!(flags, [1, 0, 1, 0], "bitmaps, none for the column; values, none for the column");
    let marked = [front, &[1, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0b01], &flags[2..]].concat();

    let mut by_times = Tablet::parse(&marked).unwrap();
    by_times.extend_times(&[3; 126]);
    let mut by_rows = Tablet::parse(&marked).unwrap();
    for _ in 0..126 {
        by_rows.push_row(3, &[Value::Null]).unwrap();
    }
    assert_eq!(by_times.to_bytes(), by_rows.to_bytes());
    let view = by_times.to_bytes();
    let view = TabletView::parse(&view).unwrap();
    assert_eq!((view.row_count(), view.column(0).bitmap().unwrap().null_count()), (128, 1));
    by_rows.push_row(4, &[7.into()]).unwrap();
    assert_eq!((by_rows.column(0).unwrap().null_count(), by_rows.column(0).unwrap().value(128)), (128, 7.into()));
}

#[test]
fn masked_values_bring_no_junk_along() {
    let mut tablet = Tablet::new(&schema());
    tablet.extend_times(&[1, 2, 3]);
    let nulls = [0b010];
    let nulls = NullWords::new(&nulls, 0, 3);
    // The null slot of a DATE may hold what is no day.
    tablet.column_mut(2).extend_masked(ValuesRef::Int32(&[20_240_101, -7, 20_240_103]), nulls).unwrap();
    tablet.column_mut(1).extend_masked(ValuesRef::Int32(&[1, -7, 3]), nulls).unwrap();
    let error = tablet.column_mut(1).extend_masked(ValuesRef::Int32(&[1]), nulls).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = tablet.column_mut(0).extend_f64s(&[1.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    let Some(ValuesRef::Int32(days)) = tablet.column(2).map(ColumnView::values) else { panic!("a DATE column") };
    assert_eq!(days, [20_240_101, 10_000_101, 20_240_103]);
}

#[test]
fn zero_rows_and_zero_columns_are_tablets_too() {
    let none = Tablet::for_device("root.d", Vec::new());
    assert_eq!(Tablet::parse(&none.to_bytes()).unwrap().row_count(), 0);
    let mut times = Tablet::for_device("root.d", Vec::new());
    times.push_row(5, &[]).unwrap();
    assert_eq!(Tablet::parse(&times.to_bytes()).unwrap().times(), [5]);
    let mut empty = Tablet::new(&schema());
    empty.sort_by_time();
    assert_eq!((empty.dedup(), empty.slice(0..0).row_count()), (0, 0));
    assert_eq!(empty.devices(), Devices::One(DeviceId::new("t", [])));
}

#[test]
fn a_sparse_wide_tablet_is_its_schema_and_the_column() {
    let columns: Vec<ColumnSchema> = (0..3000).map(|c| ColumnSchema::field(format!("c{c:04}"), DataType::Double)).collect();
    let mut tablet = Tablet::for_device("root.wide", columns);
    let empty_size = tablet.serialized_size();
    tablet.extend_times(&[0; 64]);
    tablet.column_mut(1500).extend_f64s(&[0.5; 64]).unwrap();
    assert_eq!(tablet.serialized_size(), empty_size + 64 * 8 + 64 * 8);
    assert_eq!(tablet.value_byte_count(), 64 * 16);
    let bytes = tablet.to_bytes();
    assert_eq!(Tablet::parse(&bytes).unwrap().present_columns().collect::<Vec<_>>(), [1500]);
}

#[test]
fn appends_go_on_behind_what_was_set_or_copied() {
    let table = TableSchema::builder("t").field("a", DataType::Int64).build().unwrap();
    let values = |tablet: &Tablet| -> Vec<Value<'static>> {
        let column = tablet.column(0).unwrap();
        (0..tablet.row_count())
            .map(|row| match column.value(row) {
                Value::Int64(value) => Value::Int64(value),
                _ => Value::Null,
            })
            .collect()
    };
    let mut tablet = Tablet::new(&table);
    tablet.extend_times(&[1, 2, 3]);
    tablet.column_mut(0).set(1, 7_i64.into()).unwrap();
    tablet.column_mut(0).push(8_i64).unwrap();
    assert_eq!(values(&tablet), [Value::Null, 7_i64.into(), 8_i64.into()]);
    assert!(tablet.column_mut(0).push(9_i64).is_err(), "no row is left");

    let mut copy = tablet.as_ref().to_tablet();
    assert!(copy.column_mut(0).push(9_i64).is_err(), "no row is left in the copy either");
    copy.extend_times(&[4]);
    copy.column_mut(0).push(9_i64).unwrap();
    assert_eq!(values(&copy), [Value::Null, 7_i64.into(), 8_i64.into(), 9_i64.into()]);
    assert!(std::sync::Arc::ptr_eq(tablet.head(), copy.head()), "a copy shares the schema");
}
