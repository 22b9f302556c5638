//! What rows are read from: a TsFile or a store, behind one face.

use std::path::Path;
use std::sync::Arc;

use tsloom::block::{BlockLayout, BlockSource};
use tsloom::file::FileReader;
use tsloom::scan::{self, ScanRequest, TableScan};
use tsloom::store::Store;
use tsloom::{Error, TableSchema};

use crate::args;
use crate::failure::{Failure, Outcome};

/// A TsFile or a store, open for reading.
pub(crate) enum Opened {
    /// A TsFile.
    File(Arc<FileReader>),
    /// A store; nothing in it is changed.
    Store(Store),
}

impl Opened {
    /// Opens what the command line names.
    pub(crate) fn open(source: &args::Source) -> Outcome<Self> {
        match (&source.file, &source.store) {
            (Some(path), _) => Ok(Self::File(Arc::new(open_file(path)?))),
            (None, Some(directory)) => Store::open_read_only(directory).map(Self::Store).map_err(Failure::unreadable),
            (None, None) => Err(Failure::usage("expected FILE or --store DIR")),
        }
    }

    /// All tables, in the order of their names.
    pub(crate) fn tables(&self) -> Vec<TableSchema> {
        let mut tables = match self {
            Self::File(reader) => reader.tables().cloned().collect(),
            Self::Store(store) => store.tables(),
        };
        tables.sort_by(|left, right| left.name().cmp(right.name()));
        tables
    }

    /// Scans one table: what its blocks look like, and where they come from.
    pub(crate) fn scan(&self, table: &TableSchema, request: &ScanRequest) -> tsloom::Result<(BlockLayout, Blocks)> {
        match self {
            Self::File(reader) => {
                let scan = TableScan::open(table.clone(), [scan::Source::File(Arc::clone(reader))], request)?;
                Ok((scan.layout().clone(), Box::new(scan)))
            }
            Self::Store(store) => {
                let mut scan = store.scan(table.name()).time(request.time.start..=request.time.end).offset(request.offset);
                if let Some(columns) = &request.columns {
                    scan = scan.columns(columns);
                }
                if let Some(filter) = &request.filter {
                    scan = scan.filter(filter.clone());
                }
                if let Some(limit) = request.limit {
                    scan = scan.limit(limit);
                }
                let scan = scan.open()?;
                Ok((scan.layout().clone(), Box::new(scan)))
            }
        }
    }
}

/// Blocks, lent one after the other.
pub(crate) type Blocks = Box<dyn BlockSource<Error = Error>>;

/// Opens a table-model TsFile.
pub(crate) fn open_file(path: &Path) -> Outcome<FileReader> {
    let reader = FileReader::open(path).map_err(Failure::unreadable)?;
    let is_tree = reader.tables().len() == 0 && reader.table_names().len() > 0;
    if is_tree {
        return Err(Failure::unreadable(format_args!(
            "{}: this file has devices of the tree model, and no table",
            path.display()
        )));
    }
    Ok(reader)
}
