//! Columns: nulls, slices of others, and fills that fail.

use super::*;

fn values(column: &Column) -> Vec<Value<'_>> {
    (0..column.row_count()).map(|row| column.value(row)).collect()
}

#[test]
fn validity_appears_at_the_first_null() {
    let mut column = Column::new("v", DataType::Int32, 4);
    assert!(column.push(1.into()) && column.validity().is_none());
    assert!(column.push(Value::Null) && column.push(3.into()));
    assert_eq!(column.validity(), Some(&[0b101][..]));
    assert_eq!((column.null_count(), column.i32(2), column.i32(1), column.i64(0)), (1, Some(3), None, None));
    assert!(!column.push(Value::Double(1.0)));
    column.clear();
    assert!(column.push(9.into()) && column.validity().is_none());
}

#[test]
fn truncate_forgets_nulls_past_the_end() {
    let mut column = Column::new("v", DataType::Int64, 0);
    for row in 0..130_i64 {
        assert!(column.push(if row % 3 == 2 { Value::Null } else { row.into() }));
    }
    column.truncate(66);
    assert_eq!((column.null_count(), column.validity().unwrap().len()), (22, 2));
    assert_eq!(column.validity().unwrap()[1], 0b01);
    column.truncate(2);
    assert!(column.validity().is_none());
    assert_eq!(values(&column), [Value::Int64(0), Value::Int64(1)]);
}

#[test]
fn rows_turn_round_with_their_nulls() {
    for data_type in [DataType::Int64, DataType::Text] {
        for count in [0, 1, 2, 63, 64, 65, 200] {
            let mut column = Column::new("v", data_type, 0);
            for row in 0..count {
                let text = format!("row {row}");
                let value = if data_type == DataType::Text { text.as_str().into() } else { Value::Int64(row) };
                assert!(column.push(if row % 3 == 1 { Value::Null } else { value }));
            }
            let forward = column.clone();
            column.reverse();
            let mut expected = values(&forward);
            expected.reverse();
            assert_eq!((values(&column), column.null_count()), (expected, forward.null_count()), "{data_type} {count}");
        }
    }
}

#[test]
fn present_values_find_their_rows() {
    let mut column = Column::new("v", DataType::Text, 0);
    assert!(column.push("first".into()));
    let nulls = [0b0110_u64];
    let outcome = column.fill_present(NullWords::new(&nulls, 0, 4), |into| {
        assert!(into.push("a".into()) && into.push("b".into()));
        Ok::<(), ()>(())
    });
    assert_eq!(outcome, Ok(Ok(())));
    assert_eq!(values(&column), ["first".into(), "a".into(), Value::Null, Value::Null, "b".into()]);
    assert_eq!(column.validity(), Some(&[0b10011][..]));
}

#[test]
fn rows_of_a_view_and_of_another_column_are_appended() {
    let mut words = [0_u64; 3];
    for row in (0..130).filter(|row| row % 3 == 1) {
        words::set(&mut words, row);
    }
    let numbers: Vec<i64> = (0..130).collect();
    let mut texts = Values::new(DataType::Text.physical());
    for row in 0..130 {
        assert!(texts.push(format!("row {row}").as_str().into()));
    }
    for (data_type, values) in [(DataType::Int64, ValuesRef::Int64(&numbers)), (DataType::Text, texts.as_values())] {
        let view = ColumnView::new(data_type, values, Some(NullWords::new(&words, 0, 130)));
        let expected: Vec<Value<'_>> = (0..130).map(|row| view.value(row)).collect();
        for lead in [0, 1, 63, 64, 70] {
            let mut column = Column::new("v", data_type, 0);
            assert!(column.push_repeated(values.get(5), lead) && column.extend(view));
            assert!((0..lead).all(|row| column.value(row) == values.get(5)));
            assert_eq!((&self::values(&column)[lead..], column.null_count()), (&expected[..], 43));
            assert_eq!(column.values().as_values().get(lead + 1), Column::new("d", data_type, 0).default_of());
            for (start, count) in [(lead, 130), (lead + 2, 100), (lead, 1), (lead + 1, 1), (lead, 0)] {
                let mut copy = Column::new("c", data_type, 0);
                assert!(copy.push_repeated(Value::Null, lead % 2) && copy.extend_from(&column, start, count));
                assert_eq!(self::values(&copy)[lead % 2..], expected[start - lead..start - lead + count]);
                let null_count = self::values(&copy).iter().filter(|value| value.is_null()).count();
                assert_eq!((copy.null_count(), copy.validity().is_some()), (null_count, null_count > 0));
            }
        }
    }
    let mut column = Column::new("v", DataType::Int32, 0);
    assert!(!column.extend(ColumnView::new(DataType::Int64, ValuesRef::Int64(&[1]), None)));
    assert!(!column.push_repeated(Value::Double(1.0), 2) && !column.extend_from(&Column::new("d", DataType::Text, 0), 0, 0));
    assert_eq!(column.row_count(), 0);
}

impl Column {
    fn default_of(mut self) -> Value<'static> {
        self.push_nulls(1);
        match self.values.as_values().get(0) {
            Value::Int64(value) => Value::Int64(value),
            Value::Text([]) => Value::Text(b""),
            other => panic!("default {other:?}"),
        }
    }
}

#[test]
fn a_wrong_number_of_values_keeps_nothing() {
    let mut column = Column::new("v", DataType::Int32, 0);
    let nulls = [0b01_u64];
    let outcome = column.fill_present(NullWords::new(&nulls, 0, 2), |_| Ok::<(), ()>(()));
    assert_eq!(outcome, Ok(Err(0)));
    let outcome = column.fill_present(NullWords::new(&nulls, 0, 2), |into| {
        assert!(into.push(1.into()));
        Err("broken")
    });
    assert_eq!(outcome, Err("broken"));
    let push_two = |into: &mut Values| if into.push(1.into()) && into.push(2.into()) { Ok(()) } else { Err("form") };
    assert_eq!(column.fill(3, push_two), Ok(Err(2)));
    assert_eq!((column.row_count(), column.fill(2, push_two), column.row_count()), (0, Ok(Ok(())), 2));
    column.clear();
    assert_eq!(column.row_count(), 0);
}
