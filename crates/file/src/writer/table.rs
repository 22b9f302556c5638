//! What the writer knows about a table, or about tree-model devices with the same measurements.

use tsloom_codec::{EncodeOptions, compress, encode, scaled};
use tsloom_format::SeriesType;
use tsloom_model::{
    ColumnCategory, ColumnSchema, Compression, DataType, Encoding, Error, ErrorKind, Result, TableSchema, Values, ValuesRef,
};

use super::device::OpenGroup;
use super::group::Group;
use super::options::MAX_POINT_NUMBER;
use super::plain::PlainGroup;
use super::{EncodingChoice, Scratch, WriterOptions};

/// Groups that wait to be used again; more are given back to the allocator.
const SPARE_COUNT_MAX: usize = 64;

#[derive(Debug)]
pub(super) struct Table {
    /// Without a name it is that of tree-model devices.
    pub(super) schema: TableSchema,
    /// Columns share their times.
    pub(super) is_aligned: bool,
    /// The FIELD columns, in schema order.
    pub(super) fields: Vec<Field>,
    /// Positions in `fields`, ascending by name: the order of chunks and series.
    pub(super) by_name: Vec<u32>,
    /// Rows of a page at most, also by the bytes of the widest fixed-width column.
    pub(super) page_rows_max: usize,
    pub(super) page_bytes_max: usize,
    pub(super) chunk_bytes_max: usize,
    pub(super) time_compression: Compression,
    spare: Vec<OpenGroup>,
}

/// One FIELD column.
#[derive(Debug)]
pub(super) struct Field {
    /// Position among all columns of the schema.
    pub(super) column: usize,
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// The default of the type when the data chooses.
    pub(super) encoding: Encoding,
    /// The data chooses, chunk by chunk.
    pub(super) is_auto: bool,
    pub(super) compression: Compression,
    pub(super) options: EncodeOptions,
    /// Empty buffers of open pages, warm from their last use.
    pub(super) spare_values: Vec<Values>,
}

/// Page buffers of one column that wait to be used again.
const SPARE_VALUES_MAX: usize = 2;

impl Field {
    fn new(column: usize, schema: &ColumnSchema, choice: EncodingChoice, scratch: &mut Scratch) -> Result<Self> {
        let is_auto = choice == EncodingChoice::Auto;
        let field = Self {
            column,
            name: schema.name.clone(),
            data_type: schema.data_type,
            encoding: if is_auto { schema.data_type.default_encoding() } else { schema.encoding },
            is_auto,
            compression: schema.compression,
            options: EncodeOptions { max_point_number: max_point_number(schema)? },
            spare_values: Vec::new(),
        };
        field.try_out(scratch)?;
        Ok(field)
    }

    /// Encodes one value, so that what cannot be written is refused before any row is taken.
    fn try_out(&self, scratch: &mut Scratch) -> Result<()> {
        let mut value = Values::new(self.data_type.physical());
        value.push_defaults(1);
        scratch.body.clear();
        encode(self.encoding, value.as_values(), self.data_type, self.options, &mut scratch.body, &mut scratch.encode)?;
        compress::check_writable(self.compression)
    }

    /// True when the encoding rounds values to decimals.
    pub(super) fn is_scaled(&self) -> bool {
        matches!(self.encoding, Encoding::Rle | Encoding::Ts2Diff) && matches!(self.data_type, DataType::Float | DataType::Double)
    }

    /// How many values such an encoding changes.
    pub(super) fn changed_count(&self, values: ValuesRef<'_>) -> u64 {
        let decimals = self.options.max_point_number.filter(|_| self.is_scaled());
        let changed = decimals.map(|decimals| match values {
            ValuesRef::Float(values) => scaled::changed_f32s(values, decimals),
            ValuesRef::Double(values) => scaled::changed_f64s(values, decimals),
            _ => 0,
        });
        changed.unwrap_or(0) as u64
    }

    /// True when the encoding cannot hold all values of the type: SPRINTZ has no room for the widest steps.
    pub(super) fn may_refuse_values(&self) -> bool {
        self.encoding == Encoding::Sprintz
    }

    pub(super) fn series_type(&self) -> SeriesType {
        SeriesType::Value(self.data_type)
    }

    /// Keeps the empty buffer of a page that has ended.
    pub(super) fn keep_values(&mut self, values: Values) {
        if self.spare_values.len() < SPARE_VALUES_MAX {
            self.spare_values.push(values);
        }
    }
}

/// Checks that a file can have this table, as [`FileWriter::add_table`](crate::FileWriter::add_table) does, without a file.
///
/// # Errors
/// [`ErrorKind::Unsupported`] or [`ErrorKind::InvalidArgument`] for a column whose encoding or compression cannot be
/// written; the error names it.
pub fn check_table(schema: &TableSchema) -> Result<()> {
    Table::new(schema.clone(), true, &WriterOptions::default(), &mut Scratch::default()).map(drop)
}

/// The column as a file can have it without a change to any value: an encoding that is only read, or that rounds to decimals which
/// nobody named, becomes the default of the type, and so does a compression that is only read.
#[must_use]
pub fn writable(column: &ColumnSchema) -> ColumnSchema {
    let is_writable = |column: &ColumnSchema| Field::new(0, column, EncodingChoice::Schema, &mut Scratch::default()).is_ok();
    let default = ColumnSchema::field(column.name.as_str(), column.data_type);
    let candidates = [
        column.clone(),
        column.clone().encoding(default.encoding),
        column.clone().compression(default.compression),
        column.clone().encoding(default.encoding).compression(default.compression),
    ];
    match column.category {
        ColumnCategory::Field => candidates.into_iter().find(is_writable).unwrap_or(default),
        // Nothing of it is encoded.
        _ => column.clone(),
    }
}

fn max_point_number(schema: &ColumnSchema) -> Result<Option<u32>> {
    let Some(text) = schema.prop(MAX_POINT_NUMBER) else {
        return Ok(None);
    };
    let number = text.trim().parse();
    number.map(Some).map_err(|_| Error::new(ErrorKind::InvalidArgument, format!("max_point_number {text:?} is no number")))
}

impl Table {
    pub(super) fn new(schema: TableSchema, is_aligned: bool, options: &WriterOptions, scratch: &mut Scratch) -> Result<Self> {
        let mut fields = Vec::new();
        for column in schema.fields() {
            let field = &schema.columns()[column];
            let choice = options.encoding_of(schema.name(), field);
            fields.push(Field::new(column, field, choice, scratch).map_err(|error| error.in_column(&field.name))?);
        }
        let mut by_name: Vec<u32> = (0..fields.len() as u32).collect();
        by_name.sort_by(|a, b| fields[*a as usize].name.cmp(&fields[*b as usize].name));
        // Times are eight bytes wide, so no column is wider.
        let page_rows_max = options.page_rows_max.min(options.page_bytes_max.div_ceil(8));
        Ok(Self {
            schema,
            is_aligned,
            fields,
            by_name,
            page_rows_max,
            page_bytes_max: options.page_bytes_max,
            chunk_bytes_max: options.chunk_bytes_max,
            time_compression: options.time_compression,
            spare: Vec::new(),
        })
    }

    /// The position among the fields of the column `name`, which is likely to be column `index` of the schema.
    pub(super) fn field_position(&self, index: usize, name: &str) -> Option<usize> {
        let columns = self.schema.columns();
        let column = if columns.get(index).is_some_and(|column| column.name == name) {
            index
        } else {
            columns.iter().position(|column| column.name == name)?
        };
        self.fields.binary_search_by_key(&column, |field| field.column).ok()
    }

    /// The place of a field in the order of a device's series, after the times.
    pub(super) fn rank(&self, name: &str, series_type: SeriesType) -> Result<u32> {
        let field = |place: &u32| &self.fields[*place as usize];
        match self.by_name.binary_search_by(|place| field(place).name.as_str().cmp(name)) {
            Ok(rank) if field(&self.by_name[rank]).series_type() == series_type => Ok(rank as u32 + 1),
            _ => {
                let message = match self.schema.name() {
                    "" => "the device has no measurement of this name and type".to_owned(),
                    name => format!("the table {name} has no FIELD of this name and type"),
                };
                Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(name))
            }
        }
    }

    /// A group without rows.
    pub(super) fn take(&mut self) -> OpenGroup {
        self.spare.pop().unwrap_or_else(|| match self.is_aligned {
            true => OpenGroup::Aligned(Box::new(Group::new(self.fields.len()))),
            false => OpenGroup::Plain(Box::new(PlainGroup::new(self.fields.len()))),
        })
    }

    /// Keeps the buffers of a group that was written.
    pub(super) fn keep(&mut self, mut group: OpenGroup) {
        if self.spare.len() < SPARE_COUNT_MAX {
            group.clear();
            self.spare.push(group);
        }
    }
}
