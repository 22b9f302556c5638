//! What tsloom needs from a directory.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::{LogFile, ReadAt};

/// A directory and the folders right below it. Names are relative, with `/` between a folder and a file: `wal/000001.log`.
///
/// A name that was created, renamed or removed may come back or be gone after a crash until [`sync`](Self::sync) of its
/// folder has returned `Ok`. The empty folder name means the directory itself.
pub trait Dir: Send + Sync {
    /// How people know this directory; begins every error message.
    fn name(&self) -> String;

    /// Makes a folder; one that is there already is no error.
    ///
    /// # Errors
    /// What the operating system says.
    fn create_folder(&self, folder: &str) -> io::Result<()>;

    /// Creates a file, or empties the one of that name, for writing.
    ///
    /// # Errors
    /// What the operating system says.
    fn create(&self, name: &str) -> io::Result<Box<dyn LogFile>>;

    /// Opens a file that is there for writing, and leaves its bytes as they are.
    ///
    /// # Errors
    /// `NotFound`, or what else the operating system says.
    fn open_write(&self, name: &str) -> io::Result<Box<dyn LogFile>>;

    /// Opens a file for reading. It can be read to the end even when it is renamed or removed meanwhile.
    ///
    /// # Errors
    /// `NotFound`, or what else the operating system says.
    fn open_read(&self, name: &str) -> io::Result<Arc<dyn ReadAt>>;

    /// Gives a file another name in the same folder, at once and whole; a file of that name is replaced.
    ///
    /// # Errors
    /// What the operating system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// `NotFound`, or what else the operating system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Gives a file that nobody writes to another name outside of this directory: a hard link, or a copy where there are none.
    /// Neither is durable before the folder of `to` is synced.
    ///
    /// # Errors
    /// What the operating system says, also when there is a file of that name.
    fn link(&self, name: &str, to: &Path) -> io::Result<()>;

    /// Names of the files in a folder, without the folder, ascending. A folder that is not there has none.
    ///
    /// # Errors
    /// What the operating system says.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// What the operating system says; after that nothing is known about the names changed since the last success.
    fn sync(&self, folder: &str) -> io::Result<()>;

    /// Locks the directory against a second writer, until the guard is dropped or the process ends. The file `name` is
    /// made for it and tells the others who holds it.
    ///
    /// # Errors
    /// [`LockError::Held`] when somebody has it.
    fn lock(&self, name: &str) -> Result<Box<dyn DirLock>, LockError>;
}

/// Holds a lock until it is dropped.
pub trait DirLock: Send + Sync {}

/// Why a lock was not to be had.
#[derive(Debug)]
pub enum LockError {
    /// Somebody has it: the process with this id, when it could be read.
    Held {
        /// The holder's process id.
        pid: Option<u32>,
    },
    /// The operating system said no.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { pid: Some(pid) } => write!(f, "locked by process {pid}"),
            Self::Held { pid: None } => f.write_str("locked by another process"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LockError {}
