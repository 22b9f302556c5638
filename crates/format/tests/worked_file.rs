//! The 390-byte file of the format specification, written by C++: every byte is read by a parser of this crate, and
//! every structure of it is written again to the same bytes.

use tsloom_encoding::{ToWire, WireReader};
use tsloom_format::{
    BloomFilter, ChunkGroupHeader, ChunkHeader, ChunkKind, IndexNode, KeyForm, MAGIC, NodeType, OperationIndexRange, PageHeader,
    SeriesMetadata, SeriesType, StatisticValues, TsFileMetadata, marker, put_device_node, put_measurement_node,
};
use tsloom_model::{Compression, DataType, DeviceId, Encoding, TableSchema};

/// Table t1(id STRING TAG, v INT32 FIELD), device d1, times 100..102, v = 7, null, 9.
fn file() -> Vec<u8> {
    let bloom = {
        let mut filter = BloomFilter::new(1, 0.05);
        filter.add(b"t1.d1.");
        filter.add(b"t1.d1.v");
        filter.to_vec()
    };
    let parts: [&[u8]; 23] = [
        b"TsFile\x04",
        b"\x00\x02\x04t1\x04d1",
        b"\x85\x00\x14\x06\x07\x04\x18\x12",
        &[0x56, 0, 0, 0, 2, 0, 1, 0, 0x90, 1, 0, 0, 0, 0, 0, 0, 0, 0x64],
        b"\x45\x02v\x19\x01\x07\x04\x15\x17\xf0\x06\0\0\0\x03\xa0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\x07",
        b"\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\x02",
        b"\x00\x00\x06\x08\x03\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x66\0\0\0\0\0\0\0\x0f",
        b"\x00\x02v\x01\x08\x02\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x66",
        b"\0\0\0\x07\0\0\0\x09\0\0\0\x07\0\0\0\x09\0\0\0\0\0\0\0\x10",
        b"\0\0\0\0\0\0\0\x29",
        b"\x01\x00\0\0\0\0\0\0\0\x5b\0\0\0\0\0\0\0\xae\x03",
        b"\x01\x04t1",
        b"\x01\x02\x04t1\x04d1\0\0\0\0\0\0\0\xae",
        b"\0\0\0\0\0\0\0\xc1\x01",
        b"\x01\x04t1\x02",
        b"\0\0\0\x02id\x0b\0\x07\0\0\0\0\0\0\0\0",
        b"\0\0\0\x01v\x01\x04\x07\0\0\0\0\0\0\0\x01",
        b"\0\0\0\0\0\0\0\x5a",
        &bloom,
        b"\x06\x14encryptKey\x01\x16encryptType\x4aorg.apache.tsfile.encrypt.UNENCRYPTED",
        b"\x18encryptLevel\x020",
        b"\0\0\0\xbbTsFile",
    ];
    parts.concat()
}

#[test]
fn every_byte_is_accounted_for() {
    let file = file();
    assert_eq!(file.len(), 390);
    let mut wire = WireReader::new(&file);
    assert_eq!((wire.array().unwrap(), wire.u8().unwrap()), (*MAGIC, 4));

    let device = ChunkGroupHeader::parse(&mut wire).unwrap();
    assert_eq!(device.to_id(), DeviceId::new("t1", [Some("d1")]));

    assert_eq!(wire.position(), 0x0f);
    let time = ChunkHeader::parse(&mut wire).unwrap();
    let expected = ChunkHeader {
        kind: ChunkKind::Time,
        one_page: true,
        measurement: "",
        data_size: 20,
        series_type: SeriesType::Time,
        compression: Compression::Lz4,
        encoding: Encoding::Ts2Diff,
    };
    assert_eq!(time, expected);
    assert_eq!(time.to_vec(), file[0x0f..0x15]);
    let page = PageHeader::parse(&mut wire, time.series_type, time.one_page).unwrap();
    assert_eq!((page.uncompressed_size, page.compressed_size, wire.position()), (24, 18, 0x17));
    wire.skip(18).unwrap();

    let value = ChunkHeader::parse(&mut wire).unwrap();
    assert_eq!((value.kind, value.measurement, value.data_size), (ChunkKind::Value, "v", 25));
    assert_eq!(value.to_vec(), file[0x29..0x30]);
    let page = PageHeader::parse(&mut wire, value.series_type, value.one_page).unwrap();
    assert_eq!((page.uncompressed_size, page.compressed_size, wire.position()), (21, 23, 0x32));
    wire.skip(23).unwrap();

    let range = OperationIndexRange::parse(&mut wire).unwrap();
    assert_eq!(range, OperationIndexRange { min: 0, max: 0 });
    assert_eq!(range.to_vec(), file[0x49..0x5a]);
    assert_eq!((wire.position(), wire.u8().unwrap()), (0x5a, marker::SEPARATOR));

    let series = SeriesMetadata::parse(&mut wire).unwrap();
    assert!(series.is_time());
    let chunk = series.chunks().next().unwrap().unwrap();
    assert_eq!((chunk.offset, chunk.statistics.count()), (0x0f, 3));
    assert_eq!((chunk.statistics.start_time(), chunk.statistics.end_time()), (100, 102));
    let series = SeriesMetadata::parse(&mut wire).unwrap();
    assert_eq!((series.measurement, series.series_type), ("v", SeriesType::Value(DataType::Int32)));
    assert_eq!(series.statistics.values(), StatisticValues::Int32 { min: 7, max: 9, first: 7, last: 9, sum: 16 });
    assert_eq!(series.chunks().map(|chunk| chunk.unwrap().offset).collect::<Vec<_>>(), [0x29]);

    assert_eq!(wire.position(), 0xae);
    let leaf = IndexNode::parse(&mut wire, KeyForm::Measurement).unwrap();
    assert_eq!((leaf.node_type(), leaf.len(), leaf.end_offset()), (NodeType::LeafMeasurement, 1, 0xae));
    let run = leaf.measurements().next().unwrap();
    assert_eq!((run.key, run.start, run.end), ("", 0x5b, 0xae));

    assert_eq!(wire.position(), 0xc1);
    let mut footer = WireReader::with_base(wire.bytes(0xbb).unwrap(), 0xc1);
    let metadata = TsFileMetadata::parse(4, &mut footer).unwrap();
    assert!(footer.is_empty());
    assert_eq!((wire.i32().unwrap(), wire.array().unwrap()), (0xbb, *MAGIC));
    assert!(wire.is_empty());

    assert_eq!(metadata.meta_offset, 0x5a);
    let root = metadata.table("t1").unwrap().node().unwrap();
    assert_eq!((root.node_type(), root.len(), root.end_offset()), (NodeType::LeafDevice, 1, 0xc1));
    let child = root.devices().next().unwrap();
    assert_eq!((child.key.tag(0), child.start, child.end), (Some("d1"), 0xae, 0xc1));
    let expected = TableSchema::builder("t1").tag("id").field("v", DataType::Int32).build().unwrap();
    assert_eq!(metadata.schemas, [expected]);
    let filter = metadata.bloom_filter.as_ref().unwrap();
    assert_eq!((filter.size(), filter.hash_count()), (256, 5));
    assert_eq!(metadata.property("encryptLevel"), Some(&b"0"[..]));
    assert_eq!(metadata.property("encryptKey"), None);
    assert_eq!(metadata.to_vec(), file[0xc1..0xc1 + 0xbb]);
}

#[test]
fn index_nodes_are_written_to_the_same_bytes() {
    let file = file();
    let mut node = Vec::new();
    put_measurement_node(&[("", 0x5b)], 0xae, NodeType::LeafMeasurement, &mut node);
    assert_eq!(node, file[0xae..0xc1]);
    let device = DeviceId::new("t1", [Some("d1")]);
    let mut node = Vec::new();
    put_device_node(&[(&device, 0xae)], 0xc1, NodeType::LeafDevice, &mut node);
    assert_eq!(node, file[0xc5..0xde]);
    assert_eq!(ChunkGroupHeader(&device).to_vec(), file[7..0x0f]);
}

#[test]
fn a_footer_cut_short_anywhere_is_an_error() {
    let file = file();
    let footer = &file[0xc1..0xc1 + 0xbb];
    for size in 0..footer.len() {
        let cut = TsFileMetadata::parse(4, &mut WireReader::new(&footer[..size]));
        // Without the property list it is the footer of an older writer.
        let without_properties = 0x12e - 0xc1;
        assert_eq!(cut.is_ok(), size == without_properties, "{size} bytes");
    }
}
