//! Statistics of pages, chunks and series.
//!
//! ```text
//! uvar count        values that are not null; rows for a time column
//! i64 start time    time of the first counted value
//! i64 end time      time of the last
//! BOOLEAN           bool first, last, i64 sum (of true)
//! INT32, DATE       i32 min, max, first, last, i64 sum
//! INT64, TIMESTAMP  i64 min, max, first, last, f64 sum
//! FLOAT             f32 min, max, first, last, f64 sum
//! DOUBLE            f64 min, max, first, last, f64 sum
//! TEXT              ibin first, last
//! STRING            ibin first, last, min, max     (in this order; bytes compare unsigned)
//! BLOB, time        nothing
//! ```
//!
//! With a count of 0 nothing else means anything: Java writes `i64::MAX` and `i64::MIN` as times, C++ zeros or stale
//! times of another chunk.
//!
//! NaN: every comparison with it is false, so `min` and `max` are NaN when the first value is, and pass over every later
//! one. A `min` or `max` that is NaN bounds nothing, and a column that may hold NaN must not be pruned by a test that
//! NaN passes.
//!
//! Sums differ between writers: C++ adds two lanes a batch, Java row by row, [`Statistics`] four lanes a page. Do not
//! compare them bit for bit.
//!
//! Reading gives [`StatisticsRef`], which only knows where its bytes are; a full scan asks it for the count and nothing
//! else. Writing collects a [`Statistics`].

mod collect;

pub use collect::Statistics;

use tsloom_encoding::{Truncated, WireError, WirePut, WireReader, istr_size};
use tsloom_model::{DataType, TimeRange};

use crate::SeriesType;

/// Statistics in their bytes, decoded when asked.
#[derive(Clone, Copy, Debug)]
pub struct StatisticsRef<'a> {
    series_type: SeriesType,
    count: u32,
    /// Start time, end time, values: everything after the count.
    body: &'a [u8],
}

impl<'a> StatisticsRef<'a> {
    /// Reads the count and passes over the rest, whose lengths are checked.
    #[inline]
    pub fn read(wire: &mut WireReader<'a>, series_type: SeriesType) -> Result<Self, WireError> {
        let count = wire.uvar()?;
        let rest = wire.rest();
        skip_body(wire, series_type)?;
        Ok(Self { series_type, count, body: &rest[..rest.len() - wire.remaining()] })
    }

    /// Bytes after the count; `None` when they hold texts.
    #[inline]
    pub(crate) const fn fixed_size(series_type: SeriesType) -> Option<usize> {
        let values_size = match series_type {
            SeriesType::Time | SeriesType::Value(DataType::Blob) => 0,
            SeriesType::Value(DataType::Boolean) => 10,
            SeriesType::Value(DataType::Int32 | DataType::Date | DataType::Float) => 24,
            SeriesType::Value(DataType::Int64 | DataType::Timestamp | DataType::Double) => 40,
            SeriesType::Value(DataType::Text | DataType::String) => return None,
        };
        Some(16 + values_size)
    }

    /// What the statistics are about.
    pub fn series_type(&self) -> SeriesType {
        self.series_type
    }

    /// Values that are not null; rows for a time column. With 0 nothing else means anything.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Time of the first counted value.
    pub fn start_time(&self) -> i64 {
        self.time(0)
    }

    /// Time of the last counted value.
    pub fn end_time(&self) -> i64 {
        self.time(8)
    }

    /// From the first counted value to the last; empty when there is none.
    #[inline]
    pub fn time_range(&self) -> TimeRange {
        if self.count == 0 { TimeRange::EMPTY } else { TimeRange { start: self.start_time(), end: self.end_time() } }
    }

    fn time(&self, at: usize) -> i64 {
        let bytes = self.body[at..].first_chunk().expect("read() saw two times");
        i64::from_be_bytes(*bytes)
    }

    /// What is known about the values. A flag byte other than 0 counts as true.
    pub fn values(&self) -> StatisticValues<'a> {
        if self.count == 0 {
            return StatisticValues::None;
        }
        let mut wire = WireReader::new(&self.body[16..]);
        read_values(&mut wire, self.series_type).unwrap_or(StatisticValues::None)
    }

    /// The bytes after the count, as they were read.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }
}

/// Equal when the bytes that mean something are.
impl PartialEq for StatisticsRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.series_type == other.series_type && self.count == other.count && (self.count == 0 || self.body == other.body)
    }
}

/// Passes over everything after the count.
#[inline]
fn skip_body(wire: &mut WireReader<'_>, series_type: SeriesType) -> Result<(), WireError> {
    if let Some(size) = StatisticsRef::fixed_size(series_type) {
        return wire.skip(size).map_err(|error: Truncated| error.into());
    }
    wire.skip(16)?;
    for _ in 0..if series_type == SeriesType::Value(DataType::Text) { 2 } else { 4 } {
        wire.ibin()?;
    }
    Ok(())
}

fn read_values<'a>(wire: &mut WireReader<'a>, series_type: SeriesType) -> Result<StatisticValues<'a>, WireError> {
    let SeriesType::Value(data_type) = series_type else {
        return Ok(StatisticValues::None);
    };
    Ok(match data_type {
        DataType::Boolean => StatisticValues::Boolean { first: wire.u8()? != 0, last: wire.u8()? != 0, sum: wire.i64()? },
        DataType::Int32 | DataType::Date => {
            StatisticValues::Int32 { min: wire.i32()?, max: wire.i32()?, first: wire.i32()?, last: wire.i32()?, sum: wire.i64()? }
        }
        DataType::Int64 | DataType::Timestamp => {
            StatisticValues::Int64 { min: wire.i64()?, max: wire.i64()?, first: wire.i64()?, last: wire.i64()?, sum: wire.f64()? }
        }
        DataType::Float => {
            StatisticValues::Float { min: wire.f32()?, max: wire.f32()?, first: wire.f32()?, last: wire.f32()?, sum: wire.f64()? }
        }
        DataType::Double => StatisticValues::Double {
            min: wire.f64()?,
            max: wire.f64()?,
            first: wire.f64()?,
            last: wire.f64()?,
            sum: wire.f64()?,
        },
        DataType::Text => StatisticValues::Text { first: wire.ibin()?, last: wire.ibin()? },
        DataType::String => {
            StatisticValues::String { first: wire.ibin()?, last: wire.ibin()?, min: wire.ibin()?, max: wire.ibin()? }
        }
        DataType::Blob => StatisticValues::None,
    })
}

/// What statistics say about values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "min, max, first, last and sum say it")]
pub enum StatisticValues<'a> {
    /// BLOB, a time column, or no value at all.
    None,
    /// BOOLEAN; the sum counts true.
    Boolean { first: bool, last: bool, sum: i64 },
    /// INT32, DATE
    Int32 { min: i32, max: i32, first: i32, last: i32, sum: i64 },
    /// INT64, TIMESTAMP
    Int64 { min: i64, max: i64, first: i64, last: i64, sum: f64 },
    /// FLOAT
    Float { min: f32, max: f32, first: f32, last: f32, sum: f64 },
    /// DOUBLE
    Double { min: f64, max: f64, first: f64, last: f64, sum: f64 },
    /// TEXT
    Text { first: &'a [u8], last: &'a [u8] },
    /// STRING
    String { first: &'a [u8], last: &'a [u8], min: &'a [u8], max: &'a [u8] },
}

impl StatisticValues<'_> {
    fn wire_size(self) -> usize {
        let text = |text: &[u8]| istr_size(Some(text));
        match self {
            Self::None => 0,
            Self::Boolean { .. } => 10,
            Self::Int32 { .. } | Self::Float { .. } => 24,
            Self::Int64 { .. } | Self::Double { .. } => 40,
            Self::Text { first, last } => text(first) + text(last),
            Self::String { first, last, min, max } => text(first) + text(last) + text(min) + text(max),
        }
    }

    fn write_to<B: bytes::BufMut>(self, out: &mut B) {
        match self {
            Self::None => {}
            Self::Boolean { first, last, sum } => {
                out.put_bool(first);
                out.put_bool(last);
                out.put_i64(sum);
            }
            Self::Int32 { min, max, first, last, sum } => {
                [min, max, first, last].into_iter().for_each(|value| out.put_i32(value));
                out.put_i64(sum);
            }
            Self::Int64 { min, max, first, last, sum } => {
                [min, max, first, last].into_iter().for_each(|value| out.put_i64(value));
                put_f64(out, sum);
            }
            Self::Float { min, max, first, last, sum } => {
                [min, max, first, last].into_iter().for_each(|value| put_f32(out, value));
                put_f64(out, sum);
            }
            Self::Double { min, max, first, last, sum } => {
                [min, max, first, last, sum].into_iter().for_each(|value| put_f64(out, value));
            }
            Self::Text { first, last } => [first, last].into_iter().for_each(|text| out.put_ibin(text)),
            Self::String { first, last, min, max } => {
                [first, last, min, max].into_iter().for_each(|text| out.put_ibin(text));
            }
        }
    }
}

/// NaN goes out in the one form that Java gives it.
fn put_f32(out: &mut impl bytes::BufMut, value: f32) {
    out.put_u32(if value.is_nan() { tsloom_encoding::CANONICAL_NAN_32 } else { value.to_bits() });
}

fn put_f64(out: &mut impl bytes::BufMut, value: f64) {
    out.put_u64(if value.is_nan() { tsloom_encoding::CANONICAL_NAN_64 } else { value.to_bits() });
}

#[cfg(test)]
mod tests;
