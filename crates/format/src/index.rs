//! Nodes of the metadata index.
//!
//! ```text
//! uvar  child count
//! count x { key; i64 offset }      key: device id at device level, vstr at measurement level
//! i64   end offset
//! u8    type                       0 inner device, 1 leaf device, 2 inner measurement, 3 leaf measurement
//! ```
//!
//! Child `i` is the bytes from its offset to the next child's, the last one to the end offset. A key is the first key
//! in the child. A leaf device entry points to the measurement root of that device; a leaf measurement entry to a run of
//! series metadata, and the runs of one leaf are neighbours.
//!
//! Which keys a node has is known before it is read, inner or leaf only from its last byte.

use std::fmt;
use std::marker::PhantomData;

use tsloom_encoding::{ToWire, WireError, WirePut, WireReader};
use tsloom_model::{DeviceId, Result};

use crate::{DeviceIdWire, DeviceKey, corrupt};

/// What a node's entries point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeType {
    /// Device nodes.
    InnerDevice = 0,
    /// Measurement roots.
    LeafDevice = 1,
    /// Measurement nodes.
    InnerMeasurement = 2,
    /// Runs of series metadata.
    LeafMeasurement = 3,
}

impl NodeType {
    fn has_device_keys(self) -> bool {
        matches!(self, Self::InnerDevice | Self::LeafDevice)
    }

    /// True when the entries point to other nodes of the same level of keys.
    pub fn is_inner(self) -> bool {
        matches!(self, Self::InnerDevice | Self::InnerMeasurement)
    }
}

/// How the keys of a node are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// Device ids of version 4.
    Device,
    /// Device paths of version 3.
    DevicePath,
    /// Measurement names.
    Measurement,
}

/// A node, borrowed. Its entries were checked when it was read: keys are whole and UTF-8, offsets rise.
#[derive(Clone, Copy)]
pub struct IndexNode<'a> {
    entries: &'a [u8],
    key_form: KeyForm,
    count: u32,
    end_offset: u64,
    node_type: NodeType,
}

impl<'a> IndexNode<'a> {
    /// Reads a node whose keys have this form.
    ///
    /// # Errors
    /// When the bytes end early, a child is empty or lies before the one in front of it, or the type does not fit the keys.
    pub fn parse(wire: &mut WireReader<'a>, key_form: KeyForm) -> Result<Self> {
        let at = wire.position();
        let count = wire.uvar()?;
        let start = wire.rest();
        let mut last = None;
        // Every entry takes nine bytes at least, so a count past the end of the bytes fails there.
        for _ in 0..count {
            match key_form {
                KeyForm::Device => drop(DeviceKey::read(wire)?),
                KeyForm::DevicePath => drop(DeviceKey::read_path(wire)?),
                KeyForm::Measurement => drop(read_name(wire)?),
            }
            let offset_at = wire.position();
            let offset = wire.i64()?;
            if offset < 0 || last.is_some_and(|last| offset <= last) {
                return Err(corrupt(offset_at, format!("child offset {offset} does not rise")));
            }
            last = Some(offset);
        }
        let entries = &start[..start.len() - wire.remaining()];
        let end_at = wire.position();
        let end_offset = wire.i64()?;
        if end_offset < 0 || last.is_some_and(|last| end_offset <= last) {
            return Err(corrupt(end_at, format!("end offset {end_offset} does not rise")));
        }
        let type_at = wire.position();
        let node_type = match wire.u8()? {
            0 => NodeType::InnerDevice,
            1 => NodeType::LeafDevice,
            2 => NodeType::InnerMeasurement,
            3 => NodeType::LeafMeasurement,
            code => return Err(corrupt(type_at, format!("index node type {code} is not known"))),
        };
        if node_type.has_device_keys() == (key_form == KeyForm::Measurement) {
            return Err(corrupt(type_at, format!("an index node of type {node_type:?} cannot stand here")));
        }
        if count == 0 && node_type.is_inner() {
            return Err(corrupt(at, "an inner index node has no child"));
        }
        Ok(Self { entries, key_form, count, end_offset: end_offset as u64, node_type })
    }

    /// Number of children.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// True when there is no child: a table without rows.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What the entries point to.
    pub fn node_type(&self) -> NodeType {
        self.node_type
    }

    /// End of the last child.
    pub fn end_offset(&self) -> u64 {
        self.end_offset
    }

    /// The children of a node with device keys; none of one with names.
    pub fn devices(&self) -> Children<'a, DeviceKey<'a>> {
        self.children(
            self.node_type.has_device_keys(),
            match self.key_form {
                KeyForm::DevicePath => DeviceKey::read_path,
                _ => DeviceKey::read,
            },
        )
    }

    /// The children of a node with names; none of one with device keys.
    pub fn measurements(&self) -> Children<'a, &'a str> {
        self.children(!self.node_type.has_device_keys(), read_name)
    }

    fn children<K>(&self, fits: bool, read_key: fn(&mut WireReader<'a>) -> Result<K, WireError>) -> Children<'a, K> {
        Children {
            wire: WireReader::new(if fits { self.entries } else { &[] }),
            ahead: None,
            read_key,
            end_offset: self.end_offset,
            keys: PhantomData,
        }
    }
}

impl fmt::Debug for IndexNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} children to {}", self.node_type, self.count, self.end_offset)
    }
}

fn read_name<'a>(wire: &mut WireReader<'a>) -> Result<&'a str, WireError> {
    wire.vstr_present()
}

/// One entry of a node: its key and the bytes of the file that it stands for, which are not none.
#[derive(Clone, Copy, Debug)]
pub struct Child<K> {
    /// The first key in the child.
    pub key: K,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// The children of a node, in order.
#[derive(Clone, Debug)]
pub struct Children<'a, K> {
    wire: WireReader<'a>,
    /// The entry whose end is not known yet.
    ahead: Option<(K, u64)>,
    read_key: fn(&mut WireReader<'a>) -> Result<K, WireError>,
    end_offset: u64,
    keys: PhantomData<K>,
}

impl<K> Children<'_, K> {
    /// The next entry as written. The node was checked when it was read, so there is none only at the end.
    fn entry(&mut self) -> Option<(K, u64)> {
        let key = (self.read_key)(&mut self.wire).ok()?;
        Some((key, self.wire.u64().ok()?))
    }
}

impl<K> Iterator for Children<'_, K> {
    type Item = Child<K>;

    fn next(&mut self) -> Option<Self::Item> {
        let (key, start) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.entry()?,
        };
        self.ahead = self.entry();
        let end = self.ahead.as_ref().map_or(self.end_offset, |(_, offset)| *offset);
        Some(Child { key, start, end })
    }
}

/// Appends a node with device keys.
pub fn put_device_node(entries: &[(&DeviceId, u64)], end_offset: u64, node_type: NodeType, out: &mut Vec<u8>) {
    debug_assert!(node_type.has_device_keys());
    out.put_uvar(entries.len() as u32);
    for (device, offset) in entries {
        DeviceIdWire(device).write_to(out);
        out.extend_from_slice(&offset.to_be_bytes());
    }
    put_node_end(end_offset, node_type, out);
}

/// Appends a node with measurement names.
pub fn put_measurement_node(entries: &[(&str, u64)], end_offset: u64, node_type: NodeType, out: &mut Vec<u8>) {
    debug_assert!(!node_type.has_device_keys());
    out.put_uvar(entries.len() as u32);
    for (name, offset) in entries {
        out.put_vstr(Some(name.as_bytes()));
        out.extend_from_slice(&offset.to_be_bytes());
    }
    put_node_end(end_offset, node_type, out);
}

fn put_node_end(end_offset: u64, node_type: NodeType, out: &mut Vec<u8>) {
    out.extend_from_slice(&end_offset.to_be_bytes());
    out.push(node_type as u8);
}

#[cfg(test)]
mod tests {
    use tsloom_model::ErrorKind;

    use super::*;

    fn names() -> Vec<u8> {
        let mut bytes = Vec::new();
        put_measurement_node(&[("", 10), ("k", 30), ("z", 31)], 40, NodeType::LeafMeasurement, &mut bytes);
        bytes
    }

    fn check_refused(bytes: &[u8], key_form: KeyForm) {
        let error = IndexNode::parse(&mut WireReader::new(bytes), key_form).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }

    #[test]
    fn children_end_where_the_next_begins() {
        let bytes = names();
        let node = IndexNode::parse(&mut WireReader::new(&bytes), KeyForm::Measurement).unwrap();
        let children: Vec<_> = node.measurements().map(|child| (child.key, child.start, child.end)).collect();
        assert_eq!(children, [("", 10, 30), ("k", 30, 31), ("z", 31, 40)]);
        assert_eq!(node.devices().count(), 0);
    }

    #[test]
    fn device_keys_come_back() {
        let ids = [DeviceId::new("t", [Some("a")]), DeviceId::new("t", [Some("b"), None, Some("c")])];
        let mut bytes = Vec::new();
        put_device_node(&[(&ids[0], 7), (&ids[1], 9)], 12, NodeType::LeafDevice, &mut bytes);
        let node = IndexNode::parse(&mut WireReader::new(&bytes), KeyForm::Device).unwrap();
        let children: Vec<_> = node.devices().map(|child| (child.key.to_id(), child.start, child.end)).collect();
        assert_eq!(children, [(ids[0].clone(), 7, 9), (ids[1].clone(), 9, 12)]);
    }

    #[test]
    fn a_table_without_rows_is_a_leaf_without_children() {
        let mut bytes = Vec::new();
        put_device_node(&[], 12, NodeType::LeafDevice, &mut bytes);
        let node = IndexNode::parse(&mut WireReader::new(&bytes), KeyForm::Device).unwrap();
        assert!(node.is_empty() && node.devices().next().is_none());
        *bytes.last_mut().unwrap() = NodeType::InnerDevice as u8;
        check_refused(&bytes, KeyForm::Device);
    }

    #[test]
    fn nodes_that_lie_are_refused() {
        let mut bytes = names();
        let end = bytes.len();
        bytes[end - 1] = 4;
        check_refused(&bytes, KeyForm::Measurement);
        bytes[end - 1] = NodeType::LeafDevice as u8;
        check_refused(&bytes, KeyForm::Measurement);
        bytes[end - 1] = NodeType::LeafMeasurement as u8;
        bytes[end - 2] = 31; // the end is the start of the last child
        check_refused(&bytes, KeyForm::Measurement);
        bytes[end - 9] = 0x80;
        check_refused(&bytes, KeyForm::Measurement);
        let mut bytes = names();
        bytes[9] = 30; // the first child begins where the second does
        check_refused(&bytes, KeyForm::Measurement);
    }

    #[test]
    fn cut_short_anywhere_is_an_error() {
        let bytes = names();
        for size in 0..bytes.len() {
            let error = IndexNode::parse(&mut WireReader::new(&bytes[..size]), KeyForm::Measurement).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated);
        }
        let huge = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let error = IndexNode::parse(&mut WireReader::new(&huge), KeyForm::Measurement).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated);
    }
}
