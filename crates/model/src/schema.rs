//! What a table looks like: its columns, their types, encodings and compressions.

use crate::{ColumnCategory, Compression, DataType, Encoding, Error, ErrorKind, Result};

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Lower case in a schema that was built; as stored in one that was read.
    pub name: String,
    /// What it holds.
    pub data_type: DataType,
    /// How its pages are encoded.
    pub encoding: Encoding,
    /// How its pages are compressed.
    pub compression: Compression,
    /// What it is for.
    pub category: ColumnCategory,
    /// Encoder properties, such as `max_point_number`; kept in order.
    pub props: Vec<(String, Option<String>)>,
}

impl ColumnSchema {
    /// A TAG: STRING, PLAIN, LZ4 (as upstream writes them; no chunk is ever stored). TEXT and BLOB are taken where others made them
    /// so: a tag is its text in the device id, whatever the column says.
    pub fn tag(name: impl Into<String>) -> Self {
        Self { category: ColumnCategory::Tag, ..Self::field(name, DataType::String) }
    }

    /// A FIELD with the default encoding of its type and LZ4.
    pub fn field(name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            name: name.into(),
            data_type,
            encoding: data_type.default_encoding(),
            compression: Compression::Lz4,
            category: ColumnCategory::Field,
            props: Vec::new(),
        }
    }

    /// An ATTRIBUTE: STRING, PLAIN, LZ4.
    pub fn attribute(name: impl Into<String>) -> Self {
        Self { category: ColumnCategory::Attribute, ..Self::tag(name) }
    }

    /// The same column with another encoding.
    #[must_use]
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// The same column with another compression.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Gives an encoder property a value, also when it has one.
    pub fn set_prop(&mut self, key: &str, value: Option<String>) {
        match self.props.iter_mut().find(|(name, _)| name == key) {
            Some(prop) => prop.1 = value,
            None => self.props.push((key.to_owned(), value)),
        }
    }

    /// What may happen to values of the column that its encoding does not keep, or cannot hold; `None` when every value of the type
    /// comes back bit for bit.
    pub fn encoding_warning(&self) -> Option<&'static str> {
        let is_float = matches!(self.data_type, DataType::Float | DataType::Double);
        match self.encoding {
            Encoding::Rle | Encoding::Ts2Diff if is_float => {
                Some("keeps only as many decimals as max_point_number says; values with more are rounded")
            }
            Encoding::Sprintz => Some("cannot hold wide steps between values; pages with such a step are written PLAIN"),
            _ => None,
        }
    }

    /// The value of an encoder property.
    pub fn prop(&self, key: &str) -> Option<&str> {
        self.props.iter().find(|(name, _)| name == key)?.1.as_deref()
    }
}

/// A table: a name and its columns in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    name: String,
    columns: Vec<ColumnSchema>,
}

impl TableSchema {
    /// Starts a new table.
    pub fn builder(name: impl Into<String>) -> TableSchemaBuilder {
        TableSchemaBuilder { name: name.into(), columns: Vec::new() }
    }

    /// A schema as a file stores it: names keep their case. Two columns of one name, and an encoding that does not fit
    /// its type, are errors here too.
    pub fn from_stored(name: impl Into<String>, columns: Vec<ColumnSchema>) -> Result<Self> {
        let schema = Self { name: name.into(), columns };
        schema.check()?;
        Ok(schema)
    }

    fn check(&self) -> Result<()> {
        let mut names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(self.refuse(pair[0], format!("table {} has two columns of this name", self.name)));
        }
        for column in &self.columns {
            if !column.data_type.allows(column.encoding) {
                return Err(
                    self.refuse(&column.name, format!("{} does not take the encoding {}", column.data_type, column.encoding))
                );
            }
            if column.category == ColumnCategory::Tag && !column.data_type.is_text() {
                return Err(self.refuse(&column.name, format!("a TAG is text, not {}", column.data_type)));
            }
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, column: &str, message: String) -> Error {
        Error::new(ErrorKind::SchemaMismatch, message).in_column(column)
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All columns in order.
    pub fn columns(&self) -> &[ColumnSchema] {
        &self.columns
    }

    /// The position of a column; names are compared as stored, then lower-cased.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        let position = |name: &str| self.columns.iter().position(|column| column.name == name);
        position(name).or_else(|| position(&name.to_lowercase()))
    }

    /// The position of a column, or an error that lists the columns there are.
    pub fn require_column(&self, name: &str) -> Result<usize> {
        self.column_index(name).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            Error::new(ErrorKind::NotFound, format!("table {} has no column {name}; it has {}", self.name, names.join(", ")))
        })
    }

    /// Columns whose encoding does not keep every value of their type, and what becomes of the values; see
    /// [`ColumnSchema::encoding_warning`].
    pub fn encoding_warnings(&self) -> impl Iterator<Item = (&ColumnSchema, &'static str)> {
        self.columns.iter().filter_map(|column| Some((column, column.encoding_warning()?)))
    }

    /// Positions of the TAG columns, in order: tag `i` of a device id is column `tags().nth(i)`.
    pub fn tags(&self) -> impl Iterator<Item = usize> + Clone {
        self.of_category(ColumnCategory::Tag)
    }

    /// Positions of the FIELD columns, in order.
    pub fn fields(&self) -> impl Iterator<Item = usize> + Clone {
        self.of_category(ColumnCategory::Field)
    }

    /// Number of TAG columns.
    pub fn tag_count(&self) -> usize {
        self.tags().count()
    }

    fn of_category(&self, category: ColumnCategory) -> impl Iterator<Item = usize> + Clone {
        self.columns.iter().enumerate().filter(move |(_, column)| column.category == category).map(|(index, _)| index)
    }
}

/// Builds a [`TableSchema`] column by column.
#[derive(Clone, Debug)]
pub struct TableSchemaBuilder {
    name: String,
    columns: Vec<ColumnSchema>,
}

impl TableSchemaBuilder {
    /// Appends a TAG column.
    #[must_use]
    pub fn tag(self, name: impl Into<String>) -> Self {
        self.column(ColumnSchema::tag(name))
    }

    /// Appends a FIELD column with the default encoding of its type.
    #[must_use]
    pub fn field(self, name: impl Into<String>, data_type: DataType) -> Self {
        self.column(ColumnSchema::field(name, data_type))
    }

    /// Appends an ATTRIBUTE column.
    #[must_use]
    pub fn attribute(self, name: impl Into<String>) -> Self {
        self.column(ColumnSchema::attribute(name))
    }

    /// Appends a column described in full.
    #[must_use]
    pub fn column(mut self, column: ColumnSchema) -> Self {
        self.columns.push(column);
        self
    }

    /// The schema, with table and column names in lower case.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] for an empty name, two names that are equal in lower case, a TAG that is no text (STRING, TEXT
    /// or BLOB), or an encoding that does not fit its type.
    pub fn build(self) -> Result<TableSchema> {
        let name = self.name.to_lowercase();
        if name.is_empty() {
            return Err(Error::new(ErrorKind::SchemaMismatch, "a table needs a name"));
        }
        let mut columns = self.columns;
        for column in &mut columns {
            column.name = column.name.to_lowercase();
            if column.name.is_empty() {
                return Err(Error::new(ErrorKind::SchemaMismatch, format!("table {name}: a column needs a name")));
            }
        }
        TableSchema::from_stored(name, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(builder: TableSchemaBuilder, message: &str) {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn names_are_lower_case_and_found_in_any_case() {
        let table = TableSchema::builder("TabX").tag("Id").field("VCol", DataType::Int32).build().unwrap();
        assert_eq!((table.name(), table.columns()[1].name.as_str()), ("tabx", "vcol"));
        assert_eq!(table.require_column("VCOL").unwrap(), 1);
        assert_eq!(table.require_column("w").unwrap_err().to_string(), "table tabx has no column w; it has id, vcol");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let table = || TableSchema::builder("t");
        check_refused(
            table().field("a", DataType::Int32).field("A", DataType::Int32),
            "column a: table t has two columns of this name",
        );
        check_refused(
            table().column(ColumnSchema::field("b", DataType::Boolean).encoding(Encoding::Gorilla)),
            "column b: BOOLEAN does not take the encoding GORILLA",
        );
        check_refused(
            table().column(ColumnSchema { category: ColumnCategory::Tag, ..ColumnSchema::field("c", DataType::Int32) }),
            "column c: a TAG is text, not INT32",
        );
        check_refused(TableSchema::builder(""), "a table needs a name");
    }
}
