//! Borrowed rows: a part of a tablet, or columns that lie elsewhere. What the wire form is written from.

use std::sync::Arc;

use tsloom_bitmap::{BitMap, NullWords};
use tsloom_model::{ColumnSchema, ColumnView, DataType, Error, ErrorKind, Result, ValuesRef};

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
    pub(crate) data_type: DataType,
    pub(crate) values: Option<ValuesRef<'a>>,
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
    /// a DATE is no day of the calendar or a TAG no UTF-8; [`ErrorKind::LimitExceeded`] past 2 GiB of text in a column or 2^31 - 1 rows.
    pub fn from_columns(head: &'a TabletHead, times: &'a [i64], columns: &'a [Option<ColumnView<'a>>]) -> Result<Self> {
        let schemas = head.columns();
        if columns.len() != schemas.len() {
            let message = format!("{} columns given, the schema has {}", columns.len(), schemas.len());
            return Err(Error::new(ErrorKind::SchemaMismatch, message));
        }
        check::row_count(times.len())?;
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

    /// `count` of these rows from `start` on.
    ///
    /// # Panics
    /// When they are not all there, as slices do.
    #[must_use]
    pub fn slice(&self, start: usize, count: usize) -> Self {
        Self { times: &self.times[start..start + count], start: self.start + start, ..*self }
    }

    /// An owned copy of the rows.
    pub fn to_tablet(&self) -> Tablet {
        let head = match self.source {
            Source::Owned(tablet) => Arc::clone(tablet.head()),
            Source::Views(_) => Arc::new(self.head.clone()),
        };
        let mut tablet = Tablet::from_head(head, self.row_count());
        tablet.extend_times(self.times);
        for column in self.written_columns() {
            tablet.copy_column(&column);
        }
        tablet.has_bitmap_section = self.has_bitmap_section();
        tablet.settle_rows();
        tablet
    }

    /// True when the wire form has a bitmap section.
    pub(crate) fn has_bitmap_section(&self) -> bool {
        match self.source {
            Source::Owned(tablet) => tablet.has_bitmap_section || self.marked_columns().next().is_some(),
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

    /// [`written_columns`](Self::written_columns) without moving them about: what the writer of whole columns uses.
    #[inline(always)]
    pub(crate) fn each_written(&self, mut visit: impl FnMut(&ColumnRows<'a>)) {
        match self.source {
            Source::Owned(tablet) => {
                for index in &tablet.touched {
                    if let Some(column) = self.owned_column(tablet, *index as usize) {
                        visit(&column);
                    }
                }
            }
            Source::Views(_) => self.written_columns().for_each(|column| visit(&column)),
        }
    }

    /// The columns that have marks in the bitmap section, ascending, and their null rows.
    pub(crate) fn marked_columns(&self) -> impl Iterator<Item = (usize, NullWords<'a>)> {
        let rows = *self;
        let count = match rows.source {
            Source::Owned(tablet) => tablet.touched.len(),
            Source::Views(columns) => columns.len(),
        };
        (0..count).filter_map(move |position| {
            let column = match rows.source {
                Source::Owned(tablet) => {
                    let index = tablet.touched[position] as usize;
                    if tablet.columns[index].null_count() == 0 {
                        return None;
                    }
                    rows.owned_column(tablet, index)?
                }
                Source::Views(columns) => rows.view_column(position, columns[position]?)?,
            };
            Some((column.index, column.nulls.filter(|_| column.is_marked)?))
        })
    }

    #[inline(always)]
    fn owned_column(&self, tablet: &'a Tablet, index: usize) -> Option<ColumnRows<'a>> {
        let column = &tablet.columns[index];
        if !column.is_written() {
            return None;
        }
        let (mut values, mut nulls) = (column.values(), column.nulls(tablet.row_count()));
        if self.row_count() != tablet.row_count() {
            values = values.map(|values| values.slice(self.start, self.row_count()));
            nulls = nulls.map(|nulls| nulls.slice(self.start, self.row_count())).filter(NullWords::any_null);
        }
        Some(ColumnRows {
            index,
            data_type: column.data_type(),
            values,
            nulls,
            is_marked: column.marks() == Marks::Bitmap,
            is_settled: true,
            longest: Some(column.longest()),
        })
    }

    fn view_column(&self, index: usize, column: ColumnView<'a>) -> Option<ColumnRows<'a>> {
        let rows = column.slice(self.start, self.row_count());
        Some(ColumnRows {
            index,
            data_type: rows.data_type(),
            values: Some(rows.values()),
            nulls: rows.nulls().filter(NullWords::any_null),
            is_marked: true,
            is_settled: false,
            longest: None,
        })
    }

    /// Sum of the sizes of all columns in the bitmap and value sections, flags not counted.
    pub(crate) fn columns_size(&self) -> usize {
        match self.source {
            Source::Owned(tablet) if self.row_count() == tablet.row_count() => {
                tablet.touched.iter().map(|index| tablet.columns[*index as usize].wire_size(self.row_count())).sum()
            }
            _ => self.written_columns().map(|column| column.wire_size(self.row_count())).sum(),
        }
    }
}

impl ColumnRows<'_> {
    fn wire_size(&self, row_count: usize) -> usize {
        let marks = if self.is_marked && self.nulls.is_some() { 8 + BitMap::wire_bytes(row_count) } else { 0 };
        marks + self.values.map_or(0, |values| self.slots_size(values))
    }

    /// Bytes of the slots.
    #[inline]
    pub(crate) fn slots_size(&self, values: ValuesRef<'_>) -> usize {
        let ValuesRef::Text(text) = values else {
            return values.len() * values.physical().width().expect("all but text have a width");
        };
        let Some(nulls) = self.nulls else {
            return text.len() * 5 + text.byte_count();
        };
        let dropped = if self.is_settled { 0 } else { nulls.ones().map(|row| text.get(row).len()).sum() };
        text.len() * 5 - nulls.null_count() * 4 + text.byte_count() - dropped
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
