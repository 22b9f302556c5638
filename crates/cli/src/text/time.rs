//! Times as text: whole milliseconds since 1970, or RFC 3339.

use std::fmt;

use jiff::Timestamp;

/// Why a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTime {
    /// It is in neither form.
    Form,
    /// Its fraction of a second has more than three digits that count; rounding could make two rows one.
    Finer,
}

impl fmt::Display for NoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "neither whole milliseconds since 1970 nor RFC 3339, such as 2014-01-31T08:00:00Z",
            Self::Finer => "finer than a millisecond",
        })
    }
}

/// The time that `text` names, in milliseconds.
pub(crate) fn parse(text: &str) -> Result<i64, NoTime> {
    let text = text.trim_ascii();
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    // jiff reads more than RFC 3339 (calendar annotations, leap seconds); a date and an offset is all we promise.
    let timestamp: Timestamp = text.parse().map_err(|_| NoTime::Form)?;
    if timestamp.subsec_nanosecond() % 1_000_000 == 0 { Ok(timestamp.as_millisecond()) } else { Err(NoTime::Finer) }
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
        check("9223372036854775808", Err(NoTime::Form));
        check("1.5", Err(NoTime::Form));
        check("", Err(NoTime::Form));
    }

    #[test]
    fn rfc_3339_has_an_offset() {
        check("2014-01-01T00:00:00Z", Ok(1_388_534_400_000));
        check("2014-01-01T01:00:00.250+01:00", Ok(1_388_534_400_250));
        check("2014-01-01 00:00:00Z", Ok(1_388_534_400_000));
        check("1969-12-31T23:59:59.999Z", Ok(-1));
        check("2014-01-01T00:00:00", Err(NoTime::Form));
        check("2014-01-01", Err(NoTime::Form));
        check("2014-02-30T00:00:00Z", Err(NoTime::Form));
        check("yesterday", Err(NoTime::Form));
    }

    #[test]
    fn nothing_is_rounded_away() {
        check("2014-01-01T00:00:00.0005Z", Err(NoTime::Finer));
        check("1969-12-31T23:59:59.9995Z", Err(NoTime::Finer));
        check("2014-01-01T00:00:00.000000Z", Ok(1_388_534_400_000));
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
