//! An unfinished file of tree-model devices, aligned and not, is gone on with: from the last whole chunk group, whatever follows it,
//! and with the statistics that the whole file has.
#![expect(clippy::unwrap_used, reason = "what cannot be gone on with is a failed test")]

use std::collections::BTreeMap;
use std::io::Write;

use tsloom_bitmap::NullWords;
use tsloom_file::{DeviceSeries, FileReader, FileSummary, FileWriter, Recovery, VerifyOptions, WriterOptions, verify};
use tsloom_model::{ColumnSchema, ColumnView, DataType, DeviceId, DeviceSchema, ErrorKind, Limits, ValuesRef};

const ROW_COUNT: i64 = 200;

fn devices() -> Vec<DeviceSchema> {
    let columns = || vec![ColumnSchema::field("v", DataType::Double), ColumnSchema::field("s", DataType::Int32)];
    vec![
        DeviceSchema::aligned("root.sg.a", columns()).unwrap(),
        DeviceSchema::not_aligned("root.sg.b.c", columns()).unwrap(),
        DeviceSchema::not_aligned("root.sg.d", columns()).unwrap(),
    ]
}

fn options() -> WriterOptions {
    WriterOptions::builder().page_rows_max(16).build().unwrap()
}

/// Writes the rows of every device that come after its last one; chunk groups end every 25 rows.
fn write_rest<W: Write>(writer: &mut FileWriter<W>) {
    for time in 0..ROW_COUNT {
        for (index, device) in devices().iter().enumerate() {
            if writer.last_time(device.device()).is_none_or(|last| last < time) {
                let v = [(time * 7 + index as i64) as f64 / 4.0];
                let s = [time as i32 - 50];
                // Rows with both, with one, and in the aligned device with none.
                let null = |is_null: bool| NullWords::new(if is_null { &[1] } else { &[0] }, 0, 1);
                let v = ColumnView::new(DataType::Double, ValuesRef::Double(&v), Some(null(time % 3 == 0)));
                let s = ColumnView::new(DataType::Int32, ValuesRef::Int32(&s), Some(null(time % 2 == 0 && index == 0)));
                writer.write_device_rows(device.device(), &[time], &[Some(v), Some(s)]).unwrap();
            }
        }
        if time % 25 == 24 {
            writer.flush_groups().unwrap();
        }
    }
}

fn whole() -> (Vec<u8>, FileSummary) {
    let mut writer = FileWriter::new(Vec::new(), options()).unwrap();
    devices().iter().for_each(|device| writer.add_device(device).unwrap());
    write_rest(&mut writer);
    writer.finish().unwrap()
}

/// Statistics of every series, and that the file is sound.
fn series_of(bytes: &[u8]) -> BTreeMap<String, String> {
    let reader: FileReader<Vec<u8>> = FileReader::new(bytes.to_vec(), "resumed", Limits::default()).unwrap();
    let verification = verify(&reader, VerifyOptions::default(), &mut |_, _| {}).unwrap();
    assert!(verification.is_sound(), "{}", verification.findings[0].error);
    let (mut cursor, mut series, mut found) = (reader.all_devices(), DeviceSeries::default(), BTreeMap::new());
    while cursor.advance(&reader).unwrap() {
        cursor.read_series(&reader, &mut series).unwrap();
        for one in series.iter() {
            let statistics = one.statistics();
            let said = format!("{} {:?} {:?}", statistics.count(), statistics.time_range(), statistics.values());
            found.insert(format!("{:?} {}", cursor.device(), one.name()), said);
        }
    }
    found
}

#[test]
fn a_cut_tree_file_is_gone_on_with() {
    let (bytes, summary) = whole();
    let expected = series_of(&bytes);
    let recovery = Recovery::of(&bytes, &Limits::default()).unwrap();
    assert_eq!((recovery.groups.len(), expected.len()), (24, 7));
    let (tables, found) = recovery.schemas().unwrap();
    assert_eq!((tables.len(), found.len()), (0, 3));
    let body = &bytes[..recovery.whole_size as usize];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.tsfile");
    let middle = &recovery.groups[10];
    let after = middle.offset + middle.size;
    for size in [7, 60, middle.offset + 3, after, after - 1, after + 2, body.len() as u64] {
        for zeros in [0, 4096] {
            std::fs::write(&path, [&body[..size as usize], &vec![0; zeros]].concat()).unwrap();
            assert_eq!(FileReader::open(&path).unwrap_err().kind(), ErrorKind::Truncated);
            let mut writer = FileWriter::resume(&path, options(), &[], &devices(), Limits::default()).unwrap();
            write_rest(&mut writer);
            let (sink, resumed) = writer.finish().unwrap();
            sink.into_inner().map_err(std::io::IntoInnerError::into_error).unwrap().sync().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!((resumed.row_count, resumed.device_count), (summary.row_count, summary.device_count), "{size}");
            assert_eq!(series_of(&bytes), expected, "{size} bytes and {zeros} zeros");
        }
    }
}

#[test]
fn what_the_schemas_do_not_have_is_refused() {
    let (bytes, _) = whole();
    let recovery = Recovery::of(&bytes, &Limits::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.tsfile");
    let body = &bytes[..recovery.whole_size as usize];
    std::fs::write(&path, body).unwrap();
    let refused =
        |devices: &[DeviceSchema]| FileWriter::resume(&path, options(), &[], devices, Limits::default()).map(drop).unwrap_err();
    let all = devices();
    let other = |path: &str, is_aligned, columns| DeviceSchema::new(DeviceId::from_path(path), is_aligned, columns).unwrap();
    assert_eq!(refused(&all[..2]).kind(), ErrorKind::NotFound);
    let turned = other("root.sg.a", false, all[0].columns().to_vec());
    assert_eq!(refused(&[turned, all[1].clone(), all[2].clone()]).kind(), ErrorKind::SchemaMismatch);
    let fewer = other("root.sg.d", false, all[2].columns()[..1].to_vec());
    let error = refused(&[all[0].clone(), all[1].clone(), fewer]);
    assert!(error.kind() == ErrorKind::SchemaMismatch && error.to_string().contains("the device has no"), "{error}");
    // What was refused was not cut.
    assert_eq!(std::fs::read(&path).unwrap(), body);
}
