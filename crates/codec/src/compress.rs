//! Compression of page bodies.
//!
//! ```text
//! UNCOMPRESSED  the bytes
//! SNAPPY        a raw Snappy block: varint size, then tags; no stream framing
//! GZIP          one gzip member (RFC 1952)                                        feature `gzip`
//! LZO           an LZO1X stream with its end mark, no header; read only           feature `lzo`
//! LZ4           a raw LZ4 block: no size, no frame
//! ZSTD          one Zstandard frame                                               feature `zstd`
//! LZMA2         an .xz container, whatever its name says                          feature `xz`
//! ```
//!
//! The size after decompression comes from the page header, so it is a claim of the file: it is compared with what so many
//! bytes can give at best before anything is sized by it, and streams grow the output as bytes arrive.

use tsloom_model::{Compression, Error, ErrorKind, Grouped, Result};

use crate::error::corrupt;

/// Tables that compressors and decompressors use again from page to page. Never part of the result: the same input gives
/// the same bytes whatever came before.
#[derive(Default)]
pub struct CompressScratch {
    lz4_small: Option<lz4_flex::block::CompressTable>,
    lz4_large: Option<lz4_flex::block::CompressTable>,
    snappy: Option<snap::raw::Encoder>,
}

impl std::fmt::Debug for CompressScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompressScratch").finish_non_exhaustive()
    }
}

/// Sizes from here on take LZ4's table of 32-bit positions.
const LZ4_LARGE_FROM: usize = u16::MAX as usize;

/// True when this build reads pages of this compression.
pub const fn is_supported(compression: Compression) -> bool {
    matches!(compression, Compression::Uncompressed | Compression::Snappy | Compression::Lz4)
}

/// True when this build also writes them.
pub const fn is_writable(compression: Compression) -> bool {
    is_supported(compression) && !matches!(compression, Compression::Lzo)
}

/// Appends the compressed form of `input` to `out`. It may be larger than `input`; the format allows that.
///
/// # Errors
/// `Unsupported` for a compression that is off in this build or only read.
pub fn compress(compression: Compression, input: &[u8], out: &mut Vec<u8>, scratch: &mut CompressScratch) -> Result<()> {
    let start = out.len();
    match compression {
        Compression::Uncompressed => out.extend_from_slice(input),
        Compression::Snappy => {
            let encoder = scratch.snappy.get_or_insert_with(snap::raw::Encoder::new);
            // 0 for an input past 4 GiB; the encoder then refuses it.
            out.resize(start + snap::raw::max_compress_len(input.len()), 0);
            let size = encoder.compress(input, &mut out[start..]).map_err(|error| {
                out.truncate(start);
                Error::new(ErrorKind::InvalidArgument, "a page is too large for SNAPPY").with_source(error)
            })?;
            out.truncate(start + size);
        }
        Compression::Lz4 => {
            use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
            let table = if input.len() < LZ4_LARGE_FROM {
                scratch.lz4_small.get_or_insert_with(CompressTable::small)
            } else {
                scratch.lz4_large.get_or_insert_with(CompressTable::large)
            };
            out.resize(start + get_maximum_output_size(input.len()), 0);
            let size =
                compress_into_with_table(input, &mut out[start..], table).expect("the output has the largest size there is");
            out.truncate(start + size);
        }
        other => return Err(unsupported(other)),
    }
    Ok(())
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
            check_size(compression, uncompressed_size, input.len())?;
            out.extend_from_slice(input);
            Ok(())
        }
        Compression::Snappy | Compression::Lz4 => {
            check_ratio(compression, input, uncompressed_size)?;
            out.resize(start + uncompressed_size, 0);
            decompress_into(compression, input, &mut out[start..], scratch)
        }
        other => Err(unsupported(other)),
    }
    .inspect_err(|_| out.truncate(start))
}

/// Fills `out`, whose length is the size after decompression, for callers that keep a buffer and do not want it cleared
/// first. What `out` holds after an error means nothing.
///
/// # Errors
/// As [`decompress`].
pub fn decompress_into(compression: Compression, input: &[u8], out: &mut [u8], scratch: &mut CompressScratch) -> Result<()> {
    match compression {
        Compression::Uncompressed => {
            check_size(compression, out.len(), input.len())?;
            out.copy_from_slice(input);
            Ok(())
        }
        Compression::Snappy => {
            let size = snap::raw::decompress_len(input).map_err(|error| damaged(compression, error))?;
            check_size(compression, out.len(), size)?;
            snap::raw::Decoder::new().decompress(input, out).map_err(|error| damaged(compression, error))?;
            Ok(())
        }
        Compression::Lz4 => {
            let size = lz4_flex::block::decompress_into(input, out).map_err(|error| damaged(compression, error))?;
            check_size(compression, out.len(), size)
        }
        other => {
            let mut bytes = Vec::new();
            decompress(other, input, out.len(), &mut bytes, scratch)?;
            out.copy_from_slice(&bytes);
            Ok(())
        }
    }
}

/// The most bytes that one byte of a block can stand for.
const fn ratio_max(compression: Compression) -> usize {
    match compression {
        // A length byte of a match adds 255.
        Compression::Lz4 => 255,
        // A copy of 64 bytes takes three.
        Compression::Snappy => 22,
        _ => 1,
    }
}

fn check_ratio(compression: Compression, input: &[u8], uncompressed_size: usize) -> Result<()> {
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

#[cold]
fn damaged(compression: Compression, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    corrupt(0, format!("{compression} data is damaged: {source}")).with_source(source)
}

#[cold]
fn unsupported(compression: Compression) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{compression} is not in this build"))
}
