//! A chunk in memory, and its pages as they lie in the file.

use tsloom_encoding::WireReader;
use tsloom_format::{ChunkHeader, PageHeader, StatisticsRef};
use tsloom_model::{Error, ErrorKind, FileOffset, Grouped, Result};

/// A whole chunk: its header, and the bytes of its pages.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRef<'a> {
    header: ChunkHeader<'a>,
    data: &'a [u8],
    data_offset: u64,
    size: u64,
}

impl<'a> ChunkRef<'a> {
    /// The chunk that begins with the first of these bytes, which is at `offset` in the file. The bytes may go past it.
    ///
    /// # Errors
    /// Truncated when the chunk goes past the bytes; corrupt or unsupported when they do not begin with a chunk header.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let mut wire = WireReader::with_base(bytes, offset as usize);
        let header = ChunkHeader::parse(&mut wire).map_err(|error| error.in_place("chunk header"))?;
        let header_size = bytes.len() - wire.remaining();
        let data = wire.bytes(header.data_size as usize).map_err(|short| {
            let message = format!(
                "data size {} goes past the end ({} bytes left)",
                Grouped(u64::from(header.data_size)),
                Grouped(short.have as u64)
            );
            Error::new(ErrorKind::Truncated, message).at(FileOffset::new(offset)).in_place("chunk header")
        })?;
        let (data_offset, size) = (offset.saturating_add(header_size as u64), header_size as u64 + data.len() as u64);
        Ok(Self { header, data, data_offset, size })
    }

    /// Size of the chunk that begins with `prefix`, header included, or `None` when the header goes past the prefix.
    ///
    /// # Errors
    /// When the prefix does not begin with a chunk header.
    pub fn size_of(prefix: &[u8], offset: u64) -> Result<Option<u64>> {
        let mut wire = WireReader::with_base(prefix, offset as usize);
        match ChunkHeader::parse(&mut wire) {
            Ok(header) => Ok(Some((prefix.len() - wire.remaining()) as u64 + u64::from(header.data_size))),
            Err(error) if error.kind() == ErrorKind::Truncated => Ok(None),
            Err(error) => Err(error.in_place("chunk header")),
        }
    }

    /// The header.
    pub fn header(&self) -> &ChunkHeader<'a> {
        &self.header
    }

    /// Bytes of the whole chunk.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The pages in order. A chunk without a value may have none.
    pub fn pages(&self) -> PageIter<'a> {
        PageIter { wire: WireReader::with_base(self.data, self.data_offset as usize), header: self.header, page_count: 0 }
    }
}

/// One page: what its header says, and its body as it lies in the file.
#[derive(Clone, Copy, Debug)]
pub struct PageRef<'a> {
    /// Bytes of the body after decompression; 0 for the empty page.
    pub uncompressed_size: u32,
    /// The body, compressed.
    pub body: &'a [u8],
    /// Offset of the body in the file.
    pub offset: u64,
    /// Only in chunks of many pages, and not in empty pages; else the statistics of the chunk are those of the page.
    pub statistics: Option<StatisticsRef<'a>>,
}

impl PageRef<'_> {
    /// True for the one-byte page in which every row is null.
    pub fn is_empty(&self) -> bool {
        self.uncompressed_size == 0
    }
}

/// The pages of a chunk; ends after the first error.
#[derive(Clone, Debug)]
pub struct PageIter<'a> {
    wire: WireReader<'a>,
    header: ChunkHeader<'a>,
    page_count: usize,
}

impl<'a> PageIter<'a> {
    fn read(&mut self) -> Result<PageRef<'a>> {
        let at = self.wire.position();
        let refuse = |message: String| Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at as u64));
        if self.header.one_page && self.page_count > 0 {
            return Err(refuse("a second page in a chunk of one page".to_owned()));
        }
        self.page_count += 1;
        let page = PageHeader::parse(&mut self.wire, self.header.series_type, self.header.one_page)?;
        let offset = self.wire.position() as u64;
        let body = self.wire.bytes(page.compressed_size as usize).map_err(|short| {
            let size = Grouped(u64::from(page.compressed_size));
            let left = Grouped(short.have as u64);
            refuse(format!("compressed size {size} is past the end of the chunk ({left} bytes left)"))
        })?;
        Ok(PageRef { uncompressed_size: page.uncompressed_size, body, offset, statistics: page.statistics })
    }
}

impl<'a> Iterator for PageIter<'a> {
    type Item = Result<PageRef<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.wire.is_empty() {
            return None;
        }
        let page = self.read();
        if page.is_err() {
            self.wire = WireReader::new(&[]);
        }
        Some(page.map_err(|error| error.in_place("page header")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value chunk "v" of INT32 whose pages are these bytes.
    fn chunk(marker: u8, pages: &[u8]) -> Vec<u8> {
        [&[marker, 2, b'v', pages.len() as u8, 1, 0, 0], pages].concat()
    }

    fn statistics(count: u8) -> Vec<u8> {
        let mut bytes = vec![0; 41];
        bytes[0] = count;
        bytes
    }

    #[test]
    fn pages_of_both_kinds_of_chunk() {
        let one = chunk(0x45, &[3, 2, b'a', b'b']);
        let parsed = ChunkRef::parse(&one, 1000).unwrap();
        let pages: Vec<_> = parsed.pages().map(Result::unwrap).collect();
        assert_eq!((pages.len(), pages[0].body, pages[0].offset), (1, &b"ab"[..], 1009));
        assert_eq!((parsed.size(), ChunkRef::size_of(&one, 1000).unwrap()), (11, Some(11)));

        let many = chunk(0x41, &[&[0][..], &[3, 1], &statistics(7), b"x", &[0]].concat());
        let pages: Vec<_> = ChunkRef::parse(&many, 0).unwrap().pages().map(Result::unwrap).collect();
        assert_eq!(pages.iter().map(PageRef::is_empty).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(pages[1].statistics.map(|statistics| statistics.count()), Some(7));

        assert_eq!(ChunkRef::parse(&chunk(0x45, &[]), 0).unwrap().pages().count(), 0);
    }

    #[test]
    fn sizes_that_lie_are_errors_with_their_place() {
        let long = chunk(0x45, &[3, 9, b'a']);
        let error = ChunkRef::parse(&long, 1000).unwrap().pages().next().unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "page header at offset 1007: compressed size 9 is past the end of the chunk (1 bytes left)"
        );
        let second = chunk(0x45, &[0, 0]);
        let pages: Vec<_> = ChunkRef::parse(&second, 1000).unwrap().pages().collect();
        let error = pages[1].as_ref().unwrap_err();
        assert_eq!(error.to_string(), "page header at offset 1008: a second page in a chunk of one page");
        assert_eq!(pages.len(), 2);
        let error = ChunkRef::parse(&long[..long.len() - 1], 1000).unwrap_err();
        assert_eq!(error.to_string(), "chunk header at offset 1000: data size 3 goes past the end (2 bytes left)");
    }

    #[test]
    fn a_header_that_goes_past_the_prefix_has_no_size_yet() {
        let whole = chunk(0x45, &[0]);
        for size in 0..7 {
            assert_eq!(ChunkRef::size_of(&whole[..size], 0).unwrap(), None);
        }
        assert_eq!(ChunkRef::size_of(&whole[..7], 0).unwrap(), Some(8));
        assert_eq!(ChunkRef::size_of(&[0x99], 5).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
