//! What is kept of the chunks of the series of a device, until the end of the file.

use tsloom_encoding::ToWire;
use tsloom_format::{ChunkKind, SeriesMetadataWire, Statistics};

use super::table::Table;

/// The series of one device, ascending by rank, which is ascending by name.
#[derive(Debug, Default)]
pub(super) struct SeriesList {
    list: Vec<Series>,
}

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

impl SeriesList {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Series> {
        self.list.iter()
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Takes note of a chunk. Returns how many bytes that took.
    pub(super) fn add(&mut self, rank: u32, offset: u64, statistics: &Statistics) -> usize {
        match self.list.binary_search_by_key(&rank, |series| series.rank) {
            Ok(index) => self.list[index].add(offset, statistics),
            Err(index) => {
                let series = Series { rank, statistics: statistics.clone(), first_offset: offset, chunk_list: Vec::new() };
                self.list.insert(index, series);
                size_of::<Series>() + statistics.wire_size()
            }
        }
    }
}

impl Series {
    fn add(&mut self, offset: u64, statistics: &Statistics) -> usize {
        let before = self.chunk_list.len();
        if self.chunk_list.is_empty() {
            self.chunk_list.extend_from_slice(&self.first_offset.to_be_bytes());
            self.statistics.write_to(&mut self.chunk_list);
        }
        self.chunk_list.extend_from_slice(&offset.to_be_bytes());
        statistics.write_to(&mut self.chunk_list);
        self.statistics.merge(statistics);
        self.chunk_list.len() - before
    }

    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// Appends the offset and the statistics of every chunk.
    pub(super) fn put_chunks(&self, out: &mut Vec<u8>) {
        if self.chunk_list.is_empty() {
            out.extend_from_slice(&self.first_offset.to_be_bytes());
            self.statistics.write_to(out);
        } else {
            out.extend_from_slice(&self.chunk_list);
        }
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
            kind: match (table.is_aligned, self.rank) {
                (false, _) => ChunkKind::Plain,
                (true, 0) => ChunkKind::Time,
                (true, _) => ChunkKind::Value,
            },
            measurement: self.name(table),
            statistics: &self.statistics,
            many_chunks,
            chunk_list: if many_chunks { &self.chunk_list } else { &first_offset },
        };
        record.write_to(out);
    }
}
