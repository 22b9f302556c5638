//! SNAPPY: a raw block.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};
use tsloom_model::{Compression, Error, ErrorKind, Result};

use super::{check_size, damaged, room};

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, staged: &mut Vec<u8>, encoder: &mut Option<Encoder>) -> Result<()> {
    // 0 for an input past 4 GiB; the encoder then refuses it.
    let staged = room(staged, max_compress_len(input.len()));
    let size = encoder.get_or_insert_with(Encoder::new).compress(input, staged);
    let size =
        size.map_err(|error| Error::new(ErrorKind::InvalidArgument, "a page is too large for SNAPPY").with_source(error))?;
    out.extend_from_slice(&staged[..size]);
    Ok(())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    let size = decompress_len(input).map_err(|error| damaged(Compression::Snappy, error))?;
    check_size(Compression::Snappy, out.len(), size)?;
    Decoder::new().decompress(input, out).map_err(|error| damaged(Compression::Snappy, error))
}
