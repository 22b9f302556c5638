//! A page reader that has seen one page set of a size allocates nothing for the next.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use tsloom_alloc_probe::{Probe, measure};
use tsloom_bitmap::{NullWords, presence};
use tsloom_block::{Block, BlockLayout};
use tsloom_codec::compress::{self, CompressScratch};
use tsloom_codec::{EncodeOptions, EncodeScratch, encode, encode_times};
use tsloom_model::{Compression, DataType, Encoding, FileOffset, Limits, TimeRange, TimeRanges, Value, Values};
use tsloom_page_reader::{PageBody, PageReader, ValuePage};

#[global_allocator]
static PROBE: Probe = Probe::new();

const ROW_COUNT: usize = 1_000;

/// A compressed body and its size before compression.
struct Body {
    bytes: Vec<u8>,
    uncompressed_size: usize,
    encoding: Encoding,
    compression: Compression,
}

impl Body {
    fn new(column: &[u8], encoding: Encoding, compression: Compression) -> Self {
        let mut bytes = Vec::new();
        compress::compress(compression, column, &mut bytes, &mut CompressScratch::default()).unwrap();
        Self { bytes, uncompressed_size: column.len(), encoding, compression }
    }

    fn page(&self) -> PageBody<'_> {
        PageBody {
            bytes: &self.bytes,
            uncompressed_size: self.uncompressed_size as u64,
            compression: self.compression,
            encoding: self.encoding,
            offset: FileOffset::new(0),
        }
    }
}

fn cell(data_type: DataType, row: usize) -> Value<'static> {
    const TEXTS: [&str; 3] = ["alpha", "", "beta"];
    match data_type {
        DataType::Int32 => Value::Int32(row as i32 % 50),
        DataType::Double => Value::Double(row as f64 / 4.0),
        DataType::Boolean => Value::Boolean(row.is_multiple_of(3)),
        _ => Value::from(TEXTS[row % 3]),
    }
}

fn is_null(row: usize, every: usize) -> bool {
    every > 0 && row.is_multiple_of(every)
}

fn value_body(data_type: DataType, encoding: Encoding, compression: Compression, null_every: usize) -> Body {
    let mut words = vec![0_u64; ROW_COUNT.div_ceil(64)];
    let mut values = Values::new(data_type.physical());
    for row in 0..ROW_COUNT {
        if is_null(row, null_every) {
            words[row / 64] |= 1 << (row % 64);
        } else {
            assert!(values.push(cell(data_type, row)));
        }
    }
    let mut column = (ROW_COUNT as i32).to_be_bytes().to_vec();
    presence::append_from_nulls(Some(NullWords::new(&words, 0, ROW_COUNT)), ROW_COUNT, &mut column);
    let scratch = &mut EncodeScratch::default();
    encode(encoding, values.as_values(), data_type, EncodeOptions::default(), &mut column, scratch).unwrap();
    Body::new(&column, encoding, compression)
}

#[test]
fn the_second_page_set_allocates_nothing() {
    use {Compression as C, DataType as T, Encoding as E};
    let columns = [
        (T::Int32, E::Ts2Diff, C::Lz4, 0),
        (T::Int32, E::Plain, C::Snappy, 3),
        (T::Double, E::Gorilla, C::Uncompressed, 7),
        (T::Boolean, E::Plain, C::Lz4, 2),
        (T::String, E::Plain, C::Lz4, 5),
        (T::Text, E::Plain, C::Snappy, 0),
    ];
    let bodies: Vec<Body> = columns.iter().map(|&(t, e, c, nulls)| value_body(t, e, c, nulls)).collect();
    let times: Vec<i64> = (0..ROW_COUNT as i64).map(|row| row * 1_000).collect();
    let mut time_column = Vec::new();
    encode_times(&times, &mut time_column);
    let time = Body::new(&time_column, E::Ts2Diff, C::Lz4);

    let layout = BlockLayout::new(ROW_COUNT, columns.iter().map(|column| ("c", column.0)));
    let mut block = Block::new(&layout);
    let mut reader = PageReader::new(Limits::default());
    let mut read = |wanted: TimeRange, block: &mut Block| {
        block.clear();
        reader.open(&time.page(), ROW_COUNT as u64, TimeRange { start: 0, end: 999_000 }).unwrap();
        reader.select_times(wanted);
        let (into_times, into_columns) = block.parts_mut();
        reader.append_times(into_times);
        for ((column, body), into) in columns.iter().zip(&bodies).zip(into_columns) {
            let page = ValuePage { body: body.page(), data_type: column.0 };
            reader.append_values(Some(&page), TimeRanges::NONE, into).unwrap();
        }
    };
    read(TimeRange::ALL, &mut block);
    for (wanted, rows) in [(TimeRange::ALL, 0..1_000), (TimeRange { start: 100_500, end: 700_000 }, 101..701)] {
        let ((), counts) = measure(|| read(wanted, &mut block));
        assert_eq!(counts.requests(), 0, "{wanted:?}");
        assert_eq!(block.times(), &times[rows.clone()]);
        for (column, (data_type, .., nulls)) in block.columns().iter().zip(&columns) {
            for (at, row) in rows.clone().enumerate() {
                let expected = if is_null(row, *nulls) { Value::Null } else { cell(*data_type, row) };
                assert_eq!(column.value(at), expected, "{data_type} row {row}");
            }
        }
    }
}
