//! What the tests of this crate share: hexadecimal, and columns as bits so that NaN compares.
#![allow(dead_code, reason = "each test file uses its part")]

use std::cell::RefCell;

use tsloom_codec::{DecodeScratch, EncodeOptions, EncodeScratch, decode, encode};
use tsloom_model::{DataType, Encoding, Result, TextValues, Values};

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal")).collect()
}

pub(crate) fn values(cells: &[&str]) -> Values {
    let mut text = TextValues::default();
    cells.iter().for_each(|cell| text.push(cell.as_bytes()));
    Values::Text(text)
}

thread_local! {
    /// Used for every column of a test: what came before must not show.
    static SCRATCH: RefCell<EncodeScratch> = RefCell::default();
}

/// The encoded column, appended behind bytes that must stay.
pub(crate) fn encoded(encoding: Encoding, data_type: DataType, values: &Values, options: EncodeOptions) -> Result<Vec<u8>> {
    let mut out = vec![0xaa; 3];
    let result = SCRATCH.with_borrow_mut(|scratch| encode(encoding, values.as_values(), data_type, options, &mut out, scratch));
    assert_eq!(out[..3], [0xaa; 3]);
    if result.is_err() {
        assert_eq!(out.len(), 3, "an error leaves the output as it was");
    }
    result.map(|()| out.split_off(3))
}

/// The decoded column, appended behind one value that must stay.
pub(crate) fn back(encoding: Encoding, data_type: DataType, bytes: &[u8], count: usize) -> Result<Values> {
    back_with(encoding, data_type, bytes, count, &mut DecodeScratch::default())
}

pub(crate) fn back_with(
    encoding: Encoding,
    data_type: DataType,
    bytes: &[u8],
    count: usize,
    scratch: &mut DecodeScratch,
) -> Result<Values> {
    let mut out = Values::new(data_type.physical());
    out.push_defaults(1);
    let result = decode(encoding, data_type, bytes, count, &mut out, scratch);
    assert_eq!(out.len(), 1 + if result.is_ok() { count } else { 0 }, "exactly the count, or nothing");
    result.map(|()| {
        let mut tail = Values::new(data_type.physical());
        assert!(tail.extend(out.as_values().slice(1, count)));
        tail
    })
}

/// Every value as bytes, so that NaN equals itself and -0.0 differs from 0.0.
pub(crate) fn bits(values: &Values) -> Vec<Vec<u8>> {
    match values {
        Values::Boolean(values) => values.iter().map(|value| vec![u8::from(*value)]).collect(),
        Values::Int32(values) => values.iter().map(|value| value.to_be_bytes().to_vec()).collect(),
        Values::Int64(values) => values.iter().map(|value| value.to_be_bytes().to_vec()).collect(),
        Values::Float(values) => values.iter().map(|value| value.to_be_bytes().to_vec()).collect(),
        Values::Double(values) => values.iter().map(|value| value.to_be_bytes().to_vec()).collect(),
        Values::Text(text) => text.as_text().iter().map(<[u8]>::to_vec).collect(),
    }
}
