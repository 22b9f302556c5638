//! Floating-point numbers in Python's words.
//!
//! `repr(float)` is the shortest decimal that gives the same bits: plain from 1e-4 up to below 1e16, with at least
//! one digit after the point, else with an exponent of at least two digits. A FLOAT has the shortest decimal that
//! gives the same 32 bits, in the same clothes. Proved against CPython and numpy: `tests/known_floats.txt`.
//!
//! ```text
//! 1.0    -0.0    0.0001    1e-05    123456789.125    1e+16    5e-324
//! ```

use std::fmt::LowerExp;
use std::io::Write;
use std::str::FromStr;

/// Appends a finite DOUBLE.
pub(crate) fn push_f64(out: &mut Vec<u8>, value: f64) {
    debug_assert!(value.is_finite());
    push_shortest(out, &value, 15);
}

/// Appends a finite FLOAT.
pub(crate) fn push_f32(out: &mut Vec<u8>, value: f32) {
    debug_assert!(value.is_finite());
    push_shortest(out, &value, 6);
}

/// Decimals of `digits_without_ties` digits are further apart than the numbers of this type, so no two of them are equally near.
fn push_shortest<T: LowerExp + FromStr + PartialEq>(out: &mut Vec<u8>, value: &T, digits_without_ties: usize) {
    let mut text = Scientific::new(format_args!("{value:e}"));
    if let Some(digit_count) = text.may_be_tied(digits_without_ties) {
        let even = Scientific::new(format_args!("{value:.*e}", digit_count - 1));
        if even.as_str().parse().is_ok_and(|read: T| read == *value) {
            text = even;
        }
    }
    push_dressed(out, text.as_str());
}

/// What stands for a number that is none, if it is none.
pub(crate) fn special(value: f64) -> Option<&'static str> {
    if value.is_finite() {
        None
    } else if value.is_nan() {
        Some("NaN")
    } else {
        Some(if value > 0.0 { "Infinity" } else { "-Infinity" })
    }
}

/// The longest form is `-d.dddddddddddddddde-308`: 24 bytes.
const SCIENTIFIC_SIZE_MAX: usize = 32;

/// A number as `-1.25e-7`, in its own buffer.
struct Scientific {
    bytes: [u8; SCIENTIFIC_SIZE_MAX],
    size: usize,
}

impl Scientific {
    fn new(number: std::fmt::Arguments<'_>) -> Self {
        let mut bytes = [0; SCIENTIFIC_SIZE_MAX];
        let mut rest = &mut bytes[..];
        rest.write_fmt(number).expect("no form is longer than the longest");
        let size = SCIENTIFIC_SIZE_MAX - rest.len();
        Self { bytes, size }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.size]).expect("numbers are ASCII")
    }

    /// Two shortest decimals can be equally near; Rust then takes the upper one and Python the even one. So an odd last
    /// digit behind more than `without_ties` digits asks for a second look: the number of digits, if that is so.
    fn may_be_tied(&self, without_ties: usize) -> Option<usize> {
        let (mantissa, _) = self.as_str().split_once('e').expect("{:e} prints an exponent");
        let digit_count = mantissa.bytes().filter(u8::is_ascii_digit).count();
        (digit_count > without_ties && mantissa.ends_with(['1', '3', '5', '7', '9'])).then_some(digit_count)
    }
}

/// Takes the scientific form apart and dresses it as Python does.
fn push_dressed(out: &mut Vec<u8>, mut text: &str) {
    if let Some(positive) = text.strip_prefix('-') {
        out.push(b'-');
        text = positive;
    }
    let (mantissa, exponent) = text.split_once('e').expect("{:e} prints an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} prints an integer exponent");
    let (head, tail) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if (-4..16).contains(&exponent) {
        push_plain(out, head, tail, exponent);
    } else {
        out.extend_from_slice(mantissa.as_bytes());
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "e{sign}{:02}", exponent.unsigned_abs()).expect("a Vec takes every byte");
    }
}

/// Digits `h.ttt` times ten to the power of `exponent`, without an exponent.
fn push_plain(out: &mut Vec<u8>, head: &str, tail: &str, exponent: i32) {
    let Ok(shift) = usize::try_from(exponent) else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + exponent.unsigned_abs() as usize - 1, b'0');
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(tail.as_bytes());
        return;
    };
    out.extend_from_slice(head.as_bytes());
    if tail.len() > shift {
        let (whole, fraction) = tail.split_at(shift);
        out.extend_from_slice(whole.as_bytes());
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    } else {
        out.extend_from_slice(tail.as_bytes());
        out.resize(out.len() + shift - tail.len(), b'0');
        out.extend_from_slice(b".0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `64 BITS TEXT` or `32 BITS TEXT` a line, printed by CPython 3.11 and numpy.
    const KNOWN: &str = include_str!("../../tests/known_floats.txt");

    fn double(value: f64) -> String {
        let mut out = Vec::new();
        push_f64(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    fn float(value: f32) -> String {
        let mut out = Vec::new();
        push_f32(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn prints_what_python_prints() {
        let mut checked = 0;
        for line in KNOWN.lines().filter(|line| !line.starts_with('#')) {
            let [width, bits, expected] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let bits = u64::from_str_radix(bits, 16).unwrap();
            let printed = match width {
                "64" => double(f64::from_bits(bits)),
                "32" => float(f32::from_bits(u32::try_from(bits).unwrap())),
                _ => panic!("{line}"),
            };
            assert_eq!(printed, expected, "{line}");
            checked += 1;
        }
        assert!(checked > 500, "{checked} known answers");
    }

    #[test]
    fn turns_to_exponents_where_python_does() {
        assert_eq!(double(1e16), "1e+16");
        assert_eq!(double(9_999_999_999_999_998.0), "9999999999999998.0");
        assert_eq!(double(0.0001), "0.0001");
        assert_eq!(double(0.000_099), "9.9e-05");
        assert_eq!(double(-0.0), "-0.0");
        assert_eq!(double(5e-324), "5e-324");
        assert_eq!(double(f64::MAX), "1.7976931348623157e+308");
        assert_eq!(double(123.456), "123.456");
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(1e-45), "1e-45");
        assert_eq!(float(f32::MAX), "3.4028235e+38");
        assert_eq!(float(16_777_216.0), "16777216.0");
    }

    #[test]
    fn gives_the_same_bits_again() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let value = f64::from_bits(state);
            if value.is_finite() {
                assert_eq!(double(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
            }
            let value = f32::from_bits((state >> 32) as u32);
            if value.is_finite() {
                assert_eq!(float(value).parse::<f32>().unwrap().to_bits(), value.to_bits());
            }
        }
    }

    #[test]
    fn what_is_no_number_has_a_name() {
        assert_eq!(special(f64::NAN), Some("NaN"));
        assert_eq!(special(f64::INFINITY), Some("Infinity"));
        assert_eq!(special(f64::NEG_INFINITY), Some("-Infinity"));
        assert_eq!(special(f64::MAX), None);
    }
}
