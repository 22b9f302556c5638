//! LZO: an LZO1X stream up to its end mark.

use tsloom_model::{Compression, Result};

use super::damaged;

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    lzokay::decompress::decompress(input, out).map_err(|error| damaged(Compression::Lzo, error))
}
