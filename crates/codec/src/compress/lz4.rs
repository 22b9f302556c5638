//! LZ4: a raw block.
//!
//! Written by the C library at its default level, as libtsfile does, so that pages are no larger than its; lz4_flex has half
//! the table and finds less. Read by lz4_flex, which is safe and on small pages the faster one.

use std::io;

use lz4_flex::block::decompress_into as decompress_block;
use tsloom_model::{Compression, Result};

use super::{damaged, room};
use crate::error::invalid;

/// `staged` is room for the block, used again from page to page: only what it holds in the end is appended.
pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, staged: &mut Vec<u8>) -> Result<()> {
    let too_large = |error: io::Error| invalid("a page is too large for LZ4").with_source(error);
    let most = lz4::block::compress_bound(input.len()).map_err(too_large)?;
    let staged = room(staged, most);
    let size = lz4::block::compress_to_buffer(input, None, false, staged).map_err(too_large)?;
    out.extend_from_slice(&staged[..size]);
    Ok(())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    decompress_block(input, out).map_err(|error| damaged(Compression::Lz4, error))
}
