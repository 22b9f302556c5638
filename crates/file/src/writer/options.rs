//! What a caller may choose about a file.

use tsloom_codec::compress::CompressOptions;
use tsloom_model::{ColumnCategory, ColumnSchema, Compression, DataType, Error, ErrorKind, Result, TableSchema};

use super::auto::EncodingChoice;

/// How a file is written. Start with [`builder`](Self::builder).
#[derive(Clone, Debug, PartialEq)]
pub struct WriterOptions {
    pub(super) page_rows_max: usize,
    pub(super) page_bytes_max: usize,
    pub(super) memory_bytes_max: usize,
    pub(super) chunk_bytes_max: usize,
    pub(super) chunk_rows_max: usize,
    pub(super) metadata_bytes_max: usize,
    pub(super) index_degree: usize,
    pub(super) bloom_error_rate: f64,
    pub(super) time_compression: Compression,
    pub(super) threads: usize,
    encoding: EncodingChoice,
    /// They go before `encoding`; the last that fits counts.
    type_encodings: Vec<(DataType, EncodingChoice)>,
    /// By name of the column, or of table and column; they go before the others.
    column_encodings: Vec<(String, EncodingChoice)>,
    pub(super) compress: CompressOptions,
    pub(super) drops_attributes: bool,
    pub(super) properties: Vec<(String, Option<String>)>,
    compression: Option<Compression>,
    column_compressions: Vec<(String, Compression)>,
    column_decimals: Vec<(String, u32)>,
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
            metadata_bytes_max: 32 << 20,
            index_degree: 256,
            bloom_error_rate: 0.05,
            time_compression: Compression::Lz4,
            threads: 1,
            encoding: EncodingChoice::Schema,
            type_encodings: Vec::new(),
            column_encodings: Vec::new(),
            compress: CompressOptions::default(),
            drops_attributes: false,
            properties: Vec::new(),
            compression: None,
            column_compressions: Vec::new(),
            column_decimals: Vec::new(),
        }
    }
}

impl WriterOptions {
    /// Starts from the defaults.
    pub fn builder() -> WriterOptionsBuilder {
        WriterOptionsBuilder { options: Self::default() }
    }

    /// Starts from these.
    pub fn to_builder(&self) -> WriterOptionsBuilder {
        WriterOptionsBuilder { options: self.clone() }
    }

    /// A schema with what was chosen here instead of what it says.
    pub(super) fn applied_to(&self, schema: &TableSchema) -> Result<TableSchema> {
        let columns = schema.columns().iter().map(|column| self.applied_to_column(schema.name(), column));
        TableSchema::from_stored(schema.name(), columns.collect())
    }

    fn applied_to_column(&self, table: &str, column: &ColumnSchema) -> ColumnSchema {
        let mut column = column.clone();
        if matches!(column.category, ColumnCategory::Tag | ColumnCategory::Time) {
            return column;
        }
        if let EncodingChoice::Fixed(encoding) = self.encoding_of(table, &column) {
            column.encoding = encoding;
        }
        let compression = chosen(&self.column_compressions, table, &column.name).or(self.compression);
        column.compression = compression.unwrap_or(column.compression);
        if let Some(decimals) = chosen(&self.column_decimals, table, &column.name) {
            column.set_prop(MAX_POINT_NUMBER, Some(decimals.to_string()));
        }
        column
    }

    /// How the encoding of a column is chosen.
    pub(super) fn encoding_of(&self, table: &str, column: &ColumnSchema) -> EncodingChoice {
        let of_type = || self.type_encodings.iter().rfind(|(data_type, _)| *data_type == column.data_type);
        let of_column = chosen(&self.column_encodings, table, &column.name);
        of_column.or_else(|| of_type().map(|(_, choice)| *choice)).unwrap_or(self.encoding)
    }
}

/// The last choice whose name is that of the column, or of table and column.
fn chosen<T: Copy>(choices: &[(String, T)], table: &str, column: &str) -> Option<T> {
    let is_it = |name: &str| {
        name == column || name.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')).is_some_and(|name| name == column)
    };
    choices.iter().rfind(|(name, _)| is_it(name)).map(|(_, choice)| *choice)
}

/// The property of a column that says how many decimals a scaled encoding keeps.
pub(super) const MAX_POINT_NUMBER: &str = "max_point_number";

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
    /// doubling, so groups are written when they hold half of it. Metadata is not part of it: see
    /// [`metadata_bytes_max`](Self::metadata_bytes_max).
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

    /// Bytes of the metadata of series and chunks that are kept in memory, some 100 a chunk; more of it waits in a temporary
    /// file for the end. What cannot go there are the names of devices, some 150 bytes each.
    #[must_use]
    pub fn metadata_bytes_max(mut self, bytes: usize) -> Self {
        self.options.metadata_bytes_max = bytes;
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

    /// The same for the columns of one type.
    #[must_use]
    pub fn type_encoding(mut self, data_type: DataType, choice: EncodingChoice) -> Self {
        self.options.type_encodings.push((data_type, choice));
        self
    }

    /// The same for one column, named `column` (in every table and device) or `table.column`. That a fixed encoding fits the
    /// type is checked when the table is added.
    #[must_use]
    pub fn column_encoding(mut self, column: impl Into<String>, choice: EncodingChoice) -> Self {
        self.options.column_encodings.push((column.into(), choice));
        self
    }

    /// Levels of the compressors that have them.
    #[must_use]
    pub fn compress_options(mut self, options: CompressOptions) -> Self {
        self.options.compress = options;
        self
    }

    /// Compression of all value columns, whatever their schema says.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.options.compression = Some(compression);
        self
    }

    /// Compression of one column, named as in [`column_encoding`](Self::column_encoding).
    #[must_use]
    pub fn column_compression(mut self, column: impl Into<String>, compression: Compression) -> Self {
        self.options.column_compressions.push((column.into(), compression));
        self
    }

    /// Decimals that RLE and TS_2DIFF keep of a FLOAT or DOUBLE column, named as in
    /// [`column_encoding`](Self::column_encoding). Values with more are changed; [`FileSummary`](crate::FileSummary) counts
    /// them.
    #[must_use]
    pub fn column_decimals(mut self, column: impl Into<String>, decimals: u32) -> Self {
        self.options.column_decimals.push((column.into(), decimals));
        self
    }

    /// Leaves values of ATTRIBUTE columns out, as the writers of Java and C++ do without a word: they belong to a device and have
    /// no place in a file. [`FileSummary`](crate::FileSummary) counts them. Otherwise they are refused.
    #[must_use]
    pub fn drop_attributes(mut self) -> Self {
        self.options.drops_attributes = true;
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
        tsloom_codec::compress::check_writable(options.time_compression)?;
        Ok(options)
    }
}
