//! The columns that the lists of one table can have: names, types and ids.

use std::sync::Arc;

use tsloom_model::DataType;

use crate::block::ARC_BYTES;
use crate::pool::{Charge, Ledger};

/// One column. Its position in the set is its id.
#[derive(Clone, Debug)]
pub(crate) struct ColumnInfo {
    pub(crate) name: Box<str>,
    pub(crate) data_type: DataType,
    /// False once it was deleted: its cells are out of reach, and the name may be given to a new column.
    is_live: bool,
}

/// All columns of a table, in the order in which they came. Shared with snapshots.
#[derive(Debug)]
pub(crate) struct ColumnSet {
    columns: Vec<ColumnInfo>,
    /// Ids of the live columns by name.
    by_name: Vec<u32>,
    /// Bytes of all names.
    name_bytes: usize,
    charge: Charge,
}

impl ColumnSet {
    pub(crate) fn new(ledger: &Arc<Ledger>) -> Self {
        let mut set = Self { columns: Vec::new(), by_name: Vec::new(), name_bytes: 0, charge: Charge::new(ledger, 0) };
        set.note();
        set
    }

    fn note(&mut self) {
        let vectors = self.columns.capacity() * size_of::<ColumnInfo>() + self.by_name.capacity() * size_of::<u32>();
        self.charge.set(size_of::<Self>() + ARC_BYTES + self.name_bytes + vectors);
    }

    fn search(&self, name: &str) -> Result<usize, usize> {
        self.by_name.binary_search_by(|id| (*self.columns[*id as usize].name).cmp(name))
    }

    /// The live column with this name.
    pub(crate) fn find(&self, name: &str) -> Option<(u32, DataType)> {
        let id = self.by_name[self.search(name).ok()?];
        Some((id, self.columns[id as usize].data_type))
    }

    /// True when this live column has this name and type.
    pub(crate) fn is(&self, id: u32, name: &str, data_type: DataType) -> bool {
        self.columns
            .get(id as usize)
            .is_some_and(|column| column.is_live && *column.name == *name && column.data_type == data_type)
    }

    /// Live columns, in the order in which they came.
    pub(crate) fn live(&self) -> impl Iterator<Item = (u32, &ColumnInfo)> {
        (0..).zip(&self.columns).filter(|(_, column)| column.is_live)
    }

    /// Number of live columns.
    pub(crate) fn live_count(&self) -> usize {
        self.by_name.len()
    }

    /// Adds columns whose names are not there and differ from each other.
    pub(crate) fn extend<'a>(&mut self, new: impl Iterator<Item = (&'a str, DataType)>) {
        for (name, data_type) in new {
            let id = u32::try_from(self.columns.len()).expect("a table has fewer than 2^32 columns");
            let at = self.search(name).expect_err("the caller looked the name up");
            self.name_bytes += name.len();
            self.columns.push(ColumnInfo { name: name.into(), data_type, is_live: true });
            self.by_name.insert(at, id);
        }
        self.note();
    }

    /// Takes the name from a column. Returns false when there is none.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let Ok(at) = self.search(name) else { return false };
        let id = self.by_name.remove(at);
        self.columns[id as usize].is_live = false;
        true
    }
}

impl Clone for ColumnSet {
    fn clone(&self) -> Self {
        let charge = Charge::new(self.charge.ledger(), 0);
        let mut set = Self { columns: self.columns.clone(), by_name: self.by_name.clone(), name_bytes: self.name_bytes, charge };
        set.note();
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::SlabPool;

    #[test]
    fn a_name_given_again_is_a_new_column() {
        let mut set = ColumnSet::new(&Ledger::new(SlabPool::new(0)));
        set.extend([("b", DataType::Int32), ("a", DataType::Text)].into_iter());
        assert_eq!(set.find("b"), Some((0, DataType::Int32)));
        assert!(set.remove("b") && !set.remove("b"));
        assert_eq!(set.find("b"), None);
        set.extend([("b", DataType::Double)].into_iter());
        assert_eq!(set.find("b"), Some((2, DataType::Double)));
        assert_eq!(set.live().map(|(id, column)| (id, &*column.name)).collect::<Vec<_>>(), [(1, "a"), (2, "b")]);
        assert_eq!(set.live_count(), 2);
    }
}
