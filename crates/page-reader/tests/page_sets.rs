//! Whole page sets against a naive model that decodes everything and then filters, skips and takes; and bytes that nobody meant.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use proptest::prelude::*;
use tsloom_bitmap::{NullWords, presence, words};
use tsloom_block::{Block, BlockLayout, Column};
use tsloom_codec::{EncodeOptions, EncodeScratch, encode, encode_times};
use tsloom_model::{
    CompareOp, Compression, DataType, Encoding, ErrorKind, FileOffset, Limits, RowFilter, RowPolicy, TimeRange, TimeRanges,
    Value, Values,
};
use tsloom_page_reader::{ColumnPage, PageBody, PageReader, PageSet, RowRequest, ValuePage};

/// Types and encodings of the columns; the last serves the filter alone.
const COLUMNS: [(DataType, Encoding); 7] = [
    (DataType::Int64, Encoding::Ts2Diff),
    (DataType::Int32, Encoding::Plain),
    (DataType::Double, Encoding::Gorilla),
    (DataType::String, Encoding::Plain),
    (DataType::Boolean, Encoding::Plain),
    (DataType::Int32, Encoding::Rle),
    (DataType::Int32, Encoding::Ts2Diff),
];

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 ^ self.0 >> 29) % bound
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Integer(i64),
    Text(String),
}

fn value_of(cell: &Cell, data_type: DataType) -> Value<'_> {
    match (cell, data_type) {
        (Cell::Null, _) => Value::Null,
        (Cell::Integer(number), DataType::Int64) => Value::Int64(*number),
        (Cell::Integer(number), DataType::Double) => Value::Double(*number as f64 / 8.0),
        (Cell::Integer(number), DataType::Boolean) => Value::Boolean(number % 2 == 0),
        (Cell::Integer(number), _) => Value::Int32(*number as i32),
        (Cell::Text(text), _) => Value::from(text.as_str()),
    }
}

/// One page set: times and cells column by column, and its bytes.
struct Pages {
    times: Vec<i64>,
    cells: Vec<Vec<Cell>>,
    time_body: Vec<u8>,
    /// No bytes: the page is absent.
    bodies: Vec<Vec<u8>>,
}

fn pages(dice: &mut Dice, first_time: i64) -> Pages {
    let row_count = 1 + dice.below(400) as usize;
    let mut time = first_time;
    let times: Vec<i64> = (0..row_count)
        .map(|_| {
            time += 1 + dice.below(3) as i64;
            time
        })
        .collect();
    let mut time_body = Vec::new();
    encode_times(&times, &mut time_body);
    let run = 1 + dice.below(100) as usize;
    let cells: Vec<Vec<Cell>> = COLUMNS
        .iter()
        .map(|(data_type, _)| {
            let nulls = [0, 0, 10, 50, 90, 100][dice.below(6) as usize];
            let mut is_null = false;
            let cell = |row: usize| {
                if row.is_multiple_of(run) || nulls == 10 {
                    is_null = dice.below(100) < nulls;
                }
                match data_type {
                    _ if is_null => Cell::Null,
                    DataType::String => Cell::Text("x".repeat(dice.below(5) as usize)),
                    _ => Cell::Integer(dice.below(200) as i64),
                }
            };
            (0..row_count).map(cell).collect()
        })
        .collect();
    let bodies = cells.iter().zip(&COLUMNS).map(|(cells, column)| body_of(cells, *column)).collect();
    Pages { times, cells, time_body, bodies }
}

/// Row count, presence, present values; nothing at all when every row is null.
fn body_of(cells: &[Cell], (data_type, encoding): (DataType, Encoding)) -> Vec<u8> {
    let mut nulls = vec![0; words::word_count(cells.len())];
    let mut values = Values::new(data_type.physical());
    for (row, cell) in cells.iter().enumerate() {
        match cell {
            Cell::Null => words::set(&mut nulls, row),
            cell => assert!(values.push(value_of(cell, data_type))),
        }
    }
    if values.is_empty() {
        return Vec::new();
    }
    let mut body = (cells.len() as i32).to_be_bytes().to_vec();
    presence::append_from_nulls(Some(NullWords::new(&nulls, 0, cells.len())), cells.len(), &mut body);
    encode(encoding, values.as_values(), data_type, EncodeOptions::default(), &mut body, &mut EncodeScratch::default()).unwrap();
    body
}

fn stored(bytes: &[u8], encoding: Encoding) -> PageBody<'_> {
    PageBody {
        bytes,
        uncompressed_size: bytes.len() as u64,
        compression: Compression::Uncompressed,
        encoding,
        offset: FileOffset::new(100),
    }
}

fn some_ranges(dice: &mut Dice, span: TimeRange) -> TimeRanges {
    let count = [0, 0, 1, 3, 9][dice.below(5) as usize];
    let length = (span.end - span.start) as u64 + 20;
    TimeRanges::new((0..count).map(|_| {
        let start = span.start - 10 + dice.below(length) as i64;
        TimeRange { start, end: start + dice.below(1 + length / 4) as i64 }
    }))
}

fn some_filter(dice: &mut Dice, depth: u64) -> RowFilter<usize> {
    let bound = dice.below(200) as i64;
    match dice.below(if depth < 2 { 7 } else { 4 }) {
        0 => RowFilter::Compare(6, CompareOp::Lt, bound.into()),
        1 => RowFilter::Compare(0, CompareOp::Ge, bound.into()),
        2 => RowFilter::Compare(2, CompareOp::Ne, (bound as f64 / 8.0).into()),
        3 => RowFilter::IsNull(dice.below(7) as usize),
        4 => some_filter(dice, depth + 1).not(),
        5 => some_filter(dice, depth + 1).and(some_filter(dice, depth + 1)),
        _ => some_filter(dice, depth + 1).or(some_filter(dice, depth + 1)),
    }
}

/// A column of the block, as cells of the model.
fn cells_of<'a>(column: &'a Column, from: usize) -> Vec<Value<'a>> {
    (from..column.row_count()).map(|row| column.value(row)).collect()
}

struct Case {
    sets: Vec<Pages>,
    deleted_rows: TimeRanges,
    deleted_cells: Vec<TimeRanges>,
    times: TimeRange,
    filter: Option<RowFilter<usize>>,
    policy: RowPolicy,
    offset: u64,
    limit: u64,
}

fn some_case(dice: &mut Dice) -> Case {
    let mut sets: Vec<Pages> = Vec::new();
    for _ in 0..=dice.below(3) {
        let first = sets.last().map_or(0, |before| before.times[before.times.len() - 1]);
        sets.push(pages(dice, first));
    }
    let span = TimeRange { start: sets[0].times[0], end: *sets[sets.len() - 1].times.last().unwrap() };
    let deleted_rows = some_ranges(dice, span);
    let deleted_cells = COLUMNS.iter().map(|_| some_ranges(dice, span)).collect();
    let ends = (0..2).map(|_| span.start - 5 + dice.below((span.end - span.start) as u64 + 10) as i64);
    let mut ends: Vec<i64> = ends.collect();
    ends.sort_unstable();
    Case {
        deleted_rows,
        deleted_cells,
        times: if dice.below(2) == 0 { TimeRange::ALL } else { TimeRange { start: ends[0], end: ends[1] } },
        filter: (dice.below(2) == 0).then(|| some_filter(dice, 0)),
        policy: if dice.below(2) == 0 { RowPolicy::KeepAllNull } else { RowPolicy::DropAllNull },
        offset: [0, 0, dice.below(50), dice.below(900)][dice.below(4) as usize],
        limit: [u64::MAX, u64::MAX, dice.below(50), dice.below(900)][dice.below(4) as usize],
        sets,
    }
}

impl Case {
    /// The cell after deletions.
    fn cell<'a>(&self, set: &'a Pages, column: usize, row: usize) -> Value<'a> {
        if self.deleted_cells[column].contains(set.times[row]) {
            return Value::Null;
        }
        value_of(&set.cells[column][row], COLUMNS[column].0)
    }

    /// Set and row of everything that is wanted.
    fn rows(&self) -> Vec<(usize, usize)> {
        let all = self.sets.iter().enumerate().flat_map(|(at, set)| (0..set.times.len()).map(move |row| (at, row)));
        all.filter(|&(at, row)| {
            let set = &self.sets[at];
            let time = set.times[row];
            let passes = |filter: &RowFilter<usize>| filter.truth(&|column| self.cell(set, column, row)) == Some(true);
            self.times.contains(time)
                && !self.deleted_rows.contains(time)
                && self.filter.as_ref().is_none_or(passes)
                && (self.policy == RowPolicy::KeepAllNull || (0..6).any(|column| !self.cell(set, column, row).is_null()))
        })
        .skip(self.offset as usize)
        .take(usize::try_from(self.limit).unwrap_or(usize::MAX))
        .collect()
    }
}

fn set_of<'a>(set: &'a Pages, columns: &'a [ColumnPage<'a>]) -> PageSet<'a> {
    PageSet {
        time: stored(&set.time_body, Encoding::Ts2Diff),
        row_count: set.times.len() as u64,
        times: TimeRange { start: set.times[0], end: *set.times.last().unwrap() },
        columns,
    }
}

fn columns_of<'a>(case: &'a Case, set: &'a Pages) -> Vec<ColumnPage<'a>> {
    let column = |column: usize| {
        let body = &set.bodies[column];
        let page = ValuePage { body: stored(body, COLUMNS[column].1), data_type: COLUMNS[column].0 };
        ColumnPage { page: (!body.is_empty() || column.is_multiple_of(2)).then_some(page), deleted: &case.deleted_cells[column] }
    };
    (0..COLUMNS.len()).map(column).collect()
}

fn layout() -> BlockLayout {
    BlockLayout::new(100, COLUMNS.iter().map(|column| ("c", column.0)))
}

fn request_of(case: &Case) -> RowRequest<'_> {
    RowRequest {
        times: case.times,
        deleted: &case.deleted_rows,
        filter: case.filter.as_ref(),
        policy: case.policy,
        projected_count: 6,
        offset: case.offset,
        limit: case.limit,
    }
}

/// Of a large page that is compressed, only the beginning is looked at when nothing behind it is wanted.
#[test]
fn the_beginning_of_a_compressed_page() {
    const ROW_COUNT: usize = 3_000;
    let times: Vec<i64> = (0..ROW_COUNT as i64).collect();
    let (mut time_body, span) = (Vec::new(), TimeRange { start: 0, end: ROW_COUNT as i64 - 1 });
    encode_times(&times, &mut time_body);
    let mut dice = Dice(9);
    for (data_type, encoding, nulls) in [
        (DataType::Double, Encoding::Gorilla, 0),
        (DataType::Int64, Encoding::Ts2Diff, 10),
        (DataType::Int32, Encoding::Ts2Diff, 0),
        (DataType::Int64, Encoding::Plain, 40),
        (DataType::Double, Encoding::Plain, 0),
        (DataType::Int32, Encoding::Gorilla, 3),
    ] {
        let mut cell = || if dice.below(100) < nulls { Cell::Null } else { Cell::Integer(i64::from(dice.below(1 << 40) as i32)) };
        let cells: Vec<Cell> = (0..ROW_COUNT).map(|_| cell()).collect();
        let page = body_of(&cells, (data_type, encoding));
        let mut bytes = Vec::new();
        tsloom_codec::compress::compress(Compression::Lz4, &page, &mut bytes, &mut Default::default()).unwrap();
        let body = PageBody {
            bytes: &bytes,
            uncompressed_size: page.len() as u64,
            compression: Compression::Lz4,
            ..stored(&page, encoding)
        };
        let page = ValuePage { body, data_type };
        let mut reader = PageReader::new(Limits::default());
        for rows in [0..1, 0..129, 5..400, 700..1_000, 1_100..1_500, 100..3_000] {
            for deleted in [TimeRanges::default(), TimeRanges::new([TimeRange { start: 300, end: 310 }])] {
                let mut block = Block::new(&BlockLayout::new(ROW_COUNT, [("c", data_type)]));
                reader.open(&stored(&time_body, Encoding::Ts2Diff), ROW_COUNT as u64, span).unwrap();
                reader.select_times(TimeRange { start: rows.start as i64, end: rows.end as i64 - 1 });
                reader.append_values(Some(&page), &deleted, block.column_mut(0)).unwrap();
                let expected = rows.clone().map(|row| match deleted.contains(row as i64) {
                    true => Value::Null,
                    false => value_of(&cells[row], data_type),
                });
                assert_eq!(cells_of(block.column(0), 0), expected.collect::<Vec<_>>(), "{data_type} {encoding} {rows:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any pages, deletions, filter, policy, offset and limit, read by a reader and into a block that were used before.
    #[test]
    fn page_sets_give_what_a_naive_reader_gives(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut reader = PageReader::new(Limits::default());
        let mut block = Block::new(&layout());
        for _ in 0..2 {
            let case = some_case(&mut dice);
            block.clear();
            let mut request = request_of(&case);
            let mut row_count = 0;
            for set in &case.sets {
                let columns = columns_of(&case, set);
                row_count += reader.read(&set_of(set, &columns), &mut request, &mut block).unwrap();
                prop_assert!(block.check());
                prop_assert_eq!(block.row_count(), row_count);
            }
            let rows = case.rows();
            prop_assert_eq!(block.times(), rows.iter().map(|(set, row)| case.sets[*set].times[*row]).collect::<Vec<_>>());
            for (index, column) in block.columns().iter().enumerate() {
                let expected: Vec<Value<'_>> = rows.iter().map(|(set, row)| case.cell(&case.sets[*set], index, *row)).collect();
                prop_assert_eq!(cells_of(column, 0), expected.clone());
                let null_count = expected.iter().filter(|value| value.is_null()).count();
                prop_assert_eq!((column.null_count(), column.validity().is_some()), (null_count, null_count > 0));
                // Bit for bit what a fresh block has: slots of null rows, too.
                let mut fresh = Block::new(&layout());
                for value in &expected {
                    prop_assert!(fresh.column_mut(index).push(*value));
                }
                prop_assert_eq!(format!("{:?}", column.values()), format!("{:?}", fresh.column(index).values()));
            }
            if let Some(limit) = case.limit.checked_sub(rows.len() as u64).filter(|_| case.limit < u64::MAX) {
                prop_assert_eq!(request.limit, limit);
            }
        }
    }

    /// Bodies that are cut or changed give rows or a typed error, and an error leaves block and request as they were.
    #[test]
    fn damaged_page_sets_are_refused_or_read(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut reader = PageReader::new(Limits::default());
        let mut block = Block::new(&layout());
        let mut case = some_case(&mut dice);
        for round in 0..30 {
            let set = &mut case.sets[0];
            let column = dice.below(8) as usize;
            let body = if column == 7 { &mut set.time_body } else { &mut set.bodies[column] };
            if body.is_empty() {
                continue;
            }
            let whole = body.clone();
            let at = dice.below(body.len() as u64) as usize;
            if round % 2 == 0 { body.truncate(at) } else { body[at] ^= 1 + dice.below(255) as u8 }
            let (times, before) = (block.times().to_vec(), block.row_count());
            let mut request = request_of(&case);
            let set = &case.sets[0];
            let columns = columns_of(&case, set);
            let outcome = reader.read(&set_of(set, &columns), &mut request, &mut block);
            prop_assert!(block.check());
            match outcome {
                Ok(count) => prop_assert_eq!(block.row_count(), before + count),
                Err(error) => {
                    prop_assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::LimitExceeded), "{}", error);
                    prop_assert!(error.offset().is_some(), "{}", error);
                    prop_assert_eq!((block.times(), request.offset, request.limit), (&times[..], case.offset, case.limit));
                }
            }
            let set = &mut case.sets[0];
            let body = if column == 7 { &mut set.time_body } else { &mut set.bodies[column] };
            *body = whole;
        }
    }

    /// Pages that hold times and values: any selection and deletion, stored or compressed; and damaged.
    #[test]
    fn plain_pages_give_times_and_values(seed in any::<u64>(), is_stored in any::<bool>(), column in 0..COLUMNS.len()) {
        let mut dice = Dice(seed);
        let (data_type, encoding) = COLUMNS[column];
        let row_count = 1 + dice.below(300) as usize;
        let times: Vec<i64> = (0..row_count as i64).map(|row| row * 3).collect();
        let span = TimeRange { start: 0, end: times[row_count - 1] };
        let cells: Vec<Cell> = (0..row_count)
            .map(|_| if data_type == DataType::String { Cell::Text("y".repeat(dice.below(4) as usize)) } else { Cell::Integer(dice.below(900) as i64) })
            .collect();
        let mut values = Values::new(data_type.physical());
        cells.iter().for_each(|cell| assert!(values.push(value_of(cell, data_type))));
        let (mut encoded_times, mut page) = (Vec::new(), Vec::new());
        encode_times(&times, &mut encoded_times);
        tsloom_encoding::WirePut::put_uvar(&mut page, encoded_times.len() as u32);
        page.extend_from_slice(&encoded_times);
        encode(encoding, values.as_values(), data_type, EncodeOptions::default(), &mut page, &mut EncodeScratch::default()).unwrap();

        let compression = if is_stored { Compression::Uncompressed } else { Compression::Lz4 };
        let (deleted_rows, deleted_cells) = (some_ranges(&mut dice, span), some_ranges(&mut dice, span));
        let mut reader = PageReader::new(Limits::default());
        let mut read = |page: &[u8]| -> tsloom_model::Result<Block> {
            let mut bytes = Vec::new();
            tsloom_codec::compress::compress(compression, page, &mut bytes, &mut Default::default())?;
            let body = PageBody { bytes: &bytes, uncompressed_size: page.len() as u64, compression, encoding, offset: FileOffset::new(9) };
            let mut block = Block::new(&BlockLayout::new(10, [("v", data_type)]));
            reader.open_plain(&body, row_count as u64, span)?;
            reader.leave_out(&deleted_rows);
            reader.skip(3);
            let (into_times, columns) = block.parts_mut();
            reader.append_plain(&ValuePage { body, data_type }, &deleted_cells, &mut columns[0])?;
            reader.append_times(into_times);
            Ok(block)
        };
        let block = read(&page).unwrap();
        let rows: Vec<usize> = (0..row_count).filter(|row| !deleted_rows.contains(times[*row])).skip(3).collect();
        prop_assert!(block.check());
        prop_assert_eq!(block.times(), rows.iter().map(|row| times[*row]).collect::<Vec<_>>());
        let is_gone = |row: usize| deleted_cells.contains(times[row]);
        let expected: Vec<Value<'_>> =
            rows.iter().map(|row| if is_gone(*row) { Value::Null } else { value_of(&cells[*row], data_type) }).collect();
        prop_assert_eq!(cells_of(block.column(0), 0), expected);
        for _ in 0..20 {
            let mut damaged = page.clone();
            let at = dice.below(page.len() as u64) as usize;
            if dice.below(2) == 0 { damaged.truncate(at) } else { damaged[at] ^= 1 + dice.below(255) as u8 }
            if let Err(error) = read(&damaged) {
                prop_assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated), "{}", error);
                prop_assert!(error.offset().is_some(), "{}", error);
            }
        }
    }
}

/// [42, null] and [null, null]: the tree model drops the second row, the table model keeps both. Judged over the projected column
/// alone, the first row goes, too, when it is the other column that is projected.
#[test]
fn row_policy_is_judged_over_the_projected_columns() {
    let time_body: Vec<u8> = [1_i64, 2].iter().flat_map(|time| time.to_be_bytes()).collect();
    let value_body = [&[0, 0, 0, 2, 0b1000_0000][..], &42_i64.to_be_bytes()].concat();
    let page = ValuePage { body: stored(&value_body, Encoding::Plain), data_type: DataType::Int64 };
    let read = |policy, pages: [Option<ValuePage<'_>>; 2], projected_count| {
        let set = PageSet {
            time: stored(&time_body, Encoding::Plain),
            row_count: 2,
            times: TimeRange { start: 1, end: 2 },
            columns: &pages.map(|page| ColumnPage { page, deleted: TimeRanges::NONE }),
        };
        let mut block = Block::new(&BlockLayout::new(4, [("a", DataType::Int64), ("b", DataType::Int64)]));
        let mut request = RowRequest { policy, projected_count, ..RowRequest::default() };
        PageReader::default().read(&set, &mut request, &mut block).unwrap();
        block.times().to_vec()
    };
    assert_eq!(read(RowPolicy::DropAllNull, [Some(page), None], 2), [1]);
    assert_eq!(read(RowPolicy::KeepAllNull, [Some(page), None], 2), [1, 2]);
    assert_eq!(read(RowPolicy::DropAllNull, [None, Some(page)], 1), [0; 0]);
    assert_eq!(read(RowPolicy::DropAllNull, [None, None], 0), [1, 2]);
}

/// A page with nulls, one without, one with: upstream kept the nulls of the page before.
#[test]
fn the_nulls_of_a_page_end_with_it() {
    let cells =
        |nulls: bool| (0..70).map(|row| if nulls && row % 2 == 0 { Cell::Null } else { Cell::Integer(row) }).collect::<Vec<_>>();
    let mut reader = PageReader::default();
    let mut block = Block::new(&BlockLayout::new(10, [("v", DataType::Int32)]));
    let mut expected = Vec::new();
    for (index, nulls) in [true, false, true].into_iter().enumerate() {
        let times: Vec<i64> = (0..70).map(|row| index as i64 * 100 + row).collect();
        let mut time_body = Vec::new();
        encode_times(&times, &mut time_body);
        let body = body_of(&cells(nulls), (DataType::Int32, Encoding::Plain));
        let set = PageSet {
            time: stored(&time_body, Encoding::Ts2Diff),
            row_count: 70,
            times: TimeRange { start: times[0], end: times[69] },
            columns: &[ColumnPage {
                page: Some(ValuePage { body: stored(&body, Encoding::Plain), data_type: DataType::Int32 }),
                deleted: TimeRanges::NONE,
            }],
        };
        reader.read(&set, &mut RowRequest::default(), &mut block).unwrap();
        expected.extend(cells(nulls));
    }
    assert_eq!(cells_of(block.column(0), 0), expected.iter().map(|cell| value_of(cell, DataType::Int32)).collect::<Vec<_>>());
}
