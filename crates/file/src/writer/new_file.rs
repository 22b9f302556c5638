//! A file that appears under its name when it is whole, and not before.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tsloom_io::{AppendFile, Dir, StdDir};
use tsloom_model::{Error, ErrorKind, Result};

/// Small writes are gathered up to this size; the pages of a large chunk go through.
const BUFFER_SIZE: usize = 128 << 10;

/// A file under a temporary name, which [`commit`](Self::commit) makes durable and renames. Dropped before, it is removed.
#[must_use = "a new file is removed again unless it is committed"]
pub struct NewFile {
    path: PathBuf,
    dir: StdDir,
    temporary: String,
    name: String,
    /// `None` after the commit.
    file: Option<BufWriter<AppendFile>>,
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl NewFile {
    /// Starts a file that will be `path`. Its directory must be there.
    ///
    /// # Errors
    /// What the operating system says, with the path.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open(path).map_err(|error| error.in_file(path))
    }

    fn open(path: &Path) -> Result<Self> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(Error::new(ErrorKind::InvalidArgument, "a new file needs a name in UTF-8"));
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = StdDir::open(parent)?;
        // The process id keeps writers of the same file apart; the last to commit wins.
        let temporary = format!(".{name}.{}.tmp", std::process::id());
        let file = BufWriter::with_capacity(BUFFER_SIZE, AppendFile::new(dir.create(&temporary)?));
        Ok(Self { path: path.to_owned(), dir, temporary, name: name.to_owned(), file: Some(file) })
    }

    /// Where the bytes are until the commit, for who must clean up when the process is told to end.
    pub fn temporary_path(&self) -> PathBuf {
        self.path.with_file_name(&self.temporary)
    }

    /// Makes the bytes durable, then the name.
    ///
    /// # Errors
    /// What the operating system says, with the path; the file is removed then, unless it has its name already.
    pub fn commit(mut self) -> Result<()> {
        self.try_commit().map_err(|error| Error::from(error).in_file(&self.path))
    }

    fn try_commit(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.flush()?;
            file.get_mut().sync()?;
        }
        self.dir.rename(&self.temporary, &self.name)?;
        self.file = None;
        self.dir.sync("")
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // What is still in the buffer need not reach a file that goes away.
            drop(file.into_parts());
            // Nobody is left to hear of an error.
            let _ = self.dir.remove(&self.temporary);
        }
    }
}
