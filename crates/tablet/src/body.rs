//! The body alone: rows for a reader that has the schema already and is told which columns are present. The log's form.
//!
//! ```text
//! 01, row count x i64                                         times
//! 01, then for each present column: a bitmap, or 00           as in the wire form
//! 01, then for each present column: 01, row count x slot      as in the wire form
//! ```
//!
//! These are exactly the bytes that follow the schema section in the wire form of a tablet that has the present columns only;
//! a column that is absent costs nothing here.

use std::sync::Arc;

use tsloom_bitmap::BitMap;
use tsloom_encoding::{WireReader, bulk};
use tsloom_model::Result;

use crate::head::TabletHead;
use crate::layout;
use crate::rows::{ColumnRows, TabletRef};
use crate::spare;
use crate::tablet::{Tablet, is_tag, touch};
use crate::wire::{Place, bitmap_head, fill_bitmap, fill_slots};

impl<'a> TabletRef<'a> {
    /// Indexes of the present columns, ascending.
    pub fn present_columns(&self) -> impl Iterator<Item = usize> {
        self.present().map(|column| column.index)
    }

    fn present(&self) -> impl Iterator<Item = ColumnRows<'a>> {
        self.written_columns().filter(|column| column.values.is_some())
    }

    /// Exact number of bytes that [`append_body`](Self::append_body) appends.
    pub fn body_size(&self) -> usize {
        let mut size = 3 + self.row_count() * 8;
        for column in self.present() {
            size += 2;
            if column.nulls.is_some() && column.is_marked {
                size += 8 + BitMap::wire_bytes(self.row_count());
            }
            size += column.values.map_or(0, |values| column.slots_size(values));
        }
        size
    }

    /// Appends the body to `out`.
    pub fn append_body(&self, out: &mut Vec<u8>) {
        let size = self.body_size();
        out.reserve(size);
        let is_filled = spare::fill(out, size, |spare| {
            let mut place = Place { rest: spare };
            place.put([1]);
            bulk::write_i64s(place.take(self.row_count() * 8), self.times());
            place.put([1]);
            for column in self.present() {
                match column.nulls.filter(|_| column.is_marked) {
                    Some(nulls) => {
                        place.put(bitmap_head(self.row_count()));
                        fill_bitmap(place.take(BitMap::wire_bytes(self.row_count())), nulls);
                    }
                    None => place.put([0]),
                }
            }
            place.put([1]);
            for column in self.present() {
                if let Some(values) = column.values {
                    place.put([1]);
                    fill_slots(place.take(column.slots_size(values)), values, &column);
                }
            }
            assert!(place.rest.is_empty(), "body_size is what was written");
        });
        assert!(is_filled, "the vector has the room that was reserved");
    }
}

impl Tablet {
    /// Reads a body. `present` are the indexes of its columns in `head`, ascending; all others are absent.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`](tsloom_model::ErrorKind::Truncated) or [`ErrorKind::Corrupt`](tsloom_model::ErrorKind::Corrupt)
    /// with the position, when the bytes are no such body or go on after it.
    ///
    /// # Panics
    /// When an index is not in `head`.
    pub fn parse_body(head: &Arc<TabletHead>, present: &[u32], row_count: usize, wire: &mut WireReader<'_>) -> Result<Self> {
        let mut tablet = Self::from_head(Arc::clone(head), 0);
        let times = layout::times(wire, row_count)?;
        tablet.times.resize(row_count, 0);
        bulk::read_i64s(times, &mut tablet.times);
        for index in present {
            touch(&mut tablet.touched, *index as usize);
        }
        expect_section(wire, "bitmaps")?;
        for index in present {
            if let Some(bitmap) = layout::bitmap(wire, row_count)? {
                tablet.columns[*index as usize].read_bitmap(bitmap, row_count);
            }
        }
        expect_section(wire, "values")?;
        for index in present {
            let schema = &head.columns()[*index as usize];
            expect_section(wire, "a column").map_err(|error| error.in_column(&schema.name))?;
            tablet.columns[*index as usize]
                .read_slots(wire, row_count, is_tag(schema))
                .map_err(|error| error.in_column(&schema.name))?;
        }
        layout::end(wire)?;
        tablet.settle_rows();
        Ok(tablet)
    }
}

fn expect_section(wire: &mut WireReader<'_>, what: &str) -> Result<()> {
    let at = wire.position();
    if wire.bool()? { Ok(()) } else { Err(layout::corrupt(at, format!("a body without {what}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsloom_model::{ColumnView, DataType, ErrorKind, TableSchema, Value};

    fn schema() -> TableSchema {
        let mut builder = TableSchema::builder("t").tag("tag");
        for (name, data_type) in
            [("b", DataType::Boolean), ("i", DataType::Int32), ("d", DataType::Double), ("s", DataType::Text)]
        {
            builder = builder.field(name, data_type);
        }
        builder.field("date", DataType::Date).field("never", DataType::Int64).build().unwrap()
    }

    /// Rows with nulls of every kind; column `never` is absent.
    fn tablet(rows: i64) -> Tablet {
        let mut tablet = Tablet::new(&schema());
        for row in 0..rows {
            let odd = row % 2 == 1;
            let null_if = |is_null: bool, value: Value<'static>| if is_null { Value::Null } else { value };
            let values = [
                null_if(row == 0, "device".into()),
                true.into(),
                null_if(odd, 7.into()),
                0.5.into(),
                null_if(!odd, "text".into()),
                null_if(odd, Value::Int32(20_240_229)),
                Value::Null,
            ];
            tablet.push_row(row, &values).unwrap();
        }
        tablet
    }

    fn body(rows: &TabletRef<'_>) -> (Vec<u32>, Vec<u8>) {
        let mut out = b"before".to_vec();
        rows.append_body(&mut out);
        assert_eq!(out.len(), 6 + rows.body_size());
        (rows.present_columns().map(|index| index as u32).collect(), out.split_off(6))
    }

    fn check(rows: &TabletRef<'_>) {
        let (present, bytes) = body(rows);
        let head = Arc::new(rows.head().clone());
        let read = Tablet::parse_body(&head, &present, rows.row_count(), &mut WireReader::new(&bytes)).unwrap();
        assert_eq!(read.to_bytes(), rows.to_tablet().to_bytes());
    }

    #[test]
    fn what_is_written_is_read() {
        for rows in [0, 1, 2, 7, 8, 9, 64, 65, 130] {
            check(&tablet(rows).as_ref());
        }
        check(&tablet(20).slice(3..11));
        check(&Tablet::new(&schema()).as_ref());
    }

    #[test]
    fn borrowed_columns_give_the_same_body() {
        let owned = tablet(20);
        let columns: Vec<Option<ColumnView<'_>>> = (0..7).map(|index| owned.column(index)).collect();
        let lent = TabletRef::from_columns(owned.head(), owned.times(), &columns).unwrap();
        assert_eq!(body(&lent), body(&owned.as_ref()));
    }

    #[test]
    fn it_is_the_wire_form_of_the_present_columns_behind_their_schema() {
        let rows = tablet(9);
        let present: Vec<usize> = rows.present_columns().collect();
        assert_eq!(present, [0, 1, 2, 3, 4, 5]);
        let columns = present.iter().map(|index| rows.columns()[*index].clone()).collect();
        let small = TabletHead::for_table(&TableSchema::from_stored("t", columns).unwrap());
        let views: Vec<Option<ColumnView<'_>>> = present.iter().map(|index| rows.column(*index)).collect();
        let wire = TabletRef::from_columns(&small, rows.times(), &views).unwrap();
        let size = wire.serialized_size();
        let mut bytes = vec![0; size];
        wire.write_into(&mut bytes).unwrap();
        assert_eq!(body(&rows.as_ref()).1, bytes[small.wire().len()..]);
    }

    #[test]
    fn cut_anywhere_it_is_an_error() {
        let rows = tablet(9);
        let (present, bytes) = body(&rows.as_ref());
        let parse = |bytes: &[u8]| Tablet::parse_body(rows.head(), &present, 9, &mut WireReader::new(bytes));
        for size in 0..bytes.len() {
            assert_eq!(parse(&bytes[..size]).unwrap_err().kind(), ErrorKind::Truncated, "{size}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(parse(&longer).unwrap_err().kind(), ErrorKind::Corrupt);
        let huge = Tablet::parse_body(rows.head(), &present, usize::MAX, &mut WireReader::new(&bytes));
        assert!(huge.is_err());
    }
}
