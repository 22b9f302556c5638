//! Thinning: as many points as can be seen, and no peak lost.
//!
//! Time is cut into as many buckets as the picture has columns of pixels. Of each bucket the first, the least, the greatest and the
//! last value stay, which draws the same line as all of them would.

use tsloom::model::TimeRange;

/// The four values of a bucket, in the order in which they came.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: (i64, f64),
    least: (i64, f64),
    greatest: (i64, f64),
    last: (i64, f64),
}

/// A line that is being thinned.
#[derive(Clone, Debug)]
pub(crate) struct Thin {
    range: TimeRange,
    /// Buckets for each unit of time.
    scale: f64,
    buckets: Vec<Option<Bucket>>,
}

impl Thin {
    /// No points yet; those to come are in `range`.
    pub(crate) fn new(range: TimeRange, bucket_count: usize) -> Self {
        let span = range.end as f64 - range.start as f64;
        let scale = if span > 0.0 { bucket_count as f64 / span } else { 0.0 };
        Self { range, scale, buckets: vec![None; bucket_count.max(1)] }
    }

    /// Takes a point. What is no number, or outside of the range, is left out.
    pub(crate) fn push(&mut self, time: i64, value: f64) {
        if !value.is_finite() || !self.range.contains(time) {
            return;
        }
        let place = (time.wrapping_sub(self.range.start) as u64 as f64 * self.scale) as usize;
        let last = self.buckets.len() - 1;
        let point = (time, value);
        match &mut self.buckets[place.min(last)] {
            Some(bucket) => {
                bucket.last = point;
                if value < bucket.least.1 {
                    bucket.least = point;
                }
                if value > bucket.greatest.1 {
                    bucket.greatest = point;
                }
            }
            empty => *empty = Some(Bucket { first: point, least: point, greatest: point, last: point }),
        }
    }

    /// The points that are left, in the order of time.
    pub(crate) fn points(&self) -> Vec<(i64, f64)> {
        let mut points = Vec::new();
        for bucket in self.buckets.iter().flatten() {
            let mut four = [bucket.first, bucket.least, bucket.greatest, bucket.last];
            four.sort_by_key(|point| point.0);
            points.extend(four);
        }
        points.dedup();
        points
    }

    /// The middle of each bucket that has a value, between its least and its greatest.
    pub(crate) fn middles(&self) -> Vec<Option<f64>> {
        let middle = |bucket: &Option<Bucket>| bucket.map(|bucket| f64::midpoint(bucket.least.1, bucket.greatest.1));
        self.buckets.iter().map(middle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_stay() {
        let mut thin = Thin::new(TimeRange { start: 0, end: 999_999 }, 100);
        for time in 0..1_000_000 {
            thin.push(time, if time == 123_456 { 1e9 } else { (time % 10) as f64 });
        }
        let points = thin.points();
        assert!(points.len() <= 400 && points.contains(&(123_456, 1e9)), "{}", points.len());
        assert!(points.is_sorted_by_key(|point| point.0));
        assert_eq!((points[0], points[points.len() - 1]), ((0, 0.0), (999_999, 9.0)));
    }

    #[test]
    fn every_time_there_is_has_a_bucket() {
        let mut thin = Thin::new(TimeRange::ALL, 10);
        for time in [i64::MIN, -1, 0, 1, i64::MAX] {
            thin.push(time, 1.0);
        }
        thin.push(5, f64::NAN);
        // The three in the middle share a bucket, of which the first and the last stay.
        let times: Vec<i64> = thin.points().iter().map(|point| point.0).collect();
        assert_eq!(times, [i64::MIN, -1, 1, i64::MAX]);
        let mut point = Thin::new(TimeRange { start: 7, end: 7 }, 10);
        point.push(7, 1.0);
        point.push(8, 2.0);
        assert_eq!(point.points(), [(7, 1.0)]);
        assert_eq!(point.middles()[0], Some(1.0));
    }
}
