//! What belongs to the store: one small file, replaced as a whole.
//!
//! ```text
//! offset  size  field
//! 0       8     "TSLMANIF"
//! 8       1     version, 2
//! 9       3     zero
//! 12      4     CRC-32C of bytes 0..12, then of bytes 16..
//! 16      ..    uvar64 generation, one higher each time
//!               uvar64 last entry of the log whose rows are in files; tables and erasures are those after it
//!               uvar64 number of a log segment that was there when this was written
//!               uvar64 number of the next file
//!               uvar   id of the next table
//!               uvar   table count, for each: uvar id, schema (as in the log)
//!               uvar   file count, for each: uvar64 number, uvar64 size, uvar64 row count,
//!                      svar64 first time, svar64 last time (first > last: no row), u8 0 in order | 1 late,
//!                      uvar64 last entry of the log whose erasure is carried out in it
//!               uvar   erasure count, for each: see `erasure`
//! ```
//!
//! It is written to `MANIFEST.tmp`, synced, renamed over `MANIFEST`, and the folder is synced: a reader sees the old one or the
//! new one. Late files stand in the order of their rows' age, oldest first.
//!
//! A manifest is the store as it was after one entry of the log. Replaying the log behind that entry gives the rest.

use std::sync::Arc;

use tsloom_encoding::{WirePut, WireReader};
use tsloom_io::Dir;
use tsloom_model::{Error, ErrorKind, FileOffset, Limits, Result, TableSchema, TimeRange};
use tsloom_wal::{read_schema, write_schema};

use crate::erasure::Erasures;

pub(crate) const NAME: &str = "MANIFEST";
const TEMPORARY_NAME: &str = "MANIFEST.tmp";
const MAGIC: &[u8; 8] = b"TSLMANIF";
const VERSION: u8 = 2;
const HEAD_SIZE: usize = 16;

/// One file of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEntry {
    pub(crate) number: u64,
    pub(crate) size: u64,
    pub(crate) row_count: u64,
    pub(crate) times: TimeRange,
    /// It may have times of a device that in-order files have too.
    pub(crate) is_late: bool,
    /// Erasures of the log up to this entry are carried out in it.
    pub(crate) erased_through: u64,
}

/// What belongs to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) generation: u64,
    /// Rows of the log up to this entry are in files, and the rest is as it says.
    pub(crate) flushed: u64,
    pub(crate) log_segment: u64,
    pub(crate) next_file: u64,
    pub(crate) next_table: u32,
    pub(crate) tables: Vec<(u32, Arc<TableSchema>)>,
    pub(crate) files: Vec<FileEntry>,
    pub(crate) erasures: Erasures,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            generation: 0,
            flushed: 0,
            log_segment: 0,
            next_file: 1,
            next_table: 1,
            tables: Vec::new(),
            files: Vec::new(),
            erasures: Erasures::default(),
        }
    }
}

/// How a manifest did not become the one.
pub(crate) enum Unwritten {
    /// The old one is still the one.
    Refused(Error),
    /// A sync failed: nobody knows which is.
    Unknown(Error),
}

impl Manifest {
    /// The manifest of a directory; `None` when it has none.
    pub(crate) fn read(dir: &dyn Dir, limits: &Limits) -> Result<Option<Self>> {
        let source = match dir.open_read(NAME) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            source => source.map_err(in_manifest)?,
        };
        let size = limits.read_size(source.size().map_err(in_manifest)?).map_err(|error| error.in_file(NAME))?;
        let mut bytes = vec![0; size];
        source.read_exact_at(&mut bytes, 0).map_err(in_manifest)?;
        Self::parse(&bytes).map(Some).map_err(|error| error.in_file(NAME))
    }

    /// Puts this manifest in the place of the one before.
    pub(crate) fn write(&self, dir: &dyn Dir) -> Result<(), Unwritten> {
        let refused = |error| Unwritten::Refused(in_manifest(error));
        let unknown = |error| Unwritten::Unknown(in_manifest(error));
        let mut file = dir.create(TEMPORARY_NAME).map_err(refused)?;
        file.write_all_at(&self.to_bytes(), 0).map_err(refused)?;
        file.sync().map_err(unknown)?;
        drop(file);
        dir.rename(TEMPORARY_NAME, NAME).map_err(refused)?;
        dir.sync("").map_err(unknown)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[VERSION, 0, 0, 0]);
        out.extend_from_slice(&[0; 4]);
        out.put_uvar64(self.generation);
        out.put_uvar64(self.flushed);
        out.put_uvar64(self.log_segment);
        out.put_uvar64(self.next_file);
        out.put_uvar(self.next_table);
        out.put_uvar(count(self.tables.len()));
        for (id, schema) in &self.tables {
            out.put_uvar(*id);
            write_schema(schema, &mut out);
        }
        out.put_uvar(count(self.files.len()));
        for file in &self.files {
            out.put_uvar64(file.number);
            out.put_uvar64(file.size);
            out.put_uvar64(file.row_count);
            out.put_svar64(file.times.start);
            out.put_svar64(file.times.end);
            out.push(u8::from(file.is_late));
            out.put_uvar64(file.erased_through);
        }
        self.erasures.write(&mut out);
        let checksum = checksum(&out);
        out[12..HEAD_SIZE].copy_from_slice(&checksum.to_be_bytes());
        out
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut wire = WireReader::new(bytes);
        let corrupt = |at: u64, message: String| Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at));
        if wire.bytes(MAGIC.len())? != MAGIC {
            return Err(corrupt(0, "this is no manifest, which begins with TSLMANIF".to_owned()));
        }
        let version = wire.u8()?;
        wire.skip(3)?;
        let found = wire.u32()?;
        let expected = checksum(bytes);
        if found != expected {
            return Err(corrupt(12, format!("checksum {found:08x}, expected {expected:08x}")));
        }
        if version != VERSION {
            let message = format!("manifest version {version}; this build reads version {VERSION}");
            return Err(Error::new(ErrorKind::Unsupported, message).at(FileOffset::new(8)));
        }
        let mut manifest = Self {
            generation: wire.uvar64()?,
            flushed: wire.uvar64()?,
            log_segment: wire.uvar64()?,
            next_file: wire.uvar64()?,
            next_table: wire.uvar()?,
            ..Self::default()
        };
        for _ in 0..wire.uvar()? {
            manifest.tables.push((wire.uvar()?, Arc::new(read_schema(&mut wire)?)));
        }
        for _ in 0..wire.uvar()? {
            manifest.files.push(FileEntry {
                number: wire.uvar64()?,
                size: wire.uvar64()?,
                row_count: wire.uvar64()?,
                times: TimeRange { start: wire.svar64()?, end: wire.svar64()? },
                is_late: wire.bool()?,
                erased_through: wire.uvar64()?,
            });
        }
        manifest.erasures = Erasures::read(&mut wire)?;
        // They only rise by one, so half of them are enough for ever and no sum of them overflows.
        let numbers = [manifest.generation, manifest.flushed, manifest.log_segment, manifest.next_file];
        if numbers.iter().any(|number| *number > u64::MAX / 2) || manifest.next_table == u32::MAX {
            return Err(corrupt(HEAD_SIZE as u64, format!("counters {numbers:?} and {} make no sense", manifest.next_table)));
        }
        if !wire.is_empty() {
            return Err(corrupt(wire.position() as u64, format!("{} bytes follow the manifest", wire.remaining())));
        }
        Ok(manifest)
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[HEAD_SIZE..])
}

fn count(count: usize) -> u32 {
    u32::try_from(count).expect("a store has fewer than 2^32 tables and files")
}

fn in_manifest(error: std::io::Error) -> Error {
    Error::from(error).in_file(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::erasure::{Erased, Erasure};
    use tsloom_model::DataType;
    use tsloom_testkit::faults::{FaultDir, FaultKind};

    fn manifest() -> Manifest {
        let schema = TableSchema::builder("t").tag("a").field("b", DataType::Double).build().unwrap();
        let mut erasures = Erasures::default();
        erasures.push(Erasure { sequence: 9, table: "t".to_owned(), erased: Erased::Column("c".to_owned()) });
        Manifest {
            generation: 7,
            flushed: 300,
            log_segment: 4,
            next_file: 3,
            next_table: 2,
            tables: vec![(1, Arc::new(schema))],
            files: vec![
                FileEntry {
                    number: 1,
                    size: 390,
                    row_count: 20,
                    times: TimeRange { start: -5, end: 900 },
                    is_late: true,
                    erased_through: 7,
                },
                FileEntry { number: 2, size: 17, row_count: 0, times: TimeRange::EMPTY, is_late: false, erased_through: 300 },
            ],
            erasures,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = FaultDir::new();
        assert_eq!(Manifest::read(&dir, &Limits::default()).unwrap(), None);
        assert!(manifest().write(&dir).is_ok());
        assert_eq!(Manifest::read(&dir, &Limits::default()).unwrap(), Some(manifest()));
        let bytes = dir.file(NAME).unwrap();
        assert_eq!(bytes[..12], *b"TSLMANIF\x02\0\0\0");
        assert_eq!(bytes[16..21], [7, 0xac, 2, 4, 3]);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = manifest().to_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::parse(&bytes).is_err(), "bit {bit}");
        }
        for size in 0..bytes.len() {
            assert!(Manifest::parse(&bytes[..size]).is_err(), "{size}");
        }
    }

    #[test]
    fn counters_that_would_overflow_are_refused() {
        let far = Manifest { flushed: u64::MAX, ..manifest() };
        assert_eq!(Manifest::parse(&far.to_bytes()).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_failure_leaves_the_old_one() {
        let old = Manifest { generation: 6, ..manifest() };
        for call in 0..5 {
            let dir = FaultDir::new();
            assert!(old.write(&dir).is_ok());
            dir.fail_call(dir.calls().len() + call, FaultKind::Eio);
            let failed = manifest().write(&dir);
            assert_eq!(matches!(failed, Err(Unwritten::Unknown(_))), call == 2 || call == 4, "call {call}");
            let is_old = Manifest::read(&dir, &Limits::default()).unwrap() == Some(old.clone());
            assert_eq!(is_old, call < 4, "call {call}");
        }
    }
}
