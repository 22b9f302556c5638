//! Segment files: their names and their header.
//!
//! ```text
//! wal/000007.log          entries, the highest number is the one that grows
//! wal/000007.spare        a segment that was dropped and waits to be overwritten, or one that is being made
//! wal/000007.log.aside    a segment without a header (0..31 bytes, or zeros), kept for whoever wants to look
//!
//! offset  size  field of the header
//! 0       6     "TSLWAL"
//! 6       1     version, 1
//! 7       1     1: bytes after the last entry may be those of an older use
//! 8       8     segment number, u64 big-endian; the same as in the name
//! 16      8     sequence of the first entry, u64 big-endian
//! 24      4     zero
//! 28      4     CRC-32C of bytes 0..28; it seeds the CRC of every frame
//! 32      ..    frames, see `frame`
//! ```
//!
//! A segment gets its name `.log` only when its header is on disk, and all entries before its first one. So a header with a
//! wrong checksum is damage, and a sequence missing between two segments is a lost entry. What the segment before it holds
//! from that sequence on does not count.

use tsloom_model::{Error, ErrorKind, FileOffset, Result};

/// The folder of the log in a store's directory.
pub const FOLDER: &str = "wal";

pub(crate) const HEADER_SIZE: usize = 32;

const MAGIC: &[u8; 6] = b"TSLWAL";
const VERSION: u8 = 1;

/// What the first bytes of a segment say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) number: u64,
    pub(crate) first_sequence: u64,
    /// Bytes after the last entry may be those of an older use.
    pub(crate) recycled: bool,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[..6].copy_from_slice(MAGIC);
        bytes[6] = VERSION;
        bytes[7] = u8::from(self.recycled);
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.first_sequence.to_be_bytes());
        let checksum = crc32c::crc32c(&bytes[..28]);
        bytes[28..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// Reads the header of the segment that its name says has this number.
    pub(crate) fn parse(bytes: &[u8; HEADER_SIZE], number: u64) -> Result<Self> {
        let word = |at: usize| u64::from_be_bytes(std::array::from_fn(|index| bytes[at + index]));
        let found = u32::from_be_bytes(std::array::from_fn(|index| bytes[28 + index]));
        let expected = crc32c::crc32c(&bytes[..28]);
        let header = Self { number: word(8), first_sequence: word(16), recycled: bytes[7] == 1 };
        if !bytes.starts_with(MAGIC) {
            return Err(refuse("this is no log segment, which begins with TSLWAL".to_owned()));
        }
        if found != expected {
            return Err(refuse(format!("checksum {found:08x}, expected {expected:08x}")));
        }
        if bytes[6] != VERSION {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("log version {}; this build reads version {VERSION}", bytes[6]),
            ));
        }
        if header.number != number {
            return Err(refuse(format!("this is segment {}, under the name of segment {number}", header.number)));
        }
        Ok(header)
    }

    /// What the CRC of every frame in this segment starts from.
    pub(crate) fn seed(self) -> u32 {
        let bytes = self.to_bytes();
        u32::from_be_bytes(std::array::from_fn(|index| bytes[28 + index]))
    }
}

#[cold]
fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(0)).in_place("segment header")
}

/// What a name in the folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Log(u64),
    Spare(u64),
    Aside(u64),
}

impl Name {
    /// `None` for a name that is none of the log's.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (digits, kind) = name.split_once('.')?;
        if digits.len() < 6 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // Numbers only rise by one, so half of them are enough for ever and no sum of them overflows.
        let number = digits.parse().ok().filter(|number| *number < u64::MAX / 2)?;
        let parsed = match kind {
            "log" => Self::Log(number),
            "spare" => Self::Spare(number),
            "log.aside" => Self::Aside(number),
            _ => return None,
        };
        (parsed.path().strip_prefix(FOLDER)?.strip_prefix('/')? == name).then_some(parsed)
    }

    /// The name within the store's directory.
    pub(crate) fn path(self) -> String {
        match self {
            Self::Log(number) => format!("{FOLDER}/{number:06}.log"),
            Self::Spare(number) => format!("{FOLDER}/{number:06}.spare"),
            Self::Aside(number) => format!("{FOLDER}/{number:06}.log.aside"),
        }
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Log(number) | Self::Spare(number) | Self::Aside(number) => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { number: 7, first_sequence: 0x1234, recycled: true };

    #[test]
    fn bytes_are_as_drawn() {
        let bytes = HEADER.to_bytes();
        assert_eq!(bytes[..8], *b"TSLWAL\x01\x01");
        assert_eq!(bytes[8..28], [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0]);
        assert_eq!(Header::parse(&bytes, 7).unwrap(), HEADER);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for bit in 0..HEADER_SIZE * 8 {
            let mut bytes = HEADER.to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::parse(&bytes, 7).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_segment_under_another_name_is_refused() {
        let error = Header::parse(&HEADER.to_bytes(), 8).unwrap_err();
        assert_eq!(error.to_string(), "segment header at offset 0: this is segment 7, under the name of segment 8");
    }

    #[test]
    fn names_are_read_as_written_and_nothing_else() {
        for name in [Name::Log(7), Name::Spare(123_456), Name::Aside(1_234_567)] {
            assert_eq!(Name::parse(name.path().strip_prefix("wal/").unwrap()), Some(name));
        }
        for other in [
            "7.log",
            "0000007.log",
            "000007",
            "000007.tmp",
            "+00007.log",
            "notes.txt",
            "99999999999999999999999.log",
            "18446744073709551615.log",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }
}
