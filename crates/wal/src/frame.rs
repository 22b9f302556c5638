//! One entry on disk: a head of 17 bytes and a payload.
//!
//! ```text
//! offset  size  field
//! 0       4     payload size, u32 big-endian
//! 4       4     CRC-32C of bytes 0..4, then of bytes 8.. to the end of the payload, seeded with the CRC of the segment
//! 8       1     kind; bit 0x80: every entry before this one was durable when this one was written
//! 9       8     sequence, u64 big-endian: 1 higher than that of the entry before, never used twice for what was durable
//! 17      n     payload
//! ```
//!
//! The seed ties a frame to its segment: a frame that an older use of a recycled segment left behind, or one that sits as a
//! blob in somebody's row, has another seed and another sequence. The bit 0x80 is what tells a torn tail from damage: a
//! frame that carries it proves that the frames before it had reached the disk once.

use bytes::BufMut;

/// Bytes before the payload.
pub(crate) const HEAD_SIZE: usize = 17;

/// The largest payload that is written or believed.
pub const ENTRY_BYTES_MAX: usize = 1 << 28;

/// Bit of the kind byte: every entry before this one was durable when this one was written.
const AFTER_SYNC: u8 = 0x80;

/// The head of a frame as it stands on disk; nothing in it is checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) payload_size: u32,
    pub(crate) checksum: u32,
    pub(crate) kind: u8,
    pub(crate) after_sync: bool,
    pub(crate) sequence: u64,
}

impl Head {
    pub(crate) fn parse(bytes: &[u8; HEAD_SIZE]) -> Self {
        let [s0, s1, s2, s3, c0, c1, c2, c3, kind, sequence @ ..] = *bytes;
        Self {
            payload_size: u32::from_be_bytes([s0, s1, s2, s3]),
            checksum: u32::from_be_bytes([c0, c1, c2, c3]),
            kind: kind & !AFTER_SYNC,
            after_sync: kind & AFTER_SYNC != 0,
            sequence: u64::from_be_bytes(sequence),
        }
    }
}

/// The checksum a frame must have: `frame` is the whole of it, head included.
pub(crate) fn checksum(seed: u32, frame: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c_append(seed, &frame[..4]), &frame[8..])
}

/// Appends one frame to `out`; the payload is what `write_payload` appends, at most [`ENTRY_BYTES_MAX`] bytes.
pub(crate) fn append(
    out: &mut Vec<u8>,
    seed: u32,
    kind: u8,
    after_sync: bool,
    sequence: u64,
    write_payload: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.put_bytes(0, 8);
    out.put_u8(if after_sync { kind | AFTER_SYNC } else { kind });
    out.put_u64(sequence);
    write_payload(out);
    let payload_size = out.len() - start - HEAD_SIZE;
    assert!(payload_size <= ENTRY_BYTES_MAX, "larger entries are refused before they are written");
    let frame = &mut out[start..];
    frame[..4].copy_from_slice(&(payload_size as u32).to_be_bytes());
    let checksum = checksum(seed, frame);
    frame[4..8].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(seed: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        append(&mut out, seed, 2, true, 0x0102, |out| out.extend_from_slice(payload));
        out.split_off(6)
    }

    #[test]
    fn bytes_are_as_drawn() {
        let bytes = frame(0, b"xyz");
        assert_eq!(bytes.len(), HEAD_SIZE + 3);
        assert_eq!(bytes[..4], [0, 0, 0, 3]);
        assert_eq!(bytes[8..], [0x82, 0, 0, 0, 0, 0, 0, 1, 2, b'x', b'y', b'z']);
        let covered = [&bytes[..4], &bytes[8..]].concat();
        assert_eq!(bytes[4..8], crc32c::crc32c(&covered).to_be_bytes());
        let head = Head::parse(bytes[..HEAD_SIZE].try_into().unwrap());
        assert_eq!((head.payload_size, head.kind, head.after_sync, head.sequence), (3, 2, true, 0x0102));
        assert_eq!(head.checksum, checksum(0, &bytes));
    }

    #[test]
    fn crc_is_the_castagnoli_one() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283); // RFC 3720, appendix B.4 names the polynomial
    }

    #[test]
    fn another_segment_gives_another_checksum() {
        assert_ne!(frame(1, b"xyz")[4..8], frame(2, b"xyz")[4..8]);
    }
}
