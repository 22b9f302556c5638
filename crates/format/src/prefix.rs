//! How a record begins, kept to recognise the next one of its kind.
//!
//! The devices of a table have the same columns, so the records of one device tell how those of the next begin. Comparing some
//! bytes with those of the record before costs a fraction of parsing them: no varint, no UTF-8, no table of codes.

use tsloom_encoding::WireReader;

/// Bytes that are kept. Longer beginnings are parsed each time.
const SIZE_MAX: usize = 32;

/// The first bytes of a record, up to 32 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Zeros behind the first `size`.
    bytes: [u8; SIZE_MAX],
    size: u8,
}

impl Prefix {
    /// Keeps these bytes; `None` when there are too many, or none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut kept = [0; SIZE_MAX];
        kept.get_mut(..bytes.len())?.copy_from_slice(bytes);
        (!bytes.is_empty()).then_some(Self { bytes: kept, size: bytes.len() as u8 })
    }

    /// Passes over these bytes, if they are the next ones.
    #[inline]
    pub fn pass(&self, wire: &mut WireReader<'_>) -> bool {
        let rest = wire.rest();
        let is_next = match rest.first_chunk::<SIZE_MAX>() {
            // No loop over a length that varies: two wide words, and what lies behind the prefix shifted out.
            Some(next) => {
                let differs = |at: usize| {
                    let word =
                        |bytes: &[u8; SIZE_MAX]| u128::from_le_bytes(*bytes[at..].first_chunk::<16>().expect("half of 32 bytes"));
                    word(next) ^ word(&self.bytes)
                };
                let size = usize::from(self.size);
                match size {
                    1..16 => differs(0) << (128 - size * 8) == 0,
                    16 => differs(0) == 0,
                    _ => differs(0) == 0 && differs(16) << (256 - size * 8) == 0,
                }
            }
            None => rest.starts_with(&self.bytes[..usize::from(self.size)]),
        };
        is_next && wire.skip(usize::from(self.size)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_what_begins_alike_and_nothing_else() {
        let bytes: Vec<u8> = (1..=80).collect();
        for size in 0..=40 {
            let prefix = Prefix::of(&bytes[..size]);
            assert_eq!(prefix.is_some(), (1..=32).contains(&size));
            let Some(prefix) = prefix else { continue };
            for left in 0..=80 {
                let mut wire = WireReader::new(&bytes[..left]);
                assert_eq!(prefix.pass(&mut wire), size <= left, "{size} of {left}");
                assert_eq!(wire.position(), if size <= left { size } else { 0 });
            }
            for changed in 0..80 {
                let mut other = bytes.clone();
                other[changed] ^= 0x80;
                for left in [32.max(size), 80, size] {
                    assert_eq!(prefix.pass(&mut WireReader::new(&other[..left])), changed >= size, "{size}, {changed}");
                }
            }
        }
    }
}
