//! LZMA2: an .xz container.

use std::io::Write;

use lzma_rust2::{XzOptions, XzReader, XzWriter};
use tsloom_model::{Compression, Result};

use super::{check_end, check_size, read_all, read_into};
use crate::error::invalid;

const LEVEL_MAX: u32 = 9;

/// Memory that a stream may ask for: the 64 MiB dictionary of the highest level, and what goes with it.
const MEMORY_MAX_KIB: u32 = 66 << 10;

/// The smallest dictionary of the format.
const DICTIONARY_MIN: u32 = 4 << 10;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, level: u32) -> Result<()> {
    if level > LEVEL_MAX {
        return Err(invalid(format!("LZMA2 has no level {level}, {LEVEL_MAX} at most")));
    }
    let mut options = XzOptions::with_preset(level);
    // A dictionary larger than the page costs memory and finds nothing.
    let page = u32::try_from(input.len()).ok().and_then(u32::checked_next_power_of_two).unwrap_or(u32::MAX);
    options.lzma_options.dict_size = options.lzma_options.dict_size.min(page.max(DICTIONARY_MIN));
    let mut writer = XzWriter::new(out, options)?;
    writer.write_all(input)?;
    writer.finish()?;
    Ok(())
}

pub(super) fn decompress(input: &[u8], size: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut reader = XzReader::new_mem_limit(input, false, MEMORY_MAX_KIB);
    read_all(Compression::Lzma2, &mut reader, size, out)?;
    check_end(Compression::Lzma2, input, reader.into_inner())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut reader = XzReader::new_mem_limit(input, false, MEMORY_MAX_KIB);
    let size = read_into(Compression::Lzma2, &mut reader, out)?;
    check_size(Compression::Lzma2, out.len(), size)?;
    check_end(Compression::Lzma2, input, reader.into_inner())?;
    Ok(size)
}
