//! The rules by which the numbers of bench input are made: all arithmetic exact, so that every language gets the same bytes.
//!
//! | input | rule |
//! |---|---|
//! | W1 | 10 devices x 100,000 rows x (5 INT64 + 5 DOUBLE), [`w1_device`] |
//! | S1, S2 | few rows in many devices: value = 1,000,000 d + 1,000 r + c, [`s_value`] |
//!
//! It knows nothing of the engine: the peers in Rust compile this very file.

/// The time of row 0 in every input: 2023-11-14T22:13:20Z in milliseconds.
pub const FIRST_TIME: i64 = 1_700_000_000_000;
/// Milliseconds from row to row.
pub const TIME_STEP: i64 = 1_000;

/// Devices of W1.
pub const W1_DEVICE_COUNT: u64 = 10;
/// Rows of each device of W1.
pub const W1_ROW_COUNT: usize = 100_000;
/// Rows of a tablet of W1; the last one of a device is shorter.
pub const W1_TABLET_ROW_COUNT: usize = 1_024;

/// The finaliser of splitmix64 after adding its step.
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The random number of one cell: device, column, row.
pub const fn key(device: u64, column: u64, row: u64) -> u64 {
    mix((device << 48) | (column << 40) | row)
}

/// The time of a row.
pub const fn time(row: usize) -> i64 {
    FIRST_TIME + TIME_STEP * row as i64
}

/// The tag of a device: `d0000`, `d0001`, and so on.
pub fn device_name(device: u64) -> String {
    format!("d{device:04}")
}

/// A cell of the wide table: 64 bits that do not compress.
pub fn wide_value(column: usize, row: usize) -> i64 {
    key(0, column as u64, row as u64) as i64
}

/// The rows of one device of W1.
#[derive(Clone, Debug)]
pub struct W1Device {
    /// The tag.
    pub name: String,
    /// One time per row.
    pub times: Vec<i64>,
    /// Fields `i0` to `i4`.
    pub ints: [Vec<i64>; 5],
    /// Fields `f0` to `f4`.
    pub doubles: [Vec<f64>; 5],
}

/// The first `row_count` rows of a device of W1.
pub fn w1_device(device: u64, row_count: usize) -> W1Device {
    let rows = || 0..row_count as u64;
    W1Device {
        name: device_name(device),
        times: (0..row_count).map(time).collect(),
        ints: std::array::from_fn(|column| rows().map(|row| w1_int(device, column, row)).collect()),
        doubles: std::array::from_fn(|column| rows().map(|row| w1_double(device, column, row)).collect()),
    }
}

fn w1_int(device: u64, column: usize, row: u64) -> i64 {
    match column {
        0 => row as i64,
        1 => (10 * row + key(device, 1, row) % 10) as i64,
        2 => (key(device, 2, row) % 1_000) as i64,
        3 => (row / 100 + device) as i64,
        _ => key(device, 4, row) as i64,
    }
}

fn w1_double(device: u64, column: usize, row: u64) -> f64 {
    match column {
        // A triangle of period 2,000: 0 up to 1,000 and down again.
        0 => {
            let phase = row % 2_000;
            0.25 * phase.min(2_000 - phase) as f64
        }
        1 => 20.0 + (key(device, 6, row) % 1_001) as f64 / 100.0,
        2 => (row / 100) as f64 * 0.1,
        3 => (key(device, 8, row) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0),
        _ => device as f64 + 0.5 * row as f64,
    }
}

/// The cell of S1 (200 columns, 30 devices, 20 rows) and S2 (10 columns, 3,000 devices, 20 rows).
pub const fn s_value(device: u64, row: usize, column: usize) -> i64 {
    1_000_000 * device as i64 + 1_000 * row as i64 + column as i64
}
