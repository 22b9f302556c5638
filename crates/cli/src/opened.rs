//! What rows are read from: a TsFile or a store, behind one face.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tsloom::block::BlockSource;
use tsloom::file::{DeviceSeries, FileReader};
use tsloom::model::{ColumnSchema, Deletion, DeviceId};
use tsloom::scan::{self, DeviceScan, ScanRequest, TableScan};
use tsloom::store::Store;
use tsloom::{Error, TableSchema};

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::mods;

/// A TsFile or a store, open for reading.
pub(crate) enum Opened {
    /// A TsFile, and what was deleted of its rows.
    File(Arc<FileReader>, Arc<[Deletion]>),
    /// A store; nothing in it is changed.
    Store(Store, PathBuf),
}

/// What rows belong to: a table, or a device of the tree model.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The columns; those of a device are all FIELDs.
    pub(crate) schema: TableSchema,
    /// The device, in the tree model.
    pub(crate) device: Option<DeviceId>,
}

impl Object {
    pub(crate) fn name(&self) -> &str {
        self.schema.name()
    }
}

impl Opened {
    /// Opens what the command line names.
    pub(crate) fn open(source: &args::Source) -> Outcome<Self> {
        match (&source.file, &source.store) {
            (Some(path), _) => {
                let (reader, deletions) = open_rows(path, source.strict)?;
                Ok(Self::File(reader, deletions))
            }
            (None, Some(directory)) => {
                let store = Store::open_read_only(directory).map_err(Failure::unreadable)?;
                Ok(Self::Store(store, directory.clone()))
            }
            (None, None) => Err(Failure::usage("expected FILE or --store DIR")),
        }
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(reader, _) => reader.name().to_owned(),
            Self::Store(_, directory) => directory.display().to_string(),
        }
    }

    /// All tables, in the order of their names; of a file without tables all devices.
    pub(crate) fn objects(&self) -> Outcome<Vec<Object>> {
        let tables: Vec<TableSchema> = match self {
            Self::File(reader, _) if is_tree(reader) => return tree_objects(reader).map_err(Failure::unreadable),
            Self::File(reader, _) => reader.tables().cloned().collect(),
            Self::Store(store, _) => store.tables(),
        };
        let mut objects: Vec<Object> = tables.into_iter().map(|schema| Object { schema, device: None }).collect();
        objects.sort_by(|left, right| left.name().cmp(right.name()));
        Ok(objects)
    }

    /// The values that a TAG has in the devices of a table, null left out.
    pub(crate) fn tag_values(&self, object: &Object, column: &str) -> tsloom::Result<BTreeSet<String>> {
        let table = &object.schema;
        let mut values = BTreeSet::new();
        match self {
            Self::File(reader, _) => {
                let position = table.require_column(column)?;
                let tag = table.tags().take_while(|tag| *tag < position).count();
                let mut devices = reader.devices(table.name());
                while devices.advance(reader)? {
                    values.extend(devices.device().tag(tag).map(str::to_owned));
                }
            }
            Self::Store(..) => {
                let mut blocks = self.scan(object, &ScanRequest::new().columns([column]))?;
                while let Some(block) = blocks.next_block()? {
                    values.extend(block.column(0).str(0).map(str::to_owned));
                }
            }
        }
        Ok(values)
    }

    /// Scans one object. A block has rows of one device: the verbs count, draw and select by device.
    pub(crate) fn scan(&self, object: &Object, request: &ScanRequest) -> tsloom::Result<Blocks> {
        let request = &request.clone().devices_apart(true);
        match (self, &object.device) {
            (Self::File(reader, deletions), device) => {
                let source = scan::Source::file(Arc::clone(reader)).without(Arc::clone(deletions));
                Ok(match device {
                    Some(device) => Box::new(DeviceScan::open([source], Some(std::slice::from_ref(device)), request)?),
                    None => Box::new(TableScan::open(object.schema.clone(), [source], request)?),
                })
            }
            (Self::Store(store, _), _) => {
                let mut scan = store.scan(object.name()).time(request.time.start..=request.time.end).offset(request.offset);
                scan = scan.devices_apart(request.devices_apart);
                if let Some(columns) = &request.columns {
                    scan = scan.columns(columns);
                }
                if let Some(filter) = &request.filter {
                    scan = scan.filter(filter.clone());
                }
                if let Some(limit) = request.limit {
                    scan = scan.limit(limit);
                }
                Ok(Box::new(scan.open()?))
            }
        }
    }
}

/// Blocks, lent one after the other.
pub(crate) type Blocks = Box<dyn BlockSource<Error = Error>>;

/// Opens a TsFile for its rows: with what was deleted of them. With `strict` a file beside which IoTDB noted deletions is refused.
pub(crate) fn open_rows(path: &Path, strict: bool) -> Outcome<(Arc<FileReader>, Arc<[Deletion]>)> {
    let deletions = mods::beside(path, strict)?;
    Ok((Arc::new(FileReader::open(path).map_err(Failure::unreadable)?), deletions))
}

/// Opens a TsFile for what it says about itself. With `strict` a file beside which IoTDB noted deletions is refused.
pub(crate) fn open_file(path: &Path, strict: bool) -> Outcome<FileReader> {
    mods::check(path, strict)?;
    FileReader::open(path).map_err(Failure::unreadable)
}

/// True when the devices of the file are of the tree model.
pub(crate) fn is_tree(reader: &FileReader) -> bool {
    reader.tables().len() == 0 && reader.table_names().len() > 0
}

/// The devices of a tree-model file with their columns, in the order of the file.
fn tree_objects(reader: &FileReader) -> tsloom::Result<Vec<Object>> {
    let mut objects = Vec::new();
    let mut series = DeviceSeries::default();
    let mut devices = reader.all_devices();
    while devices.advance(reader)? {
        let device = devices.device().to_id();
        devices.read_series(reader, &mut series)?;
        let columns = series.columns().map(|(name, data_type)| ColumnSchema::field(name, data_type)).collect();
        let schema = TableSchema::from_stored(device.to_string(), columns).map_err(|error| reader.blame(error))?;
        objects.push(Object { schema, device: Some(device) });
    }
    Ok(objects)
}
