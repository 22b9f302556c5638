//! Batches appended to one device of one memtable: the whole way of a write, from a tablet on.

use tsloom_memtable::{Memtable, MemtableOptions};
use tsloom_tablet::Tablet;

use super::{Pin, Slabs, head, tablet};
use crate::clock::aside;
use crate::registry::{Case, Params, Result};

/// The tablets of one batch.
pub(super) type Batch = fn(&Params) -> Result<Vec<Tablet>>;

pub(super) fn dense(params: &Params) -> Result<Vec<Tablet>> {
    let columns = params.count("columns")?;
    Ok(vec![tablet(&head(columns), columns, 0, params.count("rows")?)?])
}

pub(super) fn sparse(params: &Params) -> Result<Vec<Tablet>> {
    Ok(vec![tablet(&head(params.count("columns")?), params.count("written-columns")?, 0, params.count("rows")?)?])
}

pub(super) fn all_null(params: &Params) -> Result<Vec<Tablet>> {
    Ok(vec![tablet(&head(params.count("columns")?), 0, 0, params.count("rows")?)?])
}

/// All rows but the last without any value, then the last with the written columns.
pub(super) fn null_prefix(params: &Params) -> Result<Vec<Tablet>> {
    let (head, written, rows) = (head(params.count("columns")?), params.count("written-columns")?, params.count("rows")?);
    Ok(vec![tablet(&head, 0, 0, rows - 1)?, tablet(&head, written, rows - 1, 1)?])
}

struct Appender {
    batch: Vec<Tablet>,
    batch_count: usize,
    batch_max: usize,
    options: MemtableOptions,
    memtable: Memtable,
}

impl Appender {
    fn run(&mut self) -> Result<u64> {
        if self.batch_count == self.batch_max {
            // The next memtable learns the columns with its first batch.
            return aside(|| {
                self.memtable = Memtable::new(self.options.clone());
                self.batch_count = 0;
                self.write()
            });
        }
        self.write()
    }

    fn write(&mut self) -> Result<u64> {
        self.batch_count += 1;
        self.batch.iter().try_fold(0, |rows, tablet| Ok(rows + self.memtable.write(tablet)?.rows as u64))
    }
}

/// Batches of one list: as many as asked for, unless they are too large for that.
pub(super) fn batch_max(params: &Params, payload_size: usize) -> Result<usize> {
    const LIST_BYTES_MAX: usize = 160 << 20;
    Ok(params.count("batches")?.min((LIST_BYTES_MAX / payload_size).max(4)))
}

pub(super) fn appended(params: &Params, batch: Batch, slabs: Slabs) -> Result<Case> {
    let (batch, options) = (batch(params)?, slabs.options());
    let payload_size = batch.iter().map(Tablet::value_byte_count).sum();
    let batch_max = batch_max(params, payload_size)?;
    let memtable = Memtable::new(options.clone());
    let mut appender = Appender { batch, batch_count: 0, batch_max, options, memtable };
    // One list whole, so that the next ones find memory that was used.
    for _ in 0..batch_max {
        appender.run()?;
    }
    let pin = Pin::new();
    Ok(Case::new(payload_size, move || {
        let _ = &pin;
        appender.run()
    }))
}
