//! The bloom filter over series names.
//!
//! ```text
//! uvar  byte count      0: there is no filter, and nothing follows
//! bytes                 bit i is 1 << (i % 8) of byte i / 8; zero bytes at the end are cut off
//! uvar  size            bits m
//! uvar  hash count      k
//! ```
//!
//! Element: the segments of the device and the measurement, joined by '.', a null segment as `null`; for a time column
//! the measurement is empty, so the text ends with '.'. Hash `i` is the low 32 bits of MurmurHash3 x64-128 (h1 + h2 at
//! the end, seed as both) as a signed number, made positive; the bit is that modulo m.
//!
//! The two implementations disagree about names that are not ASCII: the bytes after the last whole 16 are sign-extended
//! by Java before they are mixed in, and taken as unsigned by C++ (as the standard function does). A filter written here
//! holds the bits of both, and a question is answered by both, so no reader misses a series.
//!
//! Upstream: `BloomFilter.java`, `Murmur128Hash.java`. Proof: the filters of all `fixtures/cpp` files recomputed bit for
//! bit with [`TailBytes::Unsigned`], those of `fixtures/java` with [`TailBytes::Signed`], in `tests/fixtures.rs`.

use tsloom_encoding::{ToWire, WirePut, WireReader, uvar_size};
use tsloom_model::Result;

use crate::corrupt;

const SEEDS: [u64; 8] = [5, 7, 11, 19, 31, 37, 43, 59];
const SIZE_MIN: u64 = 256;
const ERROR_RATE_MIN: f64 = 0.01;
const ERROR_RATE_MAX: f64 = 0.10;

/// How the bytes past the last whole block of 16 are widened; it matters for bytes from 0x80 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailBytes {
    /// As Java bytes.
    Signed,
    /// As C++ does, and the standard function.
    Unsigned,
}

/// A filter that says "surely not" or "maybe".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BloomFilter {
    /// May be shorter than `size` bits: what is missing is zero.
    bytes: Vec<u8>,
    size: u32,
    hash_count: u32,
}

impl BloomFilter {
    /// An empty filter for `element_count` elements, with bits and hashes as upstream chooses them.
    pub fn new(element_count: u64, error_rate: f64) -> Self {
        let error_rate = error_rate.clamp(ERROR_RATE_MIN, ERROR_RATE_MAX);
        let ln2 = std::f64::consts::LN_2;
        let size = (-(element_count as f64) * error_rate.ln() / ln2 / ln2) as u64;
        let size = size.saturating_add(1).clamp(SIZE_MIN, i32::MAX as u64) as u32;
        let hash_count = ((-error_rate.ln() / ln2) as u32 + 1).min(SEEDS.len() as u32);
        Self { bytes: vec![0; (size as usize).div_ceil(8)], size, hash_count }
    }

    /// Number of bits.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Number of hashes.
    pub fn hash_count(&self) -> u32 {
        self.hash_count
    }

    /// Adds an element for readers of either kind.
    pub fn add(&mut self, element: &[u8]) {
        self.add_as(element, TailBytes::Signed);
        if !element.is_ascii() {
            self.add_as(element, TailBytes::Unsigned);
        }
    }

    /// Adds an element for readers of one kind.
    pub fn add_as(&mut self, element: &[u8], tail_bytes: TailBytes) {
        for bit in self.bits(element, tail_bytes) {
            if let Some(byte) = self.bytes.get_mut(bit / 8) {
                *byte |= 1 << (bit % 8);
            }
        }
    }

    /// False when the element was surely not added, by a writer of either kind.
    pub fn may_contain(&self, element: &[u8]) -> bool {
        let has = |bit: usize| self.bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        self.bits(element, TailBytes::Signed).all(has)
            || (!element.is_ascii() && self.bits(element, TailBytes::Unsigned).all(has))
    }

    fn bits(&self, element: &[u8], tail_bytes: TailBytes) -> impl Iterator<Item = usize> + use<> {
        let size = self.size;
        let hashes = SEEDS.map(|seed| murmur(element, seed, tail_bytes) as i32);
        hashes.into_iter().take(self.hash_count as usize).map(move |hash| {
            let positive = if hash == i32::MIN { 0 } else { hash.unsigned_abs() };
            (positive % size) as usize
        })
    }

    /// Reads a filter, or the lack of one.
    pub fn parse(wire: &mut WireReader<'_>) -> Result<Option<Self>> {
        let byte_count = wire.uvar()? as usize;
        if byte_count == 0 {
            return Ok(None);
        }
        let bytes = wire.bytes(byte_count)?;
        let at = wire.position();
        let (size, hash_count) = (wire.uvar()?, wire.uvar()?);
        if size == 0 || hash_count == 0 || hash_count as usize > SEEDS.len() {
            return Err(corrupt(at, format!("bloom filter of {size} bits and {hash_count} hashes")));
        }
        if byte_count > (size as usize).div_ceil(8) {
            return Err(corrupt(at, format!("bloom filter of {size} bits has {byte_count} bytes")));
        }
        Ok(Some(Self { bytes: bytes.to_vec(), size, hash_count }))
    }

    /// The bytes without the zeros at the end; one is left if all are zero, since none would mean no filter.
    fn stored(&self) -> &[u8] {
        let size = self.bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        &self.bytes[..size.min(self.bytes.len())]
    }
}

impl ToWire for BloomFilter {
    fn wire_size(&self) -> usize {
        let stored = self.stored().len();
        uvar_size(stored as u32) + stored + uvar_size(self.size) + uvar_size(self.hash_count)
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        let stored = self.stored();
        out.put_uvar(stored.len() as u32);
        out.put_slice(stored);
        out.put_uvar(self.size);
        out.put_uvar(self.hash_count);
    }
}

fn murmur(bytes: &[u8], seed: u64, tail_bytes: TailBytes) -> u64 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix_k1 = |k1: u64| k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix_k2 = |k2: u64| k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);

    let (mut h1, mut h2) = (seed, seed);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let block = u128::from_le_bytes(*block);
        h1 = (h1 ^ mix_k1(block as u64)).rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ mix_k2((block >> 64) as u64)).rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }

    // A signed byte from 0x80 on also flips every bit above it.
    let widen = |byte: u8| match tail_bytes {
        TailBytes::Signed => i64::from(byte as i8) as u64,
        TailBytes::Unsigned => u64::from(byte),
    };
    let word = |part: &[u8]| part.iter().enumerate().fold(0, |word, (index, byte)| word ^ (widen(*byte) << (8 * index)));
    if tail.len() > 8 {
        h2 ^= mix_k2(word(&tail[8..]));
    }
    if !tail.is_empty() {
        h1 ^= mix_k1(word(&tail[..tail.len().min(8)]));
    }

    h1 ^= bytes.len() as u64;
    h2 ^= bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1.wrapping_add(h2)
}

fn finish(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_upstream() {
        let size = |count| BloomFilter::new(count, 0.05).size();
        assert_eq!((size(0), size(2), size(359)), (256, 256, 2239));
        assert_eq!(BloomFilter::new(1, 0.05).hash_count(), 5);
        assert_eq!(BloomFilter::new(u64::MAX, 0.05).size, i32::MAX as u32);
    }

    #[test]
    fn what_was_added_is_found_again_after_reading() {
        let mut filter = BloomFilter::new(300, 0.05);
        let names: Vec<String> = (0..300).map(|index| format!("t.d{index}.température{index}")).collect();
        names.iter().for_each(|name| filter.add(name.as_bytes()));
        let bytes = filter.to_vec();
        let read = BloomFilter::parse(&mut WireReader::new(&bytes)).unwrap().unwrap();
        assert!(names.iter().all(|name| read.may_contain(name.as_bytes())));
        for tail_bytes in [TailBytes::Signed, TailBytes::Unsigned] {
            let mut of_one_kind = BloomFilter::new(300, 0.05);
            names.iter().for_each(|name| of_one_kind.add_as(name.as_bytes(), tail_bytes));
            assert!(names.iter().all(|name| of_one_kind.may_contain(name.as_bytes())));
        }
        let wrong = (0..1000).filter(|index| read.may_contain(format!("t.x{index}.v").as_bytes())).count();
        assert!(wrong < 100, "{wrong} of 1,000 at an error rate of 0.05");
    }

    #[test]
    fn an_empty_filter_is_still_a_filter() {
        let bytes = BloomFilter::new(0, 0.05).to_vec();
        assert_eq!(bytes, [1, 0, 0x80, 2, 5]);
        assert!(!BloomFilter::parse(&mut WireReader::new(&bytes)).unwrap().unwrap().may_contain(b"t.d.v"));
        assert_eq!(BloomFilter::parse(&mut WireReader::new(&[0])).unwrap(), None);
    }

    #[test]
    fn filters_that_lie_are_refused() {
        for bytes in [&[1, 0, 0, 5][..], &[1, 0, 8, 9], &[1, 0, 8, 0], &[2, 0, 0, 8, 5], &[9, 0, 0, 8, 5]] {
            BloomFilter::parse(&mut WireReader::new(bytes)).unwrap_err();
        }
    }
}
