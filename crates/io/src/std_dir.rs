//! [`Dir`] over `std::fs`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Dir, DirLock, LockError, LogFile, ReadAt};

/// A directory of the file system.
#[derive(Clone, Debug)]
pub struct StdDir {
    path: PathBuf,
}

impl StdDir {
    /// The directory at `path`, which is made if it is not there; its name is then durable in its parent.
    ///
    /// # Errors
    /// What the operating system says, also when `path` is a file.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        if !path.is_dir() {
            fs::create_dir_all(&path)?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                sync_folder(parent)?;
            }
        }
        Ok(Self { path })
    }

    /// The directory at `path`, which must be there.
    ///
    /// # Errors
    /// `NotFound` or `NotADirectory`.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        if fs::metadata(&path)?.is_dir() { Ok(Self { path }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn at(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.path.clone() } else { self.path.join(name) }
    }
}

impl Dir for StdDir {
    fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        match fs::create_dir(self.at(folder)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.at(folder).is_dir() => Ok(()),
            done => done,
        }
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(self.at(name))?;
        Ok(Box::new(file))
    }

    fn open_write(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(OpenOptions::new().write(true).open(self.at(name))?))
    }

    fn open_read(&self, name: &str) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(File::open(self.at(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.at(name))
    }

    fn link(&self, name: &str, to: &Path) -> io::Result<()> {
        let Err(refused) = fs::hard_link(self.at(name), to) else { return Ok(()) };
        if refused.kind() == io::ErrorKind::AlreadyExists {
            return Err(refused);
        }
        // Another file system, or one without links.
        let mut target = OpenOptions::new().write(true).create_new(true).open(to)?;
        io::copy(&mut File::open(self.at(name))?, &mut target)?;
        target.sync_all()
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.at(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn sync(&self, folder: &str) -> io::Result<()> {
        sync_folder(&self.at(folder))
    }

    fn lock(&self, name: &str) -> Result<Box<dyn DirLock>, LockError> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.at(name))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held { pid: holder(&mut file) }),
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
        }
        file.set_len(0)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Box::new(HeldLock { _file: file }))
    }
}

/// The lock lives as long as the open file.
struct HeldLock {
    _file: File,
}

impl DirLock for HeldLock {}

/// The process id in a lock file; `None` while its holder has not written it yet, or where locked files cannot be read.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file, and its names are the file system's own journal's matter.
#[cfg(not(unix))]
fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir() -> (tempfile::TempDir, StdDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = StdDir::create(folder.path().join("a/b")).unwrap();
        (folder, dir)
    }

    #[test]
    fn names_are_created_listed_renamed_and_removed() {
        let (_folder, dir) = dir();
        assert_eq!(dir.list("wal").unwrap(), Vec::<String>::new());
        dir.create_folder("wal").unwrap();
        dir.create_folder("wal").unwrap();
        for name in ["wal/2", "wal/1"] {
            dir.create(name).unwrap().write_all_at(name.as_bytes(), 0).unwrap();
        }
        assert_eq!(dir.list("wal").unwrap(), ["1", "2"]);
        let reader = dir.open_read("wal/1").unwrap();
        dir.rename("wal/1", "wal/2").unwrap();
        dir.sync("wal").unwrap();
        dir.remove("wal/2").unwrap();
        dir.sync("").unwrap();
        let mut bytes = [0; 5];
        reader.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!((&bytes, dir.list("wal").unwrap().len()), (b"wal/1", 0));
        assert_eq!(dir.list("").unwrap(), Vec::<String>::new()); // folders are no files
    }

    #[test]
    fn a_link_is_the_file_under_another_name() {
        let (folder, dir) = dir();
        dir.create("f").unwrap().write_all_at(b"abc", 0).unwrap();
        let to = folder.path().join("g");
        dir.link("f", &to).unwrap();
        dir.remove("f").unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"abc");
        dir.create("f").unwrap();
        assert_eq!(dir.link("f", &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn opening_for_writing_keeps_the_bytes_and_creating_does_not() {
        let (_folder, dir) = dir();
        assert_eq!(dir.open_write("f").err().unwrap().kind(), io::ErrorKind::NotFound);
        dir.create("f").unwrap().write_all_at(b"abc", 0).unwrap();
        dir.open_write("f").unwrap().write_all_at(b"X", 1).unwrap();
        assert_eq!(fs::read(dir.path().join("f")).unwrap(), b"aXc");
        assert_eq!(dir.create("f").unwrap().size().unwrap(), 0);
    }

    #[test]
    fn a_lock_is_held_once_and_names_its_holder() {
        let (_folder, dir) = dir();
        let held = dir.lock("LOCK").unwrap();
        match dir.lock("LOCK") {
            Err(LockError::Held { pid }) => assert_eq!(pid, Some(std::process::id())),
            Err(LockError::Io(error)) => panic!("{error}"),
            Ok(_) => panic!("a second lock was given"),
        }
        drop(held);
        dir.lock("LOCK").unwrap();
    }

    #[test]
    fn a_file_is_no_directory() {
        let (folder, _dir) = dir();
        let path = folder.path().join("file");
        fs::write(&path, b"").unwrap();
        assert!(StdDir::open(&path).is_err() && StdDir::create(&path).is_err());
        assert_eq!(StdDir::open(folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
