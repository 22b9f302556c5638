//! What the writer writes is what was given, whatever the shape: read back by the reader of this crate and the decoders
//! of `codec`, cell by cell, with the statistics a naive walk over the rows gives.
#![expect(clippy::unwrap_used, reason = "what does not read back is a failed test")]

#[path = "common/samples.rs"]
mod samples;

use std::collections::BTreeMap;

use samples::{Cell, Row, Sample};
use tsloom_codec::compress::{CompressScratch, decompress};
use tsloom_codec::{DecodeScratch, decode, decode_times};
use tsloom_file::{ChunkRef, DeviceSeries, FileReader, PageRef, SeriesRef};
use tsloom_format::{SeriesType, StatisticsRef};
use tsloom_model::{DataType, DeviceId, Limits, Value, Values};

type Reader = FileReader<Vec<u8>>;

fn body(page: &PageRef<'_>, chunk: &ChunkRef<'_>) -> Vec<u8> {
    let mut body = Vec::new();
    let mut scratch = CompressScratch::default();
    decompress(chunk.header().compression, page.body, page.uncompressed_size as usize, &mut body, &mut scratch).unwrap();
    body
}

fn chunk_at(bytes: &[u8], offset: u64) -> ChunkRef<'_> {
    ChunkRef::parse(&bytes[offset as usize..], offset).unwrap()
}

/// The times of one chunk, page by page.
fn times(chunk: &ChunkRef<'_>, statistics: StatisticsRef<'_>) -> Vec<Vec<i64>> {
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
    let cell = |row| presence.is_present(row).then(|| owned(values.as_values().get(next.next().unwrap())));
    (0..rows).map(cell).collect()
}

fn owned(value: Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Boolean(value) => Cell::Boolean(value),
        Value::Int32(value) => Cell::Int32(value),
        Value::Int64(value) => Cell::Int64(value),
        Value::Float(value) => Cell::Float(value),
        Value::Double(value) => Cell::Double(value),
        Value::Text(bytes) => Cell::Text(bytes.to_vec()),
    }
}

/// All cells of one series, in row order; `None` for a null.
fn column(bytes: &[u8], series: SeriesRef<'_>, page_rows: &[Vec<usize>]) -> Vec<Option<Cell>> {
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

fn check_statistics(series: SeriesRef<'_>, rows: &[&Row], field: usize) {
    let present: Vec<_> = rows.iter().filter(|row| row.cells[field] != Cell::Null).collect();
    let statistics = series.statistics();
    assert_eq!(statistics.count() as usize, present.len());
    if let (Some(first), Some(last)) = (present.first(), present.last()) {
        assert_eq!((statistics.start_time(), statistics.end_time()), (first.time, last.time));
    }
}

fn check_device(bytes: &[u8], series: &DeviceSeries, sample: &Sample, rows: &[&Row]) {
    let time = series.time().unwrap();
    let time_chunks: Vec<_> = time.chunks().map(|meta| times(&chunk_at(bytes, meta.offset), meta.statistics)).collect();
    let all_times: Vec<i64> = time_chunks.iter().flatten().flatten().copied().collect();
    assert_eq!(all_times, rows.iter().map(|row| row.time).collect::<Vec<_>>());
    let page_rows: Vec<Vec<usize>> = time_chunks.iter().map(|pages| pages.iter().map(Vec::len).collect()).collect();

    let table = sample.table(&rows[0].device);
    let mut seen = 1;
    for (field, index) in table.fields().enumerate() {
        let schema = &table.columns()[index];
        let expected: Vec<Option<Cell>> =
            rows.iter().map(|row| Some(row.cells[field].clone()).filter(|cell| *cell != Cell::Null)).collect();
        let Some(position) = series.position(&schema.name) else {
            assert!(expected.iter().all(Option::is_none), "{} is not in the file", schema.name);
            continue;
        };
        seen += 1;
        let series = series.get(position);
        assert_eq!(series.series_type(), SeriesType::Value(schema.data_type));
        let got = column(bytes, series, &page_rows);
        assert!(got == expected, "{}: {} differs", sample.name, schema.name);
        check_statistics(series, rows, field);
    }
    assert_eq!(series.len(), seen, "no series but those of the schema");
}

fn check(sample: &Sample) {
    let (bytes, summary) = sample.write(Vec::new()).unwrap();
    assert_eq!((summary.size, summary.row_count), (bytes.len() as u64, sample.rows.len() as u64));
    let reader: Reader = FileReader::new(bytes.clone(), sample.name, Limits::default()).unwrap();
    let mut tables = sample.tables.clone();
    tables.sort_by(|a, b| a.name().cmp(b.name()));
    assert!(reader.tables().eq(&tables));

    let mut expected: BTreeMap<&DeviceId, Vec<&Row>> = BTreeMap::new();
    sample.rows.iter().for_each(|row| expected.entry(&row.device).or_default().push(row));
    let mut cursor = reader.all_devices();
    let mut series = DeviceSeries::default();
    let mut series_count = 0;
    for (id, rows) in &expected {
        assert!(cursor.advance(&reader).unwrap());
        assert!(cursor.device().is(id), "{}: {:?} in place of {id}", sample.name, cursor.device());
        cursor.read_series(&reader, &mut series).unwrap();
        check_device(&bytes, &series, sample, rows);
        let filter = reader.metadata().bloom_filter.as_ref().unwrap();
        assert!(series.iter().all(|series| filter.may_contain(format!("{id}.{}", series.name()).as_bytes())));
        series_count += series.len() as u64;
        assert!(reader.find_device(id, &mut series).unwrap());
    }
    assert!(!cursor.advance(&reader).unwrap());
    assert_eq!((summary.device_count, summary.series_count), (expected.len() as u64, series_count));
}

#[test]
fn every_sample_comes_back_cell_by_cell() {
    samples::samples().iter().for_each(check);
}

#[test]
fn bytes_do_not_depend_on_how_rows_were_batched() {
    for mut sample in samples::samples().into_iter().filter(|sample| sample.flush_rows == 0 && sample.name != "small_memory") {
        let (bytes, _) = sample.write(Vec::new()).unwrap();
        for batch_rows in [1, 7, 1000] {
            sample.batch_rows = batch_rows;
            let (other, _) = sample.write(Vec::new()).unwrap();
            assert!(bytes == other, "{} in batches of {batch_rows}", sample.name);
        }
        // The order of devices does not matter either: groups go out in device order.
        sample.rows.sort_by(|a, b| (&b.device, a.time).cmp(&(&a.device, b.time)));
        let (other, _) = sample.write(Vec::new()).unwrap();
        assert!(bytes == other, "{} device by device", sample.name);
    }
}

#[test]
fn pages_end_at_the_row_bound_whatever_the_column() {
    let sample = samples::samples().into_iter().find(|sample| sample.name == "pages").unwrap();
    let (bytes, _) = sample.write(Vec::new()).unwrap();
    let reader: Reader = FileReader::new(bytes.clone(), "pages", Limits::default()).unwrap();
    let mut series = DeviceSeries::default();
    assert!(reader.find_device(&sample.rows[0].device, &mut series).unwrap());
    let meta = series.time().unwrap().chunks().next().unwrap();
    let rows: Vec<usize> = times(&chunk_at(&bytes, meta.offset), meta.statistics).iter().map(Vec::len).collect();
    assert_eq!(rows, [vec![16; 12], vec![8]].concat());
}

#[test]
fn a_page_with_very_long_texts_is_alone_in_its_chunks() {
    let sample = samples::samples().into_iter().find(|sample| sample.name == "long_strings").unwrap();
    let (bytes, _) = sample.write(Vec::new()).unwrap();
    let reader: Reader = FileReader::new(bytes.clone(), "long_strings", Limits::default()).unwrap();
    let mut series = DeviceSeries::default();
    assert!(reader.find_device(&sample.rows[0].device, &mut series).unwrap());
    let pages_of =
        |meta: &tsloom_format::ChunkMeta<'_>| chunk_at(&bytes, meta.offset).pages().map(Result::unwrap).collect::<Vec<_>>();
    let mut wide_chunks = 0;
    for meta in series.iter().flat_map(|series| series.chunks()) {
        let is_wide = meta.statistics.body().len() > 4000;
        wide_chunks += usize::from(is_wide);
        assert!(!is_wide || pages_of(&meta).len() == 1);
        // libtsfile reads page headers of up to 4 KiB.
        let page_statistics = pages_of(&meta).into_iter().filter_map(|page| page.statistics);
        assert!(page_statistics.map(|statistics| statistics.body().len()).all(|size| size < 4000));
    }
    assert!(wide_chunks >= 3, "{wide_chunks} chunks of one page");
    let page_counts: Vec<usize> = series.time().unwrap().chunks().map(|meta| pages_of(&meta).len()).collect();
    assert!(page_counts.iter().sum::<usize>() == 9 && page_counts.iter().any(|count| *count > 1), "{page_counts:?}");
}
