//! What a caller may choose about a file.

use tsloom_model::{Compression, Error, ErrorKind, Result};

use super::auto::EncodingChoice;

/// How a file is written. Start with [`builder`](Self::builder).
#[derive(Clone, Debug, PartialEq)]
pub struct WriterOptions {
    pub(super) page_rows_max: usize,
    pub(super) page_bytes_max: usize,
    pub(super) memory_bytes_max: usize,
    pub(super) chunk_bytes_max: usize,
    pub(super) chunk_rows_max: usize,
    pub(super) index_degree: usize,
    pub(super) bloom_error_rate: f64,
    pub(super) time_compression: Compression,
    pub(super) threads: usize,
    pub(super) encoding: EncodingChoice,
    /// By column name; they go before `encoding`.
    pub(super) column_encodings: Vec<(String, EncodingChoice)>,
    pub(super) properties: Vec<(String, Option<String>)>,
}

impl Default for WriterOptions {
    /// Pages of 10,000 rows or 1 MiB, chunk groups of 100,000 rows, 64 MiB of buffers, index nodes of 256 entries.
    fn default() -> Self {
        Self {
            page_rows_max: 10_000,
            page_bytes_max: 1 << 20,
            memory_bytes_max: 64 << 20,
            chunk_bytes_max: 256 << 20,
            chunk_rows_max: 100_000,
            index_degree: 256,
            bloom_error_rate: 0.05,
            time_compression: Compression::Lz4,
            threads: 1,
            encoding: EncodingChoice::Schema,
            column_encodings: Vec::new(),
            properties: Vec::new(),
        }
    }
}

impl WriterOptions {
    /// Starts from the defaults.
    pub fn builder() -> WriterOptionsBuilder {
        WriterOptionsBuilder { options: Self::default() }
    }

    /// How the encoding of a FIELD column is chosen.
    pub(super) fn encoding_of(&self, column: &str) -> EncodingChoice {
        let of_column = self.column_encodings.iter().rfind(|(name, _)| name == column);
        of_column.map_or(self.encoding, |(_, choice)| *choice)
    }
}

/// Builds [`WriterOptions`].
#[derive(Clone, Debug)]
pub struct WriterOptionsBuilder {
    options: WriterOptions,
}

impl WriterOptionsBuilder {
    /// Rows of a page at most. All columns of a device are cut at the same rows.
    #[must_use]
    pub fn page_rows_max(mut self, rows: usize) -> Self {
        self.options.page_rows_max = rows;
        self
    }

    /// Bytes of the values of one column in one page, before encoding. A page ends with the row that reaches it.
    #[must_use]
    pub fn page_bytes_max(mut self, bytes: usize) -> Self {
        self.options.page_bytes_max = bytes;
        self
    }

    /// Bytes that rows and pages of all devices may take before their chunk groups are written out. Buffers grow by
    /// doubling, so groups are written when they hold half of it. Metadata is not part of it: it grows with the number of
    /// chunks, by some 100 bytes each.
    #[must_use]
    pub fn memory_bytes_max(mut self, bytes: usize) -> Self {
        self.options.memory_bytes_max = bytes;
        self
    }

    /// Bytes of the pages of one chunk group; a device that passes it is written out alone.
    #[must_use]
    pub fn chunk_bytes_max(mut self, bytes: usize) -> Self {
        self.options.chunk_bytes_max = bytes;
        self
    }

    /// Rows of one chunk group: it is written out with the page that reaches them, and the next one uses its buffers.
    #[must_use]
    pub fn chunk_rows_max(mut self, rows: usize) -> Self {
        self.options.chunk_rows_max = rows;
        self
    }

    /// Threads that encode the columns of large pages, the caller's included. The bytes are the same with any number.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Entries of an index node at most.
    #[must_use]
    pub fn index_degree(mut self, degree: usize) -> Self {
        self.options.index_degree = degree;
        self
    }

    /// How often the bloom filter may say "maybe" for a series that is not there; kept within 0.01 and 0.10.
    #[must_use]
    pub fn bloom_error_rate(mut self, rate: f64) -> Self {
        self.options.bloom_error_rate = rate;
        self
    }

    /// Compression of time columns. Their encoding is always TS_2DIFF, which other readers take for granted.
    #[must_use]
    pub fn time_compression(mut self, compression: Compression) -> Self {
        self.options.time_compression = compression;
        self
    }

    /// How the encodings of FIELD columns are chosen: as the schema says, unless this says otherwise.
    #[must_use]
    pub fn encoding(mut self, choice: EncodingChoice) -> Self {
        self.options.encoding = choice;
        self
    }

    /// The same for the FIELD columns of this name, in every table.
    #[must_use]
    pub fn column_encoding(mut self, column: impl Into<String>, choice: EncodingChoice) -> Self {
        self.options.column_encodings.push((column.into(), choice));
        self
    }

    /// Adds a property to the footer. The three of encryption are always there.
    #[must_use]
    pub fn property(mut self, key: impl Into<String>, value: Option<&str>) -> Self {
        self.options.properties.push((key.into(), value.map(str::to_owned)));
        self
    }

    /// The options.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for pages without rows or bytes, pages past 2^31 - 1 rows or 1 GiB, index nodes of less
    /// than two entries, or a compression that is not written.
    pub fn build(self) -> Result<WriterOptions> {
        let options = self.options;
        let within = |name: &str, value: usize, min: usize, max: usize| {
            if (min..=max).contains(&value) {
                return Ok(());
            }
            Err(Error::new(ErrorKind::InvalidArgument, format!("{name} = {value} is not within {min} and {max}")))
        };
        within("page_rows_max", options.page_rows_max, 1, i32::MAX as usize)?;
        within("page_bytes_max", options.page_bytes_max, 1, 1 << 30)?;
        within("chunk_bytes_max", options.chunk_bytes_max, 1, 1 << 30)?;
        within("chunk_rows_max", options.chunk_rows_max, 1, i32::MAX as usize)?;
        within("threads", options.threads, 1, 256)?;
        within("index_degree", options.index_degree, 2, 1 << 20)?;
        if !tsloom_codec::compress::is_writable(options.time_compression) {
            let message = format!("compression {} is not written by this build", options.time_compression);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Ok(options)
    }
}
