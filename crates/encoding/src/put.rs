//! Writing: varints and strings on top of [`bytes::BufMut`], and the promise of an exact size.

use bytes::BufMut;

use crate::varint::{zigzag32, zigzag64};

/// The primitives `BufMut` lacks. Implemented for every `BufMut`; bytes already in it stay in place.
///
/// Like `BufMut` itself, a method panics when a fixed-size buffer is full: size first, see [`ToWire`].
pub trait WirePut: BufMut {
    /// One byte, 00 or 01.
    #[inline]
    fn put_bool(&mut self, value: bool) {
        self.put_u8(u8::from(value));
    }

    /// Unsigned varint, 1..=5 bytes.
    #[inline]
    fn put_uvar(&mut self, value: u32) {
        self.put_uvar64(u64::from(value));
    }

    /// Zigzag varint, 1..=5 bytes.
    #[inline]
    fn put_svar(&mut self, value: i32) {
        self.put_uvar(zigzag32(value));
    }

    /// 64-bit unsigned varint, 1..=10 bytes.
    #[inline]
    fn put_uvar64(&mut self, value: u64) {
        let mut rest = value;
        while rest >= 0x80 {
            self.put_u8(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.put_u8(rest as u8);
    }

    /// 64-bit zigzag varint, 1..=10 bytes.
    #[inline]
    fn put_svar64(&mut self, value: i64) {
        self.put_uvar64(zigzag64(value));
    }

    /// String with a zigzag varint length; `None` is the null string.
    #[inline]
    fn put_vstr(&mut self, text: Option<&[u8]>) {
        match text {
            None => self.put_svar(-1),
            Some(bytes) => self.put_vbin(bytes),
        }
    }

    /// String with a four-byte length; `None` is the null string.
    #[inline]
    fn put_istr(&mut self, text: Option<&[u8]>) {
        match text {
            None => self.put_i32(-1),
            Some(bytes) => self.put_ibin(bytes),
        }
    }

    /// Bytes with a four-byte length.
    #[inline]
    fn put_ibin(&mut self, bytes: &[u8]) {
        self.put_i32(wire_length(bytes));
        self.put_slice(bytes);
    }

    /// Bytes with a zigzag varint length.
    #[inline]
    fn put_vbin(&mut self, bytes: &[u8]) {
        self.put_svar(wire_length(bytes));
        self.put_slice(bytes);
    }
}

impl<B: BufMut + ?Sized> WirePut for B {}

/// Lengths on the wire are signed and 32 bits wide.
fn wire_length(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).expect("a string on the wire is shorter than 2 GiB")
}

/// A layout that knows its exact size before it is written.
pub trait ToWire {
    /// Exact number of bytes [`write_to`](Self::write_to) will put.
    fn wire_size(&self) -> usize;

    /// Appends the bytes at the caller's position.
    fn write_to<B: BufMut>(&self, out: &mut B);

    /// The bytes in a vector of exactly their size.
    fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.wire_size());
        self.write_to(&mut out);
        debug_assert_eq!(out.len(), self.wire_size(), "wire_size is what write_to puts");
        out
    }
}
