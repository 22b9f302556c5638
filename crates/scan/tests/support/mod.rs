//! Rows as the tests compare them, and where expected rows come from: the `.jsonl` beside each fixture.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

pub mod naive;
pub mod requests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use tsloom_block::Block;
use tsloom_file::FileReader;
use tsloom_model::{ColumnCategory, DataType, Date, DeviceId, Limits, Result, TableSchema, Value};
use tsloom_scan::{ScanRequest, TableScan};

/// A cell that can be compared bit for bit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(u32),
    Double(u64),
    Bytes(Vec<u8>),
}

impl From<Value<'_>> for Cell {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Bool(value),
            Value::Int32(value) => Self::Int(value.into()),
            Value::Int64(value) => Self::Int(value),
            Value::Float(value) => Self::Float(if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }),
            Value::Double(value) => Self::Double(if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }),
            Value::Text(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

/// Time and the cells of all columns of the schema, tags among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub time: i64,
    pub cells: Vec<Cell>,
}

pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(name)
}

/// Names of the fixtures in a folder, without `.tsfile`, sorted.
pub fn fixture_names(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(fixture(folder))
        .expect("the fixtures are there")
        .filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".tsfile").map(str::to_owned))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no fixtures in {folder}");
    names
}

pub fn open(name: &str) -> Result<Arc<FileReader<Vec<u8>>>> {
    let bytes = std::fs::read(fixture(&format!("{name}.tsfile"))).expect("the fixture is there");
    open_bytes(bytes, name)
}

pub fn open_bytes(bytes: Vec<u8>, name: &str) -> Result<Arc<FileReader<Vec<u8>>>> {
    Ok(Arc::new(FileReader::new(bytes, name, Limits::default())?))
}

/// The rows of a block.
pub fn rows_of(block: &Block) -> impl Iterator<Item = Row> {
    assert!(block.check());
    (0..block.row_count()).map(|row| Row {
        time: block.times()[row],
        cells: block.columns().iter().map(|column| column.value(row).into()).collect(),
    })
}

/// All rows of a scan, and the number of rows of each of its blocks.
pub fn scan_all(mut scan: TableScan<Vec<u8>>) -> Result<(Vec<Row>, Vec<usize>)> {
    let mut rows = Vec::new();
    let mut sizes = Vec::new();
    while let Some(block) = scan.next_block()? {
        assert!(block.row_count() > 0);
        sizes.push(block.row_count());
        rows.extend(rows_of(block));
    }
    assert!(scan.next_block()?.is_none(), "the end stays the end");
    Ok((rows, sizes))
}

/// All rows of one table of a file.
pub fn table_rows(reader: &Arc<FileReader<Vec<u8>>>, table: &str) -> Result<Vec<Row>> {
    Ok(scan_all(TableScan::of_file(Arc::clone(reader), table, &ScanRequest::new())?)?.0)
}

/// A table as a fixture describes it: name, columns, rows in order.
pub struct Expected {
    pub table: String,
    pub columns: Vec<(String, DataType, ColumnCategory)>,
    pub rows: Vec<Row>,
}

impl Expected {
    pub fn check(&self, schema: &TableSchema, rows: &[Row]) {
        let columns: Vec<_> =
            schema.columns().iter().map(|column| (column.name.clone(), column.data_type, column.category)).collect();
        assert_eq!(columns, self.columns, "columns of {}", self.table);
        assert_eq!(rows.len(), self.rows.len(), "rows of {}", self.table);
        for (index, (found, expected)) in rows.iter().zip(&self.rows).enumerate() {
            assert_eq!(found, expected, "row {index} of {}", self.table);
        }
    }
}

fn lines(name: &str) -> Vec<Json> {
    let text = std::fs::read_to_string(fixture(&format!("{name}.jsonl"))).expect("the fixture has its rows");
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// The tables of a fixture of C++; none for a tree-model file.
pub fn expected_cpp(name: &str) -> Vec<Expected> {
    let mut tables: Vec<Expected> = Vec::new();
    for line in lines(name) {
        if let Some(schema) = line.get("schema") {
            let Some(table) = schema.get("table") else { return Vec::new() };
            let columns = schema["columns"].as_array().unwrap().iter().map(|column| {
                let category = if column["category"] == "TAG" { ColumnCategory::Tag } else { ColumnCategory::Field };
                (column["name"].as_str().unwrap().to_owned(), column["type"].as_str().unwrap().parse().unwrap(), category)
            });
            tables.push(Expected { table: table.as_str().unwrap().to_owned(), columns: columns.collect(), rows: Vec::new() });
            continue;
        }
        let table = tables.iter_mut().find(|table| line["table"] == table.table.as_str()).unwrap();
        let cells = table.columns.iter().map(|(name, data_type, category)| {
            let of = if *category == ColumnCategory::Tag { "tags" } else { "fields" };
            cell_of_cpp(line[of].get(name).expect("a row has every column"), *data_type)
        });
        let row = Row { time: line["time"].as_i64().unwrap(), cells: cells.collect() };
        table.rows.push(row);
    }
    tables
}

fn cell_of_cpp(json: &Json, data_type: DataType) -> Cell {
    let float = || match json.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        Some(other) => panic!("{other} is no number"),
        None => json.as_f64().unwrap(),
    };
    match data_type {
        _ if json.is_null() => Cell::Null,
        DataType::Boolean => Cell::Bool(json.as_bool().unwrap()),
        DataType::Int32 | DataType::Int64 | DataType::Timestamp => Cell::Int(json.as_i64().unwrap()),
        DataType::Float => Value::Float(float() as f32).into(),
        DataType::Double => Value::Double(float()).into(),
        DataType::Date => Cell::Int(Date::parse(json.as_str().unwrap()).unwrap().yyyymmdd().into()),
        DataType::Text | DataType::String => Cell::Bytes(json.as_str().unwrap().as_bytes().to_vec()),
        DataType::Blob => Cell::Bytes(hex(json["hex"].as_str().unwrap())),
    }
}

/// The tables of a fixture of Java; devices come in the order of the file, values column by column.
pub fn expected_java(name: &str) -> Vec<Expected> {
    let lines = lines(name);
    let mut tables: Vec<Expected> = lines[0]["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| {
            let columns = table["columns"].as_array().unwrap().iter().map(|column| {
                let category = if column[2] == "TAG" { ColumnCategory::Tag } else { ColumnCategory::Field };
                (column[0].as_str().unwrap().to_owned(), column[1].as_str().unwrap().parse().unwrap(), category)
            });
            Expected { table: table["name"].as_str().unwrap().to_owned(), columns: columns.collect(), rows: Vec::new() }
        })
        .collect();
    for line in &lines[1..] {
        assert_eq!(line["kind"], "aligned");
        let device = line["device"].as_array().unwrap();
        let table = tables.iter_mut().find(|table| device[0] == table.table.as_str()).unwrap();
        for chunk in line["chunks"].as_array().unwrap() {
            let names: Vec<Option<&str>> =
                chunk["columns"].as_array().unwrap().iter().map(|column| column.get("name").and_then(Json::as_str)).collect();
            for (row, time) in chunk["times"].as_array().unwrap().iter().enumerate() {
                let mut tags = device[1..].iter();
                let cells = table.columns.iter().map(|(name, data_type, category)| {
                    if *category == ColumnCategory::Tag {
                        let tag = tags.next().and_then(Json::as_str);
                        return tag.map_or(Cell::Null, |tag| Cell::Bytes(tag.as_bytes().to_vec()));
                    }
                    let column = names.iter().position(|column| *column == Some(name));
                    column.map_or(Cell::Null, |column| cell_of_java(&chunk["values"][column][row], *data_type))
                });
                let row = Row { time: time.as_i64().unwrap(), cells: cells.collect() };
                table.rows.push(row);
            }
        }
    }
    tables
}

fn cell_of_java(json: &Json, data_type: DataType) -> Cell {
    match data_type {
        _ if json.is_null() => Cell::Null,
        DataType::Boolean => Cell::Bool(json.as_bool().unwrap()),
        DataType::Int32 | DataType::Int64 | DataType::Timestamp | DataType::Date => Cell::Int(json.as_i64().unwrap()),
        DataType::Float => Value::Float(f32::from_bits(u32::from_str_radix(json.as_str().unwrap(), 16).unwrap())).into(),
        DataType::Double => Value::Double(f64::from_bits(u64::from_str_radix(json.as_str().unwrap(), 16).unwrap())).into(),
        DataType::Text | DataType::String | DataType::Blob => Cell::Bytes(hex(json.as_str().unwrap())),
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// A device of the tree model: its columns by name, and its rows with equal times merged.
pub struct TreeDevice {
    pub id: DeviceId,
    pub is_aligned: bool,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

/// Cells by time and column, the latest value that is not null of each.
#[derive(Default)]
struct Cells {
    columns: BTreeMap<String, DataType>,
    rows: BTreeMap<i64, BTreeMap<String, Cell>>,
    is_aligned: bool,
}

impl Cells {
    fn put(&mut self, time: i64, name: &str, cell: Cell) {
        let row = self.rows.entry(time).or_default();
        if cell != Cell::Null {
            row.insert(name.to_owned(), cell);
        }
    }

    fn device(self, id: DeviceId) -> TreeDevice {
        let columns: Vec<String> = self.columns.into_keys().collect();
        let rows = self.rows.into_iter().map(|(time, mut cells)| {
            let cells = columns.iter().map(|name| cells.remove(name).unwrap_or(Cell::Null)).collect();
            Row { time, cells }
        });
        TreeDevice { id, is_aligned: self.is_aligned, rows: rows.collect(), columns }
    }
}

/// The devices of a fixture of Java, by id.
pub fn tree_java(name: &str) -> Vec<TreeDevice> {
    let mut devices: BTreeMap<DeviceId, Cells> = BTreeMap::new();
    for line in &lines(name)[1..] {
        let segments = line["device"].as_array().unwrap().iter().map(Json::as_str);
        let cells = devices.entry(DeviceId::from_segments(segments)).or_default();
        cells.is_aligned = line["kind"] == "aligned";
        for chunk in line["chunks"].as_array().unwrap() {
            let times = chunk["times"].as_array().unwrap().iter().map(|time| time.as_i64().unwrap());
            if !cells.is_aligned {
                let data_type: DataType = line["type"].as_str().unwrap().parse().unwrap();
                let column = line["measurement"].as_str().unwrap();
                cells.columns.insert(column.to_owned(), data_type);
                times.zip(chunk["values"].as_array().unwrap()).for_each(|(time, value)| {
                    cells.put(time, column, cell_of_java(value, data_type));
                });
                continue;
            }
            times.clone().for_each(|time| cells.put(time, "", Cell::Null));
            for (column, values) in chunk["columns"].as_array().unwrap().iter().zip(chunk["values"].as_array().unwrap()) {
                let Some(column_name) = column.get("name").and_then(Json::as_str) else { continue };
                let data_type: DataType = column["type"].as_str().unwrap().parse().unwrap();
                cells.columns.insert(column_name.to_owned(), data_type);
                times.clone().zip(values.as_array().unwrap()).for_each(|(time, value)| {
                    cells.put(time, column_name, cell_of_java(value, data_type));
                });
            }
        }
    }
    devices.into_iter().map(|(id, cells)| cells.device(id)).collect()
}

/// The devices of a fixture of C++, by id; none when it is of the table model.
pub fn tree_cpp(name: &str) -> Vec<TreeDevice> {
    let mut devices: BTreeMap<DeviceId, Cells> = BTreeMap::new();
    for line in lines(name) {
        if let Some(schema) = line.get("schema") {
            let Some(path) = schema["device"].as_str() else { return Vec::new() };
            let cells = devices.entry(DeviceId::from_path(path)).or_default();
            cells.is_aligned = name.ends_with("tree_aligned");
            for column in schema["columns"].as_array().unwrap() {
                cells
                    .columns
                    .insert(column["name"].as_str().unwrap().to_owned(), column["type"].as_str().unwrap().parse().unwrap());
            }
            continue;
        }
        let cells = devices.get_mut(&DeviceId::from_path(line["device"].as_str().unwrap())).unwrap();
        let time = line["time"].as_i64().unwrap();
        cells.put(time, "", Cell::Null);
        for (column, value) in line["fields"].as_object().unwrap() {
            let cell = cell_of_cpp(value, cells.columns[column]);
            cells.put(time, column, cell);
        }
    }
    devices.into_iter().map(|(id, cells)| cells.device(id)).collect()
}
