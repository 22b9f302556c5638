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
use tsloom_codec::{decode, decode_times};
use tsloom_model::{Encoding, Error, ErrorKind, Grouped, Result, TimeRange};

use super::PageReader;
use crate::body::Expanded;
use crate::{PageBody, ValuePage};

impl PageReader {
    /// Decodes the times of such a page and selects all of its rows, as [`open`](Self::open) does for a time page.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_plain(&mut self, page: &PageBody<'_>, row_count: u64, times: TimeRange) -> Result<()> {
        self.times.clear();
        self.selected = 0..0;
        let outcome = self.decode_plain_times(page, row_count, times);
        match outcome {
            Ok(()) => self.selected = 0..self.times.len(),
            Err(_) => self.times.clear(),
        }
        outcome.map_err(|error| error.at(page.offset).in_place("page"))
    }

    fn decode_plain_times(&mut self, page: &PageBody<'_>, row_count: u64, range: TimeRange) -> Result<()> {
        let row_count = self.limits.page_rows(row_count)?;
        let body = page.expand(&mut self.body, &self.limits, &mut self.compress_scratch)?;
        let (times_at, values_at) = time_bytes(body.bytes).map_err(|error| body.locate(0, error))?;
        decode_times(Encoding::Ts2Diff, &body.bytes[times_at..values_at], row_count, &mut self.times, &mut self.scratch)
            .map_err(|error| body.locate(times_at, error))?;
        self.plain_values = (page.offset, values_at);
        self.check_times(range)
    }

    /// Appends the values of the selected rows of the page that was opened last.
    ///
    /// # Errors
    /// A type that `into` does not hold, and bytes that do not decode. `into` is then as it was; the error names its column and the
    /// file offset.
    ///
    /// # Panics
    /// When it is not the page that [`open_plain`](Self::open_plain) opened: a mistake of the calling code.
    pub fn append_plain(&mut self, page: &ValuePage<'_>, into: &mut Column) -> Result<()> {
        assert_eq!(self.plain_values.0, page.body.offset, "the page that was opened");
        self.decode_plain_values(page, into).map_err(|error| error.at(page.body.offset).in_place("page").in_column(into.name()))
    }

    fn decode_plain_values(&mut self, page: &ValuePage<'_>, into: &mut Column) -> Result<()> {
        page.check_type(into)?;
        let body = Expanded::again(&page.body, &self.body);
        let values_at = self.plain_values.1;
        let (row_count, selected) = (self.times.len(), self.selected.clone());
        let appended = into.fill(selected.len(), |values| {
            let from = values.len();
            decode(page.body.encoding, page.data_type, &body.bytes[values_at..], row_count, values, &mut self.scratch)
                .map_err(|error| body.locate(values_at, error))?;
            if selected.len() < row_count {
                values.keep_range(from, selected.start, selected.len());
            }
            Ok::<(), Error>(())
        })?;
        appended.expect("the codec appends as many values as it was asked for");
        Ok(())
    }
}

/// Where the times begin, and where the values do.
fn time_bytes(body: &[u8]) -> Result<(usize, usize)> {
    let mut size = 0_usize;
    for (index, byte) in body.iter().take(5).enumerate() {
        size |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let start = index + 1;
            let left = body.len() - start;
            if size > left {
                let message = format!("{} bytes of times, the page has {}", Grouped(size as u64), Grouped(left as u64));
                return Err(Error::new(ErrorKind::Truncated, message));
            }
            return Ok((start, start + size));
        }
    }
    Err(Error::new(ErrorKind::Corrupt, "the size of the times has no end"))
}
