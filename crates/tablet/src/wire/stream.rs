//! The wire form in pieces, for a target that gives no slice: a stream, or a buffer of several parts.

use tsloom_bitmap::{BitMap, NullWords};
use tsloom_encoding::bulk;
use tsloom_model::{Result, ValuesRef};

use super::{bitmap_head, fill_bitmap, fill_slots, wire_row_count};
use crate::rows::{ColumnRows, TabletRef};

/// Bytes of the buffer on the stack. It stays in the first-level cache.
const BUFFER_SIZE: usize = 8 << 10;

/// Collects pieces and hands on whole buffers.
struct Stream<'s> {
    buffer: [u8; BUFFER_SIZE],
    used: usize,
    send: &'s mut dyn FnMut(&[u8]) -> Result<()>,
}

impl Stream<'_> {
    /// The next `size` bytes of the buffer, at most its size.
    fn take(&mut self, size: usize) -> Result<&mut [u8]> {
        if size > BUFFER_SIZE - self.used {
            self.flush()?;
        }
        let start = self.used;
        self.used += size;
        Ok(&mut self.buffer[start..start + size])
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > BUFFER_SIZE {
            self.flush()?;
            return (self.send)(bytes);
        }
        self.take(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    fn zeros(&mut self, count: usize) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let part = left.min(BUFFER_SIZE);
            self.take(part)?.fill(0);
            left -= part;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        (self.send)(&self.buffer[..self.used])?;
        self.used = 0;
        Ok(())
    }
}

impl TabletRef<'_> {
    /// Hands the bytes of the wire form to `send`, piece by piece.
    pub(super) fn stream(&self, send: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let row_count = self.row_count();
        let column_count = self.columns().len();
        let mut out = Stream { buffer: [0; BUFFER_SIZE], used: 0, send };

        let (head, at) = (self.head().wire(), self.head().row_count_at());
        out.put(&head[..at])?;
        out.put(&wire_row_count(row_count))?;
        out.put(&head[at + 4..])?;

        out.put(&[1])?;
        for times in self.times().chunks(BUFFER_SIZE / 8) {
            bulk::write_i64s(out.take(times.len() * 8)?, times);
        }

        if self.has_bitmap_section() {
            out.put(&[1])?;
            let mut next = 0;
            for (index, nulls) in self.marked_columns() {
                out.zeros(index - next)?;
                next = index + 1;
                out.put(&bitmap_head(row_count))?;
                stream_bitmap(&mut out, nulls)?;
            }
            out.zeros(column_count - next)?;
        } else {
            out.put(&[0])?;
        }

        out.put(&[1])?;
        let mut next = 0;
        for column in self.written_columns() {
            if let Some(values) = column.values {
                out.zeros(column.index - next)?;
                next = column.index + 1;
                out.put(&[1])?;
                stream_slots(&mut out, values, &column)?;
            }
        }
        out.zeros(column_count - next)?;
        out.flush()
    }
}

fn stream_bitmap(out: &mut Stream<'_>, nulls: NullWords<'_>) -> Result<()> {
    const ROWS: usize = BUFFER_SIZE * 8;
    let row_count = nulls.row_count();
    let mut start = 0;
    while row_count - start >= ROWS {
        let mut bytes = [0; BUFFER_SIZE];
        for (index, word) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *word = nulls.word(start / 64 + index).to_le_bytes();
        }
        out.put(&bytes)?;
        start += ROWS;
    }
    fill_bitmap(out.take(BitMap::wire_bytes(row_count - start))?, nulls.slice(start, row_count - start));
    Ok(())
}

fn stream_slots(out: &mut Stream<'_>, values: ValuesRef<'_>, column: &ColumnRows<'_>) -> Result<()> {
    let row_count = values.len();
    let mut start = 0;
    while start < row_count {
        let count = match values {
            ValuesRef::Text(text) => match cells_that_fit(&text.offsets()[start..]) {
                0 => {
                    let is_null = column.nulls.is_some_and(|nulls| nulls.is_null(start));
                    stream_long_cell(out, text.get(start), is_null)?;
                    start += 1;
                    continue;
                }
                count => count,
            },
            fixed => (BUFFER_SIZE / fixed.physical().width().expect("all but text have a width")).min(row_count - start),
        };
        let part = values.slice(start, count);
        let nulls = column.nulls.map(|nulls| nulls.slice(start, count)).filter(NullWords::any_null);
        let rows = ColumnRows { nulls, values: Some(part), ..*column };
        fill_slots(out.take(rows.slots_size(part))?, part, &rows);
        start += count;
    }
    Ok(())
}

/// Cells from the first offset on that fit the buffer, counted as if none were null.
fn cells_that_fit(offsets: &[u32]) -> usize {
    let size_of = |count: usize| (offsets[count] - offsets[0]) as usize + count * 5;
    let most = (offsets.len() - 1).min(BUFFER_SIZE / 5);
    if size_of(most) <= BUFFER_SIZE {
        return most;
    }
    // The first count that is too many, by halving.
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if size_of(middle) <= BUFFER_SIZE { low = middle } else { high = middle }
    }
    low
}

/// A cell longer than the buffer.
fn stream_long_cell(out: &mut Stream<'_>, cell: &[u8], is_null: bool) -> Result<()> {
    if is_null {
        return out.put(&[0]);
    }
    out.put(&[1])?;
    out.put(&wire_row_count(cell.len()))?;
    out.put(cell)
}
