//! Device ids on the wire.
//!
//! ```text
//! version 4   uvar n, n x vstr     segment 0 is the table name (or the head of a tree path), the rest are tags;
//!                                  a null segment is the vstr length -1; n = 0 stands for one empty segment
//! version 3   vstr                 the whole tree path, nodes joined by '.'
//! ```
//!
//! A version 3 path becomes segments by the rule of the tree model: see [`path_segments`]. Trailing null segments are
//! written by C++ and dropped by Java; here they are never seen.

use std::cmp::Ordering;
use std::fmt;

use tsloom_encoding::{ToWire, WireError, WirePut, WireReader, uvar_size, vstr_size};
use tsloom_model::{DeviceId, PathSegments, path_segments};

/// A borrowed device id. Its strings were checked for UTF-8 when it was read.
#[derive(Clone, Copy)]
pub struct DeviceKey<'a>(Form<'a>);

#[derive(Clone, Copy)]
enum Form<'a> {
    /// `count` vstrs; the segments after them are null.
    Segments { bytes: &'a [u8], count: u32 },
    /// A tree path.
    Path(&'a str),
}

impl<'a> DeviceKey<'a> {
    /// Reads the version 4 form.
    pub fn read(wire: &mut WireReader<'a>) -> Result<Self, WireError> {
        let written = wire.uvar()?;
        let bytes = wire.rest();
        let mut count = 0;
        // Every segment takes a byte at least, so a count past the end of the bytes fails there.
        for index in 0..written {
            if wire.vstr_utf8()?.is_some() {
                count = index + 1;
            }
        }
        Ok(Self(Form::Segments { bytes: &bytes[..bytes.len() - wire.remaining()], count }))
    }

    /// Reads the version 3 form.
    pub fn read_path(wire: &mut WireReader<'a>) -> Result<Self, WireError> {
        Ok(Self::from_path(wire.vstr_present()?))
    }

    /// The device of a tree path; see [`path_segments`].
    pub fn from_path(path: &'a str) -> Self {
        Self(Form::Path(path))
    }

    /// All segments, table name first, without trailing nulls. There is at least one.
    pub fn segments(self) -> Segments<'a> {
        Segments(match self.0 {
            Form::Segments { bytes, count: 0 } => Left::Wire { wire: WireReader::new(&bytes[..0]), count: 0, empty: true },
            Form::Segments { bytes, count } => Left::Wire { wire: WireReader::new(bytes), count, empty: false },
            Form::Path(path) => Left::Path(path_segments(path)),
        })
    }

    /// The table name: segment 0.
    pub fn table(self) -> &'a str {
        self.segments().next().flatten().unwrap_or_default()
    }

    /// The value of TAG column `index`; `None` when it is null or past the last segment.
    pub fn tag(self, index: usize) -> Option<&'a str> {
        self.segments().nth(index.checked_add(1)?).flatten()
    }

    /// An id of its own.
    pub fn to_id(self) -> DeviceId {
        DeviceId::from_segments(self.segments())
    }

    /// True when both name the same device.
    pub fn is(self, id: &DeviceId) -> bool {
        self.segments().eq(id.segments())
    }

    /// The order of the file: segment by segment, bytes unsigned, null first, a prefix before the longer id.
    pub fn cmp_id(self, id: &DeviceId) -> Ordering {
        self.segments().cmp(id.segments())
    }
}

impl fmt::Debug for DeviceKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.segments()).finish()
    }
}

/// The segments of a [`DeviceKey`].
#[derive(Clone, Debug)]
pub struct Segments<'a>(Left<'a>);

#[derive(Clone, Debug)]
enum Left<'a> {
    Wire { wire: WireReader<'a>, count: u32, empty: bool },
    Path(PathSegments<'a>),
}

impl<'a> Iterator for Segments<'a> {
    type Item = Option<&'a str>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Left::Wire { empty: empty @ true, .. } => {
                *empty = false;
                Some(Some(""))
            }
            Left::Wire { wire, count, .. } => {
                *count = count.checked_sub(1)?;
                wire.vstr_utf8().ok()
            }
            Left::Path(segments) => segments.next().map(Some),
        }
    }
}

/// A device id in its version 4 form, ready to write.
#[derive(Clone, Copy, Debug)]
pub struct DeviceIdWire<'a>(pub &'a DeviceId);

impl ToWire for DeviceIdWire<'_> {
    fn wire_size(&self) -> usize {
        let segments = self.0.segments().map(|segment| vstr_size(segment.map(str::as_bytes))).sum::<usize>();
        uvar_size(self.0.segment_count() as u32) + segments
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_uvar(self.0.segment_count() as u32);
        for segment in self.0.segments() {
            out.put_vstr(segment.map(str::as_bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> Result<DeviceKey<'_>, WireError> {
        DeviceKey::read(&mut WireReader::new(bytes))
    }

    #[test]
    fn reads_what_it_writes() {
        for id in [
            DeviceId::new("t1", [Some("d1")]),
            DeviceId::new("t", [None, Some(""), Some("é")]),
            DeviceId::new("t", []),
            DeviceId::from_segments([]),
        ] {
            let bytes = DeviceIdWire(&id).to_vec();
            let key = key(&bytes).unwrap();
            assert_eq!(key.to_id(), id);
            assert!(key.is(&id) && key.cmp_id(&id).is_eq());
        }
        assert_eq!(DeviceIdWire(&DeviceId::new("t1", [Some("d1")])).to_vec(), *b"\x02\x04t1\x04d1");
    }

    #[test]
    fn trailing_nulls_are_not_seen() {
        let id = DeviceId::new("t", [Some("a")]);
        assert!(key(b"\x04\x02t\x02a\x01\x01").unwrap().is(&id));
        assert_eq!(key(b"\x03\x01\x01\x01").unwrap().to_id(), DeviceId::from_segments([]));
        assert_eq!(key(b"\x00").unwrap().segments().collect::<Vec<_>>(), [Some("")]);
    }

    #[test]
    fn order_is_that_of_ids() {
        let ids = [
            DeviceId::new("t", []),
            DeviceId::new("t", [None, Some("b")]),
            DeviceId::new("t", [Some("")]),
            DeviceId::new("t", [Some("a")]),
            DeviceId::new("t", [Some("a"), None, Some("b")]),
            DeviceId::new("t", [Some("a"), Some("")]),
        ];
        for left in &ids {
            let bytes = DeviceIdWire(left).to_vec();
            for right in &ids {
                assert_eq!(key(&bytes).unwrap().cmp_id(right), left.cmp(right), "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn bad_bytes_are_errors() {
        assert!(matches!(key(b"\xff\xff\xff\xff\x0f\x02t"), Err(WireError::Truncated(_))));
        assert!(matches!(key(b"\x01\x02\xff"), Err(WireError::NotUtf8 { at: 1 })));
        assert!(matches!(key(b"\x01\x03ab"), Err(WireError::NegativeLength { at: 1, .. })));
    }
}
