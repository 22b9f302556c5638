//! The reader that decodes everything and then does to the rows, one by one, what was asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use tsloom_file::FileReader;
use tsloom_memtable::{Memtable, MemtableOptions};
use tsloom_model::{ColumnCategory, DataType, Deleted, Deletion, DeviceId, RowPolicy, TableSchema, Value};
use tsloom_scan::{Order, ScanRequest, Source, TableScan};
use tsloom_tablet::Tablet;

use super::{Cell, Row, fixture_names, open, rows_of, table_rows};

/// A table of a fixture and all of its rows.
pub struct Table {
    pub reader: Arc<FileReader<Vec<u8>>>,
    pub schema: TableSchema,
    pub rows: Vec<Row>,
}

/// Its bytes lost bits when they were written: what its statistics say, and pruning trusts, is not about the values that are left.
const NOT_ITS_STATISTICS: &str = "cpp/enc_sprintz_double_suspect";

/// Every table of every fixture that has rows.
pub fn tables() -> &'static [Table] {
    static ALL: OnceLock<Vec<Table>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for file in ["cpp", "java"]
            .into_iter()
            .flat_map(|folder| fixture_names(folder).into_iter().map(move |name| format!("{folder}/{name}")))
        {
            if file == NOT_ITS_STATISTICS {
                continue;
            }
            let reader = open(&file).unwrap();
            for schema in reader.tables() {
                let (schema, rows) = (schema.clone(), table_rows(&reader, schema.name()).unwrap());
                if !rows.is_empty() {
                    all.push(Table { reader: Arc::clone(&reader), schema, rows });
                }
            }
        }
        assert!(all.len() > 30, "the fixtures are there");
        all
    })
}

/// The first table of a fixture.
pub fn table_of(file: &str) -> Table {
    let reader = open(file).unwrap();
    let schema = reader.tables().next().unwrap().clone();
    let rows = table_rows(&reader, schema.name()).unwrap();
    Table { reader, schema, rows }
}

pub fn tags_of(schema: &TableSchema, row: &Row) -> Vec<Option<String>> {
    let text = |cell: &Cell| match cell {
        Cell::Bytes(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        _ => None,
    };
    schema.tags().map(|column| text(&row.cells[column])).collect()
}

pub fn device_of(schema: &TableSchema, row: &Row) -> DeviceId {
    let tags = tags_of(schema, row);
    DeviceId::new(schema.name(), tags.iter().map(Option::as_deref))
}

/// A value of the column's type.
pub fn value_of(cell: &Cell, data_type: DataType) -> Value<'_> {
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

/// Filter, then put in order, then skip, then take, on all rows.
pub fn naive(schema: &TableSchema, rows: &[Row], request: &ScanRequest) -> Vec<Row> {
    let filter = request.filter.as_ref().map(|filter| filter.resolve(schema).unwrap());
    let values = request.values.as_ref().map(|values| values.resolve(schema).unwrap());
    let columns: Vec<usize> = match &request.columns {
        Some(names) => names.iter().map(|name| schema.column_index(name).unwrap()).collect(),
        None => (0..schema.columns().len()).collect(),
    };
    let mut ordered: Vec<&Row> = rows.iter().collect();
    if matches!(request.order, Order::ByTime | Order::ByTimeDescending) {
        ordered.sort_by_key(|row| row.time);
    }
    if matches!(request.order, Order::Descending | Order::ByTimeDescending) {
        ordered.reverse();
    }
    ordered
        .into_iter()
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

/// What is left of the rows of a source.
pub fn delete(schema: &TableSchema, rows: &[Row], deletions: &[Deletion]) -> Vec<Row> {
    let mut left = Vec::new();
    for row in rows {
        let device = device_of(schema, row);
        let mut row = row.clone();
        let mut is_gone = false;
        for deletion in
            deletions.iter().filter(|deletion| deletion.times.contains(row.time) && deletion.concerns(device.segments()))
        {
            for column in schema.fields() {
                match deletion.of_column(device.segments(), &schema.columns()[column].name) {
                    Deleted::No => {}
                    Deleted::Cells => row.cells[column] = Cell::Null,
                    Deleted::Rows => is_gone = true,
                }
            }
            is_gone |= deletion.of_column(device.segments(), "no such column") == Deleted::Rows;
        }
        if !is_gone {
            left.push(row);
        }
    }
    left
}

/// Scans, keeping every block or reusing the one there is, and checks what must hold of the blocks.
pub fn check_scan(
    schema: &TableSchema,
    sources: Vec<Source<Vec<u8>>>,
    request: &ScanRequest,
    expected: &[Row],
    takes: bool,
    threads: usize,
) {
    let scan = TableScan::open(schema.clone(), sources, request).unwrap();
    let mut scan = if threads > 1 { scan.threads(threads).unwrap() } else { scan };
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
            assert!(!request.devices_apart || matches!(request.order, Order::ByTime | Order::ByTimeDescending));
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
    assert_eq!(rows, expected, "{request:?} by {threads} threads");
    let stats = scan.stats();
    assert_eq!(stats.rows, expected.len() as u64);
    assert!(request.prune || request.values.is_none() || stats.groups_pruned == 0);
    if threads > 1 {
        assert!(scan.next_block().unwrap().is_none(), "the end stays the end");
    } else if takes {
        assert!(
            (blocks..=blocks + 1).contains(&stats.block_builds),
            "one for each that was taken, and the one that stayed empty"
        );
    } else {
        assert!((u64::from(blocks > 0)..=1).contains(&stats.block_builds));
    }
}

pub fn memtable_of(schema: &TableSchema, rows: &[Row]) -> Source<Vec<u8>> {
    let mut memtable = Memtable::new(MemtableOptions::default());
    let mut tablet = Tablet::with_capacity(schema, rows.len());
    for row in rows {
        let values: Vec<Value<'_>> =
            row.cells.iter().zip(schema.columns()).map(|(cell, column)| value_of(cell, column.data_type)).collect();
        tablet.push_row(row.time, &values).unwrap();
    }
    memtable.write(&tablet).unwrap();
    Source::memtable(memtable.snapshot())
}

/// Rows by device and time; what comes later wins where it has a value.
pub fn overlay<'a>(schema: &TableSchema, layers: impl IntoIterator<Item = &'a [Row]>) -> Vec<Row> {
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
