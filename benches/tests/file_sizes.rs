//! How large files of W1 are, by the first of its ten devices (100,000 rows): a tenth of the bounds of the whole.
#![expect(clippy::unwrap_used, reason = "a file that cannot be written is a failed test")]

use tsloom_benches::data::w1_device;
use tsloom_benches::files::{w1_columns, w1_schema};
use tsloom_file::{ChunkRef, DeviceSeries, EncodingChoice, FileReader, FileWriter, WriterOptions};
use tsloom_model::{Compression, DeviceId, Limits, TableSchema};

const ROW_COUNT: usize = 100_000;

fn file(choice: EncodingChoice, compression: Compression) -> Vec<u8> {
    let columns = w1_schema().unwrap().columns().iter().cloned().map(|column| column.compression(compression)).collect();
    let schema = TableSchema::from_stored("w1", columns).unwrap();
    let options = WriterOptions::builder().encoding(choice).time_compression(compression).build().unwrap();
    let mut writer = FileWriter::new(Vec::new(), options).unwrap();
    writer.add_table(&schema).unwrap();
    let device = w1_device(0, ROW_COUNT);
    let id = DeviceId::new("w1", [Some(device.name.as_str())]);
    writer.write_rows("w1", &id, &device.times, &w1_columns(&device, 0, ROW_COUNT)).unwrap();
    writer.finish().unwrap().0
}

/// Column and encoding of every value chunk.
fn encodings(file: &[u8]) -> Vec<String> {
    let reader = FileReader::new(file.to_vec(), "w1", Limits::default()).unwrap();
    let mut series = DeviceSeries::default();
    assert!(reader.find_device(&DeviceId::new("w1", [Some("d0000")]), &mut series).unwrap());
    let chunks = series.iter().flat_map(|series| series.chunks().map(move |chunk| (series.name(), chunk.offset)));
    let header = |offset: u64| ChunkRef::parse(&file[offset as usize..], offset).unwrap().header().encoding;
    chunks.map(|(name, offset)| format!("{name} {}", header(offset))).collect()
}

#[test]
fn a_device_of_w1_keeps_its_bounds() {
    let bounds = [
        // C++ writes 23,230,749 bytes of the whole.
        (EncodingChoice::Schema, Compression::Lz4, 2_323_100 * 1005 / 1000),
        (EncodingChoice::Auto, Compression::Lz4, 2_100_000),
        (EncodingChoice::Auto, Compression::Zstd, 2_000_000),
    ];
    for (choice, compression, most) in bounds {
        let file = file(choice, compression);
        let size = file.len();
        println!("{choice:?} with {compression}: {size} bytes, {most} at most; {}", encodings(&file).join(", "));
        assert!(size < most, "{choice:?} with {compression}: {size} bytes, {most} at most");
    }
}
