//! Metadata of one series, and of its chunks.
//!
//! ```text
//! u8    bits           low six: 0 = one chunk, 1 = more; 80 time column, 40 value column of an aligned device
//! vstr  measurement    "" for a time column
//! u8    type           VECTOR for a time column
//! uvar  list size      bytes of the chunk list
//! Statistics           of all chunks together
//! list                 per chunk: i64 offset of its marker byte, then its statistics if there is more than one chunk
//! ```
//!
//! Only the low bits can be trusted: C++ never sets the others. A device is aligned when its first series has the empty
//! name and type VECTOR.

use std::ops::Range;

use tsloom_encoding::{ToWire, WirePut, WireReader, uvar_size, vstr_size};
use tsloom_model::Result;

use crate::{ChunkKind, SeriesType, Statistics, StatisticsRef, corrupt, marker};

/// Where the parts of one record lie, as positions of the reader it was parsed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesLayout {
    /// The bytes of the column's name, which are UTF-8.
    pub measurement: Range<usize>,
    /// What the series holds.
    pub series_type: SeriesType,
    /// The statistics of all chunks together.
    pub statistics: Range<usize>,
    /// The chunk list; its items are checked by [`ChunkMetas`].
    pub chunk_list: Range<usize>,
    /// True when the items of the list have statistics of their own.
    pub many_chunks: bool,
}

impl SeriesLayout {
    /// Passes over one record.
    pub fn parse(wire: &mut WireReader<'_>) -> Result<Self> {
        let many_chunks = read_many_chunks(wire)?;
        let name_size = wire.vstr_present()?.len();
        let measurement = wire.position() - name_size..wire.position();
        let series_type = SeriesType::read(wire)?;
        let list_size = read_list_size(wire, many_chunks)?;
        let statistics_at = wire.position();
        StatisticsRef::read(wire, series_type)?;
        let statistics = statistics_at..wire.position();
        wire.skip(list_size)?;
        let chunk_list = statistics.end..wire.position();
        Ok(Self { measurement, series_type, statistics, chunk_list, many_chunks })
    }
}

fn read_many_chunks(wire: &mut WireReader<'_>) -> Result<bool> {
    let at = wire.position();
    let bits = wire.u8()?;
    match bits & 0x3f {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(corrupt(at, format!("series metadata cannot begin with {bits:#04x}"))),
    }
}

fn read_list_size(wire: &mut WireReader<'_>, many_chunks: bool) -> Result<usize> {
    let at = wire.position();
    let size = wire.uvar()? as usize;
    if !many_chunks && size != 8 {
        return Err(corrupt(at, format!("the list of one chunk has {size} bytes instead of 8")));
    }
    Ok(size)
}

/// What stands in front of the statistics of a record, besides the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesHead {
    /// What the series holds.
    pub series_type: SeriesType,
    many_chunks: bool,
    list_size: usize,
}

impl SeriesHead {
    /// Reads what follows the head of a series of one chunk, when its statistics have a fixed size: the count of its values and
    /// the offset of the chunk. `None` for any other series, and for what is wrong in any way: [`SeriesMetadata::parse_body`]
    /// reads those, and says what is wrong.
    #[inline]
    pub fn only_chunk(&self, wire: &mut WireReader<'_>) -> Option<(u32, u64)> {
        if self.many_chunks {
            return None;
        }
        let mut ahead = wire.clone();
        let count = ahead.uvar().ok()?;
        let body = ahead.bytes(StatisticsRef::fixed_size(self.series_type)? + 8).ok()?;
        let offset = i64::from_be_bytes(*body.last_chunk()?);
        let offset = u64::try_from(offset).ok()?;
        *wire = ahead;
        Some((count, offset))
    }
}

/// The metadata of one series, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct SeriesMetadata<'a> {
    /// The column's name; empty for a time column.
    pub measurement: &'a str,
    /// What the series holds.
    pub series_type: SeriesType,
    /// Statistics of all chunks together.
    pub statistics: StatisticsRef<'a>,
    many_chunks: bool,
    chunk_list: &'a [u8],
    chunk_list_at: usize,
}

impl<'a> SeriesMetadata<'a> {
    /// Reads one record. The chunk list is passed over; [`chunks`](Self::chunks) reads it.
    pub fn parse(wire: &mut WireReader<'a>) -> Result<Self> {
        let (measurement, head) = Self::parse_head(wire)?;
        Self::parse_body(wire, measurement, head)
    }

    /// Reads the name and what else stands in front of the statistics. A record that begins with the very same bytes has the
    /// same head: see [`Prefix`](crate::Prefix).
    pub fn parse_head(wire: &mut WireReader<'a>) -> Result<(&'a str, SeriesHead)> {
        let many_chunks = read_many_chunks(wire)?;
        let measurement = wire.vstr_present()?;
        let series_type = SeriesType::read(wire)?;
        let list_size = read_list_size(wire, many_chunks)?;
        Ok((measurement, SeriesHead { series_type, many_chunks, list_size }))
    }

    /// Reads what follows a head.
    #[inline]
    pub fn parse_body(wire: &mut WireReader<'a>, measurement: &'a str, head: SeriesHead) -> Result<Self> {
        let SeriesHead { series_type, many_chunks, list_size } = head;
        let statistics = StatisticsRef::read(wire, series_type)?;
        let chunk_list_at = wire.position();
        let chunk_list = wire.bytes(list_size)?;
        Ok(Self { measurement, series_type, statistics, many_chunks, chunk_list, chunk_list_at })
    }

    /// True when this is the time column of an aligned device.
    pub fn is_time(&self) -> bool {
        self.series_type == SeriesType::Time && self.measurement.is_empty()
    }

    /// The chunk of a series that has only one; `None` when there are more, or when its offset is none.
    #[inline]
    pub fn only_chunk(&self) -> Option<ChunkMeta<'a>> {
        let offset = i64::from_be_bytes(self.chunk_list.try_into().ok().filter(|_| !self.many_chunks)?);
        Some(ChunkMeta { offset: u64::try_from(offset).ok()?, statistics: self.statistics })
    }

    /// The chunks, in the order of the file.
    pub fn chunks(&self) -> ChunkMetas<'a> {
        let list = WireReader::with_base(self.chunk_list, self.chunk_list_at);
        ChunkMetas::new(list, self.statistics, self.many_chunks)
    }
}

/// Where a chunk is, and what is in it.
#[derive(Clone, Copy, Debug)]
pub struct ChunkMeta<'a> {
    /// Offset of the chunk's marker byte.
    pub offset: u64,
    /// Statistics of the chunk.
    pub statistics: StatisticsRef<'a>,
}

/// The chunks of a series; ends after the first error.
#[derive(Clone, Debug)]
pub struct ChunkMetas<'a> {
    wire: WireReader<'a>,
    series_type: SeriesType,
    /// The statistics of a list of one chunk, which are those of the series.
    only: Option<StatisticsRef<'a>>,
}

impl<'a> ChunkMetas<'a> {
    /// The items of a chunk list. `statistics` are those of the series, and of the chunk if it is the only one.
    pub fn new(list: WireReader<'a>, statistics: StatisticsRef<'a>, many_chunks: bool) -> Self {
        Self { wire: list, series_type: statistics.series_type(), only: (!many_chunks).then_some(statistics) }
    }

    fn read(&mut self) -> Result<ChunkMeta<'a>> {
        let at = self.wire.position();
        let offset = self.wire.i64()?;
        let offset = u64::try_from(offset).map_err(|_| corrupt(at, format!("chunk offset {offset} is negative")))?;
        let statistics = match self.only {
            Some(statistics) => statistics,
            None => StatisticsRef::read(&mut self.wire, self.series_type)?,
        };
        Ok(ChunkMeta { offset, statistics })
    }
}

impl<'a> Iterator for ChunkMetas<'a> {
    type Item = Result<ChunkMeta<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.wire.is_empty() {
            return None;
        }
        let chunk = self.read();
        if chunk.is_err() {
            self.wire = WireReader::new(&[]);
        }
        Some(chunk)
    }
}

/// The metadata of one series, ready to write.
#[derive(Clone, Copy, Debug)]
pub struct SeriesMetadataWire<'a> {
    /// Which bits to set besides the number of chunks.
    pub kind: ChunkKind,
    /// The column's name; empty for a time column.
    pub measurement: &'a str,
    /// Statistics of all chunks together.
    pub statistics: &'a Statistics,
    /// True when the list has statistics.
    pub many_chunks: bool,
    /// The chunk list in wire form: offsets, with statistics when there is more than one.
    pub chunk_list: &'a [u8],
}

impl ToWire for SeriesMetadataWire<'_> {
    fn wire_size(&self) -> usize {
        let list_size = self.chunk_list.len();
        2 + vstr_size(Some(self.measurement.as_bytes())) + uvar_size(list_size as u32) + self.statistics.wire_size() + list_size
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        let kind = match self.kind {
            ChunkKind::Plain => 0,
            ChunkKind::Time => marker::TIME,
            ChunkKind::Value => marker::VALUE,
        };
        out.put_u8(kind | u8::from(self.many_chunks));
        out.put_vstr(Some(self.measurement.as_bytes()));
        out.put_u8(self.statistics.series_type().code());
        out.put_uvar(self.chunk_list.len() as u32);
        self.statistics.write_to(out);
        out.put_slice(self.chunk_list);
    }
}

#[cfg(test)]
mod tests {
    use tsloom_model::{DataType, ErrorKind, ValuesRef};

    use super::*;

    fn record(chunk_count: usize) -> Vec<u8> {
        let mut part = Statistics::new(SeriesType::Value(DataType::Int32));
        part.add_values(1, 2, ValuesRef::Int32(&[3, 4]));
        let mut all = Statistics::new(part.series_type());
        let mut chunk_list = Vec::new();
        for index in 0..chunk_count {
            all.merge(&part);
            chunk_list.extend_from_slice(&(100 + index as u64).to_be_bytes());
            if chunk_count > 1 {
                part.write_to(&mut chunk_list);
            }
        }
        SeriesMetadataWire {
            kind: ChunkKind::Value,
            measurement: "v",
            statistics: &all,
            many_chunks: chunk_count > 1,
            chunk_list: &chunk_list,
        }
        .to_vec()
    }

    #[test]
    fn one_chunk_has_the_statistics_of_the_series() {
        let bytes = record(1);
        assert_eq!(bytes[..5], [0x40, 2, b'v', 1, 8]);
        let series = SeriesMetadata::parse(&mut WireReader::new(&bytes)).unwrap();
        let chunks: Vec<_> = series.chunks().map(Result::unwrap).collect();
        assert_eq!((chunks.len(), chunks[0].offset), (1, 100));
        assert_eq!(chunks[0].statistics, series.statistics);
    }

    #[test]
    fn many_chunks_have_statistics_of_their_own() {
        let bytes = record(3);
        assert_eq!(bytes[0], 0x41);
        let series = SeriesMetadata::parse(&mut WireReader::new(&bytes)).unwrap();
        assert_eq!(series.statistics.count(), 6);
        let chunks: Vec<_> = series.chunks().map(|chunk| chunk.map(|c| (c.offset, c.statistics.count())).unwrap()).collect();
        assert_eq!(chunks, [(100, 2), (101, 2), (102, 2)]);
    }

    #[test]
    fn cut_short_anywhere_is_an_error() {
        for bytes in [record(1), record(2)] {
            for size in 0..bytes.len() {
                let error = SeriesMetadata::parse(&mut WireReader::new(&bytes[..size])).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Truncated);
            }
        }
    }

    #[test]
    fn a_list_that_does_not_fit_is_an_error() {
        let mut bytes = record(1);
        bytes[0] = 0x42;
        assert_eq!(SeriesMetadata::parse(&mut WireReader::new(&bytes)).unwrap_err().kind(), ErrorKind::Corrupt);

        let mut bytes = record(2); // says one chunk, lists two
        bytes[0] = 0x40;
        assert_eq!(SeriesMetadata::parse(&mut WireReader::new(&bytes)).unwrap_err().kind(), ErrorKind::Corrupt);

        let mut bytes = record(1); // offset below zero
        let end = bytes.len();
        bytes[end - 8] = 0x80;
        let series = SeriesMetadata::parse(&mut WireReader::new(&bytes)).unwrap();
        assert_eq!(series.chunks().map(|chunk| chunk.unwrap_err().kind()).collect::<Vec<_>>(), [ErrorKind::Corrupt]);
    }
}
