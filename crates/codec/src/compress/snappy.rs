//! SNAPPY: a raw block.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};
use tsloom_model::{Compression, Error, ErrorKind, Result};

use super::{check_size, damaged};

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, encoder: &mut Option<Encoder>) -> Result<()> {
    let start = out.len();
    // 0 for an input past 4 GiB; the encoder then refuses it.
    out.resize(start + max_compress_len(input.len()), 0);
    let size = encoder.get_or_insert_with(Encoder::new).compress(input, &mut out[start..]);
    let size =
        size.map_err(|error| Error::new(ErrorKind::InvalidArgument, "a page is too large for SNAPPY").with_source(error))?;
    out.truncate(start + size);
    Ok(())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    let size = decompress_len(input).map_err(|error| damaged(Compression::Snappy, error))?;
    check_size(Compression::Snappy, out.len(), size)?;
    Decoder::new().decompress(input, out).map_err(|error| damaged(Compression::Snappy, error))
}
