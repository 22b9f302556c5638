//! Times as text: whole milliseconds since 1970, or RFC 3339.

use std::fmt;

use clap::ValueEnum;
use jiff::Timestamp;

/// Why a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTime {
    /// It is in neither form.
    Form(TimeUnit),
    /// Its fraction of a second has more digits that count than the unit has; rounding could make two rows one.
    Finer(TimeUnit),
    /// 64 bits cannot count so many of the unit.
    TooFar,
}

impl fmt::Display for NoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(unit) => {
                write!(f, "neither whole {}s since 1970 nor RFC 3339, such as 2014-01-31T08:00:00Z", unit.name())
            }
            Self::Finer(unit) => write!(f, "finer than a {}", unit.name()),
            Self::TooFar => f.write_str("farther from 1970 than 64 bits can count"),
        }
    }
}

/// What times count. Files know milliseconds, microseconds and nanoseconds, and do not say which; seconds become milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeUnit {
    /// Seconds; the file counts milliseconds
    S,
    /// Milliseconds
    #[default]
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

impl TimeUnit {
    fn name(self) -> &'static str {
        match self {
            Self::S => "second",
            Self::Ms => "millisecond",
            Self::Us => "microsecond",
            Self::Ns => "nanosecond",
        }
    }

    /// The time that `text` names, as a file has it: an integer of this unit, or RFC 3339.
    pub(crate) fn parse(self, text: &str) -> Result<i64, NoTime> {
        let text = text.trim_ascii();
        if let Ok(time) = text.parse::<i64>() {
            return if self == Self::S { time.checked_mul(1_000).ok_or(NoTime::TooFar) } else { Ok(time) };
        }
        // jiff reads more than RFC 3339 (calendar annotations, leap seconds); a date and an offset is all we promise.
        let timestamp: Timestamp = text.parse().map_err(|_| NoTime::Form(self))?;
        let (unit, nanoseconds) = match self {
            Self::S | Self::Ms => (Self::Ms, 1_000_000),
            Self::Us => (Self::Us, 1_000),
            Self::Ns => (Self::Ns, 1),
        };
        let time = timestamp.as_nanosecond();
        if time % nanoseconds != 0 {
            return Err(NoTime::Finer(unit));
        }
        i64::try_from(time / nanoseconds).map_err(|_| NoTime::TooFar)
    }
}

/// The time that `text` names, in milliseconds.
pub(crate) fn parse(text: &str) -> Result<i64, NoTime> {
    TimeUnit::Ms.parse(text)
}

/// Appends `time` as RFC 3339 in UTC; as its integer when it is outside the years that form can say.
pub(crate) fn push_rfc3339(out: &mut Vec<u8>, time: i64) {
    let text = match Timestamp::from_millisecond(time) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => time.to_string(),
    };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<i64, NoTime>) {
        assert_eq!(parse(text), expected, "{text:?}");
    }

    #[test]
    fn integers_are_milliseconds() {
        check("1388534400000", Ok(1_388_534_400_000));
        check(" -5 ", Ok(-5));
        check("9223372036854775807", Ok(i64::MAX));
        check("9223372036854775808", Err(NoTime::Form(TimeUnit::Ms)));
        check("1.5", Err(NoTime::Form(TimeUnit::Ms)));
        check("", Err(NoTime::Form(TimeUnit::Ms)));
    }

    #[test]
    fn rfc_3339_has_an_offset() {
        check("2014-01-01T00:00:00Z", Ok(1_388_534_400_000));
        check("2014-01-01T01:00:00.250+01:00", Ok(1_388_534_400_250));
        check("2014-01-01 00:00:00Z", Ok(1_388_534_400_000));
        check("1969-12-31T23:59:59.999Z", Ok(-1));
        check("2014-01-01T00:00:00", Err(NoTime::Form(TimeUnit::Ms)));
        check("2014-01-01", Err(NoTime::Form(TimeUnit::Ms)));
        check("2014-02-30T00:00:00Z", Err(NoTime::Form(TimeUnit::Ms)));
        check("yesterday", Err(NoTime::Form(TimeUnit::Ms)));
    }

    #[test]
    fn nothing_is_rounded_away() {
        check("2014-01-01T00:00:00.0005Z", Err(NoTime::Finer(TimeUnit::Ms)));
        check("1969-12-31T23:59:59.9995Z", Err(NoTime::Finer(TimeUnit::Ms)));
        check("2014-01-01T00:00:00.000000Z", Ok(1_388_534_400_000));
    }

    #[test]
    fn a_unit_is_that_of_integers_and_of_the_file() {
        let second = "2014-01-01T00:00:00.000001500Z";
        for (unit, integer, time) in [
            (TimeUnit::S, Ok(7_000), Err(NoTime::Finer(TimeUnit::Ms))),
            (TimeUnit::Ms, Ok(7), Err(NoTime::Finer(TimeUnit::Ms))),
            (TimeUnit::Us, Ok(7), Err(NoTime::Finer(TimeUnit::Us))),
            (TimeUnit::Ns, Ok(7), Ok(1_388_534_400_000_001_500)),
        ] {
            assert_eq!((unit.parse("7"), unit.parse(second)), (integer, time), "{unit:?}");
        }
        assert_eq!(
            TimeUnit::Us.parse("2014-01-01T00:00:00.0000015Z").map_err(|error| error.to_string()),
            Err("finer than a microsecond".to_owned())
        );
        assert_eq!(TimeUnit::S.parse("9223372036854775807"), Err(NoTime::TooFar));
        assert_eq!(TimeUnit::Ns.parse("9999-01-01T00:00:00Z"), Err(NoTime::TooFar));
    }

    #[test]
    fn prints_what_it_reads() {
        let print = |time| {
            let mut out = Vec::new();
            push_rfc3339(&mut out, time);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(print(1_388_534_400_250), "2014-01-01T00:00:00.25Z");
        assert_eq!(print(i64::MAX), "9223372036854775807");
        assert_eq!(parse(&print(-62_135_596_800_001)), Ok(-62_135_596_800_001));
    }
}
