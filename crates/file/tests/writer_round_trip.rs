//! What the writer writes is what was given, whatever the shape: read back by the reader of this crate and the decoders
//! of `codec`, cell by cell, with the statistics a naive walk over the rows gives.
#![expect(clippy::unwrap_used, reason = "what does not read back is a failed test")]

#[path = "common/decode.rs"]
mod decode;
#[path = "common/samples.rs"]
mod samples;

use std::collections::BTreeMap;

use decode::{chunk_at, column, times};
use samples::{Row, Sample};
use tsloom_file::{DeviceSeries, FileReader, FileWriter, Recovery, SeriesRef, WriterOptions};
use tsloom_format::SeriesType;
use tsloom_model::{Cell, ColumnSchema, DataType, DeviceId, Encoding, ErrorKind, Limits, TableSchema};

type Reader = FileReader<Vec<u8>>;

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
    let counts = check_bytes(sample, &bytes);
    assert_eq!((summary.device_count, summary.series_count), counts);
}

/// Every cell of the file, and nothing else in it. Returns the numbers of devices and series.
fn check_bytes(sample: &Sample, bytes: &[u8]) -> (u64, u64) {
    let reader: Reader = FileReader::new(bytes.to_vec(), sample.name, Limits::default()).unwrap();
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
        check_device(bytes, &series, sample, rows);
        let filter = reader.metadata().bloom_filter.as_ref().unwrap();
        assert!(series.iter().all(|series| filter.may_contain(format!("{id}.{}", series.name()).as_bytes())));
        series_count += series.len() as u64;
        assert!(reader.find_device(id, &mut series).unwrap());
    }
    assert!(!cursor.advance(&reader).unwrap());
    (expected.len() as u64, series_count)
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

/// The body of a file that was written in several chunk groups a device, and where it ends.
fn body_of(sample: &Sample) -> (Vec<u8>, Recovery) {
    let (bytes, _) = sample.write(Vec::new()).unwrap();
    let recovery = Recovery::of(&bytes, &Limits::default()).unwrap();
    assert_eq!(recovery.separator, Some(recovery.whole_size));
    assert!(recovery.stopped_by.is_none() && recovery.groups.len() > 8);
    (bytes[..recovery.whole_size as usize].to_vec(), recovery)
}

fn sample_of(name: &str) -> Sample {
    samples::samples().into_iter().find(|sample| sample.name == name).unwrap()
}

#[test]
fn of_a_cut_file_the_whole_groups_are_found() {
    let (body, all) = body_of(&sample_of("groups"));
    for size in (7..body.len()).step_by(41).chain([body.len()]) {
        let expected = all.groups.iter().filter(|group| group.offset + group.size <= size as u64);
        let expected: Vec<_> = expected.cloned().collect();
        let found = Recovery::of(&body[..size], &Limits::default()).unwrap();
        // A cut between two chunks cannot be told from the end of a group.
        let (whole, last) = found.groups.split_at(expected.len());
        assert_eq!(whole, expected, "{size} bytes");
        assert!(last.len() <= 1 && last.iter().all(|group| group.offset + group.size == size as u64), "{size} {last:?}");
        let end = found.groups.last().map_or(7, |group| group.offset + group.size);
        assert_eq!((found.whole_size, found.separator), (end, None));

        let padded = [&body[..size], &[0; 4096]].concat();
        let with_zeros = Recovery::of(&padded, &Limits::default()).unwrap().groups;
        // Zeros make no group, and no chunk longer; they hide one that ends in zeros itself.
        let hidden = found.groups.get(with_zeros.len()..).unwrap_or_default();
        assert!(found.groups.starts_with(&with_zeros) && hidden.len() <= 1, "{size} bytes");
        assert!(
            hidden
                .iter()
                .all(|group| body[(group.offset + group.size) as usize - 1] == 0 || group.offset + group.size == size as u64)
        );
    }
}

#[test]
fn a_cut_file_is_gone_on_with() {
    let sample = sample_of("groups");
    let (body, all) = body_of(&sample);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.tsfile");
    let middle = &all.groups[all.groups.len() / 2];
    for size in [7, 100, middle.offset + 3, middle.offset + middle.size, middle.offset + middle.size - 1, body.len() as u64] {
        let mut cut = body[..size as usize].to_vec();
        cut.resize(cut.len() + 1000, 0);
        std::fs::write(&path, &cut).unwrap();
        assert_eq!(FileReader::open(&path).unwrap_err().kind(), ErrorKind::Truncated);

        let mut writer = FileWriter::resume(&path, sample.options.clone(), &sample.tables, &[], Limits::default()).unwrap();
        for row in &sample.rows {
            if writer.last_time(&row.device).is_none_or(|last| last < row.time) {
                samples::write_batch(&mut writer, sample.table(&row.device), std::slice::from_ref(row)).unwrap();
            }
        }
        let (sink, summary) = writer.finish().unwrap();
        sink.into_inner().map_err(std::io::IntoInnerError::into_error).unwrap().sync().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((summary.size, summary.row_count), (bytes.len() as u64, sample.rows.len() as u64));
        assert_eq!((summary.device_count, summary.series_count), check_bytes(&sample, &bytes));
    }
    let finished = FileWriter::resume(&path, WriterOptions::default(), &sample.tables, &[], Limits::default());
    assert_eq!(finished.map(|_| ()).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn metadata_read_in_small_pieces_is_the_same() {
    for name in ["devices_700", "devices_700_degree_4"] {
        let (bytes, summary) = sample_of(name).write(Vec::new()).unwrap();
        let walk = |read_bytes_max: u64| {
            let limits = Limits { read_bytes_max, ..Limits::default() };
            let reader: Reader = FileReader::new(bytes.clone(), name, limits).unwrap();
            let mut cursor = reader.all_devices();
            let mut series = DeviceSeries::default();
            let mut seen = Vec::new();
            while cursor.advance(&reader).unwrap() {
                cursor.read_series(&reader, &mut series).unwrap();
                let offsets = series.iter().flat_map(|series| series.chunks()).map(|chunk| chunk.offset);
                seen.push((cursor.device().to_id(), offsets.collect::<Vec<_>>()));
            }
            seen
        };
        let all = walk(Limits::default().read_bytes_max);
        assert_eq!(all.len() as u64, summary.device_count);
        for read_bytes_max in [12_000, 40_000] {
            assert!(walk(read_bytes_max) == all, "{name} in pieces of {read_bytes_max} bytes");
        }
    }
}

/// SPRINTZ has no room for the steps of some pages: these and what follows them in the chunk are PLAIN.
#[test]
fn pages_that_sprintz_refuses_are_plain() {
    let table = TableSchema::builder("steps")
        .tag("id")
        .column(ColumnSchema::field("v", DataType::Int64).encoding(Encoding::Sprintz))
        .build()
        .unwrap();
    let narrow: fn(i64) -> Cell = Cell::Int64;
    let wide: fn(i64) -> Cell = |time| Cell::Int64(if time % 2 == 0 { i64::MIN / 2 } else { i64::MAX / 2 - time });
    let null: fn(i64) -> Cell = |_| Cell::Null;
    let cases = [
        ("a", vec![narrow, narrow, wide, narrow, wide], vec![Encoding::Sprintz, Encoding::Plain]),
        ("b", vec![wide, narrow], vec![Encoding::Plain]),
        ("c", vec![null, wide, null], vec![Encoding::Plain]),
        ("d", vec![narrow, null, narrow], vec![Encoding::Sprintz]),
    ];
    let page_rows = 18;
    let mut rows = Vec::new();
    for (tag, pages, _) in &cases {
        for (time, page) in (0..).zip(pages.iter().flat_map(|page| std::iter::repeat_n(page, page_rows))) {
            rows.push(Row { device: DeviceId::new("steps", [Some(*tag)]), time, cells: vec![page(time)] });
        }
    }
    let options = WriterOptions::builder().page_rows_max(page_rows).build().unwrap();
    let sample = Sample { name: "steps", options, tables: vec![table], rows, batch_rows: 50, flush_rows: 0 };
    check(&sample);

    let (bytes, _) = sample.write(Vec::new()).unwrap();
    let reader: Reader = FileReader::new(bytes.clone(), "steps", Limits::default()).unwrap();
    let mut series = DeviceSeries::default();
    for (tag, _, expected) in cases {
        assert!(reader.find_device(&DeviceId::new("steps", [Some(tag)]), &mut series).unwrap());
        let values = series.get(series.position("v").unwrap());
        let encodings: Vec<Encoding> = values.chunks().map(|meta| chunk_at(&bytes, meta.offset).header().encoding).collect();
        assert_eq!(encodings, expected, "{tag}");
    }
}

/// Metadata that waited in a temporary file comes out as if it had not.
#[test]
fn spilled_metadata_makes_the_same_file() {
    // The pairs of type and encoding differ in their pages only.
    for mut sample in
        samples::samples().into_iter().filter(|sample| !sample.name.contains("pairs") && !sample.name.contains("java_only"))
    {
        let whole = sample.write(Vec::new()).unwrap();
        for metadata_bytes_max in [0, 5_000] {
            sample.options = sample.options.to_builder().metadata_bytes_max(metadata_bytes_max).build().unwrap();
            assert!(sample.write(Vec::new()).unwrap() == whole, "{}", sample.name);
        }
    }
}
