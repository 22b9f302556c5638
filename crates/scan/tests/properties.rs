//! Whatever is asked for, a scan gives what a naive reader gives that decodes everything, filters, skips and takes.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use support::{Cell, Row, open, rows_of, table_rows};
use tsloom_file::FileReader;
use tsloom_memtable::{Memtable, MemtableOptions};
use tsloom_model::{
    ColumnCategory, CompareOp, DataType, DeviceId, Literal, PhysicalType, Predicate, RowFilter, RowPolicy, TableSchema,
    TimeRange, Value, tag,
};
use tsloom_scan::{Order, ScanRequest, Source, TableScan};
use tsloom_tablet::Tablet;

/// A table of a fixture and all of its rows.
struct Table {
    reader: Arc<FileReader<Vec<u8>>>,
    schema: TableSchema,
    rows: Vec<Row>,
}

const TABLES: &[(&str, &str)] = &[
    ("cpp/comp_lz4", "t"),
    ("cpp/tag1_all_types", "t"),
    ("cpp/tag3_null_tags", "t"),
    ("cpp/pages_chunks", "t"),
    ("cpp/sparse_null_runs", "t"),
    ("cpp/notag_all_types", "t"),
    ("cpp/tags_only", "ids"),
    ("java/table_chunks", "chunks"),
    ("java/table_nulls", "nulls"),
    ("java/table_null_field", "nf"),
    ("java/table_multi_tables", "table1"),
];

fn tables() -> &'static [Table] {
    static ALL: OnceLock<Vec<Table>> = OnceLock::new();
    ALL.get_or_init(|| {
        let load = |&(file, table): &(&str, &str)| {
            let reader = open(file).unwrap();
            let table = reader.tables().find(|schema| schema.name() == table).unwrap_or_else(|| reader.tables().next().unwrap());
            let (schema, rows) = (table.clone(), table_rows(&reader, table.name()).unwrap());
            assert!(!rows.is_empty());
            Table { reader, schema, rows }
        };
        TABLES.iter().map(load).collect()
    })
}

/// A small generator, so that one seed gives everything that depends on the table.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

fn tags_of(schema: &TableSchema, row: &Row) -> Vec<Option<String>> {
    let text = |cell: &Cell| match cell {
        Cell::Bytes(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        _ => None,
    };
    schema.tags().map(|column| text(&row.cells[column])).collect()
}

fn device_of(schema: &TableSchema, row: &Row) -> DeviceId {
    let tags = tags_of(schema, row);
    DeviceId::new(schema.name(), tags.iter().map(Option::as_deref))
}

fn some_predicate(dice: &mut Dice, table: &Table, depth: usize) -> Predicate {
    let tags: Vec<usize> = table.schema.tags().collect();
    let column = *dice.pick(&tags);
    let name = table.schema.columns()[column].name.clone();
    let text = match &dice.pick(&table.rows).cells[column] {
        Cell::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        _ => "p1".to_owned(),
    };
    match dice.below(if depth < 2 { 8 } else { 5 }) {
        0 => tag(name).eq(text),
        1 => tag(name).ne(text),
        2 => tag(name).is_in([text, "z".to_owned()]),
        3 => tag(name).is_null(),
        4 => tag(name).compare(CompareOp::Ge, text),
        5 => some_predicate(dice, table, depth + 1).not(),
        6 => some_predicate(dice, table, depth + 1).and(some_predicate(dice, table, depth + 1)),
        _ => some_predicate(dice, table, depth + 1).or(some_predicate(dice, table, depth + 1)),
    }
}

fn some_row_filter(dice: &mut Dice, table: &Table, depth: usize) -> RowFilter {
    const OPS: [CompareOp; 6] = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
    let fields: Vec<usize> = table.schema.fields().collect();
    let position = *dice.pick(&fields);
    let column = &table.schema.columns()[position];
    let literal = match value_of(&dice.pick(&table.rows).cells[position], column.data_type) {
        Value::Null => match column.data_type.physical() {
            PhysicalType::Boolean => true.into(),
            PhysicalType::Int32 | PhysicalType::Int64 => Literal::Integer(0),
            PhysicalType::Float | PhysicalType::Double => f64::NAN.into(),
            PhysicalType::Text => "gamma".into(),
        },
        Value::Boolean(value) => value.into(),
        Value::Int32(value) => value.into(),
        Value::Int64(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::Double(value) => value.into(),
        Value::Text(value) => value.into(),
    };
    match dice.below(if depth < 2 { 7 } else { 4 }) {
        0..=2 => RowFilter::Compare(column.name.clone(), *dice.pick(&OPS), literal),
        3 => RowFilter::IsNull(column.name.clone()),
        4 => some_row_filter(dice, table, depth + 1).not(),
        5 => some_row_filter(dice, table, depth + 1).and(some_row_filter(dice, table, depth + 1)),
        _ => some_row_filter(dice, table, depth + 1).or(some_row_filter(dice, table, depth + 1)),
    }
}

fn some_request(dice: &mut Dice, table: &Table) -> ScanRequest {
    let mut request = ScanRequest::new();
    let names: Vec<&str> = table.schema.columns().iter().map(|column| column.name.as_str()).collect();
    if dice.below(3) > 0 {
        let mut columns: Vec<&str> = names.clone();
        for at in (1..columns.len()).rev() {
            columns.swap(at, dice.below(at + 1));
        }
        columns.truncate(dice.below(names.len() + 1));
        request = request.columns(columns);
    }
    if dice.below(3) > 0 {
        let mut end = || dice.pick(&table.rows).time.saturating_add(dice.below(3) as i64 - 1);
        let (one, other) = (end(), end());
        request = request.time(one.min(other)..=one.max(other));
    }
    if table.schema.tag_count() > 0 && dice.below(2) > 0 {
        request = request.filter(some_predicate(dice, table, 0));
    }
    if table.schema.fields().next().is_some() && dice.below(2) > 0 {
        request = request.values(some_row_filter(dice, table, 0)).prune(dice.below(3) > 0);
    }
    if dice.below(4) == 0 {
        request = request.row_policy(RowPolicy::DropAllNull);
    }
    if dice.below(2) > 0 {
        request = request.offset(dice.below(table.rows.len() + 2) as u64 / (1 + dice.below(10) as u64));
    }
    if dice.below(2) > 0 {
        request = request.limit(dice.below(table.rows.len() + 2) as u64 / (1 + dice.below(10) as u64));
    }
    if dice.below(3) == 0 {
        request = request.order(Order::Descending);
    }
    request = request.devices_apart(dice.below(2) > 0);
    request.row_budget(*dice.pick(&[0, 1, 2, 7, 20, 64, 100, 10_000]))
}

/// Filter, then turn round, then skip, then take, on all rows.
fn naive(schema: &TableSchema, rows: &[Row], request: &ScanRequest) -> Vec<Row> {
    let filter = request.filter.as_ref().map(|filter| filter.resolve(schema).unwrap());
    let values = request.values.as_ref().map(|values| values.resolve(schema).unwrap());
    let columns: Vec<usize> = match &request.columns {
        Some(names) => names.iter().map(|name| schema.column_index(name).unwrap()).collect(),
        None => (0..schema.columns().len()).collect(),
    };
    let forward = rows.iter();
    let ordered: Box<dyn Iterator<Item = &Row>> =
        if request.order == Order::Descending { Box::new(forward.rev()) } else { Box::new(forward) };
    ordered
        .filter(|row| request.time.contains(row.time))
        .filter(|row| filter.as_ref().is_none_or(|filter| filter.matches(&device_of(schema, row))))
        .filter(|row| {
            values.as_ref().is_none_or(|values| {
                values.truth(&|column| value_of(&row.cells[column], schema.columns()[column].data_type)) == Some(true)
            })
        })
        .filter(|row| {
            let fields = columns.iter().filter(|&&column| schema.columns()[column].category == ColumnCategory::Field);
            let mut cells = fields.map(|&column| &row.cells[column]).peekable();
            request.row_policy == RowPolicy::KeepAllNull || cells.peek().is_none() || cells.any(|cell| *cell != Cell::Null)
        })
        .skip(request.offset as usize)
        .take(request.limit.map_or(usize::MAX, |limit| limit as usize))
        .map(|row| Row { time: row.time, cells: columns.iter().map(|&column| row.cells[column].clone()).collect() })
        .collect()
}

/// Scans, keeping every block or reusing the one there is, and checks what must hold of the blocks.
fn check_scan(schema: &TableSchema, sources: Vec<Source<Vec<u8>>>, request: &ScanRequest, expected: &[Row], takes: bool) {
    let mut scan = TableScan::open(schema.clone(), sources, request).unwrap();
    let mut rows = Vec::new();
    let mut blocks = 0;
    loop {
        let taken;
        let block = match scan.next_block().unwrap() {
            None => break,
            Some(_) if takes => {
                taken = scan.take().unwrap();
                &taken
            }
            Some(block) => block,
        };
        blocks += 1;
        assert!((1..=request.row_budget.max(1)).contains(&block.row_count()));
        rows.extend(rows_of(block));
        let Some(device) = scan.device() else {
            assert!(!request.devices_apart);
            continue;
        };
        let last = rows.last().unwrap();
        for (column, (cell, layout)) in last.cells.iter().zip(&scan.layout().columns).enumerate() {
            let position = schema.column_index(&layout.name).unwrap();
            if schema.columns()[position].category == ColumnCategory::Tag {
                let tag = device.tag(schema.tags().take_while(|&tag| tag < position).count());
                assert_eq!(*cell, Cell::from(Value::from(tag)), "column {column}");
            }
        }
    }
    assert_eq!(rows, expected, "{request:?}");
    let stats = scan.stats();
    assert_eq!(stats.rows, expected.len() as u64);
    assert!(request.prune || request.values.is_none() || stats.groups_pruned == 0);
    if takes {
        assert!(
            (blocks..=blocks + 1).contains(&stats.block_builds),
            "one for each that was taken, and the one that stayed empty"
        );
    } else {
        assert!((u64::from(blocks > 0)..=1).contains(&stats.block_builds));
    }
}

/// A value of the column's type.
fn value_of(cell: &Cell, data_type: DataType) -> Value<'_> {
    match cell {
        Cell::Null => Value::Null,
        Cell::Bool(value) => (*value).into(),
        Cell::Int(value) if matches!(data_type, DataType::Int32 | DataType::Date) => Value::Int32(*value as i32),
        Cell::Int(value) => (*value).into(),
        Cell::Float(bits) => f32::from_bits(*bits).into(),
        Cell::Double(bits) => f64::from_bits(*bits).into(),
        Cell::Bytes(bytes) => Value::Text(bytes),
    }
}

/// Rows like those of the table: the same or neighbouring times, cells of other rows, nulls.
fn some_writes(dice: &mut Dice, table: &Table) -> Vec<Row> {
    let count = 1 + dice.below(80);
    (0..count)
        .map(|_| {
            let mut row = dice.pick(&table.rows).clone();
            row.time = row.time.saturating_add([0, 0, 5, 1][dice.below(4)]);
            for column in table.schema.fields() {
                row.cells[column] = match dice.below(3) {
                    0 => Cell::Null,
                    _ => dice.pick(&table.rows).cells[column].clone(),
                };
            }
            row
        })
        .collect()
}

fn memtable_of(schema: &TableSchema, rows: &[Row]) -> Source<Vec<u8>> {
    let mut memtable = Memtable::new(MemtableOptions::default());
    let mut tablet = Tablet::with_capacity(schema, rows.len());
    for row in rows {
        let values: Vec<Value<'_>> =
            row.cells.iter().zip(schema.columns()).map(|(cell, column)| value_of(cell, column.data_type)).collect();
        tablet.push_row(row.time, &values).unwrap();
    }
    memtable.write(&tablet).unwrap();
    Source::Memtable(memtable.snapshot())
}

/// Rows by device and time; what comes later wins where it has a value.
fn overlay<'a>(schema: &TableSchema, layers: impl IntoIterator<Item = &'a [Row]>) -> Vec<Row> {
    let mut merged: BTreeMap<(DeviceId, i64), Row> = BTreeMap::new();
    for row in layers.into_iter().flatten() {
        let entry = merged.entry((device_of(schema, row), row.time)).or_insert_with(|| row.clone());
        for (old, new) in entry.cells.iter_mut().zip(&row.cells) {
            if *new != Cell::Null {
                *old = new.clone();
            }
        }
    }
    merged.into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn a_file_gives_what_a_naive_reader_gives(which in 0..TABLES.len(), seed in 1..u64::MAX, takes in any::<bool>()) {
        let table = &tables()[which];
        let request = some_request(&mut Dice(seed), table);
        let expected = naive(&table.schema, &table.rows, &request);
        check_scan(&table.schema, vec![Source::File(Arc::clone(&table.reader))], &request, &expected, takes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Files and memtables in any number and order, over each other.
    #[test]
    fn several_sources_are_merged_newest_first(which in 0..TABLES.len(), seed in 1..u64::MAX, plan in prop::collection::vec(any::<bool>(), 1..5)) {
        let table = &tables()[which];
        let mut dice = Dice(seed);
        let layers: Vec<Option<Vec<Row>>> =
            plan.iter().map(|is_memtable| is_memtable.then(|| some_writes(&mut dice, table))).collect();
        let sources = layers.iter().map(|layer| match layer {
            Some(rows) => memtable_of(&table.schema, rows),
            None => Source::File(Arc::clone(&table.reader)),
        });
        let request = some_request(&mut dice, table);
        let merged = overlay(&table.schema, layers.iter().map(|layer| layer.as_deref().unwrap_or(&table.rows)));
        let expected = naive(&table.schema, &merged, &request);
        check_scan(&table.schema, sources.collect(), &request, &expected, false);
    }
}

#[test]
fn offset_and_limit_are_what_skip_and_take_are() {
    // The input of a public report: pages skipped by the wrong count. Here: pages of 50 rows, nulls, every pair.
    let table = &tables()[3];
    for offset in [0, 1, 49, 50, 51, 99, 100, 349, 350, 351, 599, 600, 601, 1_199, 1_200, 1_300] {
        for limit in [0, 1, 49, 50, 51, 600, 2_000] {
            for time in [TimeRange::ALL, TimeRange { start: 1_015, end: 6_500 }] {
                let request = ScanRequest { time, ..ScanRequest::new().offset(offset).limit(limit).columns(["i"]) };
                let expected = naive(&table.schema, &table.rows, &request);
                check_scan(&table.schema, vec![Source::File(Arc::clone(&table.reader))], &request, &expected, false);
            }
        }
    }
}

#[test]
fn statistics_spare_pages_that_cannot_pass() {
    let table = &tables()[3];
    let scan_with = |request: &ScanRequest| {
        let mut scan = TableScan::of_file(Arc::clone(&table.reader), table.schema.name(), request).unwrap();
        let mut row_count = 0;
        while let Some(block) = scan.next_block().unwrap() {
            row_count += block.row_count();
        }
        (row_count, scan.stats())
    };
    let last = table.rows.iter().filter_map(|row| match row.cells[table.schema.column_index("l").unwrap()] {
        Cell::Int(value) => Some(value),
        _ => None,
    });
    let request = ScanRequest::new().columns(["s"]).values(tsloom_model::field("l").ge(last.max().unwrap()));
    let (row_count, pruned) = scan_with(&request);
    let (same_count, unpruned) = scan_with(&request.prune(false));
    assert_eq!(row_count, same_count);
    assert!(pruned.pages_decoded * 4 < unpruned.pages_decoded, "{pruned:?} {unpruned:?}");
    assert!(pruned.pages_pruned > 0 && pruned.groups_pruned > 0, "{pruned:?}");
}
