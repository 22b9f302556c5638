//! One device in several memtables: those on their way to a file, and the one that is written. Newest wins per column.

use std::sync::Arc;

use tsloom_model::{DataType, TimeRange};

use crate::buffer::ColumnBuffer;
use crate::cursor::{DeviceCursor, RowsView};
use crate::query::{Query, Request, Wanted};
use crate::snapshot::DeviceSnapshot;
use crate::textlimit;

/// Rows that a source is asked for at a time when they have to be merged.
const LANE_ROWS: usize = 1024;

/// What to read of a device that is in several snapshots.
///
/// For each time there is one row; in each column it has the value of the newest source that has one. A column has the type of
/// the newest source that knows it; where an older source has another type, the column is absent there.
pub type MergeQuery<'a> = Query<Sources<'a>>;

/// One device in several memtables, and the names of the columns asked for.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// Oldest first.
    devices: &'a [DeviceSnapshot],
    names: Vec<&'a str>,
}

impl<'a> MergeQuery<'a> {
    /// All rows of `sources`, which are of the same device, oldest first.
    pub fn new(sources: &'a [DeviceSnapshot], projection: &[&'a str]) -> Self {
        let newest = |name: &&str| sources.iter().rev().find_map(|source| source.find(name));
        let columns = projection.iter().map(newest).collect();
        Query::of(Sources { devices: sources, names: projection.to_vec() }, columns)
    }

    /// Starts reading.
    pub fn cursor(self) -> MergeCursor {
        let Request { columns: types, range, policy, is_descending, offset, limit } = self.request;
        let column_of = |source: &DeviceSnapshot, name: &str, data_type: Option<DataType>| {
            source.find(name).filter(|(_, own_type)| Some(*own_type) == data_type)
        };
        let Sources { devices, names } = self.source;
        let lanes: Vec<Lane> = devices
            .iter()
            .filter(|source| source.time_range().overlaps(range))
            .map(|source| {
                let typed = names.iter().zip(&types);
                let columns =
                    typed.map(|(name, column)| column_of(source, name, column.map(|(_, data_type)| data_type))).collect();
                // No source needs to give more rows than the answer has.
                let limit = limit.saturating_add(offset);
                let request = Request { columns, range, policy, is_descending, offset: 0, limit };
                Lane::new(source, request, &types)
            })
            .collect();
        let out = types.iter().map(|column| column.map(|(_, data_type)| ColumnBuffer::new(data_type))).collect();
        let rows_max = textlimit::rows_max(devices.iter().map(|device| &**device.view()));
        let mut cursor = MergeCursor { lanes, is_descending, offset, limit, rows_max, times: Vec::new(), out, order: None };
        cursor.order = cursor.order_of_apart();
        cursor
    }
}

/// Rows of one device from several sources, no time twice. See [`MergeQuery`].
#[derive(Debug)]
pub struct MergeCursor {
    /// Oldest first.
    lanes: Vec<Lane>,
    is_descending: bool,
    /// Rows still to be left out.
    offset: u64,
    /// Rows still to be given out.
    limit: u64,
    /// Rows that are given at once at most.
    rows_max: usize,
    times: Vec<i64>,
    out: Vec<Option<ColumnBuffer>>,
    /// Lanes in the order of their times, last first, when no two overlap: then nothing has to be merged.
    order: Option<Vec<usize>>,
}

/// A source, and the rows of it that are next.
#[derive(Debug)]
struct Lane {
    cursor: DeviceCursor,
    range: TimeRange,
    times: Vec<i64>,
    columns: Vec<Option<ColumnBuffer>>,
    /// Rows of `times` that are done.
    done: usize,
}

impl Lane {
    fn new(source: &DeviceSnapshot, request: Request, types: &[Wanted]) -> Self {
        let columns = types.iter().map(|column| column.map(|(_, data_type)| ColumnBuffer::new(data_type))).collect();
        let cursor = DeviceCursor::new(Arc::clone(source.view()), request);
        Self { cursor, range: source.time_range(), times: Vec::new(), columns, done: 0 }
    }

    /// The time of the next row; `None` at the end.
    fn head(&mut self) -> Option<i64> {
        if self.done == self.times.len() {
            self.times.clear();
            self.done = 0;
            let rows = self.cursor.next_rows(LANE_ROWS)?;
            self.times.extend_from_slice(rows.times());
            for (index, column) in self.columns.iter_mut().enumerate() {
                if let Some(column) = column {
                    column.clear();
                    column.extend(rows.column(index), rows.row_count());
                }
            }
        }
        Some(self.times[self.done])
    }

    /// Rows from the next on that come before `time`, of those at hand.
    fn count_before(&self, time: Option<i64>, is_descending: bool) -> usize {
        let left = &self.times[self.done..];
        match time {
            None => left.len(),
            Some(time) if is_descending => left.partition_point(|mine| *mine > time),
            Some(time) => left.partition_point(|mine| *mine < time),
        }
    }
}

impl MergeCursor {
    /// The order in which lanes can be read one after the other, last first.
    fn order_of_apart(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.lanes.len()).collect();
        order.sort_by_key(|lane| self.lanes[*lane].range.start);
        let apart = order.windows(2).all(|pair| self.lanes[pair[0]].range.end < self.lanes[pair[1]].range.start);
        if !self.is_descending {
            order.reverse();
        }
        apart.then_some(order)
    }

    /// The next rows, at most `row_max` (at least 1 is taken); `None` at the end. There can be fewer rows than asked for.
    pub fn next_rows(&mut self, row_max: usize) -> Option<RowsView<'_>> {
        let row_max = row_max.clamp(1, self.rows_max);
        loop {
            if self.limit == 0 {
                return None;
            }
            // The number of rows decides what is skipped before anything is lent.
            let row_count = self.step(row_max)?;
            let skipped = usize::try_from(self.offset).unwrap_or(usize::MAX).min(row_count);
            self.offset -= skipped as u64;
            let kept = usize::try_from(self.limit).unwrap_or(usize::MAX).min(row_count - skipped);
            if kept > 0 {
                self.limit -= kept as u64;
                return Some(self.lent().slice(skipped, kept));
            }
        }
    }

    /// Moves on; [`lent`](Self::lent) has the rows, as many as this returns.
    fn step(&mut self, row_max: usize) -> Option<usize> {
        if let Some(order) = &mut self.order {
            while let Some(lane) = order.last() {
                if let Some(rows) = self.lanes[*lane].cursor.next_rows(row_max) {
                    return Some(rows.row_count());
                }
                order.pop();
            }
            return None;
        }
        self.times.clear();
        self.out.iter_mut().flatten().for_each(ColumnBuffer::clear);
        while self.times.len() < row_max && self.merge_some(row_max) {}
        (!self.times.is_empty()).then_some(self.times.len())
    }

    /// The rows of the last step.
    fn lent(&self) -> RowsView<'_> {
        match self.order.as_ref().and_then(|order| order.last()) {
            Some(lane) => self.lanes[*lane].cursor.last_rows(),
            None => RowsView::of_buffers(&self.times, &self.out),
        }
    }

    /// Merges one time, or takes a stretch of one lane. Returns false at the end.
    fn merge_some(&mut self, row_max: usize) -> bool {
        let is_descending = self.is_descending;
        let is_before = |left: i64, right: i64| if is_descending { left > right } else { left < right };
        // The time to come, and the one after it in any other lane.
        let (mut next, mut after): (Option<i64>, Option<i64>) = (None, None);
        for time in self.lanes.iter_mut().filter_map(Lane::head) {
            match next {
                Some(first) if !is_before(time, first) => {
                    after = Some(after.map_or(time, |after| if is_before(time, after) { time } else { after }));
                }
                _ => after = next.replace(time),
            }
        }
        let Some(time) = next else { return false };
        if after == Some(time) {
            self.merge_time(time);
            return true;
        }
        let lane = self.lanes.iter_mut().find(|lane| lane.done < lane.times.len() && lane.times[lane.done] == time);
        let lane = lane.expect("the time came from a lane");
        let count = lane.count_before(after, is_descending).min(row_max - self.times.len());
        self.times.extend_from_slice(&lane.times[lane.done..lane.done + count]);
        for (out, column) in self.out.iter_mut().zip(&lane.columns) {
            if let (Some(out), Some(column)) = (out, column) {
                out.extend(column.view().map(|rows| rows.slice(lane.done, count)), count);
            }
        }
        lane.done += count;
        true
    }

    /// One row of several lanes: per column the newest value.
    fn merge_time(&mut self, time: i64) {
        let has_time = |lane: &&Lane| lane.done < lane.times.len() && lane.times[lane.done] == time;
        for (index, out) in self.out.iter_mut().enumerate() {
            let Some(out) = out else { continue };
            let cell = self.lanes.iter().rev().filter(has_time).find_map(|lane| {
                let column = lane.columns[index].as_ref()?.view()?;
                (!column.is_null(lane.done)).then(|| column.slice(lane.done, 1))
            });
            out.extend(cell, 1);
        }
        self.times.push(time);
        for lane in self.lanes.iter_mut().filter(|lane| has_time(&&**lane)) {
            lane.done += 1;
        }
    }
}
