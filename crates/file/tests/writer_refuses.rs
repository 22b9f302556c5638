//! What the writer does not take, and what it leaves behind when it cannot go on.
#![expect(clippy::unwrap_used, reason = "what should be taken and is not is a failed test")]

use std::io::{self, Write};

use tsloom_file::{FileReader, FileWriter, NewFile, WriterOptions};
use tsloom_model::{
    ColumnSchema, ColumnView, Compression, DataType, DeviceId, Encoding, Error, ErrorKind, TableSchema, Value, ValuesRef,
};
use tsloom_tablet::Tablet;

fn table() -> TableSchema {
    TableSchema::builder("t").tag("id").field("v", DataType::Int32).field("w", DataType::Double).build().unwrap()
}

fn writer() -> FileWriter<Vec<u8>> {
    let mut writer = FileWriter::new(Vec::new(), WriterOptions::default()).unwrap();
    writer.add_table(&table()).unwrap();
    writer
}

fn device(tag: &str) -> DeviceId {
    DeviceId::new("t", [Some(tag)])
}

fn ints(values: &[i32]) -> Option<ColumnView<'_>> {
    Some(ColumnView::new(DataType::Int32, ValuesRef::Int32(values), None))
}

fn check_refused(result: Result<(), Error>, kind: ErrorKind, message: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn rows_that_do_not_rise_are_out_of_order_by_device() {
    let mut writer = writer();
    writer.write_rows("t", &device("a"), &[5, 7], &[ints(&[1, 2]), None]).unwrap();
    writer.write_rows("t", &device("b"), &[1], &[ints(&[1]), None]).unwrap();
    let refused = writer.write_rows("t", &device("a"), &[7], &[ints(&[3]), None]);
    check_refused(refused, ErrorKind::OutOfOrder, "device t.a: time 7 does not come after 7");
    let refused = writer.write_rows("t", &device("b"), &[2, 9, 9], &[ints(&[1, 2, 3]), None]);
    check_refused(refused, ErrorKind::OutOfOrder, "device t.b: time 9 does not come after 9");
    // Also across chunk groups, and nothing of what was refused is there.
    writer.flush_groups().unwrap();
    assert_eq!((writer.last_time(&device("a")), writer.last_time(&device("c"))), (Some(7), None));
    writer.write_rows("t", &device("a"), &[6], &[ints(&[3]), None]).unwrap_err();
    writer.write_rows("t", &device("a"), &[i64::MAX], &[ints(&[3]), None]).unwrap();
    assert_eq!(writer.finish().unwrap().1.row_count, 4);
}

#[test]
fn rows_that_do_not_fit_the_schema_are_refused() {
    let mut writer = writer();
    let rows = writer.write_rows("u", &device("a"), &[], &[None, None]);
    check_refused(rows, ErrorKind::NotFound, "no table u was added to the file; it has t");
    let rows = writer.write_rows("t", &DeviceId::new("u", [Some("a")]), &[], &[None, None]);
    check_refused(rows, ErrorKind::SchemaMismatch, "device u.a is not one of table t");
    let rows = writer.write_rows("t", &DeviceId::new("t", [Some("a"), Some("b")]), &[], &[None, None]);
    check_refused(rows, ErrorKind::SchemaMismatch, "device t.a.b has more tags than table t");
    let rows = writer.write_rows("t", &device("a"), &[1], &[None]);
    check_refused(rows, ErrorKind::SchemaMismatch, "1 columns for the 2 FIELDs of t");
    let rows = writer.write_rows("t", &device("a"), &[1, 2], &[ints(&[1]), None]);
    check_refused(rows, ErrorKind::SchemaMismatch, "column v: 1 values for 2 times");
    let rows = writer.write_rows("t", &device("a"), &[1], &[None, ints(&[1])]);
    check_refused(rows, ErrorKind::SchemaMismatch, "column w: INT32 values for a column of DOUBLE");
}

#[test]
fn tables_that_cannot_be_written_are_refused() {
    let mut writer = writer();
    writer.add_table(&table()).unwrap();
    let other = TableSchema::builder("t").tag("id").field("v", DataType::Int64).build().unwrap();
    check_refused(writer.add_table(&other), ErrorKind::AlreadyExists, "the file has a table t with another schema");
    let scaled = ColumnSchema::field("f", DataType::Float).encoding(Encoding::Ts2Diff);
    let lossy = TableSchema::builder("s").column(scaled).build().unwrap();
    assert_eq!(writer.add_table(&lossy).unwrap_err().column(), Some("f"));
    let lzo = ColumnSchema::field("f", DataType::Float).compression(Compression::Lzo);
    let lzo = TableSchema::builder("s").column(lzo).build().unwrap();
    assert_eq!(writer.add_table(&lzo).unwrap_err().kind(), ErrorKind::Unsupported);
    for builder in [
        WriterOptions::builder().page_rows_max(0),
        WriterOptions::builder().page_bytes_max(0),
        WriterOptions::builder().index_degree(1),
        WriterOptions::builder().time_compression(Compression::Lzo),
    ] {
        builder.build().unwrap_err();
    }
}

#[test]
fn tablets_are_routed_by_their_tags() {
    let mut writer = writer();
    let mut tablet = Tablet::new(&table());
    let rows = [("a", 1), ("a", 2), ("b", 1), ("a", 3)];
    for (tag, time) in rows {
        tablet.push_row(time, &[tag.into(), (time as i32).into(), Value::Null]).unwrap();
    }
    writer.write(&tablet).unwrap();
    let refused = writer.write(&tablet);
    check_refused(refused, ErrorKind::OutOfOrder, "device t.a: time 1 does not come after 3");

    let other = TableSchema::builder("t").tag("id").field("x", DataType::Int32).build().unwrap();
    check_refused(writer.write(&Tablet::new(&other)), ErrorKind::SchemaMismatch, "column x: there is no such FIELD in table t");
    let untagged = TableSchema::builder("t").field("v", DataType::Int32).build().unwrap();
    let refused = writer.write(&Tablet::new(&untagged));
    check_refused(refused, ErrorKind::SchemaMismatch, "column id: the tablet lacks this TAG of table t");

    let (bytes, summary) = writer.finish().unwrap();
    assert_eq!((summary.device_count, summary.row_count), (2, 4));
    // The all-null column w is in no series list.
    assert_eq!(summary.series_count, 4);
    FileReader::new(bytes, "tablets", tsloom_model::Limits::default()).unwrap();
}

/// Takes so many bytes and no more.
struct Full {
    room: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = bytes.len().min(self.room);
        self.room -= size;
        if size == 0 && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(size) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_sink_that_is_full_closes_the_writer() {
    for room in 7..400 {
        let mut writer = FileWriter::new(Full { room }, WriterOptions::default()).unwrap();
        writer.add_table(&table()).unwrap();
        writer.write_rows("t", &device("a"), &[1], &[ints(&[1]), None]).unwrap();
        if writer.flush_groups().is_err() {
            let refused = writer.write_rows("t", &device("a"), &[2], &[ints(&[1]), None]);
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
            assert_eq!(writer.finish().map(|_| ()).unwrap_err().kind(), ErrorKind::Closed);
        } else {
            assert_eq!(writer.finish().map(|_| ()).unwrap_err().kind(), ErrorKind::Io);
        }
    }
}

fn names(folder: &std::path::Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_new_file_appears_when_it_is_whole_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.tsfile");
    let write = |value: i32| {
        let mut writer = FileWriter::create(&path, WriterOptions::default()).unwrap();
        writer.add_table(&table()).unwrap();
        writer.write_rows("t", &device("a"), &[1], &[ints(&[value]), None]).unwrap();
        writer
    };
    let writer = write(1);
    assert!(!path.exists());
    assert_eq!(names(folder.path()).len(), 1);
    drop(writer);
    assert!(names(folder.path()).is_empty());

    let summary = write(1).commit().unwrap();
    assert_eq!(path.metadata().unwrap().len(), summary.size);
    let first = std::fs::read(&path).unwrap();
    drop(write(2)); // the file of this name stays as it was
    assert_eq!(std::fs::read(&path).unwrap(), first);
    write(2).commit().unwrap();
    assert_ne!(std::fs::read(&path).unwrap(), first);
    assert_eq!(names(folder.path()), ["new.tsfile"]);

    let missing = folder.path().join("no folder").join("new.tsfile");
    let error = NewFile::create(&missing).map(|_| ()).unwrap_err();
    assert_eq!((error.kind(), error.file().is_some()), (ErrorKind::NotFound, true));
}
