//! From the series metadata of one device to its chunk groups.

use tsloom_encoding::WireReader;
use tsloom_format::{ChunkMeta, Prefix, SeriesHead, SeriesMetadata, SeriesType};
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

/// What is known about the device that is being read, and of the one before.
#[derive(Default)]
pub(super) struct DeviceScratch {
    /// Offsets of all time chunks, ascending, and the index of their group, or `PRUNED`.
    times: Vec<(u64, u32)>,
    /// Offsets of the chunks that are not wanted.
    others: Vec<u64>,
    /// Offsets among which the end of a chunk is looked up.
    order: Vec<u64>,
    /// The series of the device before, in order: those of the next one are as a rule the same.
    known: Vec<Option<KnownSeries>>,
}

impl DeviceScratch {
    /// Forgets the device before: fields are about to be others.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}

/// How the record of a series began, and the field that it is for.
struct KnownSeries {
    prefix: Prefix,
    head: SeriesHead,
    field: Option<usize>,
}

/// What a chunk is to the scan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The time chunk of the group.
    Time,
    Field(usize),
    /// Not wanted.
    Other,
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
    /// The chunk that was met last, and where it begins.
    last: (Part, u64),
    /// All chunks so far came in the order of the file, so that each one ends where the next begins.
    is_in_order: bool,
    /// Bytes of the longest wanted chunk whose end is known.
    longest: u64,
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
        let last = (Part::Other, 0);
        Self { fields, time, body_end, table, scratch, first, next_field: 0, kind: None, last, is_in_order: true, longest: 0 }
    }

    pub(super) fn run(mut self, pieces: &Pieces, runs: &[ByteRange]) -> Result<()> {
        let mut known = std::mem::take(&mut self.scratch.known);
        let outcome = self.read_series(pieces, runs, &mut known);
        self.scratch.known = known;
        outcome?;
        match self.kind {
            Some(DeviceKind::Plain) => self.find_ends_of_plain(),
            _ if self.is_in_order && self.scratch.times.len() == 1 => self.end_last_of_group(),
            _ => self.find_ends(),
        }
        Ok(())
    }

    fn read_series(&mut self, pieces: &Pieces, runs: &[ByteRange], known: &mut Vec<Option<KnownSeries>>) -> Result<()> {
        let mut index = 0;
        for &run in runs {
            let bytes = pieces.get(run).expect("the runs of the batch were loaded");
            let mut wire = WireReader::with_base(bytes, run.start as usize);
            while !wire.is_empty() {
                let at = FileOffset::new(wire.position() as u64);
                let in_place = |error: Error| error.at(at).in_place("series metadata");
                if let Some(Some(known)) = known.get(index)
                    && known.prefix.pass(&mut wire)
                {
                    if self.pass_like_before(known, &mut wire) {
                        index += 1;
                        continue;
                    }
                    let name = known.field.map_or("", |field| self.fields[field].name.as_str());
                    let series = SeriesMetadata::parse_body(&mut wire, name, known.head).map_err(in_place)?;
                    self.series(&series, known.field).map_err(in_place)?;
                    self.next_field = known.field.map_or(self.next_field, |field| field + 1);
                } else {
                    let record = wire.rest();
                    let (name, head) = SeriesMetadata::parse_head(&mut wire).map_err(in_place)?;
                    let head_size = record.len() - wire.remaining();
                    let series = SeriesMetadata::parse_body(&mut wire, name, head).map_err(in_place)?;
                    let field = if head.series_type == SeriesType::Time { None } else { self.field_of(name) };
                    self.series(&series, field).map_err(in_place)?;
                    let series = Prefix::of(&record[..head_size]).map(|prefix| KnownSeries { prefix, head, field });
                    match known.get_mut(index) {
                        Some(slot) => *slot = series,
                        None => known.push(series),
                    }
                }
                index += 1;
            }
        }
        Ok(())
    }

    /// Takes a series of one chunk in one group, of which nothing but its place is wanted. False, and nothing is done, when it is
    /// not as simple as that.
    #[inline]
    fn pass_like_before(&mut self, known: &KnownSeries, wire: &mut WireReader<'_>) -> bool {
        let Some(field) = known.field.filter(|&field| self.fields[field].test_position.is_none()) else { return false };
        let [(time, group)] = self.scratch.times[..] else { return false };
        let mut ahead = wire.clone();
        let Some((count, offset)) = known.head.only_chunk(&mut ahead) else { return false };
        let Some(places_at) = self.table.groups.get(group as usize).map(|group| group.chunks_at) else { return false };
        let place = places_at + field;
        if count == 0 || offset <= time || offset >= self.body_end || !self.table.chunks[place].is_absent() {
            return false;
        }
        self.table.chunks[place].range = ByteRange { start: offset, end: offset };
        self.pass(offset, Part::Field(field));
        self.next_field = field + 1;
        *wire = ahead;
        true
    }

    fn series(&mut self, series: &SeriesMetadata<'_>, field: Option<usize>) -> Result<()> {
        let outcome = match self.kind {
            None if series.is_time() => {
                self.kind = Some(DeviceKind::Aligned);
                return self.time_series(series);
            }
            Some(DeviceKind::Aligned) => self.value_series(series, field),
            None | Some(DeviceKind::Plain) => {
                self.kind = Some(DeviceKind::Plain);
                self.plain_series(series, field)
            }
        };
        outcome.map_err(|error| error.in_column(series.measurement))
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
                let group = Group { time, field: None, row_count, times, size: 0, is_whole: false, last: 0, chunks_at: 0 };
                self.table.push(group)?;
            } else {
                check_not_wanted(&chunk)?;
            }
            self.scratch.times.push((chunk.offset, group));
            self.pass(chunk.offset, if group == PRUNED { Part::Other } else { Part::Time });
        }
        Ok(())
    }

    /// Every chunk of a series with times of its own is a group.
    fn plain_series(&mut self, series: &SeriesMetadata<'_>, field: Option<usize>) -> Result<()> {
        if series.series_type == SeriesType::Time {
            return Err(Error::new(ErrorKind::Corrupt, "a time column among series that have times of their own"));
        }
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
            let group = Group { time, field: Some(field), row_count, times, size: 0, is_whole: false, last, chunks_at: 0 };
            self.table.push(group)?;
            if let Some(position) = self.fields[field].test_position {
                let group = self.table.groups.len() - 1;
                self.table.bounds[group * self.table.test_count + position] = chunk_bounds(&chunk.statistics, row_count);
            }
        }
        Ok(())
    }

    fn value_series(&mut self, series: &SeriesMetadata<'_>, field: Option<usize>) -> Result<()> {
        let Some(field) = field else {
            for chunk in series.chunks() {
                self.leave_out(chunk?.offset);
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

    fn leave_out(&mut self, offset: u64) {
        self.scratch.others.push(offset);
        self.pass(offset, Part::Other);
    }

    /// Goes on to the chunk that begins at `offset`: the one before ends there, if it lies before it.
    #[inline]
    fn pass(&mut self, offset: u64, part: Part) {
        let (before, start) = std::mem::replace(&mut self.last, (part, offset));
        if offset <= start {
            self.is_in_order = false;
        } else if self.is_in_order {
            let group = match before {
                Part::Other => return,
                _ => self.table.groups.len() - 1,
            };
            match before {
                Part::Field(field) => self.table.chunks[self.table.groups[group].chunks_at + field].range.end = offset,
                _ => self.table.groups[group].time.range.end = offset,
            }
            self.table.groups[group].size += offset - start;
            self.longest = self.longest.max(offset - start);
        }
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
            self.leave_out(chunk.offset);
            return Ok(());
        }
        let range = self.place(chunk.offset)?;
        self.pass(chunk.offset, Part::Field(field));
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

    /// The ends of a group whose chunks came in the order of the file are known, but for the last one.
    fn end_last_of_group(&mut self) {
        let index = self.first;
        let Some(group) = self.table.groups.get_mut(index) else { return };
        group.is_whole = self.scratch.others.is_empty();
        let last = match self.last.0 {
            Part::Time => Some(self.fields.len()),
            Part::Field(field) => Some(field),
            Part::Other => None,
        };
        self.end_last(index, last, self.longest, u64::MAX);
    }

    /// The last chunk of a group is taken to be a little longer than the longest other one, and ends before `group_end`.
    fn end_last(&mut self, index: usize, last: Option<usize>, longest: u64, group_end: u64) {
        let field_count = self.fields.len();
        let group = &mut self.table.groups[index];
        group.last = last.unwrap_or(field_count);
        let Some(last) = last else { return };
        let guess = if longest > 0 { longest + longest / 4 } else { group.row_count.saturating_mul(9) };
        let guess = guess.saturating_add(GUESS_MIN).min(GUESS_MAX);
        let places_at = group.chunks_at;
        let place = match self.table.chunks[places_at..places_at + field_count].get_mut(last) {
            Some(chunk) => &mut chunk.range,
            None => &mut group.time.range,
        };
        place.end = place.start.saturating_add(guess).min(group_end).min(self.body_end);
        group.size += place.size();
    }

    /// A chunk ends where the next one begins, whatever the order in which they were met.
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
            group.size = 0;
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
            let mut last = end_of(&mut group.time.range).then_some(field_count);
            for (field, chunk) in chunks.iter_mut().enumerate().filter(|(_, chunk)| !chunk.is_absent()) {
                if end_of(&mut chunk.range) {
                    last = Some(field);
                }
            }
            self.end_last(index, last, longest, group_end);
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
