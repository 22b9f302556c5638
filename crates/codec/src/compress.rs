//! Compression of page bodies.
//!
//! ```text
//! UNCOMPRESSED  the bytes
//! SNAPPY        a raw Snappy block: varint size, then tags; no stream framing    feature `snappy`
//! GZIP          one gzip member (RFC 1952)                                       feature `gzip`
//! LZO           an LZO1X stream with its end mark, no header; read only          feature `lzo`
//! LZ4           a raw LZ4 block: no size, no frame                               feature `lz4`
//! ZSTD          one Zstandard frame, its content size present                    feature `zstd`
//! LZMA2         an .xz container, whatever its name says                         feature `xz`
//! ```
//!
//! The size after decompression comes from the page header, so it is a claim of the file. Raw blocks (SNAPPY, LZ4, LZO) are
//! compared with what so many bytes can give at best before anything is sized by it; streams grow the output as bytes
//! arrive. Either way the result has exactly that size, or it is an error.
//!
//! Source of truth: `ICompressor` and `IUnCompressor` of apache/tsfile (Java). Fixtures `comp_*`.

#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzo")]
mod lzo;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "xz")]
mod xz;
#[cfg(feature = "zstd")]
mod zstd;

use tsloom_model::{Compression, Error, ErrorKind, Grouped, Result};

use crate::error::corrupt;

/// What a caller may choose about compressors that have levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressOptions {
    /// 0..=9
    pub gzip_level: u32,
    /// 1..=22, and negative ones that are faster.
    pub zstd_level: i32,
    /// 0..=9
    pub xz_level: u32,
}

impl Default for CompressOptions {
    /// The usual levels, which upstream takes, too: 6, 3, 6.
    fn default() -> Self {
        Self { gzip_level: 6, zstd_level: 3, xz_level: 6 }
    }
}

/// Tables that compressors and decompressors use again from page to page, and the options of compression. The tables are
/// never part of the result: the same input gives the same bytes whatever came before.
#[derive(Default)]
pub struct CompressScratch {
    /// May be changed at any time.
    pub options: CompressOptions,
    /// Where a block is made before its size is known.
    #[cfg(any(feature = "lz4", feature = "snappy", feature = "zstd"))]
    staged: Vec<u8>,
    #[cfg(feature = "snappy")]
    snappy: Option<snap::raw::Encoder>,
    #[cfg(feature = "zstd")]
    zstd: zstd::Contexts,
}

impl std::fmt::Debug for CompressScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompressScratch").field("options", &self.options).finish_non_exhaustive()
    }
}

impl CompressScratch {
    /// Empty tables with these options.
    pub fn with_options(options: CompressOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

/// True when this build reads pages of this compression.
pub const fn is_supported(compression: Compression) -> bool {
    match compression {
        Compression::Uncompressed => true,
        Compression::Snappy => cfg!(feature = "snappy"),
        Compression::Gzip => cfg!(feature = "gzip"),
        Compression::Lzo => cfg!(feature = "lzo"),
        Compression::Lz4 => cfg!(feature = "lz4"),
        Compression::Zstd => cfg!(feature = "zstd"),
        Compression::Lzma2 => cfg!(feature = "xz"),
    }
}

/// True when this build also writes them.
pub const fn is_writable(compression: Compression) -> bool {
    is_supported(compression) && !matches!(compression, Compression::Lzo)
}

/// Checks that this build writes pages of a compression.
///
/// # Errors
/// `Unsupported` for one that is only read, or whose feature is off; the message names the feature.
pub fn check_writable(compression: Compression) -> Result<()> {
    if is_writable(compression) {
        return Ok(());
    }
    if is_supported(compression) {
        return Err(Error::new(ErrorKind::Unsupported, format!("compression {compression} is read, not written")));
    }
    Err(feature_is_off(compression))
}

/// Appends the compressed form of `input` to `out`. It may be larger than `input`; the format allows that.
///
/// # Errors
/// `Unsupported` for a compression that is off in this build or only read; `InvalidArgument` for an input that is too large
/// for the form or a level that there is not. `out` is then as it was.
#[cfg_attr(
    not(any(feature = "snappy", feature = "lz4", feature = "gzip", feature = "zstd", feature = "xz")),
    expect(unused_variables, reason = "nothing to keep without compressors")
)]
pub fn compress(compression: Compression, input: &[u8], out: &mut Vec<u8>, scratch: &mut CompressScratch) -> Result<()> {
    let start = out.len();
    match compression {
        Compression::Uncompressed => {
            out.extend_from_slice(input);
            Ok(())
        }
        #[cfg(feature = "snappy")]
        Compression::Snappy => snappy::compress(input, out, &mut scratch.staged, &mut scratch.snappy),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => lz4::compress(input, out, &mut scratch.staged),
        #[cfg(feature = "gzip")]
        Compression::Gzip => gzip::compress(input, out, scratch.options.gzip_level),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::compress(input, out, scratch.options.zstd_level, &mut scratch.staged, &mut scratch.zstd),
        #[cfg(feature = "xz")]
        Compression::Lzma2 => xz::compress(input, out, scratch.options.xz_level),
        #[cfg(feature = "lzo")]
        Compression::Lzo => Err(Error::new(ErrorKind::Unsupported, "compression LZO is read, not written")),
        #[cfg(not(all(
            feature = "snappy",
            feature = "lz4",
            feature = "gzip",
            feature = "zstd",
            feature = "xz",
            feature = "lzo"
        )))]
        other => Err(feature_is_off(other)),
    }
    .inspect_err(|_| out.truncate(start))
}

/// Appends exactly `uncompressed_size` bytes to `out`. Bound the size first: see
/// [`Limits::page_size`](tsloom_model::Limits::page_size).
///
/// # Errors
/// `Corrupt` when `input` is no such stream or gives another number of bytes; `Unsupported` for a compression that is off in
/// this build. `out` is then as it was.
pub fn decompress(
    compression: Compression,
    input: &[u8],
    uncompressed_size: usize,
    out: &mut Vec<u8>,
    scratch: &mut CompressScratch,
) -> Result<()> {
    let start = out.len();
    match compression {
        Compression::Uncompressed => {
            check_size(compression, uncompressed_size, input.len()).map(|()| out.extend_from_slice(input))
        }
        #[cfg(feature = "gzip")]
        Compression::Gzip => gzip::decompress(input, uncompressed_size, out),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::decompress(input, uncompressed_size, out, &mut scratch.zstd),
        #[cfg(feature = "xz")]
        Compression::Lzma2 => xz::decompress(input, uncompressed_size, out),
        block => check_ratio(block, input, uncompressed_size).and_then(|()| {
            out.resize(start + uncompressed_size, 0);
            decompress_into(block, input, &mut out[start..], scratch)
        }),
    }
    .inspect_err(|_| out.truncate(start))
}

/// Fills `out`, whose length is the size after decompression, for callers that keep a buffer and do not want it cleared
/// first. What `out` holds after an error means nothing.
///
/// # Errors
/// As [`decompress`].
pub fn decompress_into(compression: Compression, input: &[u8], out: &mut [u8], scratch: &mut CompressScratch) -> Result<()> {
    let size = fill(compression, input, out, scratch)?;
    check_size(compression, out.len(), size)
}

/// Fills `out` with the first bytes of the stream and looks at nothing behind them. Gives false, and does nothing, where only a whole
/// stream can be decompressed: all but LZ4.
///
/// # Errors
/// As [`decompress`], as far as the damage is in what is looked at.
#[cfg_attr(not(feature = "lz4"), expect(unused_variables, reason = "no other compression can stop"))]
pub fn decompress_start(compression: Compression, input: &[u8], out: &mut [u8]) -> Result<bool> {
    match compression {
        #[cfg(feature = "lz4")]
        Compression::Lz4 => lz4::decompress_start(input, out).map(|()| true),
        _ => Ok(false),
    }
}

/// Gives the number of bytes in the stream, as far as that was found out.
#[cfg_attr(not(feature = "zstd"), expect(unused_variables, reason = "no other compression keeps tables to decompress"))]
fn fill(compression: Compression, input: &[u8], out: &mut [u8], scratch: &mut CompressScratch) -> Result<usize> {
    match compression {
        Compression::Uncompressed => {
            check_size(compression, out.len(), input.len())?;
            out.copy_from_slice(input);
            Ok(input.len())
        }
        #[cfg(feature = "snappy")]
        Compression::Snappy => snappy::decompress_into(input, out),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => lz4::decompress_into(input, out),
        #[cfg(feature = "lzo")]
        Compression::Lzo => lzo::decompress_into(input, out),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::decompress_into(input, out, &mut scratch.zstd),
        #[cfg(feature = "gzip")]
        Compression::Gzip => gzip::decompress_into(input, out),
        #[cfg(feature = "xz")]
        Compression::Lzma2 => xz::decompress_into(input, out),
        #[cfg(not(all(
            feature = "snappy",
            feature = "lz4",
            feature = "gzip",
            feature = "zstd",
            feature = "xz",
            feature = "lzo"
        )))]
        other => Err(feature_is_off(other)),
    }
}

/// Room for `size` bytes at least. What is there already is not cleared again.
#[cfg(any(feature = "lz4", feature = "snappy", feature = "zstd"))]
fn room(staged: &mut Vec<u8>, size: usize) -> &mut [u8] {
    if staged.len() < size {
        staged.resize(size, 0);
    }
    staged
}

/// The most bytes that one byte of a block can stand for.
pub const fn ratio_max(compression: Compression) -> usize {
    match compression {
        // A length byte of a match adds 255.
        Compression::Lz4 | Compression::Lzo => 255,
        // A copy of 64 bytes takes three.
        Compression::Snappy => 22,
        _ => 1,
    }
}

fn check_ratio(compression: Compression, input: &[u8], uncompressed_size: usize) -> Result<()> {
    if !is_supported(compression) {
        return Err(feature_is_off(compression));
    }
    let most = input.len().saturating_mul(ratio_max(compression));
    if uncompressed_size > most {
        return Err(corrupt(
            0,
            format!(
                "{} bytes of {compression} cannot give {} bytes, {} at most",
                Grouped(input.len() as u64),
                Grouped(uncompressed_size as u64),
                Grouped(most as u64)
            ),
        ));
    }
    Ok(())
}

fn check_size(compression: Compression, expected: usize, found: usize) -> Result<()> {
    if expected != found {
        return Err(corrupt(
            0,
            format!("{compression} gives {} bytes, expected {}", Grouped(found as u64), Grouped(expected as u64)),
        ));
    }
    Ok(())
}

/// Appends what `stream` gives, growing as it arrives, and checks that it is `size` bytes.
#[cfg(any(feature = "gzip", feature = "zstd", feature = "xz"))]
fn read_all(compression: Compression, stream: impl std::io::Read, size: usize, out: &mut Vec<u8>) -> Result<()> {
    use std::io::Read;

    let start = out.len();
    // One byte more tells a longer stream from one of the right size, and lets the stream check its end.
    let mut stream = stream.take((size as u64).saturating_add(1));
    stream.read_to_end(out).map_err(|error| damaged(compression, error))?;
    check_size(compression, size, out.len() - start)
}

/// Nothing may follow the stream.
#[cfg(any(feature = "gzip", feature = "zstd", feature = "xz"))]
fn check_end(compression: Compression, input: &[u8], rest: &[u8]) -> Result<()> {
    match rest.len() {
        0 => Ok(()),
        left => Err(corrupt(input.len() - left, format!("{left} bytes follow the {compression} stream"))),
    }
}

/// As [`read_all`], into a slice of that size. Gives the number of bytes, one more than there is room for at most.
#[cfg(any(feature = "gzip", feature = "xz"))]
fn read_into(compression: Compression, mut stream: impl std::io::Read, out: &mut [u8]) -> Result<usize> {
    let mut size = 0;
    let mut more = [0];
    loop {
        let room = if size < out.len() { &mut out[size..] } else { &mut more[..] };
        match stream.read(room) {
            Ok(0) => return Ok(size),
            Ok(read) => size += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(damaged(compression, error)),
        }
        if size > out.len() {
            return Ok(size);
        }
    }
}

#[cfg(any(feature = "snappy", feature = "lz4", feature = "gzip", feature = "zstd", feature = "xz", feature = "lzo"))]
#[cold]
fn damaged(compression: Compression, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    corrupt(0, format!("{compression} data is damaged: {source}")).with_source(source)
}

#[cold]
fn feature_is_off(compression: Compression) -> Error {
    let feature = match compression {
        Compression::Lzma2 => "xz".to_string(),
        other => other.name().to_lowercase(),
    };
    Error::new(ErrorKind::Unsupported, format!("compression {compression} is not in this build: it needs the feature {feature}"))
}
