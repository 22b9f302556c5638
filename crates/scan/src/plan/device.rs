//! From the series metadata of one device to its chunk groups.

use tsloom_encoding::WireReader;
use tsloom_format::{ChunkMeta, SeriesMetadata, SeriesType};
use tsloom_model::{Error, ErrorKind, FileOffset, Result, TimeRange};

use super::{ChunkPlace, Group, GroupTable};
use crate::filter::chunk_bounds;
use crate::projection::FieldColumn;
use crate::reads::{ByteRange, Pieces};

/// Marks a time chunk that the scan does not need.
const PRUNED: u32 = u32::MAX;
/// How far a chunk of unknown size is read at least and at most, when nothing else tells.
const GUESS_MIN: u64 = 256;
const GUESS_MAX: u64 = 256 << 10;
/// A row of a series with times of its own, when nothing compresses, and what is read at most before its chunk's size is known.
const PLAIN_ROW_SIZE: u64 = 17;
const PLAIN_GUESS_MAX: u64 = 1 << 20;

/// What is known about the device that is being read.
#[derive(Default)]
pub(super) struct DeviceScratch {
    /// Offsets of all time chunks, ascending, and the index of their group, or `PRUNED`.
    times: Vec<(u64, u32)>,
    /// Offsets of the chunks that are not wanted.
    others: Vec<u64>,
    /// Offsets among which the end of a chunk is looked up.
    order: Vec<u64>,
}

/// Adds the groups of one device to the plan.
pub(super) struct DeviceWalk<'a> {
    fields: &'a [FieldColumn],
    time: TimeRange,
    body_end: u64,
    table: &'a mut GroupTable,
    scratch: &'a mut DeviceScratch,
    /// The first group of the device.
    first: usize,
    /// The field whose name is expected next.
    next_field: usize,
    /// What the first series said.
    kind: Option<DeviceKind>,
}

/// How the series of a device have their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviceKind {
    /// The first series has those of all.
    Aligned,
    /// Each has its own.
    Plain,
}

impl<'a> DeviceWalk<'a> {
    pub(super) fn new(
        fields: &'a [FieldColumn],
        time: TimeRange,
        body_end: u64,
        table: &'a mut GroupTable,
        scratch: &'a mut DeviceScratch,
    ) -> Self {
        scratch.times.clear();
        scratch.others.clear();
        let first = table.groups.len();
        Self { fields, time, body_end, table, scratch, first, next_field: 0, kind: None }
    }

    pub(super) fn run(mut self, pieces: &Pieces, runs: &[ByteRange]) -> Result<()> {
        for &run in runs {
            let bytes = pieces.get(run).expect("the runs of the batch were loaded");
            let mut wire = WireReader::with_base(bytes, run.start as usize);
            while !wire.is_empty() {
                let at = FileOffset::new(wire.position() as u64);
                let expected = self.fields.get(self.next_field).filter(|_| self.kind.is_some());
                let series = SeriesMetadata::parse_expecting(&mut wire, expected.map_or("", |field| field.name.as_str()))
                    .map_err(|error| error.at(at).in_place("series metadata"))?;
                self.series(&series).map_err(|error| {
                    let error = error.at(at).in_place("series metadata");
                    if series.is_time() { error } else { error.in_column(series.measurement) }
                })?;
            }
        }
        match self.kind {
            Some(DeviceKind::Plain) => self.find_ends_of_plain(),
            _ => self.find_ends(),
        }
        Ok(())
    }

    fn series(&mut self, series: &SeriesMetadata<'_>) -> Result<()> {
        match self.kind {
            None if series.is_time() => {
                self.kind = Some(DeviceKind::Aligned);
                self.time_series(series)
            }
            Some(DeviceKind::Aligned) => self.value_series(series),
            None | Some(DeviceKind::Plain) => {
                self.kind = Some(DeviceKind::Plain);
                self.plain_series(series)
            }
        }
    }

    fn time_series(&mut self, series: &SeriesMetadata<'_>) -> Result<()> {
        for chunk in series.chunks() {
            let chunk = chunk?;
            if self.scratch.times.last().is_some_and(|last| last.0 >= chunk.offset) {
                return Err(Error::new(ErrorKind::Corrupt, "the offsets of the time chunks do not rise"));
            }
            let times = chunk.statistics.time_range();
            let mut group = PRUNED;
            if self.time.overlaps(times) {
                group = self.table.groups.len() as u32;
                let range = self.place(chunk.offset)?;
                let row_count = u64::from(chunk.statistics.count());
                let time = ChunkPlace { range };
                self.table.push(Group { time, field: None, row_count, times, size: 0, last: 0, chunks_at: 0 })?;
            } else {
                check_not_wanted(&chunk)?;
            }
            self.scratch.times.push((chunk.offset, group));
        }
        Ok(())
    }

    /// Every chunk of a series with times of its own is a group.
    fn plain_series(&mut self, series: &SeriesMetadata<'_>) -> Result<()> {
        if series.series_type == SeriesType::Time {
            return Err(Error::new(ErrorKind::Corrupt, "a time column among series that have times of their own"));
        }
        let field = self.field_of(series.measurement);
        for chunk in series.chunks() {
            let chunk = chunk?;
            let times = chunk.statistics.time_range();
            let Some(field) = field.filter(|_| self.time.overlaps(times)) else {
                check_not_wanted(&chunk)?;
                self.scratch.others.push(chunk.offset);
                continue;
            };
            let time = ChunkPlace { range: self.place(chunk.offset)? };
            let row_count = u64::from(chunk.statistics.count());
            let last = self.fields.len();
            self.table.push(Group { time, field: Some(field), row_count, times, size: 0, last, chunks_at: 0 })?;
            if let Some(position) = self.fields[field].test_position {
                let group = self.table.groups.len() - 1;
                self.table.bounds[group * self.table.test_count + position] = chunk_bounds(&chunk.statistics, row_count);
            }
        }
        Ok(())
    }

    fn value_series(&mut self, series: &SeriesMetadata<'_>) -> Result<()> {
        let Some(field) = self.field_of(series.measurement) else {
            for chunk in series.chunks() {
                self.scratch.others.push(chunk?.offset);
            }
            return Ok(());
        };
        if let Some(chunk) = series.only_chunk() {
            return self.value_chunk(field, &chunk);
        }
        for chunk in series.chunks() {
            self.value_chunk(field, &chunk?)?;
        }
        Ok(())
    }

    fn value_chunk(&mut self, field: usize, chunk: &ChunkMeta<'_>) -> Result<()> {
        let after = match self.scratch.times.len() {
            1 => usize::from(self.scratch.times[0].0 <= chunk.offset),
            _ => self.scratch.times.partition_point(|time| time.0 <= chunk.offset),
        };
        let Some(before) = after.checked_sub(1) else {
            let message = format!("the chunk at {} lies before every time chunk", FileOffset::new(chunk.offset));
            return Err(Error::new(ErrorKind::Corrupt, message));
        };
        let group = self.scratch.times[before].1;
        if group == PRUNED || chunk.statistics.count() == 0 {
            self.scratch.others.push(chunk.offset);
            return Ok(());
        }
        let range = self.place(chunk.offset)?;
        let places_at = self.table.groups[group as usize].chunks_at;
        let place = &mut self.table.chunks[places_at + field];
        if !place.is_absent() {
            let message = format!("a second chunk of the column in one chunk group, at {}", FileOffset::new(chunk.offset));
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        place.range = range;
        if let Some(position) = self.fields[field].test_position {
            let row_count = self.table.groups[group as usize].row_count;
            self.table.bounds[group as usize * self.table.test_count + position] = chunk_bounds(&chunk.statistics, row_count);
        }
        Ok(())
    }

    /// The field of this name. Both lists ascend as a rule, and then two comparisons tell; that they do is not relied on.
    fn field_of(&mut self, name: &str) -> Option<usize> {
        let next = self.next_field;
        let is_after_the_one_before = |next: usize| next == 0 || self.fields[next - 1].name.as_str() < name;
        match self.fields.get(next) {
            Some(field) if std::ptr::eq(field.name.as_str(), name) || field.name == name => {
                self.next_field = next + 1;
                return Some(next);
            }
            Some(field) if name < field.name.as_str() && is_after_the_one_before(next) => return None,
            None if is_after_the_one_before(next) => return None,
            _ => {}
        }
        match self.fields.binary_search_by(|field| field.name.as_str().cmp(name)) {
            Ok(index) => {
                self.next_field = index + 1;
                Some(index)
            }
            Err(index) => {
                self.next_field = index;
                None
            }
        }
    }

    /// A chunk that begins at `offset`, in the body, and ends nobody knows where.
    fn place(&self, offset: u64) -> Result<ByteRange> {
        if offset == 0 || offset >= self.body_end {
            let end = FileOffset::new(self.body_end);
            let message = format!("a chunk at {} is not in the body, which ends at {end}", FileOffset::new(offset));
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        Ok(ByteRange { start: offset, end: offset })
    }

    /// A chunk ends where the next one begins; the last one of a group is taken to be a little longer than the longest other one.
    fn find_ends(&mut self) {
        let field_count = self.fields.len();
        let knows_others = !self.scratch.others.is_empty();
        if knows_others {
            let order = &mut self.scratch.order;
            order.clear();
            order.extend(self.scratch.others.iter());
            order.extend(self.scratch.times.iter().map(|time| time.0));
            let places_at = self.table.groups.get(self.first).map_or(self.table.chunks.len(), |group| group.chunks_at);
            let wanted = &self.table.chunks[places_at..];
            order.extend(wanted.iter().filter(|chunk| !chunk.is_absent()).map(|chunk| chunk.range.start));
            order.sort_unstable();
        }
        for index in self.first..self.table.groups.len() {
            let group = &mut self.table.groups[index];
            let chunks = &mut self.table.chunks[group.chunks_at..group.chunks_at + field_count];
            let order = &mut self.scratch.order;
            if !knows_others {
                order.clear();
                order.push(group.time.range.start);
                order.extend(chunks.iter().filter(|chunk| !chunk.is_absent()).map(|chunk| chunk.range.start));
                if !order.is_sorted() {
                    order.sort_unstable();
                }
            }
            // The first offset past this group is that of the next time chunk.
            let after = self.scratch.times.partition_point(|time| time.0 <= group.time.range.start);
            let group_end = self.scratch.times.get(after).map_or(u64::MAX, |time| time.0);
            let mut at = 0;
            let mut longest = 0;
            let mut end_of = |range: &mut ByteRange| {
                if order.get(at) != Some(&range.start) {
                    at = order.partition_point(|offset| *offset < range.start);
                }
                at += 1;
                match order.get(at) {
                    Some(&end) if end < group_end => {
                        range.end = end;
                        longest = longest.max(range.size());
                        group.size += range.size();
                        false
                    }
                    _ => true,
                }
            };
            let time_is_last = end_of(&mut group.time.range);
            let mut last = field_count;
            for (field, chunk) in chunks.iter_mut().enumerate().filter(|(_, chunk)| !chunk.is_absent()) {
                if end_of(&mut chunk.range) {
                    last = field;
                }
            }
            group.last = last;
            let guess = if longest > 0 { longest + longest / 4 } else { group.row_count.saturating_mul(9) };
            let guess = guess.saturating_add(GUESS_MIN).min(GUESS_MAX);
            let place = match chunks.get_mut(last) {
                Some(chunk) => &mut chunk.range,
                None if time_is_last => &mut group.time.range,
                None => continue, // the last chunk of the group is not wanted
            };
            place.end = place.start.saturating_add(guess).min(group_end).min(self.body_end);
            group.size += place.size();
        }
    }

    /// A chunk ends where the next one of the device begins, unless that is too far off: other devices may lie between.
    fn find_ends_of_plain(&mut self) {
        let order = &mut self.scratch.order;
        order.clear();
        order.extend(self.scratch.others.iter());
        order.extend(self.table.groups[self.first..].iter().map(|group| group.time.range.start));
        order.sort_unstable();
        for group in &mut self.table.groups[self.first..] {
            let range = &mut group.time.range;
            let after = order.partition_point(|offset| *offset <= range.start);
            let next = order.get(after).map_or(self.body_end, |offset| *offset);
            let guess = group.row_count.saturating_mul(PLAIN_ROW_SIZE).saturating_add(GUESS_MIN).min(PLAIN_GUESS_MAX);
            range.end = range.start.saturating_add(guess).min(next).min(self.body_end);
            group.size = range.size();
        }
    }
}

/// A chunk that is passed over has no rows, or rows whose times make sense.
fn check_not_wanted(chunk: &ChunkMeta<'_>) -> Result<()> {
    let times = chunk.statistics.time_range();
    if times.start > times.end && chunk.statistics.count() > 0 {
        return Err(Error::new(ErrorKind::Corrupt, format!("times go from {} back to {}", times.start, times.end)));
    }
    Ok(())
}
