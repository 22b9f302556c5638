//! A line of numbers as a line of bars: `▁▂▄▇█▅▃`.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One bar a number, from the least to the greatest; a space where there is none.
pub(crate) fn line(numbers: &[Option<f64>]) -> String {
    let finite = numbers.iter().flatten().filter(|number| number.is_finite());
    let (least, greatest) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), number| (a.min(*number), b.max(*number)));
    let bar = |number: f64| {
        let share = (number / 2.0 - least / 2.0) / (greatest / 2.0 - least / 2.0);
        // Of equal numbers each is the least.
        BARS[((if share.is_finite() { share } else { 0.0 }) * (BARS.len() - 1) as f64).round() as usize]
    };
    numbers.iter().map(|number| number.filter(|number| number.is_finite()).map_or(' ', bar)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_go_from_least_to_greatest() {
        let numbers: Vec<Option<f64>> = (0..8).map(|number| Some(f64::from(number))).collect();
        assert_eq!(line(&numbers), "▁▂▃▄▅▆▇█");
        assert_eq!(line(&[Some(1.0), None, Some(f64::NAN), Some(1.0)]), "▁  ▁");
        assert_eq!(line(&[Some(f64::MIN), Some(0.0), Some(f64::MAX)]), "▁▅█");
        assert_eq!(line(&[]), "");
    }
}
