//! What the same data would take in Apache IoTDB, by the formulas of its own accounting.
//!
//! Pure functions of the number of blocks, value arrays and bitmaps: no part of how this crate accounts for its memory (that
//! is [`Memtable::byte_count`](crate::Memtable::byte_count)), only for reports that compare. Constants are those of a 64-bit
//! JVM with compressed references: array header 16, reference 4, objects aligned to 8; blocks have 64 rows.
//!
//! ```
//! use tsloom_memtable::reference;
//! use tsloom_model::DataType;
//! assert_eq!(reference::full_block_bytes([DataType::Int32; 64]), 18_216);
//! assert_eq!(reference::avoided_bitmap_bytes(2_999), 155_948);
//! ```

use tsloom_model::{DataType, PhysicalType};

/// Rows of a block.
pub const BLOCK_ROWS: usize = 64;
/// Header of an array.
const ARRAY_HEADER: usize = 16;
/// A reference in a list or array.
const REFERENCE: usize = 4;
/// A bitmap of one block: wrapper and words.
pub const BITMAP_BYTES: usize = 48;
/// A place in a column's list of bitmaps.
pub const BITMAP_SLOT_BYTES: usize = 4;

/// Bytes of the values of one column in one block, without the reference to them. Text is charged by reference here, 8 bytes
/// a cell, and its bytes by [`payload_bytes`].
pub const fn value_array_bytes(data_type: DataType) -> usize {
    let width = match data_type.physical() {
        PhysicalType::Boolean => 1,
        PhysicalType::Int32 | PhysicalType::Float => 4,
        PhysicalType::Int64 | PhysicalType::Double | PhysicalType::Text => 8,
    };
    BLOCK_ROWS * width + ARRAY_HEADER
}

/// Bytes of the times of one block, and of the row indices once a list was sorted.
pub const fn block_fixed_bytes(has_indices: bool) -> usize {
    let times = 8 * BLOCK_ROWS + 2 * ARRAY_HEADER + 2 * REFERENCE;
    if has_indices { times + 4 * BLOCK_ROWS } else { times }
}

/// Bytes of a block in which every column has values and none has a null.
pub fn full_block_bytes(columns: impl IntoIterator<Item = DataType>) -> usize {
    let arrays = columns.into_iter().map(|data_type| value_array_bytes(data_type) + REFERENCE);
    block_fixed_bytes(false) + arrays.sum::<usize>()
}

/// Bytes of a list: its blocks, its value arrays (by type, how many), the lists of bitmaps and the bitmaps.
pub fn list_bytes(
    block_count: usize,
    has_indices: bool,
    arrays: impl IntoIterator<Item = (DataType, usize)>,
    bitmap_slots: usize,
    bitmaps: usize,
) -> usize {
    let arrays = arrays.into_iter().map(|(data_type, count)| count * (value_array_bytes(data_type) + REFERENCE));
    block_count * block_fixed_bytes(has_indices)
        + arrays.sum::<usize>()
        + bitmap_slots * BITMAP_SLOT_BYTES
        + bitmaps * BITMAP_BYTES
}

/// Bytes of the bitmaps that are not made for so many columns, or blocks of a column, without a value.
pub const fn avoided_bitmap_bytes(implicit_count: usize) -> usize {
    implicit_count * (BITMAP_BYTES + BITMAP_SLOT_BYTES)
}

/// Bytes of one text value of `len` bytes.
pub const fn payload_bytes(len: usize) -> usize {
    12 + (16 + len).next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_published_ones() {
        let with_reference = |data_type| value_array_bytes(data_type) + REFERENCE;
        assert_eq!(value_array_bytes(DataType::Int32), 272);
        assert_eq!([DataType::Int32, DataType::Int64, DataType::Boolean].map(with_reference), [276, 532, 84],);
        assert_eq!((block_fixed_bytes(false), block_fixed_bytes(true)), (552, 808));
        assert_eq!(full_block_bytes([DataType::Int32; 64]), 18_216);
        assert_eq!(avoided_bitmap_bytes(2_999), 155_948);
        assert_eq!(avoided_bitmap_bytes(1_024), 53_248);
        assert_eq!(payload_bytes(5), 36);
    }

    #[test]
    fn differences_are_those_of_upstreams_tests() {
        let list = |arrays, slots, bitmaps| list_bytes(3, false, [(DataType::Int32, arrays)], slots, bitmaps);
        // The first null in a column of three blocks with values.
        assert_eq!(list(3, 3, 1) - list(3, 0, 0), 3 * 4 + 48);
        // The first value of an extended column in the middle of the second of two blocks.
        let list = |arrays, slots, bitmaps| list_bytes(2, false, [(DataType::Int32, arrays)], slots, bitmaps);
        assert_eq!(list(1, 2, 1) - list(0, 0, 0), 276 + 2 * 4 + 48);
        assert_eq!(list_bytes(1, false, [(DataType::Int32, 64)], 0, 0), 18_216);
    }
}
