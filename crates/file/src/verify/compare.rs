//! What statistics say against what the values are.

use tsloom_format::{SeriesType, StatisticValues, Statistics, StatisticsRef};
use tsloom_model::{DataType, Encoding};

/// How far values may lie from the statistics, which are taken before values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// Values come back as they were.
    Exact,
    /// RLE and TS_2DIFF keep FLOAT and DOUBLE rounded to some decimals.
    ToDecimals,
}

impl Rounding {
    pub(super) fn of(series_type: SeriesType, encoding: Encoding) -> Self {
        let is_float = matches!(series_type, SeriesType::Value(DataType::Float | DataType::Double));
        if is_float && matches!(encoding, Encoding::Rle | Encoding::Ts2Diff) { Self::ToDecimals } else { Self::Exact }
    }

    fn slack(self, value: f64) -> f64 {
        match self {
            Self::Exact => 0.0,
            // Half a unit when there are no decimals, and the last bits of the division.
            Self::ToDecimals => 0.5 + value.abs() * f64::from(f32::EPSILON),
        }
    }
}

/// What does not agree first, if anything does not.
pub(super) fn disagreement(said: &StatisticsRef<'_>, found: &Statistics, rounding: Rounding) -> Option<String> {
    if said.count() != found.count() {
        return Some(differ("count", said.count(), found.count()));
    }
    if found.count() == 0 {
        return None;
    }
    if said.start_time() != found.start_time() {
        return Some(differ("start time", said.start_time(), found.start_time()));
    }
    if said.end_time() != found.end_time() {
        return Some(differ("end time", said.end_time(), found.end_time()));
    }
    values_differ(said.values(), found.values(), found.count(), rounding)
}

fn differ<T: std::fmt::Display>(what: &str, said: T, found: T) -> String {
    format!("the statistics have the {what} {said}, the values have {found}")
}

fn values_differ(said: StatisticValues<'_>, found: StatisticValues<'_>, count: u32, rounding: Rounding) -> Option<String> {
    use StatisticValues as V;
    match (said, found) {
        (V::None, V::None) => None,
        (V::Boolean { first, last, sum }, V::Boolean { first: f, last: l, sum: s }) => {
            exact([("first value", first, f), ("last value", last, l)]).or_else(|| exact([("sum", sum, s)]))
        }
        (V::Int32 { min, max, first, last, sum }, V::Int32 { min: a, max: b, first: f, last: l, sum: s }) => {
            exact([("minimum", min, a), ("maximum", max, b), ("first value", first, f), ("last value", last, l)])
                .or_else(|| exact([("sum", sum, s)]))
        }
        (V::Int64 { min, max, first, last, sum }, V::Int64 { min: a, max: b, first: f, last: l, sum: s }) => {
            exact([("minimum", min, a), ("maximum", max, b), ("first value", first, f), ("last value", last, l)])
                .or_else(|| sums_differ(sum, s, count, a as f64, b as f64, rounding))
        }
        (V::Float { min, max, first, last, sum }, V::Float { min: a, max: b, first: f, last: l, sum: s }) => {
            let pairs = [("minimum", min, a), ("maximum", max, b), ("first value", first, f), ("last value", last, l)];
            near(pairs.map(|(what, said, found)| (what, said.into(), found.into())), rounding)
                .or_else(|| sums_differ(sum, s, count, a.into(), b.into(), rounding))
        }
        (V::Double { min, max, first, last, sum }, V::Double { min: a, max: b, first: f, last: l, sum: s }) => {
            near([("minimum", min, a), ("maximum", max, b), ("first value", first, f), ("last value", last, l)], rounding)
                .or_else(|| sums_differ(sum, s, count, a, b, rounding))
        }
        (V::Text { first, last }, V::Text { first: f, last: l }) => texts([("first value", first, f), ("last value", last, l)]),
        (V::String { first, last, min, max }, V::String { first: f, last: l, min: a, max: b }) => {
            texts([("first value", first, f), ("last value", last, l), ("minimum", min, a), ("maximum", max, b)])
        }
        _ => Some("the statistics are of another type than the values".to_owned()),
    }
}

fn exact<T: PartialEq + std::fmt::Display, const N: usize>(pairs: [(&str, T, T); N]) -> Option<String> {
    pairs.into_iter().find(|(_, said, found)| said != found).map(|(what, said, found)| differ(what, said, found))
}

fn texts<const N: usize>(pairs: [(&str, &[u8], &[u8]); N]) -> Option<String> {
    let differs = pairs.into_iter().find(|(_, said, found)| said != found);
    differs.map(|(what, said, found)| differ(what, said.escape_ascii().to_string(), found.escape_ascii().to_string()))
}

/// NaN agrees with NaN, and zero with the other zero.
fn near<const N: usize>(pairs: [(&str, f64, f64); N], rounding: Rounding) -> Option<String> {
    let agrees = |said: f64, found: f64| {
        said == found || (said.is_nan() && found.is_nan()) || (said - found).abs() <= rounding.slack(found)
    };
    let differs = pairs.into_iter().find(|(_, said, found)| !agrees(*said, *found));
    differs.map(|(what, said, found)| differ(what, said, found))
}

/// Writers add up in different orders, so sums agree to what that can change.
fn sums_differ(said: f64, found: f64, count: u32, min: f64, max: f64, rounding: Rounding) -> Option<String> {
    let greatest = min.abs().max(max.abs());
    if !found.is_finite() || !greatest.is_finite() {
        return None;
    }
    let count = f64::from(count);
    let slack = count * (greatest * 1e-9 + rounding.slack(greatest));
    let agrees = (said - found).abs() <= slack;
    (!agrees).then(|| differ("sum", said, found))
}

#[cfg(test)]
mod tests {
    use tsloom_encoding::{ToWire, WireReader};
    use tsloom_model::ValuesRef;

    use super::*;

    fn statistics(values: &[f64]) -> Statistics {
        let mut statistics = Statistics::new(SeriesType::Value(DataType::Double));
        statistics.add_values(1, values.len() as i64, ValuesRef::Double(values));
        statistics
    }

    fn check(said: &[f64], found: &[f64], rounding: Rounding, expected: Option<&str>) {
        let found = statistics(found);
        let bytes = statistics(said).to_vec();
        let said = StatisticsRef::read(&mut WireReader::new(&bytes), SeriesType::Value(DataType::Double)).unwrap();
        assert_eq!(disagreement(&said, &found, rounding).as_deref(), expected);
    }

    #[test]
    fn equal_values_agree_whatever_they_are() {
        for values in [&[1.5, 2.5][..], &[f64::NAN, 1.0], &[1.0, f64::NAN], &[f64::INFINITY, 1.0], &[-0.0, 0.0], &[]] {
            check(values, values, Rounding::Exact, None);
        }
    }

    #[test]
    fn what_differs_is_named() {
        let exact = Rounding::Exact;
        check(&[1.0], &[1.0, 2.0], exact, Some("the statistics have the count 1, the values have 2"));
        check(&[1.0, 2.0], &[1.0, 3.0], exact, Some("the statistics have the maximum 2, the values have 3"));
        check(&[1.0, 9.0, 2.0], &[2.0, 9.0, 1.0], exact, Some("the statistics have the first value 1, the values have 2"));
        check(&[0.0, 4.0, 5.0, 1.0], &[0.0, 4.5, 5.0, 1.0], exact, Some("the statistics have the sum 10, the values have 10.5"));
        check(&[1.25, 2.25], &[1.0, 2.0], Rounding::ToDecimals, None);
        check(&[1.25, 4.25], &[1.0, 2.0], Rounding::ToDecimals, Some("the statistics have the maximum 4.25, the values have 2"));
    }
}
