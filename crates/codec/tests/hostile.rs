//! Bytes that nobody meant: cut, changed, random. A decoder gives values or a typed error, never more than it was asked for.

mod support;

use support::{back, encoded, from_hex};
use tsloom_codec::{EncodeOptions, compress};
use tsloom_model::{Compression, DataType, Encoding, Error, ErrorKind, TextValues, Values};

const TWO_DECIMALS: EncodeOptions = EncodeOptions { max_point_number: Some(2) };

fn sample(data_type: DataType, length: usize) -> Values {
    let wave = |row: usize| {
        (row * row % 97) as i64 * if row.is_multiple_of(5) { -3 } else { 1 } + if row % 50 > 30 { 1 << 20 } else { 0 }
    };
    let rows = 0..length;
    match data_type {
        DataType::Boolean => Values::Boolean(rows.map(|row| row % 7 < 3).collect()),
        DataType::Int32 | DataType::Date => Values::Int32(rows.map(|row| wave(row) as i32).collect()),
        DataType::Int64 | DataType::Timestamp => Values::Int64(rows.map(|row| wave(row) << (row % 40)).collect()),
        DataType::Float => Values::Float(rows.map(|row| wave(row) as f32 / 8.0).collect()),
        DataType::Double => Values::Double(rows.map(|row| wave(row) as f64 / 100.0).collect()),
        DataType::Text | DataType::String | DataType::Blob => {
            let mut text = TextValues::default();
            rows.for_each(|row| text.push(&b"abcdefghij"[..row % 11]));
            Values::Text(text)
        }
    }
}

/// Whole columns of every encoding, small and with several blocks.
fn columns() -> Vec<(DataType, Encoding, Vec<u8>, usize)> {
    let mut columns = Vec::new();
    for &data_type in DataType::ALL {
        for &encoding in Encoding::ALL.iter().filter(|encoding| data_type.allows(**encoding)) {
            for length in [1, 5, 40, 300] {
                if let Ok(bytes) = encoded(encoding, data_type, &sample(data_type, length), TWO_DECIMALS) {
                    columns.push((data_type, encoding, bytes, length));
                }
            }
        }
    }
    // Those that are read and not written: see `golden.rs`.
    for (data_type, encoding, bytes, count) in [
        (DataType::Float, Encoding::GorillaV1, "0000c03f6033ff704100b1eb870280f5c39e84", 5),
        (DataType::Double, Encoding::GorillaV1, "000000000000f83f600ffffb8102002c7ae147ae147e00a03d70a3d70a3f3fa1", 5),
        (DataType::Int32, Encoding::Regular, "010000000117000000050000000a0000000a", 4),
        (DataType::Int64, Encoding::Regular, "01000000011700000005000000000000000a000000000000000a", 4),
    ] {
        columns.push((data_type, encoding, from_hex(bytes), count));
    }
    for encoding in Encoding::ALL {
        assert!(columns.iter().any(|(_, of, ..)| of == encoding), "no column of {encoding}");
    }
    columns
}

/// Streams that end with a mark, at which readers by count do not look.
fn ends_with_a_mark(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Gorilla | Encoding::GorillaV1 | Encoding::Chimp | Encoding::Sprintz)
}

#[track_caller]
fn is_typed(error: &Error) {
    assert!(matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Corrupt | ErrorKind::LimitExceeded), "{error}");
    assert!(error.offset().is_some() || error.kind() == ErrorKind::LimitExceeded, "an error without position: {error}");
}

#[test]
fn a_column_cut_anywhere_is_an_error_or_gives_the_count() {
    for (data_type, encoding, bytes, count) in columns() {
        for size in 0..bytes.len() {
            if let Err(error) = back(encoding, data_type, &bytes[..size], count) {
                is_typed(&error);
            } else {
                // Only these may be cut without notice.
                let marked = ends_with_a_mark(encoding) || encoding == Encoding::Camel;
                assert!(marked && size + 18 >= bytes.len(), "{data_type} {encoding}: cut at {size} of {}", bytes.len());
            }
        }
    }
}

#[test]
fn a_wrong_count_is_an_error_where_the_end_is_known() {
    for (data_type, encoding, bytes, count) in columns() {
        if ends_with_a_mark(encoding) {
            continue;
        }
        for wrong in [count + 1, count + 1000, count - 1, usize::MAX, usize::MAX / 8] {
            if wrong > 0 {
                let error = back(encoding, data_type, &bytes, wrong).err();
                is_typed(&error.unwrap_or_else(|| panic!("{data_type} {encoding}: {wrong} values of {count}")));
            }
        }
    }
}

#[test]
fn a_huge_count_asks_for_no_memory() {
    for (data_type, encoding, bytes, _) in columns() {
        for count in [1 << 40, usize::MAX / 16, usize::MAX] {
            is_typed(&back(encoding, data_type, &bytes, count).unwrap_err());
        }
    }
}

#[test]
fn changed_bytes_give_values_or_a_typed_error() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for (data_type, encoding, bytes, count) in columns() {
        for round in 0..300 {
            let mut bytes = bytes.clone();
            for _ in 0..=round % 4 {
                let at = random() as usize % bytes.len();
                bytes[at] = match random() % 4 {
                    0 => 0xff,
                    1 => bytes[at] ^ (1 << (random() % 8)),
                    _ => random() as u8,
                };
            }
            let count = if round % 5 == 0 { random() as usize % 5000 } else { count };
            if let Err(error) = back(encoding, data_type, &bytes, count) {
                is_typed(&error);
            }
        }
        for _ in 0..50 {
            let noise: Vec<u8> = (0..random() % 80).map(|_| random() as u8).collect();
            if let Err(error) = back(encoding, data_type, &noise, random() as usize % 200) {
                is_typed(&error);
            }
        }
    }
}

#[test]
fn compressed_bytes_cut_or_changed() {
    let input: Vec<u8> = (0..3000_u32).flat_map(|row| (row * row % 251).to_be_bytes()).collect();
    let mut scratch = compress::CompressScratch::default();
    let mut state = 88_172_645_463_325_252_u64;
    for &compression in Compression::ALL.iter().filter(|it| compress::is_writable(**it)) {
        let mut bytes = Vec::new();
        compress::compress(compression, &input, &mut bytes, &mut scratch).unwrap();
        let mut check = |bytes: &[u8], size: usize, cut: bool| {
            let mut out = vec![1, 2];
            match compress::decompress(compression, bytes, size, &mut out, &mut scratch) {
                Ok(()) => assert!(!cut && out.len() == size + 2, "{compression}"),
                Err(error) => {
                    is_typed(&error);
                    assert_eq!(out, [1, 2]);
                    assert!(out.capacity() <= 4 * size.min(256 * bytes.len()) + (2 << 20), "{compression}: {}", out.capacity());
                }
            }
        };
        for size in (0..bytes.len()).step_by(7) {
            check(&bytes[..size], input.len(), true);
        }
        check(&bytes, 1 << 40, true);
        for _ in 0..300 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mut bytes = bytes.clone();
            let at = state as usize % bytes.len();
            bytes[at] ^= (state >> 40) as u8 | 1;
            check(&bytes, input.len(), false);
        }
    }
}
