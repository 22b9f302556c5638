//! Days: the integer yyyymmdd of a DATE column, and days since 1970-01-01 (Arrow's Date32).
//!
//! Whole columns, without a branch or a table, so that the loops become vector code. Years count from March here, which puts the leap
//! day last; then the days before a month are `(153 * month + 2) / 5`.

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i32 = 719_468;
/// 0001-01-01 and 9999-12-31, in days from 0000-03-01.
const FIRST: i32 = 306;
const LAST: i32 = 3_652_364;
/// Days of 400, 100 and 4 years.
const DAYS_400: i32 = 146_097;
const DAYS_100: i32 = 36_524;
const DAYS_4: i32 = 1_461;

/// Days since 1970-01-01 of one yyyymmdd, years 1 to 9999. An impossible day gives some other day.
#[inline(always)]
fn to_days(date: i32) -> i32 {
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let is_early = i32::from(month <= 2);
    let year = year - is_early;
    let month = month + 12 * is_early - 3;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - EPOCH
}

/// The yyyymmdd of days since 1970-01-01; days outside of the years 1 to 9999 are taken as the nearest day inside.
#[inline(always)]
fn to_date(days: i32) -> i32 {
    let days = days.clamp(FIRST - EPOCH, LAST - EPOCH) + EPOCH;
    let cycle = days / DAYS_400;
    let in_cycle = days - cycle * DAYS_400;
    // The leap days of the cycle before this one are taken off, then every year has 365.
    let year = (in_cycle - in_cycle / (DAYS_4 - 1) + in_cycle / DAYS_100 - in_cycle / (DAYS_400 - 1)) / 365;
    let in_year = in_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let is_early = i32::from(month >= 10);
    (cycle * 400 + year + is_early) * 10_000 + (month + 3 - 12 * is_early) * 100 + day
}

/// A real day from 1000-01-01 to 9999-12-31.
#[inline(always)]
fn is_date(date: i32) -> bool {
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0));
    let days = if month == 2 { 28 + i32::from(is_leap) } else { 30 + ((month + (month >> 3)) & 1) };
    (10_000_101..=99_991_231).contains(&date) & (1..=12).contains(&month) & (day >= 1) & (day <= days)
}

#[inline(always)]
pub(super) fn dates_to_days(dates: &[i32], out: &mut [i32]) {
    assert!(dates.len() == out.len(), "output has room for exactly the values");
    for (out, date) in out.iter_mut().zip(dates) {
        *out = to_days(*date);
    }
}

#[inline(always)]
pub(super) fn days_to_dates(days: &[i32], out: &mut [i32]) {
    assert!(days.len() == out.len(), "output has room for exactly the values");
    for (out, days) in out.iter_mut().zip(days) {
        *out = to_date(*days);
    }
}

#[inline(always)]
pub(super) fn check_dates(dates: &[i32], bad_count: &mut usize) {
    let mut bad = 0_usize;
    for group in dates.chunks(1024) {
        bad += group.iter().map(|date| i32::from(!is_date(*date))).sum::<i32>() as usize;
    }
    *bad_count = bad;
}
