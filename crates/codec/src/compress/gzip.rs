//! GZIP: one member.

use std::io::Write;

use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use tsloom_model::{Compression, Result};

use super::{check_end, check_size, read_all, read_into};
use crate::error::invalid;

const LEVEL_MAX: u32 = 9;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, level: u32) -> Result<()> {
    if level > LEVEL_MAX {
        return Err(invalid(format!("GZIP has no level {level}, {LEVEL_MAX} at most")));
    }
    let mut encoder = GzEncoder::new(out, flate2::Compression::new(level));
    encoder.write_all(input)?;
    encoder.finish()?;
    Ok(())
}

pub(super) fn decompress(input: &[u8], size: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut decoder = GzDecoder::new(input);
    read_all(Compression::Gzip, &mut decoder, size, out)?;
    check_end(Compression::Gzip, input, decoder.into_inner())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut decoder = GzDecoder::new(input);
    let size = read_into(Compression::Gzip, &mut decoder, out)?;
    check_size(Compression::Gzip, out.len(), size)?;
    check_end(Compression::Gzip, input, decoder.into_inner())?;
    Ok(size)
}
