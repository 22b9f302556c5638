//! Walking the device index front to back.
//!
//! Nodes are copied level by level, so the walk goes on from where it was however the windows move. A budget of the size
//! of the metadata area bounds what a walk may visit: in a sound file every byte of it is visited at most once, and an
//! index that points to the same children again and again ends with an error instead of running on.

use tsloom_encoding::WireReader;
use tsloom_format::{DeviceKey, IndexNode, KeyForm, NodeType, TableRoot, VERSION_3};
use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Error, ErrorKind, FileOffset, Result};

use super::window::Window;
use super::{DeviceSeries, FileReader};

/// Levels of an index. With the smallest degree there is, 2, this is more than any file can have.
const DEPTH_MAX: usize = 64;

/// The devices of a table, or of a file, one after the other.
///
/// It owns what it needs and takes the reader anew for each step, so it can be kept beside an `Arc` of it. The metadata
/// area is read once if it is small, else in pieces of 1 MiB; once the buffers have grown, nothing is allocated.
///
/// Use it with one reader only: with another, the walk ends with an error or gives devices of neither.
#[derive(Clone, Debug)]
pub struct DeviceCursor {
    /// The table asked for; `None` for all.
    table: Option<Box<str>>,
    next_root: usize,
    levels: Vec<Level>,
    depth: usize,
    /// The measurement root of the device that was given last.
    node: (u64, u64),
    budget: Option<u64>,
    windows: [Window; 3],
    /// Measurement nodes that are still to be read.
    pending: Vec<(u64, u64)>,
}

/// What a window walks over: these lie in three places of the area, and each is walked forward.
#[derive(Clone, Copy)]
enum Part {
    Devices,
    Measurements,
    Series,
}

/// One node on the way from the root to where the walk is.
#[derive(Clone, Debug, Default)]
struct Level {
    bytes: Vec<u8>,
    /// Position of the key of the entry that was given last.
    key_at: usize,
    /// Position of the next entry, and its offset, which ends the one before it.
    ahead: Option<(usize, u64)>,
    /// Position after the entry `ahead`.
    rest_at: usize,
    left: usize,
    end_offset: u64,
    is_inner: bool,
    paths: bool,
}

impl Level {
    fn load(&mut self, bytes: &[u8], offset: u64, key_form: KeyForm) -> Result<()> {
        let mut wire = WireReader::with_base(bytes, offset as usize);
        let node = IndexNode::parse(&mut wire, key_form)?;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let mut head = WireReader::new(bytes);
        head.uvar()?;
        self.rest_at = head.position();
        self.left = node.len();
        self.end_offset = node.end_offset();
        self.is_inner = node.node_type() == NodeType::InnerDevice;
        self.paths = key_form == KeyForm::DevicePath;
        self.ahead = self.entry()?;
        Ok(())
    }

    fn key<'a>(&'a self, wire: &mut WireReader<'a>) -> Result<DeviceKey<'a>> {
        Ok(if self.paths { DeviceKey::read_path(wire)? } else { DeviceKey::read(wire)? })
    }

    /// Passes over one entry: the position of its key, and its offset.
    fn entry(&mut self) -> Result<Option<(usize, u64)>> {
        if self.left == 0 {
            return Ok(None);
        }
        let key_at = self.rest_at;
        let mut wire = WireReader::with_base(&self.bytes[key_at..], key_at);
        self.key(&mut wire)?;
        let offset = wire.u64()?;
        self.rest_at = wire.position();
        self.left -= 1;
        Ok(Some((key_at, offset)))
    }

    /// The next child: first byte and one past the last.
    fn next(&mut self) -> Result<Option<(u64, u64)>> {
        let Some((key_at, start)) = self.ahead.take() else {
            return Ok(None);
        };
        self.key_at = key_at;
        self.ahead = self.entry()?;
        Ok(Some((start, self.ahead.map_or(self.end_offset, |(_, offset)| offset))))
    }

    /// The key of the next entry.
    fn key_ahead(&self) -> Result<Option<DeviceKey<'_>>> {
        self.ahead.map(|(key_at, _)| self.key(&mut WireReader::new(&self.bytes[key_at..]))).transpose()
    }

    fn current(&self) -> DeviceKey<'_> {
        let mut wire = WireReader::new(&self.bytes[self.key_at..]);
        self.key(&mut wire).expect("the key was checked when the node was loaded")
    }
}

impl DeviceCursor {
    pub(super) fn of_table(table: &str) -> Self {
        Self { table: Some(table.into()), ..Self::of_all() }
    }

    pub(super) fn of_all() -> Self {
        Self {
            table: None,
            next_root: 0,
            levels: Vec::new(),
            depth: 0,
            node: (0, 0),
            budget: None,
            windows: Default::default(),
            pending: Vec::new(),
        }
    }

    /// Goes to the next device. False when there is none.
    ///
    /// # Errors
    /// When the index contradicts itself or cannot be read.
    pub fn advance<R: ReadAt>(&mut self, reader: &FileReader<R>) -> Result<bool> {
        self.step(reader).map_err(|error| reader.blame(error.in_place("device index")))
    }

    fn step<R: ReadAt>(&mut self, reader: &FileReader<R>) -> Result<bool> {
        loop {
            let Some(top) = self.depth.checked_sub(1) else {
                let Some(root) = self.root(reader) else {
                    return Ok(false);
                };
                self.push_root(root)?;
                continue;
            };
            let Some((start, end)) = self.levels[top].next()? else {
                self.depth = top;
                continue;
            };
            if self.levels[top].is_inner {
                self.push(reader, start, end)?;
                continue;
            }
            // The root of all devices of a version 3 file knows no tables.
            let asked_for = self.table.as_deref().is_none_or(|table| self.levels[top].current().table() == table);
            if asked_for {
                self.node = (start, end);
                return Ok(true);
            }
        }
    }

    /// Goes to this device, wherever the walk was, by the order of the index. False when the file does not have it; the
    /// walk is then at no device.
    ///
    /// # Errors
    /// When the index contradicts itself or cannot be read.
    pub fn seek<R: ReadAt>(&mut self, reader: &FileReader<R>, device: &DeviceId) -> Result<bool> {
        let found = self.descend(reader, device).map_err(|error| reader.blame(error.in_place("device index")))?;
        // Java orders by UTF-16 units, which differs from bytes for characters from U+E000 on; version 3 orders whole paths.
        let order_is_sure = reader.version() != VERSION_3
            && device.segments().flatten().all(|segment| segment.chars().all(|char| char < '\u{e000}'));
        if found || order_is_sure {
            return Ok(found);
        }
        self.restart(device.table());
        while self.advance(reader)? {
            if self.device().is(device) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn restart(&mut self, table: &str) {
        if self.table.as_deref() != Some(table) {
            self.table = Some(table.into());
        }
        (self.next_root, self.depth, self.budget) = (0, 0, None);
    }

    fn descend<R: ReadAt>(&mut self, reader: &FileReader<R>, device: &DeviceId) -> Result<bool> {
        self.restart(device.table());
        let Some(root) = self.root(reader) else {
            return Ok(false);
        };
        self.push_root(root)?;
        loop {
            let level = &mut self.levels[self.depth - 1];
            let mut child = level.next()?;
            while level.key_ahead()?.is_some_and(|key| key.cmp_id(device).is_le()) {
                child = level.next()?;
            }
            let Some((start, end)) = child else {
                self.depth = 0;
                return Ok(false);
            };
            if level.is_inner {
                self.push(reader, start, end)?;
                continue;
            }
            let found = level.current().is(device);
            if found {
                self.node = (start, end);
            } else {
                self.depth = 0;
            }
            return Ok(found);
        }
    }

    /// The next index root to walk.
    fn root<'a, R: ReadAt>(&mut self, reader: &'a FileReader<R>) -> Option<&'a TableRoot> {
        let index = self.next_root;
        self.next_root += 1;
        match &self.table {
            None => reader.metadata.tables.get(index),
            Some(table) if index == 0 => reader.metadata.table(table),
            Some(_) => None,
        }
    }

    fn push_root(&mut self, root: &TableRoot) -> Result<()> {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].load(root.bytes(), 0, root.key_form())?;
        self.depth = 1;
        Ok(())
    }

    fn push<R: ReadAt>(&mut self, reader: &FileReader<R>, start: u64, end: u64) -> Result<()> {
        if self.depth == DEPTH_MAX {
            let message = format!("the index is deeper than {DEPTH_MAX} levels");
            return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)));
        }
        self.spend(reader, start, end)?;
        let key_form = if self.levels[self.depth - 1].paths { KeyForm::DevicePath } else { KeyForm::Device };
        if self.levels.len() == self.depth {
            self.levels.push(Level::default());
        }
        let bytes = window(&mut self.windows, reader, Part::Devices).get(reader, start, end)?;
        self.levels[self.depth].load(bytes, start, key_form)?;
        self.depth += 1;
        Ok(())
    }

    /// Takes the bytes `start..end` from what may still be visited.
    fn spend<R: ReadAt>(&mut self, reader: &FileReader<R>, start: u64, end: u64) -> Result<()> {
        let budget = self.budget.get_or_insert(reader.footer_offset - reader.metadata.meta_offset);
        match budget.checked_sub(end.saturating_sub(start)) {
            Some(left) => {
                *budget = left;
                Ok(())
            }
            None => {
                let message = "the index points to more bytes than the metadata has";
                Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)))
            }
        }
    }

    /// The device of the last [`advance`](Self::advance).
    ///
    /// # Panics
    /// When the last `advance` did not return true.
    pub fn device(&self) -> DeviceKey<'_> {
        assert!(self.depth > 0, "advance() found a device");
        self.levels[self.depth - 1].current()
    }

    /// Where the measurement root of this device lies: first byte and one past the last.
    pub fn node(&self) -> (u64, u64) {
        self.node
    }

    /// Reads the metadata of all series of the device whose measurement root is this [`node`](Self::node), wherever the walk is.
    ///
    /// # Errors
    /// When it contradicts itself or cannot be read.
    pub fn read_series_at<R: ReadAt>(&mut self, reader: &FileReader<R>, node: (u64, u64), into: &mut DeviceSeries) -> Result<()> {
        // Each device has the whole area to itself: who comes by a list of nodes has checked that they do not overlap.
        (self.node, self.budget) = (node, None);
        self.read_series(reader, into)
    }

    /// Reads the metadata of all series of this device.
    ///
    /// # Errors
    /// When it contradicts itself or cannot be read.
    pub fn read_series<R: ReadAt>(&mut self, reader: &FileReader<R>, into: &mut DeviceSeries) -> Result<()> {
        into.clear();
        self.collect(reader, into).map_err(|error| reader.blame(error.in_place("series metadata")))
    }

    fn collect<R: ReadAt>(&mut self, reader: &FileReader<R>, into: &mut DeviceSeries) -> Result<()> {
        self.pending.clear();
        self.pending.push(self.node);
        while let Some((start, end)) = self.pending.pop() {
            self.spend(reader, start, end)?;
            let bytes = window(&mut self.windows, reader, Part::Measurements).get(reader, start, end)?;
            let node = IndexNode::parse(&mut WireReader::with_base(bytes, start as usize), KeyForm::Measurement)?;
            if node.node_type() == NodeType::InnerMeasurement {
                let first = self.pending.len();
                self.pending.extend(node.measurements().map(|child| (child.start, child.end)));
                self.pending[first..].reverse();
                continue;
            }
            // The records of all entries of a leaf are neighbours.
            let Some(first) = node.measurements().next() else {
                continue;
            };
            let (start, end) = (first.start, node.end_offset());
            self.spend(reader, start, end)?;
            let run = window(&mut self.windows, reader, Part::Series).get(reader, start, end)?;
            into.add_run(run, start, reader.body_end())?;
        }
        Ok(())
    }
}

/// The window for one part of the area; a small area is in the first one as a whole.
fn window<'a, R: ReadAt>(windows: &'a mut [Window; 3], reader: &FileReader<R>, part: Part) -> &'a mut Window {
    &mut windows[if Window::holds_all(reader) { 0 } else { part as usize }]
}
