//! The encodings of one column, both ways: 1,024 values of W1, from numbers to bytes and back, into buffers that stay.

use tsloom_codec::{DecodeScratch, EncodeOptions, EncodeScratch, decode, encode};
use tsloom_encoding::bulk;
use tsloom_model::{DataType, Encoding, Values};

use crate::data::{TABLET_ROW_COUNT, values_checksum, w1_device};
use crate::registry::{Case, Result, Scenario, invalid};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("codec/plain/encode", COLUMN, |_| encoding(Encoding::Plain, int64s(1))),
    Scenario::new("codec/plain/decode", COLUMN, |_| decoding(Encoding::Plain, &int64s(1))),
    Scenario::new("codec/ts_2diff/encode", COLUMN, |_| encoding(Encoding::Ts2Diff, int64s(1))),
    Scenario::new("codec/ts_2diff/decode", COLUMN, |_| decoding(Encoding::Ts2Diff, &int64s(1))),
    Scenario::new("codec/rle/encode", COLUMN, |_| encoding(Encoding::Rle, int64s(3))),
    Scenario::new("codec/rle/decode", COLUMN, |_| decoding(Encoding::Rle, &int64s(3))),
    Scenario::new("codec/gorilla/encode", COLUMN, |_| encoding(Encoding::Gorilla, doubles())),
    Scenario::new("codec/gorilla/decode", COLUMN, |_| decoding(Encoding::Gorilla, &doubles())),
    Scenario::new("encoding/write_i64s", COLUMN, |_| Ok(write_i64s())),
    Scenario::new("encoding/read_i64s", COLUMN, |_| Ok(read_i64s())),
];

const COLUMN: &str = "column of 1,024";

/// Field `i1` (steps that differ a little) or `i3` (runs of a hundred).
fn int64s(field: usize) -> Values {
    Values::Int64(w1_device(0, TABLET_ROW_COUNT).ints[field].clone())
}

/// Field `f1`: hundredths, in no order.
fn doubles() -> Values {
    Values::Double(w1_device(0, TABLET_ROW_COUNT).doubles[1].clone())
}

fn data_type(values: &Values) -> DataType {
    match values {
        Values::Double(_) => DataType::Double,
        _ => DataType::Int64,
    }
}

fn encoding(encoding: Encoding, values: Values) -> Result<Case> {
    let (mut bytes, mut scratch) = (Vec::new(), EncodeScratch::default());
    Ok(Case::new(8 * TABLET_ROW_COUNT, move || {
        bytes.clear();
        encode(encoding, values.as_values(), data_type(&values), EncodeOptions::default(), &mut bytes, &mut scratch)?;
        Ok(bytes.len() as u64)
    }))
}

fn decoding(encoding: Encoding, values: &Values) -> Result<Case> {
    let data_type = data_type(values);
    let mut bytes = Vec::new();
    encode(encoding, values.as_values(), data_type, EncodeOptions::default(), &mut bytes, &mut EncodeScratch::default())?;
    let (mut decoded, mut scratch) = (Values::new(data_type.physical()), DecodeScratch::default());
    decode(encoding, data_type, &bytes, TABLET_ROW_COUNT, &mut decoded, &mut scratch)?;
    if values_checksum(decoded.as_values()) != values_checksum(values.as_values()) {
        return Err(invalid(format!("{encoding} gives other values back")));
    }
    Ok(Case::new(8 * TABLET_ROW_COUNT, move || {
        decoded.clear();
        decode(encoding, data_type, &bytes, TABLET_ROW_COUNT, &mut decoded, &mut scratch)?;
        Ok(decoded.len() as u64)
    }))
}

/// Big-endian, as PLAIN columns and tablets have them.
fn write_i64s() -> Case {
    let values = w1_device(0, TABLET_ROW_COUNT).ints[4].clone();
    let mut bytes = vec![0_u8; 8 * values.len()];
    Case::new(bytes.len(), move || {
        bulk::write_i64s(&mut bytes[..], &values);
        Ok(u64::from(bytes[bytes.len() - 1]))
    })
}

fn read_i64s() -> Case {
    let mut values = w1_device(0, TABLET_ROW_COUNT).ints[4].clone();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    Case::new(bytes.len(), move || {
        bulk::read_i64s(&bytes, &mut values);
        Ok(values[values.len() - 1] as u64)
    })
}
