//! What is on the disk: the state programs see, and the states a crash may leave.

use std::collections::{BTreeMap, BTreeSet};

use super::FaultDir;
use crate::Random;

/// Parts of a write that reach the disk or not as one.
const SECTOR_SIZE: usize = 512;

/// One call that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    CreateFolder(String),
    Create { name: String, file: usize },
    Write { file: usize, offset: u64, bytes: Vec<u8> },
    Truncate { file: usize, size: u64 },
    SyncFile { file: usize, is_ok: bool },
    Rename { from: String, to: String },
    Remove(String),
    SyncFolder { folder: String, is_ok: bool },
}

/// What becomes of everything that was not synced before a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// Nothing of it is there.
    Lost,
    /// All of it is there.
    Kept,
    /// Some sectors and some names are there, others are not.
    Some {
        /// Decides which.
        seed: u64,
    },
    /// All of it is there, but the last write was cut somewhere.
    TornLast {
        /// Decides where.
        seed: u64,
    },
}

/// Every call that changed something, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(super) start: Disk,
    pub(super) ops: Vec<Op>,
}

impl Trace {
    /// How many calls changed something: crash points are `0..=len()`.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// True when nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The directory as a crash leaves it after the first `count` of these calls.
    pub fn crash(&self, count: usize, unsynced: Unsynced) -> FaultDir {
        let mut disk = self.start.clone();
        for op in &self.ops[..count] {
            disk.apply(op);
        }
        FaultDir::over(disk.crash(unsynced))
    }

    /// The directories that a crash leaves after each call, and before the first, in order: cheaper than
    /// [`crash`](Self::crash) for each.
    pub fn crashes(&self, mut visit: impl FnMut(usize, &mut dyn FnMut(Unsynced) -> FaultDir)) {
        let mut disk = self.start.clone();
        for count in 0..=self.ops.len() {
            visit(count, &mut |unsynced| FaultDir::over(disk.crash(unsynced)));
            if let Some(op) = self.ops.get(count) {
                disk.apply(op);
            }
        }
    }

    /// What the call with this number was, for messages.
    pub fn describe(&self, index: usize) -> String {
        match self.ops.get(index) {
            Some(Op::Write { file, offset, bytes }) => format!("write of {} bytes at {offset} of file {file}", bytes.len()),
            Some(op) => format!("{op:?}"),
            None => "the end".to_owned(),
        }
    }
}

#[derive(Clone, Debug)]
struct Change {
    write: FileChange,
    /// A sync failed over it.
    is_doubtful: bool,
    is_synced: bool,
}

#[derive(Clone, Debug)]
enum FileChange {
    Write { offset: u64, bytes: Vec<u8> },
    Truncate(u64),
}

#[derive(Clone, Debug, Default)]
struct FileState {
    /// What programs read.
    bytes: Vec<u8>,
    /// What is on disk for sure.
    synced: Vec<u8>,
    /// What happened since, oldest first.
    changes: Vec<Change>,
    /// Position of the last change among all changes to all files.
    last_change: u64,
}

#[derive(Clone, Debug)]
enum NameChange {
    Set { name: String, file: usize },
    Rename { from: String, to: String },
    Remove(String),
}

impl NameChange {
    fn folder(&self) -> &str {
        match self {
            Self::Set { name, .. } | Self::Remove(name) | Self::Rename { to: name, .. } => folder_of(name),
        }
    }

    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Set { name, file } => {
                names.insert(name.clone(), *file);
            }
            Self::Rename { from, to } => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    files: Vec<FileState>,
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    name_changes: Vec<NameChange>,
    folders: BTreeSet<String>,
    synced_folders: BTreeSet<String>,
    change_count: u64,
}

pub(super) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Disk {
    pub(super) fn apply(&mut self, op: &Op) {
        match op {
            Op::CreateFolder(folder) => {
                self.folders.insert(folder.clone());
            }
            Op::Create { name, file } => {
                assert_eq!(*file, self.files.len(), "files are numbered as they are made");
                self.files.push(FileState::default());
                self.change_name(NameChange::Set { name: name.clone(), file: *file });
            }
            Op::Write { file, offset, bytes } => {
                self.change_file(*file, FileChange::Write { offset: *offset, bytes: bytes.clone() });
            }
            Op::Truncate { file, size } => self.change_file(*file, FileChange::Truncate(*size)),
            Op::SyncFile { file, is_ok } => self.files[*file].sync(*is_ok),
            Op::Rename { from, to } => self.change_name(NameChange::Rename { from: from.clone(), to: to.clone() }),
            Op::Remove(name) => self.change_name(NameChange::Remove(name.clone())),
            Op::SyncFolder { folder, is_ok: true } => self.sync_folder(folder),
            Op::SyncFolder { is_ok: false, .. } => {}
        }
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }

    fn change_file(&mut self, file: usize, write: FileChange) {
        self.change_count += 1;
        let state = &mut self.files[file];
        write.apply(&mut state.bytes);
        state.changes.push(Change { write, is_doubtful: false, is_synced: false });
        state.last_change = self.change_count;
    }

    fn sync_folder(&mut self, folder: &str) {
        let (synced, left): (Vec<_>, Vec<_>) = self.name_changes.drain(..).partition(|change| change.folder() == folder);
        for change in synced {
            change.apply(&mut self.synced_names);
        }
        self.name_changes = left;
        if folder.is_empty() {
            self.synced_folders = self.folders.clone();
        }
    }

    pub(super) fn file_count(&self) -> usize {
        self.files.len()
    }

    pub(super) fn has_folder(&self, folder: &str) -> bool {
        folder.is_empty() || self.folders.contains(folder)
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(super) fn bytes(&self, file: usize) -> &[u8] {
        &self.files[file].bytes
    }

    pub(super) fn list(&self, folder: &str) -> Vec<String> {
        let inside = self.names.keys().filter(|name| folder_of(name) == folder);
        inside.map(|name| name.rsplit('/').next().unwrap_or(name).to_owned()).collect()
    }

    /// The disk as the next process finds it.
    fn crash(&self, unsynced: Unsynced) -> Self {
        let mut random = match unsynced {
            Unsynced::Some { seed } | Unsynced::TornLast { seed } => Random::new(seed),
            Unsynced::Lost | Unsynced::Kept => Random::new(0),
        };
        let mut names = self.synced_names.clone();
        for change in &self.name_changes {
            let is_kept = match unsynced {
                Unsynced::Lost => false,
                Unsynced::Kept | Unsynced::TornLast { .. } => true,
                Unsynced::Some { .. } => random.one_in(2),
            };
            if is_kept {
                change.apply(&mut names);
            }
        }
        let folders = if unsynced == Unsynced::Lost { &self.synced_folders } else { &self.folders };
        names.retain(|name, _| folder_of(name).is_empty() || folders.contains(folder_of(name)));
        let last_changed = (0..self.files.len()).max_by_key(|file| self.files[*file].last_change);
        let mut disk = Self { folders: folders.clone(), synced_folders: folders.clone(), ..Self::default() };
        for (name, file) in names {
            let is_last = last_changed == Some(file);
            let bytes = self.files[file].crash(unsynced, is_last, &mut random);
            disk.names.insert(name, disk.files.len());
            disk.files.push(FileState { synced: bytes.clone(), bytes, ..FileState::default() });
        }
        disk.synced_names = disk.names.clone();
        disk
    }
}

impl FileState {
    fn sync(&mut self, is_ok: bool) {
        for change in &mut self.changes {
            change.is_doubtful |= !is_ok && !change.is_synced;
            change.is_synced |= is_ok && !change.is_doubtful;
        }
        // Doubtful changes keep their place in the order, so what came after them stays listed as well.
        let settled = self.changes.iter().take_while(|change| change.is_synced).count();
        for change in self.changes.drain(..settled) {
            change.write.apply(&mut self.synced);
        }
    }

    fn crash(&self, unsynced: Unsynced, is_last: bool, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (index, change) in self.changes.iter().enumerate() {
            if change.is_synced {
                change.write.apply(&mut bytes);
                continue;
            }
            match unsynced {
                Unsynced::Lost => {}
                Unsynced::Kept => change.write.apply(&mut bytes),
                Unsynced::Some { .. } => change.write.apply_some(&mut bytes, random),
                Unsynced::TornLast { .. } if is_last && index + 1 == self.changes.len() => {
                    change.write.apply_cut(&mut bytes, random);
                }
                Unsynced::TornLast { .. } => change.write.apply(&mut bytes),
            }
        }
        bytes
    }
}

impl FileChange {
    fn apply(&self, out: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => put(out, *offset as usize, bytes),
            Self::Truncate(size) => out.resize(*size as usize, 0),
        }
    }

    fn apply_some(&self, out: &mut Vec<u8>, random: &mut Random) {
        match self {
            Self::Write { offset, bytes } => {
                let mut at = *offset as usize;
                let mut rest = bytes.as_slice();
                while !rest.is_empty() {
                    let (sector, behind) = rest.split_at(rest.len().min(SECTOR_SIZE - at % SECTOR_SIZE));
                    if random.one_in(2) {
                        put(out, at, sector);
                    }
                    at += sector.len();
                    rest = behind;
                }
            }
            Self::Truncate(_) if random.one_in(2) => self.apply(out),
            Self::Truncate(_) => {}
        }
    }

    fn apply_cut(&self, out: &mut Vec<u8>, random: &mut Random) {
        match self {
            Self::Write { offset, bytes } => put(out, *offset as usize, &bytes[..random.below(bytes.len() + 1)]),
            Self::Truncate(_) => {}
        }
    }
}

fn put(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = at + bytes.len();
    if out.len() < end {
        out.resize(end, 0);
    }
    out[at..end].copy_from_slice(bytes);
}
