//! Pages built byte by byte, so that the expected rows do not come from our own writer.

use proptest::prelude::*;
use tsloom_block::{Block, BlockLayout};
use tsloom_model::{Compression, DataType, Encoding, FileOffset, Value};

use super::*;

/// A body with PLAIN values at offset 1,000 of its file.
fn plain(bytes: &[u8]) -> PageBody<'_> {
    PageBody {
        bytes,
        uncompressed_size: bytes.len() as u64,
        compression: Compression::Uncompressed,
        encoding: Encoding::Plain,
        offset: FileOffset::new(1_000),
    }
}

fn time_bytes(times: &[i64]) -> Vec<u8> {
    times.iter().flat_map(|time| time.to_be_bytes()).collect()
}

/// A value page of PLAIN INT64.
fn int64_bytes(cells: &[Option<i64>]) -> Vec<u8> {
    value_bytes(cells, |value, out| out.extend_from_slice(&value.to_be_bytes()))
}

/// A value page of PLAIN text: zigzag varint length (short texts only), bytes.
fn text_bytes(cells: &[Option<String>]) -> Vec<u8> {
    value_bytes(cells, |text, out| {
        assert!(text.len() < 64);
        out.push(text.len() as u8 * 2);
        out.extend_from_slice(text.as_bytes());
    })
}

fn value_bytes<T>(cells: &[Option<T>], put: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = (cells.len() as i32).to_be_bytes().to_vec();
    out.extend(cells.chunks(8).map(|eight| {
        eight.iter().enumerate().fold(0_u8, |byte, (row, cell)| byte | if cell.is_some() { 0x80 >> row } else { 0 })
    }));
    cells.iter().flatten().for_each(|cell| put(cell, &mut out));
    out
}

fn range(times: &[i64]) -> TimeRange {
    TimeRange { start: times[0], end: times[times.len() - 1] }
}

fn int64_page(bytes: &[u8]) -> ValuePage<'_> {
    ValuePage { body: plain(bytes), data_type: DataType::Int64 }
}

fn block() -> Block {
    Block::new(&BlockLayout::new(16, [("v", DataType::Int64), ("s", DataType::String)]))
}

fn cells(column: &Column) -> Vec<Value<'_>> {
    (0..column.row_count()).map(|row| column.value(row)).collect()
}

/// Opens three rows and reads one value page, which must fail like this.
fn check_value_error(page: &ValuePage<'_>, kind: ErrorKind, message: &str) {
    let mut reader = PageReader::default();
    reader.open(&plain(&time_bytes(&[1, 2, 3])), 3, TimeRange { start: 1, end: 3 }).unwrap();
    for skipped in [0, 1] {
        reader.skip(skipped);
        let mut block = block();
        block.column_mut(0).push_nulls(1);
        let error = reader.append_values(Some(page), TimeRanges::NONE, block.column_mut(0)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
        assert_eq!(block.column(0).row_count(), 1, "nothing is kept");
    }
}

fn check_time_error(page: &PageBody<'_>, row_count: u64, times: TimeRange, kind: ErrorKind, message: &str) {
    let mut reader = PageReader::default();
    let error = reader.open(page, row_count, times).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
    assert_eq!((reader.times(), reader.selected_count()), (&[][..], 0));
}

#[test]
fn rows_in_a_time_range_and_their_nulls() {
    let times: Vec<i64> = (0..10).map(|row| row * 10).collect();
    let numbers: Vec<Option<i64>> = (0..10).map(|row| (row % 3 != 0).then_some(row - 5)).collect();
    let texts: Vec<Option<String>> = (0..10).map(|row| (row % 4 == 1).then(|| "t".repeat(row))).collect();
    let (number_page, text_page) = (int64_bytes(&numbers), text_bytes(&texts));
    let mut reader = PageReader::new(Limits::default());
    let mut block = block();
    for (wanted, rows) in [
        (TimeRange::ALL, 0..10),
        (TimeRange { start: 20, end: 50 }, 2..6),
        (TimeRange { start: 21, end: 49 }, 3..5),
        (TimeRange { start: 21, end: 29 }, 3..3),
        (TimeRange { start: -5, end: 0 }, 0..1),
        (TimeRange { start: 90, end: i64::MAX }, 9..10),
        (TimeRange { start: 91, end: i64::MAX }, 10..10),
        (TimeRange::EMPTY, 0..0),
    ] {
        block.clear();
        reader.open(&plain(&time_bytes(&times)), 10, range(&times)).unwrap();
        reader.select_times(wanted);
        let (into_times, columns) = block.parts_mut();
        reader.append_times(into_times);
        reader.append_values(Some(&int64_page(&number_page)), TimeRanges::NONE, &mut columns[0]).unwrap();
        let page = ValuePage { body: plain(&text_page), data_type: DataType::Text };
        reader.append_values(Some(&page), TimeRanges::NONE, &mut columns[1]).unwrap();
        assert!(block.check());
        assert_eq!(block.times(), &times[rows.clone()]);
        assert_eq!(cells(block.column(0)), numbers[rows.clone()].iter().map(|v| (*v).into()).collect::<Vec<_>>());
        assert_eq!(cells(block.column(1)), texts[rows].iter().map(|v| v.as_deref().into()).collect::<Vec<_>>());
    }
}

#[test]
fn absent_and_empty_and_all_null_pages_are_nulls() {
    let mut reader = PageReader::default();
    reader.open(&plain(&time_bytes(&[1, 2, 3])), 3, TimeRange { start: 1, end: 3 }).unwrap();
    let mut block = block();
    // The decoder of an all-null page is never asked: these bytes are no GORILLA.
    let all_null = PageBody { encoding: Encoding::Gorilla, ..plain(&[0, 0, 0, 3, 0]) };
    for page in [None, Some(plain(&[])), Some(all_null)] {
        let page = page.map(|body| ValuePage { body, data_type: DataType::Int64 });
        reader.append_values(page.as_ref(), TimeRanges::NONE, block.column_mut(0)).unwrap();
    }
    assert_eq!(cells(block.column(0)), [Value::Null; 9]);
}

#[test]
fn padding_bits_of_the_presence_mean_nothing() {
    let mut reader = PageReader::default();
    reader.open(&plain(&time_bytes(&[1, 2])), 2, TimeRange { start: 1, end: 2 }).unwrap();
    let mut block = block();
    let page = [0, 0, 0, 2, 0b1011_1111, 0, 0, 0, 0, 0, 0, 0, 7];
    reader.append_values(Some(&int64_page(&page)), TimeRanges::NONE, block.column_mut(0)).unwrap();
    assert_eq!(cells(block.column(0)), [Value::Int64(7), Value::Null]);
}

#[test]
fn a_time_page_without_rows_is_legal() {
    let mut reader = PageReader::default();
    reader.open(&plain(&[]), 0, TimeRange { start: 0, end: 0 }).unwrap();
    let mut block = block();
    reader.append_values(Some(&int64_page(&[0, 0, 0, 0])), TimeRanges::NONE, block.column_mut(0)).unwrap();
    assert_eq!((reader.times(), block.column(0).row_count()), (&[][..], 0));
}

#[test]
fn time_pages_that_lie() {
    use ErrorKind::{Corrupt, LimitExceeded};
    let bytes = time_bytes(&[1, 5, 3]);
    let all = TimeRange { start: 1, end: 3 };
    check_time_error(&plain(&bytes), 3, all, Corrupt, "time page at offset 1000: times do not rise strictly");
    check_time_error(&plain(&time_bytes(&[1, 3, 3])), 3, all, Corrupt, "time page at offset 1000: times do not rise strictly");
    check_time_error(
        &plain(&bytes),
        3,
        TimeRange { start: 0, end: 3 },
        Corrupt,
        "time page at offset 1000: times go from 1 to 3, the statistics say 0 to 3",
    );
    check_time_error(
        &plain(&bytes),
        u64::from(u32::MAX),
        all,
        LimitExceeded,
        "time page at offset 1000: 4,294,967,295 is past the limit page_rows_max = 4,194,304",
    );
    check_time_error(
        &PageBody { uncompressed_size: 25, ..plain(&bytes) },
        3,
        all,
        Corrupt,
        "time page at offset 1000: an uncompressed page of 24 bytes says it has 25",
    );
    for row_count in [0, 2, 4] {
        let error = PageReader::default().open(&plain(&bytes), row_count, all).unwrap_err();
        assert!(matches!(error.kind(), Corrupt | ErrorKind::Truncated), "{error}");
    }
}

#[test]
fn value_pages_that_lie() {
    use ErrorKind::{Corrupt, SchemaMismatch, Truncated};
    let good = int64_bytes(&[Some(1), None, Some(2)]);
    let check = |bytes: &[u8], kind, message: &str| check_value_error(&int64_page(bytes), kind, message);
    check(&good[..3], Truncated, "value page at offset 1000: column v: row count and presence take 4 bytes, the page has 3");
    check(&good[..4], Truncated, "value page at offset 1000: column v: row count and presence take 5 bytes, the page has 4");
    check(
        &int64_bytes(&[Some(1), None]),
        Corrupt,
        "value page at offset 1000: column v: 2 rows, the statistics of the time page say 3",
    );
    let mut negative = good.clone();
    negative[0] = 0xff;
    check(&negative, Corrupt, "value page at offset 1000: column v: -16777213 rows, the statistics of the time page say 3");
    check_value_error(
        &ValuePage { data_type: DataType::Double, ..int64_page(&good) },
        SchemaMismatch,
        "value page at offset 1000: column v: the file holds DOUBLE, the scan expects INT64",
    );
    let mut reader = PageReader::default();
    reader.open(&plain(&time_bytes(&[1, 2, 3])), 3, TimeRange { start: 1, end: 3 }).unwrap();
    for size in 5..good.len() {
        let error = reader.append_values(Some(&int64_page(&good[..size])), TimeRanges::NONE, block().column_mut(0)).unwrap_err();
        assert!(matches!(error.kind(), Truncated | Corrupt), "{error}");
        assert!((1_005..=1_000 + size as u64).contains(&error.offset().unwrap().get()), "{error}");
        assert_eq!(error.column(), Some("v"));
    }
}

#[test]
fn a_reader_forgets_the_page_before() {
    let mut reader = PageReader::default();
    let nulls: Vec<Option<i64>> = (0..200).map(|row| (row % 2 == 0).then_some(row)).collect();
    let times: Vec<i64> = (0..200).collect();
    reader.open(&plain(&time_bytes(&times)), 200, range(&times)).unwrap();
    let mut block = block();
    reader.append_values(Some(&int64_page(&int64_bytes(&nulls))), TimeRanges::NONE, block.column_mut(0)).unwrap();
    let full: Vec<Option<i64>> = (0..70).map(Some).collect();
    reader.open(&plain(&time_bytes(&times[..70])), 70, range(&times[..70])).unwrap();
    reader.append_values(Some(&int64_page(&int64_bytes(&full))), TimeRanges::NONE, block.column_mut(0)).unwrap();
    let expected: Vec<Value<'_>> = nulls.iter().chain(&full).map(|cell| (*cell).into()).collect();
    assert_eq!(cells(block.column(0)), expected);
    assert!(reader.open(&plain(&[1]), 1, TimeRange { start: 1, end: 1 }).is_err());
    assert_eq!(reader.selected_count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any rows, any null pattern (runs too), any selection: the same as slicing the rows.
    #[test]
    fn selections_are_slices(
        row_count in 1_usize..300,
        nulls in prop_oneof![Just(0_u32), Just(100), 1..99_u32],
        seed in any::<u64>(),
        run in prop_oneof![Just(1_usize), 2..80_usize],
        wanted in (any::<i8>(), any::<u8>()),
        skip in 0_u64..100,
        limit in prop_oneof![Just(u64::MAX), 0..120_u64],
        lead in 0_usize..70,
    ) {
        let is_null = |row: usize| ((seed >> (row / run % 48)) as u32).wrapping_mul(2_654_435_761).wrapping_add((row / run) as u32 * 40_503) % 100 < nulls;
        let times: Vec<i64> = (0..row_count as i64).map(|row| row * 2 - 100).collect();
        let numbers: Vec<Option<i64>> = (0..row_count).map(|row| (!is_null(row)).then_some(row as i64 * 3)).collect();
        let texts: Vec<Option<String>> = (0..row_count).map(|row| (!is_null(row / 3)).then(|| "x".repeat(row % 7))).collect();
        let wanted = TimeRange { start: i64::from(wanted.0), end: i64::from(wanted.0) + i64::from(wanted.1) * 2 };
        let rows: Vec<usize> = (0..row_count)
            .filter(|row| wanted.contains(times[*row]))
            .skip(skip as usize)
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect();

        let mut reader = PageReader::default();
        reader.open(&plain(&time_bytes(&times)), row_count as u64, range(&times)).unwrap();
        reader.select_times(wanted);
        let there = reader.selected_count() as u64;
        prop_assert_eq!(reader.skip(skip), skip.min(there));
        reader.limit(limit);
        let mut block = block();
        block.times_mut().resize(lead, 0);
        block.column_mut(0).push_nulls(lead);
        prop_assert!(block.column_mut(1).push_repeated("lead".into(), lead));
        let (into_times, columns) = block.parts_mut();
        reader.append_times(into_times);
        reader.append_values(Some(&int64_page(&int64_bytes(&numbers))), TimeRanges::NONE, &mut columns[0]).unwrap();
        let text_page = text_bytes(&texts);
        let page = ValuePage { body: plain(&text_page), data_type: DataType::String };
        reader.append_values(Some(&page), TimeRanges::NONE, &mut columns[1]).unwrap();
        prop_assert!(block.check());
        prop_assert_eq!(&block.times()[lead..], rows.iter().map(|row| times[*row]).collect::<Vec<_>>());
        prop_assert_eq!(&cells(block.column(0))[lead..], rows.iter().map(|row| numbers[*row].into()).collect::<Vec<Value<'_>>>());
        prop_assert_eq!(&cells(block.column(1))[lead..], rows.iter().map(|row| texts[*row].as_deref().into()).collect::<Vec<Value<'_>>>());
    }
}
