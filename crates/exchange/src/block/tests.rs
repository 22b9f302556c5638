//! Payloads of blocks: golden bytes, every shape there and back, and hostile ones.

use bytes::Bytes;
use proptest::prelude::*;
use tsloom_block::{Block, BlockColumn, BlockLayout};
use tsloom_model::{DataType, ErrorKind, Value};

use super::*;
use crate::assembly::Chunks;
use crate::pool::{Buffer, BufferPool};

fn schema(types: &[DataType]) -> Vec<BlockColumn> {
    types.iter().enumerate().map(|(index, &data_type)| BlockColumn { name: format!("c{index}"), data_type }).collect()
}

fn block(types: &[DataType], rows: &[Vec<Value<'_>>]) -> Block {
    let mut block = Block::new(&BlockLayout { row_budget: rows.len(), columns: schema(types) });
    for (row, cells) in rows.iter().enumerate() {
        block.times_mut().push(row as i64 * 10);
        for (index, &cell) in cells.iter().enumerate() {
            assert!(block.column_mut(index).push(cell));
        }
    }
    block
}

/// The chunks as they would be received: each in a buffer of its own.
fn chunks(encoder: &mut BlockEncoder, block: &Block, pool: &BufferPool) -> Vec<Buffer> {
    let encoded = encoder.encode(block).unwrap();
    let buffers: Vec<Buffer> = (0..encoded.chunk_count())
        .map(|index| {
            let bytes: Vec<u8> = encoded.chunk(index).flatten().copied().collect();
            let mut buffer = pool.take(bytes.len()).unwrap();
            buffer.as_mut().copy_from_slice(&bytes);
            buffer.freeze()
        })
        .collect();
    assert_eq!(buffers.iter().map(|buffer| buffer.as_ref().len()).sum::<usize>(), encoded.encoded_len());
    buffers
}

fn rows(block: &Block) -> Vec<(i64, Vec<Value<'_>>)> {
    let cells = |row| block.columns().iter().map(|column| column.value(row)).collect();
    (0..block.row_count()).map(|row| (block.times()[row], cells(row))).collect()
}

fn assert_same(left: &Block, right: &Block) {
    assert_eq!(format!("{:?}", rows(left)), format!("{:?}", rows(right)));
}

/// Written out by hand from the layout in the head of the module.
#[test]
fn golden_payload() {
    let types = [DataType::Int32, DataType::Text, DataType::Double, DataType::Boolean];
    let cells = [
        vec![Value::Int32(1), Value::Text(b"ab"), Value::Null, Value::Boolean(true)],
        vec![Value::Null, Value::Text(b""), Value::Null, Value::Boolean(false)],
    ];
    let block = block(&types, &cells);
    let pool = BufferPool::new(1 << 20);
    let buffers = chunks(&mut BlockEncoder::new(1 << 20), &block, &pool);
    let mut expected = Vec::new();
    let mut section = |bytes: &[u8]| {
        expected.extend_from_slice(bytes);
        expected.resize(expected.len().next_multiple_of(64), 0);
    };
    let mut head = Vec::new();
    for number in [64_u32, 2, 4, 0] {
        head.extend(number.to_le_bytes());
    }
    head.extend([2, 0, 0, 0, 0, 0, 0, 0]); // c0: words
    head.extend([0, 0, 0, 0, 2, 0, 0, 0]); // c1: no null, two bytes of text
    head.extend([1, 0, 0, 0, 0, 0, 0, 0]); // c2: all null
    head.extend([0; 8]); // c3: no null
    section(&head);
    section(&[0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0]);
    section(&[1, 0, 0, 0, 0, 0, 0, 0]);
    section(&[1, 0, 0, 0, 0, 0, 0, 0]);
    section(&[0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]);
    section(b"ab");
    section(&[1, 0]);
    assert_eq!((buffers.len(), buffers[0].as_ref()), (1, expected.as_slice()));
}

#[test]
fn nothing_is_copied_that_came_in_one_chunk() {
    let types = [DataType::Int64; 4];
    let cells: Vec<_> = (0..1_000).map(|row| vec![Value::Int64(row); 4]).collect();
    let block = block(&types, &cells);
    let pool = BufferPool::new(1 << 20);
    // One column fills a chunk: the cuts fall between them.
    let buffers = chunks(&mut BlockEncoder::new(8_000), &block, &pool);
    assert_eq!(buffers.len(), 6);
    let used = pool.usage();
    let mut decoder = BlockDecoder::new(schema(&types));
    let view = decoder.decode(Chunks::new(&buffers), &pool).unwrap();
    assert_eq!(pool.usage(), used, "no buffer was taken");
    let tsloom_model::ValuesRef::Int64(values) = view.column(3).values.unwrap() else { panic!() };
    assert!(buffers[5].as_ref().as_ptr_range().contains(&values.as_ptr().cast()));
}

fn any_cell(data_type: DataType) -> BoxedStrategy<Option<Vec<u8>>> {
    let _ = data_type;
    prop_oneof![1 => Just(None), 3 => prop::collection::vec(any::<u8>(), 8..20).prop_map(Some)].boxed()
}

fn value(data_type: DataType, seed: Option<&[u8]>) -> Value<'_> {
    let Some(seed) = seed else { return Value::Null };
    let word = u64::from_le_bytes(*seed.first_chunk().unwrap());
    match data_type.physical() {
        tsloom_model::PhysicalType::Boolean => Value::Boolean(word & 1 == 1),
        tsloom_model::PhysicalType::Int32 => Value::Int32(word as i32),
        tsloom_model::PhysicalType::Int64 => Value::Int64(word as i64),
        tsloom_model::PhysicalType::Float => Value::Float(f32::from_bits(word as u32)),
        tsloom_model::PhysicalType::Double => Value::Double(f64::from_bits(word)),
        tsloom_model::PhysicalType::Text => Value::Text(&seed[..seed.len() - (word % 8) as usize]),
    }
}

const TYPES: [DataType; 6] =
    [DataType::Boolean, DataType::Int32, DataType::Int64, DataType::Float, DataType::Double, DataType::String];

proptest! {
    #[test]
    fn every_block_comes_back(
        types in prop::collection::vec(prop::sample::select(&TYPES[..]), 0..7),
        row_count in 0_usize..200,
        chunk_bytes in prop::sample::select(vec![1_usize, 64, 100, 640, 1 << 20]),
        seeds in prop::collection::vec(any_cell(DataType::Int32), 1..50),
        density in 0_usize..3,
    ) {
        let cell = |row: usize, column: usize| match (density, column % 3) {
            (0, 0) => Value::Null,
            (1, 0) => value(types[column], Some(b"0123456789abcdef")),
            _ => value(types[column], seeds[(row * 7 + column) % seeds.len()].as_deref()),
        };
        let cells: Vec<Vec<Value<'_>>> = (0..row_count).map(|row| (0..types.len()).map(|column| cell(row, column)).collect()).collect();
        let block = block(&types, &cells);
        let pool = BufferPool::new(64 << 20);
        let mut encoder = BlockEncoder::new(chunk_bytes);
        let mut decoder = BlockDecoder::new(schema(&types));
        let buffers = chunks(&mut encoder, &block, &pool);
        prop_assert!(buffers.iter().all(|buffer| buffer.as_ref().len() <= chunk_bytes.next_multiple_of(64)));
        let view = decoder.decode(Chunks::new(&buffers), &pool).unwrap();
        assert_same(&block, &view.to_block(&schema(&types)).unwrap());
        // The same payload cut anywhere else is the same block.
        let bytes: Vec<u8> = buffers.iter().flat_map(AsRef::as_ref).copied().collect();
        for cut in [0, 1, bytes.len() / 3, bytes.len() - 1] {
            let parts = [Buffer::from(Bytes::copy_from_slice(&bytes[..cut])), Bytes::copy_from_slice(&bytes[cut..]).into()];
            let view = decoder.decode(Chunks::new(&parts), &pool).unwrap();
            assert_same(&block, &view.to_block(&schema(&types)).unwrap());
        }
    }

    #[test]
    fn hostile_payloads_end_in_an_error_or_a_block(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        truncate in any::<bool>(),
    ) {
        let cells: Vec<_> = (0..70).map(|row| vec![Value::Int32(row), Value::Text(b"xyz"), if row % 2 == 0 { Value::Null } else { Value::Boolean(true) }]).collect();
        let types = [DataType::Int32, DataType::Text, DataType::Boolean];
        let pool = BufferPool::new(1 << 20);
        let buffers = chunks(&mut BlockEncoder::new(1 << 20), &block(&types, &cells), &pool);
        let mut bytes = buffers[0].as_ref().to_vec();
        for (at, byte) in flips {
            let at = at.index(if byte % 2 == 0 { 40 } else { bytes.len() });
            bytes[at] = byte;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        let parts = [Buffer::from(Bytes::from(bytes))];
        let mut decoder = BlockDecoder::new(schema(&types));
        if let Ok(view) = decoder.decode(Chunks::new(&parts), &pool) {
            prop_assert!(view.to_block(&schema(&types)).unwrap().check());
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let types = [DataType::Int64, DataType::Text];
    let cells: Vec<_> = (0..3).map(|row| vec![Value::Int64(row), Value::Text(b"abc")]).collect();
    let pool = BufferPool::new(1 << 20);
    let buffers = chunks(&mut BlockEncoder::new(1 << 20), &block(&types, &cells), &pool);
    let whole = buffers[0].as_ref();
    let mut decoder = BlockDecoder::new(schema(&types));
    for len in 0..whole.len() {
        let parts = [Buffer::from(Bytes::copy_from_slice(&whole[..len]))];
        let error = decoder.decode(Chunks::new(&parts), &pool).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Corrupt), "{len}: {error}");
    }
    let parts = [Buffer::from(Bytes::copy_from_slice(whole)), Bytes::from_static(&[0; 64]).into()];
    let error = decoder.decode(Chunks::new(&parts), &pool).unwrap_err();
    assert_eq!(error.to_string(), format!("block at offset {}: 64 bytes after the last column", whole.len()));
}
