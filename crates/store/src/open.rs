//! From a directory to an open store: manifest, files, log.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex, RwLock};
use tsloom_io::{Dir, LockError};
use tsloom_memtable::{MemtableOptions, SlabPool};
use tsloom_model::{Error, ErrorKind, Result};
use tsloom_wal::{Entry, Log, Replayed, replay};

use crate::catalog::Catalog;
use crate::files::{self, LOCK_NAME, OpenFile};
use crate::manifest::{self, Manifest, Unwritten};
use crate::memory::Memory;
use crate::options::StoreOptions;
use crate::report::RecoveryReport;
use crate::store::{FlushStats, Shared};
use crate::worker::Signal;

/// How often a reader starts anew because a writer changed the store under it.
const READ_TRIES: usize = 20;

/// Opens a store, or makes one, for the one process that may write.
pub(crate) fn for_writing(dir: Arc<dyn Dir>, options: StoreOptions) -> Result<Shared> {
    let lock = dir.lock(LOCK_NAME).map_err(|error| locked(&*dir, error))?;
    let found = Manifest::read(&*dir, &options.limits)?;
    let names = dir.list(files::FOLDER).map_err(|error| Error::from(error).in_file(files::FOLDER))?;
    if found.is_none() {
        refuse_files_without_manifest(&names)?;
    }
    let mut manifest = found.clone().unwrap_or_default();
    let mut recovered = recover(&*dir, &options, &manifest)?;

    dir.create_folder(files::FOLDER).map_err(|error| Error::from(error).in_file(files::FOLDER))?;
    let log = Log::start(Arc::clone(&dir), options.log, &recovered.replayed)?; // syncs the names of both folders
    if found.is_none() {
        manifest.generation = 1;
        manifest.log_segment = log.segment_number();
        manifest.write(&*dir).map_err(|(Unwritten::Refused(error) | Unwritten::Unknown(error))| error)?;
    }
    recovered.report.removed_files = remove_unknown(&*dir, &names, &manifest)?;
    log.drop_through(manifest.flushed)?;
    let shared = recovered.into_shared(dir, options, manifest, Some(log), Some(lock));
    let mut memory = shared.memory.lock();
    if memory.is_flush_due() {
        memory.freeze();
        shared.signal.ask_for_flush();
    }
    drop(memory);
    Ok(shared)
}

/// Opens a store as it is now. A writer may be at work: when the manifest has changed meanwhile, what was read may not belong
/// together, and is read again.
pub(crate) fn for_reading(dir: Arc<dyn Dir>, options: StoreOptions) -> Result<Shared> {
    let mut tries = 0;
    loop {
        tries += 1;
        let Some(manifest) = Manifest::read(&*dir, &options.limits)? else {
            let message = format!("{} is no store: it has no {}", dir.name(), manifest::NAME);
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        let recovered = recover(&*dir, &options, &manifest);
        let is_same = Manifest::read(&*dir, &options.limits)?.is_some_and(|now| now.generation == manifest.generation);
        match recovered {
            Ok(recovered) if is_same => return Ok(recovered.into_shared(dir, options, manifest, None, None)),
            // An error may also come from an entry that was half written at one look and whole at the next.
            Err(error) if tries >= READ_TRIES || (is_same && tries > 2) => return Err(error),
            _ if tries >= READ_TRIES => {
                return Err(Error::new(
                    ErrorKind::WouldBlock,
                    format!("store {} changes faster than it can be read", dir.name()),
                ));
            }
            _ => {}
        }
    }
}

#[cold]
fn locked(dir: &dyn Dir, error: LockError) -> Error {
    let name = dir.name();
    let who = match error {
        LockError::Io(error) => return Error::from(error).in_file(LOCK_NAME),
        LockError::Held { pid: Some(pid) } if pid == std::process::id() => {
            return Error::new(ErrorKind::Locked, format!("store {name} is open in this process already; clone that one"));
        }
        LockError::Held { pid: Some(pid) } => format!("another process (pid {pid})"),
        LockError::Held { pid: None } => "another process".to_owned(),
    };
    Error::new(ErrorKind::Locked, format!("store {name} is open in {who}; open it read-only or stop that process"))
}

/// A new store writes its manifest before any file. So files without one are somebody's data, not the rest of a crash.
fn refuse_files_without_manifest(names: &[String]) -> Result<()> {
    match names.iter().find(|name| files::number_of(name).is_some()) {
        None => Ok(()),
        Some(file) => Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "there is no {}, but {}/{file} is there; put the manifest back or move the files away",
                manifest::NAME,
                files::FOLDER
            ),
        )),
    }
}

/// Files that the manifest does not name: a crash had left them unfinished, or finished before the manifest knew, or behind when
/// others had taken their place. Their rows are in the log or in those.
fn remove_unknown(dir: &dyn Dir, names: &[String], manifest: &Manifest) -> Result<Vec<String>> {
    let mut removed = Vec::new();
    let is_known = |number: u64| manifest.files.iter().any(|file| file.number == number);
    for name in names {
        let path = format!("{}/{name}", files::FOLDER);
        if files::number_of(name).is_some_and(|number| !is_known(number) || path == files::temporary_name(number)) {
            dir.remove(&path).map_err(|error| Error::from(error).in_file(&path))?;
            removed.push(path);
        }
    }
    Ok(removed)
}

struct Recovered {
    memory: Memory,
    replayed: Replayed,
    report: RecoveryReport,
}

/// Reads what the manifest names, and the log behind it. Changes nothing.
fn recover(dir: &dyn Dir, options: &StoreOptions, manifest: &Manifest) -> Result<Recovered> {
    let mut catalog = Catalog::new(manifest.next_table);
    for (id, schema) in &manifest.tables {
        catalog.put(*id, Arc::clone(schema));
    }
    let open = |entry: &manifest::FileEntry| OpenFile::open(dir, entry.clone(), options.limits);
    let files = manifest.files.iter().map(open).collect::<Result<Vec<_>>>()?;

    let memtable_options =
        MemtableOptions::default().pool(SlabPool::new(options.pool_bytes_max)).flush_threshold_bytes(options.memtable_bytes_max);
    let mut memory = Memory::new(memtable_options, catalog, files, manifest);
    let mut report = RecoveryReport::default();
    let replayed = replay(dir, manifest.flushed, &mut |sequence, entry| match entry {
        Entry::Schema { id, schema } => memory.declare(sequence, id, &schema),
        Entry::Tablet { id, tablet } => {
            let table = memory.catalog.require(tablet.target().unwrap_or_default())?;
            if table.id != id {
                let message = format!("rows for schema {id} of table {}, which has schema {}", table.schema.name(), table.id);
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            report.replayed_rows += tablet.row_count() as u64;
            memory.write(sequence, &tablet)
        }
        Entry::Delete { id, delete } => memory.delete(sequence, id, delete),
        Entry::Drop { id } => memory.drop_table(sequence, id),
        Entry::Checkpoint { flushed } if flushed > manifest.flushed => Err(Error::new(
            ErrorKind::Corrupt,
            format!("files have the log up to entry {flushed}, but this {} knows only of {}", manifest::NAME, manifest.flushed),
        )),
        Entry::Checkpoint { .. } => Ok(()),
    })?;
    if replayed.next_number <= manifest.log_segment {
        let message = format!("wal/{:06}.log is missing", manifest.log_segment);
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    let met = manifest.files.iter().map(|file| file.erased_through).max().unwrap_or(0);
    if replayed.next_sequence <= met {
        let message = format!("files have met deletes up to entry {met} of the log, which has {}", replayed.next_sequence - 1);
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    memory.applied = replayed.next_sequence - 1;
    report.note_log(&replayed);
    report.unwritable_tables = memory.catalog.unwritable();
    Ok(Recovered { memory, replayed, report })
}

impl Recovered {
    fn into_shared(
        self,
        dir: Arc<dyn Dir>,
        options: StoreOptions,
        manifest: Manifest,
        log: Option<Log>,
        lock: Option<Box<dyn tsloom_io::DirLock>>,
    ) -> Shared {
        let mut memory = self.memory;
        if let Some(log) = &log {
            memory.applied = log.last_sequence();
        }
        Shared {
            dir,
            options,
            log,
            ddl: RwLock::new(()),
            memory: Mutex::new(memory),
            applied: Condvar::new(),
            flushed: Condvar::new(),
            manifest: Mutex::new(manifest),
            compacting: Mutex::new(()),
            flushes: Mutex::new(FlushStats::default()),
            signal: Signal::default(),
            recovery: self.report,
            _lock: lock,
        }
    }
}
