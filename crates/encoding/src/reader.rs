//! Reading: a cursor over borrowed bytes that cannot panic and never copies.

use crate::error::{Truncated, WireError};
use crate::varint::{unzigzag32, unzigzag64};

/// A cursor over borrowed bytes. A failed read leaves it where it was.
#[derive(Clone, Debug)]
pub struct WireReader<'a> {
    rest: &'a [u8],
    at: usize,
}

macro_rules! fixed_width {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => { $(
        $(#[$doc])*
        #[inline]
        pub fn $name(&mut self) -> Result<$type, WireError> {
            Ok(<$type>::from_be_bytes(self.array()?))
        }
    )* };
}

impl<'a> WireReader<'a> {
    /// Reads `bytes` from position 0.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_base(bytes, 0)
    }

    /// Reads `bytes`, whose first byte has position `base` in something larger.
    #[inline]
    pub fn with_base(bytes: &'a [u8], base: usize) -> Self {
        Self { rest: bytes, at: base }
    }

    /// Position of the next byte, base included.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Bytes that are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// True when no byte is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// All bytes that are left, without taking them.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `size` bytes.
    #[inline]
    pub fn bytes(&mut self, size: usize) -> Result<&'a [u8], Truncated> {
        let Some((head, rest)) = self.rest.split_at_checked(size) else {
            return Err(self.truncated(size));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(size);
        Ok(head)
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Truncated> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.truncated(N));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(N);
        Ok(*head)
    }

    /// Passes over `size` bytes.
    #[inline]
    pub fn skip(&mut self, size: usize) -> Result<(), Truncated> {
        self.bytes(size).map(|_| ())
    }

    fixed_width! {
        /// Unsigned byte.
        u8: u8;
        /// Signed byte.
        i8: i8;
        /// 16-bit signed integer.
        i16: i16;
        /// 16-bit unsigned integer.
        u16: u16;
        /// 32-bit signed integer.
        i32: i32;
        /// 32-bit unsigned integer.
        u32: u32;
        /// 64-bit signed integer.
        i64: i64;
        /// 64-bit unsigned integer.
        u64: u64;
        /// 32-bit float, bits as stored.
        f32: f32;
        /// 64-bit float, bits as stored.
        f64: f64;
    }

    /// A flag: 01 is true, 00 is false, anything else an error.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, WireError> {
        match self.rest.first() {
            Some(&byte) if byte > 1 => Err(WireError::BadBool { at: self.at, byte }),
            _ => Ok(self.u8()? == 1),
        }
    }

    /// Unsigned varint of a 32-bit value.
    #[inline]
    pub fn uvar(&mut self) -> Result<u32, WireError> {
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            self.at = self.at.saturating_add(1);
            return Ok(u32::from(byte));
        }
        let start = self.clone();
        let value = self.long_varint(5)?;
        u32::try_from(value).map_err(|_| {
            *self = start;
            WireError::VarintTooLong { at: self.at }
        })
    }

    /// Zigzag varint of a 32-bit value.
    #[inline]
    pub fn svar(&mut self) -> Result<i32, WireError> {
        self.uvar().map(unzigzag32)
    }

    /// Unsigned varint of a 64-bit value.
    #[inline]
    pub fn uvar64(&mut self) -> Result<u64, WireError> {
        self.long_varint(10)
    }

    /// Zigzag varint of a 64-bit value.
    #[inline]
    pub fn svar64(&mut self) -> Result<i64, WireError> {
        self.uvar64().map(unzigzag64)
    }

    /// String with a zigzag varint length; `None` is the null string. Bytes are not checked for UTF-8.
    #[inline]
    pub fn vstr(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        self.string(Self::svar)
    }

    /// String with a four-byte length; `None` is the null string. Bytes are not checked for UTF-8.
    #[inline]
    pub fn istr(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        self.string(Self::i32)
    }

    /// [`vstr`](Self::vstr), checked for UTF-8.
    pub fn vstr_utf8(&mut self) -> Result<Option<&'a str>, WireError> {
        self.utf8(Self::vstr)
    }

    /// [`istr`](Self::istr), checked for UTF-8.
    pub fn istr_utf8(&mut self) -> Result<Option<&'a str>, WireError> {
        self.utf8(Self::istr)
    }

    /// [`vstr_utf8`](Self::vstr_utf8) where a null string is an error.
    pub fn vstr_present(&mut self) -> Result<&'a str, WireError> {
        let at = self.at;
        self.whole(|wire| wire.vstr_utf8()?.ok_or(WireError::NullString { at }))
    }

    /// [`istr_utf8`](Self::istr_utf8) where a null string is an error.
    pub fn istr_present(&mut self) -> Result<&'a str, WireError> {
        let at = self.at;
        self.whole(|wire| wire.istr_utf8()?.ok_or(WireError::NullString { at }))
    }

    /// Bytes with a four-byte length; a negative one is an error.
    #[inline]
    pub fn ibin(&mut self) -> Result<&'a [u8], WireError> {
        let at = self.at;
        self.whole(|wire| wire.istr()?.ok_or(WireError::NegativeLength { at, length: -1 }))
    }

    /// Bytes with a zigzag varint length; a negative one is an error.
    #[inline]
    pub fn vbin(&mut self) -> Result<&'a [u8], WireError> {
        let at = self.at;
        self.whole(|wire| wire.vstr()?.ok_or(WireError::NegativeLength { at, length: -1 }))
    }

    #[cold]
    fn truncated(&self, need: usize) -> Truncated {
        Truncated { need, have: self.rest.len(), at: self.at }
    }

    /// Up to `size_max` groups; the last one of ten must fit the one bit that is left of 64.
    fn long_varint(&mut self, size_max: usize) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for (index, &byte) in self.rest.iter().take(size_max).enumerate() {
            let group = u64::from(byte & 0x7f);
            let shift = 7 * index as u32;
            value |= group << shift;
            if byte < 0x80 {
                if (group << shift) >> shift != group {
                    break;
                }
                self.rest = &self.rest[index + 1..];
                self.at = self.at.saturating_add(index + 1);
                return Ok(value);
            }
        }
        if self.rest.len() < size_max && self.rest.iter().all(|byte| *byte >= 0x80) {
            return Err(self.truncated(self.rest.len() + 1).into());
        }
        Err(WireError::VarintTooLong { at: self.at })
    }

    /// Runs a read of several fields; all of it happens or none.
    #[inline]
    fn whole<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, WireError>) -> Result<T, WireError> {
        let mut wire = self.clone();
        let value = read(&mut wire)?;
        *self = wire;
        Ok(value)
    }

    #[inline]
    fn string(&mut self, length: impl FnOnce(&mut Self) -> Result<i32, WireError>) -> Result<Option<&'a [u8]>, WireError> {
        let at = self.at;
        self.whole(|wire| match length(wire)? {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(size) => Ok(Some(wire.bytes(size)?)),
                Err(_) => Err(WireError::NegativeLength { at, length: i64::from(length) }),
            },
        })
    }

    #[inline]
    fn utf8(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<&'a [u8]>, WireError>,
    ) -> Result<Option<&'a str>, WireError> {
        let at = self.at;
        self.whole(|wire| match read(wire)? {
            None => Ok(None),
            Some(bytes) => std::str::from_utf8(bytes).map(Some).map_err(|_| WireError::NotUtf8 { at }),
        })
    }
}
