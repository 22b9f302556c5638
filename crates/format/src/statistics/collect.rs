//! Collecting statistics while writing: whole pages at a time, the type decided once.

use tsloom_encoding::{ToWire, WirePut, uvar_size};
use tsloom_model::{DataType, TextRef, ValuesRef};

use super::{StatisticValues, StatisticsRef};
use crate::SeriesType;

/// Statistics that grow: of one page, and by [`merge`](Self::merge) of a chunk and of a series.
///
/// Sums are added up in four lanes a call (see [`add_values`](Self::add_values)), so they depend on what one call is
/// given: a page at a time gives the same bits whatever the batches were.
#[derive(Clone, Debug)]
pub struct Statistics {
    series_type: SeriesType,
    count: u32,
    start_time: i64,
    end_time: i64,
    values: Collected,
}

#[derive(Clone, Debug)]
enum Collected {
    Nothing,
    Boolean { first: bool, last: bool, sum: i64 },
    Int32(Numbers<i32, i64>),
    Int64(Numbers<i64, f64>),
    Float(Numbers<f32, f64>),
    Double(Numbers<f64, f64>),
    // Boxed: four strings would more than double the size of every numeric statistic.
    Text(Box<Texts>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Numbers<T, S> {
    min: T,
    max: T,
    first: T,
    last: T,
    sum: S,
}

#[derive(Clone, Debug, Default)]
struct Texts {
    first: Vec<u8>,
    last: Vec<u8>,
    min: Vec<u8>,
    max: Vec<u8>,
}

impl Statistics {
    /// Statistics of no value.
    pub fn new(series_type: SeriesType) -> Self {
        let values = match series_type {
            SeriesType::Time | SeriesType::Value(DataType::Blob) => Collected::Nothing,
            SeriesType::Value(data_type) => match data_type {
                DataType::Boolean => Collected::Boolean { first: false, last: false, sum: 0 },
                DataType::Int32 | DataType::Date => Collected::Int32(Numbers::default()),
                DataType::Int64 | DataType::Timestamp => Collected::Int64(Numbers::default()),
                DataType::Float => Collected::Float(Numbers::default()),
                DataType::Double => Collected::Double(Numbers::default()),
                DataType::Text | DataType::String | DataType::Blob => Collected::Text(Box::default()),
            },
        };
        Self { series_type, count: 0, start_time: i64::MAX, end_time: i64::MIN, values }
    }

    /// What the statistics are about.
    pub fn series_type(&self) -> SeriesType {
        self.series_type
    }

    /// Values (rows of a time column) so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Time of the first value; `i64::MAX` when there is none.
    pub fn start_time(&self) -> i64 {
        self.start_time
    }

    /// Time of the last value; `i64::MIN` when there is none.
    pub fn end_time(&self) -> i64 {
        self.end_time
    }

    /// Forgets everything, keeps the memory of texts.
    pub fn clear(&mut self) {
        self.count = 0;
        self.start_time = i64::MAX;
        self.end_time = i64::MIN;
        match &mut self.values {
            Collected::Nothing => {}
            Collected::Boolean { first, last, sum } => (*first, *last, *sum) = (false, false, 0),
            Collected::Int32(numbers) => *numbers = Numbers::default(),
            Collected::Int64(numbers) => *numbers = Numbers::default(),
            Collected::Float(numbers) => *numbers = Numbers::default(),
            Collected::Double(numbers) => *numbers = Numbers::default(),
            Collected::Text(texts) => {
                for text in [&mut texts.first, &mut texts.last, &mut texts.min, &mut texts.max] {
                    text.clear();
                }
            }
        }
    }

    /// Counts the rows of a time column; times rise, also from call to call.
    pub fn add_times(&mut self, times: &[i64]) {
        if let (Some(first), Some(last)) = (times.first(), times.last()) {
            self.add_range(*first, *last, times.len());
        }
    }

    /// Adds values, none of them null, of rows that come after those added before. The first was at `first_time`, the last
    /// at `last_time`. Nothing happens when there are none.
    ///
    /// # Panics
    /// When the form of the values is not that of the series: a mistake of the calling code.
    pub fn add_values(&mut self, first_time: i64, last_time: i64, values: ValuesRef<'_>) {
        if values.is_empty() {
            return;
        }
        let is_first = self.count == 0;
        match (&mut self.values, values) {
            (Collected::Nothing, ValuesRef::Text(_)) => {}
            (Collected::Boolean { first, last, sum }, ValuesRef::Boolean(values)) => {
                if is_first {
                    *first = values[0];
                }
                *last = values[values.len() - 1];
                *sum += values.iter().filter(|value| **value).count() as i64;
            }
            (Collected::Int32(numbers), ValuesRef::Int32(values)) => {
                let sum = values.iter().map(|value| i64::from(*value)).fold(0_i64, i64::wrapping_add);
                numbers.add(is_first, values, sum, i64::wrapping_add);
            }
            (Collected::Int64(numbers), ValuesRef::Int64(values)) => {
                let sum = sum_in_lanes(values, |value| value as f64);
                numbers.add(is_first, values, sum, |sum, more| sum + more);
            }
            (Collected::Float(numbers), ValuesRef::Float(values)) => {
                let sum = sum_in_lanes(values, f64::from);
                numbers.add(is_first, values, sum, |sum, more| sum + more);
            }
            (Collected::Double(numbers), ValuesRef::Double(values)) => {
                let sum = sum_in_lanes(values, |value| value);
                numbers.add(is_first, values, sum, |sum, more| sum + more);
            }
            (Collected::Text(texts), ValuesRef::Text(values)) => {
                texts.add(is_first, self.series_type == SeriesType::Value(DataType::String), values);
            }
            (_, values) => panic!("{:?} values for statistics of {:?}", values.physical(), self.series_type),
        }
        self.add_range(first_time, last_time, values.len());
    }

    fn add_range(&mut self, first_time: i64, last_time: i64, count: usize) {
        if self.count == 0 {
            self.start_time = first_time;
        }
        self.end_time = last_time;
        self.count = self.count.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Adds the statistics of another part of the same series, of any time range: first is that of the earlier start, last
    /// that of the later end; of equal times the later merge wins.
    ///
    /// # Panics
    /// When the other is of another type: a mistake of the calling code.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.series_type, other.series_type, "statistics of one series");
        if other.count == 0 {
            return;
        }
        let is_first = self.count == 0;
        let earlier = is_first || other.start_time <= self.start_time;
        let later = is_first || other.end_time >= self.end_time;
        match (&mut self.values, &other.values) {
            (Collected::Boolean { first, last, sum }, Collected::Boolean { first: f, last: l, sum: more }) => {
                replace(first, *f, earlier);
                replace(last, *l, later);
                *sum = sum.wrapping_add(*more);
            }
            (Collected::Int32(mine), Collected::Int32(more)) => {
                mine.merge(is_first, earlier, later, more, i64::wrapping_add);
            }
            (Collected::Int64(mine), Collected::Int64(more)) => mine.merge(is_first, earlier, later, more, |a, b| a + b),
            (Collected::Float(mine), Collected::Float(more)) => mine.merge(is_first, earlier, later, more, |a, b| a + b),
            (Collected::Double(mine), Collected::Double(more)) => mine.merge(is_first, earlier, later, more, |a, b| a + b),
            (Collected::Text(mine), Collected::Text(more)) => mine.merge(is_first, earlier, later, more),
            _ => {}
        }
        self.start_time = self.start_time.min(other.start_time);
        self.end_time = self.end_time.max(other.end_time);
        self.count = self.count.saturating_add(other.count);
    }

    /// What is known about the values; the default of each type while there is none.
    pub fn values(&self) -> StatisticValues<'_> {
        match &self.values {
            Collected::Nothing => StatisticValues::None,
            Collected::Boolean { first, last, sum } => StatisticValues::Boolean { first: *first, last: *last, sum: *sum },
            Collected::Int32(Numbers { min, max, first, last, sum }) => {
                StatisticValues::Int32 { min: *min, max: *max, first: *first, last: *last, sum: *sum }
            }
            Collected::Int64(Numbers { min, max, first, last, sum }) => {
                StatisticValues::Int64 { min: *min, max: *max, first: *first, last: *last, sum: *sum }
            }
            Collected::Float(Numbers { min, max, first, last, sum }) => {
                StatisticValues::Float { min: *min, max: *max, first: *first, last: *last, sum: *sum }
            }
            Collected::Double(Numbers { min, max, first, last, sum }) => {
                StatisticValues::Double { min: *min, max: *max, first: *first, last: *last, sum: *sum }
            }
            Collected::Text(texts) => {
                let Texts { first, last, min, max } = &**texts;
                match self.series_type {
                    SeriesType::Value(DataType::String) => StatisticValues::String { first, last, min, max },
                    _ => StatisticValues::Text { first, last },
                }
            }
        }
    }
}

/// Statistics that go on from what was read.
impl From<StatisticsRef<'_>> for Statistics {
    fn from(read: StatisticsRef<'_>) -> Self {
        let mut statistics = Self::new(read.series_type());
        if read.count() == 0 {
            return statistics;
        }
        (statistics.count, statistics.start_time, statistics.end_time) = (read.count(), read.start_time(), read.end_time());
        match (&mut statistics.values, read.values()) {
            (Collected::Boolean { first, last, sum }, StatisticValues::Boolean { first: f, last: l, sum: s }) => {
                (*first, *last, *sum) = (f, l, s);
            }
            (Collected::Int32(numbers), StatisticValues::Int32 { min, max, first, last, sum }) => {
                *numbers = Numbers { min, max, first, last, sum };
            }
            (Collected::Int64(numbers), StatisticValues::Int64 { min, max, first, last, sum }) => {
                *numbers = Numbers { min, max, first, last, sum };
            }
            (Collected::Float(numbers), StatisticValues::Float { min, max, first, last, sum }) => {
                *numbers = Numbers { min, max, first, last, sum };
            }
            (Collected::Double(numbers), StatisticValues::Double { min, max, first, last, sum }) => {
                *numbers = Numbers { min, max, first, last, sum };
            }
            (Collected::Text(texts), StatisticValues::Text { first, last }) => {
                copy(&mut texts.first, first);
                copy(&mut texts.last, last);
            }
            (Collected::Text(texts), StatisticValues::String { first, last, min, max }) => {
                let parts = [(&mut texts.first, first), (&mut texts.last, last), (&mut texts.min, min), (&mut texts.max, max)];
                parts.into_iter().for_each(|(into, text)| copy(into, text));
            }
            _ => {}
        }
        statistics
    }
}

impl ToWire for Statistics {
    fn wire_size(&self) -> usize {
        uvar_size(self.count) + 16 + self.values().wire_size()
    }

    fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
        out.put_uvar(self.count);
        out.put_i64(self.start_time);
        out.put_i64(self.end_time);
        self.values().write_to(out);
    }
}

fn replace<T>(old: &mut T, new: T, when: bool) {
    if when {
        *old = new;
    }
}

impl<T: Copy + PartialOrd, S: Copy> Numbers<T, S> {
    /// `values` is not empty.
    fn add(&mut self, is_first: bool, values: &[T], sum: S, plus: impl Fn(S, S) -> S) {
        let (min, max) = min_max_in_lanes(values);
        let more = Self { min, max, first: values[0], last: values[values.len() - 1], sum };
        self.merge(is_first, is_first, true, &more, plus);
    }

    fn merge(&mut self, is_first: bool, earlier: bool, later: bool, other: &Self, plus: impl Fn(S, S) -> S) {
        if is_first {
            *self = *other;
            return;
        }
        self.min = if other.min < self.min { other.min } else { self.min };
        self.max = if other.max > self.max { other.max } else { self.max };
        replace(&mut self.first, other.first, earlier);
        replace(&mut self.last, other.last, later);
        self.sum = plus(self.sum, other.sum);
    }
}

impl Texts {
    /// `values` is not empty.
    fn add(&mut self, is_first: bool, with_bounds: bool, values: TextRef<'_>) {
        let (first, last) = (values.get(0), values.get(values.len() - 1));
        if is_first {
            copy(&mut self.first, first);
        }
        copy(&mut self.last, last);
        if with_bounds {
            let (min, max) = values.iter().fold((first, first), |(min, max), text| (min.min(text), max.max(text)));
            self.bound(is_first, min, max);
        }
    }

    fn merge(&mut self, is_first: bool, earlier: bool, later: bool, other: &Self) {
        if earlier {
            copy(&mut self.first, &other.first);
        }
        if later {
            copy(&mut self.last, &other.last);
        }
        self.bound(is_first, &other.min, &other.max);
    }

    fn bound(&mut self, is_first: bool, min: &[u8], max: &[u8]) {
        if is_first || min < self.min.as_slice() {
            copy(&mut self.min, min);
        }
        if is_first || max > self.max.as_slice() {
            copy(&mut self.max, max);
        }
    }
}

fn copy(into: &mut Vec<u8>, text: &[u8]) {
    into.clear();
    into.extend_from_slice(text);
}

/// Four additions in flight instead of one chain of them; the lanes are joined in a fixed order.
fn sum_in_lanes<T: Copy>(values: &[T], to_f64: impl Fn(T) -> f64) -> f64 {
    let (groups, rest) = values.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for group in groups {
        for (lane, value) in lanes.iter_mut().zip(group) {
            *lane += to_f64(*value);
        }
    }
    let joined = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    rest.iter().fold(joined, |sum, value| sum + to_f64(*value))
}

/// Every lane begins with the first value, so that NaN in front stays and NaN behind is passed over, as in one lane.
fn min_max_in_lanes<T: Copy + PartialOrd>(values: &[T]) -> (T, T) {
    let (groups, rest) = values.as_chunks::<4>();
    let mut min = [values[0]; 4];
    let mut max = [values[0]; 4];
    for group in groups {
        for lane in 0..4 {
            min[lane] = if group[lane] < min[lane] { group[lane] } else { min[lane] };
            max[lane] = if group[lane] > max[lane] { group[lane] } else { max[lane] };
        }
    }
    let least = |a: T, b: T| if b < a { b } else { a };
    let greatest = |a: T, b: T| if b > a { b } else { a };
    let min = min.into_iter().chain(rest.iter().copied()).fold(values[0], least);
    let max = max.into_iter().chain(rest.iter().copied()).fold(values[0], greatest);
    (min, max)
}
