//! The store as a whole, over real directories and over one that fails and crashes on demand.

mod backup;
mod basic;
mod compaction;
mod crash;
mod delete;
mod flush;
mod model;
mod pressure;
mod read_only;
mod schema;
mod threads;
mod unwritable;

use std::collections::BTreeMap;
use std::sync::Arc;

use tsloom_model::{DataType, ErrorKind, Result, TableSchema, Value};
use tsloom_tablet::Tablet;
use tsloom_testkit::faults::FaultDir;

use crate::{Store, StoreOptions};

/// Rows as a test sees them: device and time, then the cells in words.
type Rows = BTreeMap<(String, i64), [Option<String>; 3]>;

fn schema() -> TableSchema {
    TableSchema::builder("t")
        .tag("tag")
        .field("a", DataType::Int64)
        .field("b", DataType::Double)
        .field("c", DataType::String)
        .build()
        .unwrap()
}

fn open(dir: &FaultDir) -> Result<Store> {
    Store::open_dir(Arc::new(dir.clone()), StoreOptions::default())
}

/// A new store with table `t`.
fn new_store(dir: &FaultDir) -> Store {
    let store = open(dir).unwrap();
    store.create_table(&schema()).unwrap();
    store
}

/// One row a time in `times`, of one device. What the cells hold depends on the time and on `salt`; some are null.
fn tablet(device: &str, times: impl IntoIterator<Item = i64>, salt: i64) -> Tablet {
    let mut tablet = Tablet::new(&schema());
    for time in times {
        let text = format!("{device} {time} {salt}");
        let cells = [
            device.into(),
            if (time + salt) % 3 == 0 { Value::Null } else { (time * 1000 + salt).into() },
            if (time + salt) % 4 == 1 { Value::Null } else { (time as f64 / 8.0 + salt as f64).into() },
            if (time + salt) % 2 == 0 { Value::Null } else { text.as_str().into() },
        ];
        tablet.push_row(time, &cells).unwrap();
    }
    tablet
}

/// The model: per device, time and column the latest value that is not null.
fn apply(rows: &mut Rows, tablet: &Tablet) {
    for (row, time) in tablet.times().iter().enumerate() {
        let device = tablet.column(0).map_or(String::new(), |column| text_of(column.value(row)).unwrap_or_default());
        let cells = rows.entry((device, *time)).or_default();
        for (index, cell) in cells.iter_mut().enumerate() {
            if let Some(text) = tablet.column(index + 1).and_then(|column| text_of(column.value(row))) {
                *cell = Some(text);
            }
        }
    }
}

fn text_of(value: Value<'_>) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
        other => Some(format!("{other:?}")),
    }
}

/// All rows of table `t`. A fault that strikes once may strike here; then the second look must do.
fn rows_of(store: &Store) -> Rows {
    match try_rows_of(store) {
        Err(error) if error.kind() == ErrorKind::Io => try_rows_of(store).unwrap(),
        rows => rows.unwrap(),
    }
}

/// All rows of table `t`, and a check that they come in order. A column that the table has not is null.
fn try_rows_of(store: &Store) -> Result<Rows> {
    let mut rows = Rows::new();
    let mut last = None;
    let Some(schema) = store.describe("t") else {
        return Ok(rows);
    };
    let columns = ["tag", "a", "b", "c"].map(|name| schema.column_index(name));
    let mut scan = store.scan("t").open()?;
    while let Some(block) = scan.next_block()? {
        for (row, time) in block.times().iter().enumerate() {
            let cell = |index: usize| columns[index].and_then(|column| text_of(block.column(column).value(row)));
            let key = (cell(0).unwrap_or_default(), *time);
            assert!(last.as_ref() < Some(&key), "{last:?} before {key:?}");
            last = Some(key.clone());
            rows.insert(key, [cell(1), cell(2), cell(3)]);
        }
    }
    Ok(rows)
}
