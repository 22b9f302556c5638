//! Random requests, rows and deletions, all from one seed.

use tsloom_model::{
    CompareOp, Deletion, DeviceSet, Literal, PhysicalType, Predicate, RowFilter, RowPolicy, TimeRange, Value, tag,
};
use tsloom_scan::{Order, ScanRequest};
use tsloom_testkit::Random;

use super::naive::{Table, device_of, value_of};
use super::{Cell, Row};

pub fn some_predicate(random: &mut Random, table: &Table, depth: usize) -> Predicate {
    let tags: Vec<usize> = table.schema.tags().collect();
    let column = *random.pick(&tags);
    let name = table.schema.columns()[column].name.clone();
    let text = match &random.pick(&table.rows).cells[column] {
        Cell::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        _ => "p1".to_owned(),
    };
    match random.below(if depth < 2 { 9 } else { 6 }) {
        0 => tag(name).eq(text),
        1 => tag(name).ne(text),
        2 => tag(name).is_in([text, "z".to_owned()]),
        3 => tag(name).is_null(),
        4 => tag(name).compare(CompareOp::Ge, text),
        5 => tag(name).matches(*random.pick(&["^.?[a-f0-3]", "[^0-9]$", "^$"])).unwrap(),
        6 => some_predicate(random, table, depth + 1).not(),
        7 => some_predicate(random, table, depth + 1).and(some_predicate(random, table, depth + 1)),
        _ => some_predicate(random, table, depth + 1).or(some_predicate(random, table, depth + 1)),
    }
}

pub fn some_row_filter(random: &mut Random, table: &Table, depth: usize) -> RowFilter {
    const OPS: [CompareOp; 6] = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
    let fields: Vec<usize> = table.schema.fields().collect();
    let position = *random.pick(&fields);
    let column = &table.schema.columns()[position];
    let literal = match value_of(&random.pick(&table.rows).cells[position], column.data_type) {
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
    match random.below(if depth < 2 { 7 } else { 4 }) {
        0..=2 => RowFilter::Compare(column.name.clone(), *random.pick(&OPS), literal),
        3 => RowFilter::IsNull(column.name.clone()),
        4 => some_row_filter(random, table, depth + 1).not(),
        5 => some_row_filter(random, table, depth + 1).and(some_row_filter(random, table, depth + 1)),
        _ => some_row_filter(random, table, depth + 1).or(some_row_filter(random, table, depth + 1)),
    }
}

pub fn some_request(random: &mut Random, table: &Table) -> ScanRequest {
    let mut request = ScanRequest::new();
    let names: Vec<&str> = table.schema.columns().iter().map(|column| column.name.as_str()).collect();
    if random.below(3) > 0 {
        let mut columns: Vec<&str> = names.clone();
        for at in (1..columns.len()).rev() {
            columns.swap(at, random.below(at + 1));
        }
        columns.truncate(random.below(names.len() + 1));
        request = request.columns(columns);
    }
    if random.below(3) > 0 {
        let mut end = || random.pick(&table.rows).time.saturating_add(random.below(3) as i64 - 1);
        let (one, other) = (end(), end());
        request = request.time(one.min(other)..=one.max(other));
    }
    if table.schema.tag_count() > 0 && random.below(2) > 0 {
        request = request.filter(some_predicate(random, table, 0));
    }
    if table.schema.fields().next().is_some() && random.below(2) > 0 {
        request = request.values(some_row_filter(random, table, 0)).prune(random.below(3) > 0);
    }
    if random.below(4) == 0 {
        request = request.row_policy(RowPolicy::DropAllNull);
    }
    if random.below(2) > 0 {
        request = request.offset(random.below(table.rows.len() + 2) as u64 / (1 + random.below(10) as u64));
    }
    if random.below(2) > 0 {
        request = request.limit(random.below(table.rows.len() + 2) as u64 / (1 + random.below(10) as u64));
    }
    request = request.order(*random.pick(&[
        Order::Ascending,
        Order::Ascending,
        Order::Descending,
        Order::ByTime,
        Order::ByTimeDescending,
    ]));
    request = request.devices_apart(random.below(2) > 0);
    request = request.read_ahead_bytes(*random.pick(&[0, 1 << 10, 256 << 10, 4 << 20]));
    request.row_budget(*random.pick(&[0, 1, 2, 7, 20, 64, 100, 10_000]))
}

/// Rows like those of the table: the same or neighbouring times, cells of other rows, nulls.
pub fn some_writes(random: &mut Random, table: &Table) -> Vec<Row> {
    let count = 1 + random.below(80);
    (0..count)
        .map(|_| {
            let mut row = random.pick(&table.rows).clone();
            row.time = row.time.saturating_add([0, 0, 5, 1][random.below(4)]);
            for column in table.schema.fields() {
                row.cells[column] = match random.below(3) {
                    0 => Cell::Null,
                    _ => random.pick(&table.rows).cells[column].clone(),
                };
            }
            row
        })
        .collect()
}

/// Deletions of rows and of cells, of all devices or of some.
pub fn some_deletions(random: &mut Random, table: &Table) -> Vec<Deletion> {
    let fields: Vec<usize> = table.schema.fields().collect();
    (0..random.below(5))
        .map(|_| {
            let [one, other] = [(); 2].map(|()| random.pick(&table.rows).time.saturating_add(random.below(3) as i64 - 1));
            let times = match random.below(6) {
                0 => TimeRange::ALL,
                1 => TimeRange { start: one, end: one },
                _ => TimeRange { start: one.min(other), end: one.max(other) },
            };
            let mut deletion = Deletion::of_table(table.schema.name(), times.start..=times.end);
            if table.schema.tag_count() > 0 && random.one_in(2) {
                let predicate = some_predicate(random, table, 1).resolve(&table.schema).unwrap();
                deletion = deletion.devices(predicate);
            } else if random.one_in(3) {
                let devices = (0..1 + random.below(3)).map(|_| device_of(&table.schema, random.pick(&table.rows)));
                deletion = deletion.devices(DeviceSet::These(devices.collect()));
            }
            if !fields.is_empty() && random.below(3) > 0 {
                let names = (0..1 + random.below(3)).map(|_| table.schema.columns()[*random.pick(&fields)].name.as_str());
                deletion = deletion.columns(names);
            }
            deletion
        })
        .collect()
}
