//! Calendar days as the format stores them: the integer yyyymmdd.

use std::fmt;

/// A real day between 1000-01-01 and 9999-12-31, as the integer that a DATE column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// The first day that a DATE column can hold, and the placeholder in the slot of a null row.
    pub const MIN: Self = Self(10_000_101);

    /// From the stored integer, when it is a real day in range.
    pub fn from_yyyymmdd(stored: i32) -> Option<Self> {
        Self::from_ymd(stored / 10_000, stored.unsigned_abs() / 100 % 100, stored.unsigned_abs() % 100)
    }

    /// From year (1000..=9999), month (1..=12) and day of the month.
    pub fn from_ymd(year: i32, month: u32, day: u32) -> Option<Self> {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => return None,
        };
        ((1000..=9999).contains(&year) && (1..=days).contains(&day)).then(|| Self(year * 10_000 + (month * 100 + day) as i32))
    }

    /// From `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' || !text.is_ascii() {
            return None;
        }
        let digits = |range: std::ops::Range<usize>| {
            let part = &text[range];
            part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u32>().ok()).flatten()
        };
        Self::from_ymd(i32::try_from(digits(0..4)?).ok()?, digits(5..7)?, digits(8..10)?)
    }

    /// The integer yyyymmdd.
    pub const fn yyyymmdd(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0 / 10_000, self.0 / 100 % 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_days_are_dates() {
        assert_eq!(Date::from_yyyymmdd(20_240_229).unwrap().to_string(), "2024-02-29");
        for stored in [20_230_229, 20_240_431, 20_241_301, 20_240_100, 9_991_231, 100_000_101, 0, -20_240_101, i32::MIN, i32::MAX]
        {
            assert_eq!(Date::from_yyyymmdd(stored), None, "{stored}");
        }
        assert_eq!(Date::from_yyyymmdd(10_000_101), Some(Date::MIN));
    }

    /// The kernel that looks at whole columns has a rule of its own.
    #[test]
    fn the_kernel_of_columns_knows_the_same_days() {
        let around = (9_990_000..10_020_000).chain(20_000_000..20_050_000).chain(99_980_000..100_010_000);
        for stored in around.chain([i32::MIN, i32::MAX, -20_240_101, 0]) {
            assert_eq!(tsloom_encoding::bulk::are_dates(&[stored]), Date::from_yyyymmdd(stored).is_some(), "{stored}");
        }
    }

    #[test]
    fn text_is_strict() {
        assert_eq!(Date::parse("2024-02-29").map(Date::yyyymmdd), Some(20_240_229));
        for text in ["2024-2-29", "2024-02-30", "+024-02-01", "2024/02/01", "2024-02-1x", "2024-02-011", "２０24-1"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
