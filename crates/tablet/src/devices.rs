//! Whose rows are they? One device for a tree tablet; for a table tablet, runs of rows with equal tags.

use tsloom_model::{DeviceId, ValuesRef};

use crate::tablet::Tablet;

/// The devices of a tablet's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// All rows are of this device.
    One(DeviceId),
    /// Runs of neighbouring rows of one device: the device and the row after its last. A device may come again.
    Runs(Vec<(DeviceId, usize)>),
}

/// Neighbouring rows of one device. See [`Tablet::device_runs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRun {
    /// First row.
    pub start: usize,
    /// The row after the last.
    pub end: usize,
}

impl Tablet {
    /// The devices of the rows. A tablet without rows, or known to be of one device, costs one id and looks at no other row.
    pub fn devices(&self) -> Devices {
        if self.is_single_device() || self.is_empty() {
            return Devices::One(self.device_of(0));
        }
        let mut runs: Vec<(DeviceId, usize)> = self.device_runs().map(|run| (self.device_of(run.start), run.end)).collect();
        if runs.len() == 1
            && let Some((device, _)) = runs.pop()
        {
            return Devices::One(device);
        }
        Devices::Runs(runs)
    }

    /// Runs of neighbouring rows with equal tags, in row order, without making ids.
    pub fn device_runs(&self) -> impl Iterator<Item = DeviceRun> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let row_count = self.row_count();
            if start == row_count {
                return None;
            }
            let end = if self.is_single_device() {
                row_count
            } else {
                (start + 1..row_count).find(|row| !self.tags_of(start).eq(self.tags_of(*row))).unwrap_or(row_count)
            };
            let run = DeviceRun { start, end };
            start = end;
            Some(run)
        })
    }

    /// Values of the TAG columns of a row, in schema order; `None` is null. Empty for tablets of the tree model.
    pub fn tags_of(&self, row: usize) -> impl Iterator<Item = Option<&str>> + Clone {
        self.head.tags().iter().map(move |index| {
            let column = &self.columns[*index as usize];
            let is_null = column.nulls(self.row_count()).is_some_and(|nulls| nulls.is_null(row));
            match column.values() {
                Some(ValuesRef::Text(text)) if !is_null => {
                    Some(std::str::from_utf8(text.get(row)).expect("tags are checked when they are written"))
                }
                _ => None,
            }
        })
    }

    /// The device of a row: table name and tags, or the segments of the device path.
    fn device_of(&self, row: usize) -> DeviceId {
        let target = self.target().unwrap_or_default();
        if !self.head.is_table() {
            return DeviceId::from_path(target);
        }
        if self.is_empty() {
            return DeviceId::new(target, std::iter::empty());
        }
        DeviceId::new(target, self.tags_of(row))
    }
}
