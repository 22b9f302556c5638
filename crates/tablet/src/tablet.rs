//! The owned tablet: rows of one table or device, column by column.

use std::ops::Range;
use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnSchema, ColumnView, Error, ErrorKind, Result, TableSchema, Value, ValuesRef};

use crate::check;
use crate::column::{Column, Marks};
use crate::column_mut::ColumnMut;
use crate::head::TabletHead;
use crate::rows::{ColumnRows, TabletRef};

/// A batch of rows of one table, or of one device of the tree model.
///
/// Columns are absent until a value is written to them, and absent columns cost nothing but their place in the schema.
/// All present columns have as many rows as there are times, by construction.
///
/// ```
/// use tsloom_model::{DataType, TableSchema, Value};
/// use tsloom_tablet::Tablet;
///
/// let weather = TableSchema::builder("weather").tag("city").field("temp", DataType::Double).build()?;
/// let mut tablet = Tablet::with_capacity(&weather, 2);
/// tablet.push_row(1_000, &["Oslo".into(), 3.5.into()])?;
/// tablet.push_row(2_000, &["Oslo".into(), Value::Null])?;
///
/// let bytes = tablet.to_bytes();
/// assert_eq!(bytes.len(), tablet.serialized_size());
/// assert_eq!(Tablet::parse(&bytes)?.column(1).unwrap().value(0), 3.5.into());
/// # Ok::<(), tsloom_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tablet {
    pub(crate) head: Arc<TabletHead>,
    pub(crate) times: Vec<i64>,
    pub(crate) columns: Vec<Column>,
    /// Columns that may be written, ascending: the others are absent and were never asked for.
    pub(crate) touched: Vec<u32>,
    row_capacity: usize,
    /// First row of the last [`extend_times`](Self::extend_times): where appends to columns begin.
    batch_start: usize,
    is_single_device: bool,
    /// Java sends no bitmap section for a tablet that was made without bitmaps.
    pub(crate) has_bitmap_section: bool,
}

impl Tablet {
    /// An empty tablet of a table.
    pub fn new(schema: &TableSchema) -> Self {
        Self::with_capacity(schema, 0)
    }

    /// An empty tablet of a table; a column takes room for `rows` rows when it is first written.
    pub fn with_capacity(schema: &TableSchema, rows: usize) -> Self {
        Self::from_head(Arc::new(TabletHead::for_table(schema)), rows)
    }

    /// An empty tablet of one device of the tree model.
    pub fn for_device(path: impl Into<String>, columns: Vec<ColumnSchema>) -> Self {
        Self::from_head(Arc::new(TabletHead::for_device(Some(path.into()), columns)), 0)
    }

    /// An empty tablet with a head that others may share: making it costs no copy of the schema.
    pub fn from_head(head: Arc<TabletHead>, rows: usize) -> Self {
        let columns = head.columns().iter().map(|column| Column::new(column.data_type)).collect();
        Self {
            is_single_device: has_one_device(&head),
            head,
            times: Vec::with_capacity(rows),
            columns,
            touched: Vec::new(),
            row_capacity: rows,
            batch_start: 0,
            has_bitmap_section: true,
        }
    }

    /// Borrows rows that lie elsewhere as a tablet, to be sent without copying them first. `columns` has one entry for each
    /// column of the head; `None` is an absent one.
    ///
    /// # Errors
    /// As [`TabletRef::from_columns`].
    pub fn from_columns<'a>(
        head: &'a TabletHead,
        times: &'a [i64],
        columns: &'a [Option<ColumnView<'a>>],
    ) -> Result<TabletRef<'a>> {
        TabletRef::from_columns(head, times, columns)
    }

    /// Target and columns, and their bytes.
    #[inline]
    pub fn head(&self) -> &Arc<TabletHead> {
        &self.head
    }

    /// Table name or device path; `None` is Java's null.
    pub fn target(&self) -> Option<&str> {
        self.head.target()
    }

    /// The columns in order.
    pub fn columns(&self) -> &[ColumnSchema] {
        self.head.columns()
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.times.len()
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The times, one a row, in the order in which the rows came.
    #[inline]
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// A column, or `None` when it is absent. Panics when there is no such column in the schema.
    pub fn column(&self, index: usize) -> Option<ColumnView<'_>> {
        self.columns[index].view()
    }

    /// The values of a column alone, as [`column`](Self::column) has them: for loops over many short columns.
    ///
    /// # Panics
    /// When there is no such column in the schema.
    #[inline(always)]
    pub fn values(&self, index: usize) -> Option<ValuesRef<'_>> {
        self.columns[index].values()
    }

    /// The null bits of a column alone, as [`column`](Self::column) has them.
    ///
    /// # Panics
    /// When there is no such column in the schema.
    #[inline(always)]
    pub fn nulls(&self, index: usize) -> Option<NullWords<'_>> {
        self.columns[index].nulls(self.row_count())
    }

    /// Indexes of the present columns, ascending. Costs what is present, not what the schema has.
    #[inline]
    pub fn present_columns(&self) -> impl Iterator<Item = usize> + Clone {
        self.touched.iter().map(|index| *index as usize).filter(|index| self.columns[*index].is_present())
    }

    /// Bytes of times, values and null words; what a copy of the rows needs at least.
    pub fn value_byte_count(&self) -> usize {
        let columns: usize = self.touched.iter().map(|index| self.columns[*index as usize].byte_count()).sum();
        self.times.len() * 8 + columns
    }

    /// All rows, borrowed.
    pub fn as_ref(&self) -> TabletRef<'_> {
        TabletRef::of(self, 0, self.row_count())
    }

    /// Some rows, borrowed. Panics when they are not all there, as slices do.
    pub fn slice(&self, rows: Range<usize>) -> TabletRef<'_> {
        assert!(rows.start <= rows.end && rows.end <= self.row_count(), "rows {rows:?} of {}", self.row_count());
        TabletRef::of(self, rows.start, rows.end - rows.start)
    }

    /// Appends one row; one value for each column of the schema.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] when there are more or fewer values than columns, a value does not fit its column, a DATE is
    /// no day of the calendar or a TAG no UTF-8; [`ErrorKind::LimitExceeded`] past 2 GiB of text in a column or 2^31 - 1 rows.
    /// Nothing is changed then.
    pub fn push_row(&mut self, time: i64, values: &[Value<'_>]) -> Result<()> {
        if values.len() != self.columns.len() {
            let message = format!("{} values for {} columns", values.len(), self.columns.len());
            return Err(Error::new(ErrorKind::SchemaMismatch, message));
        }
        let schemas = self.head.columns();
        for ((value, column), schema) in values.iter().zip(&self.columns).zip(schemas) {
            if !check::is_plain(column.data_type(), *value) {
                check::value(column, &schema.name, is_tag(schema), *value)?;
            }
        }
        let row = self.times.len();
        check::row_count(row + 1)?;
        for (index, value) in values.iter().enumerate() {
            let column = &mut self.columns[index];
            if value.is_null() && !column.is_present() {
                column.cover(row + 1);
                continue;
            }
            if !column.is_present() {
                column.make_present(row, self.row_capacity);
                touch(&mut self.touched, index);
            }
            let is_plain = matches!(value, Value::Text(_)) || check::is_plain(column.data_type(), *value);
            column.push(match is_plain {
                true => *value,
                false => value.widen_to(column.data_type().physical()).expect("the value was checked above"),
            });
        }
        self.times.push(time);
        self.batch_start = self.times.len();
        Ok(())
    }

    /// Appends rows that are null in every column; then fill columns with [`column_mut`](Self::column_mut).
    ///
    /// # Panics
    /// Past 2^31 - 1 rows: 16 GiB of times in one tablet.
    pub fn extend_times(&mut self, times: &[i64]) {
        check::row_count(self.times.len() + times.len()).expect("a tablet has fewer than 2^31 rows");
        self.batch_start = self.times.len();
        self.times.extend_from_slice(times);
        for index in &self.touched {
            let column = &mut self.columns[*index as usize];
            if column.is_present() {
                column.push_nulls(times.len());
            } else {
                column.cover(self.times.len());
            }
        }
    }

    /// A column to write to. Panics when there is no such column in the schema.
    ///
    /// ```
    /// use tsloom_model::{DataType, TableSchema};
    /// use tsloom_tablet::Tablet;
    ///
    /// let table = TableSchema::builder("t").field("a", DataType::Int32).field("b", DataType::Double).build()?;
    /// let mut tablet = Tablet::new(&table);
    /// tablet.extend_times(&[1, 2, 3]);
    /// tablet.column_mut(0).extend_i32s(&[7, 8, 9])?;
    /// tablet.column_mut(1).extend_f64s(&[0.5])?; // rows 1 and 2 stay null
    /// assert_eq!(tablet.column(1).unwrap().null_count(), 2);
    /// # Ok::<(), tsloom_model::Error>(())
    /// ```
    pub fn column_mut(&mut self, index: usize) -> ColumnMut<'_> {
        let schema = &self.head.columns()[index];
        touch(&mut self.touched, index);
        let column = &mut self.columns[index];
        column.next = column.next.max(self.batch_start);
        ColumnMut {
            column,
            name: &schema.name,
            is_tag: is_tag(schema),
            row_count: self.times.len(),
            row_capacity: self.row_capacity.max(self.times.len()),
        }
    }

    /// Forgets all rows and what was promised about them, keeps the memory. Every column is absent again.
    pub fn clear(&mut self) {
        self.times.clear();
        for index in self.touched.drain(..) {
            self.columns[index as usize].clear();
        }
        self.batch_start = 0;
        self.has_bitmap_section = true;
        self.set_single_device(false);
    }

    /// Promises that all rows are of one device (or takes it back), so that nobody looks for others. The promise is about the
    /// rows: [`clear`](Self::clear) and [`read`](Self::read) take it back.
    pub fn set_single_device(&mut self, is_single_device: bool) {
        self.is_single_device = is_single_device || has_one_device(&self.head);
    }

    /// True when all rows are known to be of one device.
    #[inline]
    pub fn is_single_device(&self) -> bool {
        self.is_single_device
    }

    /// Fills an absent column of a tablet that has its rows already.
    pub(crate) fn copy_column(&mut self, rows: &ColumnRows<'_>) {
        touch(&mut self.touched, rows.index);
        let column = &mut self.columns[rows.index];
        match (rows.values, rows.nulls) {
            (Some(values), Some(nulls)) => {
                column.make_present(0, self.row_capacity);
                column.extend_with_nulls(values, nulls);
            }
            (Some(values), None) => {
                column.make_present(0, self.row_capacity);
                column.extend(values);
            }
            (None, Some(nulls)) => column.mark_all_of(nulls, 0),
            (None, None) => {}
        }
        if !rows.is_marked {
            column.set_marks(Marks::MissingCells);
        }
    }

    /// After rows were moved: appends go behind the last.
    pub(crate) fn settle_rows(&mut self) {
        self.batch_start = self.times.len();
        for index in &self.touched {
            self.columns[*index as usize].next = 0;
        }
    }
}

/// True when rows with this head cannot be of several devices.
fn has_one_device(head: &TabletHead) -> bool {
    !head.is_table() || head.tags().is_empty()
}

pub(crate) fn is_tag(schema: &ColumnSchema) -> bool {
    schema.category == tsloom_model::ColumnCategory::Tag
}

/// Notes that a column may be written. Columns mostly come in order.
pub(crate) fn touch(touched: &mut Vec<u32>, index: usize) {
    let index = u32::try_from(index).expect("a tablet has fewer than 2^31 columns");
    if touched.last().is_none_or(|last| *last < index) {
        touched.push(index);
    } else if let Err(position) = touched.binary_search(&index) {
        touched.insert(position, index);
    }
}
