//! What rows are read from: a TsFile or a store, behind one face.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tsloom::block::BlockSource;
use tsloom::codec::RlbeFloats;
use tsloom::file::{DeviceSeries, FileReader, ReadOptions};
use tsloom::model::{ColumnSchema, Deletion, DeviceId};
use tsloom::scan::{self, DeviceScan, ScanRequest, TableScan};
use tsloom::store::Store;
use tsloom::{Error, TableSchema};

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::mods;

/// How TsFiles are read.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ReadArgs {
    /// What RLBE columns of floats hold: differences of bits, as is written now, or of values, as Java wrote until 2024
    #[arg(long, value_enum, default_value_t = RlbeForm::New, value_name = "FORM")]
    rlbe_floats: RlbeForm,

    /// Fail where IoTDB noted deletions beside a file
    #[arg(long)]
    strict: bool,
}

/// What RLBE columns of floats hold; no byte tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RlbeForm {
    /// Differences of bit patterns
    New,
    /// Differences of values
    Old,
}

impl ReadArgs {
    /// Opens a TsFile for its rows, without those that IoTDB deleted beside it. With `--strict` a file that lost rows so is refused.
    pub(crate) fn open_rows(self, path: &Path) -> Outcome<FileRows> {
        let deletions = mods::beside(path, self.strict)?;
        let reader = Arc::new(FileReader::open_with(path, self.options()).map_err(Failure::unreadable)?);
        Ok(FileRows { reader, deletions })
    }

    /// Opens a TsFile for what is in it, deleted or not.
    pub(crate) fn open(self, path: &Path) -> Outcome<FileReader> {
        mods::check(path, self.strict)?;
        FileReader::open_with(path, self.options()).map_err(Failure::unreadable)
    }

    /// The same as the library has it.
    pub(crate) fn options(self) -> ReadOptions {
        let rlbe_floats = match self.rlbe_floats {
            RlbeForm::New => RlbeFloats::New,
            RlbeForm::Old => RlbeFloats::Old,
        };
        ReadOptions { rlbe_floats, ..ReadOptions::default() }
    }

    pub(crate) fn is_strict(self) -> bool {
        self.strict
    }
}

/// A TsFile, and what was deleted of its rows.
#[derive(Clone)]
pub(crate) struct FileRows {
    pub(crate) reader: Arc<FileReader>,
    pub(crate) deletions: Arc<[Deletion]>,
}

impl FileRows {
    /// The rows as scans take them.
    pub(crate) fn source(&self) -> scan::Source {
        scan::Source::file(Arc::clone(&self.reader)).without(Arc::clone(&self.deletions))
    }
}

/// A TsFile or a store, open for reading.
pub(crate) enum Opened {
    /// A TsFile.
    File(FileRows),
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
            (Some(path), _) => Ok(Self::File(source.read.open_rows(path)?)),
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
            Self::File(file) => file.reader.name().to_owned(),
            Self::Store(_, directory) => directory.display().to_string(),
        }
    }

    /// All tables in the order of their names, then all devices of the tree model.
    pub(crate) fn objects(&self) -> Outcome<Vec<Object>> {
        let (tables, devices) = match self {
            Self::File(FileRows { reader, .. }) => {
                (reader.tables().cloned().collect(), tree_objects(reader).map_err(Failure::unreadable)?)
            }
            Self::Store(store, _) => (store.tables(), Vec::new()),
        };
        let mut objects: Vec<Object> = tables.into_iter().map(|schema| Object { schema, device: None }).collect();
        objects.sort_by(|left, right| left.name().cmp(right.name()));
        objects.extend(devices);
        Ok(objects)
    }

    /// Scans one object. A block has rows of one device: the verbs count, draw and select by device.
    pub(crate) fn scan(&self, object: &Object, request: &ScanRequest) -> tsloom::Result<Blocks> {
        let request = &request.clone().devices_apart(true);
        match (self, &object.device) {
            (Self::File(file), Some(device)) => {
                Ok(Box::new(DeviceScan::open([file.source()], Some(std::slice::from_ref(device)), request)?))
            }
            (Self::File(file), None) => Ok(Box::new(TableScan::open(object.schema.clone(), [file.source()], request)?)),
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

/// Opens a TsFile for what it says about itself. With `strict` a file beside which IoTDB noted deletions is refused.
pub(crate) fn open_file(path: &Path, strict: bool) -> Outcome<FileReader> {
    mods::check(path, strict)?;
    FileReader::open(path).map_err(Failure::unreadable)
}

/// True when the file has devices of the tree model: those whose first name is not that of a table.
pub(crate) fn has_tree(reader: &FileReader) -> bool {
    reader.table_names().any(|name| reader.metadata().schema(name).is_none())
}

/// Shows every device of the tree model with its series, in the order of the file.
pub(crate) fn each_tree_device(
    reader: &FileReader,
    mut each: impl FnMut(DeviceId, &DeviceSeries) -> tsloom::Result<()>,
) -> tsloom::Result<()> {
    if !has_tree(reader) {
        return Ok(());
    }
    let mut series = DeviceSeries::default();
    let mut devices = reader.all_devices();
    while devices.advance(reader)? {
        if reader.metadata().schema(devices.device().table()).is_none() {
            devices.read_series(reader, &mut series)?;
            each(devices.device().to_id(), &series)?;
        }
    }
    Ok(())
}

/// The devices of the tree model with their columns.
fn tree_objects(reader: &FileReader) -> tsloom::Result<Vec<Object>> {
    let mut objects = Vec::new();
    each_tree_device(reader, |device, series| {
        let columns = series.columns().map(|(name, data_type)| ColumnSchema::field(name, data_type)).collect();
        let schema = TableSchema::from_stored(device.to_string(), columns).map_err(|error| reader.blame(error))?;
        objects.push(Object { schema, device: Some(device) });
        Ok(())
    })?;
    Ok(objects)
}
