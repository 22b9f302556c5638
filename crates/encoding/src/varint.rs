//! Zigzag and the exact sizes of varints and strings.

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
#[inline]
pub const fn zigzag32(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

/// Inverse of [`zigzag32`].
#[inline]
pub const fn unzigzag32(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
#[inline]
pub const fn zigzag64(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Inverse of [`zigzag64`].
#[inline]
pub const fn unzigzag64(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Bytes of an unsigned varint, 1..=5.
#[inline]
pub const fn uvar_size(value: u32) -> usize {
    (38 - (value | 1).leading_zeros() as usize) / 7
}

/// Bytes of a zigzag varint, 1..=5.
#[inline]
pub const fn svar_size(value: i32) -> usize {
    uvar_size(zigzag32(value))
}

/// Bytes of a 64-bit unsigned varint, 1..=10.
#[inline]
pub const fn uvar64_size(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Bytes of a 64-bit zigzag varint, 1..=10.
#[inline]
pub const fn svar64_size(value: i64) -> usize {
    uvar64_size(zigzag64(value))
}

/// Bytes of a string with a zigzag varint length; a null string takes one.
#[inline]
pub const fn vstr_size(text: Option<&[u8]>) -> usize {
    match text {
        None => 1,
        Some(bytes) => svar_size(bytes.len() as i32) + bytes.len(),
    }
}

/// Bytes of a string with a four-byte length; a null string takes four.
#[inline]
pub const fn istr_size(text: Option<&[u8]>) -> usize {
    match text {
        None => 4,
        Some(bytes) => 4 + bytes.len(),
    }
}
