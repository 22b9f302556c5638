//! The named bounds that a length from outside meets before anything is sized by it.

use crate::{Error, ErrorKind, Grouped, Result};

/// Upper bounds on what one piece of input may ask for. Every field can be raised; errors name the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one read from a file, such as a chunk or the metadata of one device.
    pub read_bytes_max: u64,
    /// Bytes of one page after decompression.
    pub page_bytes_max: u64,
    /// Rows of one page.
    pub page_rows_max: u64,
}

impl Default for Limits {
    /// 64 MiB a read, 64 MiB a page, 4 Mi rows a page.
    fn default() -> Self {
        Self { read_bytes_max: 64 << 20, page_bytes_max: 64 << 20, page_rows_max: 4 << 20 }
    }
}

impl Limits {
    /// `size` as a buffer length, or an error that names `read_bytes_max`.
    pub fn read_size(&self, size: u64) -> Result<usize> {
        within(size, self.read_bytes_max, "read_bytes_max")
    }

    /// `size` as a buffer length, or an error that names `page_bytes_max`.
    pub fn page_size(&self, size: u64) -> Result<usize> {
        within(size, self.page_bytes_max, "page_bytes_max")
    }

    /// `count` as a row count, or an error that names `page_rows_max`.
    pub fn page_rows(&self, count: u64) -> Result<usize> {
        within(count, self.page_rows_max, "page_rows_max")
    }
}

fn within(asked: u64, limit: u64, name: &'static str) -> Result<usize> {
    match usize::try_from(asked) {
        Ok(size) if asked <= limit => Ok(size),
        _ => {
            Err(Error::new(ErrorKind::LimitExceeded, format!("{} is past the limit {name} = {}", Grouped(asked), Grouped(limit))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_limit_to_raise() {
        let error = Limits::default().page_size(1 << 40).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert_eq!(error.to_string(), "1,099,511,627,776 is past the limit page_bytes_max = 67,108,864");
        assert_eq!(Limits::default().page_size(64 << 20).unwrap(), 64 << 20);
    }
}
