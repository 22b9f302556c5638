//! The devices of a table, found by the tag values of a row without making an id first.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

use tsloom_model::DeviceId;

use crate::block::ARC_BYTES;
use crate::list::AlignedList;
use crate::listview::ListView;
use crate::pool::{Charge, Ledger};
use crate::sorted::SortedRows;

/// A device and its rows.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) id: Arc<DeviceId>,
    hash: u64,
    list: AlignedList,
    /// The view since the last write, made by the first snapshot that needs it.
    view: OnceLock<Arc<ListView>>,
    /// What readers of an earlier view sorted.
    prior: Option<Arc<SortedRows>>,
}

impl Device {
    /// The list, to be changed. The kept view goes first: it would hold the tail, and the writer would copy it.
    pub(crate) fn list_mut(&mut self) -> &mut AlignedList {
        if let Some(view) = self.view.take() {
            self.prior = view.sorted_so_far().cloned();
        }
        &mut self.list
    }

    pub(crate) fn list(&self) -> &AlignedList {
        &self.list
    }

    pub(crate) fn view(&self) -> &Arc<ListView> {
        self.view.get_or_init(|| Arc::new(self.list.view_after(self.prior.clone())))
    }
}

/// Devices in the order of their first rows, with a hash table over their tags.
#[derive(Debug)]
pub(crate) struct Devices {
    devices: Vec<Device>,
    /// Open addressing: 0 is free, else index + 1. A power of two, at most three quarters full.
    slots: Vec<u32>,
    hasher: RandomState,
    /// Bytes of the ids.
    id_bytes: usize,
    charge: Charge,
}

impl Devices {
    pub(crate) fn new(ledger: &Arc<Ledger>) -> Self {
        Self { devices: Vec::new(), slots: Vec::new(), hasher: RandomState::new(), id_bytes: 0, charge: Charge::new(ledger, 0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.devices.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Device> {
        self.devices.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Device> {
        self.devices.iter_mut()
    }

    pub(crate) fn get(&self, index: usize) -> &Device {
        &self.devices[index]
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Device {
        &mut self.devices[index]
    }

    /// Hash of tag values; trailing nulls do not count, as in a [`DeviceId`].
    fn hash<'a>(&self, tags: impl Iterator<Item = Option<&'a str>>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        let mut nulls = 0_u32;
        for tag in tags {
            match tag {
                None => nulls += 1,
                Some(text) => {
                    hasher.write_u32(std::mem::take(&mut nulls));
                    hasher.write_usize(text.len());
                    hasher.write(text.as_bytes());
                }
            }
        }
        hasher.finish()
    }

    /// The device of `table` with these tags.
    pub(crate) fn find<'a, I>(&self, table: &str, tags: &I) -> Option<usize>
    where
        I: Iterator<Item = Option<&'a str>> + Clone,
    {
        let hash = self.hash(tags.clone());
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        while let Some(index) = (self.slots[at] as usize).checked_sub(1) {
            let device = &self.devices[index];
            if device.hash == hash && device.id.is(table, tags.clone()) {
                return Some(index);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds a device that [`find`](Self::find) did not find.
    pub(crate) fn add(&mut self, id: DeviceId, list: AlignedList) -> usize {
        let (index, hash) = (self.devices.len(), self.hash(id.segments().skip(1)));
        self.id_bytes += id_bytes(&id);
        self.devices.push(Device { id: Arc::new(id), hash, list, view: OnceLock::new(), prior: None });
        if 4 * self.devices.len() > 3 * self.slots.len() {
            self.slots = vec![0; (2 * self.slots.len()).max(4)];
            (0..self.devices.len()).for_each(|index| self.enter(index));
        } else {
            self.enter(index);
        }
        self.charge.set(self.id_bytes + self.devices.capacity() * size_of::<Device>() + self.slots.capacity() * size_of::<u32>());
        index
    }

    fn enter(&mut self, index: usize) {
        let mask = self.slots.len() - 1;
        let mut at = self.devices[index].hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = index as u32 + 1;
    }
}

/// What an id in an `Arc` takes: itself, its texts, and its list of segments where that is not inline.
fn id_bytes(id: &DeviceId) -> usize {
    let texts: usize = id.segments().flatten().map(str::len).sum();
    ARC_BYTES + size_of::<DeviceId>() + texts + id.spilled_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::SlabPool;
    use crate::{BlockRows, ListShape};

    #[test]
    fn devices_are_found_by_their_tags() {
        let shape = ListShape::new(&SlabPool::new(0), BlockRows::ByWidth, 0);
        let mut devices = Devices::new(&shape.ledger);
        let names: Vec<String> = (0..200).map(|number| format!("d{}", number / 2)).collect();
        let tags = |number: usize| [Some(names[number].as_str()), number.is_multiple_of(2).then_some("x")];
        for number in 0..200 {
            assert_eq!(devices.find("t", &tags(number).into_iter()), None);
            let id = DeviceId::new("t", tags(number));
            assert_eq!(devices.add(id, AlignedList::new(&shape)), number);
        }
        for number in 0..200 {
            assert_eq!(devices.find("t", &tags(number).into_iter()), Some(number));
        }
        assert_eq!(devices.find("t", &[Some("d3"), None, None].into_iter()), Some(7));
        assert_eq!(devices.find("t", &[None, Some("d3")].into_iter()), None);
        assert_eq!(devices.find("t", &std::iter::empty()), None);
    }
}
