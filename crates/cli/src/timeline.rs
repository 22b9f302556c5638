//! What series metadata says about the rows of a device, and whether it can be taken at its word.

use tsloom::file::{DeviceSeries, FileReader, SeriesRef};
use tsloom::format::StatisticsRef;
use tsloom::model::{DeviceId, TimeRange};

use crate::failure::{Failure, Outcome};

/// Rows of a device, from its statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// Rows of an aligned device; of others the values of the longest column.
    pub(crate) row_count: u64,
    /// From the first to the last.
    pub(crate) range: Option<TimeRange>,
    /// False when chunks overlap in time: rows may be there twice, and must be counted one by one.
    pub(crate) is_exact: bool,
}

impl Timeline {
    /// Of a device with these series.
    pub(crate) fn of(series: &DeviceSeries) -> Self {
        let mut timeline = Self { row_count: 0, range: None, is_exact: true };
        match series.time() {
            Some(time) => timeline.add(&time),
            None => series.iter().for_each(|series| timeline.add(&series)),
        }
        timeline
    }

    fn add(&mut self, series: &SeriesRef<'_>) {
        let statistics = series.statistics();
        self.row_count = self.row_count.max(statistics.count().into());
        self.cover(&statistics);
        self.is_exact &= is_exact(series);
    }

    fn cover(&mut self, statistics: &StatisticsRef<'_>) {
        if statistics.count() > 0 {
            let TimeRange { start, end } = statistics.time_range();
            let range = self.range.get_or_insert(TimeRange { start, end });
            *range = TimeRange { start: range.start.min(start), end: range.end.max(end) };
        }
    }

    /// The rows of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some(TimeRange { start: a.start.min(b.start), end: a.end.max(b.end) }),
            (one, other) => one.or(other),
        };
        Self { row_count: self.row_count + other.row_count, range, is_exact: self.is_exact && other.is_exact }
    }
}

/// True when the chunks of a series follow each other in time.
pub(crate) fn is_exact(series: &SeriesRef<'_>) -> bool {
    let mut last = None;
    series.chunks().filter(|chunk| chunk.statistics.count() > 0).all(|chunk| {
        let TimeRange { start, end } = chunk.statistics.time_range();
        last.replace(end).is_none_or(|last| last < start)
    })
}

/// Shows every device of a table (of the file, if there is none) with its series.
pub(crate) fn each_device(
    reader: &FileReader,
    table: Option<&str>,
    mut each: impl FnMut(&DeviceId, &DeviceSeries) -> Outcome,
) -> Outcome {
    let mut devices = table.map_or_else(|| reader.all_devices(), |table| reader.devices(table));
    let mut series = DeviceSeries::default();
    while devices.advance(reader).map_err(Failure::unreadable)? {
        devices.read_series(reader, &mut series).map_err(Failure::unreadable)?;
        each(&devices.device().to_id(), &series)?;
    }
    Ok(())
}
