//! The last row of each device, which waits for rows of the same time before it is written.
//!
//! A TsFile takes the rows of a device in rising time and takes nothing back. So a row stays here until its device has
//! a later one; what repeats its time is merged into it, per column the latest value that is not null.

use std::collections::HashMap;
use std::mem;

use tsloom::model::Cell;

use crate::args::OnDuplicate;
use crate::failure::Outcome;
use crate::input::rows::Row;

/// The rows that wait, one a device.
pub(crate) struct LastRows {
    /// Which cells of a row are its tags.
    tags: Vec<usize>,
    on_duplicate: OnDuplicate,
    /// Index into `rows` by the device's tags in the form of `key`.
    devices: HashMap<Box<[u8]>, usize>,
    /// In the order in which the devices first came.
    rows: Vec<Row>,
    /// Of the row at hand.
    key: Vec<u8>,
}

/// Why a row cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Its device is at a later time already.
    GoesBack {
        /// That time.
        last_time: i64,
    },
    /// Its time is there already, and duplicates are errors.
    Duplicate {
        /// Where the first row with this time is.
        line: u64,
    },
}

impl LastRows {
    /// No rows yet. `tags` says which cells of a row are its tags.
    pub(crate) fn new(tags: Vec<usize>, on_duplicate: OnDuplicate) -> Self {
        Self { tags, on_duplicate, devices: HashMap::new(), rows: Vec::new(), key: Vec::new() }
    }

    /// Takes `row` to let it wait, and gives the row of its device that waited until now, if that is complete, to `write`.
    /// `row` has other content afterwards.
    pub(crate) fn take(&mut self, row: &mut Row, write: impl FnOnce(&Row) -> Outcome) -> Outcome<Result<(), Refused>> {
        self.set_key(row);
        let Some(&index) = self.devices.get(&self.key[..]) else {
            self.devices.insert(self.key.as_slice().into(), self.rows.len());
            self.rows.push(mem::take(row));
            return Ok(Ok(()));
        };
        let last = &mut self.rows[index];
        if row.time < last.time {
            return Ok(Err(Refused::GoesBack { last_time: last.time }));
        }
        if row.time > last.time {
            write(last)?;
            mem::swap(last, row);
            return Ok(Ok(()));
        }
        if self.on_duplicate == OnDuplicate::Error {
            return Ok(Err(Refused::Duplicate { line: last.line }));
        }
        for (kept, cell) in last.cells.iter_mut().zip(&mut row.cells) {
            if *cell != Cell::Null {
                mem::swap(kept, cell);
            }
        }
        Ok(Ok(()))
    }

    /// Number of devices.
    pub(crate) fn device_count(&self) -> usize {
        self.rows.len()
    }

    /// The rows that still wait, in the order in which their devices first came.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Each tag as a byte that tells null from text, its length and its bytes.
    fn set_key(&mut self, row: &Row) {
        self.key.clear();
        for &tag in &self.tags {
            match &row.cells[tag] {
                Cell::Text(bytes) => {
                    self.key.push(1);
                    self.key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                    self.key.extend_from_slice(bytes);
                }
                _ => self.key.push(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time: i64, tag: Option<&str>, values: [Option<i64>; 2]) -> Row {
        let tag = tag.map_or(Cell::Null, |tag| Cell::Text(tag.as_bytes().to_vec()));
        let [a, b] = values.map(|value| value.map_or(Cell::Null, Cell::Int64));
        Row { time, cells: vec![tag, a, b], line: 7 }
    }

    fn text(row: &Row) -> String {
        let cells = row.cells.iter().map(|cell| format!("{:?}", cell.value()));
        format!("{} {}", row.time, cells.collect::<Vec<_>>().join(" "))
    }

    /// What is written, in order, when the rows are taken one by one.
    fn written(rows: Vec<Row>) -> Vec<String> {
        let mut last = LastRows::new(vec![0], OnDuplicate::Last);
        let mut written = Vec::new();
        for mut row in rows {
            let taken = last.take(&mut row, |row| {
                written.push(text(row));
                Ok(())
            });
            assert_eq!(taken.unwrap(), Ok(()));
        }
        written.extend(last.into_rows().iter().map(text));
        written
    }

    #[test]
    fn a_row_waits_for_the_next_time_of_its_device() {
        let rows = vec![
            row(1, Some("x"), [Some(1), None]),
            row(9, None, [Some(2), None]),
            row(2, Some("x"), [Some(3), None]),
            row(2, Some(""), [Some(4), None]),
        ];
        assert_eq!(written(rows), ["1 \"x\" 1 null", "2 \"x\" 3 null", "9 null 2 null", "2 \"\" 4 null"]);
    }

    #[test]
    fn the_latest_value_that_is_not_null_wins() {
        let rows =
            vec![row(2, Some("x"), [Some(1), Some(2)]), row(2, Some("x"), [None, Some(3)]), row(2, Some("x"), [Some(4), None])];
        assert_eq!(written(rows), ["2 \"x\" 4 3"]);
    }

    #[test]
    fn what_cannot_be_taken_is_said() {
        let nothing = |_: &Row| Ok(());
        let mut last = LastRows::new(vec![0], OnDuplicate::Error);
        last.take(&mut row(i64::MAX, None, [None, None]), nothing).unwrap().unwrap();
        let refused = last.take(&mut row(i64::MIN, None, [None, None]), nothing).unwrap();
        assert_eq!(refused, Err(Refused::GoesBack { last_time: i64::MAX }));
        let refused = last.take(&mut row(i64::MAX, None, [None, None]), nothing).unwrap();
        assert_eq!(refused, Err(Refused::Duplicate { line: 7 }));
    }
}
