//! Known streams: made by other programs (gzip and xz by CPython) or by hand from the specification of the form.

mod support;

use support::{from_hex, hex};
use tsloom_codec::compress::{
    CompressOptions, CompressScratch, compress, decompress, decompress_into, is_supported, is_writable,
};
use tsloom_model::{Compression, ErrorKind};

/// Compression, stream, what it holds.
const STREAMS: &[(Compression, &str, &str)] = &[
    (Compression::Uncompressed, "68656c6c6f", "hello"),
    // Size, then one literal tag.
    (Compression::Snappy, "051068656c6c6f", "hello"),
    // Three literals, a match of 9 at distance 3, five literals.
    (Compression::Lz4, "3561626303005068656c6c6f", "abcabcabcabchello"),
    // A first run of 17 + 5, then the end mark.
    (Compression::Lzo, "1668656c6c6f110000", "hello"),
    // A match of 7 at distance 5 in between.
    (Compression::Lzo, "1668656c6c6f251000110000", "hellohellohe"),
    // Single segment of 5 bytes, one raw block, the last.
    (Compression::Zstd, "28b52ffd200529000068656c6c6f", "hello"),
    // One run-length block.
    (Compression::Zstd, "28b52ffd2008430000ee", "\u{0}"),
    (Compression::Gzip, "1f8b0800000000000203cb48cdc9c957c8402701e3513d8d17000000", "hello hello hello hello"),
    (
        Compression::Lzma2,
        "fd377a585a000004e6d6b4460200210116000000742fe5a3e00016000b5d00341949ee8de9560ab5e00000008943dbea0334e4d000012717898290791fb6f37d010000000004595a",
        "hello hello hello hello",
    ),
];

fn content(text: &str) -> Vec<u8> {
    if text == "\u{0}" { vec![0xee; 8] } else { text.as_bytes().to_vec() }
}

#[test]
fn known_streams_are_read() {
    let mut scratch = CompressScratch::default();
    for &(compression, stream, text) in STREAMS {
        let (stream, content) = (from_hex(stream), content(text));
        let mut out = vec![1];
        decompress(compression, &stream, content.len(), &mut out, &mut scratch)
            .unwrap_or_else(|error| panic!("{compression}: {error}"));
        assert_eq!(hex(&out[1..]), hex(&content), "{compression}");
        let mut out = vec![0; content.len()];
        decompress_into(compression, &stream, &mut out, &mut scratch).unwrap();
        assert_eq!(hex(&out), hex(&content), "{compression}");
        for size in [content.len() + 1, content.len() - 1] {
            let mut out = vec![1];
            let error = decompress(compression, &stream, size, &mut out, &mut scratch).unwrap_err();
            assert_eq!((error.kind(), out.len()), (ErrorKind::Corrupt, 1), "{compression}: {error}");
            assert!(decompress_into(compression, &stream, &mut vec![0; size], &mut scratch).is_err(), "{compression}");
        }
    }
}

#[test]
fn every_level_is_read_back_and_others_are_refused() {
    let input: Vec<u8> = (0..20_000_u32).flat_map(|i| (i / 3 % 100).to_le_bytes()).collect();
    let with = |options| CompressScratch::with_options(options);
    let levels = [
        (Compression::Gzip, with(CompressOptions { gzip_level: 1, ..Default::default() })),
        (Compression::Gzip, with(CompressOptions { gzip_level: 9, ..Default::default() })),
        (Compression::Zstd, with(CompressOptions { zstd_level: -1, ..Default::default() })),
        (Compression::Zstd, with(CompressOptions { zstd_level: 19, ..Default::default() })),
        (Compression::Lzma2, with(CompressOptions { xz_level: 0, ..Default::default() })),
        (Compression::Lzma2, with(CompressOptions { xz_level: 9, ..Default::default() })),
    ];
    for (compression, mut scratch) in levels {
        let (mut bytes, mut back) = (Vec::new(), Vec::new());
        compress(compression, &input, &mut bytes, &mut scratch).unwrap();
        decompress(compression, &bytes, input.len(), &mut back, &mut scratch).unwrap();
        assert!(back == input && bytes.len() < input.len(), "{compression}");
    }
    let mut scratch = with(CompressOptions { gzip_level: 10, zstd_level: 99, xz_level: 10 });
    for compression in [Compression::Gzip, Compression::Zstd, Compression::Lzma2] {
        let error = compress(compression, &input, &mut Vec::new(), &mut scratch).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{compression}: {error}");
    }
}

#[test]
fn lzo_is_read_only() {
    assert!(is_supported(Compression::Lzo) && !is_writable(Compression::Lzo));
    let error = compress(Compression::Lzo, b"x", &mut Vec::new(), &mut CompressScratch::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "compression LZO is read, not written");
}

/// Output of a stream grows as it arrives: a claim of a gigabyte over a few bytes asks for none of it.
#[test]
fn a_claimed_size_is_not_an_allocation() {
    let input = vec![7; 100_000];
    let mut scratch = CompressScratch::default();
    for &compression in Compression::ALL.iter().filter(|it| is_writable(**it)) {
        let mut bytes = Vec::new();
        compress(compression, &input, &mut bytes, &mut scratch).unwrap();
        let mut out = Vec::new();
        assert!(decompress(compression, &bytes, 1 << 30, &mut out, &mut scratch).is_err(), "{compression}");
        assert!(out.capacity() <= 1 << 20, "{compression}: {}", out.capacity());
    }
}

/// A page body is one stream, to its end.
#[test]
fn bytes_after_a_stream_are_an_error() {
    let mut scratch = CompressScratch::default();
    for &(compression, stream, text) in STREAMS {
        let mut stream = from_hex(stream);
        stream.push(0x55);
        let result = decompress(compression, &stream, content(text).len(), &mut Vec::new(), &mut scratch);
        assert!(result.is_err(), "{compression}");
    }
    // A page that is far larger than its bytes goes another way.
    let mut bytes = Vec::new();
    compress(Compression::Zstd, &vec![7; 1 << 20], &mut bytes, &mut scratch).unwrap();
    decompress(Compression::Zstd, &bytes, 1 << 20, &mut Vec::new(), &mut scratch).unwrap();
    bytes.push(0x55);
    assert!(decompress(Compression::Zstd, &bytes, 1 << 20, &mut Vec::new(), &mut scratch).is_err());
}

/// Every change of one byte, and of two, in the small known streams: the right size or an error.
#[test]
fn known_streams_with_changed_bytes() {
    let mut scratch = CompressScratch::default();
    for &(compression, stream, text) in STREAMS {
        let (stream, size) = (from_hex(stream), content(text).len());
        let mut check = |bytes: &[u8]| {
            let mut out = Vec::new();
            match decompress(compression, bytes, size, &mut out, &mut scratch) {
                Ok(()) => assert_eq!(out.len(), size, "{compression}"),
                Err(error) => assert!(error.kind() == ErrorKind::Corrupt && out.is_empty(), "{compression}: {error}"),
            }
        };
        for at in 0..stream.len() {
            check(&stream[..at]);
            let mut changed = stream.clone();
            for byte in 0..=255 {
                changed[at] = byte;
                check(&changed);
                if stream.len() <= 16 {
                    let next = (at + 1) % stream.len();
                    changed[next] = byte.wrapping_mul(37);
                    check(&changed);
                    changed[next] = stream[next];
                }
            }
        }
    }
}
