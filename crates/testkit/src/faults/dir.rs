//! The directory itself: records, counts, fails.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tsloom_io::{Dir, DirLock, LockError, LogFile, ReadAt};

use super::disk::{Disk, Op, Trace, folder_of};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// "Input/output error"; nothing was done, or for a sync: nobody knows.
    Eio,
    /// "No space left on device"; nothing was done.
    Enospc,
    /// "Interrupted system call"; nothing was done.
    Eintr,
    /// A write takes half the bytes; any other call works.
    ShortWrite,
    /// A write takes half the bytes, and the write after it finds no space; any other call finds no space at once.
    ShortThenEnospc,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Eio, Self::Enospc, Self::Eintr, Self::ShortWrite, Self::ShortThenEnospc];

    fn error(self) -> Option<io::Error> {
        match self {
            Self::Eio => Some(io::Error::from_raw_os_error(5)),
            Self::Enospc | Self::ShortThenEnospc => Some(io::Error::from_raw_os_error(28)),
            Self::Eintr => Some(io::ErrorKind::Interrupted.into()),
            Self::ShortWrite => None,
        }
    }
}

/// What was called; reading counts as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the methods of the traits")]
pub enum Call {
    CreateFolder,
    Create,
    OpenWrite,
    OpenRead,
    Size,
    Read,
    Write,
    Truncate,
    SyncFile,
    Rename,
    Link,
    Remove,
    List,
    SyncFolder,
    Lock,
}

struct Shared {
    disk: Disk,
    trace: Trace,
    calls: Vec<Call>,
    fault: Option<(usize, FaultKind)>,
    /// The next write finds no space.
    is_full: bool,
    /// No file can be made.
    refuses_creates: bool,
    is_locked: bool,
}

/// A directory in memory. Clones are the same directory.
#[derive(Clone)]
pub struct FaultDir {
    shared: Arc<Mutex<Shared>>,
}

impl Default for FaultDir {
    fn default() -> Self {
        Self::new()
    }
}

impl FaultDir {
    /// An empty one.
    pub fn new() -> Self {
        Self::over(Disk::default())
    }

    pub(super) fn over(disk: Disk) -> Self {
        let trace = Trace { start: disk.clone(), ops: Vec::new() };
        let shared =
            Shared { disk, trace, calls: Vec::new(), fault: None, is_full: false, refuses_creates: false, is_locked: false };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    /// Makes the call with this number, counted from 0 over all calls, go wrong once.
    pub fn fail_call(&self, number: usize, kind: FaultKind) {
        self.shared.lock().fault = Some((number, kind));
    }

    /// From now on files can be made or, when `refuses`, cannot: there is no space left.
    pub fn fail_creates(&self, refuses: bool) {
        self.shared.lock().refuses_creates = refuses;
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.clone()
    }

    /// Every call so far that changed something.
    pub fn trace(&self) -> Trace {
        self.shared.lock().trace.clone()
    }

    /// How many calls changed something so far.
    pub fn change_count(&self) -> usize {
        self.shared.lock().trace.ops.len()
    }

    /// The bytes of a file, as programs see them.
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        let shared = self.shared.lock();
        Some(shared.disk.bytes(shared.disk.find(name)?).to_vec())
    }

    /// Sets the bytes of a file, as if somebody had done it from outside: neither recorded nor failing, and durable.
    pub fn set_file(&self, name: &str, bytes: &[u8]) {
        let mut shared = self.shared.lock();
        let file = shared.disk.find(name);
        let is_new = file.is_none();
        let file = file.unwrap_or_else(|| shared.disk.file_count());
        let create = is_new.then(|| Op::Create { name: name.to_owned(), file });
        let write = [
            Op::Truncate { file, size: 0 },
            Op::Write { file, offset: 0, bytes: bytes.to_vec() },
            Op::SyncFile { file, is_ok: true },
            Op::SyncFolder { folder: folder_of(name).to_owned(), is_ok: true },
        ];
        for op in create.into_iter().chain(write) {
            shared.disk.apply(&op);
        }
        shared.trace = Trace { start: shared.disk.clone(), ops: Vec::new() };
    }
}

impl Shared {
    /// Counts a call; an error when it is the one to fail.
    fn call(&mut self, call: Call) -> io::Result<Option<FaultKind>> {
        let number = self.calls.len();
        self.calls.push(call);
        let kind = self.fault.filter(|(at, _)| *at == number).map(|(_, kind)| kind);
        if call == Call::Write {
            if std::mem::take(&mut self.is_full) {
                return Err(io::Error::from_raw_os_error(28));
            }
            if matches!(kind, Some(FaultKind::ShortWrite | FaultKind::ShortThenEnospc)) {
                self.is_full = kind == Some(FaultKind::ShortThenEnospc);
                return Ok(kind);
            }
        }
        match kind.and_then(FaultKind::error) {
            Some(error) => Err(error),
            None => Ok(None),
        }
    }

    fn change(&mut self, op: Op) {
        self.disk.apply(&op);
        self.trace.ops.push(op);
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.disk.find(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn check_folder(&self, name: &str) -> io::Result<()> {
        if self.disk.has_folder(folder_of(name)) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl Dir for FaultDir {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        let mut shared = self.shared.lock();
        shared.call(Call::CreateFolder)?;
        if !shared.disk.has_folder(folder) {
            shared.change(Op::CreateFolder(folder.to_owned()));
        }
        Ok(())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        let mut shared = self.shared.lock();
        shared.call(Call::Create)?;
        if shared.refuses_creates {
            return Err(io::Error::from_raw_os_error(28));
        }
        shared.check_folder(name)?;
        let file = match shared.disk.find(name) {
            Some(file) => {
                shared.change(Op::Truncate { file, size: 0 });
                file
            }
            None => {
                let file = shared.disk.file_count();
                shared.change(Op::Create { name: name.to_owned(), file });
                file
            }
        };
        Ok(Box::new(MemoryFile { shared: Arc::clone(&self.shared), file }))
    }

    fn open_write(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        let mut shared = self.shared.lock();
        shared.call(Call::OpenWrite)?;
        let file = shared.find(name)?;
        Ok(Box::new(MemoryFile { shared: Arc::clone(&self.shared), file }))
    }

    fn open_read(&self, name: &str) -> io::Result<Arc<dyn ReadAt>> {
        let mut shared = self.shared.lock();
        shared.call(Call::OpenRead)?;
        let file = shared.find(name)?;
        Ok(Arc::new(MemoryFile { shared: Arc::clone(&self.shared), file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut shared = self.shared.lock();
        shared.call(Call::Rename)?;
        shared.find(from)?;
        assert_eq!(folder_of(from), folder_of(to), "renames stay in their folder");
        shared.change(Op::Rename { from: from.to_owned(), to: to.to_owned() });
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut shared = self.shared.lock();
        shared.call(Call::Remove)?;
        shared.find(name)?;
        shared.change(Op::Remove(name.to_owned()));
        Ok(())
    }

    /// A real file, since what is outside of this directory is.
    fn link(&self, name: &str, to: &Path) -> io::Result<()> {
        let bytes = {
            let mut shared = self.shared.lock();
            shared.call(Call::Link)?;
            let file = shared.find(name)?;
            shared.disk.bytes(file).to_vec()
        };
        std::fs::OpenOptions::new().write(true).create_new(true).open(to)?.write_all(&bytes)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut shared = self.shared.lock();
        shared.call(Call::List)?;
        Ok(shared.disk.list(folder))
    }

    fn sync(&self, folder: &str) -> io::Result<()> {
        let mut shared = self.shared.lock();
        let called = shared.call(Call::SyncFolder);
        shared.change(Op::SyncFolder { folder: folder.to_owned(), is_ok: called.is_ok() });
        called.map(|_| ())
    }

    fn lock(&self, _name: &str) -> Result<Box<dyn DirLock>, LockError> {
        let mut shared = self.shared.lock();
        shared.call(Call::Lock)?;
        if std::mem::replace(&mut shared.is_locked, true) {
            return Err(LockError::Held { pid: Some(std::process::id()) });
        }
        Ok(Box::new(MemoryLock { shared: Arc::clone(&self.shared) }))
    }
}

struct MemoryLock {
    shared: Arc<Mutex<Shared>>,
}

impl DirLock for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.shared.lock().is_locked = false;
    }
}

/// An open file; it lives on when its name is gone.
struct MemoryFile {
    shared: Arc<Mutex<Shared>>,
    file: usize,
}

impl ReadAt for MemoryFile {
    fn size(&self) -> io::Result<u64> {
        let mut shared = self.shared.lock();
        shared.call(Call::Size)?;
        Ok(shared.disk.bytes(self.file).len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut shared = self.shared.lock();
        shared.call(Call::Read)?;
        shared.disk.bytes(self.file).read_exact_at(buf, offset)
    }
}

impl LogFile for MemoryFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut shared = self.shared.lock();
        let kind = shared.call(Call::Write)?;
        let count = if kind.is_some() { bytes.len().div_ceil(2) } else { bytes.len() };
        shared.change(Op::Write { file: self.file, offset, bytes: bytes[..count].to_vec() });
        Ok(count)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut shared = self.shared.lock();
        let called = shared.call(Call::SyncFile);
        shared.change(Op::SyncFile { file: self.file, is_ok: called.is_ok() });
        called.map(|_| ())
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        let mut shared = self.shared.lock();
        shared.call(Call::Truncate)?;
        shared.change(Op::Truncate { file: self.file, size });
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        ReadAt::size(self)
    }
}
