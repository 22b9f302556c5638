//! Where the parts of a wire tablet lie. Found in one walk over untrusted bytes, and checked on the way.

use tsloom_encoding::{Truncated, WireError, WireReader};
use tsloom_model::{ColumnCategory, ColumnSchema, Compression, DataType, Encoding, Error, ErrorKind, FileOffset, Result};

/// Fewest bytes of one column in the schema section: flag, name size, three codes, property count, category.
const COLUMN_SIZE_MIN: usize = 13;

/// Positions found by [`TabletView::parse_with`](crate::TabletView::parse_with); its memory is reused from one tablet to the next.
#[derive(Clone, Debug, Default)]
pub struct TabletLayout {
    pub(crate) target: Option<Span>,
    pub(crate) row_count: usize,
    pub(crate) times_at: usize,
    pub(crate) has_bitmap_section: bool,
    pub(crate) columns: Vec<ColumnPlace>,
    /// For each present text column, the position after each of its cells.
    pub(crate) cell_ends: Vec<u32>,
    /// The head that the columns were found in, to know it again: devices send the same one each time. Empty when none is known.
    head: Vec<u8>,
    /// Position of the row count in the head.
    row_count_at: usize,
}

impl TabletLayout {
    /// An empty layout.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes over a head that is the one before, byte for byte but for the row count. False, and nothing read, when it is not.
    fn pass_known_head(&mut self, wire: &mut WireReader<'_>) -> Result<bool> {
        let (size, at) = (self.head.len(), self.row_count_at);
        let Some(head) = wire.rest().get(..size).filter(|_| size > 0) else { return Ok(false) };
        if head[..at] != self.head[..at] || head[at + 4..] != self.head[at + 4..] {
            return Ok(false);
        }
        wire.skip(at)?;
        self.row_count = count(wire, "row count")?;
        wire.skip(size - at - 4)?;
        self.cell_ends.clear();
        for column in &mut self.columns {
            (column.bitmap, column.slots) = (None, None);
        }
        Ok(true)
    }
}

/// [`walk_head`] for a layout that is used again: it knows the head of the tablet before.
pub(crate) fn walk_head_again(wire: &mut WireReader<'_>, layout: &mut TabletLayout) -> Result<()> {
    if layout.pass_known_head(wire)? {
        return Ok(());
    }
    layout.head.clear();
    let bytes = wire.rest();
    walk_head(wire, layout)?;
    layout.row_count_at = layout.target.map_or(4, |target| target.end as usize);
    layout.head.extend_from_slice(&bytes[..wire.position()]);
    Ok(())
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// One column of a wire tablet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnPlace {
    pub(crate) name: Span,
    pub(crate) data_type: DataType,
    pub(crate) encoding: Encoding,
    pub(crate) compression: Compression,
    pub(crate) category: ColumnCategory,
    pub(crate) prop_count: u32,
    pub(crate) props_at: u32,
    /// Bytes of the bitmap, at least the rows / 8 that are needed.
    pub(crate) bitmap: Option<Span>,
    /// Slots of all rows.
    pub(crate) slots: Option<Span>,
    /// Index of the first of the column's cell ends.
    pub(crate) cells_at: usize,
}

/// A reader over a whole tablet. Positions are kept in 32 bits.
pub(crate) fn reader(bytes: &[u8]) -> Result<WireReader<'_>> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(Error::new(ErrorKind::LimitExceeded, format!("a tablet of {} bytes; 4 GiB is the most", bytes.len())));
    }
    Ok(WireReader::new(bytes))
}

/// The range of bytes that was just read.
fn span_before(wire: &WireReader<'_>, size: usize) -> Span {
    // Positions fit: `reader` has refused longer input.
    let end = wire.position() as u32;
    Span { start: end - size as u32, end }
}

/// Target, row count and schema section.
pub(crate) fn walk_head(wire: &mut WireReader<'_>, layout: &mut TabletLayout) -> Result<()> {
    layout.columns.clear();
    layout.cell_ends.clear();
    let target = wire.istr_utf8()?;
    layout.target = target.map(|target| span_before(wire, target.len()));
    layout.row_count = count(wire, "row count")?;
    if !wire.bool()? {
        return Ok(());
    }
    let at = wire.position();
    let column_count = count(wire, "column count")?;
    let need = column_count.saturating_mul(COLUMN_SIZE_MIN);
    if need > wire.remaining() {
        return Err(Truncated { need, have: wire.remaining(), at }.into());
    }
    layout.columns.reserve(column_count);
    for _ in 0..column_count {
        let place = match plain_schema(wire) {
            Some(place) => place,
            None => walk_schema(wire)?,
        };
        layout.columns.push(place);
    }
    Ok(())
}

/// A column with an ASCII name and without properties, as nearly all are; anything else is left to [`walk_schema`].
fn plain_schema(wire: &mut WireReader<'_>) -> Option<ColumnPlace> {
    let rest = wire.rest();
    let ([1, size @ ..], rest) = rest.split_first_chunk::<5>()? else { return None };
    let (name, rest) = rest.split_at_checked(usize::try_from(i32::from_be_bytes(*size)).ok()?)?;
    let [data_type, encoding, compression, 0, 0, 0, 0, category] = *rest.first_chunk::<8>()? else { return None };
    if !name.is_ascii() {
        return None;
    }
    let start = wire.position() as u32 + 5;
    let end = start + name.len() as u32;
    let place = ColumnPlace {
        name: Span { start, end },
        data_type: DataType::from_code(data_type)?,
        encoding: Encoding::from_code(encoding)?,
        compression: Compression::from_code(compression)?,
        category: ColumnCategory::from_code(category)?,
        prop_count: 0,
        props_at: end + 7,
        bitmap: None,
        slots: None,
        cells_at: 0,
    };
    if place.category == ColumnCategory::Tag && !place.data_type.is_text() {
        return None;
    }
    wire.skip(13 + name.len()).ok()?;
    Some(place)
}

fn walk_schema(wire: &mut WireReader<'_>) -> Result<ColumnPlace> {
    let at = wire.position();
    if !wire.bool()? {
        return Err(corrupt(at, "a column without a schema".to_owned()));
    }
    let size = wire.istr_present()?.len();
    let name = span_before(wire, size);
    let data_type = code(wire, "data type", DataType::from_code)?;
    let encoding = code(wire, "encoding", Encoding::from_code)?;
    let compression = code(wire, "compression", Compression::from_code)?;
    let prop_count = count(wire, "property count")?;
    let props_at = wire.position();
    for _ in 0..prop_count {
        wire.istr_present()?;
        wire.istr_utf8()?;
    }
    let at = wire.position();
    let category = code(wire, "column category", ColumnCategory::from_code)?;
    if category == ColumnCategory::Tag && !data_type.is_text() {
        return Err(corrupt(at, format!("a TAG is text, not {data_type}")));
    }
    Ok(ColumnPlace {
        name,
        data_type,
        encoding,
        compression,
        category,
        prop_count: prop_count as u32,
        props_at: props_at as u32,
        bitmap: None,
        slots: None,
        cells_at: 0,
    })
}

#[inline]
fn code<T>(wire: &mut WireReader<'_>, what: &str, from_code: impl Fn(u8) -> Option<T>) -> Result<T> {
    let at = wire.position();
    let code = wire.u8()?;
    from_code(code).ok_or_else(|| {
        Error::new(ErrorKind::Unsupported, format!("{code} is the code of no {what}")).at(FileOffset::new(at as u64))
    })
}

/// A count that is not negative. What it counts is not known to be there.
fn count(wire: &mut WireReader<'_>, what: &str) -> Result<usize> {
    let at = wire.position();
    let count = wire.i32()?;
    usize::try_from(count).map_err(|_| corrupt(at, format!("{what} {count} is negative")))
}

/// The times, or none for a tablet without rows.
pub(crate) fn times<'a>(wire: &mut WireReader<'a>, row_count: usize) -> Result<&'a [u8]> {
    let at = wire.position();
    if !wire.bool()? {
        if row_count == 0 {
            return Ok(&[]);
        }
        return Err(corrupt(at, format!("{row_count} rows without times")));
    }
    let size = row_count.checked_mul(8).ok_or_else(|| corrupt(at, format!("{row_count} rows")))?;
    Ok(wire.bytes(size)?)
}

/// The bitmap of one column, if it has one: bytes that reach to the last row.
pub(crate) fn bitmap<'a>(wire: &mut WireReader<'a>, row_count: usize) -> Result<Option<&'a [u8]>> {
    if !wire.bool()? {
        return Ok(None);
    }
    let at = wire.position();
    let size = count(wire, "bitmap size")?;
    let bytes = wire.ibin()?;
    if size < row_count || bytes.len() < row_count.div_ceil(8) {
        return Err(corrupt(at, format!("a bitmap of {size} bits in {} bytes for {row_count} rows", bytes.len())));
    }
    Ok(Some(bytes))
}

/// Bitmap and value sections, after [`walk_head`]. The bytes end here.
pub(crate) fn walk_body(wire: &mut WireReader<'_>, layout: &mut TabletLayout) -> Result<()> {
    let row_count = layout.row_count;
    let times = times(wire, row_count)?;
    layout.times_at = wire.position() - times.len();
    layout.has_bitmap_section = wire.bool()?;
    if layout.has_bitmap_section {
        match wire.rest().get(..layout.columns.len()) {
            // No bitmap at all, as in most tablets.
            Some(flags) if flags.iter().all(|flag| *flag == 0) => wire.skip(flags.len())?,
            _ => {
                for column in &mut layout.columns {
                    column.bitmap = bitmap(wire, row_count)?.map(|bytes| span_before(wire, bytes.len()));
                }
            }
        }
    }
    if wire.bool()? {
        for column in &mut layout.columns {
            if wire.bool()? {
                column.cells_at = layout.cell_ends.len();
                let start = wire.position();
                match column.data_type.physical().width() {
                    Some(width) => wire.skip(row_count.saturating_mul(width))?,
                    None => walk_cells(wire, row_count, &mut layout.cell_ends)?,
                }
                column.slots = Some(span_before(wire, wire.position() - start));
            }
        }
    }
    end(wire)
}

/// Nothing follows a tablet.
pub(crate) fn end(wire: &WireReader<'_>) -> Result<()> {
    if wire.is_empty() {
        return Ok(());
    }
    Err(corrupt(wire.position(), format!("{} bytes follow the tablet", wire.remaining())))
}

/// Notes where each text cell ends. Where a cell begins is known only after the one before: this chain of load and add bounds
/// every reader of the format where lengths differ, so the positions are kept.
fn walk_cells(wire: &mut WireReader<'_>, row_count: usize, ends: &mut Vec<u32>) -> Result<()> {
    if row_count > wire.remaining() {
        return Err(Truncated { need: row_count, have: wire.remaining(), at: wire.position() }.into());
    }
    let (base, bytes) = (wire.position(), wire.rest());
    let first = ends.len();
    ends.resize(first + row_count, 0);
    let mut at = 0;
    for ends in ends[first..].chunks_mut(RUN) {
        if let Some(length) = equal_cells(&bytes[at..])
            && ends.len() == RUN
        {
            for end in ends {
                at += 5 + length;
                *end = (base + at) as u32;
            }
            continue;
        }
        for end in ends {
            let rest = &bytes[at..];
            at += match short_cell(rest) {
                Some(length) if length <= rest.len() - 5 => 5 + length,
                _ => cell_size(rest).map_err(|error| cell_error(error, base + at))?,
            };
            *end = (base + at) as u32;
        }
    }
    wire.skip(at)?;
    Ok(())
}

/// Length of a cell that is there and shorter than 256 bytes, judged by its head alone. Then the next position hangs on one load of
/// one byte: no swap is in the chain.
#[inline(always)]
pub(crate) fn short_cell(bytes: &[u8]) -> Option<usize> {
    let [flag, s0, s1, s2, s3] = *bytes.first_chunk::<5>()?;
    (u32::from_le_bytes([flag, s0, s1, s2]) == 1).then_some(usize::from(s3))
}

/// Cells whose heads are looked at together by [`equal_cells`].
pub(crate) const RUN: usize = 8;

/// Length of the next [`RUN`] cells, when all of them are there, short and of one length, as those of tags and codes are: then no
/// position waits for the cell before it.
#[inline(always)]
pub(crate) fn equal_cells(bytes: &[u8]) -> Option<usize> {
    let length = short_cell(bytes)?;
    let size = 5 + length;
    let cells = bytes.get(..RUN * size)?;
    // One look at the next cell first: where lengths differ, that is all this costs.
    if cells[size..].first_chunk::<5>()? != bytes.first_chunk::<5>()? {
        return None;
    }
    let mut differences = 0;
    for index in 2..RUN {
        let [flag, s0, s1, s2, s3] = *cells[index * size..].first_chunk::<5>()?;
        differences |= u32::from_le_bytes([flag, s0, s1, s2]) ^ 1 | u32::from(s3) ^ length as u32;
    }
    (differences == 0).then_some(length)
}

/// Size of the cell at the front of `bytes`, flag and length included; it is all there.
pub(crate) fn cell_size(bytes: &[u8]) -> Result<usize, WireError> {
    if let Some(head) = bytes.first_chunk::<5>()
        && head[0] == 1
    {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        // A negative length is above 2 GiB here, and so past the end of all that is not refused below.
        if length as usize <= bytes.len() - 5 && length <= i32::MAX as u32 {
            return Ok(5 + length as usize);
        }
    } else if bytes.first() == Some(&0) {
        return Ok(1);
    }
    Err(bad_cell(bytes))
}

#[cold]
fn bad_cell(bytes: &[u8]) -> WireError {
    let mut wire = WireReader::new(bytes);
    let read = wire.bool().and_then(|_| wire.ibin().map(|_| ()));
    read.expect_err("a cell that can be read has a size")
}

#[cold]
pub(crate) fn cell_error(error: WireError, at: usize) -> Error {
    let shifted = match error {
        WireError::Truncated(truncated) => WireError::Truncated(Truncated { at: truncated.at + at, ..truncated }),
        WireError::NegativeLength { at: inner, length } => WireError::NegativeLength { at: inner + at, length },
        WireError::BadBool { at: inner, byte } => WireError::BadBool { at: inner + at, byte },
        other => other,
    };
    shifted.into()
}

/// The schema of a column, owned.
pub(crate) fn schema_of(bytes: &[u8], place: &ColumnPlace) -> Result<ColumnSchema> {
    let mut props = WireReader::new(&bytes[place.props_at as usize..]);
    let mut owned = Vec::with_capacity(place.prop_count as usize);
    for _ in 0..place.prop_count {
        let key = props.istr_present()?.to_owned();
        owned.push((key, props.istr_utf8()?.map(str::to_owned)));
    }
    Ok(ColumnSchema {
        name: String::from_utf8_lossy(place.name.of(bytes)).into_owned(),
        data_type: place.data_type,
        encoding: place.encoding,
        compression: place.compression,
        category: place.category,
        props: owned,
    })
}

#[cold]
pub(crate) fn corrupt(at: usize, message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at as u64))
}
