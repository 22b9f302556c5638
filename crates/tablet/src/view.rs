//! Reading a tablet where it lies: one checking walk, then every column is a slice of the input.

use std::ops::Deref;

use tsloom_bitmap::BitMapView;
use tsloom_encoding::{WireReader, bulk};
use tsloom_model::{ColumnCategory, Compression, DataType, Encoding, Error, ErrorKind, PhysicalType, Result};

use crate::layout::{self, ColumnPlace, TabletLayout};
use crate::tablet::Tablet;

/// A tablet in its wire form, checked and borrowed. Nothing is copied; numbers are decoded on demand.
///
/// ```
/// # use tsloom_model::{DataType, TableSchema};
/// # use tsloom_tablet::{Tablet, TabletView};
/// # let table = TableSchema::builder("t").field("a", DataType::Int32).build()?;
/// # let mut tablet = Tablet::new(&table);
/// # tablet.extend_times(&[1, 2, 3]);
/// # tablet.column_mut(0).extend_i32s(&[7, 8, 9])?;
/// # let bytes = tablet.to_bytes();
/// let view = TabletView::parse(&bytes)?;
/// let mut values = vec![0; view.row_count()];
/// view.column(0).read_i32s(&mut values)?;
/// assert_eq!((view.column(0).name(), values), ("a", vec![7, 8, 9]));
/// # Ok::<(), tsloom_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TabletView<'a> {
    bytes: &'a [u8],
    layout: Layout<'a>,
}

/// The layout a view looks at. Its own is boxed, so that a view stays small to hand about.
#[derive(Clone, Debug)]
enum Layout<'a> {
    Owned(Box<TabletLayout>),
    Lent(&'a TabletLayout),
}

impl Deref for Layout<'_> {
    type Target = TabletLayout;

    #[inline]
    fn deref(&self) -> &TabletLayout {
        match self {
            Self::Owned(layout) => layout,
            Self::Lent(layout) => layout,
        }
    }
}

impl<'a> TabletView<'a> {
    /// Checks the bytes of one tablet.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] or [`ErrorKind::Corrupt`] with the position, when the bytes are no tablet, end inside it or go on
    /// after it; [`ErrorKind::Unsupported`] for a type, encoding or compression that is not known; [`ErrorKind::LimitExceeded`] for
    /// 4 GiB and more, which Java, where a buffer has less than 2 GiB, cannot have sent.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut layout = Box::<TabletLayout>::default();
        walk(bytes, &mut layout, layout::walk_head)?;
        Ok(Self { bytes, layout: Layout::Owned(layout) })
    }

    /// [`parse`](Self::parse) with memory that is used again and again: no allocation once it has grown, and no second look at a
    /// schema that is the one of the tablet before.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(bytes: &'a [u8], layout: &'a mut TabletLayout) -> Result<Self> {
        walk(bytes, layout, layout::walk_head_again)?;
        Ok(Self { bytes, layout: Layout::Lent(layout) })
    }

    /// The bytes of the tablet, as they came.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// An owned copy.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] when a TAG is no UTF-8.
    pub fn to_tablet(&self) -> Result<Tablet> {
        Tablet::parse(self.bytes)
    }

    /// Table name or device path; `None` is Java's null.
    pub fn target(&self) -> Option<&'a str> {
        self.layout.target.map(|span| checked_text(span.of(self.bytes)))
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.layout.row_count
    }

    /// Number of columns in the schema.
    pub fn column_count(&self) -> usize {
        self.layout.columns.len()
    }

    /// True when the tablet has a bitmap section.
    pub fn has_bitmap_section(&self) -> bool {
        self.layout.has_bitmap_section
    }

    /// The times: eight big-endian bytes a row.
    pub fn time_bytes(&self) -> &'a [u8] {
        let size = self.row_count() * 8;
        &self.bytes[self.layout.times_at..self.layout.times_at + size]
    }

    /// Decodes the times. Panics when `out` has another length than there are rows.
    pub fn read_times(&self, out: &mut [i64]) {
        bulk::read_i64s(self.time_bytes(), out);
    }

    /// A column. Panics when there is none with this index.
    pub fn column(&self, index: usize) -> WireColumn<'_> {
        let place = &self.layout.columns[index];
        let ends = match place.slots {
            Some(_) if place.data_type.is_text() => &self.layout.cell_ends[place.cells_at..place.cells_at + self.row_count()],
            _ => &[],
        };
        WireColumn { bytes: self.bytes, place, row_count: self.row_count(), ends }
    }

    /// All columns in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = WireColumn<'_>> {
        (0..self.column_count()).map(|index| self.column(index))
    }
}

fn walk(
    bytes: &[u8],
    layout: &mut TabletLayout,
    walk_head: impl Fn(&mut WireReader<'_>, &mut TabletLayout) -> Result<()>,
) -> Result<()> {
    let mut wire = layout::reader(bytes)?;
    walk_head(&mut wire, layout).and_then(|()| layout::walk_body(&mut wire, layout)).map_err(|error| error.in_place("tablet"))
}

fn checked_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the walk has checked the text")
}

/// One column of a [`TabletView`].
#[derive(Clone, Copy, Debug)]
pub struct WireColumn<'v> {
    bytes: &'v [u8],
    place: &'v ColumnPlace,
    row_count: usize,
    ends: &'v [u32],
}

macro_rules! read_typed {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $physical:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`fixed_slots`](Self::fixed_slots).
        ///
        /// # Panics
        /// When `out` has another length than there are rows.
        pub fn $name(&self, out: &mut [$type]) -> Result<()> {
            let slots = self.fixed_slots(PhysicalType::$physical)?;
            assert!(out.len() == self.row_count, "one value a row");
            bulk::$name(slots, out);
            Ok(())
        }
    )* };
}

impl<'v> WireColumn<'v> {
    /// The name, as on the wire.
    pub fn name(&self) -> &'v str {
        checked_text(self.place.name.of(self.bytes))
    }

    /// What the column holds.
    pub fn data_type(&self) -> DataType {
        self.place.data_type
    }

    /// How its pages are to be encoded.
    pub fn encoding(&self) -> Encoding {
        self.place.encoding
    }

    /// How its pages are to be compressed.
    pub fn compression(&self) -> Compression {
        self.place.compression
    }

    /// What the column is for.
    pub fn category(&self) -> ColumnCategory {
        self.place.category
    }

    /// Encoder properties in order; a value may be null.
    pub fn props(&self) -> impl Iterator<Item = (&'v str, Option<&'v str>)> {
        let mut wire = WireReader::new(&self.bytes[self.place.props_at as usize..]);
        (0..self.place.prop_count).map(move |_| {
            let key = wire.istr_present().expect("the walk has read the property");
            (key, wire.istr_utf8().expect("the walk has read the property"))
        })
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// False when the tablet has no values for the column at all.
    pub fn is_present(&self) -> bool {
        self.place.slots.is_some()
    }

    /// The column's bitmap, 1 = null, if one was sent.
    pub fn bitmap(&self) -> Option<BitMapView<'v>> {
        let bytes = self.place.bitmap?.of(self.bytes);
        BitMapView::new(bytes, self.row_count)
    }

    /// True when the row is marked, or its text cell is missing, or the column is absent.
    ///
    /// # Panics
    /// When `row` is past the last.
    pub fn is_null(&self, row: usize) -> bool {
        assert!(row < self.row_count, "row {row} of {}", self.row_count);
        if !self.is_present() || self.bitmap().is_some_and(|bitmap| bitmap.is_null(row)) {
            return true;
        }
        self.data_type().is_text() && self.cell(row).is_none()
    }

    /// Writes the null words of all rows: marked rows and missing text cells, or all rows of an absent column.
    ///
    /// # Panics
    /// When `out` is not one word for 64 rows.
    pub fn copy_nulls_to(&self, out: &mut [u64]) {
        if !self.is_present() {
            assert!(out.len() == self.row_count.div_ceil(64), "one word for 64 rows");
            out.fill(0);
            return tsloom_bitmap::words::set_range(out, 0, self.row_count);
        }
        match self.bitmap() {
            Some(bitmap) => bitmap.copy_nulls_to(out),
            None => {
                assert!(out.len() == self.row_count.div_ceil(64), "one word for 64 rows");
                out.fill(0);
            }
        }
        for row in 0..self.ends.len() {
            if self.cell(row).is_none() {
                tsloom_bitmap::words::set(out, row);
            }
        }
    }

    /// The slots of all rows as they lie, or `None` for an absent column.
    pub fn slots(&self) -> Option<&'v [u8]> {
        Some(self.place.slots?.of(self.bytes))
    }

    /// Position of the slots in the bytes of the tablet, or `None` for an absent column.
    pub fn slots_offset(&self) -> Option<usize> {
        Some(self.place.slots?.start as usize)
    }

    /// The big-endian slots of a column of this form.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] when the column has another form, [`ErrorKind::NotFound`] when it is absent.
    pub fn fixed_slots(&self, physical: PhysicalType) -> Result<&'v [u8]> {
        if self.data_type().physical() != physical {
            let message =
                format!("{} values were asked of a {} column", format!("{physical:?}").to_lowercase(), self.data_type());
            return Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(self.name()));
        }
        self.slots().ok_or_else(|| Error::new(ErrorKind::NotFound, "the tablet has no values").in_column(self.name()))
    }

    read_typed! {
        /// Decodes INT32 values, or days as yyyymmdd, null slots included.
        read_i32s: i32, Int32;
        /// Decodes INT64 values or timestamps, null slots included.
        read_i64s: i64, Int64;
        /// Decodes FLOAT values, null slots included.
        read_f32s: f32, Float;
        /// Decodes DOUBLE values, null slots included.
        read_f64s: f64, Double;
    }

    /// Decodes BOOLEAN values, null slots included. As in Java, only 01 is true.
    ///
    /// # Errors
    /// As [`fixed_slots`](Self::fixed_slots).
    ///
    /// # Panics
    /// When `out` has another length than there are rows.
    pub fn read_bools(&self, out: &mut [bool]) -> Result<()> {
        let slots = self.fixed_slots(PhysicalType::Boolean)?;
        assert!(out.len() == self.row_count, "one value a row");
        for (value, slot) in out.iter_mut().zip(slots) {
            *value = *slot == 1;
        }
        Ok(())
    }

    /// A text cell, in O(1); `None` when it is missing. Rows that are marked null may have one.
    ///
    /// # Panics
    /// When the column is absent or holds no text, or `row` is past the last.
    pub fn cell(&self, row: usize) -> Option<&'v [u8]> {
        let end = self.ends[row];
        let start = match row {
            0 => self.place.slots.expect("a column with cells is present").start,
            _ => self.ends[row - 1],
        };
        let cell = &self.bytes[start as usize..end as usize];
        (cell.len() >= 5).then(|| &cell[5..])
    }
}
