//! A delete as bytes, for the log and the manifest.
//!
//! ```text
//! svar64  first time                     both ends are included
//! svar64  last time
//! u8      0 every device | 1 those that meet the condition that follows
//! uvar    column count, for each: vstr name     none: the rows as a whole
//!
//! condition  u8 kind, then
//! 0  comparison   uvar tag, u8 0 = | 1 != | 2 < | 3 <= | 4 > | 5 >=, vstr text
//! 1  one of       uvar tag, uvar count, for each: vstr text
//! 2  is null      uvar tag
//! 3  all hold     uvar count, conditions
//! 4  one holds    uvar count, conditions
//! 5  not          condition
//! 6  matches      uvar tag, vstr regular expression of the crate `regex`
//! ```
//!
//! A tag is a position among the TAG columns of the table. Strings are never null.

use bytes::BufMut;
use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::{CompareOp, Error, ErrorKind, FileOffset, Pattern, Predicate, Result, TimeRange};

/// Conditions within conditions.
const DEPTH_MAX: usize = 64;

/// What a delete takes away: rows, or cells of some columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// Both ends included.
    pub times: TimeRange,
    /// Of which devices; `None` is all. Tags are positions among the TAG columns of the table.
    pub devices: Option<Predicate<usize>>,
    /// The columns whose cells become null; none means that the rows go.
    pub columns: Vec<String>,
}

impl Delete {
    /// Checks that it can be read back.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] for conditions that are nested too deep.
    pub fn check(&self) -> Result<()> {
        match &self.devices {
            Some(devices) if depth(devices) > DEPTH_MAX => Err(too_deep()),
            _ => Ok(()),
        }
    }

    /// Exact number of bytes that [`write`](Self::write) appends.
    pub fn size(&self) -> usize {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes.len()
    }

    /// Appends it to `out`.
    pub fn write(&self, out: &mut impl BufMut) {
        out.put_svar64(self.times.start);
        out.put_svar64(self.times.end);
        out.put_u8(u8::from(self.devices.is_some()));
        if let Some(devices) = &self.devices {
            write_condition(devices, out);
        }
        out.put_uvar(count(self.columns.len()));
        self.columns.iter().for_each(|name| put_text(out, name));
    }

    /// Reads one from the cursor.
    ///
    /// # Errors
    /// Bytes that end too early, a kind nobody knows, conditions that are nested too deep; each with its position.
    pub fn read(wire: &mut WireReader<'_>) -> Result<Self> {
        let times = TimeRange { start: wire.svar64()?, end: wire.svar64()? };
        let at = wire.position();
        let devices = match wire.u8()? {
            0 => None,
            1 => Some(read_condition(wire, 1)?),
            kind => return Err(unknown(at, "set of devices", kind)),
        };
        let mut columns = Vec::new();
        for _ in 0..wire.uvar()? {
            columns.push(wire.vstr_present()?.to_owned());
        }
        Ok(Self { times, devices, columns })
    }
}

fn write_condition(condition: &Predicate<usize>, out: &mut impl BufMut) {
    let all = |members: &[Predicate<usize>], out: &mut _| {
        WirePut::put_uvar(out, count(members.len()));
        members.iter().for_each(|member| write_condition(member, out));
    };
    match condition {
        Predicate::Compare(tag, op, text) => {
            out.put_u8(0);
            out.put_uvar(count(*tag));
            out.put_u8(*op as u8);
            put_text(out, text);
        }
        Predicate::In(tag, texts) => {
            out.put_u8(1);
            out.put_uvar(count(*tag));
            out.put_uvar(count(texts.len()));
            texts.iter().for_each(|text| put_text(out, text));
        }
        Predicate::IsNull(tag) => {
            out.put_u8(2);
            out.put_uvar(count(*tag));
        }
        Predicate::And(members) => {
            out.put_u8(3);
            all(members, out);
        }
        Predicate::Or(members) => {
            out.put_u8(4);
            all(members, out);
        }
        Predicate::Not(member) => {
            out.put_u8(5);
            write_condition(member, out);
        }
        Predicate::Matches(tag, pattern) => {
            out.put_u8(6);
            out.put_uvar(count(*tag));
            put_text(out, pattern.as_str());
        }
    }
}

fn read_condition(wire: &mut WireReader<'_>, depth: usize) -> Result<Predicate<usize>> {
    if depth > DEPTH_MAX {
        return Err(too_deep().at(FileOffset::new(wire.position() as u64)));
    }
    // Every member takes a byte, so a count past the end fails there.
    let all = |wire: &mut WireReader<'_>| {
        let mut members = Vec::new();
        for _ in 0..wire.uvar()? {
            members.push(read_condition(wire, depth + 1)?);
        }
        Ok::<_, Error>(members)
    };
    let at = wire.position();
    Ok(match wire.u8()? {
        0 => {
            let tag = wire.uvar()? as usize;
            let at = wire.position();
            let op = match wire.u8()? {
                0 => CompareOp::Eq,
                1 => CompareOp::Ne,
                2 => CompareOp::Lt,
                3 => CompareOp::Le,
                4 => CompareOp::Gt,
                5 => CompareOp::Ge,
                op => return Err(unknown(at, "comparison", op)),
            };
            Predicate::Compare(tag, op, wire.vstr_present()?.to_owned())
        }
        1 => {
            let tag = wire.uvar()? as usize;
            let mut texts = Vec::new();
            for _ in 0..wire.uvar()? {
                texts.push(wire.vstr_present()?.to_owned());
            }
            Predicate::In(tag, texts)
        }
        2 => Predicate::IsNull(wire.uvar()? as usize),
        3 => Predicate::And(all(wire)?),
        4 => Predicate::Or(all(wire)?),
        5 => Predicate::Not(Box::new(read_condition(wire, depth + 1)?)),
        6 => {
            let tag = wire.uvar()? as usize;
            let pattern = Pattern::new(wire.vstr_present()?).map_err(|error| unreadable(at, error))?;
            Predicate::Matches(tag, pattern)
        }
        kind => return Err(unknown(at, "condition", kind)),
    })
}

fn depth(condition: &Predicate<usize>) -> usize {
    1 + match condition {
        Predicate::And(members) | Predicate::Or(members) => members.iter().map(depth).max().unwrap_or(0),
        Predicate::Not(member) => depth(member),
        Predicate::Compare(..) | Predicate::In(..) | Predicate::Matches(..) | Predicate::IsNull(_) => 0,
    }
}

fn put_text(out: &mut impl BufMut, text: &str) {
    out.put_vstr(Some(text.as_bytes()));
}

fn count(count: usize) -> u32 {
    u32::try_from(count).expect("a delete has fewer than 2^32 parts")
}

#[cold]
fn too_deep() -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("conditions are nested deeper than {DEPTH_MAX}"))
}

/// An expression that was written was right; one that is not is damage. A build without expressions says so.
#[cold]
fn unreadable(at: usize, error: Error) -> Error {
    let error =
        if error.kind() == ErrorKind::InvalidArgument { Error::new(ErrorKind::Corrupt, error.to_string()) } else { error };
    error.at(FileOffset::new(at as u64))
}

#[cold]
fn unknown(at: usize, what: &str, code: u8) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} {code} is not known")).at(FileOffset::new(at as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delete() -> Delete {
        let ops = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
        let compare = |op| Predicate::Compare(1, op, "x".to_owned());
        let devices = Predicate::And(vec![
            Predicate::Or(ops.map(compare).to_vec()),
            Predicate::In(0, vec!["a".to_owned(), String::new()]).not(),
            Predicate::IsNull(300),
            Predicate::Matches(1, Pattern::new("^a+$").unwrap()),
        ]);
        Delete { times: TimeRange { start: i64::MIN, end: 7 }, devices: Some(devices), columns: vec!["temp".to_owned()] }
    }

    fn bytes(delete: &Delete) -> Vec<u8> {
        let mut bytes = Vec::new();
        delete.write(&mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let rows = Delete { times: TimeRange::ALL, devices: None, columns: Vec::new() };
        for delete in [delete(), rows] {
            let bytes = bytes(&delete);
            let mut wire = WireReader::new(&bytes);
            assert_eq!(Delete::read(&mut wire).unwrap(), delete);
            assert!(wire.is_empty());
            for size in 0..bytes.len() {
                assert_eq!(Delete::read(&mut WireReader::new(&bytes[..size])).unwrap_err().kind(), ErrorKind::Truncated);
            }
        }
    }

    #[test]
    fn bytes_are_as_drawn() {
        let devices = Some(Predicate::Compare(2, CompareOp::Ge, "ab".to_owned()));
        let delete = Delete { times: TimeRange { start: -1, end: 1 }, devices, columns: vec!["t".to_owned()] };
        assert_eq!(bytes(&delete), [1, 2, 1, 0, 2, 5, 4, b'a', b'b', 1, 2, b't']);
    }

    #[test]
    fn an_expression_that_is_wrong_is_damage() {
        let mut bytes = bytes(&Delete { devices: Some(Predicate::Matches(0, Pattern::new("a.").unwrap())), ..delete() });
        let at = bytes.windows(2).position(|pair| pair == b"a.").unwrap();
        bytes[at..at + 2].copy_from_slice(b"a(");
        assert_eq!(Delete::read(&mut WireReader::new(&bytes)).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn conditions_are_nested_so_deep_and_no_deeper() {
        let nested = |depth| (1..depth).fold(Predicate::IsNull(0), |inner, _| inner.not());
        let of = |depth| Delete { devices: Some(nested(depth)), ..delete() };
        of(DEPTH_MAX).check().unwrap();
        Delete::read(&mut WireReader::new(&bytes(&of(DEPTH_MAX)))).unwrap();
        assert_eq!(of(DEPTH_MAX + 1).check().unwrap_err().kind(), ErrorKind::LimitExceeded);
        let read = Delete::read(&mut WireReader::new(&bytes(&of(DEPTH_MAX + 1))));
        assert_eq!(read.unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
