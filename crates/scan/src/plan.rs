//! From the metadata of many devices to the chunks that a scan needs of them, a batch at a time.
//!
//! ```text
//! measurement roots of the next devices     one merged read
//! └─ runs of series metadata                one merged read; runs without a wanted name are passed over
//!    └─ chunk groups: time chunk + the wanted value chunks, with their byte ranges
//! ```
//!
//! Chunks have no size in the metadata. A chunk ends where the next one of the device begins; the last one of a group is read as far
//! as it is likely to go, and again if that was too short.

mod device;
mod measurements;

use std::ops::Range;

use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, Grouped, Result, TimeRange};

use self::device::{DeviceScratch, DeviceWalk};
use self::measurements::MeasurementWalk;
use crate::deletions::Gone;
use crate::filter::{ALL_NULL, ChunkBounds, RowTest};
use crate::projection::FieldColumn;
use crate::reads::{ByteRange, FileIo, Pieces};

/// Bytes of measurement roots, and of series metadata, that are taken at once. One device alone may have more.
const BATCH_SIZE_MAX: u64 = 256 << 10;
/// Places of chunks in one plan, absent ones included: 256 MiB of them. A device with more chunk groups times columns is read in time
/// ranges or with fewer columns.
const PLACE_COUNT_MAX: usize = 16 << 20;

/// Where a chunk is; nowhere (`start` 0) when it is absent or holds only nulls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChunkPlace {
    /// From its marker byte to where it ends, as far as is known.
    pub(crate) range: ByteRange,
}

impl ChunkPlace {
    pub(crate) fn is_absent(self) -> bool {
        self.range.start == 0
    }
}

/// The rows of one chunk group of a device: its time chunk. Its value chunks are `FilePlan::chunks_of`. Of a device that is not
/// aligned, every chunk is a group of one column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// The chunk that has the times.
    pub(crate) time: ChunkPlace,
    /// The field whose values are in the same chunk as the times; `None` in an aligned device.
    pub(crate) field: Option<usize>,
    pub(crate) row_count: u64,
    pub(crate) times: TimeRange,
    /// Bytes that are needed of it.
    pub(crate) size: u64,
    /// It is all that lies behind the start of its time chunk, for `size` bytes.
    pub(crate) is_whole: bool,
    /// Which of its places lies last: a field, or `field_count` for the time chunk. Where that one ends is a guess.
    last: usize,
    /// Where its places begin; a group of one column has none.
    chunks_at: usize,
}

/// The devices of one file, in the order in which the scan visits them, and the plan for some of them.
pub(crate) struct FilePlan {
    /// The measurement root of each device.
    nodes: Vec<ByteRange>,
    time: TimeRange,
    /// Bytes of nodes and series metadata that may still be read: each byte of a file belongs to one of them, so more than all
    /// bytes means that they point to each other.
    bytes_left: u64,

    /// Devices whose runs are known.
    node_batch: Range<usize>,
    node_pieces: Pieces,
    runs: Vec<ByteRange>,
    run_ends: Vec<u32>,

    /// Devices whose groups are known.
    group_batch: Range<usize>,
    run_pieces: Pieces,
    table: GroupTable,
    group_ends: Vec<u32>,
    scratch: DeviceScratch,
}

/// The groups of the planned devices.
#[derive(Default)]
struct GroupTable {
    groups: Vec<Group>,
    /// `field_count` places for each group of an aligned device.
    chunks: Vec<ChunkPlace>,
    field_count: usize,
    /// `test_count` bounds for each group: what is known of the columns of the condition on rows.
    bounds: Vec<ChunkBounds>,
    test_count: usize,
}

impl GroupTable {
    /// Adds a group that has no value chunk yet.
    fn push(&mut self, group: Group) -> Result<()> {
        self.bounds.resize(self.bounds.len() + self.test_count, ALL_NULL);
        let group = Group { chunks_at: self.chunks.len(), ..group };
        if group.field.is_some() {
            self.groups.push(group);
            return Ok(());
        }
        if self.chunks.len() + self.field_count > PLACE_COUNT_MAX {
            let message = format!(
                "{} chunk groups of {} columns are past the limit of {}; ask for fewer columns or less time",
                Grouped(self.groups.len() as u64),
                Grouped(self.field_count as u64),
                Grouped(PLACE_COUNT_MAX as u64)
            );
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        self.groups.push(group);
        self.chunks.resize(self.chunks.len() + self.field_count, ChunkPlace::default());
        Ok(())
    }

    /// The places of the value chunks of a group.
    fn chunks_of(&self, group: &Group) -> &[ChunkPlace] {
        let count = if group.field.is_some() { 0 } else { self.field_count };
        &self.chunks[group.chunks_at..group.chunks_at + count]
    }

    fn clear(&mut self) {
        self.groups.clear();
        self.chunks.clear();
        self.bounds.clear();
    }
}

impl FilePlan {
    pub(crate) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            time: TimeRange::EMPTY,
            bytes_left: 0,
            node_batch: 0..0,
            node_pieces: Pieces::default(),
            runs: Vec::new(),
            run_ends: Vec::new(),
            group_batch: 0..0,
            run_pieces: Pieces::default(),
            table: GroupTable::default(),
            group_ends: Vec::new(),
            scratch: DeviceScratch::default(),
        }
    }

    /// Forgets its devices, for others with so many fields, and keeps its buffers.
    pub(crate) fn restart(&mut self, field_count: usize, test_count: usize, time: TimeRange, file_size: u64) {
        self.scratch.forget();
        self.time = time;
        self.nodes.clear();
        self.bytes_left = file_size;
        (self.node_batch, self.group_batch) = (0..0, 0..0);
        self.table.clear();
        (self.table.field_count, self.table.test_count) = (field_count, test_count);
    }

    /// Adds the device that is visited after those before; `node` is its measurement root.
    pub(crate) fn add_device(&mut self, node: ByteRange) {
        self.nodes.push(node);
    }

    /// The groups of a device, in the order of the file. They stay until a device of another batch is asked for.
    pub(crate) fn device<R: ReadAt>(
        &mut self,
        device: usize,
        fields: &[FieldColumn],
        file: &mut FileIo<R>,
    ) -> Result<Range<usize>> {
        if !self.group_batch.contains(&device) {
            self.plan_groups(device, fields, file)?;
        }
        Ok(slice_of(&self.group_ends, device - self.group_batch.start))
    }

    /// Which devices are planned: another batch has other groups under the same numbers.
    pub(crate) fn batch(&self) -> usize {
        self.group_batch.start
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.table.groups
    }

    /// The places of the value chunks of a group, one for each field; none when times and values share a chunk.
    pub(crate) fn chunks_of(&self, group: usize) -> &[ChunkPlace] {
        self.table.chunks_of(&self.table.groups[group])
    }

    /// True when statistics say that no row of the group meets the condition.
    pub(crate) fn is_ruled_out(&self, group: usize, test: &RowTest, fields: &[FieldColumn], gone: &Gone) -> bool {
        let bounds = &self.table.bounds[group * self.table.test_count..(group + 1) * self.table.test_count];
        let times = self.table.groups[group].times;
        test.rules_out(&|position| {
            let field = fields.iter().find(|field| field.test_position == Some(position));
            field.map_or(bounds[position], |field| gone.bounds(field.index, times, bounds[position]))
        })
    }

    /// Reads the measurement roots of the devices from `first` on.
    fn plan_runs<R: ReadAt>(&mut self, first: usize, fields: &[FieldColumn], file: &mut FileIo<R>) -> Result<()> {
        self.node_batch = 0..0;
        self.runs.clear();
        self.run_ends.clear();
        let count = fitting(self.nodes[first..].iter().map(|node| node.size()));
        self.node_pieces.clear();
        self.node_pieces.load(self.nodes[first..first + count].iter().copied(), file)?;
        for &node in &self.nodes[first..first + count] {
            let mut walk = MeasurementWalk { fields, runs: &mut self.runs, file, bytes_left: &mut self.bytes_left };
            walk.node(&self.node_pieces, node, true, 0)?;
            self.run_ends.push(self.runs.len() as u32);
        }
        self.node_batch = first..first + count;
        Ok(())
    }

    /// Reads the series metadata of the devices from `first` on.
    fn plan_groups<R: ReadAt>(&mut self, first: usize, fields: &[FieldColumn], file: &mut FileIo<R>) -> Result<()> {
        if !self.node_batch.contains(&first) {
            self.plan_runs(first, fields, file)?;
        }
        self.group_batch = 0..0;
        self.table.clear();
        self.group_ends.clear();
        let skip = first - self.node_batch.start;
        let runs_of = |device: usize| slice_of(&self.run_ends, device);
        let sizes = (skip..self.run_ends.len()).map(|device| self.runs[runs_of(device)].iter().map(|run| run.size()).sum());
        let count = fitting(sizes);
        self.run_pieces.clear();
        let runs = runs_of(skip).start..runs_of(skip + count - 1).end;
        self.run_pieces.load(self.runs[runs].iter().copied(), file)?;
        let body_end = file.reader.metadata().meta_offset;
        for device in skip..skip + count {
            let runs = &self.runs[slice_of(&self.run_ends, device)];
            DeviceWalk::new(fields, self.time, body_end, &mut self.table, &mut self.scratch).run(&self.run_pieces, runs)?;
            self.group_ends.push(self.table.groups.len() as u32);
        }
        self.end_last_chunks();
        self.group_batch = first..first + count;
        Ok(())
    }

    /// Where the last chunk of a group ends is a guess; it does not reach into the group that follows.
    fn end_last_chunks(&mut self) {
        for index in 1..self.table.groups.len() {
            let next_start = self.table.groups[index].time.range.start;
            let group = &mut self.table.groups[index - 1];
            let place = match group.last {
                last if last == self.table.field_count => &mut group.time,
                last => &mut self.table.chunks[group.chunks_at + last],
            };
            if place.range.start < next_start && next_start < place.range.end {
                group.size -= place.range.end - next_start;
                place.range.end = next_start;
            }
        }
    }
}

/// The `index`-th range of a list of ends.
fn slice_of(ends: &[u32], index: usize) -> Range<usize> {
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[index] as usize
}

/// How many sizes fit into a batch, at least one.
fn fitting(sizes: impl Iterator<Item = u64>) -> usize {
    let mut left = BATCH_SIZE_MAX;
    let fits = |size: &u64| left.checked_sub(*size).inspect(|&rest| left = rest).is_some();
    sizes.take_while(fits).count().max(1)
}
