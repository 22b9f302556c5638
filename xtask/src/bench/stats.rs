//! The middle and the spread of a few measurements.

use serde::Serialize;

/// Median, first and third quartile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Spread {
    /// Of at least one value.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        Spread { low: quantile(&sorted, 0.25), median: quantile(&sorted, 0.5), high: quantile(&sorted, 0.75) }
    }
}

/// Linear between the two nearest values.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let position = part * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    let value = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    value(below) + (value(above) - value(below)) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn quartiles_lie_between_the_values() {
        let check = |values: &[f64], low, median, high| {
            assert_eq!(Spread::of(values.iter().copied()), Spread { low, median, high });
        };
        check(&[7.0], 7.0, 7.0, 7.0);
        check(&[3.0, 1.0], 1.5, 2.0, 2.5);
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 2.0, 3.0, 4.0);
    }
}
