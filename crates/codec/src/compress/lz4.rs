//! LZ4: a raw block.

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into as decompress_block, get_maximum_output_size};
use tsloom_model::{Compression, Result};

use super::damaged;

/// One table for each size class, so that the choice depends on the input alone and not on what came before.
#[derive(Default)]
pub(super) struct Tables {
    small: Option<CompressTable>,
    large: Option<CompressTable>,
}

/// Sizes from here on take the table of 32-bit positions.
const LARGE_FROM: usize = u16::MAX as usize;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>, tables: &mut Tables) -> Result<()> {
    let table = if input.len() < LARGE_FROM {
        tables.small.get_or_insert_with(CompressTable::small)
    } else {
        tables.large.get_or_insert_with(CompressTable::large)
    };
    let start = out.len();
    out.resize(start + get_maximum_output_size(input.len()), 0);
    let size = compress_into_with_table(input, &mut out[start..], table).expect("the output has the largest size there is");
    out.truncate(start + size);
    Ok(())
}

pub(super) fn decompress_into(input: &[u8], out: &mut [u8]) -> Result<usize> {
    decompress_block(input, out).map_err(|error| damaged(Compression::Lz4, error))
}
