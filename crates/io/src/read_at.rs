//! Reading at a position, without a cursor, so that threads can share one open file.

use std::fs::File;
use std::io;
use std::sync::Arc;

/// Bytes that can be read at any position, by many threads at once.
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    ///
    /// # Errors
    /// What the operating system says.
    fn size(&self) -> io::Result<u64>;

    /// Fills `buf` with the bytes from `offset` on. Interrupted and short reads are continued inside.
    ///
    /// # Errors
    /// `UnexpectedEof` when fewer bytes are left; `buf` then holds anything.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buf, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buf, offset) {
                Ok(0) => return Err(past_the_end()),
                Ok(count) => {
                    buf = &mut buf[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The cursor is shared here, so one read at a time in the whole process.
    #[cfg(not(any(unix, windows)))]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        use std::sync::{Mutex, PoisonError};

        static CURSOR: Mutex<()> = Mutex::new(());
        let _one_at_a_time = CURSOR.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buf)
    }
}

impl ReadAt for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| past_the_end())?;
        let end = start.checked_add(buf.len()).ok_or_else(past_the_end)?;
        buf.copy_from_slice(self.get(start..end).ok_or_else(past_the_end)?);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buf, offset)
    }
}

macro_rules! read_through {
    ($($pointer:ty),+) => { $(
        impl<T: ReadAt + ?Sized> ReadAt for $pointer {
            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
                (**self).read_exact_at(buf, offset)
            }
        }
    )+ };
}

read_through!(&T, Arc<T>, Box<T>);

#[cold]
fn past_the_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the read goes past the end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn check_all(source: &dyn ReadAt) {
        assert_eq!(source.size().unwrap(), 10);
        for start in 0..=12_usize {
            for size in 0..=12_usize {
                let mut buf = vec![0xaa; size];
                let read = source.read_exact_at(&mut buf, start as u64);
                if start + size <= 10 {
                    read.unwrap();
                    assert_eq!(buf, b"0123456789"[start..start + size]);
                } else if size > 0 {
                    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{start} {size}");
                }
            }
        }
        assert!(source.read_exact_at(&mut [0], u64::MAX).is_err());
    }

    #[test]
    fn slices_vectors_files_and_pointers_read_alike() {
        check_all(&b"0123456789".as_slice());
        check_all(&b"0123456789".to_vec());
        check_all(&Arc::new(b"0123456789".to_vec()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ten");
        File::create(&path).unwrap().write_all(b"0123456789").unwrap();
        check_all(&File::open(&path).unwrap());
        let shared: Arc<dyn ReadAt> = Arc::new(File::open(&path).unwrap());
        check_all(&shared);
    }

    #[test]
    fn threads_share_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        let bytes: Vec<u8> = (0..4096_u32).flat_map(u32::to_be_bytes).collect();
        std::fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        std::thread::scope(|scope| {
            for first in 0..4_u32 {
                let file = &file;
                scope.spawn(move || {
                    for word in (first..4096).step_by(4) {
                        let mut buf = [0; 4];
                        file.read_exact_at(&mut buf, u64::from(word) * 4).unwrap();
                        assert_eq!(u32::from_be_bytes(buf), word);
                    }
                });
            }
        });
    }
}
