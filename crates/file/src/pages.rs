//! Pages of a chunk, decoded one by one into their statistics, for who must look at every value but keeps none.
//!
//! Crate `page-reader` is the fast way from pages to blocks; this is the thorough one, for verifying and for going on with
//! an unfinished file.

use tsloom_bitmap::{PresenceView, presence};
use tsloom_codec::compress::{CompressScratch, decompress};
use tsloom_codec::{DecodeOptions, DecodeScratch, count_times, decode, decode_times};
use tsloom_encoding::{WireReader, bulk::times_rise};
use tsloom_format::{ChunkHeader, SeriesType, Statistics};
use tsloom_model::{Encoding, Error, ErrorKind, FileOffset, Limits, Result, Values};

use crate::{PageRef, ReadOptions};

/// Buffers for decoding.
#[derive(Debug)]
pub(crate) struct PageDecoder {
    limits: Limits,
    body: Vec<u8>,
    compress: CompressScratch,
    decode: DecodeScratch,
}

impl PageDecoder {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let ReadOptions { limits, rlbe_floats } = *options;
        let decode = DecodeScratch::with_options(DecodeOptions { rlbe_floats, text_bytes_max: limits.page_bytes_max });
        Self { limits, body: Vec::new(), compress: CompressScratch::default(), decode }
    }

    /// The times of a time page, appended to `into`. That they rise is for the caller to check. `said` is their number where
    /// statistics are known: not every encoding tells it.
    pub(crate) fn times(
        &mut self,
        page: &PageRef<'_>,
        header: &ChunkHeader<'_>,
        said: Option<u32>,
        into: &mut Vec<i64>,
    ) -> Result<()> {
        self.decompress(page, header)?;
        self.decode_times(header.encoding, self.body.len(), 0, said, into).map_err(|error| in_page(error, page))
    }

    /// Statistics of a value page that has rows at these times. An empty page has no value.
    pub(crate) fn values(&mut self, page: &PageRef<'_>, header: &ChunkHeader<'_>, times: &[i64]) -> Result<Statistics> {
        if page.is_empty() {
            return Ok(Statistics::new(header.series_type));
        }
        self.decompress(page, header)?;
        self.decode_values(header, times).map_err(|error| in_page(error, page))
    }

    /// Statistics of a page that has times of its own, which are appended to `into`.
    pub(crate) fn plain(&mut self, page: &PageRef<'_>, header: &ChunkHeader<'_>, into: &mut Vec<i64>) -> Result<Statistics> {
        if page.is_empty() {
            return Ok(Statistics::new(header.series_type));
        }
        self.decompress(page, header)?;
        self.decode_plain(header, into).map_err(|error| in_page(error, page))
    }

    fn decompress(&mut self, page: &PageRef<'_>, header: &ChunkHeader<'_>) -> Result<()> {
        let located = |error: Error| error.at(FileOffset::new(page.offset)).in_place("page");
        let size = self.limits.page_size(page.uncompressed_size.into()).map_err(located)?;
        self.body.clear();
        decompress(header.compression, page.body, size, &mut self.body, &mut self.compress)
            .map_err(|error| error.shifted(FileOffset::new(page.offset)).in_place("page"))
    }

    /// Decodes times that lie in `size` bytes of the body from `from` on.
    fn decode_times(
        &mut self,
        encoding: Encoding,
        size: usize,
        from: usize,
        said: Option<u32>,
        into: &mut Vec<i64>,
    ) -> Result<()> {
        let bytes = &self.body[from..from + size];
        let count = match (count_times(encoding, bytes), said) {
            (Err(error), Some(said)) if error.kind() == ErrorKind::Unsupported => said.into(),
            (counted, _) => counted? as u64,
        };
        let count = self.limits.page_rows(count)?;
        decode_times(encoding, bytes, count, into, &mut self.decode)
    }

    fn decode_values(&mut self, header: &ChunkHeader<'_>, times: &[i64]) -> Result<Statistics> {
        let mut wire = WireReader::new(&self.body);
        let row_count = wire.i32()?;
        if usize::try_from(row_count) != Ok(times.len()) {
            let message = format!("{row_count} rows of values for {} times", times.len());
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        let presence_bytes = wire.bytes(presence::byte_count(times.len()))?;
        let presence = PresenceView::new(presence_bytes, times.len()).expect("the bytes were counted for these rows");
        let mut statistics = Statistics::new(header.series_type);
        let present = |row: &usize| presence.is_present(*row);
        let ends = (0..times.len()).find(present).zip((0..times.len()).rfind(present));
        if let (Some(data_type), Some((first, last))) = (header.series_type.data_type(), ends) {
            let mut values = Values::new(data_type.physical());
            let count = presence.present_count();
            decode(header.encoding, data_type, wire.rest(), count, &mut values, &mut self.decode)?;
            statistics.add_values(times[first], times[last], values.as_values());
        }
        Ok(statistics)
    }

    fn decode_plain(&mut self, header: &ChunkHeader<'_>, into: &mut Vec<i64>) -> Result<Statistics> {
        let mut wire = WireReader::new(&self.body);
        let times_size = wire.uvar()? as usize;
        let from = wire.position();
        wire.skip(times_size)?;
        let values_at = wire.position();
        let first = into.len();
        // Nothing in the file says how the times of such a chunk are encoded: every writer takes TS_2DIFF.
        self.decode_times(Encoding::Ts2Diff, times_size, from, None, into)?;
        self.plain_values(header, &into[first..], values_at)
    }

    fn plain_values(&mut self, header: &ChunkHeader<'_>, times: &[i64], values_at: usize) -> Result<Statistics> {
        check_rise(times)?;
        let mut statistics = Statistics::new(header.series_type);
        if let (SeriesType::Value(data_type), [first, ..], [.., last]) = (header.series_type, times, times) {
            let mut values = Values::new(data_type.physical());
            decode(header.encoding, data_type, &self.body[values_at..], times.len(), &mut values, &mut self.decode)?;
            statistics.add_values(*first, *last, values.as_values());
        }
        Ok(statistics)
    }
}

/// Refuses times that do not rise strictly.
pub(crate) fn check_rise(times: &[i64]) -> Result<()> {
    let falls = || times.windows(2).find(|pair| pair[0] >= pair[1]);
    match if times_rise(times) { None } else { falls() } {
        None => Ok(()),
        Some(pair) => Err(Error::new(ErrorKind::Corrupt, format!("time {} is followed by {}", pair[0], pair[1]))),
    }
}

/// A position in the decompressed body says little to who has the file: the page's place does.
#[cold]
fn in_page(error: Error, page: &PageRef<'_>) -> Error {
    error.inside("the decompressed page", FileOffset::new(page.offset)).at(FileOffset::new(page.offset)).in_place("page")
}
