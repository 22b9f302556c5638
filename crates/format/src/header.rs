//! Headers of the body: chunk group, chunk, page, operation index range.
//!
//! ```text
//! chunk group header      00, DeviceID
//! chunk header            u8 marker, vstr measurement ("" for time), uvar data size, u8 type, u8 compression, u8 encoding
//! page header             uvar uncompressed size     0: an empty page, nothing follows
//!                         uvar compressed size
//!                         Statistics                 only in chunks of many pages
//! operation index range   04, i64 min, i64 max
//! ```
//!
//! Markers: 01/05 a plain chunk, 81/85 the time chunk and 41/45 a value chunk of an aligned device; low bits 1 = many
//! pages, 5 = at most one. The order of the last three bytes of a chunk header is type, **compression, encoding**;
//! schemas have the last two the other way round.

use tsloom_encoding::{ToWire, WirePut, WireReader, uvar_size, vstr_size};
use tsloom_model::{Compression, DataType, DeviceId, Encoding, Result};

use crate::{DeviceIdWire, DeviceKey, Prefix, StatisticsRef, corrupt, unsupported};

/// The byte that introduces a record of the body.
pub mod marker {
    /// A chunk group header.
    pub const CHUNK_GROUP: u8 = 0x00;
    /// End of the body; the metadata follows.
    pub const SEPARATOR: u8 = 0x02;
    /// An operation index range.
    pub const OPERATION_INDEX_RANGE: u8 = 0x04;
    /// Low bits of a chunk of many pages.
    pub const MANY_PAGES: u8 = 0x01;
    /// Low bits of a chunk of one page or none.
    pub const ONE_PAGE: u8 = 0x05;
    /// Bit of the time column of an aligned device.
    pub const TIME: u8 = 0x80;
    /// Bit of a value column of an aligned device.
    pub const VALUE: u8 = 0x40;
}

/// What a series holds: the times of an aligned device, or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesType {
    /// The time column of an aligned device; code 6 (VECTOR) on the wire.
    Time,
    /// Values of this type.
    Value(DataType),
}

impl SeriesType {
    const VECTOR: u8 = 6;

    /// The byte on the wire.
    pub const fn code(self) -> u8 {
        match self {
            Self::Time => Self::VECTOR,
            Self::Value(data_type) => data_type.code(),
        }
    }

    /// The type of the values; `None` for a time column.
    pub const fn data_type(self) -> Option<DataType> {
        match self {
            Self::Time => None,
            Self::Value(data_type) => Some(data_type),
        }
    }

    /// Reads the byte.
    pub fn read(wire: &mut WireReader<'_>) -> Result<Self> {
        let at = wire.position();
        match wire.u8()? {
            Self::VECTOR => Ok(Self::Time),
            code => Ok(Self::Value(read_data_type(code, at)?)),
        }
    }
}

pub(crate) fn read_data_type(code: u8, at: usize) -> Result<DataType> {
    DataType::from_code(code).ok_or_else(|| unsupported(at, format!("data type code {code} is not known")))
}

pub(crate) fn read_encoding(wire: &mut WireReader<'_>) -> Result<Encoding> {
    let at = wire.position();
    let code = wire.u8()?;
    Encoding::from_code(code).ok_or_else(|| unsupported(at, format!("encoding code {code} is not known")))
}

pub(crate) fn read_compression(wire: &mut WireReader<'_>) -> Result<Compression> {
    let at = wire.position();
    let code = wire.u8()?;
    Compression::from_code(code).ok_or_else(|| unsupported(at, format!("compression code {code} is not known")))
}

/// A chunk group header, ready to write. To read one, pass the marker and call [`DeviceKey::read`].
#[derive(Clone, Copy, Debug)]
pub struct ChunkGroupHeader<'a>(pub &'a DeviceId);

impl ChunkGroupHeader<'_> {
    /// Reads the marker and the device of a version 4 file.
    pub fn parse<'a>(wire: &mut WireReader<'a>) -> Result<DeviceKey<'a>> {
        let at = wire.position();
        match wire.u8()? {
            marker::CHUNK_GROUP => Ok(DeviceKey::read(wire)?),
            other => Err(corrupt(at, format!("marker {other:#04x} is not that of a chunk group"))),
        }
    }
}

impl ToWire for ChunkGroupHeader<'_> {
    fn wire_size(&self) -> usize {
        1 + DeviceIdWire(self.0).wire_size()
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_u8(marker::CHUNK_GROUP);
        DeviceIdWire(self.0).write_to(out);
    }
}

/// What a chunk is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// A series with times of its own.
    Plain,
    /// The times of an aligned device.
    Time,
    /// One column of an aligned device.
    Value,
}

/// A chunk header. `data_size` bytes of pages follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader<'a> {
    /// What the chunk is part of.
    pub kind: ChunkKind,
    /// True when there is one page or none: page headers carry no statistics then.
    pub one_page: bool,
    /// The column's name; empty for a time chunk.
    pub measurement: &'a str,
    /// Bytes of all pages, their headers included.
    pub data_size: u32,
    /// What the values are.
    pub series_type: SeriesType,
    /// How page bodies are compressed.
    pub compression: Compression,
    /// How page values are encoded.
    pub encoding: Encoding,
}

impl<'a> ChunkHeader<'a> {
    /// Reads a chunk header, marker included.
    pub fn parse(wire: &mut WireReader<'a>) -> Result<Self> {
        let at = wire.position();
        let byte = wire.u8()?;
        let one_page = match byte & 0x3f {
            marker::ONE_PAGE => true,
            marker::MANY_PAGES => false,
            _ => return Err(corrupt(at, format!("marker {byte:#04x} is not that of a chunk"))),
        };
        let kind = match byte & 0xc0 {
            0 => ChunkKind::Plain,
            marker::TIME => ChunkKind::Time,
            marker::VALUE => ChunkKind::Value,
            _ => return Err(corrupt(at, format!("marker {byte:#04x} is not that of a chunk"))),
        };
        let measurement = wire.vstr_present()?;
        let data_size = wire.uvar()?;
        let type_at = wire.position();
        let series_type = SeriesType::read(wire)?;
        if (kind == ChunkKind::Time) != (series_type == SeriesType::Time) {
            return Err(corrupt(type_at, format!("type code {} does not fit the marker {byte:#04x}", series_type.code())));
        }
        let compression = read_compression(wire)?;
        let encoding = read_encoding(wire)?;
        Ok(Self { kind, one_page, measurement, data_size, series_type, compression, encoding })
    }

    /// How the next header of the same column begins and ends; `None` when the name is too long to be kept.
    /// `bytes` begin with this header.
    pub fn frame(&self, bytes: &[u8]) -> Option<ChunkFrame> {
        let before = 1 + vstr_size(Some(self.measurement.as_bytes()));
        let prefix = Prefix::of(bytes.get(..before)?)?;
        let after = [self.series_type.code(), self.compression.code(), self.encoding.code()];
        Some(ChunkFrame { prefix, after })
    }

    fn marker(&self) -> u8 {
        let kind = match self.kind {
            ChunkKind::Plain => 0,
            ChunkKind::Time => marker::TIME,
            ChunkKind::Value => marker::VALUE,
        };
        kind | if self.one_page { marker::ONE_PAGE } else { marker::MANY_PAGES }
    }
}

impl ToWire for ChunkHeader<'_> {
    fn wire_size(&self) -> usize {
        1 + vstr_size(Some(self.measurement.as_bytes())) + uvar_size(self.data_size) + 3
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_u8(self.marker());
        out.put_vstr(Some(self.measurement.as_bytes()));
        out.put_uvar(self.data_size);
        out.put_slice(&[self.series_type.code(), self.compression.code(), self.encoding.code()]);
    }
}

/// A chunk header without its data size: what the headers of one column have in common from device to device.
#[derive(Clone, Copy, Debug)]
pub struct ChunkFrame {
    prefix: Prefix,
    after: [u8; 3],
}

impl ChunkFrame {
    /// Passes over a header that has this frame and gives its data size. `None` when it has another one; the reader is then
    /// where it was.
    #[inline]
    pub fn data_size(&self, wire: &mut WireReader<'_>) -> Option<u32> {
        let mut ahead = wire.clone();
        self.prefix.pass(&mut ahead).then_some(())?;
        let data_size = ahead.uvar().ok()?;
        if ahead.array::<3>().ok()? != self.after {
            return None;
        }
        *wire = ahead;
        Some(data_size)
    }
}

/// A page header. `compressed_size` bytes of page body follow it.
#[derive(Clone, Copy, Debug)]
pub struct PageHeader<'a> {
    /// Bytes of the body after decompression; 0 is the empty page, in which every row is null.
    pub uncompressed_size: u32,
    /// Bytes of the body in the file.
    pub compressed_size: u32,
    /// Present in chunks of many pages, except in empty pages.
    pub statistics: Option<StatisticsRef<'a>>,
}

impl<'a> PageHeader<'a> {
    /// Reads a page header of a chunk of this type. That the sizes fit what is left is the caller's to check.
    #[inline]
    pub fn parse(wire: &mut WireReader<'a>, series_type: SeriesType, one_page: bool) -> Result<Self> {
        let uncompressed_size = wire.uvar()?;
        if uncompressed_size == 0 {
            return Ok(Self { uncompressed_size, compressed_size: 0, statistics: None });
        }
        let compressed_size = wire.uvar()?;
        let statistics = if one_page { None } else { Some(StatisticsRef::read(wire, series_type)?) };
        Ok(Self { uncompressed_size, compressed_size, statistics })
    }
}

/// The least and greatest plan index of a flush; both 0 in files of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationIndexRange {
    /// Least index.
    pub min: i64,
    /// Greatest index.
    pub max: i64,
}

impl OperationIndexRange {
    /// Reads the record, marker included.
    pub fn parse(wire: &mut WireReader<'_>) -> Result<Self> {
        let at = wire.position();
        match wire.u8()? {
            marker::OPERATION_INDEX_RANGE => Ok(Self { min: wire.i64()?, max: wire.i64()? }),
            other => Err(corrupt(at, format!("marker {other:#04x} is not that of an operation index range"))),
        }
    }
}

impl ToWire for OperationIndexRange {
    fn wire_size(&self) -> usize {
        17
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_u8(marker::OPERATION_INDEX_RANGE);
        out.put_i64(self.min);
        out.put_i64(self.max);
    }
}

#[cfg(test)]
mod tests {
    use tsloom_model::ErrorKind;

    use super::*;

    fn check_refused(bytes: &[u8], kind: ErrorKind, message: &str) {
        let error = ChunkHeader::parse(&mut WireReader::with_base(bytes, 100)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
    }

    #[test]
    fn every_chunk_header_comes_back() {
        for kind in [ChunkKind::Plain, ChunkKind::Time, ChunkKind::Value] {
            for one_page in [true, false] {
                let header = ChunkHeader {
                    kind,
                    one_page,
                    measurement: if kind == ChunkKind::Time { "" } else { "温度" },
                    data_size: 300,
                    series_type: if kind == ChunkKind::Time { SeriesType::Time } else { SeriesType::Value(DataType::Date) },
                    compression: Compression::Zstd,
                    encoding: Encoding::Ts2Diff,
                };
                let bytes = header.to_vec();
                assert_eq!(ChunkHeader::parse(&mut WireReader::new(&bytes)).unwrap(), header);
                for size in 0..bytes.len() {
                    let error = ChunkHeader::parse(&mut WireReader::new(&bytes[..size])).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Truncated);
                }
            }
        }
    }

    #[test]
    fn what_is_no_chunk_header_is_refused_with_its_place() {
        check_refused(&[0xc5], ErrorKind::Corrupt, "offset 100: marker 0xc5 is not that of a chunk");
        check_refused(&[0x42], ErrorKind::Corrupt, "offset 100: marker 0x42 is not that of a chunk");
        check_refused(&[5, 2, b'v', 0, 7, 0, 0], ErrorKind::Unsupported, "offset 104: data type code 7 is not known");
        check_refused(&[5, 2, b'v', 0, 1, 5, 0], ErrorKind::Unsupported, "offset 105: compression code 5 is not known");
        check_refused(&[5, 2, b'v', 0, 1, 0, 15], ErrorKind::Unsupported, "offset 106: encoding code 15 is not known");
        check_refused(&[0x85, 0, 0, 1, 0, 0], ErrorKind::Corrupt, "offset 103: type code 1 does not fit the marker 0x85");
    }

    #[test]
    fn an_empty_page_is_one_byte_even_among_many() {
        let mut wire = WireReader::new(&[0, 9]);
        let header = PageHeader::parse(&mut wire, SeriesType::Value(DataType::Int32), false).unwrap();
        assert_eq!((header.compressed_size, wire.remaining()), (0, 1));
        assert!(header.statistics.is_none());
    }
}
