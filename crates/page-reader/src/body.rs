//! A page body as it lies in the file, and how it becomes bytes to decode.

use tsloom_block::Column;
use tsloom_codec::compress::{self, CompressScratch};
use tsloom_model::{Compression, DataType, Encoding, Error, ErrorKind, FileOffset, Grouped, Limits, Result};

/// What debug builds write over a buffer before it is used again.
const POISON: u8 = 0xa5;

/// What follows a page header, with what chunk and page header say about it.
#[derive(Clone, Copy, Debug)]
pub struct PageBody<'a> {
    /// The body, still compressed.
    pub bytes: &'a [u8],
    /// Its size after decompression, as the page header says.
    pub uncompressed_size: u64,
    /// How it is compressed, as the chunk header says.
    pub compression: Compression,
    /// How its column is encoded, as the chunk header says.
    pub encoding: Encoding,
    /// Where `bytes` begin in the file.
    pub offset: FileOffset,
}

/// A page of a value chunk.
#[derive(Clone, Copy, Debug)]
pub struct ValuePage<'a> {
    /// The page.
    pub body: PageBody<'a>,
    /// What the chunk header says it holds.
    pub data_type: DataType,
}

impl ValuePage<'_> {
    /// Checks that a column can take the values.
    pub(crate) fn check_type(&self, into: &Column) -> Result<()> {
        if self.data_type.physical() == into.data_type().physical() {
            return Ok(());
        }
        let message = format!("the file holds {}, the scan expects {}", self.data_type, into.data_type());
        Err(Error::new(ErrorKind::SchemaMismatch, message))
    }
}

/// A decompressed body.
#[derive(Clone, Copy)]
pub(crate) struct Expanded<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) place: Place,
}

/// Where a body lies in its file, and so how positions in it become file offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    offset: FileOffset,
    is_stored: bool,
}

impl<'a> PageBody<'a> {
    /// True when the bytes are those to decode.
    fn is_stored(&self) -> bool {
        self.compression == Compression::Uncompressed
    }

    /// Decompresses into `buffer`, or borrows the bytes when they are stored as they are. The buffer keeps its length from page to
    /// page, so that it is cleared once and not for each of them.
    pub(crate) fn expand<'b>(
        &self,
        buffer: &'b mut Vec<u8>,
        limits: &Limits,
        scratch: &mut CompressScratch,
    ) -> Result<Expanded<'b>>
    where
        'a: 'b,
    {
        let place = Place { offset: self.offset, is_stored: self.is_stored() };
        if self.is_stored() {
            if self.bytes.len() as u64 != self.uncompressed_size {
                return Err(self.size_differs());
            }
            return Ok(Expanded { bytes: self.bytes, place });
        }
        let size = limits.page_size(self.uncompressed_size).map_err(|error| error.at(self.offset))?;
        if cfg!(debug_assertions) {
            // What a decompressor leaves out must not pass for what it wrote: the page before is still there.
            buffer.fill(POISON);
        }
        let outcome = match buffer.get_mut(..size) {
            Some(out) => compress::decompress_into(self.compression, self.bytes, out, scratch),
            // Grows only as far as these bytes can really reach: `decompress` sees to it.
            None => {
                buffer.clear();
                compress::decompress(self.compression, self.bytes, size, buffer, scratch)
            }
        };
        outcome.map_err(|error| error.shifted(self.offset))?;
        Ok(Expanded { bytes: &buffer[..size], place })
    }

    /// Decompresses the first `size` bytes, if that is clearly less work than [`expand`](Self::expand), which is the answer to `None`.
    /// What lies behind them is not looked at.
    pub(crate) fn expand_start<'b>(&self, size: usize, buffer: &'b mut Vec<u8>, limits: &Limits) -> Result<Option<Expanded<'b>>> {
        let whole = limits.page_size(self.uncompressed_size).map_err(|error| error.at(self.offset))?;
        let most = self.bytes.len().saturating_mul(compress::ratio_max(self.compression));
        if self.compression != Compression::Lz4 || size > whole / 2 || size > most {
            return Ok(None);
        }
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        if cfg!(debug_assertions) {
            buffer.fill(POISON);
        }
        let is_done = compress::decompress_start(self.compression, self.bytes, &mut buffer[..size]);
        let is_done = is_done.map_err(|error| error.shifted(self.offset))?;
        let place = Place { offset: self.offset, is_stored: false };
        Ok(is_done.then(|| Expanded { bytes: &buffer[..size], place }))
    }

    #[cold]
    fn size_differs(&self) -> Error {
        let message = format!(
            "an uncompressed page of {} bytes says it has {}",
            Grouped(self.bytes.len() as u64),
            Grouped(self.uncompressed_size)
        );
        Error::new(ErrorKind::Corrupt, message).at(self.offset)
    }
}

impl<'a> Expanded<'a> {
    /// The body that was expanded into `buffer` last.
    pub(crate) fn again(page: &PageBody<'a>, buffer: &'a [u8]) -> Self {
        let place = Place { offset: page.offset, is_stored: page.is_stored() };
        let bytes = if page.is_stored() { page.bytes } else { &buffer[..page.uncompressed_size as usize] };
        Self { bytes, place }
    }
}

impl Place {
    /// Gives an error whose position counts from byte `from` of the body its place in the file.
    #[cold]
    pub(crate) fn locate(self, from: usize, error: Error) -> Error {
        let error = error.shifted(FileOffset::new(from as u64));
        if self.is_stored { error.shifted(self.offset) } else { error.inside("the decompressed page", self.offset) }
    }
}
