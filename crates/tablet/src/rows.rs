//! Borrowed rows: a part of a tablet, or columns that lie elsewhere. What the wire form is written from.

use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnSchema, ColumnView, Error, ErrorKind, Result, ValuesRef};

use crate::check;
use crate::column::Marks;
use crate::head::TabletHead;
use crate::tablet::{Tablet, is_tag};

/// Rows of a tablet, borrowed: all of them, a slice, or columns of the caller. It is sent like a [`Tablet`], with the same bytes.
#[derive(Clone, Copy, Debug)]
pub struct TabletRef<'a> {
    head: &'a TabletHead,
    times: &'a [i64],
    source: Source<'a>,
    /// First row, in the columns of the source.
    start: usize,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Owned(&'a Tablet),
    Views(&'a [Option<ColumnView<'a>>]),
}

/// What the wire form says about one column, in these rows.
#[derive(Clone, Copy)]
pub(crate) struct ColumnRows<'a> {
    pub(crate) index: usize,
    pub(crate) values: Option<ColumnView<'a>>,
    /// Null rows; `None` when there is none.
    pub(crate) nulls: Option<NullWords<'a>>,
    /// True when the nulls stand in the column's bitmap.
    pub(crate) is_marked: bool,
    /// True when the slots of null rows hold the placeholder already.
    pub(crate) is_settled: bool,
    /// No text cell is longer; `None` when nobody counted.
    pub(crate) longest: Option<u32>,
}

impl<'a> TabletRef<'a> {
    /// Borrows rows that lie elsewhere as a tablet.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] when there are more or fewer columns than in the head, a column has another type or row count,
    /// a DATE is no day of the calendar or a TAG no UTF-8; [`ErrorKind::LimitExceeded`] past 2 GiB of text in a column.
    pub fn from_columns(head: &'a TabletHead, times: &'a [i64], columns: &'a [Option<ColumnView<'a>>]) -> Result<Self> {
        let schemas = head.columns();
        if columns.len() != schemas.len() {
            let message = format!("{} columns given, the schema has {}", columns.len(), schemas.len());
            return Err(Error::new(ErrorKind::SchemaMismatch, message));
        }
        for (column, schema) in columns.iter().zip(schemas) {
            if let Some(column) = column {
                check_view(*column, schema, times.len())?;
            }
        }
        Ok(Self { head, times, source: Source::Views(columns), start: 0 })
    }

    pub(crate) fn of(tablet: &'a Tablet, start: usize, count: usize) -> Self {
        Self { head: &tablet.head, times: &tablet.times[start..start + count], source: Source::Owned(tablet), start }
    }

    /// Target and columns.
    pub fn head(&self) -> &'a TabletHead {
        self.head
    }

    /// Table name or device path; `None` is Java's null.
    pub fn target(&self) -> Option<&'a str> {
        self.head.target()
    }

    /// The columns in order.
    pub fn columns(&self) -> &'a [ColumnSchema] {
        self.head.columns()
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.times.len()
    }

    /// The times, one a row.
    pub fn times(&self) -> &'a [i64] {
        self.times
    }

    /// A column, or `None` when it is absent. Panics when there is no such column in the schema.
    pub fn column(&self, index: usize) -> Option<ColumnView<'a>> {
        match self.source {
            Source::Owned(tablet) => tablet.column(index),
            Source::Views(columns) => columns[index],
        }
        .map(|column| column.slice(self.start, self.row_count()))
    }

    /// Some of these rows. Panics when they are not all there, as slices do.
    #[must_use]
    pub fn slice(&self, start: usize, count: usize) -> Self {
        Self { times: &self.times[start..start + count], start: self.start + start, ..*self }
    }

    /// An owned copy of the rows.
    pub fn to_tablet(&self) -> Tablet {
        let mut tablet = Tablet::from_head(self.head.clone().into(), self.row_count());
        tablet.extend_times(self.times);
        for column in self.written_columns() {
            tablet.copy_column(&column);
        }
        tablet.has_bitmap_section = self.has_bitmap_section();
        tablet
    }

    /// True when the wire form has a bitmap section.
    pub(crate) fn has_bitmap_section(&self) -> bool {
        match self.source {
            Source::Owned(tablet) => {
                tablet.has_bitmap_section || self.written_columns().any(|column| column.is_marked && column.nulls.is_some())
            }
            Source::Views(_) => true,
        }
    }

    /// The columns about which the wire form says more than that they are absent, ascending.
    pub(crate) fn written_columns(&self) -> impl Iterator<Item = ColumnRows<'a>> {
        let rows = *self;
        let count = match rows.source {
            Source::Owned(tablet) => tablet.touched.len(),
            Source::Views(columns) => columns.len(),
        };
        (0..count).filter_map(move |position| match rows.source {
            Source::Owned(tablet) => rows.owned_column(tablet, tablet.touched[position] as usize),
            Source::Views(columns) => rows.view_column(position, columns[position]?),
        })
    }

    fn owned_column(&self, tablet: &'a Tablet, index: usize) -> Option<ColumnRows<'a>> {
        let column = &tablet.columns[index];
        if !column.is_written() {
            return None;
        }
        let is_whole = self.row_count() == tablet.row_count();
        let nulls = column.nulls(tablet.row_count()).map(|nulls| nulls.slice(self.start, self.row_count()));
        Some(ColumnRows {
            index,
            values: column.view().map(|view| view.slice(self.start, self.row_count())),
            nulls: nulls.filter(|nulls| is_whole || nulls.any_null()),
            is_marked: column.marks() == Marks::Bitmap,
            is_settled: true,
            longest: Some(column.longest()),
        })
    }

    fn view_column(&self, index: usize, column: ColumnView<'a>) -> Option<ColumnRows<'a>> {
        let values = column.slice(self.start, self.row_count());
        Some(ColumnRows {
            index,
            values: Some(values),
            nulls: values.nulls().filter(NullWords::any_null),
            is_marked: true,
            is_settled: false,
            longest: None,
        })
    }
}

fn check_view(column: ColumnView<'_>, schema: &ColumnSchema, row_count: usize) -> Result<()> {
    let refuse = |message: String| Error::new(ErrorKind::SchemaMismatch, message).in_column(&schema.name);
    if column.data_type() != schema.data_type {
        return Err(refuse(format!("a {} column was given, the schema has {}", column.data_type(), schema.data_type)));
    }
    if column.row_count() != row_count {
        return Err(refuse(format!("{} rows for {row_count} times", column.row_count())));
    }
    if let ValuesRef::Text(text) = column.values()
        && text.byte_count() > check::TEXT_BYTES_MAX
    {
        let message = format!("{} bytes of text are past the {} of one tablet", text.byte_count(), check::TEXT_BYTES_MAX);
        return Err(Error::new(ErrorKind::LimitExceeded, message).in_column(&schema.name));
    }
    check::content(schema.data_type, &schema.name, is_tag(schema), column.values(), column.nulls())
}
