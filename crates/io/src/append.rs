//! A [`LogFile`] as a stream, for writers that only ever go forward.

use std::io::{self, Write};

use crate::LogFile;

/// Writes at the end of what it has written, starting at byte 0.
///
/// There is no buffer here: wrap it in a `BufWriter` when the writes are small. `flush` does not sync.
pub struct AppendFile {
    file: Box<dyn LogFile>,
    position: u64,
}

impl AppendFile {
    /// Starts at byte 0 of `file`.
    pub fn new(file: Box<dyn LogFile>) -> Self {
        Self { file, position: 0 }
    }

    /// Goes on at byte `position` of `file`.
    pub fn at(file: Box<dyn LogFile>, position: u64) -> Self {
        Self { file, position }
    }

    /// Where the next byte goes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    /// What the operating system says; see [`LogFile::sync`].
    pub fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

impl Write for AppendFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write_at(bytes, self.position)?;
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stream");
        let mut out = AppendFile::new(Box::new(std::fs::File::create(&path).unwrap()));
        out.write_all(b"ab").unwrap();
        out.write_all(b"cde").unwrap();
        out.sync().unwrap();
        assert_eq!((out.position(), std::fs::read(&path).unwrap()), (5, b"abcde".to_vec()));
    }
}
