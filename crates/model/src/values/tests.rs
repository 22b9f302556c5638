//! Slices, spreading and refusal of another form.

use super::*;

fn cells(values: &Values) -> Vec<Value<'_>> {
    (0..values.len()).map(|row| values.as_values().get(row)).collect()
}

#[test]
fn text_slices_keep_their_bytes() {
    let mut text = TextValues::default();
    for cell in ["a", "", "bcd", "é"] {
        text.push(cell.as_bytes());
    }
    let slice = text.as_text().slice(2, 2);
    assert_eq!(slice.byte_count(), 5);
    let mut copy = TextValues::default();
    copy.push(b"x");
    copy.extend(slice);
    assert_eq!(copy.as_text().iter().collect::<Vec<_>>(), [&b"x"[..], b"bcd", "é".as_bytes()]);
    copy.truncate(2);
    assert_eq!(copy.as_text().get(1), b"bcd");
}

#[test]
fn bad_offsets_make_no_text() {
    assert!(TextRef::new(&[], b"").is_none());
    assert!(TextRef::new(&[0, 2, 1], b"ab").is_none());
    assert!(TextRef::new(&[0, 3], b"ab").is_none());
    assert_eq!(TextRef::new(&[1, 2], b"ab").unwrap().get(0), b"b");
}

/// `Values::spread` row by row, into new buffers.
fn check_spread(is_null: &[bool], lead: usize, start: usize) {
    let mut words = vec![u64::MAX; (start + is_null.len()).div_ceil(64) + 1];
    for (row, &is_null) in is_null.iter().enumerate().filter(|(_, is_null)| !**is_null) {
        words[(start + row) / 64] &= !(u64::from(!is_null) << ((start + row) % 64));
    }
    let nulls = NullWords::new(&words, start, is_null.len());
    let mut numbers = Values::new(PhysicalType::Int64);
    let mut texts = Values::new(PhysicalType::Text);
    let mut expected_numbers: Vec<i64> = (0..lead as i64).collect();
    let mut expected_texts: Vec<String> = (0..lead).map(|row| format!("lead {row}")).collect();
    for (row, text) in expected_texts.iter().enumerate() {
        assert!(numbers.push(Value::Int64(row as i64)) && texts.push(text.as_str().into()));
    }
    for (row, &is_null) in is_null.iter().enumerate() {
        expected_numbers.push(if is_null { 0 } else { row as i64 + 7 });
        expected_texts.push(if is_null { String::new() } else { "x".repeat(row % 5) + &row.to_string() });
        if !is_null {
            assert!(numbers.push(Value::Int64(row as i64 + 7)) && texts.push(expected_texts[lead + row].as_str().into()));
        }
    }
    numbers.spread(lead, nulls);
    texts.spread(lead, nulls);
    assert_eq!(cells(&numbers), expected_numbers.iter().map(|v| Value::Int64(*v)).collect::<Vec<_>>());
    assert_eq!(cells(&texts), expected_texts.iter().map(|v| Value::from(v.as_str())).collect::<Vec<_>>());
}

#[test]
fn spread_puts_present_values_on_their_rows() {
    check_spread(&[true, false, false, true, false], 1, 0);
    check_spread(&[true, false, false, true, false], 0, 62);
    for row_count in [0, 1, 63, 64, 65, 127, 128, 129, 200] {
        for (lead, start) in [(0, 0), (3, 5), (64, 63)] {
            check_spread(&vec![false; row_count], lead, start);
            check_spread(&vec![true; row_count], lead, start);
            for step in [2, 3, 7, 61, 64, 100] {
                check_spread(&(0..row_count).map(|row| row % step == 0).collect::<Vec<_>>(), lead, start);
                check_spread(&(0..row_count).map(|row| row % step != 0).collect::<Vec<_>>(), lead, start);
                check_spread(&(0..row_count).map(|row| row / step % 2 == 0).collect::<Vec<_>>(), lead, start);
            }
        }
    }
}

#[test]
fn another_form_is_refused() {
    let mut values = Values::new(PhysicalType::Int32);
    assert!(!values.push(Value::Double(1.0)));
    assert!(!values.extend(ValuesRef::Int64(&[1])));
    assert!(values.push(Value::Null));
    assert_eq!(cells(&values), [Value::Int32(0)]);
}

#[test]
fn a_range_of_the_last_values_is_kept() {
    for (skip, count) in [(0, 0), (0, 3), (1, 2), (2, 0), (1, 3), (4, 0), (0, 4)] {
        let all = ["k", "a", "bb", "", "ccc"];
        let mut text = Values::new(PhysicalType::Text);
        let mut numbers = Values::new(PhysicalType::Int32);
        for (row, cell) in all.iter().enumerate() {
            assert!(text.push((*cell).into()) && numbers.push(Value::Int32(row as i32)));
        }
        text.keep_range(1, skip, count);
        numbers.keep_range(1, skip, count);
        let rows: Vec<usize> = std::iter::once(0).chain(1 + skip..1 + skip + count).collect();
        assert_eq!(cells(&text), rows.iter().map(|row| Value::from(all[*row])).collect::<Vec<_>>());
        assert_eq!(cells(&numbers), rows.iter().map(|row| Value::Int32(*row as i32)).collect::<Vec<_>>());
    }
}

#[test]
fn a_range_that_is_not_there_is_refused() {
    for physical in [PhysicalType::Int32, PhysicalType::Text] {
        let refused = std::panic::catch_unwind(|| {
            let mut values = Values::new(physical);
            values.push_defaults(3);
            values.keep_range(1, 0, 3);
        });
        assert!(refused.is_err(), "{physical:?}");
    }
}
