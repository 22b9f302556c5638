//! Random interleavings of writes, deletes, snapshots and reads against the definition: rows in the order in which they came, a
//! list of deletes, and for each time and column the latest value that is not deleted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tsloom_bitmap::NullWords;
use tsloom_memtable::{
    BlockRows, DeviceSnapshot, Frozen, Memtable, MemtableOptions, MemtableSnapshot, MergeQuery, RowsView, SlabPool,
};
use tsloom_model::{DataType, DeviceId, RowPolicy, TableSchema, TimeRange, Value};
use tsloom_tablet::Tablet;

const CASES: u32 = 10_000;
const COLUMNS: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
const DEVICES: [&str; 2] = ["a", "b"];
const TEXTS: [&str; 4] = ["", "x", "seven b", "a text that is longer than most of them"];

/// A cell: its column's type and a small number.
type Cell = Option<(DataType, u8)>;

fn value((data_type, seed): (DataType, u8)) -> Value<'static> {
    let number = i32::from(seed) - 2;
    match data_type {
        DataType::Boolean => Value::Boolean(seed.is_multiple_of(2)),
        DataType::Int32 => Value::Int32(number),
        DataType::Date => Value::Int32(20_240_101 + i32::from(seed)),
        DataType::Int64 | DataType::Timestamp => Value::Int64(i64::from(number) << 40),
        DataType::Float => Value::Float(number as f32 / 4.0),
        DataType::Double => Value::Double(f64::from(number) * 1e9),
        DataType::Text | DataType::String | DataType::Blob => Value::from(TEXTS[seed as usize % TEXTS.len()]),
    }
}

/// How full the rows of a write are.
#[derive(Clone, Copy, Debug)]
enum Fill {
    /// Each cell by itself.
    Mixed,
    /// No null anywhere: what a block has none of until a later write brings one.
    Whole,
    /// Some rows have nulls, the others have none.
    FewNulls,
}

#[derive(Clone, Debug)]
struct WriteOp {
    fill: Fill,
    /// All rows are of the device of the first.
    is_of_one: bool,
    /// Columns in the tablet, one bit each.
    columns: u8,
    /// Times rise by the steps instead of being them.
    rises: bool,
    /// (device, time step, present columns, seed, failed)
    rows: Vec<(u8, i64, u8, u8, bool)>,
}

#[derive(Clone, Debug)]
struct ReadOp {
    device: u8,
    columns: Vec<usize>,
    range: (i64, i64),
    drops_null: bool,
    is_descending: bool,
    offset: u64,
    limit: u64,
    row_max: usize,
}

#[derive(Clone, Debug)]
enum Op {
    Write(WriteOp),
    DeleteRows(u8, (i64, i64)),
    DeleteCells(u8, u8, (i64, i64)),
    DeleteColumn(u8),
    Snapshot,
    Freeze,
    Read(ReadOp),
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![20 => -12_i64..30, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

fn range() -> impl Strategy<Value = (i64, i64)> {
    prop_oneof![3 => (time(), time()).prop_map(|(a, b)| (a.min(b), a.max(b))), 1 => Just((i64::MIN, i64::MAX))]
}

fn write_op(row_max: usize) -> impl Strategy<Value = WriteOp> {
    let row = (0..2_u8, time(), any::<u8>(), 0..8_u8, prop::bool::weighted(0.05));
    let columns = prop_oneof![1 => Just(0b11_1111_u8), 2 => Just(0b111), 2 => any::<u8>()];
    let fill = prop_oneof![2 => Just(Fill::Mixed), 2 => Just(Fill::Whole), 1 => Just(Fill::FewNulls)];
    (fill, any::<bool>(), columns, any::<bool>(), prop::collection::vec(row, 0..=row_max))
        .prop_map(|(fill, is_of_one, columns, rises, rows)| WriteOp { fill, is_of_one, columns, rises, rows })
}

fn read_op() -> impl Strategy<Value = ReadOp> {
    let columns = prop::collection::vec(0..7_usize, 0..5);
    let amounts =
        (prop_oneof![Just(0_u64), 0..12_u64], prop_oneof![Just(u64::MAX), 0..12_u64], prop_oneof![1..9_usize, Just(1000)]);
    (0..2_u8, columns, range(), any::<bool>(), any::<bool>(), amounts).prop_map(
        |(device, columns, range, drops_null, is_descending, (offset, limit, row_max))| ReadOp {
            device,
            columns,
            range,
            drops_null,
            is_descending,
            offset,
            limit,
            row_max,
        },
    )
}

fn op(row_max: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => write_op(row_max).prop_map(Op::Write),
        1 => (0..3_u8, range()).prop_map(|(device, range)| Op::DeleteRows(device, range)),
        2 => (0..3_u8, 0..6_u8, range()).prop_map(|(device, column, range)| Op::DeleteCells(device, column, range)),
        1 => (0..6_u8).prop_map(Op::DeleteColumn),
        1 => Just(Op::Snapshot),
        1 => Just(Op::Freeze),
        2 => read_op().prop_map(Op::Read),
    ]
}

#[derive(Clone, Debug, Default)]
struct Lane {
    rows: Vec<(i64, [Cell; 6])>,
    /// (range, column, rows at the time of the delete)
    deletes: Vec<((i64, i64), Option<usize>, usize)>,
}

/// What the memtable should hold.
#[derive(Clone, Debug, Default)]
struct Model {
    /// The first columns are of one type, this one of all.
    shift: usize,
    lanes: [Lane; 2],
    /// How often each column was deleted: it comes back with another type.
    generation: [usize; 6],
    /// Columns that exist now.
    exists: [bool; 6],
    is_written: [bool; 2],
}

impl Model {
    fn data_type(&self, column: usize) -> DataType {
        DataType::ALL[(self.shift + column.saturating_sub(3) * 2 + self.generation[column] * 3) % DataType::ALL.len()]
    }

    fn read(&self, op: &ReadOp) -> Vec<(i64, Vec<Option<Value<'static>>>)> {
        let lane = &self.lanes[op.device as usize];
        let mut merged: BTreeMap<i64, Vec<Cell>> = BTreeMap::new();
        for (row, (time, cells)) in lane.rows.iter().enumerate() {
            let covers = |&(range, column, floor): &((i64, i64), Option<usize>, usize), of: Option<usize>| {
                column == of && row < floor && range.0 <= *time && *time <= range.1
            };
            if *time < op.range.0 || *time > op.range.1 || lane.deletes.iter().any(|delete| covers(delete, None)) {
                continue;
            }
            let entry = merged.entry(*time).or_insert_with(|| vec![None; op.columns.len()]);
            for (slot, &column) in entry.iter_mut().zip(&op.columns) {
                if column < 6 && cells[column].is_some() && !lane.deletes.iter().any(|delete| covers(delete, Some(column))) {
                    *slot = cells[column];
                }
            }
        }
        let mut rows: Vec<(i64, Vec<Option<Value<'static>>>)> = merged
            .into_iter()
            .filter(|(_, cells)| !op.drops_null || cells.iter().any(Option::is_some))
            .map(|(time, cells)| (time, cells.into_iter().map(|cell| cell.map(value)).collect()))
            .collect();
        if op.is_descending {
            rows.reverse();
        }
        let limit = usize::try_from(op.limit).unwrap_or(usize::MAX);
        rows.into_iter().skip(op.offset as usize).take(limit).collect()
    }
}

/// Rows as the model tells them.
type Rows = Vec<(i64, Vec<Option<Value<'static>>>)>;

/// Reads one device from all memtables, oldest first; from a single one in both ways.
fn read_device(snapshots: &[MemtableSnapshot], op: &ReadOp) -> Rows {
    let device = DeviceId::new("t", [Some(DEVICES[op.device as usize])]);
    let devices: Vec<DeviceSnapshot> = snapshots.iter().filter_map(|snapshot| snapshot.device(&device)).collect();
    let names: Vec<&str> = op.columns.iter().map(|column| COLUMNS.get(*column).copied().unwrap_or("never")).collect();
    let policy = if op.drops_null { RowPolicy::DropAllNull } else { RowPolicy::KeepAllNull };
    let range = TimeRange { start: op.range.0, end: op.range.1 };

    let mut query = MergeQuery::new(&devices, &names).time(range).row_policy(policy).offset(op.offset).limit(op.limit);
    if op.is_descending {
        query = query.descending();
    }
    let (mut cursor, mut merged) = (query.cursor(), Vec::new());
    while let Some(rows) = cursor.next_rows(op.row_max) {
        take_rows(rows, op, &mut merged);
    }
    if let [device] = devices.as_slice() {
        let mut query = device.query(&names).time(range).row_policy(policy).offset(op.offset).limit(op.limit);
        if op.is_descending {
            query = query.descending();
        }
        let (mut cursor, mut single) = (query.cursor(), Vec::new());
        let row_count = cursor.row_count();
        while let Some(rows) = cursor.next_rows(op.row_max) {
            take_rows(rows, op, &mut single);
        }
        assert_eq!(single.len(), row_count);
        assert_eq!(single, merged);
    }
    merged
}

fn take_rows(rows: RowsView<'_>, op: &ReadOp, result: &mut Rows) {
    assert!(0 < rows.row_count() && rows.row_count() <= op.row_max);
    let columns: Vec<_> = rows.columns().collect();
    assert_eq!(columns.len(), op.columns.len());
    for column in columns.iter().flatten() {
        assert_eq!(column.row_count(), rows.row_count());
        assert!(column.null_count() < rows.row_count(), "a column without a value is absent");
    }
    for (row, &time) in rows.times().iter().enumerate() {
        let cells = columns.iter().map(|column| match column.map_or(Value::Null, |column| column.value(row)) {
            Value::Null => None,
            Value::Text(text) => Some(Value::from(*TEXTS.iter().find(|known| known.as_bytes() == text).unwrap())),
            value => Some(owned(value)),
        });
        result.push((time, cells.collect()));
    }
}

/// The same number without a borrow.
fn owned(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Boolean(value) => Value::Boolean(value),
        Value::Int32(value) => Value::Int32(value),
        Value::Int64(value) => Value::Int64(value),
        Value::Float(value) => Value::Float(value),
        Value::Double(value) => Value::Double(value),
        Value::Null | Value::Text(_) => unreachable!("handled before"),
    }
}

/// Everything in both directions.
fn check_all(snapshots: &[MemtableSnapshot], model: &Model) {
    for device in 0..2 {
        for is_descending in [false, true] {
            let op = ReadOp {
                device,
                columns: (0..7).collect(),
                range: (i64::MIN, i64::MAX),
                drops_null: false,
                is_descending,
                offset: 0,
                limit: u64::MAX,
                row_max: 1000,
            };
            assert_eq!(read_device(snapshots, &op), model.read(&op), "device {device}, descending {is_descending}");
        }
    }
    let written: Vec<String> =
        (0..2).filter(|device| model.is_written[*device]).map(|device| DEVICES[device].to_owned()).collect();
    let mut devices: Vec<String> =
        snapshots.iter().flat_map(|snapshot| snapshot.devices("t").map(|device| device.tag(0).unwrap().to_owned())).collect();
    devices.sort();
    devices.dedup();
    assert_eq!(devices, written);
}

fn write(memtable: &mut Memtable, model: &mut Model, op: &WriteOp) {
    let columns: Vec<usize> = (0..6).filter(|column| op.columns >> column & 1 == 1).collect();
    let mut schema = TableSchema::builder("t").tag("d");
    for &column in &columns {
        schema = schema.field(COLUMNS[column], model.data_type(column));
        model.exists[column] = true;
    }
    let mut tablet = Tablet::new(&schema.build().unwrap());
    let mut failed = vec![0_u64; op.rows.len().div_ceil(64)];
    let mut last = model.lanes.iter().flat_map(|lane| lane.rows.last()).map(|row| row.0).max().unwrap_or(0);
    for (row, &(device, step, present, seed, fails)) in op.rows.iter().enumerate() {
        let device = if op.is_of_one { op.rows[0].0 } else { device };
        let present = match op.fill {
            Fill::Mixed => present,
            Fill::FewNulls if seed == 0 => present,
            Fill::FewNulls | Fill::Whole => u8::MAX,
        };
        let time = if op.rises { last.saturating_add(step.clamp(0, 3)) } else { step };
        last = time;
        let cell = |column: usize| (present >> column & 1 == 1).then(|| (model.data_type(column), (seed + column as u8) % 8));
        let tag = Value::from(DEVICES[device as usize]);
        let fields = columns.iter().map(|column| cell(*column).map_or(Value::Null, value));
        tablet.push_row(time, &std::iter::once(tag).chain(fields).collect::<Vec<_>>()).unwrap();
        let mut cells = [None; 6];
        columns.iter().for_each(|column| cells[*column] = cell(*column));
        if fails {
            failed[row / 64] |= 1 << (row % 64);
            cells = [None; 6];
        }
        model.lanes[device as usize].rows.push((time, cells));
        model.is_written[device as usize] = true;
    }
    let any_failed = failed.iter().any(|word| *word != 0);
    let report = memtable.write_marked(&tablet, any_failed.then(|| NullWords::new(&failed, 0, op.rows.len()))).unwrap();
    assert_eq!(report.rows, op.rows.len());
}

/// Memtables on their way to a file, and the one that is written.
struct Memtables {
    options: MemtableOptions,
    frozen: Vec<Frozen>,
    working: Memtable,
}

impl Memtables {
    fn freeze(&mut self) {
        let full = std::mem::replace(&mut self.working, Memtable::new(self.options.clone()));
        self.frozen.push(full.freeze());
    }

    fn snapshots(&self) -> Vec<MemtableSnapshot> {
        self.frozen.iter().map(Frozen::snapshot).chain([self.working.snapshot()]).collect()
    }

    fn delete(&mut self, column: Option<usize>, is_picked: impl Fn(&DeviceId) -> bool, range: TimeRange) {
        match column {
            None => {
                self.working.delete_rows("t", &is_picked, range);
                self.frozen.iter_mut().for_each(|frozen| _ = frozen.delete_rows("t", &is_picked, range));
            }
            Some(column) => {
                self.working.delete_cells("t", COLUMNS[column], &is_picked, range);
                self.frozen.iter_mut().for_each(|frozen| _ = frozen.delete_cells("t", COLUMNS[column], &is_picked, range));
            }
        }
    }
}

fn run(block_rows: BlockRows, shift: usize, ops: &[Op]) {
    let options = MemtableOptions::default().block_rows(block_rows).pool(SlabPool::new(1 << 20));
    let mut memtables = Memtables { working: Memtable::new(options.clone()), options, frozen: Vec::new() };
    let mut model = Model { shift, ..Model::default() };
    let mut kept: Vec<(Vec<MemtableSnapshot>, Model)> = Vec::new();
    for op in ops {
        match op {
            Op::Write(op) => write(&mut memtables.working, &mut model, op),
            Op::DeleteRows(device, range) | Op::DeleteCells(device, _, range) => {
                let column = if let Op::DeleteCells(_, column, _) = op { Some(*column as usize) } else { None };
                let is_meant = |lane: usize| *device == 2 || *device as usize == lane;
                let is_picked = |id: &DeviceId| is_meant(DEVICES.iter().position(|name| id.tag(0) == Some(name)).unwrap());
                memtables.delete(column, is_picked, TimeRange { start: range.0, end: range.1 });
                for lane in (0..2).filter(|lane| is_meant(*lane)) {
                    let floor = model.lanes[lane].rows.len();
                    model.lanes[lane].deletes.push((*range, column, floor));
                }
            }
            Op::DeleteColumn(column) => {
                let column = *column as usize;
                let mut is_found = memtables.working.delete_column("t", COLUMNS[column]);
                for frozen in &mut memtables.frozen {
                    is_found |= frozen.delete_column("t", COLUMNS[column]);
                }
                assert_eq!(is_found, model.exists[column]);
                model.exists[column] = false;
                model.generation[column] += 1;
                for lane in &mut model.lanes {
                    lane.rows.iter_mut().for_each(|(_, cells)| cells[column] = None);
                }
            }
            Op::Snapshot => kept.push((memtables.snapshots(), model.clone())),
            Op::Freeze => memtables.freeze(),
            Op::Read(op) => assert_eq!(read_device(&memtables.snapshots(), op), model.read(op), "{op:?}"),
        }
    }
    check_all(&memtables.snapshots(), &model);
    drop(memtables);
    for (snapshots, model) in &kept {
        check_all(snapshots, model);
    }
}

#[test]
fn every_read_equals_the_definition() {
    let block_rows =
        [BlockRows::Fixed(8), BlockRows::Fixed(8), BlockRows::Fixed(64), BlockRows::Fixed(1_024), BlockRows::ByWidth];
    // Short cases meet corners; one in thirty is long enough for lists of many blocks and blocks that are full.
    let ops = prop_oneof![29 => prop::collection::vec(op(23), 1..10), 1 => prop::collection::vec(op(150), 30..60)];
    let strategy = (prop::sample::select(block_rows.to_vec()), 0..DataType::ALL.len(), ops);
    let config = ProptestConfig { cases: CASES, max_shrink_iters: 20_000, ..ProptestConfig::with_source_file(file!()) };
    let case_count = AtomicU32::new(0);
    let outcome = TestRunner::new(config).run(&strategy, |(block_rows, shift, ops)| {
        case_count.fetch_add(1, Ordering::Relaxed);
        run(block_rows, shift, &ops);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let case_count = case_count.into_inner();
    println!("{case_count} cases");
    assert!(case_count >= CASES, "every case is run");
}
