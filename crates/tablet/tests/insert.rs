//! The buffers that IoTDB's Python client made (`fixtures/iotdb`) are read to what the description says, and written back to the same
//! bytes.

#![expect(clippy::unwrap_used, reason = "code of tests")]

use std::fs;
use std::sync::Arc;

use serde_json::Value as Json;
use tsloom_model::{ColumnSchema, ColumnView, DataType, ErrorKind, Value};
use tsloom_tablet::{Tablet, TabletHead};

struct Request {
    head: Arc<TabletHead>,
    json: Json,
    times: Vec<u8>,
    values: Vec<u8>,
}

fn requests() -> Vec<Request> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/iotdb");
    (0..5)
        .map(|number| {
            let read = |suffix: &str| fs::read(format!("{folder}/insert_tablet_{number}{suffix}")).expect("the fixture is there");
            let json: Json = serde_json::from_slice(&read(".json")).unwrap();
            let column = |column: &Json| {
                let data_type = DataType::from_code(column["type_id"].as_u64().unwrap() as u8).unwrap();
                ColumnSchema::field(column["name"].as_str().unwrap(), data_type)
            };
            let columns = json["columns"].as_array().unwrap().iter().map(column).collect();
            let head = Arc::new(TabletHead::for_device(Some("t".to_owned()), columns));
            Request { head, json, times: read(".times.bin"), values: read(".values.bin") }
        })
        .collect()
}

/// A cell in the words of the description.
fn described(data_type: DataType, value: Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => value.into(),
        Value::Int32(value) => value.into(),
        Value::Int64(value) => value.into(),
        Value::Float(value) => format!("{:08x}", value.to_bits()).into(),
        Value::Double(value) => format!("{:016x}", value.to_bits()).into(),
        Value::Text(bytes) => {
            assert!(data_type.is_text());
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
    }
}

fn buffers(tablet: &Tablet) -> (Vec<u8>, Vec<u8>) {
    let (mut times, mut values) = (Vec::new(), Vec::new());
    tablet.as_ref().append_insert_times(&mut times);
    tablet.as_ref().append_insert_values(&mut values);
    (times, values)
}

#[test]
fn the_clients_buffers_are_read_and_written_back() {
    for Request { head, json, times, values } in requests() {
        let row_count = json["times"].as_array().unwrap().len();
        let tablet = Tablet::from_insert_buffers(&head, row_count, &times, &values).unwrap();
        for (index, column) in json["columns"].as_array().unwrap().iter().enumerate() {
            let own = tablet.column(index).unwrap();
            let cells: Vec<Json> = (0..row_count).map(|row| described(own.data_type(), own.value(row))).collect();
            assert_eq!(&Json::from(cells), &column["values"], "{}", column["name"]);
        }
        assert!(buffers(&tablet) == (times, values), "read and written back");

        // Built row by row, where all-null columns are absent, it gives the same bytes.
        let mut built = Tablet::from_head(Arc::clone(&head), row_count);
        for row in 0..row_count {
            let cells: Vec<Value<'_>> = (0..10).map(|index| tablet.column(index).map_or(Value::Null, |c| c.value(row))).collect();
            built.push_row(tablet.times()[row], &cells).unwrap();
        }
        assert!(buffers(&built) == buffers(&tablet), "row by row");
        let views: Vec<Option<ColumnView<'_>>> = (0..10).map(|index| tablet.column(index)).collect();
        let lent = Tablet::from_columns(&head, tablet.times(), &views).unwrap();
        let mut values = Vec::new();
        lent.append_insert_values(&mut values);
        assert!(values == buffers(&tablet).1, "from slices");
    }
}

/// Java sends a flag for each column even when none has a null, and stale text in the slots of nulls.
#[test]
fn flags_without_nulls_and_junk_in_null_slots_are_taken() {
    let columns = vec![ColumnSchema::field("a", DataType::Int32), ColumnSchema::field("b", DataType::Text)];
    let head = Arc::new(TabletHead::for_device(Some("root.d".to_owned()), columns));
    let times = [1_i64.to_be_bytes(), 2_i64.to_be_bytes()].concat();
    let cells = [0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 2, b'x', b'y', 0, 0, 0, 1, b'z'];
    let plain = Tablet::from_insert_buffers(&head, 2, &times, &cells).unwrap();
    let flags = Tablet::from_insert_buffers(&head, 2, &times, &[&cells[..], &[0, 0]].concat()).unwrap();
    assert_eq!(flags.to_bytes(), plain.to_bytes());

    let marked = Tablet::from_insert_buffers(&head, 2, &times, &[&cells[..], &[1, 0b10, 1, 0b01]].concat()).unwrap();
    let column = |index: usize| (0..2).map(|row| marked.column(index).unwrap().value(row)).collect::<Vec<_>>();
    assert_eq!(column(0), [7.into(), Value::Null]);
    assert_eq!(column(1), [Value::Null, "z".into()]);
    assert_eq!(Tablet::parse(&marked.to_bytes()).unwrap().to_bytes(), marked.to_bytes());
}

#[test]
fn cut_or_longer_buffers_are_errors() {
    let Request { head, times, values, .. } = requests().swap_remove(1);
    let read = |times: &[u8], values: &[u8]| Tablet::from_insert_buffers(&head, 8, times, values);
    let without_flags = (0..values.len()).filter(|size| read(&times, &values[..*size]).is_ok()).count();
    assert_eq!(without_flags, 1, "only the cut before the flags is whole");
    assert_eq!(read(&times[1..], &values).unwrap_err().kind(), ErrorKind::Truncated);
    assert_eq!(read(&[&times[..], &[0]].concat(), &values).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(read(&times, &[&values[..], &[0]].concat()).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(Tablet::from_insert_buffers(&head, usize::MAX, &times, &values).unwrap_err().kind(), ErrorKind::Truncated);
}
