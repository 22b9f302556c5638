//! Reading a file: its tail and footer at once, the rest on demand.
//!
//! ```text
//! 0            magic, version
//! 7            body            chunks, found by the offsets in the series metadata
//! body_end     02              separator
//! ..           metadata area   series metadata and index nodes
//! footer       TsFileMetadata  size in the last ten bytes
//! size
//! ```
//!
//! Opening reads the last 64 KiB in one go, which for most files holds the footer and for small ones the whole metadata.

mod cursor;
mod find;
mod series;
mod window;

pub use cursor::DeviceCursor;
pub use series::{DeviceSeries, SeriesRef};

use std::fs::File;
use std::path::Path;

use tsloom_encoding::WireReader;
use tsloom_format::{HEAD_SIZE, MAGIC, TAIL_SIZE, TableRoot, TsFileMetadata, VERSION, VERSION_3, marker};
use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Limits, Result, TableSchema};

use crate::ReadOptions;

/// Bytes read at once when a file is opened.
const TAIL_READ_SIZE: u64 = 64 << 10;

/// An open TsFile of version 4 or 3. Cheap to share in an `Arc`; every method reads at a position.
#[derive(Debug)]
pub struct FileReader<R = File> {
    source: R,
    name: Box<str>,
    size: u64,
    version: u8,
    options: ReadOptions,
    metadata: TsFileMetadata,
    /// Offset of the footer, where the metadata area ends.
    footer_offset: u64,
    /// The metadata area, when it came along with the tail.
    area: Option<Box<[u8]>>,
}

impl FileReader<File> {
    /// Opens a file with the default limits.
    ///
    /// # Errors
    /// See [`new`](Self::new); errors name the path.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a file.
    ///
    /// # Errors
    /// See [`new`](Self::new); errors name the path.
    pub fn open_with(path: impl AsRef<Path>, options: impl Into<ReadOptions>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| Error::from(error).in_file(path))?;
        Self::new(file, &path.to_string_lossy(), options)
    }
}

impl<R: ReadAt> FileReader<R> {
    /// Opens a file that lies in `source`; `name` is what errors call it.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] for a file without its end, which is one whose writer did not finish;
    /// [`ErrorKind::Corrupt`] for what is no TsFile or contradicts itself; [`ErrorKind::Unsupported`] for versions 1 and 2
    /// and for encrypted files; [`ErrorKind::LimitExceeded`] for a footer past `limits.read_bytes_max`.
    pub fn new(source: R, name: &str, options: impl Into<ReadOptions>) -> Result<Self> {
        Self::open_source(source, name, options.into()).map_err(|error| error.in_file(name))
    }

    fn open_source(source: R, name: &str, options: ReadOptions) -> Result<Self> {
        let size = source.size()?;
        let tail_offset = size - size.min(TAIL_READ_SIZE);
        let mut tail = vec![0; (size - tail_offset) as usize];
        source.read_exact_at(&mut tail, tail_offset)?;

        let version = if tail_offset == 0 {
            check_head(&tail)?
        } else {
            let mut head = [0; HEAD_SIZE + 5];
            source.read_exact_at(&mut head, 0)?;
            check_head(&head)?
        };
        let footer_offset = footer_offset(&tail, size)?;
        let footer_size = size - TAIL_SIZE as u64 - footer_offset;

        let footer_bytes;
        let footer = if footer_offset >= tail_offset {
            let start = (footer_offset - tail_offset) as usize;
            &tail[start..start + footer_size as usize]
        } else {
            let mut bytes = vec![0; options.limits.read_size(footer_size).map_err(|error| error.in_place("footer size"))?];
            source.read_exact_at(&mut bytes, footer_offset)?;
            footer_bytes = bytes;
            &footer_bytes[..]
        };
        let mut wire = WireReader::with_base(footer, footer_offset as usize);
        let mut metadata = TsFileMetadata::parse(version, &mut wire).map_err(|error| error.in_place("footer"))?;
        // C++ writes the schemas in the order of a hash table.
        metadata.schemas.sort_by(|a, b| a.name().cmp(b.name()));
        check_metadata(&metadata, footer_offset)?;

        let area = (metadata.meta_offset >= tail_offset).then(|| {
            let (start, end) = (metadata.meta_offset - tail_offset, footer_offset - tail_offset);
            Box::from(&tail[start as usize..end as usize])
        });
        let reader = Self { source, name: name.into(), size, version, options, metadata, footer_offset, area };
        reader.check_separator()?;
        Ok(reader)
    }

    fn check_separator(&self) -> Result<()> {
        let offset = self.metadata.meta_offset;
        match self.area.as_deref().and_then(|area| area.first()) {
            Some(&byte) if byte != marker::SEPARATOR => {
                let message = format!("the body should end here, but there is {byte:#04x}");
                Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(offset)).in_place("separator"))
            }
            _ => Ok(()),
        }
    }

    /// Where the bytes are.
    pub(crate) fn source(&self) -> &R {
        &self.source
    }

    /// Offset of the footer, where the metadata area ends.
    pub(crate) fn footer_offset(&self) -> u64 {
        self.footer_offset
    }

    /// What errors call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The format's version, 4 or 3.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The bounds that lengths in the file must keep.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// How the file is read.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// The footer.
    pub fn metadata(&self) -> &TsFileMetadata {
        &self.metadata
    }

    /// The schemas of all tables, ascending by name. A tree-model file has none.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &TableSchema> {
        self.metadata.schemas.iter()
    }

    /// The schema of a table; its name is compared as stored, then lower-cased.
    pub fn table(&self, name: &str) -> Option<&TableSchema> {
        self.metadata.schema(name).or_else(|| self.metadata.schema(&name.to_lowercase()))
    }

    /// Names in the device index, ascending: tables, and segment 0 of tree-model devices. A version 3 file has the one
    /// name "" for all its devices.
    pub fn table_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.metadata.tables.iter().map(TableRoot::name)
    }

    /// One past the last byte of the body: no chunk reaches further.
    pub fn body_end(&self) -> u64 {
        self.metadata.meta_offset
    }

    /// All devices of one table in the order of the file. A table that is not there has none.
    pub fn devices(&self, table: &str) -> DeviceCursor {
        DeviceCursor::of_table(table)
    }

    /// All devices of the file.
    pub fn all_devices(&self) -> DeviceCursor {
        DeviceCursor::of_all()
    }

    /// Fills `into` with `size` bytes from `offset` on, by one read.
    ///
    /// # Errors
    /// When the size is past `limits.read_bytes_max`, or the file is shorter.
    pub fn read_range(&self, offset: u64, size: u64, into: &mut Vec<u8>) -> Result<()> {
        let size = self.check_range(offset, size)?;
        into.resize(size, 0);
        self.read_exact(offset, into)
    }

    /// Fills `into` from `offset` on, by one read.
    ///
    /// # Errors
    /// When the file is shorter, or the operating system says no.
    pub fn read_exact(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.source.read_exact_at(into, offset).map_err(|error| self.blame(Error::from(error).at(FileOffset::new(offset))))
    }

    fn check_range(&self, offset: u64, size: u64) -> Result<usize> {
        let limited = self.options.limits.read_size(size).map_err(|error| self.blame(error.at(FileOffset::new(offset))))?;
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(limited),
            _ => {
                let message = format!("{} bytes go past the end of the file ({} bytes)", Grouped(size), Grouped(self.size));
                Err(self.blame(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(offset))))
            }
        }
    }

    /// The same error with the name of this file, for errors about bytes that came from it.
    #[cold]
    #[must_use]
    pub fn blame(&self, error: Error) -> Error {
        error.in_file(&*self.name)
    }
}

/// The version of the file that begins with these bytes.
pub(crate) fn check_head(head: &[u8]) -> Result<u8> {
    let refuse = |kind, message: String| Err(Error::new(kind, message).at(FileOffset::new(0)).in_place("file head"));
    let Some((magic, rest)) = head.split_first_chunk::<6>() else {
        return refuse(ErrorKind::Truncated, format!("{} bytes are no TsFile", head.len()));
    };
    if magic != MAGIC {
        return refuse(ErrorKind::Corrupt, format!("this is no TsFile: it begins with {:?}", magic.escape_ascii().to_string()));
    }
    match *rest {
        [VERSION | VERSION_3, ..] => Ok(rest[0]),
        [b'0', b'0', b'0', b'0', b'0', version @ b'0'..=b'9', ..] => {
            refuse(ErrorKind::Unsupported, format!("version {} of the format is too old; 3 and 4 can be read", version - b'0'))
        }
        [version, ..] => refuse(ErrorKind::Unsupported, format!("version {version} of the format is not known")),
        [] => refuse(ErrorKind::Truncated, "the version is missing".to_owned()),
    }
}

/// Where the footer begins, from the last bytes of a file of this size.
fn footer_offset(tail: &[u8], size: u64) -> Result<u64> {
    let tail_at = size.saturating_sub(TAIL_SIZE as u64);
    let refuse = |kind, message: String| Err(Error::new(kind, message).at(FileOffset::new(tail_at)).in_place("file tail"));
    let unfinished = || {
        let message = "the file has no end: its writer did not finish, or it was cut; what is whole can be recovered";
        refuse(ErrorKind::Truncated, message.to_owned())
    };
    let Some((_, end)) = tail.split_last_chunk::<TAIL_SIZE>().filter(|_| size >= (HEAD_SIZE + TAIL_SIZE) as u64) else {
        return unfinished();
    };
    if end[4..] != *MAGIC {
        return unfinished();
    }
    let footer_size = i32::from_be_bytes([end[0], end[1], end[2], end[3]]);
    let room = tail_at - HEAD_SIZE as u64;
    match u64::try_from(footer_size) {
        Ok(footer_size) if footer_size > 0 && footer_size <= room => Ok(tail_at - footer_size),
        _ => refuse(ErrorKind::Corrupt, format!("footer size {footer_size} does not fit into {} bytes", Grouped(room))),
    }
}

fn check_metadata(metadata: &TsFileMetadata, footer_offset: u64) -> Result<()> {
    let refuse = |kind, message: String| Err(Error::new(kind, message).at(FileOffset::new(footer_offset)).in_place("footer"));
    let level = metadata.property("encryptLevel").unwrap_or(b"0");
    if level != b"0" {
        let message = format!("the file is encrypted (level {}), which cannot be read", level.escape_ascii());
        return refuse(ErrorKind::Unsupported, message);
    }
    if !(HEAD_SIZE as u64..footer_offset).contains(&metadata.meta_offset) {
        let message = format!("the body cannot end at {}", Grouped(metadata.meta_offset));
        return refuse(ErrorKind::Corrupt, message);
    }
    Ok(())
}
