//! The buffers of IoTDB's insert-tablet request: what its clients (Java, Python, C++, Go) put beside names and types.
//!
//! ```text
//! times    row count x i64
//! values   for each column, row count slots:
//!            BOOLEAN 1 byte; INT32, FLOAT, DATE 4; INT64, DOUBLE, TIMESTAMP 8, big-endian
//!            TEXT, STRING, BLOB i32 size, bytes: no flag in front, a null cell is empty
//!          then, only if some row of some column is null, for each column:
//!            bool has nulls; if so rows / 8 + 1 bytes, low bit first, 1 = null
//! ```
//!
//! Slots of null rows hold 0, false or nothing, as the Python client sends them. A reader takes any content there, and also flags that
//! are all 0, as Java sends them. There is no absent column here: one that a tablet does not have is sent as all null.
//! Proof: `fixtures/iotdb`, made with the PyPI package `apache-iotdb`.

use std::sync::Arc;

use tsloom_bitmap::{BitMap, BitMapView};
use tsloom_encoding::{WirePut, WireReader, bulk};
use tsloom_model::{DataType, Result, ValuesRef};

use crate::column::Column;
use crate::head::TabletHead;
use crate::layout;
use crate::rows::TabletRef;
use crate::tablet::{Tablet, is_tag, touch};

impl TabletRef<'_> {
    /// Appends the times buffer.
    pub fn append_insert_times(&self, out: &mut Vec<u8>) {
        bulk::write_i64s(extended(out, self.row_count() * 8), self.times());
    }

    /// Appends the values buffer.
    pub fn append_insert_values(&self, out: &mut Vec<u8>) {
        let row_count = self.row_count();
        let mut written = self.written_columns().peekable();
        for (index, schema) in self.columns().iter().enumerate() {
            match written.next_if(|column| column.index == index).and_then(|column| column.values) {
                Some(values) => append_slots(out, schema.data_type, values, self.nulls_of(index)),
                None => append_null_slots(out, schema.data_type, row_count),
            }
        }
        let has_nulls = (0..self.columns().len()).any(|index| self.column(index).is_none_or(|column| column.null_count() > 0));
        if !has_nulls || row_count == 0 {
            return;
        }
        for index in 0..self.columns().len() {
            let nulls = self.nulls_of(index);
            let is_absent = self.column(index).is_none();
            out.put_bool(is_absent || nulls.is_some());
            match nulls {
                Some(nulls) => crate::wire::fill_bitmap(extended(out, BitMap::wire_bytes(row_count)), nulls),
                None if is_absent => append_all_marked(out, row_count),
                None => {}
            }
        }
    }

    fn nulls_of(&self, index: usize) -> Option<tsloom_bitmap::NullWords<'_>> {
        self.column(index)?.nulls().filter(tsloom_bitmap::NullWords::any_null)
    }
}

impl Tablet {
    /// Reads the two buffers of an insert-tablet request; names and types come in `head`.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`](tsloom_model::ErrorKind::Truncated) or [`ErrorKind::Corrupt`](tsloom_model::ErrorKind::Corrupt) with
    /// the position, when a buffer ends too early or too late, a size is negative or a TAG is no UTF-8.
    pub fn from_insert_buffers(head: &Arc<TabletHead>, row_count: usize, times: &[u8], values: &[u8]) -> Result<Self> {
        let mut tablet = Self::from_head(Arc::clone(head), 0);
        let times = insert_times(times, row_count).map_err(|error| error.in_place("insert-tablet times"))?;
        tablet.times.resize(row_count, 0);
        bulk::read_i64s(times, &mut tablet.times);
        let mut wire = layout::reader(values)?;
        tablet.read_insert_values(&mut wire).map_err(|error| error.in_place("insert-tablet values"))?;
        Ok(tablet)
    }

    fn read_insert_values(&mut self, wire: &mut WireReader<'_>) -> Result<()> {
        let row_count = self.times.len();
        let schemas = self.head.columns();
        let slots = wire.clone();
        let mut slots_at = Vec::with_capacity(schemas.len());
        for (index, (column, schema)) in self.columns.iter_mut().zip(schemas).enumerate() {
            touch(&mut self.touched, index);
            slots_at.push(wire.position());
            column.read_insert_slots(wire, row_count).map_err(|error| error.in_column(&schema.name))?;
        }
        if !wire.is_empty() {
            for column in &mut self.columns {
                if wire.bool()? {
                    let bytes = wire.bytes(BitMap::wire_bytes(row_count))?;
                    let view = BitMapView::new(bytes, row_count).expect("n / 8 + 1 bytes reach to row n");
                    column.set_null_words(row_count, |words| view.copy_nulls_to(words));
                    column.settle_null_slots(row_count);
                }
            }
        }
        // Now that it is known which slots are those of nulls.
        for ((column, schema), slots_at) in self.columns.iter().zip(schemas).zip(slots_at) {
            if is_tag(schema) {
                let position = |row: usize| position_of_cell(slots.clone(), slots_at, row);
                column.check_tags(position).map_err(|error| error.in_column(&schema.name))?;
            }
        }
        self.settle_rows();
        layout::end(wire)
    }
}

fn insert_times(bytes: &[u8], row_count: usize) -> Result<&[u8]> {
    let mut wire = layout::reader(bytes)?;
    let times = wire.bytes(row_count.saturating_mul(8))?;
    layout::end(&wire)?;
    Ok(times)
}

/// Where a cell lies that was read before.
fn position_of_cell(mut wire: WireReader<'_>, slots_at: usize, row: usize) -> usize {
    let cells_fit = wire.skip(slots_at - wire.position()).is_ok() && (0..row).all(|_| wire.ibin().is_ok());
    debug_assert!(cells_fit, "the cells were read before");
    wire.position()
}

impl Column {
    fn read_insert_slots(&mut self, wire: &mut WireReader<'_>, row_count: usize) -> Result<()> {
        if !self.data_type().is_text() {
            return self.read_values(wire, row_count);
        }
        let mut longest = 0;
        let (text, _) = self.text_parts();
        for _ in 0..row_count {
            let cell = wire.ibin()?;
            longest = longest.max(cell.len() as u32);
            text.push(cell);
        }
        self.raise_longest(longest);
        Ok(())
    }
}

fn append_slots(out: &mut Vec<u8>, data_type: DataType, values: ValuesRef<'_>, nulls: Option<tsloom_bitmap::NullWords<'_>>) {
    let start = out.len();
    let Some(width) = data_type.physical().width() else {
        if let ValuesRef::Text(text) = values {
            for (row, cell) in text.iter().enumerate() {
                out.put_ibin(if nulls.is_some_and(|nulls| nulls.is_null(row)) { b"" } else { cell });
            }
        }
        return;
    };
    let place = extended(out, values.len() * width);
    match values {
        ValuesRef::Boolean(values) => bulk::write_bools(place, values),
        ValuesRef::Int32(values) => bulk::write_i32s(place, values),
        ValuesRef::Int64(values) => bulk::write_i64s(place, values),
        ValuesRef::Float(values) => bulk::write_f32s(place, values),
        ValuesRef::Double(values) => bulk::write_f64s(place, values),
        ValuesRef::Text(_) => unreachable!("text has no width"),
    }
    for row in nulls.into_iter().flat_map(|nulls| nulls.ones()) {
        out[start + row * width..start + (row + 1) * width].fill(0);
    }
}

/// Zeros: numbers, false, or the sizes of empty cells.
fn append_null_slots(out: &mut Vec<u8>, data_type: DataType, row_count: usize) {
    extended(out, row_count * data_type.physical().width().unwrap_or(4));
}

fn append_all_marked(out: &mut Vec<u8>, row_count: usize) {
    let bytes = extended(out, BitMap::wire_bytes(row_count));
    bytes.fill(0xff);
    bytes[row_count / 8] = !(0xff << (row_count % 8));
}

/// `size` more bytes at the end of `out`.
fn extended(out: &mut Vec<u8>, size: usize) -> &mut [u8] {
    let start = out.len();
    out.resize(start + size, 0);
    &mut out[start..]
}
