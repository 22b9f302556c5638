//! Series metadata that has no room in memory: runs in a temporary file, merged at the end.
//!
//! ```text
//! run      devices in the order of the file
//! device   u32 number of the device, u32 bytes of its series, series
//! series   u32 rank, u32 bytes of its chunks, x { u64 offset, statistics }
//! ```
//!
//! A run is what was known when memory was full; a later run has later chunks of the same devices, and devices that are new. The
//! order of two devices never changes, so one pass over all runs at once gives every device whole. The file vanishes with the writer.

use std::fs::File;
use std::io::{BufWriter, Write};

use tsloom_encoding::WireReader;
use tsloom_format::{SeriesType, Statistics, StatisticsRef};
use tsloom_io::ReadAt;
use tsloom_model::Result;

use super::device::{Device, Devices};
use super::series::SeriesList;
use super::table::Table;

/// Bytes of a run that are read at once.
const READ_SIZE: usize = 64 << 10;
/// Device number and size.
const HEAD_SIZE: usize = 8;

#[derive(Debug)]
pub(super) struct Spill {
    file: BufWriter<File>,
    size: u64,
    /// Where each run ends.
    ends: Vec<u64>,
    record: Vec<u8>,
}

impl Spill {
    pub(super) fn new() -> Result<Self> {
        let file = BufWriter::with_capacity(READ_SIZE, tempfile::tempfile()?);
        Ok(Self { file, size: 0, ends: Vec::new(), record: Vec::new() })
    }

    /// Writes the series of all devices as one more run, and forgets them.
    pub(super) fn add_run(&mut self, devices: &mut Devices) -> Result<()> {
        for index in devices.in_order() {
            let device = devices.get_mut(index);
            if !device.series.is_empty() {
                self.add_device(index as u32, device)?;
                device.pass_spill();
            }
        }
        self.ends.push(self.size);
        Ok(())
    }

    fn add_device(&mut self, number: u32, device: &Device) -> Result<()> {
        let record = &mut self.record;
        record.clear();
        record.extend_from_slice(&number.to_be_bytes());
        record.extend_from_slice(&[0; 4]);
        for series in device.series.iter() {
            record.extend_from_slice(&series.rank().to_be_bytes());
            let size_at = record.len();
            record.extend_from_slice(&[0; 4]);
            series.put_chunks(record);
            put_size(record, size_at);
        }
        put_size(record, 4);
        self.file.write_all(record)?;
        self.size += record.len() as u64;
        Ok(())
    }

    /// Starts reading all runs.
    pub(super) fn into_runs(self) -> Result<Runs> {
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let runs = starts.zip(&self.ends).map(|(at, end)| Run { at, end: *end, buffer: Vec::new(), used: 0 }).collect();
        Ok(Runs { file, runs, series: SeriesList::default() })
    }
}

/// Fills in how many bytes follow the four at `size_at`.
fn put_size(record: &mut [u8], size_at: usize) {
    let size = u32::try_from(record.len() - size_at - 4).expect("the metadata of one device is below 4 GiB");
    record[size_at..size_at + 4].copy_from_slice(&size.to_be_bytes());
}

/// All runs, each read up to the same device.
#[derive(Debug)]
pub(super) struct Runs {
    file: File,
    /// Oldest first.
    runs: Vec<Run>,
    series: SeriesList,
}

#[derive(Debug)]
struct Run {
    /// What was not read yet.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    used: usize,
}

impl Runs {
    /// The series of the next device in the order of the file.
    pub(super) fn series_of(&mut self, number: usize, table: &Table) -> Result<&SeriesList> {
        self.series.clear();
        for run in &mut self.runs {
            let Some(head) = run.ahead(HEAD_SIZE, &self.file)? else { continue };
            let mut wire = WireReader::new(head);
            let (device, size) = (wire.u32()?, wire.u32()? as usize);
            if device as usize != number {
                continue;
            }
            let record = run.ahead(HEAD_SIZE + size, &self.file)?.unwrap_or_default();
            let mut wire = WireReader::new(record.get(HEAD_SIZE..).unwrap_or_default());
            while !wire.is_empty() {
                let (rank, size) = (wire.u32()?, wire.u32()? as usize);
                let mut chunks = WireReader::new(wire.bytes(size)?);
                while !chunks.is_empty() {
                    let offset = chunks.u64()?;
                    let statistics = StatisticsRef::read(&mut chunks, series_type(rank, table))?;
                    self.series.add(rank, offset, &Statistics::from(statistics));
                }
            }
            run.used += HEAD_SIZE + size;
        }
        Ok(&self.series)
    }
}

fn series_type(rank: u32, table: &Table) -> SeriesType {
    match rank.checked_sub(1) {
        None => SeriesType::Time,
        Some(place) => table.fields[table.by_name[place as usize] as usize].series_type(),
    }
}

impl Run {
    /// The next `size` bytes, which stay next; `None` at the end of the run.
    fn ahead(&mut self, size: usize, file: &File) -> Result<Option<&[u8]>> {
        let here = self.buffer.len() - self.used;
        if here < size {
            self.buffer.drain(..self.used);
            self.used = 0;
            let more = (self.end - self.at).min((size - here).max(READ_SIZE) as u64) as usize;
            self.buffer.resize(here + more, 0);
            file.read_exact_at(&mut self.buffer[here..], self.at)?;
            self.at += more as u64;
        }
        Ok(self.buffer[self.used..].get(..size))
    }
}
