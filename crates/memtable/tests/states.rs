//! The state machine of a column in a block, transition by transition, and what upstream's tests of it check.

use std::sync::Arc;

use tsloom_bitmap::NullWords;
use tsloom_memtable::ColumnState::{Absent, Implicit, Masked, Plain};
use tsloom_memtable::{AlignedList, BlockRows, ColumnState, ListShape, SlabPool};
use tsloom_model::{ColumnView, DataType, TimeRange, Value, ValuesRef};

/// A list of blocks of 64 rows; row r has time r and value r in every column that is written.
struct Bench {
    shape: ListShape,
    list: AlignedList,
}

impl Bench {
    fn new() -> Self {
        Self::with_blocks_of(64)
    }

    fn with_blocks_of(rows: usize) -> Self {
        let shape = ListShape::new(&SlabPool::new(1 << 20), BlockRows::Fixed(rows), 4);
        Self { list: AlignedList::new(&shape), shape }
    }

    /// Appends rows; `columns` are ids with the rows that are null, counted from the first of the call.
    fn write(&mut self, rows: usize, columns: &[(u32, &[usize])], failed: &[usize]) {
        let start = self.list.row_count();
        let times: Vec<i64> = (start..start + rows).map(|row| row as i64).collect();
        let values: Vec<i32> = (start..start + rows).map(|row| row as i32).collect();
        let bits = |rows_marked: &[usize]| {
            let mut words = vec![0_u64; rows.div_ceil(64)];
            rows_marked.iter().for_each(|row| words[row / 64] |= 1 << (row % 64));
            words
        };
        let words: Vec<Vec<u64>> = columns.iter().map(|(_, nulls)| bits(nulls)).collect();
        let views: Vec<(u32, ColumnView<'_>)> = columns
            .iter()
            .zip(&words)
            .map(|((id, nulls), words)| {
                let nulls = (!nulls.is_empty()).then(|| NullWords::new(words, 0, rows));
                (*id, ColumnView::new(DataType::Int32, ValuesRef::Int32(&values), nulls))
            })
            .collect();
        let failed_bits = bits(failed);
        let failed = (!failed.is_empty()).then(|| NullWords::new(&failed_bits, 0, rows));
        self.list.append(&mut self.shape, &times, 0..rows, views.as_slice(), failed);
    }

    fn states(&self, id: u32) -> Vec<ColumnState> {
        let view = self.list.view();
        (0..=view.block_count()).map(|block| view.column_state(id, block)).collect()
    }

    fn check(&self, id: u32, expected: &[ColumnState]) {
        let states = self.states(id);
        assert_eq!(states.last(), Some(&Absent));
        assert_eq!(&states[..states.len() - 1], expected, "column {id}");
    }

    /// Cells of a column that have a value.
    fn values(&self, id: u32) -> usize {
        self.list.view().column_counts(id).values
    }

    /// Cells of a column by row, as a reader sees them.
    fn read(&self, id: u32) -> Vec<Option<i32>> {
        let view = Arc::new(self.list.view());
        let mut cursor = view.query(&[Some((id, DataType::Int32))]).cursor();
        let mut cells = Vec::new();
        while let Some(rows) = cursor.next_rows(7) {
            for row in 0..rows.row_count() {
                cells.push(match rows.column(0).map_or(Value::Null, |column| column.value(row)) {
                    Value::Int32(value) => Some(value),
                    _ => None,
                });
            }
        }
        cells
    }
}

#[test]
fn an_appended_block_is_implicit_and_nulls_leave_it_so() {
    let mut bench = Bench::new();
    bench.check(0, &[]);
    bench.write(3, &[], &[]);
    bench.check(0, &[Implicit]);
    bench.write(2, &[(0, &[0, 1])], &[]); // every cell marked
    bench.write(2, &[(0, &[])], &[0, 1]); // every row failed
    bench.write(2, &[(0, &[1])], &[0]); // null or failed
    bench.check(0, &[Implicit]);
    assert_eq!(bench.values(0), 0);
    assert_eq!(bench.list.row_count(), 9);
}

#[test]
fn a_first_value_makes_it_plain_or_masked() {
    let mut bench = Bench::new();
    bench.write(64, &[(0, &[]), (1, &[5]), (2, &[])], &[]);
    bench.check(0, &[Plain]);
    bench.check(1, &[Masked]);
    bench.write(10, &[], &[]);
    bench.write(1, &[(0, &[])], &[]); // behind a prefix of nulls
    bench.check(0, &[Plain, Masked]);
    bench.check(2, &[Plain, Implicit]);
    assert_eq!(bench.values(0), 65);
    let cells = bench.read(0);
    assert_eq!(cells[63..75], [&[Some(63)][..], &[None; 10], &[Some(74)]].concat());
}

#[test]
fn later_rows_keep_or_mask() {
    let mut bench = Bench::new();
    bench.write(8, &[(0, &[]), (1, &[]), (2, &[0]), (3, &[])], &[]);
    bench.write(8, &[(0, &[]), (1, &[3]), (2, &[])], &[]);
    bench.check(0, &[Plain]);
    bench.check(1, &[Masked]);
    bench.check(2, &[Masked]);
    bench.check(3, &[Masked]);
    bench.write(2, &[(0, &[]), (1, &[])], &[1]);
    bench.check(0, &[Masked]);
    assert_eq!([0, 1, 2, 3].map(|id| bench.values(id)), [17, 16, 15, 8]);
}

#[test]
fn deletes_mask_what_is_there_and_count_nothing_else() {
    let range = |start, end| TimeRange { start, end };
    let mut bench = Bench::new();
    bench.write(64, &[(0, &[]), (1, &[3])], &[]);
    bench.write(64, &[(0, &[])], &[]);
    assert!(!bench.list.delete(range(0, 127), Some(2)), "an implicit column has nothing to delete");
    assert!(!bench.list.delete(range(64, 127), Some(1)));
    bench.check(1, &[Masked, Implicit]);
    assert!(bench.list.delete(range(5, 5), Some(0)));
    bench.check(0, &[Masked, Plain]);
    assert_eq!(bench.values(0), 127);
    assert!(bench.list.delete(range(3, 5), Some(1))); // one of the three is null already
    assert_eq!(bench.values(1), 61);
    assert!(bench.list.delete(range(60, 70), None)); // rows
    assert_eq!((bench.values(0), bench.values(1)), (116, 57));
    bench.check(0, &[Masked, Masked]);
    bench.check(2, &[Implicit, Implicit]);
    let cells = bench.read(0);
    assert_eq!((cells.len(), cells[4], cells[5], cells[59], cells[60]), (117, Some(4), None, Some(59), Some(71)));
}

#[test]
fn a_new_column_is_implicit_in_every_block_and_its_first_value_supplies_the_prefix() {
    let mut bench = Bench::new();
    bench.write(100, &[(0, &[])], &[]);
    bench.check(1, &[Implicit, Implicit]);
    bench.write(1, &[(0, &[]), (1, &[])], &[]);
    bench.check(1, &[Implicit, Masked]);
    bench.check(0, &[Plain, Plain]);
    assert_eq!(bench.read(1), [vec![None; 100], vec![Some(100)]].concat());
    bench.write(200, &[(0, &[]), (1, &[])], &[]);
    bench.check(1, &[Implicit, Masked, Plain, Plain, Plain]);
}

#[test]
fn a_view_keeps_its_states() {
    let mut bench = Bench::new();
    bench.write(10, &[(0, &[])], &[]);
    let view = bench.list.view();
    bench.write(10, &[(1, &[])], &[]);
    bench.list.delete(TimeRange::ALL, Some(0));
    assert_eq!([view.column_state(0, 0), view.column_state(1, 0)], [Plain, Implicit]);
    bench.check(0, &[Masked]);
    bench.check(1, &[Masked]);
    assert_eq!(bench.values(0), 0);
}

#[test]
fn blocks_of_8_64_and_1024_rows_tell_the_same() {
    let read = |block_rows: usize| {
        let mut bench = Bench::with_blocks_of(block_rows);
        bench.write(3, &[(0, &[1])], &[]);
        bench.write(70, &[(1, &[])], &[0]);
        bench.write(1, &[(0, &[]), (1, &[0])], &[]);
        bench.write(900, &[(0, &[899]), (3, &[])], &[5]);
        bench.write(200, &[(2, &[])], &[]);
        (0..4).map(|id| (bench.read(id), bench.values(id))).collect::<Vec<_>>()
    };
    assert_eq!(read(8), read(64));
    assert_eq!(read(64), read(1024));
}

#[test]
fn the_all_null_row_map_is_that_of_the_definition() {
    for block_rows in [8, 64, 1024] {
        let mut bench = Bench::with_blocks_of(block_rows);
        bench.write(5, &[(0, &[1, 3]), (1, &[1])], &[]);
        bench.write(9, &[], &[]);
        bench.write(3, &[(1, &[0])], &[2]);
        bench.write(70, &[(0, &[69])], &[]);
        bench.list.delete(TimeRange { start: 2, end: 3 }, Some(1));
        bench.list.delete(TimeRange { start: 40, end: 42 }, None);
        let view = bench.list.view();
        let map = view.all_null_rows(&[0, 1, 2]);
        let is_null = |row: usize| map[row / 64] >> (row % 64) & 1 == 1;
        let expected = [vec![1, 3], (5..15).collect(), vec![16, 40, 41, 42, 86]].concat();
        assert_eq!((0..87).filter(|row| is_null(*row)).collect::<Vec<_>>(), expected, "{block_rows} rows a block");
        assert_eq!(map.len(), 2);
        assert!(view.all_null_rows(&[]).iter().map(|word| word.count_ones()).sum::<u32>() == 87, "no column, no value");
    }
}

#[test]
fn a_row_is_a_batch_of_one() {
    let ids = [0, 2, 3, 5];
    let rows: [[Value<'_>; 4]; 5] = [
        [Value::Int32(1), Value::Boolean(true), Value::Double(0.5), Value::Int64(9)],
        [Value::Int32(2), Value::Boolean(false), Value::Double(1.5), Value::Int64(8)],
        [Value::Null, Value::Boolean(true), Value::Null, Value::Int64(7)],
        [Value::Int32(3), Value::Null, Value::Null, Value::Null],
        [Value::Int32(4), Value::Boolean(true), Value::Double(2.5), Value::Int64(6)],
    ];
    let mut shape = ListShape::new(&SlabPool::new(0), BlockRows::Fixed(8), 4);
    let mut list = AlignedList::new(&shape);
    for (row, time) in (0..20).zip([5, 1, 9, 9, 2].into_iter().cycle()) {
        list.push_row(&mut shape, time + row / 5 * 10, &ids, &rows[row as usize % 5]);
        list.push_row(&mut shape, time + row / 5 * 10, &[1], &[Value::Text(&[b'x'; 30][..row as usize])]);
    }
    assert_eq!(list.row_count(), 40);
    let types = [DataType::Int32, DataType::Text, DataType::Boolean, DataType::Double, DataType::Float, DataType::Int64];
    let columns: Vec<_> = (0..).zip(types).map(Some).collect();
    let view = Arc::new(list.view());
    let mut cursor = view.query(&columns).cursor();
    let mut seen = 0;
    while let Some(part) = cursor.next_rows(64) {
        for (index, time) in part.times().iter().enumerate() {
            let cell = |column: usize| part.column(column).map_or(Value::Null, |column| column.value(index));
            let (round, at) = (time / 10, time % 10);
            let of = |row: usize| rows[row];
            let expected = match at {
                5 => of(0),
                1 => of(1),
                9 => [Value::Int32(3), Value::Boolean(true), Value::Null, Value::Int64(7)],
                _ => of(4),
            };
            assert_eq!([0, 2, 3, 5].map(cell), expected, "time {time}");
            let text_row = round * 5 + [5, 1, -1, 9, 2].iter().position(|time| *time == at).unwrap() as i64;
            assert_eq!(cell(1), Value::Text(&[b'x'; 30][..text_row as usize]));
            assert_eq!(cell(4), Value::Null);
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}
