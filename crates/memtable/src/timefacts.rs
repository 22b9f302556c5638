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
        let is_strict = all_pairs(times, |left, right| left < right);
        let is_ordered = is_strict || all_pairs(times, |left, right| left <= right);
        let (min, max) = if is_ordered {
            (first, last)
        } else {
            times.iter().fold((first, first), |(min, max), &time| (min.min(time), max.max(time)))
        };
        Some(Self { first, last, min, max, is_strict, is_ordered })
    }
}

/// True when `holds` for every time and the one after it. Looks at all of them: that is faster than to stop.
pub(crate) fn all_pairs(times: &[i64], holds: impl Fn(i64, i64) -> bool) -> bool {
    times.windows(2).fold(true, |all, pair| all & holds(pair[0], pair[1]))
}

/// Length of the longest prefix in which `holds` for every time and the one after it.
pub(crate) fn prefix(times: &[i64], holds: impl Fn(i64, i64) -> bool) -> usize {
    times.len().min(1 + times.windows(2).take_while(|pair| holds(pair[0], pair[1])).count())
}
