//! The devices of a file: their open groups, and the metadata of what was written.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;

use tsloom_encoding::ToWire;
use tsloom_format::{ChunkGroupHeader, ChunkKind, SeriesMetadataWire, SeriesType, Statistics};
use tsloom_model::{DeviceId, Encoding, Error, ErrorKind, Result};

use super::Sink;
use super::chunk::{ChunkParts, Pages};
use super::group::Group;
use super::table::Table;

/// All devices, found by table and tags without making an id.
#[derive(Debug, Default)]
pub(super) struct Devices {
    list: Vec<Device>,
    /// The first device of each hash; the others hang on it.
    by_hash: HashMap<u64, u32>,
    /// The device found last: rows of one device tend to come together.
    last: usize,
}

#[derive(Debug)]
pub(super) struct Device {
    pub(super) id: DeviceId,
    /// Position among the tables.
    pub(super) table: usize,
    next_of_hash: Option<u32>,
    last_time: Option<i64>,
    pub(super) group: Option<Box<Group>>,
    group_count: u32,
    /// Ascending by rank.
    pub(super) series: Vec<Series>,
}

/// What is kept of the chunks of one series.
#[derive(Debug)]
pub(super) struct Series {
    /// 0 for the time column, else one more than the position in the table's columns by name.
    rank: u32,
    /// Of all chunks.
    statistics: Statistics,
    first_offset: u64,
    /// From the second chunk on: every chunk's offset and statistics in wire form.
    chunk_list: Vec<u8>,
}

impl Devices {
    /// The device of these tags.
    pub(super) fn find<'a>(
        &self,
        table: usize,
        table_name: &str,
        tags: &(impl Iterator<Item = Option<&'a str>> + Clone),
    ) -> Option<usize> {
        let is_it = |device: &Device| device.table == table && device.id.is(table_name, tags.clone());
        if self.list.get(self.last).is_some_and(is_it) {
            return Some(self.last);
        }
        let mut next = self.by_hash.get(&hash(table, tags.clone())).copied();
        while let Some(index) = next {
            let device = &self.list[index as usize];
            if is_it(device) {
                return Some(index as usize);
            }
            next = device.next_of_hash;
        }
        None
    }

    /// The device of these tags, made when it is new.
    pub(super) fn find_or_add<'a>(
        &mut self,
        table: usize,
        table_name: &'a str,
        tags: impl Iterator<Item = Option<&'a str>> + Clone,
    ) -> usize {
        let index = self.find(table, table_name, &tags).unwrap_or_else(|| {
            let index = self.list.len();
            let next_of_hash = self.by_hash.insert(hash(table, tags.clone()), index as u32);
            let id = DeviceId::new(table_name, tags);
            let series = Vec::new();
            self.list.push(Device { id, table, next_of_hash, last_time: None, group: None, group_count: 0, series });
            index
        });
        self.last = index;
        index
    }

    pub(super) fn get(&self, index: usize) -> &Device {
        &self.list[index]
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut Device {
        &mut self.list[index]
    }

    /// All devices in the order of the file.
    pub(super) fn in_order(&self) -> Vec<usize> {
        self.sorted((0..self.list.len()).collect())
    }

    /// The devices with an open group, in the order of the file.
    pub(super) fn open_in_order(&self) -> Vec<usize> {
        self.sorted((0..self.list.len()).filter(|index| self.list[*index].group.is_some()).collect())
    }

    fn sorted(&self, mut indexes: Vec<usize>) -> Vec<usize> {
        indexes.sort_unstable_by(|a, b| self.list[*a].id.cmp(&self.list[*b].id));
        indexes
    }
}

/// Null tags count by their place only, so that trailing ones do not count at all.
fn hash<'a>(table: usize, tags: impl Iterator<Item = Option<&'a str>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    table.hash(&mut hasher);
    for (place, tag) in tags.enumerate() {
        if let Some(tag) = tag {
            (place, tag).hash(&mut hasher);
        }
    }
    hasher.finish()
}

impl Device {
    /// Time of the last row.
    pub(super) fn last_time(&self) -> Option<i64> {
        self.last_time
    }

    /// Checks that times rise strictly, also after those before, and takes note of the last one.
    pub(super) fn pass(&mut self, times: &[i64]) -> Result<()> {
        let out_of_order = |before: i64, time: i64| {
            let message = format!("device {}: time {time} does not come after {before}", self.id);
            Err(Error::new(ErrorKind::OutOfOrder, message))
        };
        if let (Some(last), Some(first)) = (self.last_time, times.first())
            && *first <= last
        {
            return out_of_order(last, *first);
        }
        if let Some(pair) = times.windows(2).find(|pair| pair[1] <= pair[0]) {
            return out_of_order(pair[0], pair[1]);
        }
        self.last_time = times.last().copied().or(self.last_time);
        Ok(())
    }

    /// Writes a chunk group whose last page was sealed; returns the number of its chunks.
    pub(super) fn write_group<W: Write>(
        &mut self,
        group: &Group,
        table: &Table,
        sink: &mut Sink<W>,
        is_last: bool,
    ) -> Result<u64> {
        // Peers match chunks of a device by their place in the list: with several groups none may be missing.
        let needs_all = !is_last || self.group_count > 0;
        sink.write(&ChunkGroupHeader(&self.id).to_vec())?;
        let parts = ChunkParts {
            kind: ChunkKind::Time,
            measurement: "",
            series_type: SeriesType::Time,
            compression: table.time_compression,
            encoding: Encoding::Ts2Diff,
        };
        let offset = group.time_chunk.pages.write(parts, sink)?;
        self.add_chunk(0, offset, &group.time_chunk.statistics);
        let mut chunk_count = 1;
        for (place, field) in table.by_name.iter().enumerate() {
            let (column, field) = (&group.columns[*field as usize], &table.fields[*field as usize]);
            let column = column.as_deref().filter(|column| column.is_used);
            let no_pages = Pages::default();
            let no_statistics;
            let (encoding, pages, statistics) = match column {
                Some(column) => {
                    let (encoding, pages) = column.best(field);
                    (encoding, pages, &column.chunk.statistics)
                }
                None if needs_all => {
                    no_statistics = Statistics::new(field.series_type());
                    (field.encoding, &no_pages, &no_statistics)
                }
                None => continue,
            };
            let parts = ChunkParts {
                kind: ChunkKind::Value,
                measurement: &field.name,
                series_type: field.series_type(),
                compression: field.compression,
                encoding,
            };
            let offset = pages.write(parts, sink)?;
            self.add_chunk(place as u32 + 1, offset, statistics);
            chunk_count += 1;
        }
        self.pass_group();
        Ok(chunk_count)
    }

    /// Takes note of a chunk that is in the file.
    pub(super) fn add_chunk(&mut self, rank: u32, offset: u64, statistics: &Statistics) {
        match self.series.binary_search_by_key(&rank, |series| series.rank) {
            Ok(index) => self.series[index].add(offset, statistics),
            Err(index) => {
                let statistics = statistics.clone();
                self.series.insert(index, Series { rank, statistics, first_offset: offset, chunk_list: Vec::new() });
            }
        }
    }

    /// Takes note of a chunk group that is in the file.
    pub(super) fn pass_group(&mut self) {
        self.group_count += 1;
    }
}

impl Series {
    fn add(&mut self, offset: u64, statistics: &Statistics) {
        if self.chunk_list.is_empty() {
            self.chunk_list.extend_from_slice(&self.first_offset.to_be_bytes());
            self.statistics.write_to(&mut self.chunk_list);
        }
        self.chunk_list.extend_from_slice(&offset.to_be_bytes());
        statistics.write_to(&mut self.chunk_list);
        self.statistics.merge(statistics);
    }

    /// The column's name.
    pub(super) fn name<'a>(&self, table: &'a Table) -> &'a str {
        match self.rank.checked_sub(1) {
            None => "",
            Some(place) => &table.fields[table.by_name[place as usize] as usize].name,
        }
    }

    /// Appends the record of the series.
    pub(super) fn write_to(&self, table: &Table, out: &mut Vec<u8>) {
        let first_offset = self.first_offset.to_be_bytes();
        let many_chunks = !self.chunk_list.is_empty();
        let record = SeriesMetadataWire {
            kind: if self.rank == 0 { ChunkKind::Time } else { ChunkKind::Value },
            measurement: self.name(table),
            statistics: &self.statistics,
            many_chunks,
            chunk_list: if many_chunks { &self.chunk_list } else { &first_offset },
        };
        record.write_to(out);
    }
}
