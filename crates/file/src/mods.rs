//! Deletions that IoTDB keeps beside a TsFile: rows that are in the file and yet were deleted.
//!
//! ```text
//! wind.tsfile.mods      version 1, text, a line each:   DELETION,path,file offset,start,end    (older: DELETION,path,version,end)
//! wind.tsfile.mods2     version 2, one entry after the other:
//!   u8    0 = of a table, 1 = of tree paths
//!   i64   first time, i64 last time, both deleted
//!   tree  vstr path pattern: nodes joined by '.'; * stands for one node, ** for one or more
//!   table vstr table, tag condition, svar column count, x vstr column     no column = the rows as a whole
//!
//! tag condition
//!   u8    0 = every device
//!         1 = this one          device id
//!         2 = one segment       vstr value (null too), svar segment
//!         3 = all of these      svar count, x condition
//!         4 = one of these      svar count, x device id
//!         5 = not null          svar segment
//! ```
//!
//! An entry that ends early was never whole: IoTDB drops it, and so does this. Entries of version 1 hold for chunks below their file
//! offset only.
//!
//! Source of truth: `ModEntry`, `TreeDeletionEntry`, `TableDeletionEntry`, `TagPredicate` and
//! `LocalTextModificationAccessor` of apache/iotdb. No fixture: they were not at hand, the tests are made by hand from these rules.

use std::path::{Path, PathBuf};

use tsloom_encoding::WireReader;
use tsloom_format::DeviceKey;
use tsloom_model::{DeviceId, Error, ErrorKind, FileOffset, Limits, Result, TimeRange};

/// Conditions within conditions.
const DEPTH_MAX: u32 = 16;

/// The deletions beside a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mods {
    /// The files that were read.
    pub paths: Vec<PathBuf>,
    /// In the order of the files.
    pub deletions: Vec<Deletion>,
}

/// Some times of some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Deletion {
    /// What was deleted, both ends included.
    pub times: TimeRange,
    /// Only chunks that begin below this offset are meant; `None` means all.
    pub below_offset: Option<u64>,
    /// Whose values.
    pub target: Target,
}

/// Whose values were deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The series whose paths match: nodes, `*` for any one, `**` for one or more.
    Paths(Vec<String>),
    /// Columns of devices of a table.
    Table {
        /// The table's name.
        table: String,
        /// Which devices.
        devices: TagCondition,
        /// Which columns; none means the rows as a whole.
        columns: Vec<String>,
    },
}

/// Which devices of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TagCondition {
    /// Every device.
    All,
    /// One of these.
    Devices(Vec<DeviceId>),
    /// A segment has this value, or is null.
    Segment(usize, Option<String>),
    /// A segment is not null.
    NotNull(usize),
    /// All of these hold.
    And(Vec<TagCondition>),
}

impl Mods {
    /// Where the deletions of a file would be.
    pub fn paths_beside(file: &Path) -> [PathBuf; 2] {
        [".mods", ".mods2"].map(|end| {
            let mut name = file.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        })
    }

    /// Reads what lies beside a file; `None` when nothing does.
    ///
    /// # Errors
    /// When a file of deletions cannot be read, is past `limits.read_bytes_max`, or holds what is no deletion. It is not known
    /// then which rows are deleted; the error names the file.
    pub fn beside(file: impl AsRef<Path>, limits: &Limits) -> Result<Option<Self>> {
        let mut mods = Self::default();
        for (index, path) in Self::paths_beside(file.as_ref()).into_iter().enumerate() {
            let bytes = match std::fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => Err(Error::from(error)),
                Ok(found) => limits.read_size(found.len()).and_then(|_| Ok(std::fs::read(&path)?)),
            };
            let parse = |bytes: Vec<u8>| if index == 0 { parse_text(&bytes) } else { parse_binary(&bytes) };
            let deletions = bytes.and_then(parse).map_err(|error| error.in_file(&path))?;
            mods.deletions.extend(deletions);
            mods.paths.push(path);
        }
        Ok((!mods.paths.is_empty()).then_some(mods))
    }

    /// The deletions that may hide values of a column of a device.
    pub fn of<'a>(&'a self, device: &'a DeviceId, column: &'a str) -> impl Iterator<Item = &'a Deletion> {
        self.deletions.iter().filter(move |deletion| deletion.is_of(device, column))
    }
}

impl Deletion {
    /// True when values of this column of this device are meant.
    pub fn is_of(&self, device: &DeviceId, column: &str) -> bool {
        match &self.target {
            Target::Paths(pattern) => {
                let path = device.to_string();
                let mut nodes = split_nodes(&path);
                nodes.push(column);
                matches_nodes(pattern, &nodes)
            }
            Target::Table { table, devices, columns } => {
                device.table() == table
                    && devices.matches(device)
                    && (columns.is_empty() || columns.iter().any(|name| name == column))
            }
        }
    }

    /// True when a value of a chunk that begins at `chunk_offset` was deleted.
    pub fn hides(&self, chunk_offset: u64, time: i64) -> bool {
        self.times.contains(time) && self.below_offset.is_none_or(|offset| chunk_offset < offset)
    }
}

impl TagCondition {
    /// True when the device is meant.
    pub fn matches(&self, device: &DeviceId) -> bool {
        let segment = |index: &usize| device.segments().nth(*index).flatten();
        match self {
            Self::All => true,
            Self::Devices(devices) => devices.contains(device),
            Self::Segment(index, value) => segment(index) == value.as_deref(),
            Self::NotNull(index) => segment(index).is_some(),
            Self::And(members) => members.iter().all(|member| member.matches(device)),
        }
    }
}

/// The nodes of a path; a node in back quotes stays whole.
fn split_nodes(path: &str) -> Vec<&str> {
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

/// Row by row: which prefixes of `nodes` the pattern so far can stand for.
fn matches_nodes(pattern: &[String], nodes: &[&str]) -> bool {
    let mut can = vec![false; nodes.len() + 1];
    can[0] = true;
    for part in pattern {
        let before = std::mem::replace(&mut can, vec![false; nodes.len() + 1]);
        let mut any_before = false;
        for (index, node) in nodes.iter().enumerate() {
            any_before |= before[index];
            can[index + 1] = match part.as_str() {
                "**" => any_before,
                "*" => before[index],
                name => before[index] && name == *node,
            };
        }
    }
    can[nodes.len()]
}

fn parse_text(bytes: &[u8]) -> Result<Vec<Deletion>> {
    let mut deletions = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let deletion = std::str::from_utf8(line).ok().and_then(parse_line);
        deletions.push(deletion.ok_or_else(|| {
            let message = format!("{:?} is no deletion", String::from_utf8_lossy(&line[..line.len().min(80)]));
            Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(start as u64)).in_place("deletion")
        })?);
    }
    Ok(deletions)
}

/// A path may hold commas, so the numbers are found from the end.
fn parse_line(line: &str) -> Option<Deletion> {
    let rest = line.strip_prefix("DELETION,")?;
    let (rest, end) = rest.rsplit_once(',')?;
    let end: i64 = end.parse().ok()?;
    let (rest, second) = rest.rsplit_once(',')?;
    let second: i64 = second.parse().ok()?;
    let offset = rest.rsplit_once(',').and_then(|(path, offset)| Some((path, offset.parse::<u64>().ok()?)));
    let (path, below_offset, start) = match offset {
        Some((path, offset)) => (path, Some(offset), second),
        None => (rest, None, i64::MIN), // `second` counted versions once
    };
    let nodes = split_nodes(path).into_iter().map(str::to_owned).collect();
    Some(Deletion { times: TimeRange { start, end }, below_offset, target: Target::Paths(nodes) })
}

fn parse_binary(bytes: &[u8]) -> Result<Vec<Deletion>> {
    let mut wire = WireReader::new(bytes);
    let mut deletions = Vec::new();
    while !wire.is_empty() {
        match parse_entry(&mut wire) {
            Ok(deletion) => deletions.push(deletion),
            Err(error) if error.kind() == ErrorKind::Truncated => break,
            Err(error) => return Err(error.in_place("deletion")),
        }
    }
    Ok(deletions)
}

fn parse_entry(wire: &mut WireReader<'_>) -> Result<Deletion> {
    let at = wire.position();
    let kind = wire.u8()?;
    let times = TimeRange { start: wire.i64()?, end: wire.i64()? };
    let target = match kind {
        0 => {
            let table = wire.vstr_present()?.to_owned();
            let devices = parse_condition(wire, 0)?;
            let count = read_count(wire)?;
            // Every name takes a byte, so a count past the end fails there.
            let mut columns = Vec::new();
            for _ in 0..count {
                columns.push(wire.vstr_present()?.to_owned());
            }
            Target::Table { table, devices, columns }
        }
        1 => Target::Paths(split_nodes(wire.vstr_present()?).into_iter().map(str::to_owned).collect()),
        other => return Err(refuse(at, format!("kind {other} is not known"))),
    };
    Ok(Deletion { times, below_offset: None, target })
}

fn parse_condition(wire: &mut WireReader<'_>, depth: u32) -> Result<TagCondition> {
    let at = wire.position();
    if depth == DEPTH_MAX {
        return Err(refuse(at, "conditions within conditions go too deep".to_owned()));
    }
    Ok(match wire.u8()? {
        0 => TagCondition::All,
        1 => TagCondition::Devices(vec![DeviceKey::read(wire)?.to_id()]),
        2 => {
            let value = wire.vstr_utf8()?.map(str::to_owned);
            TagCondition::Segment(read_count(wire)?, value)
        }
        3 => {
            let mut members = Vec::new();
            for _ in 0..read_count(wire)? {
                members.push(parse_condition(wire, depth + 1)?);
            }
            TagCondition::And(members)
        }
        4 => {
            let mut devices = Vec::new();
            for _ in 0..read_count(wire)? {
                devices.push(DeviceKey::read(wire)?.to_id());
            }
            TagCondition::Devices(devices)
        }
        5 => TagCondition::NotNull(read_count(wire)?),
        other => return Err(refuse(at, format!("condition {other} is not known"))),
    })
}

fn read_count(wire: &mut WireReader<'_>) -> Result<usize> {
    let at = wire.position();
    let count = wire.svar()?;
    usize::try_from(count).map_err(|_| refuse(at, format!("{count} is no count")))
}

#[cold]
fn refuse(at: usize, message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(path: &str) -> DeviceId {
        DeviceId::from_path(path)
    }

    #[test]
    fn lines_of_version_1() {
        let text = b"DELETION,root.ln.wf01.temp,111,100,300\r\nDELETION,root.`a,b`.s,7,5\nDELETION,root.half,1,";
        let deletions = parse_text(text).unwrap();
        assert_eq!(deletions.len(), 2, "the last line is not whole");
        assert_eq!((deletions[0].times, deletions[0].below_offset), (TimeRange { start: 100, end: 300 }, Some(111)));
        assert_eq!((deletions[1].times, deletions[1].below_offset), (TimeRange { start: i64::MIN, end: 5 }, None));
        assert!(deletions[0].is_of(&device("root.ln.wf01"), "temp") && !deletions[0].is_of(&device("root.ln.wf01"), "t"));
        assert!(deletions[1].is_of(&device("root.`a,b`"), "s"));
        assert!(deletions[0].hides(110, 300) && !deletions[0].hides(111, 300) && !deletions[0].hides(7, 301));
        let error = parse_text(b"DELETION,root.a,1,2,3\nINSERTION,x\n").unwrap_err();
        assert_eq!(error.to_string(), "deletion at offset 22: \"INSERTION,x\" is no deletion");
    }

    #[test]
    fn patterns_of_paths() {
        let matches = |pattern: &str, path: &str| {
            let nodes: Vec<String> = split_nodes(pattern).into_iter().map(str::to_owned).collect();
            matches_nodes(&nodes, &split_nodes(path))
        };
        assert!(matches("root.sg.d1.s1", "root.sg.d1.s1") && matches("root.sg.*.s1", "root.sg.d1.s1"));
        assert!(matches("root.**", "root.sg.d1.s1") && matches("root.**.s1", "root.sg.d1.s1"));
        assert!(!matches("root.sg.d1", "root.sg.d1.s1") && !matches("root.sg.d1.s1.**", "root.sg.d1.s1"));
        assert!(!matches("root.*.s1", "root.sg.d1.s1") && matches("root.`a.b`.s", "root.`a.b`.s"));
    }

    #[test]
    fn entries_of_version_2() {
        let mut bytes = vec![1];
        bytes.extend([5_i64, 9].iter().flat_map(|time| time.to_be_bytes()));
        bytes.extend(b"\x10root.a.*");
        bytes.push(0);
        bytes.extend([i64::MIN, i64::MAX].iter().flat_map(|time| time.to_be_bytes()));
        // table t; segment 1 is "x" and segment 2 not null; column v
        bytes.extend(b"\x02t\x03\x04\x02\x02x\x02\x05\x04\x02\x02v");
        let deletions = parse_binary(&bytes).unwrap();
        assert_eq!(deletions.len(), 2);
        assert!(deletions[0].is_of(&device("root.a"), "s") && deletions[0].hides(1 << 40, 9));
        let id = |tags: [Option<&str>; 2]| DeviceId::new("t", tags);
        assert!(deletions[1].is_of(&id([Some("x"), Some("y")]), "v"));
        assert!(!deletions[1].is_of(&id([Some("x"), None]), "v") && !deletions[1].is_of(&id([Some("x"), Some("y")]), "w"));
        for size in 0..bytes.len() {
            assert!(parse_binary(&bytes[..size]).unwrap().len() < 2, "an entry that is cut was never whole");
        }
        bytes[0] = 9;
        assert_eq!(parse_binary(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn what_lies_beside_a_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tsfile");
        assert_eq!(Mods::beside(&file, &Limits::default()).unwrap(), None);
        std::fs::write(folder.path().join("a.tsfile.mods"), "DELETION,root.a.s,1,2,3\n").unwrap();
        let mods = Mods::beside(&file, &Limits::default()).unwrap().unwrap();
        assert_eq!(
            (mods.paths.len(), mods.of(&device("root.a"), "s").count(), mods.of(&device("root.a"), "t").count()),
            (1, 1, 0)
        );
        std::fs::write(folder.path().join("a.tsfile.mods2"), [7; 40]).unwrap();
        let error = Mods::beside(&file, &Limits::default()).unwrap_err();
        assert!(error.file().unwrap().ends_with("a.tsfile.mods2"), "{error}");
    }
}
