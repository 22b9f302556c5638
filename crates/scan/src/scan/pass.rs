//! One pass over some devices in some times, into blocks: what the scan does itself, and what its workers do.

use std::ops::Range;
use std::sync::Arc;

use tsloom_block::Block;
use tsloom_io::ReadAt;
use tsloom_model::{Result, TimeRange, Value};

use super::TableScan;
use crate::ScanRequest;
use crate::devices::DeviceList;
use crate::group::GroupReader;
use crate::projection::Projection;
use crate::slices::Spans;
use crate::sources::{OpenSource, Step};
use crate::window::RowWindow;

/// Bytes of tag values that one block may repeat: a block of long tags gets fewer rows.
const TAG_BYTES_MAX: usize = 64 << 20;

/// Cells with which a block is full enough: no other device joins it. More would not stay in the fast cache of the core between
/// being decoded and being read.
const SHARED_CELLS_MAX: usize = 8 << 10;

/// A device that is being read.
#[derive(Clone, Copy)]
pub(super) struct Current {
    device: usize,
    /// Bytes of its tags in a row; at least one.
    tag_bytes: usize,
    has_rows: bool,
}

impl<R: ReadAt> TableScan<R> {
    /// A scan of the same devices and rows with readers of its own, which [`begin`](Self::begin) tells what to read.
    pub(crate) fn fork(&self) -> Self {
        let request = ScanRequest {
            order: self.order,
            row_policy: self.row_policy,
            devices_apart: self.keeps_devices_apart,
            ..ScanRequest::new()
        };
        let sources = self.sources.iter().map(OpenSource::fork).collect();
        let (schema, projection, devices) = (self.schema.clone(), self.projection.clone(), Arc::clone(&self.devices));
        let fork = Self::new(schema, projection, sources, devices, self.window, &request);
        // Nobody knows which of its rows the offset leaves out.
        Self { pass_limit: Some(self.window.rows_wanted()), ..fork }
    }

    /// Has these devices visited next, in these times; of a fork, with as many rows as the scan it comes from may give.
    pub(crate) fn begin(&mut self, devices: Range<usize>, times: TimeRange, is_backwards: bool) {
        self.window = RowWindow::new(times, 0, self.pass_limit);
        self.is_backwards = is_backwards;
        self.visit(devices);
    }

    pub(super) fn visit(&mut self, devices: Range<usize>) {
        let test_count = self.projection.test.as_ref().map_or(0, |test| test.columns.len());
        for source in &mut self.sources {
            if let OpenSource::File(file) = source {
                let size = file.file.reader.size();
                file.plan.restart(self.projection.fields.len(), test_count, self.window.times(), size);
                file.readers.iter_mut().for_each(GroupReader::forget);
                file.visited = 0;
            }
        }
        let mut add = |device: usize| {
            for entry in self.devices.entries(device) {
                if let OpenSource::File(file) = &mut self.sources[entry.source as usize] {
                    file.plan.add_device(entry.node);
                }
            }
        };
        if self.is_backwards {
            devices.clone().rev().for_each(&mut add);
        } else {
            devices.clone().for_each(&mut add);
        }
        self.current = None;
        self.left = devices;
    }

    /// Where the rows of some devices lie, as metadata say.
    pub(crate) fn spans(&mut self, devices: Range<usize>) -> Result<Spans> {
        let times = self.window.times();
        let is_backwards = std::mem::take(&mut self.is_backwards);
        self.visit(devices.clone());
        self.is_backwards = is_backwards;
        let mut spans = Spans::default();
        let mut add = |of: TimeRange, row_count| {
            spans.push(TimeRange { start: of.start.max(times.start), end: of.end.min(times.end) }, row_count);
        };
        for device in devices {
            for entry in self.devices.entries(device) {
                match &mut self.sources[entry.source as usize] {
                    OpenSource::File(file) => {
                        let groups = file.next_device(&self.projection.fields)?;
                        file.plan.groups()[groups].iter().for_each(|group| add(group.times, group.row_count));
                    }
                    OpenSource::Memtable(memtable) => {
                        let device = &memtable.devices[entry.node.start as usize];
                        add(device.time_range(), device.row_count() as u64);
                    }
                }
            }
        }
        Ok(spans)
    }

    /// The device whose rows the block that was filled last holds, if it is one.
    pub(crate) fn filled_device(&self) -> Option<usize> {
        self.lent_device
    }

    /// A block as the scan lends it.
    pub(crate) fn new_block(&mut self) -> Block {
        self.stats.block_builds += 1;
        Block::new(&self.projection.layout)
    }

    /// Fills an empty block with the next rows by device. False when there are none.
    pub(crate) fn fill_block(&mut self, block: &mut Block) -> Result<bool> {
        self.lent_device = None;
        let mut tag_bytes_left = TAG_BYTES_MAX;
        loop {
            let mut current = match self.current.take() {
                Some(current) => current,
                None if self.window.is_done() => break,
                None => {
                    let next = if self.is_backwards { self.left.next_back() } else { self.left.next() };
                    let Some(place) = next else { break };
                    self.rows.open(&self.devices, place, &mut self.sources, &self.projection, &self.window)?;
                    if let Some(filtered) = &mut self.filtered {
                        filtered.clear();
                    }
                    Current { device: place, tag_bytes: tag_bytes(&self.devices, place, &self.projection), has_rows: false }
                }
            };
            let from = block.row_count();
            // A block always takes a row, however long its tags are.
            let fitting = (tag_bytes_left / current.tag_bytes).max(usize::from(from == 0));
            let end = self.projection.layout.row_budget.min(from.saturating_add(fitting));
            let mut is_at_end = false;
            while block.row_count() < end {
                let room = end - block.row_count();
                let (sources, window) = (&mut self.sources, &mut self.window);
                let step = match &mut self.filtered {
                    None => self.rows.next(sources, &self.projection, window, block, room)?,
                    Some(filtered) => {
                        let row_budget = self.projection.layout.row_budget;
                        filtered.next(&mut self.rows, sources, &self.projection, window, block, room, row_budget)?
                    }
                };
                match step {
                    Step::Rows => {}
                    Step::Full => break,
                    Step::End => {
                        is_at_end = true;
                        break;
                    }
                }
            }
            let row_count = block.row_count() - from;
            if row_count > 0 {
                tag_bytes_left -= (row_count * current.tag_bytes).min(tag_bytes_left);
                self.stats.devices += u64::from(!current.has_rows);
                current.has_rows = true;
                fill_tags(block, row_count, &self.devices, current.device, &self.projection);
                self.lent_device = if from == 0 { Some(current.device) } else { None };
            }
            if !is_at_end {
                self.current = Some(current);
                break;
            }
            let is_full = block.row_count() * self.projection.layout.columns.len() >= SHARED_CELLS_MAX;
            if !block.is_empty() && (self.keeps_devices_apart || is_full) {
                break;
            }
        }
        assert!(block.check(), "every column has a cell for each time");
        Ok(!block.is_empty())
    }
}

/// Bytes that the tags of a device take in each row.
fn tag_bytes(devices: &DeviceList, device: usize, projection: &Projection) -> usize {
    let tags = projection.tags.iter().filter_map(|column| devices.tag(device, column.tag));
    tags.map(str::len).sum::<usize>().max(1)
}

/// Gives the last `row_count` rows the tags of their device.
fn fill_tags(block: &mut Block, row_count: usize, devices: &DeviceList, device: usize, projection: &Projection) {
    for column in &projection.tags {
        let into = block.column_mut(column.column);
        let value: Value<'_> = devices.tag(device, column.tag).into();
        assert!(into.push_repeated(value, row_count), "a TAG column holds text");
    }
}
