//! What was taken away: tables, columns, rows, cells.
//!
//! A memtable carries a deletion out at once. Files never change, so for them it is written down: an erasure says what is gone
//! and by which entry of the log. Each file knows up to which entry erasures are carried out in it: those its rows had met in
//! memory, or those that compaction has applied. So an erasure concerns exactly the files that lag behind it, and is
//! forgotten when none does. What comes later under the same name is a new table or column, and is never concerned: it is in
//! memtables and files that are ahead of the erasure.
//!
//! ```text
//! uvar64  sequence of the log entry
//! vstr    table
//! u8      what, then
//! 0       the table
//! 1       a column     vstr name
//! 2       a part       rows or cells, as in the log
//! ```

use std::sync::Arc;

use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::{Deletion, Error, ErrorKind, FileOffset, Result, TableSchema};
use tsloom_wal::Delete;

/// Something that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Erasure {
    /// It covers what the log had before this entry.
    pub(crate) sequence: u64,
    pub(crate) table: String,
    pub(crate) erased: Erased,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Erased {
    Table,
    Column(String),
    Part(Delete),
}

/// Erasures, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Erasures(Vec<Arc<Erasure>>);

impl Erasures {
    pub(crate) fn push(&mut self, erasure: Erasure) {
        self.0.push(Arc::new(erasure));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The entry of the log with the last of them; 0 when there is none.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.0.last().map_or(0, |erasure| erasure.sequence)
    }

    /// What concerns a table in rows that have met erasures up to `through`.
    pub(crate) fn concerning(&self, table: &str, through: u64) -> impl Iterator<Item = &Erased> {
        let later = self.0.partition_point(|erasure| erasure.sequence <= through);
        self.0[later..].iter().filter(move |erasure| erasure.table == table).map(|erasure| &erasure.erased)
    }

    /// True when rows of this table that have met erasures up to `through` are gone with their table.
    pub(crate) fn has_table(&self, table: &str, through: u64) -> bool {
        self.concerning(table, through).any(|erased| *erased == Erased::Table)
    }

    /// What a scan of a table has to leave out of rows that have met erasures up to `through`.
    pub(crate) fn deletions(&self, table: &str, through: u64) -> Vec<Deletion> {
        let deletion = |erased: &Erased| match erased {
            Erased::Table => Deletion::of_table(table, ..),
            Erased::Column(name) => Deletion::of_table(table, ..).columns([name]),
            Erased::Part(Delete { times, devices, columns }) => {
                let deletion = Deletion::of_table(table, times.start..=times.end).columns(columns);
                devices.iter().fold(deletion, |deletion, devices| deletion.devices(devices.clone()))
            }
        };
        self.concerning(table, through).map(deletion).collect()
    }

    /// What is left of a schema in rows that have met erasures up to `through`; `None` when the table is gone.
    pub(crate) fn left_of(&self, schema: &TableSchema, through: u64) -> Result<Option<TableSchema>> {
        let mut columns = schema.columns().to_vec();
        for erased in self.concerning(schema.name(), through) {
            match erased {
                Erased::Table => return Ok(None),
                Erased::Column(name) => columns.retain(|column| column.name != *name),
                Erased::Part(_) => {}
            }
        }
        TableSchema::from_stored(schema.name(), columns).map(Some)
    }

    /// Those that the log had up to entry `sequence`.
    pub(crate) fn through(&self, sequence: u64) -> Self {
        Self(self.0.iter().take_while(|erasure| erasure.sequence <= sequence).cloned().collect())
    }

    /// Forgets those that everything is ahead of: `through` is the least that any file or memtable has met.
    pub(crate) fn forget(&mut self, through: u64) {
        self.0.retain(|erasure| erasure.sequence > through);
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.put_uvar(u32::try_from(self.0.len()).expect("a store has fewer than 2^32 erasures"));
        for erasure in &self.0 {
            out.put_uvar64(erasure.sequence);
            out.put_vstr(Some(erasure.table.as_bytes()));
            match &erasure.erased {
                Erased::Table => out.push(0),
                Erased::Column(name) => {
                    out.push(1);
                    out.put_vstr(Some(name.as_bytes()));
                }
                Erased::Part(delete) => {
                    out.push(2);
                    delete.write(out);
                }
            }
        }
    }

    pub(crate) fn read(wire: &mut WireReader<'_>) -> Result<Self> {
        let mut erasures = Vec::new();
        let mut last = 0;
        for _ in 0..wire.uvar()? {
            let at = FileOffset::new(wire.position() as u64);
            let sequence = wire.uvar64()?;
            if sequence < last {
                return Err(Error::new(ErrorKind::Corrupt, "erasures are not in their order").at(at));
            }
            last = sequence;
            let table = wire.vstr_present()?.to_owned();
            let at = FileOffset::new(wire.position() as u64);
            let erased = match wire.u8()? {
                0 => Erased::Table,
                1 => Erased::Column(wire.vstr_present()?.to_owned()),
                2 => Erased::Part(Delete::read(wire)?),
                kind => return Err(Error::new(ErrorKind::Unsupported, format!("erasure {kind} is not known")).at(at)),
            };
            erasures.push(Arc::new(Erasure { sequence, table, erased }));
        }
        Ok(Self(erasures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsloom_model::{DataType, TimeRange};

    fn erasures() -> Erasures {
        let part = Delete { times: TimeRange { start: 1, end: 2 }, devices: None, columns: Vec::new() };
        let mut erasures = Erasures::default();
        for (sequence, table, erased) in [
            (4, "t", Erased::Table),
            (6, "t", Erased::Column("b".to_owned())),
            (7, "u", Erased::Table),
            (9, "t", Erased::Part(part)),
        ] {
            erasures.push(Erasure { sequence, table: table.to_owned(), erased });
        }
        erasures
    }

    #[test]
    fn an_erasure_concerns_what_lags_behind_it() {
        let erasures = erasures();
        let count = |through| erasures.concerning("t", through).count();
        assert_eq!([0, 3, 4, 5, 6, 8, 9].map(count), [3, 3, 2, 2, 1, 1, 0]);
        assert!(erasures.has_table("t", 3) && !erasures.has_table("t", 4) && erasures.has_table("u", 6));
        let schema = TableSchema::builder("t").field("a", DataType::Int32).field("b", DataType::Int32).build().unwrap();
        let left = |through| erasures.left_of(&schema, through).unwrap().map(|schema| schema.columns().len());
        assert_eq!([3, 4, 5, 6].map(left), [None, Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn what_is_written_is_read_and_what_nobody_needs_is_forgotten() {
        let mut bytes = Vec::new();
        erasures().write(&mut bytes);
        assert_eq!(Erasures::read(&mut WireReader::new(&bytes)).unwrap(), erasures());
        let mut some = erasures().through(7);
        assert_eq!(some.len(), 3);
        some.forget(6);
        assert_eq!(some.len(), 1);
    }
}
