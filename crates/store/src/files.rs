//! The files of a store: names, and how they are opened.

use std::sync::Arc;

use tsloom_file::FileReader;
use tsloom_io::{Dir, ReadAt};
use tsloom_model::{Error, Limits, Result};

use crate::manifest::FileEntry;

pub(crate) const FOLDER: &str = "data";
pub(crate) const LOCK_NAME: &str = "LOCK";

/// A reader of a file of the store.
pub(crate) type Reader = FileReader<Arc<dyn ReadAt>>;

/// One file of the store, open.
#[derive(Clone)]
pub(crate) struct OpenFile {
    pub(crate) entry: FileEntry,
    pub(crate) reader: Arc<Reader>,
}

impl OpenFile {
    pub(crate) fn open(dir: &dyn Dir, entry: FileEntry, limits: Limits) -> Result<Self> {
        let name = name(entry.number);
        let source = dir.open_read(&name).map_err(|error| Error::from(error).in_file(&name))?;
        let reader = FileReader::new(source, &name, limits)?;
        Ok(Self { entry, reader: Arc::new(reader) })
    }
}

pub(crate) fn name(number: u64) -> String {
    format!("{FOLDER}/{number:06}.tsfile")
}

pub(crate) fn temporary_name(number: u64) -> String {
    format!("{FOLDER}/{number:06}.tmp")
}

/// The number of a finished or unfinished file of ours; `None` for a name that is none of ours.
pub(crate) fn number_of(file: &str) -> Option<u64> {
    let (digits, kind) = file.split_once('.')?;
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let ours = if kind == "tmp" { temporary_name(number) } else { name(number) };
    (ours.strip_prefix("data/") == Some(file)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_have_a_number() {
        assert_eq!(number_of("000012.tsfile"), Some(12));
        assert_eq!(number_of("000012.tmp"), Some(12));
        for other in ["12.tsfile", "000012.tsfile.bak", "notes.txt", "00001x.tmp", "000012"] {
            assert_eq!(number_of(other), None, "{other}");
        }
    }
}
