//! From the bytes of a file to its cells, by the decoders of `codec`.

use tsloom_codec::compress::{CompressScratch, decompress};
use tsloom_codec::{DecodeScratch, decode, decode_times};
use tsloom_file::{ChunkRef, PageRef, SeriesRef};
use tsloom_format::StatisticsRef;
use tsloom_model::{Cell, Values};

fn body(page: &PageRef<'_>, chunk: &ChunkRef<'_>) -> Vec<u8> {
    let mut body = Vec::new();
    let mut scratch = CompressScratch::default();
    decompress(chunk.header().compression, page.body, page.uncompressed_size as usize, &mut body, &mut scratch).unwrap();
    body
}

pub(crate) fn chunk_at(bytes: &[u8], offset: u64) -> ChunkRef<'_> {
    ChunkRef::parse(&bytes[offset as usize..], offset).unwrap()
}

/// The times of one chunk, page by page.
pub(crate) fn times(chunk: &ChunkRef<'_>, statistics: StatisticsRef<'_>) -> Vec<Vec<i64>> {
    let page_times = |page: PageRef<'_>| {
        let rows = page.statistics.unwrap_or(statistics).count() as usize;
        let mut times = Vec::new();
        decode_times(chunk.header().encoding, &body(&page, chunk), rows, &mut times, &mut DecodeScratch::default()).unwrap();
        times
    };
    chunk.pages().map(|page| page_times(page.unwrap())).collect()
}

/// The cells of one value page of `rows` rows.
fn cells(page: PageRef<'_>, chunk: &ChunkRef<'_>, rows: usize) -> Vec<Option<Cell>> {
    if page.is_empty() {
        return vec![None; rows];
    }
    let data_type = chunk.header().series_type.data_type().unwrap();
    let body = body(&page, chunk);
    assert_eq!(i32::from_be_bytes(*body.first_chunk().unwrap()) as usize, rows);
    let presence = tsloom_bitmap::PresenceView::new(&body[4..], rows).unwrap();
    let encoded = &body[4 + rows.div_ceil(8)..];
    let mut values = Values::new(data_type.physical());
    let count = presence.present_count();
    decode(chunk.header().encoding, data_type, encoded, count, &mut values, &mut DecodeScratch::default()).unwrap();
    let mut next = 0..count;
    let cell = |row| presence.is_present(row).then(|| Cell::from(values.as_values().get(next.next().unwrap())));
    (0..rows).map(cell).collect()
}

/// All cells of one series, in row order; `None` for a null.
pub(crate) fn column(bytes: &[u8], series: SeriesRef<'_>, page_rows: &[Vec<usize>]) -> Vec<Option<Cell>> {
    assert_eq!(series.chunk_count(), page_rows.len(), "a chunk in every group");
    let mut column = Vec::new();
    for (meta, page_rows) in series.chunks().zip(page_rows) {
        let chunk = chunk_at(bytes, meta.offset);
        assert_eq!(chunk.header().measurement, series.name());
        let pages: Vec<_> = chunk.pages().map(Result::unwrap).collect();
        let start = column.len();
        if pages.is_empty() {
            column.resize(column.len() + page_rows.iter().sum::<usize>(), None);
        } else {
            assert_eq!(pages.len(), page_rows.len(), "pages of {}", series.name());
            for (page, rows) in pages.into_iter().zip(page_rows) {
                let cells = cells(page, &chunk, *rows);
                let present = cells.iter().flatten().count();
                assert!(page.statistics.is_none_or(|statistics| statistics.count() as usize == present));
                column.extend(cells);
            }
        }
        assert_eq!(meta.statistics.count() as usize, column[start..].iter().flatten().count());
    }
    column
}
