//! The wire form: `Tablet.serialize()` of apache/tsfile (Java), in its newer bitmap form.
//!
//! ```text
//! istr  target                              -1 = null
//! i32   row count
//! bool  schemas present = 1, i32 column count, then for each column
//!         bool present = 1, istr name, u8 type, u8 encoding, u8 compression,
//!         i32 property count, each istr key, istr value (-1 = null), u8 category
//! bool  times present = 1, row count x i64
//! bool  bitmaps present, then for each column
//!         bool present (a null among the rows), i32 row count, i32 size = rows / 8 + 1, bytes (low bit first, 1 = null)
//! bool  values present = 1, then for each column
//!         bool present, row count x slot
//! slot  BOOLEAN 1 byte; INT32, FLOAT, DATE 4; INT64, DOUBLE, TIMESTAMP 8, big-endian, NaN canonical
//!       TEXT, STRING, BLOB 00 (missing) or 01, i32 size, bytes
//! ```
//!
//! Null rows keep a slot: 0, false, the date 10000101, a missing cell. Bits at and above the row count are 0.
//! Proof: every file in `fixtures/tablet`, both directions.
//!
//! The size is known first, in O(columns), and every byte is written once into a place cut to that size: a slice, the
//! spare capacity of a buffer, or (for anything else) a small buffer that is emptied again and again.

pub(crate) mod cells;
mod stream;

use bytes::{BufMut, Bytes};
use tsloom_bitmap::{BitMap, NullWords};
use tsloom_encoding::bulk::{self, Slot};
use tsloom_model::{DataType, Date, Error, ErrorKind, Result, ValuesRef};

use crate::rows::{ColumnRows, TabletRef};
use crate::spare;
use crate::tablet::Tablet;

impl TabletRef<'_> {
    /// Exact number of bytes of the wire form. O(columns), not O(rows), for whole tablets.
    pub fn serialized_size(&self) -> usize {
        let column_count = self.columns().len();
        let flags = 3 + column_count + if self.has_bitmap_section() { column_count } else { 0 };
        self.head().wire().len() + self.row_count() * 8 + flags + self.columns_size()
    }

    /// Writes the wire form to the front of `out` and leaves the rest alone. Returns the bytes written.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when `out` is too small; nothing is written then.
    pub fn write_into(&self, out: &mut [u8]) -> Result<usize> {
        let size = self.serialized_size();
        let room = out.len();
        let out = out.get_mut(..size).ok_or_else(|| too_small(size, room))?;
        self.fill(out);
        Ok(size)
    }

    /// Appends the wire form to a buffer. Returns the bytes written. A buffer that grows takes it in one piece when it has
    /// [`serialized_size`](Self::serialized_size) bytes reserved; otherwise piece by piece, growing as it likes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the buffer cannot take that much; nothing is written then.
    pub fn write_to(&self, out: &mut impl BufMut) -> Result<usize> {
        let size = self.serialized_size();
        if out.remaining_mut() < size {
            return Err(too_small(size, out.remaining_mut()));
        }
        if !spare::fill(out, size, |spare| self.fill(spare)) {
            self.stream(&mut |bytes| {
                out.put_slice(bytes);
                Ok(())
            })?;
        }
        Ok(size)
    }

    /// The wire form, in one allocation of exactly its size.
    pub fn to_bytes(&self) -> Bytes {
        let size = self.serialized_size();
        let mut out = Vec::with_capacity(size);
        let is_filled = spare::fill(&mut out, size, |spare| self.fill(spare));
        assert!(is_filled, "the vector has the capacity it was made with");
        Bytes::from(out)
    }

    /// Writes the wire form to a stream, through a small buffer on the stack. Returns the bytes written.
    ///
    /// # Errors
    /// Whatever the stream says.
    pub fn write_io(&self, out: &mut impl std::io::Write) -> Result<usize> {
        self.stream(&mut |bytes| Ok(out.write_all(bytes)?))?;
        Ok(self.serialized_size())
    }

    /// Writes the wire form into a place of exactly its size.
    fn fill<S: Slot>(&self, out: &mut [S]) {
        let row_count = self.row_count();
        let column_count = self.columns().len();
        let mut place = Place { rest: out };

        let head = place.take(self.head().wire().len());
        S::copy(head, self.head().wire());
        let at = self.head().row_count_at();
        S::copy(&mut head[at..at + 4], &wire_row_count(row_count));

        place.put([1]);
        bulk::write_i64s(place.take(row_count * 8), self.times());

        if self.has_bitmap_section() {
            place.put([1]);
            let mut next = 0;
            for (index, nulls) in self.marked_columns() {
                place.zeros(index - next);
                next = index + 1;
                place.put(bitmap_head(row_count));
                fill_bitmap(place.take(BitMap::wire_bytes(row_count)), nulls);
            }
            place.zeros(column_count - next);
        } else {
            place.put([0]);
        }

        place.put([1]);
        let mut next = 0;
        self.each_written(|column| {
            if let Some(values) = column.values {
                place.zeros(column.index - next);
                next = column.index + 1;
                place.put([1]);
                fill_slots(place.take(column.slots_size(values)), values, column);
            }
        });
        place.zeros(column_count - next);
        assert!(place.rest.is_empty(), "serialized_size is what was written");
    }
}

macro_rules! forward {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Tablet { $(
            $(#[$doc])*
            pub fn $name(&self, $($arg: $type),*) -> $result {
                self.as_ref().$name($($arg),*)
            }
        )* }
    };
}

forward! {
    /// Exact number of bytes of the wire form. O(columns), not O(rows).
    fn serialized_size() -> usize;
    /// Writes the wire form to the front of `out` and leaves the rest alone. Returns the bytes written.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when `out` is too small; nothing is written then.
    fn write_into(out: &mut [u8]) -> Result<usize>;
    /// Appends the wire form to a buffer. Returns the bytes written.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the buffer cannot take that much; nothing is written then.
    fn write_to(out: &mut impl BufMut) -> Result<usize>;
    /// The wire form, in one allocation of exactly its size.
    fn to_bytes() -> Bytes;
    /// Writes the wire form to a stream, through a small buffer on the stack. Returns the bytes written.
    ///
    /// # Errors
    /// Whatever the stream says.
    fn write_io(out: &mut impl std::io::Write) -> Result<usize>;
}

/// A place that is filled from the front.
pub(crate) struct Place<'a, S> {
    pub(crate) rest: &'a mut [S],
}

impl<'a, S: Slot> Place<'a, S> {
    pub(crate) fn take(&mut self, size: usize) -> &'a mut [S] {
        self.rest.split_off_mut(..size).expect("serialized_size is what is written")
    }

    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        S::copy(self.take(N), &bytes);
    }

    fn zeros(&mut self, count: usize) {
        self.take(count).fill(S::new(0));
    }
}

fn wire_row_count(row_count: usize) -> [u8; 4] {
    i32::try_from(row_count).expect("a tablet has fewer than 2^31 rows").to_be_bytes()
}

/// Flag, row count and size of a bitmap.
pub(crate) fn bitmap_head(row_count: usize) -> [u8; 9] {
    let mut head = [1; 9];
    head[1..5].copy_from_slice(&wire_row_count(row_count));
    head[5..].copy_from_slice(&wire_row_count(BitMap::wire_bytes(row_count)));
    head
}

pub(crate) fn fill_bitmap<S: Slot>(out: &mut [S], nulls: NullWords<'_>) {
    for (index, slots) in out.chunks_mut(8).enumerate() {
        let bytes = nulls.word(index).to_le_bytes();
        S::copy(slots, &bytes[..slots.len()]);
    }
}

/// Writes the slots of a column into a place of exactly their size.
#[inline]
pub(crate) fn fill_slots<S: Slot>(out: &mut [S], values: ValuesRef<'_>, column: &ColumnRows<'_>) {
    match values {
        ValuesRef::Boolean(values) => bulk::write_bools(out, values),
        ValuesRef::Int32(values) => bulk::write_i32s(out, values),
        ValuesRef::Int64(values) => bulk::write_i64s(out, values),
        ValuesRef::Float(values) => bulk::write_f32s(out, values),
        ValuesRef::Double(values) => bulk::write_f64s(out, values),
        ValuesRef::Text(text) => return cells::fill(out, text, column.nulls, column.longest),
    }
    if !column.is_settled
        && let Some(nulls) = column.nulls
    {
        fill_placeholders(out, column.data_type, nulls);
    }
}

/// Overwrites the slots of null rows with what stands there on the wire.
fn fill_placeholders<S: Slot>(out: &mut [S], data_type: DataType, nulls: NullWords<'_>) {
    let width = data_type.physical().width().expect("text has no placeholder to overwrite");
    let date = Date::MIN.yyyymmdd().to_be_bytes();
    for row in nulls.ones() {
        let slot = &mut out[row * width..(row + 1) * width];
        match data_type {
            DataType::Date => S::copy(slot, &date),
            _ => slot.fill(S::new(0)),
        }
    }
}

#[cold]
fn too_small(size: usize, room: usize) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("the tablet has {size} bytes, the buffer room for {room}"))
}
