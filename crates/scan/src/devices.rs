//! The devices of a scan: listed once, filtered by their tags, in the order in which they are visited.
//!
//! Names lie in one buffer and ids are made only for who asks, so that a list of many devices costs no allocation a device.

use std::cmp::Ordering;
use std::ops::Range;

use tsloom_encoding::WireReader;
use tsloom_format::{IndexNode, KeyForm, NodeType, TableRoot};
use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Error, ErrorKind, FileOffset, Predicate, Result};

use crate::reads::{ByteRange, FileIo, Pieces};

/// Length that stands for a null segment.
const NULL: u32 = u32::MAX;

/// One source's share of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceEntry {
    /// Index in the list of sources.
    pub(crate) source: u32,
    /// Of a file: where the measurement root of the device lies.
    pub(crate) node: ByteRange,
    /// Its segments in `segments`.
    segments: (u32, u32),
}

/// Devices and what each source has of them.
#[derive(Debug, Default)]
pub(crate) struct DeviceList {
    text: String,
    /// Start in `text` and length of each segment.
    segments: Vec<(u32, u32)>,
    /// In order of devices, then sources.
    entries: Vec<DeviceEntry>,
    /// For each device, the end of its entries.
    ends: Vec<u32>,
}

impl DeviceList {
    /// Adds what one source has of a device, unless `filter` turns it down.
    pub(crate) fn push<'a>(
        &mut self,
        source: u32,
        node: ByteRange,
        segments: impl Iterator<Item = Option<&'a str>>,
        filter: Option<&Predicate<usize>>,
    ) -> Result<()> {
        let (text_size, first) = (self.text.len(), self.segments.len());
        for segment in segments {
            let start = self.text.len() as u32;
            self.segments.push((start, segment.map_or(NULL, |segment| segment.len() as u32)));
            self.text.push_str(segment.unwrap_or_default());
            if u32::try_from(self.text.len()).is_err() {
                return Err(Error::new(ErrorKind::LimitExceeded, "the names of the devices take more than 4 GiB"));
            }
        }
        let segments = (first as u32, self.segments.len() as u32);
        if filter.is_some_and(|filter| !filter.matches_tags(&|tag| self.segment(segments, tag.checked_add(1)?))) {
            self.text.truncate(text_size);
            self.segments.truncate(first);
            return Ok(());
        }
        self.entries.push(DeviceEntry { source, node, segments });
        Ok(())
    }

    /// Puts devices in order, and the entries of one device together, oldest source first.
    ///
    /// # Errors
    /// When one source has a device twice; tells which source.
    pub(crate) fn arrange(&mut self) -> Result<(), (u32, Error)> {
        let mut entries = std::mem::take(&mut self.entries);
        if !entries.is_sorted_by(|left, right| self.order(left, right) == Ordering::Less) {
            entries.sort_by(|left, right| self.order(left, right));
        }
        self.ends.clear();
        for (index, pair) in entries.windows(2).enumerate() {
            match self.compare_names(&pair[0], &pair[1]) {
                Ordering::Equal if pair[0].source == pair[1].source => {
                    let message = format!("device {} is in the index twice", self.id_of(pair[0].segments));
                    let error = Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(pair[1].node.start));
                    return Err((pair[1].source, error.in_place("device index")));
                }
                Ordering::Equal => {}
                _ => self.ends.push(index as u32 + 1),
            }
        }
        if !entries.is_empty() {
            self.ends.push(entries.len() as u32);
        }
        self.entries = entries;
        Ok(())
    }

    fn order(&self, left: &DeviceEntry, right: &DeviceEntry) -> Ordering {
        self.compare_names(left, right).then(left.source.cmp(&right.source))
    }

    fn compare_names(&self, left: &DeviceEntry, right: &DeviceEntry) -> Ordering {
        self.segments_of(left.segments).cmp(self.segments_of(right.segments))
    }

    /// Number of devices, once they are arranged.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// What the sources have of a device, oldest first.
    pub(crate) fn entries(&self, device: usize) -> &[DeviceEntry] {
        &self.entries[self.entry_range(device)]
    }

    /// The segments of a device as a source has them: the table, then its tags.
    pub(crate) fn segments(&self, entry: &DeviceEntry) -> impl Iterator<Item = Option<&str>> + Clone {
        self.segments_of(entry.segments)
    }

    fn entry_range(&self, device: usize) -> Range<usize> {
        let start = device.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[device] as usize
    }

    /// The value of a tag; `None` when it is null.
    pub(crate) fn tag(&self, device: usize, tag: usize) -> Option<&str> {
        self.segment(self.entries(device)[0].segments, tag.checked_add(1)?)
    }

    /// A list of this device alone.
    pub(crate) fn only(&self, device: usize) -> DeviceList {
        let mut only = DeviceList::default();
        let segments = self.entries(device)[0].segments;
        for segment in self.segments_of(segments) {
            only.segments.push((only.text.len() as u32, segment.map_or(NULL, |segment| segment.len() as u32)));
            only.text.push_str(segment.unwrap_or_default());
        }
        let segments = (0, only.segments.len() as u32);
        only.entries.extend(self.entries(device).iter().map(|entry| DeviceEntry { segments, ..*entry }));
        only.ends.push(only.entries.len() as u32);
        only
    }

    /// An id of its own.
    pub(crate) fn id(&self, device: usize) -> DeviceId {
        self.id_of(self.entries(device)[0].segments)
    }

    fn id_of(&self, segments: (u32, u32)) -> DeviceId {
        DeviceId::from_segments(self.segments_of(segments))
    }

    fn segment(&self, segments: (u32, u32), index: usize) -> Option<&str> {
        self.segments_of(segments).nth(index)?
    }

    fn segments_of(&self, (start, end): (u32, u32)) -> impl Iterator<Item = Option<&str>> + Clone {
        self.segments[start as usize..end as usize]
            .iter()
            .map(|&(start, size)| (size != NULL).then(|| &self.text[start as usize..start as usize + size as usize]))
    }
}

/// Adds the devices of one table of a file, or of all: one pass over the index, level by level, no search.
pub(crate) fn list_file<R: ReadAt>(
    devices: &mut DeviceList,
    source: u32,
    file: &mut FileIo<R>,
    table: Option<&str>,
    filter: Option<&Predicate<usize>>,
) -> Result<()> {
    let reader = file.reader.clone();
    match table {
        Some(name) => match reader.metadata().table(name) {
            Some(root) => list_root(devices, source, file, root, table, filter),
            None => Ok(()),
        },
        None => reader.metadata().tables.iter().try_for_each(|root| list_root(devices, source, file, root, None, filter)),
    }
}

fn list_root<R: ReadAt>(
    devices: &mut DeviceList,
    source: u32,
    file: &mut FileIo<R>,
    root: &TableRoot,
    table: Option<&str>,
    filter: Option<&Predicate<usize>>,
) -> Result<()> {
    let mut level = Vec::new();
    let mut below = Vec::new();
    let mut pieces = Pieces::default();
    // Every byte of the index belongs to one node; more than all of them means that nodes point to each other.
    let mut bytes_left = file.reader.size();
    let mut visit = |node: &IndexNode<'_>, below: &mut Vec<ByteRange>| -> Result<()> {
        for child in node.devices() {
            let range = ByteRange { start: child.start, end: child.end };
            bytes_left = bytes_left.checked_sub(range.size()).ok_or_else(|| {
                Error::new(ErrorKind::Corrupt, "the nodes of the device index overlap").at(FileOffset::new(range.start))
            })?;
            if node.node_type() == NodeType::InnerDevice {
                below.push(range);
            } else if table.is_none_or(|table| child.key.table() == table) {
                devices.push(source, range, child.key.segments(), filter)?;
            }
        }
        Ok(())
    };
    visit(&root.node()?, &mut below)?;
    while !below.is_empty() {
        std::mem::swap(&mut level, &mut below);
        below.clear();
        for batch in level.chunks(256) {
            pieces.clear();
            pieces.load(batch.iter().copied(), file)?;
            for &range in batch {
                visit(&read_node(&pieces, range, root.key_form())?, &mut below)?;
            }
        }
    }
    Ok(())
}

/// The node that fills a loaded range.
pub(crate) fn read_node(pieces: &Pieces, range: ByteRange, key_form: KeyForm) -> Result<IndexNode<'_>> {
    let bytes = pieces.get(range).expect("the range was loaded");
    IndexNode::parse(&mut WireReader::with_base(bytes, range.start as usize), key_form)
        .map_err(|error| error.at(FileOffset::new(range.start)).in_place("index node"))
}

#[cfg(test)]
mod tests {
    use tsloom_model::{TableSchema, tag};

    use super::*;

    fn list(ids: &[(u32, DeviceId)], filter: Option<&Predicate<usize>>) -> DeviceList {
        let mut list = DeviceList::default();
        for (source, id) in ids {
            list.push(*source, ByteRange::default(), id.segments(), filter).unwrap();
        }
        list
    }

    #[test]
    fn devices_of_several_sources_come_together_in_order() {
        let [a, b, c] = [Some("a"), None, Some("")].map(|tag| DeviceId::new("t", [tag, Some("x")]));
        let mut devices = list(&[(0, c.clone()), (0, a.clone()), (1, b.clone()), (1, a.clone())], None);
        devices.arrange().unwrap();
        let found: Vec<(DeviceId, Vec<u32>)> = (0..devices.len())
            .map(|device| (devices.id(device), devices.entries(device).iter().map(|entry| entry.source).collect()))
            .collect();
        assert_eq!(found, [(b, vec![1]), (c, vec![0]), (a, vec![0, 1])]);
        assert_eq!(
            (devices.tag(0, 0), devices.tag(0, 1), devices.tag(1, 0), devices.tag(2, 9)),
            (None, Some("x"), Some(""), None)
        );
    }

    #[test]
    fn the_filter_sees_tags_and_nulls() {
        let table = TableSchema::builder("t").tag("one").tag("two").build().unwrap();
        let ids: Vec<(u32, DeviceId)> =
            [["a", "x"], ["b", "x"], ["b", ""]].map(|tags| (0, DeviceId::new("t", tags.map(Some)))).into();
        for (filter, expected) in
            [(tag("one").eq("b"), 2), (tag("two").eq(""), 1), (tag("two").is_null(), 0), (tag("one").ne("a").not(), 1)]
        {
            let filter = filter.resolve(&table).unwrap();
            let mut devices = list(&ids, Some(&filter));
            devices.arrange().unwrap();
            assert_eq!(devices.len(), expected, "{filter:?}");
            assert!((0..devices.len()).all(|device| filter.matches(&devices.id(device))));
        }
    }

    #[test]
    fn one_source_has_a_device_once() {
        let id = DeviceId::new("t", [Some("a")]);
        let (source, error) = list(&[(3, id.clone()), (3, id)], None).arrange().unwrap_err();
        assert_eq!((source, error.to_string().as_str()), (3, "device index at offset 0: device t.a is in the index twice"));
    }

    #[test]
    fn no_device_is_no_device() {
        let mut devices = DeviceList::default();
        devices.arrange().unwrap();
        assert_eq!(devices.len(), 0);
    }
}
