//! Frames: golden bytes, alignment, every truncation and every flipped bit.

use proptest::prelude::*;

use super::*;

fn pool() -> BufferPool {
    BufferPool::new(1 << 20)
}

fn written(frames: &[(FrameHead, &[&[u8]])]) -> Vec<u8> {
    let mut writer = FrameWriter::new(Vec::new());
    for (head, payload) in frames {
        writer.write(*head, payload.iter().copied()).unwrap();
    }
    assert_eq!(writer.position(), writer.get_ref().len() as u64);
    writer.out
}

fn read(bytes: &[u8]) -> Result<Vec<Frame>> {
    let mut reader = FrameReader::new(bytes, 1 << 16);
    let pool = pool();
    let mut frames = Vec::new();
    while let Some(frame) = reader.read(&pool)? {
        frames.push(frame);
    }
    Ok(frames)
}

const DATA: FrameHead = FrameHead { kind: FrameKind::Data, mailbox: 0x0102, block_seq: 7, chunk_index: 1, chunk_count: 3 };

/// The checksums are from a bitwise CRC-32C in another language, over the bytes written out here.
#[test]
fn golden_frames() {
    let bytes = written(&[(FrameHead::control(FrameKind::EarlyTerminate, 5), &[]), (DATA, &[b"ab", b"c"])]);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let empty = concat!("54535831", "07", "00", "2000", "0500000000000000", "00000000", "0000", "0000", "00000000", "da6c7d3c");
    let data = concat!("54535831", "03", "00", "2000", "0201000000000000", "07000000", "0100", "0300", "03000000", "35396c88");
    assert_eq!(hex, [empty, data, "616263", "0000000000"].concat());
}

#[test]
fn payloads_start_at_64_in_stream_and_memory() {
    let parts: &[&[u8]] = &[&[1; 100], &[], &[2; 29]];
    let frames = [(DATA, parts), (FrameHead::control(FrameKind::Ping, 0), &[][..]), (DATA, parts)];
    let bytes = written(&frames);
    assert_eq!((bytes.len() % 8, bytes[64], bytes[63]), (0, 1, 0));
    for (frame, (head, payload)) in read(&bytes).unwrap().iter().zip(frames) {
        assert_eq!((frame.head, frame.payload.as_ref()), (head, payload.concat().as_slice()));
        assert!(payload.is_empty() || frame.payload.as_ref().as_ptr().align_offset(64) == 0);
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_noticed() {
    let bytes = written(&[(DATA, &[b"some bytes of a block"]), (FrameHead::control(FrameKind::Credit, 3), &[b"12345678"])]);
    let first = written(&[(DATA, &[b"some bytes of a block"])]).len();
    for len in (1..bytes.len()).filter(|&len| len != first) {
        let error = read(&bytes[..len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{len}: {error}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let error = read(&flipped).unwrap_err();
        assert!(error.to_string().starts_with("frame at offset "), "{error}");
    }
}

#[test]
fn a_payload_over_the_limit_is_refused_before_it_is_allocated() {
    let mut bytes = written(&[(DATA, &[b"x"])]);
    bytes[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.to_string(), "frame at offset 0: payload of 4,294,967,295 bytes is past the limit frame_bytes_max = 65,536");
}

#[test]
fn a_longer_header_of_a_later_version_is_read() {
    let mut bytes = written(&[(FrameHead::control(FrameKind::Ping, 9), &[])]);
    bytes[6] = 40;
    bytes.extend([9; 8]);
    let crc = crc32c::crc32c_append(crc32c::crc32c(&bytes[..28]), &bytes[32..]);
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(read(&bytes).unwrap()[0].head.mailbox, 9);
    bytes[39] ^= 1;
    assert_eq!(read(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
}

/// A stream that gives and takes a byte or two at a time.
struct Slow<T>(T);

impl Write for Slow<Vec<u8>> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(2);
        self.0.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Slow<&[u8]> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min(1);
        self.0.read(&mut into[..count])
    }
}

proptest! {
    #[test]
    fn what_is_written_in_parts_is_read_whole(payloads in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 0..80), 1..5)) {
        let mut writer = FrameWriter::new(Slow(Vec::new()));
        for parts in &payloads {
            writer.write(DATA, parts.iter().map(Vec::as_slice)).unwrap();
        }
        let bytes = writer.out.0;
        let mut reader = FrameReader::new(Slow(bytes.as_slice()), 1 << 16);
        let pool = pool();
        for parts in &payloads {
            let frame = reader.read(&pool).unwrap().unwrap();
            prop_assert_eq!(frame.payload.as_ref().to_vec(), parts.concat());
        }
        prop_assert!(reader.read(&pool).unwrap().is_none());
        prop_assert_eq!(reader.position(), bytes.len() as u64);
    }

    #[test]
    fn any_bytes_end_in_frames_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let mut framed = written(&[(DATA, &[b"x"])])[..24].to_vec();
        framed.extend(bytes);
        let _ = read(&framed);
    }
}
