//! The devices of a file: their open groups, and the metadata of what was written.
//!
//! Tables and tree-model devices share the list: the name of a table is never that of a tree, so name and tags tell which is meant.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;

use tsloom_encoding::ToWire;
use tsloom_format::{ChunkGroupHeader, ChunkKind, SeriesType, Statistics};
use tsloom_model::{DeviceId, Encoding, Error, ErrorKind, Result};

use super::Sink;
use super::chunk::{ChunkParts, Pages};
use super::group::Group;
use super::plain::PlainGroup;
use super::series::{Series, SeriesList};
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
    pub(super) group: Option<OpenGroup>,
    group_count: u32,
    /// Of the chunks in the file; not those that were spilled.
    pub(super) series: SeriesList,
    /// The series that were spilled, a bit for each rank.
    spilled: Vec<u64>,
    /// Bytes that `series` has grown by since somebody asked.
    grown: usize,
}

/// What was not written yet.
#[derive(Debug)]
pub(super) enum OpenGroup {
    /// Of a device whose columns share their times.
    Aligned(Box<Group>),
    /// Of one whose columns have their own.
    Plain(Box<PlainGroup>),
}

impl OpenGroup {
    /// Bytes that rows, pages and the buffers themselves take.
    pub(super) fn byte_count(&self) -> usize {
        match self {
            Self::Aligned(group) => group.byte_count(),
            Self::Plain(group) => group.byte_count(),
        }
    }

    /// Rows in finished and open pages.
    pub(super) fn row_count(&self) -> usize {
        match self {
            Self::Aligned(group) => group.row_count(),
            Self::Plain(group) => group.row_count(),
        }
    }

    /// Forgets everything and keeps the buffers.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Aligned(group) => group.clear(),
            Self::Plain(group) => group.clear(),
        }
    }
}

impl Devices {
    /// The device of these tags.
    pub(super) fn find<'a>(&self, table_name: &str, tags: &(impl Iterator<Item = Option<&'a str>> + Clone)) -> Option<usize> {
        let is_it = |device: &Device| device.id.is(table_name, tags.clone());
        if self.list.get(self.last).is_some_and(is_it) {
            return Some(self.last);
        }
        let mut next = self.by_hash.get(&hash(table_name, tags.clone())).copied();
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
        let index = self.find(table_name, &tags).unwrap_or_else(|| {
            let index = self.list.len();
            let next_of_hash = self.by_hash.insert(hash(table_name, tags.clone()), index as u32);
            let id = DeviceId::new(table_name, tags);
            let series = SeriesList::default();
            let device = Device {
                id,
                table,
                next_of_hash,
                last_time: None,
                group: None,
                group_count: 0,
                series,
                spilled: Vec::new(),
                grown: 0,
            };
            self.list.push(device);
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
fn hash<'a>(table: &str, tags: impl Iterator<Item = Option<&'a str>>) -> u64 {
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

    /// Takes note of rows that are in the file already, up to this time. Groups of a file may overlap.
    pub(super) fn reach(&mut self, time: Option<i64>) {
        self.last_time = self.last_time.max(time);
    }

    /// Writes the chunks of a group whose columns have times of their own; returns their number.
    pub(super) fn write_plain_group<W: Write>(&mut self, group: &PlainGroup, table: &Table, sink: &mut Sink<W>) -> Result<u64> {
        if !group.has_chunks() {
            return Ok(0);
        }
        sink.write(&ChunkGroupHeader(&self.id).to_vec())?;
        let mut chunk_count = 0;
        for (place, &field) in table.by_name.iter().enumerate() {
            let field_schema = &table.fields[field as usize];
            for chunk in group.chunks(field as usize) {
                let (encoding, pages) = chunk.best(field_schema);
                let parts = ChunkParts {
                    kind: ChunkKind::Plain,
                    measurement: &field_schema.name,
                    series_type: field_schema.series_type(),
                    compression: field_schema.compression,
                    encoding,
                };
                let offset = pages.write(parts, sink)?;
                self.add_chunk(place as u32 + 1, offset, chunk.statistics());
                chunk_count += 1;
            }
        }
        self.pass_group();
        Ok(chunk_count)
    }

    /// Writes a chunk group whose last page was sealed; returns the number of its chunks.
    pub(super) fn write_group<W: Write>(
        &mut self,
        group: &Group,
        table: &Table,
        sink: &mut Sink<W>,
        is_last: bool,
    ) -> Result<u64> {
        // Peers match chunks of a device by their place in the list: with several groups none may be missing. A device of the tree
        // model has no schema in the file but its chunks.
        let needs_all = !is_last || self.group_count > 0 || table.schema.name().is_empty();
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
        self.grown += self.series.add(rank, offset, statistics);
    }

    /// Bytes of metadata that came with the chunks since the last call.
    pub(super) fn take_grown(&mut self) -> usize {
        std::mem::take(&mut self.grown)
    }

    /// True when the file has a chunk of the device.
    pub(super) fn has_chunks(&self) -> bool {
        self.group_count > 0
    }

    /// Takes note that the series go to the temporary file.
    pub(super) fn pass_spill(&mut self) {
        for rank in self.series.iter().map(Series::rank) {
            let word = rank as usize / 64;
            if self.spilled.len() <= word {
                self.spilled.resize(word + 1, 0);
            }
            self.spilled[word] |= 1 << (rank % 64);
        }
        self.series = SeriesList::default();
    }

    /// Number of series, spilled ones too. Some are in both places only before the last spill.
    pub(super) fn series_count(&self) -> u64 {
        let spilled = self.spilled.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        spilled + self.series.iter().len() as u64
    }

    /// Takes note of a chunk group that is in the file.
    pub(super) fn pass_group(&mut self) {
        self.group_count += 1;
    }
}
