//! What the times of some neighbouring rows are like; found out once and used by block and list.

/// Facts about a slice of times that is not empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeFacts {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) min: i64,
    pub(crate) max: i64,
    /// Every time is above the one before it.
    pub(crate) is_strict: bool,
    /// No time is below the one before it.
    pub(crate) is_ordered: bool,
}

impl TimeFacts {
    #[inline]
    pub(crate) fn of_one(time: i64) -> Self {
        Self { first: time, last: time, min: time, max: time, is_strict: true, is_ordered: true }
    }

    /// `None` for no times.
    #[inline]
    pub(crate) fn of(times: &[i64]) -> Option<Self> {
        let (&first, &last) = (times.first()?, times.last()?);
        if times.len() == 1 {
            return Some(Self::of_one(first));
        }
        let is_strict = rises_slowly(times) || all_pairs(times, |left, right| left < right);
        let is_ordered = is_strict || all_pairs(times, |left, right| left <= right);
        let (min, max) = if is_ordered {
            (first, last)
        } else {
            times.iter().fold((first, first), |(min, max), &time| (min.min(time), max.max(time)))
        };
        Some(Self { first, last, min, max, is_strict, is_ordered })
    }
}

/// Steps above this are not slow. So many slow steps as a block has rows stay far below 2^63.
const SLOW_STEP_MAX: u64 = 1 << 44;

/// True when every time is above the one before it by at most [`SLOW_STEP_MAX`]; false may mean anything.
///
/// It adds and ORs, where comparing 64-bit numbers takes three times as long without SSE4.2. A step from a high time to a low
/// one can wrap round to a small number, but then the last time lies below the first.
fn rises_slowly(times: &[i64]) -> bool {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return false };
    // A step of 0 becomes the largest number, as a step back does.
    let steps = times.windows(2).map(|pair| (pair[1].wrapping_sub(pair[0]) as u64).wrapping_sub(1));
    times.len() <= 1 << 16 && first < last && steps.fold(0, |all, step| all | step) < SLOW_STEP_MAX
}

/// True when `holds` for every time and the one after it. Looks at all of them: that is faster than to stop.
pub(crate) fn all_pairs(times: &[i64], holds: impl Fn(i64, i64) -> bool) -> bool {
    times.windows(2).fold(true, |all, pair| all & holds(pair[0], pair[1]))
}

/// Length of the longest prefix in which `holds` for every time and the one after it.
pub(crate) fn prefix(times: &[i64], holds: impl Fn(i64, i64) -> bool) -> usize {
    times.len().min(1 + times.windows(2).take_while(|pair| holds(pair[0], pair[1])).count())
}

#[cfg(test)]
mod tests {
    use super::TimeFacts;

    #[test]
    fn facts_are_those_of_the_definition_wherever_times_wrap() {
        let edges = [i64::MIN, i64::MIN + 1, -(1 << 44), -1, 0, 1, 2, 1 << 44, (1 << 44) + 1, i64::MAX - 1, i64::MAX];
        for number in 0..edges.len().pow(3) {
            let times = [0, 1, 2].map(|digit| edges[number / edges.len().pow(digit) % edges.len()]);
            let facts = TimeFacts::of(&times).expect("there are times");
            assert_eq!(facts.is_strict, times.is_sorted_by(|left, right| left < right), "{times:?}");
            assert_eq!(facts.is_ordered, times.is_sorted(), "{times:?}");
            assert_eq!((facts.first, facts.last), (times[0], times[2]));
            assert_eq!((Some(&facts.min), Some(&facts.max)), (times.iter().min(), times.iter().max()));
        }
        // Many steps that wrap round in the end.
        let times: Vec<i64> = (0..62_000).map(|row| i64::MAX.wrapping_sub(60_000).wrapping_add(row)).collect();
        assert!(!TimeFacts::of(&times).expect("there are times").is_strict);
        assert!(TimeFacts::of(&times[..60_000]).expect("there are times").is_strict);
    }
}
