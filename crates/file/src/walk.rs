//! A walk over all metadata of a file: every index node and every series record, each with its place.
//!
//! Readers find what they need with [`DeviceCursor`](crate::DeviceCursor); this walk is for who must see everything, and goes on
//! behind what is damaged. A budget of the size of the metadata area bounds it: in a sound file every byte is visited once.

use tsloom_encoding::WireReader;
use tsloom_format::{DeviceKey, IndexNode, KeyForm, NodeType, SeriesMetadata};
use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Error, ErrorKind, FileOffset, Result};

use crate::FileReader;

/// Levels of device nodes, and of measurement nodes. With the smallest degree there is, 2, no file can have more.
const DEPTH_MAX: usize = 64;

/// A record of the metadata area, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Who looks at what the walk passes.
pub(crate) trait Visit {
    /// An index node; its device where it is one of measurements.
    fn node(&mut self, place: Place, node: &IndexNode<'_>, device: Option<&DeviceId>);
    /// The record of a series. Those of a device come one after the other.
    fn series(&mut self, place: Place, device: &DeviceId, series: &SeriesMetadata<'_>);
    /// What the walk could not pass, or what is out of order.
    fn problem(&mut self, error: Error);
}

/// Walks the metadata of `reader`.
pub(crate) fn walk<R: ReadAt, V: Visit>(reader: &FileReader<R>, visit: &mut V) {
    let budget = reader.footer_offset() - reader.body_end();
    let mut walk = Walk { reader, visit, budget };
    let mut last_table: Option<&str> = None;
    for root in &reader.metadata().tables {
        if last_table.is_some_and(|last| last >= root.name()) {
            let message = format!("table {} comes behind {}", root.name(), last_table.unwrap_or_default());
            walk.problem(Error::new(ErrorKind::Corrupt, message).in_place("footer"));
        }
        last_table = Some(root.name());
        match root.node() {
            Ok(node) => walk.devices(&node, root.key_form(), Some(root.name()), 1),
            Err(error) => walk.problem(error.in_place("footer")),
        }
    }
}

struct Walk<'a, R, V> {
    reader: &'a FileReader<R>,
    visit: &'a mut V,
    /// Bytes that may still be visited.
    budget: u64,
}

impl<R: ReadAt, V: Visit> Walk<'_, R, V> {
    fn problem(&mut self, error: Error) {
        self.visit.problem(error);
    }

    /// Reads the bytes `start..end` of the metadata area.
    fn read(&mut self, start: u64, end: u64) -> Result<Vec<u8>> {
        let at = |message: String| Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start));
        if start <= self.reader.body_end() || end > self.reader.footer_offset() || start > end {
            return Err(at(format!("the index points to {start} to {end}, outside of the metadata")));
        }
        let size = end - start;
        self.budget =
            self.budget.checked_sub(size).ok_or_else(|| at("the index points to more bytes than the metadata has".to_owned()))?;
        let mut bytes = Vec::new();
        self.reader.read_range(start, size, &mut bytes)?;
        Ok(bytes)
    }

    /// The children of a device node. `table` is whose root it is, where that is known.
    fn devices(&mut self, node: &IndexNode<'_>, form: KeyForm, table: Option<&str>, depth: usize) {
        let mut last: Option<DeviceId> = None;
        for child in node.devices() {
            let device = child.key.to_id();
            let refuse = |message: String| {
                Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(child.start)).in_place("device index")
            };
            // Java orders by UTF-16 units, and version 3 by whole paths: only what is surely wrong is said.
            if let Some(last) = last.filter(|last| form == KeyForm::Device && device.to_string().is_ascii() && *last >= device) {
                self.problem(refuse(format!("device {device} comes behind {last}")));
            }
            if let Some(table) = table.filter(|table| form == KeyForm::Device && *table != device.table()) {
                self.problem(refuse(format!("device {device} is in the index of table {table}")));
            }
            let walked = if node.node_type() == NodeType::LeafDevice {
                self.measurements(child.start, child.end, &device, None, 1)
            } else if depth == DEPTH_MAX {
                Err(refuse(format!("the index is deeper than {DEPTH_MAX} levels")))
            } else {
                self.device_node(child.start, child.end, form, child.key, (table, depth + 1))
            };
            if let Err(error) = walked {
                self.problem(error.in_place("device index"));
            }
            last = Some(device);
        }
    }

    fn device_node(
        &mut self,
        start: u64,
        end: u64,
        form: KeyForm,
        key: DeviceKey<'_>,
        (table, depth): (Option<&str>, usize),
    ) -> Result<()> {
        let bytes = self.read(start, end)?;
        let mut wire = WireReader::with_base(&bytes, start as usize);
        let node = IndexNode::parse(&mut wire, form)?;
        self.node(start, end, wire.position() as u64, &node, None);
        if let Some(first) = node.devices().next().filter(|first| first.key.to_id() != key.to_id()) {
            let message = format!("the key {:?} leads to a node that begins with {:?}", key, first.key);
            self.problem(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)).in_place("device index"));
        }
        self.devices(&node, form, table, depth);
        Ok(())
    }

    /// A node that its parent has at `start..end`, and that goes to `node_end`.
    fn node(&mut self, start: u64, end: u64, node_end: u64, node: &IndexNode<'_>, device: Option<&DeviceId>) {
        self.visit.node(Place { offset: start, size: node_end - start }, node, device);
        if node_end != end {
            let message = format!("the node ends at {node_end}, the one above it says at {end}");
            self.problem(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)).in_place("index node"));
        }
    }

    /// The measurement node `start..end`, which is that of `key` if it has a parent.
    fn measurements(&mut self, start: u64, end: u64, device: &DeviceId, key: Option<&str>, depth: usize) -> Result<()> {
        let bytes = self.read(start, end)?;
        let mut wire = WireReader::with_base(&bytes, start as usize);
        let node = IndexNode::parse(&mut wire, KeyForm::Measurement)?;
        self.node(start, end, wire.position() as u64, &node, Some(device));
        let first = node.measurements().next().map(|child| child.key);
        if let (Some(key), Some(first)) = (key, first.filter(|first| key.is_some_and(|key| key != *first))) {
            self.wrong_key(start, key, first);
        }
        let mut last = None;
        for child in node.measurements() {
            if let Some(last) = last.filter(|last| *last >= child.key && child.key.is_ascii()) {
                let message = format!("measurement {} comes behind {last}", child.key);
                self.problem(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)).in_place("measurement index"));
            }
            last = Some(child.key);
            let walked = if node.node_type() == NodeType::LeafMeasurement {
                self.records(child.start, child.end, device, child.key)
            } else if depth == DEPTH_MAX {
                let message = format!("the index is deeper than {DEPTH_MAX} levels");
                Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)))
            } else {
                self.measurements(child.start, child.end, device, Some(child.key), depth + 1)
            };
            if let Err(error) = walked {
                self.problem(error.in_place("measurement index"));
            }
        }
        Ok(())
    }

    /// A run of series records, the first of which is `key`.
    fn records(&mut self, start: u64, end: u64, device: &DeviceId, key: &str) -> Result<()> {
        let bytes = self.read(start, end)?;
        let mut wire = WireReader::with_base(&bytes, start as usize);
        let mut is_first = true;
        while !wire.is_empty() {
            let offset = wire.position() as u64;
            let series = SeriesMetadata::parse(&mut wire).map_err(|error| error.in_place("series metadata"))?;
            if std::mem::take(&mut is_first) && series.measurement != key {
                self.wrong_key(start, key, series.measurement);
            }
            self.visit.series(Place { offset, size: wire.position() as u64 - offset }, device, &series);
        }
        Ok(())
    }

    #[cold]
    fn wrong_key(&mut self, start: u64, key: &str, first: &str) {
        let message = format!("the key {key:?} leads to what begins with {first:?}");
        self.problem(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start)).in_place("measurement index"));
    }
}
