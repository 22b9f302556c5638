//! What types the columns have, judged by all the rows that are shown.

use tsloom::DataType;

use super::cell::{Fits, Nulls};
use super::records::Record;

/// What is known about one column so far.
#[derive(Clone, Copy, Debug)]
struct Guess {
    fits: Fits,
    has_value: bool,
}

/// What is known about all columns so far.
#[derive(Clone, Debug)]
pub(crate) struct Guesses {
    columns: Vec<Guess>,
}

impl Guesses {
    /// Nothing is known about `column_count` columns.
    pub(crate) fn new(column_count: usize) -> Self {
        Self { columns: vec![Guess { fits: Fits::ALL, has_value: false }; column_count] }
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
            if guess.fits.narrowest() != DataType::String {
                let fits = std::str::from_utf8(cell.text).map_or(Fits::of(""), |text| Fits::of(text.trim_ascii()));
                guess.fits = guess.fits.and(fits);
            }
        }
    }

    /// The narrowest type that holds every cell that was shown; STRING where there was none.
    pub(crate) fn data_type(&self, column: usize) -> DataType {
        let guess = self.columns[column];
        if guess.has_value { guess.fits.narrowest() } else { DataType::String }
    }

    /// Whether any cell of the column had a value.
    pub(crate) fn has_value(&self, column: usize) -> bool {
        self.columns[column].has_value
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::Records;
    use super::*;

    fn check(cells: &str, expected: DataType) {
        let mut records = Records::new(cells.as_bytes());
        let mut record = Record::default();
        let mut guesses = Guesses::new(2);
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
