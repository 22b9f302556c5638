//! Writing at a position, and making it durable.

use std::fs::File;
use std::io;

/// A file that is written at positions its one owner chooses.
///
/// What was written may be lost or torn by a crash until [`sync`](Self::sync) has returned `Ok`. After a failed sync
/// nothing is known about any byte written since the last one that succeeded: a later sync proves nothing.
pub trait LogFile: Send {
    /// Writes some of `bytes` at `offset` and says how many; the file grows as needed.
    ///
    /// # Errors
    /// What the operating system says; `Interrupted` means that nothing was written.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Makes all bytes and the size durable. The name is the directory's matter: [`Dir::sync`](crate::Dir::sync).
    ///
    /// # Errors
    /// What the operating system says; see the trait for what that means.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file, or fills it with zeros, to `size` bytes.
    ///
    /// # Errors
    /// What the operating system says.
    fn truncate(&mut self, size: u64) -> io::Result<()>;

    /// How many bytes the file has.
    ///
    /// # Errors
    /// What the operating system says.
    fn size(&self) -> io::Result<u64>;

    /// Writes all of `bytes` at `offset`; interrupted and short writes are continued.
    ///
    /// # Errors
    /// What the operating system says; any part of `bytes` may have been written then.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.write_at(&bytes[done..], offset + done as u64) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the file takes no more bytes")),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl LogFile for File {
    #[cfg(unix)]
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, offset)
    }

    #[cfg(not(unix))]
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        use std::io::{Seek, SeekFrom, Write};
        self.seek(SeekFrom::Start(offset))?;
        self.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes at most three bytes a call, and is interrupted before each.
    struct Grudging {
        bytes: Vec<u8>,
        interrupted: bool,
        size_max: usize,
    }

    impl LogFile for Grudging {
        fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(io::ErrorKind::Interrupted.into());
            }
            assert_eq!(offset, self.bytes.len() as u64);
            let count = bytes.len().min(3).min(self.size_max - self.bytes.len());
            self.bytes.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn truncate(&mut self, size: u64) -> io::Result<()> {
            self.bytes.truncate(size as usize);
            Ok(())
        }

        fn size(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }
    }

    #[test]
    fn short_and_interrupted_writes_are_continued() {
        let mut file = Grudging { bytes: Vec::new(), interrupted: false, size_max: 12 };
        file.write_all_at(b"0123456789", 0).unwrap();
        assert_eq!(file.bytes, b"0123456789");
        let full = file.write_all_at(b"abcd", 10).unwrap_err();
        assert_eq!((full.kind(), file.bytes.len()), (io::ErrorKind::WriteZero, 12));
    }

    #[test]
    fn a_file_is_overwritten_cut_and_grown_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file: Box<dyn LogFile> = Box::new(File::create(&path).unwrap());
        file.write_all_at(b"hello world", 0).unwrap();
        file.write_all_at(b"W", 6).unwrap();
        file.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"hello World");
        file.truncate(5).unwrap();
        file.write_all_at(b"!", 6).unwrap();
        assert_eq!((file.size().unwrap(), std::fs::read(&path).unwrap()), (7, b"hello\0!".to_vec()));
    }
}
