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
            return device_of_path(target);
        }
        if self.is_empty() {
            return DeviceId::new(target, std::iter::empty());
        }
        DeviceId::new(target, self.tags_of(row))
    }
}

/// The segments of a tree-model path, as files store them: the first nodes joined, the others one by one.
///
/// ```text
/// nodes      segments
/// a          (a)
/// a.b        (a, b)
/// a.b.c      (a.b, c)
/// a.b.c.d.e  (a.b.c, d, e)
/// ```
/// A node that begins with a back-quote ends after the next single one: it may contain dots, and keeps its quotes. It is the rule by
/// which `DeviceKey::from_path` of crate `format` reads the paths in older files.
pub fn device_of_path(path: &str) -> DeviceId {
    let mut ends: Vec<usize> = Vec::new();
    let (mut node_start, mut is_quoted) = (0, false);
    let mut bytes = path.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'`' if is_quoted => is_quoted = bytes.next_if(|(_, next)| *next == b'`').is_some(),
            b'`' => is_quoted = at == node_start,
            b'.' if !is_quoted => {
                ends.push(at);
                node_start = at + 1;
            }
            _ => {}
        }
    }
    // Dots that separate segments: all from the third on, or the last one of a short path.
    let separators = match ends.len() {
        0 => &[][..],
        1 | 2 => &ends[ends.len() - 1..],
        _ => &ends[2..],
    };
    let mut segments = Vec::with_capacity(separators.len() + 1);
    let mut start = 0;
    for end in separators {
        segments.push(Some(&path[start..*end]));
        start = end + 1;
    }
    segments.push(Some(&path[start..]));
    DeviceId::from_segments(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_as_files_store_them() {
        let check = |path: &str, segments: &[&str]| {
            assert!(device_of_path(path).segments().eq(segments.iter().map(|segment| Some(*segment))), "{path}");
        };
        check("root", &["root"]);
        check("root.a", &["root", "a"]);
        check("root.a.b", &["root.a", "b"]);
        check("root.sg.d1.x", &["root.sg.d1", "x"]);
        check("root.sg.d1.x.y", &["root.sg.d1", "x", "y"]);
        check("root.sg.`odd.name`.d", &["root.sg.`odd.name`", "d"]);
        check("", &[""]);
        check("root.`a.b`", &["root", "`a.b`"]);
        check("root.`a``b.x`.c.`d.e`", &["root.`a``b.x`.c", "`d.e`"]);
        check("root.`open.x", &["root", "`open.x"]); // never closed: taken to the end
        check("root.sg.a`b.c", &["root.sg.a`b", "c"]); // a quote inside a node opens nothing
        check("a.", &["a", ""]);
    }
}
