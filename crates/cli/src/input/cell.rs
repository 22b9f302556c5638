//! One cell of a CSV: is it null, which types hold it, and what is its value.
//!
//! Two readings of the same text, on purpose. **Strict** is for types that were found, and never changes what a cell
//! says: `007`, `+7` and integers that neither an INT64 nor a DOUBLE holds exactly are text. **Told** obeys `--type` (and
//! a table that is there) and takes whatever the type can read.

use tsloom::DataType;
use tsloom::model::{Cell, Date};

use super::record::{CellForm, RawCell};
use crate::text::time::TimeUnit;

/// Which texts mean null.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nulls {
    /// The texts of `--null`, quoted or not: whoever names a text means it.
    pub(crate) texts: Vec<String>,
}

impl Nulls {
    /// Nothing, `\N`, or a text that was told.
    pub(crate) fn covers(&self, cell: RawCell<'_>) -> bool {
        (cell.form == CellForm::Plain && (cell.text.is_empty() || cell.text == br"\N"))
            || self.texts.iter().any(|text| text.as_bytes() == cell.text)
    }
}

/// How a column reads its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The type was found; a cell must say the same in it.
    Strict,
    /// The type was told.
    Told,
    /// The table that is there has this type; read as told.
    Fixed,
}

/// The value of `cell` in a column of `data_type`, whose times are in `unit`, or `None` when it is none of this type.
pub(crate) fn parse(cell: RawCell<'_>, data_type: DataType, reading: Reading, unit: TimeUnit) -> Option<Cell> {
    let is_bytes = matches!(data_type, DataType::Text | DataType::Blob);
    if data_type == DataType::Blob || cell.form == CellForm::Hex {
        return unhex(cell.text).filter(|_| is_bytes).map(Cell::Text);
    }
    let text = std::str::from_utf8(cell.text).ok()?;
    if matches!(data_type, DataType::Text | DataType::String) {
        return Some(Cell::Text(cell.text.to_vec()));
    }
    let text = text.trim_ascii();
    match reading {
        Reading::Strict => parse_strict(text, data_type),
        Reading::Told | Reading::Fixed if data_type == DataType::Timestamp => unit.parse(text).ok().map(Cell::Int64),
        Reading::Told | Reading::Fixed => parse_told(text, data_type),
    }
}

fn parse_strict(text: &str, data_type: DataType) -> Option<Cell> {
    let holds = Fits::of(text);
    let fits = match data_type {
        DataType::Boolean => holds.boolean,
        DataType::Int64 => holds.int64,
        DataType::Double => holds.double,
        _ => false,
    };
    fits.then(|| parse_told(text, data_type)).flatten()
}

fn parse_told(text: &str, data_type: DataType) -> Option<Cell> {
    match data_type {
        DataType::Boolean => boolean(text).map(Cell::Boolean),
        DataType::Int32 => text.parse().ok().map(Cell::Int32),
        DataType::Int64 => text.parse().ok().map(Cell::Int64),
        DataType::Float => {
            let value: f32 = text.parse().ok()?;
            (value.is_finite() || !has_digits(text)).then_some(Cell::Float(value))
        }
        DataType::Double => {
            let value: f64 = text.parse().ok()?;
            (value.is_finite() || !has_digits(text)).then_some(Cell::Double(value))
        }
        DataType::Date => Date::parse(text).map(|date| Cell::Int32(date.yyyymmdd())),
        DataType::Timestamp | DataType::Text | DataType::String | DataType::Blob => None,
    }
}

/// `1e999` parses as infinity; only the word may.
fn has_digits(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") || text == "1" => Some(true),
        _ if text.eq_ignore_ascii_case("false") || text == "0" => Some(false),
        _ => None,
    }
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

/// Which of the types that are found by themselves hold a text without changing it. STRING holds every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fits {
    pub(crate) boolean: bool,
    pub(crate) int64: bool,
    pub(crate) double: bool,
}

impl Fits {
    pub(crate) const ALL: Self = Self { boolean: true, int64: true, double: true };
    pub(crate) const NONE: Self = Self { boolean: false, int64: false, double: false };

    /// What holds this text.
    pub(crate) fn of(text: &str) -> Self {
        match NumberForm::of(text) {
            Some(NumberForm::Integer) => {
                // A minus zero is a number, but no integer.
                let int64 = text.parse::<i64>().is_ok() && text != "-0";
                Self { boolean: false, int64, double: double_is_exact(text) }
            }
            Some(NumberForm::Decimal) => Self { double: text.parse::<f64>().is_ok_and(f64::is_finite), ..Self::NONE },
            None if matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") => {
                Self { boolean: true, ..Self::NONE }
            }
            None if is_special(text) || matches!(text, "nan" | "inf" | "-inf") => Self { double: true, ..Self::NONE },
            None => Self::NONE,
        }
    }

    /// What holds both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { boolean: self.boolean && other.boolean, int64: self.int64 && other.int64, double: self.double && other.double }
    }

    /// The narrowest type.
    pub(crate) fn narrowest(self) -> DataType {
        match self {
            Self { boolean: true, .. } => DataType::Boolean,
            Self { int64: true, .. } => DataType::Int64,
            Self { double: true, .. } => DataType::Double,
            _ => DataType::String,
        }
    }
}

/// The words that JSON lines have for numbers that JSON has not.
pub(crate) fn is_special(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

enum NumberForm {
    /// `-?(0|[1-9][0-9]*)`
    Integer,
    /// The same with a fraction, an exponent or both; the digits on one side of the point may be missing.
    Decimal,
}

impl NumberForm {
    fn of(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let (whole, rest) = split_digits(unsigned);
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        if rest.is_empty() {
            return (!whole.is_empty()).then_some(Self::Integer);
        }
        let (fraction, rest) = match rest.strip_prefix(b".") {
            Some(rest) => split_digits(rest),
            None => (&b""[..], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) else {
            return rest.is_empty().then_some(Self::Decimal);
        };
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        let (digits, rest) = split_digits(exponent);
        (!digits.is_empty() && rest.is_empty()).then_some(Self::Decimal)
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// True when the DOUBLE nearest to this integer is this integer.
fn double_is_exact(integer: &str) -> bool {
    const DIGITS_ALWAYS_EXACT: usize = 15;
    integer.trim_start_matches('-').len() <= DIGITS_ALWAYS_EXACT
        || integer.parse::<f64>().is_ok_and(|value| value.is_finite() && format!("{value:.0}") == integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_type(expected: DataType, texts: &[&str]) {
        for text in texts {
            assert_eq!(Fits::of(text).narrowest(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_narrowest_type_that_changes_nothing() {
        check_type(DataType::Boolean, &["true", "FALSE", "True"]);
        check_type(DataType::Int64, &["0", "-1", "42", "9223372036854775807", "-9223372036854775808"]);
        check_type(DataType::Double, &["0.5", "-0", "-0.0", "1e5", "1E-7", ".5", "5.", "NaN", "inf", "-Infinity", "1.0"]);
        check_type(DataType::String, &["007", "00.5", "-01", "+7", "1_000", "1,5", "0x10", "t", "yes", "1e", "e5", ".", "-", ""]);
    }

    #[test]
    fn an_integer_that_no_number_holds_is_text() {
        check_type(DataType::Double, &["9223372036854775808", "100000000000000000000"]);
        check_type(DataType::String, &["9223372036854775809", "18446744073709551615", "99999999999999999999", "1e999"]);
        // One such cell among decimals makes the column text, too.
        assert_eq!(Fits::of("0.5").and(Fits::of("9007199254740993")).narrowest(), DataType::String);
        assert_eq!(Fits::of("0.5").and(Fits::of("9007199254740992")).narrowest(), DataType::Double);
    }

    fn raw(text: &str) -> RawCell<'_> {
        RawCell { text: text.as_bytes(), form: CellForm::Plain }
    }

    #[test]
    fn what_is_told_is_read_as_the_type_reads_it() {
        let told = |text, data_type| parse(raw(text), data_type, Reading::Told, TimeUnit::Ms);
        assert_eq!(told("007", DataType::Int64), Some(Cell::Int64(7)));
        assert_eq!(told(" 7 ", DataType::Int32), Some(Cell::Int32(7)));
        assert_eq!(told("5.0", DataType::Int32), None);
        assert_eq!(told("0.1", DataType::Float), Some(Cell::Float(0.1)));
        assert_eq!(told("1e39", DataType::Float), None);
        assert_eq!(told("-inf", DataType::Float), Some(Cell::Float(f32::NEG_INFINITY)));
        assert_eq!(told("1", DataType::Boolean), Some(Cell::Boolean(true)));
        assert_eq!(told("2024-02-29", DataType::Date), Some(Cell::Int32(20_240_229)));
        assert_eq!(told("1970-01-01T00:00:01Z", DataType::Timestamp), Some(Cell::Int64(1000)));
        assert_eq!(told("00fF", DataType::Blob), Some(Cell::Text(vec![0, 255])));
        assert_eq!(told("0g", DataType::Blob), None);
        assert_eq!(told("0", DataType::Blob), None);
        assert_eq!(told(" x ", DataType::Text), Some(Cell::Text(b" x ".to_vec())));
        assert_eq!(parse(RawCell { text: b"\xff", form: CellForm::Plain }, DataType::String, Reading::Told, TimeUnit::Ms), None);
    }

    #[test]
    fn what_was_found_stays_as_it_was() {
        let strict = |text, data_type| parse(raw(text), data_type, Reading::Strict, TimeUnit::Ms);
        assert_eq!(strict("007", DataType::Int64), None);
        assert_eq!(strict("7", DataType::Double), Some(Cell::Double(7.0)));
        assert_eq!(strict("1", DataType::Boolean), None);
        assert_eq!(strict("-0", DataType::Double), Some(Cell::Double(-0.0)));
    }

    #[test]
    fn null_is_nothing_or_backslash_n_or_told() {
        let nulls = Nulls { texts: vec!["n/a".to_owned()] };
        let quoted = |text| RawCell { form: CellForm::Quoted, ..raw(text) };
        assert!(nulls.covers(raw("")) && nulls.covers(raw(r"\N")));
        assert!(!nulls.covers(quoted("")) && !nulls.covers(quoted(r"\N")));
        assert!(nulls.covers(raw("n/a")) && nulls.covers(quoted("n/a")) && !nulls.covers(raw("N/A")));
    }
}
