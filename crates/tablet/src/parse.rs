//! From the wire form to an owned tablet, in one walk.

mod cells;

use std::sync::Arc;

use tsloom_bitmap::BitMapView;
use tsloom_encoding::{WireReader, bulk};
use tsloom_model::{Result, Values, ValuesRef};

use crate::column::{Column, Marks};
use crate::head::TabletHead;
use crate::layout::{self, TabletLayout, cell_error};
use crate::tablet::{Tablet, is_tag, touch};

impl Tablet {
    /// Reads a tablet from its wire form.
    ///
    /// # Errors
    /// As [`TabletView::parse`](crate::TabletView::parse), and [`ErrorKind::Corrupt`](tsloom_model::ErrorKind::Corrupt) when a TAG is no
    /// UTF-8. The numbers of a DATE are taken as they come, as every reader of the format does; columns that are written judge them.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let (head, _) = read_head(bytes)?;
        let mut tablet = Self::from_head(Arc::new(head), 0);
        tablet.read(bytes)?;
        Ok(tablet)
    }

    /// Replaces this tablet by the one in `bytes`. Memory is reused, and so is the schema when it is the same: then nothing is
    /// allocated once the vectors have grown.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); the tablet is empty then, and its schema may be the one that was read.
    pub fn read(&mut self, bytes: &[u8]) -> Result<()> {
        let read = self.read_all(bytes).map_err(|error| error.in_place("tablet"));
        if read.is_err() {
            self.abandon();
        }
        read
    }

    fn read_all(&mut self, bytes: &[u8]) -> Result<()> {
        for index in self.touched.drain(..) {
            self.columns[index as usize].begin_read();
        }
        self.set_single_device(false);
        let mut wire = layout::reader(bytes)?;
        let row_count = match same_head(&self.head, bytes) {
            Some(row_count) => {
                wire.skip(self.head.wire().len())?;
                row_count
            }
            None => {
                let (head, after) = read_head(bytes)?;
                let row_count = after.row_count;
                *self = Self::from_head(Arc::new(head), 0);
                wire.skip(after.size)?;
                row_count
            }
        };

        let times = layout::times(&mut wire, row_count)?;
        self.times.resize(row_count, 0);
        bulk::read_i64s(times, &mut self.times);

        self.has_bitmap_section = wire.bool()?;
        if self.has_bitmap_section {
            for index in 0..self.columns.len() {
                if let Some(bitmap) = layout::bitmap(&mut wire, row_count)? {
                    self.columns[index].read_bitmap(bitmap, row_count);
                    touch(&mut self.touched, index);
                }
            }
        }
        if wire.bool()? {
            for index in 0..self.columns.len() {
                if wire.bool()? {
                    let schema = &self.head.columns()[index];
                    touch(&mut self.touched, index);
                    self.columns[index]
                        .read_slots(&mut wire, row_count, is_tag(schema))
                        .map_err(|error| error.in_column(&schema.name))?;
                }
            }
        }
        layout::end(&wire)?;
        self.forget_stale();
        Ok(())
    }

    /// Columns that were present before and are not now let go of their old values.
    fn forget_stale(&mut self) {
        self.settle_rows();
        for column in &mut self.columns {
            column.end_read();
        }
    }

    fn abandon(&mut self) {
        self.touched = (0..self.columns.len() as u32).collect();
        self.clear();
    }
}

/// What follows a head.
struct AfterHead {
    row_count: usize,
    size: usize,
}

fn read_head(bytes: &[u8]) -> Result<(TabletHead, AfterHead)> {
    let mut layout = TabletLayout::new();
    let mut wire = layout::reader(bytes)?;
    layout::walk_head(&mut wire, &mut layout).map_err(|error| error.in_place("tablet"))?;
    let target = layout.target.map(|span| String::from_utf8_lossy(span.of(bytes)).into_owned());
    let columns = layout.columns.iter().map(|place| layout::schema_of(bytes, place)).collect::<Result<Vec<_>>>()?;
    let after = AfterHead { row_count: layout.row_count, size: wire.position() };
    Ok((TabletHead::from_wire(target, columns), after))
}

/// The row count, when the bytes begin with this very head.
fn same_head(head: &TabletHead, bytes: &[u8]) -> Option<usize> {
    let wire = head.wire();
    let at = head.row_count_at();
    let same = bytes.get(..at)? == &wire[..at] && bytes.get(at + 4..wire.len())? == &wire[at + 4..];
    let row_count = i32::from_be_bytes(*bytes.get(at..)?.first_chunk::<4>()?);
    if same { usize::try_from(row_count).ok() } else { None }
}

impl Column {
    pub(crate) fn read_bitmap(&mut self, bytes: &[u8], row_count: usize) {
        let view = BitMapView::new(bytes, row_count).expect("the bitmap reaches to the last row");
        self.set_null_words(row_count, |words| view.copy_nulls_to(words));
    }

    /// Reads the slots of all rows.
    pub(crate) fn read_slots(&mut self, wire: &mut WireReader<'_>, row_count: usize, is_tag: bool) -> Result<()> {
        let (slots, base) = (wire.rest(), wire.position());
        self.read_values(wire, row_count)?;
        if is_tag { self.check_tags(|row| base + cells_size(slots, row)) } else { Ok(()) }
    }

    pub(crate) fn read_values(&mut self, wire: &mut WireReader<'_>, row_count: usize) -> Result<()> {
        let data_type = self.data_type();
        if let Some(width) = data_type.physical().width() {
            let slots = wire.bytes(row_count.saturating_mul(width))?;
            match self.values_mut() {
                Values::Boolean(values) => {
                    values.resize(row_count, false);
                    for (value, slot) in values.iter_mut().zip(slots) {
                        *value = *slot == 1;
                    }
                }
                Values::Int32(values) => read_numbers(values, slots, row_count, bulk::read_i32s),
                Values::Int64(values) => read_numbers(values, slots, row_count, bulk::read_i64s),
                Values::Float(values) => read_numbers(values, slots, row_count, bulk::read_f32s),
                Values::Double(values) => read_numbers(values, slots, row_count, bulk::read_f64s),
                Values::Text(_) => unreachable!("text has no width"),
            }
            self.settle_null_slots(row_count);
            return Ok(());
        }
        self.read_cells(wire, row_count)
    }

    fn read_cells(&mut self, wire: &mut WireReader<'_>, row_count: usize) -> Result<()> {
        let is_marked = self.null_count() > 0;
        let base = wire.position();
        let (text, nulls) = self.text_parts();
        let cells =
            cells::read(wire.rest(), row_count, text, nulls, is_marked).map_err(|(error, at)| cell_error(error, base + at))?;
        wire.skip(cells.size)?;
        self.raise_longest(cells.longest);
        if cells.has_unmarked {
            self.recount_nulls(row_count);
            self.set_marks(if is_marked { Marks::Bitmap } else { Marks::MissingCells });
        }
        Ok(())
    }

    /// Tags are UTF-8 where they are not null; anything goes in other columns, also in a DATE. `position` says where the slot of a row
    /// lies.
    pub(crate) fn check_tags(&self, position: impl Fn(usize) -> usize) -> Result<()> {
        let Some(ValuesRef::Text(text)) = self.values() else { return Ok(()) };
        let is_null = |row: usize| self.nulls(self.len()).is_some_and(|nulls| nulls.is_null(row));
        let is_bad = |row: &usize| !is_null(*row) && std::str::from_utf8(text.get(*row)).is_err();
        match (0..text.len()).find(is_bad) {
            Some(row) => Err(layout::corrupt(position(row), format!("the TAG of row {row} is not UTF-8"))),
            None => Ok(()),
        }
    }
}

/// Bytes of the first `count` text cells; they have been read before.
fn cells_size(bytes: &[u8], count: usize) -> usize {
    (0..count).fold(0, |at, _| at + layout::cell_size(&bytes[at..]).unwrap_or(0))
}

fn read_numbers<T: Copy + Default>(values: &mut Vec<T>, slots: &[u8], row_count: usize, read: impl Fn(&[u8], &mut [T])) {
    values.resize(row_count, T::default());
    read(slots, values);
}
