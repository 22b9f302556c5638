//! Pages of a series that has times of its own: a column of a device that is not aligned.
//!
//! ```text
//! page body (decompressed)
//! uvar  time size    bytes of the encoded times
//! ..    times        TS_2DIFF, which no byte of the file says: every known writer uses it
//! ..    values       one for each time, encoded as the chunk header says
//! ```
//!
//! There are no nulls in it. Source of truth: `PageWriter.java` of apache/tsfile; fixtures `tree_nonaligned*`.

use tsloom_block::Column;
use tsloom_codec::decode_times;
use tsloom_encoding::WireReader;
use tsloom_model::{Encoding, Error, Result, TimeRange, TimeRanges};

use super::{Encoded, PageReader, Placing, check_count};
use crate::body::Expanded;
use crate::{PageBody, ValuePage};

impl PageReader {
    /// Decodes the times of such a page and selects all of its rows, as [`open`](Self::open) does for a time page.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_plain(&mut self, page: &PageBody<'_>, row_count: u64, times: TimeRange) -> Result<()> {
        self.close();
        let outcome = self.decode_plain_times(page, row_count);
        let outcome = outcome.and_then(|()| self.check_times(times));
        self.opened(outcome).map_err(|error| error.at(page.offset).in_place("page"))
    }

    fn decode_plain_times(&mut self, page: &PageBody<'_>, row_count: u64) -> Result<()> {
        let row_count = self.limits.page_rows(row_count)?;
        let Expanded { bytes, place } = page.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?;
        let (encoded, times_at) = times_of(bytes).map_err(|error| place.locate(0, error))?;
        decode_times(Encoding::Ts2Diff, encoded, row_count, &mut self.times, &mut self.scratch)
            .map_err(|error| place.locate(times_at, error))?;
        self.plain_values = (page.offset, times_at + encoded.len());
        check_count(self.times.len(), row_count)
    }

    /// Appends the values of the selected rows of the page that was opened last, null where the column was deleted.
    ///
    /// # Errors
    /// A type that `into` does not hold, and bytes that do not decode. `into` is then as it was; the error names its column and the
    /// file offset.
    ///
    /// # Panics
    /// When it is not the page that [`open_plain`](Self::open_plain) opened: a mistake of the calling code.
    pub fn append_plain(&mut self, page: &ValuePage<'_>, deleted: &TimeRanges, into: &mut Column) -> Result<()> {
        assert_eq!(self.plain_values.0, page.body.offset, "the page that was opened");
        self.append_plain_page(page, deleted, into)
            .map_err(|error| error.at(page.body.offset).in_place("page").in_column(into.name()))
    }

    fn append_plain_page(&mut self, page: &ValuePage<'_>, deleted: &TimeRanges, into: &mut Column) -> Result<()> {
        page.check_type(into)?;
        let Expanded { bytes, place } = Expanded::again(&page.body, &self.body);
        let at = self.plain_values.1;
        let (encoding, data_type) = (page.body.encoding, page.data_type);
        let values = Encoded { bytes: &bytes[at..], at, place, encoding, data_type, presence: None, is_start: false };
        let (scratch, bits) = (&mut self.scratch, &mut self.bits);
        Placing { times: &self.times, selection: &self.selection, scratch, bits }.place(&values, deleted, into)
    }
}

/// The encoded times of a body, and where they begin.
fn times_of(body: &[u8]) -> Result<(&[u8], usize), Error> {
    let mut wire = WireReader::new(body);
    let size = wire.uvar()?;
    let start = wire.position();
    Ok((wire.bytes(size as usize)?, start))
}
