//! Encodings that do not keep every value: the schema warns before, and the summary counts after.

use tsloom_file::{FileWriter, WriterOptions};
use tsloom_model::{ColumnSchema, ColumnView, DataType, DeviceId, DeviceSchema, Encoding, TableSchema, ValuesRef};

/// Values, of which 0.123 and -9.999 have more than two decimals; the last three leave the integer range, or are no number.
const VALUES: [f64; 7] = [0.5, 0.123, -9.999, 0.25, 1e300, f64::NAN, f64::INFINITY];

fn scaled(name: &str) -> ColumnSchema {
    ColumnSchema::field(name, DataType::Double).encoding(Encoding::Ts2Diff)
}

#[test]
fn values_that_an_encoding_changes_are_counted() {
    let options = || WriterOptions::builder().page_rows_max(2).column_decimals("v", 2).build().unwrap();
    let views = [Some(ColumnView::new(DataType::Double, ValuesRef::Double(&VALUES), None)); 2];
    let exact = ColumnSchema::field("w", DataType::Double);
    let table = TableSchema::from_stored("t", vec![ColumnSchema::tag("id"), scaled("v"), exact.clone()]).unwrap();

    let mut writer = FileWriter::new(Vec::new(), options()).unwrap();
    writer.add_table(&table).unwrap();
    writer.write_rows("t", &DeviceId::new("t", [Some("d")]), &[1, 2, 3, 4, 5, 6, 7], &views).unwrap();
    assert_eq!(writer.finish().unwrap().1.changed_value_count, 2);

    for is_aligned in [true, false] {
        let device = DeviceSchema::new(DeviceId::from_path("root.sg.d"), is_aligned, vec![scaled("v"), exact.clone()]).unwrap();
        let mut writer = FileWriter::new(Vec::new(), options()).unwrap();
        writer.add_device(&device).unwrap();
        writer.write_device_rows(device.device(), &[1, 2, 3, 4, 5, 6, 7], &views).unwrap();
        assert_eq!(writer.finish().unwrap().1.changed_value_count, 2);
    }
    // Nobody named the decimals.
    assert!(FileWriter::new(Vec::new(), WriterOptions::default()).unwrap().add_table(&table).is_err());
}

#[test]
fn the_schema_warns_of_encodings_that_do_not_keep_every_value() {
    for data_type in DataType::ALL {
        for encoding in Encoding::ALL.iter().filter(|encoding| data_type.allows(**encoding)) {
            let is_float = matches!(data_type, DataType::Float | DataType::Double);
            let is_scaled = is_float && matches!(encoding, Encoding::Rle | Encoding::Ts2Diff);
            let column = ColumnSchema::field("v", *data_type).encoding(*encoding);
            let warns = is_scaled || *encoding == Encoding::Sprintz;
            assert_eq!(column.encoding_warning().is_some(), warns, "{data_type} {encoding}");
            let table = TableSchema::from_stored("t", vec![column]).unwrap();
            assert_eq!(table.encoding_warnings().count(), usize::from(warns), "{data_type} {encoding}");
        }
    }
}
