//! Bench input in the engine's own types, and the checksum that all sides of a comparison must agree on.
//!
//! The numbers come from the rules in `rules.rs`; the tablet 1,024 x 10 has a column of each data type, [`typed_columns`].
//! Each input is tested against a checksum that was computed elsewhere (by a C++ program and a script), not here.

use tsloom_block::Block;
use tsloom_model::{ColumnSchema, Compression, DataType, Encoding, Result, TextValues, Values, ValuesRef};
use tsloom_tablet::Tablet;

pub use crate::rules::*;

/// Rows and columns of the typed tablet and of the page.
pub const TABLET_ROW_COUNT: usize = 1_024;

/// The columns of the tablet 1,024 x 10, one of each data type, without nulls.
pub fn typed_columns(row_count: usize) -> Vec<(ColumnSchema, Values)> {
    use DataType::{Blob, Boolean, Date, Double, Float, Int32, Int64, String, Text, Timestamp};
    let rows = || 0..row_count as i64;
    let text = |cell: &dyn Fn(i64) -> Vec<u8>| {
        let mut values = TextValues::with_capacity(row_count, 17 * row_count);
        rows().for_each(|row| values.push(&cell(row)));
        Values::Text(values)
    };
    let date = |row: i64| ((2_000 + row % 30) * 10_000 + (1 + row % 12) * 100 + 1 + row % 28) as i32;
    let columns = [
        ("s0_boolean", Boolean, Encoding::Rle, Values::Boolean(rows().map(|row| row & 1 == 0).collect())),
        ("s1_int32", Int32, Encoding::Ts2Diff, Values::Int32(rows().map(|row| 31 * row as i32).collect())),
        ("s2_int64", Int64, Encoding::Ts2Diff, Values::Int64(rows().map(|row| 1_000_003 * row).collect())),
        ("s3_float", Float, Encoding::Gorilla, Values::Float(rows().map(|row| 0.5 * row as f32).collect())),
        ("s4_double", Double, Encoding::Gorilla, Values::Double(rows().map(|row| 0.25 * row as f64).collect())),
        ("s5_text", Text, Encoding::Plain, text(&|row| format!("text-{row:011}").into_bytes())),
        ("s6_string", String, Encoding::Plain, text(&|row| format!("string-{row:010}").into_bytes())),
        ("s7_blob", Blob, Encoding::Plain, text(&|row| (0..17).map(|k| (row + k) as u8).collect())),
        ("s8_date", Date, Encoding::Ts2Diff, Values::Int32(rows().map(date).collect())),
        ("s9_timestamp", Timestamp, Encoding::Ts2Diff, Values::Int64(rows().map(|row| FIRST_TIME + row).collect())),
    ];
    let schema =
        |name, data_type, encoding| ColumnSchema::field(name, data_type).encoding(encoding).compression(Compression::Lz4);
    columns.into_iter().map(|(name, data_type, encoding, values)| (schema(name, data_type, encoding), values)).collect()
}

/// The tablet 1,024 x 10 (at 1,024 rows): 112,904 bytes on the wire.
///
/// # Errors
///
/// None is expected: each column has the type of its values.
pub fn typed_tablet(row_count: usize) -> Result<Tablet> {
    let (schemas, values): (Vec<ColumnSchema>, Vec<Values>) = typed_columns(row_count).into_iter().unzip();
    let mut tablet = Tablet::for_device("root.sg.bench", schemas);
    tablet.extend_times(&(0..row_count).map(time).collect::<Vec<_>>());
    for (column, values) in values.iter().enumerate() {
        tablet.column_mut(column).extend(values.as_values())?;
    }
    Ok(tablet)
}

/// The wrapping 64-bit sum of the bit patterns of time and all numeric cells plus the byte lengths of text cells:
/// what all sides of a comparison must agree on. Nulls count nothing.
pub fn block_checksum(block: &Block) -> u64 {
    let columns = block.columns().iter();
    let cells = columns.map(|column| match column.validity() {
        None => values_checksum(column.values().as_values()),
        Some(_) => (0..column.row_count())
            .filter(|row| !column.is_null(*row))
            .map(|row| values_checksum(column.values().as_values().slice(row, 1)))
            .fold(0, u64::wrapping_add),
    });
    cells.fold(values_checksum(ValuesRef::Int64(block.times())), u64::wrapping_add)
}

/// The checksum of one column without nulls.
pub fn values_checksum(values: ValuesRef<'_>) -> u64 {
    fn sum(patterns: impl Iterator<Item = u64>) -> u64 {
        patterns.fold(0, u64::wrapping_add)
    }
    match values {
        ValuesRef::Boolean(values) => sum(values.iter().map(|value| u64::from(*value))),
        ValuesRef::Int32(values) => sum(values.iter().map(|value| i64::from(*value) as u64)),
        ValuesRef::Int64(values) => sum(values.iter().map(|value| *value as u64)),
        ValuesRef::Float(values) => sum(values.iter().map(|value| u64::from(value.to_bits()))),
        ValuesRef::Double(values) => sum(values.iter().map(|value| value.to_bits())),
        ValuesRef::Text(text) => text.byte_count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// Published with the C++ harness for a read of all columns of W1 (R1).
    const R1_CHECKSUM: u64 = 4_908_504_965_261_380_434;
    /// `i2` and `f1` of rows 50,000 to 50,999 of each device (R2).
    const R2_CHECKSUM: u64 = 12_990_443_953_322_470_542;
    const S1_CHECKSUM: u64 = 1_021_741_157_643_000;
    const S2_CHECKSUM: u64 = 102_899_706_273_000_000;

    #[test]
    fn w1_has_the_published_checksums() {
        let (mut all, mut part) = (0_u64, 0_u64);
        for device in 0..W1_DEVICE_COUNT {
            let w1 = w1_device(device, W1_ROW_COUNT);
            let mut add = |values: ValuesRef<'_>, in_part: bool| {
                all = all.wrapping_add(values_checksum(values));
                if in_part {
                    part = part.wrapping_add(values_checksum(values.slice(50_000, 1_000)));
                }
            };
            add(ValuesRef::Int64(&w1.times), true);
            for (column, values) in w1.ints.iter().enumerate() {
                add(ValuesRef::Int64(values), column == 2);
            }
            for (column, values) in w1.doubles.iter().enumerate() {
                add(ValuesRef::Double(values), column == 1);
            }
            all = all.wrapping_add((w1.name.len() * W1_ROW_COUNT) as u64);
        }
        assert_eq!((all, part), (R1_CHECKSUM, R2_CHECKSUM));
    }

    #[test]
    fn s1_and_s2_have_the_published_checksums() {
        let checksum = |device_count: u64, column_count: usize| {
            let mut sum = 0_u64;
            for device in 0..device_count {
                for row in 0..20 {
                    let cells = (0..column_count).map(|column| s_value(device, row, column) as u64);
                    sum = cells.fold(sum, u64::wrapping_add).wrapping_add(time(row) as u64);
                    sum = sum.wrapping_add(device_name(device).len() as u64);
                }
            }
            sum
        };
        assert_eq!((checksum(30, 200), checksum(3_000, 10)), (S1_CHECKSUM, S2_CHECKSUM));
    }

    /// Computed by a script from the rule; see the data rules of the harness.
    const TYPED_TABLET_SHA_256: &str = "76690c9b3a1d201e8931508c384399d3e6353397dd827a57a3f0a50a1a7a347c";

    #[test]
    fn the_typed_tablet_has_the_published_bytes() {
        let wire = typed_tablet(TABLET_ROW_COUNT).expect("the types fit").to_bytes();
        let hash: String = Sha256::digest(&wire).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((wire.len(), hash.as_str()), (112_904, TYPED_TABLET_SHA_256));
    }

    #[test]
    fn a_block_sums_like_its_columns_without_the_nulls() {
        use tsloom_block::BlockLayout;
        use tsloom_model::Value;
        let layout = BlockLayout::new(4, [("a", DataType::Int64), ("b", DataType::Text)]);
        let mut block = Block::new(&layout);
        let rows = [(7, Value::Int64(1), Value::Text(b"xyz")), (8, Value::Null, Value::Null)];
        for (time, a, b) in rows {
            block.times_mut().push(time);
            assert!(block.column_mut(0).push(a) && block.column_mut(1).push(b));
        }
        assert_eq!(block_checksum(&block), 7 + 8 + 1 + 3);
    }
}
