//! What Java wrote, decoded and encoded again: the same bytes, page by page, wherever the format determines them.
#![expect(clippy::unwrap_used, reason = "a fixture that does not read is a failed test")]

mod common;

use std::collections::BTreeMap;

use common::{chunk_bytes, fixtures, pages};
use tsloom_bitmap::PresenceView;
use tsloom_codec::compress::{CompressScratch, decompress};
use tsloom_codec::{DecodeScratch, EncodeOptions, EncodeScratch, decode, encode};
use tsloom_encoding::WireReader;
use tsloom_file::{ChunkRef, DeviceSeries, FileReader, PageRef};
use tsloom_format::ChunkKind;
use tsloom_model::{DataType, Encoding, Values};

/// What is not determined by its values, and why. Anything else must be the same.
const NOT_DETERMINED: &[(Encoding, &[DataType], &str)] = &[
    (Encoding::GorillaV1, &[DataType::Float, DataType::Double], "read only"),
    (
        Encoding::Sprintz,
        &[DataType::Int32, DataType::Date, DataType::Int64, DataType::Timestamp, DataType::Float, DataType::Double],
        "steps that it cannot hold lost their values, or are refused",
    ),
];

/// Pages that are the same, that differ where no reader looks, and that differ.
///
/// Nobody reads the least difference of a TS_2DIFF block of one value (Java writes the greatest number, C++ and this encoder zero),
/// nor the bits behind a block (Java leaves those of earlier blocks).
#[derive(Debug, Default, PartialEq)]
struct Tally {
    same: usize,
    unread: usize,
    other: usize,
}

fn body(page: &PageRef<'_>, chunk: &ChunkRef<'_>) -> Vec<u8> {
    let (mut body, mut scratch) = (Vec::new(), CompressScratch::default());
    decompress(chunk.header().compression, page.body, page.uncompressed_size as usize, &mut body, &mut scratch).unwrap();
    body
}

fn values(bytes: &[u8], encoding: Encoding, data_type: DataType, count: usize) -> Values {
    let mut values = Values::new(data_type.physical());
    decode(encoding, data_type, bytes, count, &mut values, &mut DecodeScratch::default()).unwrap();
    values
}

/// Compares an encoded column with what this encoder makes of its values.
fn check_values(bytes: &[u8], encoding: Encoding, data_type: DataType, count: usize, tally: &mut Tally) {
    let decoded = values(bytes, encoding, data_type, count);
    let mut again = Vec::new();
    let options = EncodeOptions { max_point_number: Some(2) };
    let encoded = encode(encoding, decoded.as_values(), data_type, options, &mut again, &mut EncodeScratch::default());
    let is_read_the_same = || {
        encoding == Encoding::Ts2Diff
            && again.len() == bytes.len()
            && format!("{:?}", values(&again, encoding, data_type, count)) == format!("{decoded:?}")
    };
    match encoded {
        Ok(()) if again == bytes => tally.same += 1,
        Ok(()) if is_read_the_same() => tally.unread += 1,
        _ => tally.other += 1,
    }
}

#[test]
fn pages_of_java_are_what_this_encoder_writes() {
    let mut tallies: BTreeMap<(Encoding, DataType), Tally> = BTreeMap::new();
    let mut times = Tally::default();
    for path in fixtures("java") {
        let reader = FileReader::open(&path).unwrap();
        let (mut cursor, mut series) = (reader.all_devices(), DeviceSeries::default());
        while cursor.advance(&reader).unwrap() {
            cursor.read_series(&reader, &mut series).unwrap();
            for meta in series.iter().flat_map(|series| series.chunks().collect::<Vec<_>>()) {
                let bytes = chunk_bytes(&reader, meta.offset);
                let chunk = ChunkRef::parse(&bytes, meta.offset).unwrap();
                let (kind, encoding) = (chunk.header().kind, chunk.header().encoding);
                for page in pages(&chunk).iter().filter(|page| !page.is_empty()) {
                    let count = page.statistics.unwrap_or(meta.statistics).count() as usize;
                    let body = body(page, &chunk);
                    let mut wire = WireReader::new(&body);
                    let time_bytes = match kind {
                        ChunkKind::Time => wire.bytes(body.len()).unwrap(),
                        ChunkKind::Value => {
                            let row_count = wire.i32().unwrap() as usize;
                            let presence = wire.bytes(row_count.div_ceil(8)).unwrap();
                            assert_eq!(PresenceView::new(presence, row_count).unwrap().present_count(), count);
                            &[]
                        }
                        ChunkKind::Plain => {
                            let size = wire.uvar().unwrap() as usize;
                            wire.bytes(size).unwrap()
                        }
                    };
                    if !time_bytes.is_empty() && (kind == ChunkKind::Plain || encoding == Encoding::Ts2Diff) {
                        check_values(time_bytes, Encoding::Ts2Diff, DataType::Int64, count, &mut times);
                    }
                    if let Some(data_type) = chunk.header().series_type.data_type() {
                        let tally = tallies.entry((encoding, data_type)).or_default();
                        check_values(wire.rest(), encoding, data_type, count, tally);
                    }
                }
            }
        }
    }
    println!("times: {times:?}");
    for ((encoding, data_type), tally) in &tallies {
        println!("{encoding} {data_type}: {tally:?}");
    }
    assert_eq!(times.other, 0);
    for ((encoding, data_type), tally) in &tallies {
        let is_listed = NOT_DETERMINED.iter().any(|(listed, types, _)| listed == encoding && types.contains(data_type));
        assert!(tally.other == 0 || is_listed, "{encoding} {data_type}: {tally:?}");
        assert!(tally.same > 0 || is_listed, "{encoding} {data_type}: {tally:?}");
    }
    assert!(tallies.len() >= 55, "{}", tallies.len());
}
