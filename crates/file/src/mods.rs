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
use tsloom_model::{
    CompareOp, Deletion, DeletionTarget, DeviceSet, Error, ErrorKind, FileOffset, Limits, Predicate, Result, TimeRange,
    split_path,
};

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
    let nodes = split_path(path).into_iter().map(str::to_owned).collect();
    Some(Deletion { times: TimeRange { start, end }, below_offset, target: DeletionTarget::Paths(nodes) })
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
            let devices = parse_condition(wire, &table, 0)?;
            let count = read_count(wire)?;
            // Every name takes a byte, so a count past the end fails there.
            let mut columns = Vec::new();
            for _ in 0..count {
                columns.push(wire.vstr_present()?.to_owned());
            }
            DeletionTarget::Table { table, devices, columns }
        }
        1 => DeletionTarget::Paths(split_path(wire.vstr_present()?).into_iter().map(str::to_owned).collect()),
        other => return Err(refuse(at, format!("kind {other} is not known"))),
    };
    Ok(Deletion { times, below_offset: None, target })
}

fn parse_condition(wire: &mut WireReader<'_>, table: &str, depth: u32) -> Result<DeviceSet> {
    let at = wire.position();
    if depth == DEPTH_MAX {
        return Err(refuse(at, "conditions within conditions go too deep".to_owned()));
    }
    Ok(match wire.u8()? {
        0 => DeviceSet::All,
        1 => DeviceSet::These(vec![DeviceKey::read(wire)?.to_id()]),
        2 => {
            let value = wire.vstr_utf8()?.map(str::to_owned);
            match (read_count(wire)?.checked_sub(1), value) {
                (Some(tag), Some(text)) => Predicate::Compare(tag, CompareOp::Eq, text).into(),
                (Some(tag), None) => Predicate::IsNull(tag).into(),
                // The segment before the tags is the name of the table.
                (None, value) if value.as_deref() == Some(table) => DeviceSet::All,
                (None, _) => DeviceSet::These(Vec::new()),
            }
        }
        3 => {
            let mut members = Vec::new();
            for _ in 0..read_count(wire)? {
                members.push(parse_condition(wire, table, depth + 1)?);
            }
            DeviceSet::AllOf(members)
        }
        4 => {
            let mut devices = Vec::new();
            for _ in 0..read_count(wire)? {
                devices.push(DeviceKey::read(wire)?.to_id());
            }
            DeviceSet::These(devices)
        }
        5 => match read_count(wire)?.checked_sub(1) {
            Some(tag) => Predicate::IsNull(tag).not().into(),
            None => DeviceSet::All,
        },
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
    use tsloom_model::{Deleted, DeviceId};

    use super::*;

    fn device(path: &str) -> DeviceId {
        DeviceId::from_path(path)
    }

    fn is_of(deletion: &Deletion, device: &DeviceId, column: &str) -> bool {
        deletion.concerns(device.segments()) && deletion.of_column(device.segments(), column) != Deleted::No
    }

    #[test]
    fn lines_of_version_1() {
        let text = b"DELETION,root.ln.wf01.temp,111,100,300\r\nDELETION,root.`a,b`.s,7,5\nDELETION,root.half,1,";
        let deletions = parse_text(text).unwrap();
        assert_eq!(deletions.len(), 2, "the last line is not whole");
        assert_eq!((deletions[0].times, deletions[0].below_offset), (TimeRange { start: 100, end: 300 }, Some(111)));
        assert_eq!((deletions[1].times, deletions[1].below_offset), (TimeRange { start: i64::MIN, end: 5 }, None));
        assert!(is_of(&deletions[0], &device("root.ln.wf01"), "temp") && !is_of(&deletions[0], &device("root.ln.wf01"), "t"));
        assert!(is_of(&deletions[1], &device("root.`a,b`"), "s"));
        let error = parse_text(b"DELETION,root.a,1,2,3\nINSERTION,x\n").unwrap_err();
        assert_eq!(error.to_string(), "deletion at offset 22: \"INSERTION,x\" is no deletion");
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
        assert!(is_of(&deletions[0], &device("root.a"), "s") && deletions[0].below_offset.is_none());
        let id = |tags: [Option<&str>; 2]| DeviceId::new("t", tags);
        assert!(is_of(&deletions[1], &id([Some("x"), Some("y")]), "v"));
        assert!(!is_of(&deletions[1], &id([Some("x"), None]), "v") && !is_of(&deletions[1], &id([Some("x"), Some("y")]), "w"));
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
        assert!(mods.paths.len() == 1 && mods.deletions.len() == 1 && is_of(&mods.deletions[0], &device("root.a"), "s"));
        std::fs::write(folder.path().join("a.tsfile.mods2"), [7; 40]).unwrap();
        let error = Mods::beside(&file, &Limits::default()).unwrap_err();
        assert!(error.file().unwrap().ends_with("a.tsfile.mods2"), "{error}");
    }
}
