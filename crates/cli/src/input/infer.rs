//! What types the columns have, judged by all the rows that are shown.

use tsloom::DataType;

use super::cell::{Fits, Nulls, is_special};
use super::record::{CellForm, Record};

/// What is known about one column so far.
#[derive(Clone, Copy, Debug)]
struct Guess {
    fits: Fits,
    has_value: bool,
    has_hex: bool,
}

/// What is known about all columns so far.
#[derive(Clone, Debug)]
pub(crate) struct Guesses {
    columns: Vec<Guess>,
    quoted_is_text: bool,
}

impl Guesses {
    /// Nothing is known about `column_count` columns. With `quoted_is_text` what stands in quotes is no number, though it may look
    /// like one, except the words for those that JSON does not have.
    pub(crate) fn new(column_count: usize, quoted_is_text: bool) -> Self {
        let nothing = Guess { fits: Fits::ALL, has_value: false, has_hex: false };
        Self { columns: vec![nothing; column_count], quoted_is_text }
    }

    /// Looks at one record. One that has another number of cells says nothing; whoever reads the rows will complain.
    pub(crate) fn observe(&mut self, record: &Record, nulls: &Nulls) {
        if record.len() != self.columns.len() {
            return;
        }
        for (guess, cell) in self.columns.iter_mut().zip(record.iter()) {
            if nulls.covers(cell) {
                continue;
            }
            guess.has_value = true;
            guess.has_hex |= cell.form == CellForm::Hex;
            if guess.fits.narrowest() != DataType::String {
                let fits = match std::str::from_utf8(cell.text) {
                    Ok(text) if self.quoted_is_text && cell.form == CellForm::Quoted && !is_special(text) => Fits::NONE,
                    Ok(text) => Fits::of(text.trim_ascii()),
                    Err(_) => Fits::NONE,
                };
                guess.fits = guess.fits.and(fits);
            }
        }
    }

    /// The narrowest type that holds every cell that was shown; STRING where there was none, BLOB where one was of hex digits.
    pub(crate) fn data_type(&self, column: usize) -> DataType {
        let guess = self.columns[column];
        if guess.has_hex {
            return DataType::Blob;
        }
        if guess.has_value { guess.fits.narrowest() } else { DataType::String }
    }

    /// Whether any cell of the column had a value.
    pub(crate) fn has_value(&self, column: usize) -> bool {
        self.columns[column].has_value
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{RecordForm, Records};
    use super::*;

    fn check(cells: &str, expected: DataType) {
        let mut records = Records::of(RecordForm::Csv, cells.as_bytes());
        let mut record = Record::default();
        let mut guesses = Guesses::new(2, false);
        while records.read(&mut record).unwrap() {
            guesses.observe(&record, &Nulls { texts: vec!["-".to_owned()] });
        }
        assert_eq!(guesses.data_type(1), expected, "{cells:?}");
    }

    #[test]
    fn one_cell_widens_the_whole_column() {
        check("0,1\n0,2\n", DataType::Int64);
        check("0,1\n0,2.5\n", DataType::Double);
        check("0,1\n0,2.5\n0,x\n", DataType::String);
        check("0,true\n0,false\n", DataType::Boolean);
        check("0,true\n0,1\n", DataType::String);
        check("0,1\n0,007\n", DataType::String);
        check("0, 1\n0,2 \n", DataType::Int64);
    }

    #[test]
    fn null_says_nothing() {
        check("0,\n0,\\N\n0,-\n0,5\n", DataType::Int64);
        check("0,\n0,\n", DataType::String);
        check("0,\"\"\n0,5\n", DataType::String);
        check("0,5,6\n0\n", DataType::String);
    }
}
