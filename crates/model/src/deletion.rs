//! What was deleted of rows that stay where they are: [`Deletion`].
//!
//! A deletion is kept beside rows (of a file, of a memtable) and applied by whoever reads them. One that names columns makes their
//! cells null, and the row stays; one that names none removes the rows.
//!
//! ```
//! use tsloom_model::{Deletion, DeviceId, TableSchema, tag};
//!
//! let table = TableSchema::builder("t").tag("city").field("temp", tsloom_model::DataType::Double).build()?;
//! let cells = Deletion::of_table("t", 0..=99).devices(tag("city").eq("Oslo").resolve(&table)?).columns(["temp"]);
//! assert!(cells.concerns(DeviceId::new("t", [Some("Oslo")]).segments()));
//! assert!(!cells.concerns(DeviceId::new("t", [Some("Rome")]).segments()));
//! # Ok::<(), tsloom_model::Error>(())
//! ```

use std::ops::RangeBounds;

use crate::{DeviceId, Predicate, TimeRange};

/// Some times of some devices: rows, or cells of some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Deletion {
    /// What was deleted, both ends included.
    pub times: TimeRange,
    /// Of a file: only chunks that begin below this offset are meant; `None` means all.
    pub below_offset: Option<u64>,
    /// Whose rows or cells.
    pub target: DeletionTarget,
}

/// Whose rows or cells were deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum DeletionTarget {
    /// Devices of a table.
    Table {
        /// The table's name, as stored.
        table: String,
        /// Which devices.
        devices: DeviceSet,
        /// Which columns, as stored; none means the rows as a whole.
        columns: Vec<String>,
    },
    /// The series whose paths match: nodes, `*` for any one, `**` for one or more.
    Paths(Vec<String>),
}

/// Some devices of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceSet {
    /// Every device.
    All,
    /// One of these.
    These(Vec<DeviceId>),
    /// Those whose tags meet a condition.
    Where(Predicate<usize>),
    /// Those that are in all of these sets.
    AllOf(Vec<DeviceSet>),
}

/// What a deletion means for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// Nothing.
    No,
    /// Its cells are null.
    Cells,
    /// The rows are gone.
    Rows,
}

impl From<Predicate<usize>> for DeviceSet {
    fn from(predicate: Predicate<usize>) -> Self {
        Self::Where(predicate)
    }
}

impl Deletion {
    /// The rows of a table in these times.
    pub fn of_table(table: impl Into<String>, times: impl RangeBounds<i64>) -> Self {
        let target = DeletionTarget::Table { table: table.into(), devices: DeviceSet::All, columns: Vec::new() };
        Self { times: TimeRange::from_bounds(times), below_offset: None, target }
    }

    /// Only of these devices. Of a deletion by paths nothing changes.
    #[must_use]
    pub fn devices(mut self, set: impl Into<DeviceSet>) -> Self {
        if let DeletionTarget::Table { devices, .. } = &mut self.target {
            *devices = set.into();
        }
        self
    }

    /// Only the cells of these columns. Of a deletion by paths nothing changes.
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        if let DeletionTarget::Table { columns, .. } = &mut self.target {
            *columns = names.into_iter().map(Into::into).collect();
        }
        self
    }

    /// True when something of the device with these segments (table name first) may have been deleted.
    pub fn concerns<'a>(&self, segments: impl Iterator<Item = Option<&'a str>> + Clone) -> bool {
        match &self.target {
            DeletionTarget::Table { table, devices, .. } => {
                segments.clone().next() == Some(Some(table)) && devices.contains(&segments)
            }
            // The nodes of the device must be what the pattern begins with.
            DeletionTarget::Paths(pattern) => {
                let reached = reach(pattern, nodes_of(segments).into_iter());
                let (whole, parts) = reached.split_last().expect("an entry more than parts");
                parts.contains(&true) || *whole && pattern.last().is_some_and(|last| last == "**")
            }
        }
    }

    /// What it means for a column of a device that it [`concerns`](Self::concerns).
    pub fn of_column<'a>(&self, segments: impl Iterator<Item = Option<&'a str>> + Clone, column: &str) -> Deleted {
        match &self.target {
            DeletionTarget::Table { columns, .. } if columns.is_empty() => Deleted::Rows,
            DeletionTarget::Table { columns, .. } if columns.iter().any(|name| name == column) => Deleted::Cells,
            DeletionTarget::Table { .. } => Deleted::No,
            DeletionTarget::Paths(pattern) => {
                let nodes = nodes_of(segments);
                let meets = |last: &str| reach(pattern, nodes.iter().copied().chain([last]))[pattern.len()];
                // No column has this name: what matches it matches every column.
                if meets("\0") {
                    Deleted::Rows
                } else if meets(column) {
                    Deleted::Cells
                } else {
                    Deleted::No
                }
            }
        }
    }
}

impl DeviceSet {
    /// True when the device with these segments, table name first, is in the set.
    pub fn contains<'a>(&self, segments: &(impl Iterator<Item = Option<&'a str>> + Clone)) -> bool {
        match self {
            Self::All => true,
            Self::These(devices) => devices.iter().any(|device| {
                let mut tags = segments.clone();
                tags.next().flatten() == Some(device.table()) && device.is(device.table(), tags)
            }),
            Self::Where(predicate) => predicate.matches_tags(&|tag| segments.clone().nth(tag.checked_add(1)?).flatten()),
            Self::AllOf(sets) => sets.iter().all(|set| set.contains(segments)),
        }
    }
}

/// The nodes of a path; a node in back quotes stays whole.
pub fn split_path(path: &str) -> Vec<&str> {
    let (mut nodes, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'`' if at == start || is_quoted => is_quoted = !is_quoted,
            b'.' if !is_quoted => {
                nodes.push(&path[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    nodes.push(&path[start..]);
    nodes
}

/// The nodes of the path of a device: its first segment may be several.
fn nodes_of<'a>(mut segments: impl Iterator<Item = Option<&'a str>>) -> Vec<&'a str> {
    let mut nodes = split_path(segments.next().flatten().unwrap_or_default());
    nodes.extend(segments.map(Option::unwrap_or_default));
    nodes
}

/// After all of these nodes: how many parts of the pattern they may stand for. Entry `i` is about the first `i` parts; a pattern that
/// has `**` as its part `i` may stay in it.
fn reach<'a>(pattern: &[String], nodes: impl Iterator<Item = &'a str>) -> Vec<bool> {
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    for node in nodes {
        for at in (0..pattern.len()).rev() {
            let before = reached[at];
            reached[at + 1] = match pattern[at].as_str() {
                "**" => before || reached[at + 1],
                "*" => before,
                name => before && name == node,
            };
        }
        reached[0] = false;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str, device: &str, column: &str) -> Deleted {
        let device = DeviceId::from_path(device);
        let target = DeletionTarget::Paths(split_path(pattern).into_iter().map(str::to_owned).collect());
        let deletion = Deletion { times: TimeRange::ALL, below_offset: None, target };
        let deleted = deletion.of_column(device.segments(), column);
        assert!(deleted == Deleted::No || deletion.concerns(device.segments()), "{pattern} {device}");
        deleted
    }

    #[test]
    fn patterns_of_paths() {
        assert_eq!(of("root.sg.d1.s1", "root.sg.d1", "s1"), Deleted::Cells);
        assert_eq!(of("root.sg.*.s1", "root.sg.d1", "s1"), Deleted::Cells);
        assert_eq!(of("root.sg.d1.*", "root.sg.d1", "s1"), Deleted::Rows);
        assert_eq!(of("root.**", "root.sg.d1", "s1"), Deleted::Rows);
        assert_eq!(of("root.**.s1", "root.sg.d1", "s1"), Deleted::Cells);
        assert_eq!(of("root.**.s1", "root.sg.d1", "s2"), Deleted::No);
        assert_eq!(of("root.sg.d1", "root.sg.d1", "s1"), Deleted::No);
        assert_eq!(of("root.sg.d1.s1.**", "root.sg.d1", "s1"), Deleted::No);
        assert_eq!(of("root.*.s1", "root.sg.d1", "s1"), Deleted::No);
        assert_eq!(of("root.`a.b`.s", "root.`a.b`", "s"), Deleted::Cells);
        assert_eq!(of("root.**.d1.*", "root.a.b.d1", "s1"), Deleted::Rows);
    }

    #[test]
    fn a_device_that_no_path_goes_through_is_not_concerned() {
        let concerns = |pattern: &str, device: &str| {
            let target = DeletionTarget::Paths(split_path(pattern).into_iter().map(str::to_owned).collect());
            let deletion = Deletion { times: TimeRange::ALL, below_offset: None, target };
            deletion.concerns(DeviceId::from_path(device).segments())
        };
        assert!(concerns("root.sg.d1.s1", "root.sg.d1") && concerns("root.**", "root.sg.d1.x.y"));
        assert!(!concerns("root.sg.d1.s1", "root.sg.d2") && !concerns("root.sg.d1", "root.sg.d1"));
    }

    #[test]
    fn sets_of_devices() {
        let id = |tags: [Option<&'static str>; 2]| DeviceId::new("t", tags);
        let set = DeviceSet::These(vec![id([Some("a"), None]), id([None, Some("b")])]);
        assert!(set.contains(&id([Some("a"), None]).segments()) && set.contains(&id([None, Some("b")]).segments()));
        assert!(
            !set.contains(&id([Some("a"), Some("b")]).segments()) && !set.contains(&DeviceId::new("u", [Some("a")]).segments())
        );
        let both = DeviceSet::AllOf(vec![set, DeviceSet::Where(Predicate::IsNull(1))]);
        assert!(both.contains(&id([Some("a"), None]).segments()) && !both.contains(&id([None, Some("b")]).segments()));
        assert!(DeviceSet::All.contains(&id([None, None]).segments()));
    }

    #[test]
    fn columns_or_rows_of_a_table() {
        let (device, deletion) = (DeviceId::new("t", [Some("a")]), Deletion::of_table("t", ..=5));
        assert_eq!(
            (deletion.times, deletion.of_column(device.segments(), "v")),
            (TimeRange { start: i64::MIN, end: 5 }, Deleted::Rows)
        );
        let cells = deletion.columns(["v"]);
        assert_eq!(cells.of_column(device.segments(), "v"), Deleted::Cells);
        assert_eq!(cells.of_column(device.segments(), "w"), Deleted::No);
        assert!(!cells.concerns(DeviceId::new("u", [Some("a")]).segments()));
    }
}
