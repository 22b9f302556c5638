//! Bytes that count how they are read.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use tsloom_io::ReadAt;

/// A source that counts its reads, in an `Arc` for whoever wants to know.
#[derive(Debug)]
pub struct CountedReads<R> {
    source: R,
    reads: AtomicU64,
    bytes: AtomicU64,
}

impl<R: ReadAt> CountedReads<R> {
    /// Nothing was read yet.
    pub fn new(source: R) -> Self {
        Self { source, reads: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// Reads since the last call, and their bytes.
    pub fn take(&self) -> (u64, u64) {
        (self.reads.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

impl<R: ReadAt> ReadAt for CountedReads<R> {
    fn size(&self) -> io::Result<u64> {
        self.source.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(buf.len() as u64, Ordering::Relaxed);
        self.source.read_exact_at(buf, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_is_counted_once() {
        let counted = CountedReads::new(b"0123456789".to_vec());
        let mut two = [0; 2];
        counted.read_exact_at(&mut two, 3).unwrap();
        assert!(counted.read_exact_at(&mut two, 9).is_err());
        assert_eq!((&two, counted.size().unwrap()), (b"34", 10));
        assert_eq!(counted.take(), (2, 4));
        assert_eq!(counted.take(), (0, 0));
    }
}
