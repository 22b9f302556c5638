//! ZSTD: one frame.

use std::io;

use tsloom_model::{Compression, Result};
use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{DCtx, compress_bound};

use super::{check_end, check_size, damaged, read_all, room};
use crate::error::invalid;

/// Contexts of the library, made at first use.
#[derive(Default)]
pub(super) struct Contexts {
    compressor: Option<(i32, Compressor<'static>)>,
    decompressor: Option<Decompressor<'static>>,
    stream: Option<DCtx<'static>>,
}

/// Output that is made room for at once; what claims more is decoded piece by piece.
const AT_ONCE: usize = 64 << 10;
/// The same in multiples of the input.
const AT_ONCE_RATIO: usize = 16;

/// Window that every stream may ask for (8 MiB, as the format demands of decoders), as a power of two.
const WINDOW_LOG_MIN: u32 = 23;
/// The largest that a stream of a large page may ask for.
const WINDOW_LOG_MAX: u32 = 27;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, level: i32, staged: &mut Vec<u8>, contexts: &mut Contexts) -> Result<()> {
    if !zstd::compression_level_range().contains(&level) {
        return Err(invalid(format!("ZSTD has no level {level}")));
    }
    let compressor = match &mut contexts.compressor {
        Some((of, compressor)) if *of == level => compressor,
        slot => &mut slot.insert((level, Compressor::new(level)?)).1,
    };
    let staged = room(staged, compress_bound(input.len()));
    let size = compressor.compress_to_buffer(input, staged)?;
    out.extend_from_slice(&staged[..size]);
    Ok(())
}

pub(super) fn decompress(input: &[u8], size: usize, out: &mut Vec<u8>, contexts: &mut Contexts) -> Result<()> {
    if size <= AT_ONCE.max(input.len().saturating_mul(AT_ONCE_RATIO)) {
        let start = out.len();
        out.resize(start + size, 0);
        let found = decompress_into(input, &mut out[start..], contexts)?;
        return check_size(Compression::Zstd, size, found);
    }
    let context = contexts.stream.get_or_insert_with(DCtx::create);
    let window_log = (size - 1).checked_ilog2().map_or(0, |log| log + 1).clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX);
    let mut decoder = Decoder::with_context(input, context).single_frame();
    decoder.window_log_max(window_log)?;
    read_all(Compression::Zstd, &mut decoder, size, out)?;
    check_end(Compression::Zstd, input, decoder.finish())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8], contexts: &mut Contexts) -> Result<usize> {
    let decompressor = match &mut contexts.decompressor {
        Some(decompressor) => decompressor,
        slot => slot.insert(Decompressor::new()?),
    };
    decompressor.decompress_to_buffer(input, out).map_err(|error: io::Error| damaged(Compression::Zstd, error))
}
