//! Writes the samples of this crate's tests into a folder, each with a `.jsonl` of the rows it must read back to, for
//! other implementations to judge.
//!
//! ```text
//! cargo run -p tsloom-file --example write_samples -- FOLDER
//! ```

#[path = "../tests/common/samples.rs"]
mod samples;

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use samples::Sample;
use serde_json::{Map, Value, json};
use tsloom_file::{FileWriter, WriterOptions};
use tsloom_model::{Cell, ColumnSchema, DataType, DeviceId, DeviceSchema};
use tsloom_tablet::Tablet;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    for sample in samples::samples() {
        let (bytes, summary) = sample.write(Vec::new())?;
        let path = Path::new(&folder).join(sample.name);
        std::fs::write(path.with_extension("tsfile"), bytes)?;
        std::fs::write(path.with_extension("jsonl"), lines(&sample)?)?;
        println!("{}: {summary:?}", sample.name);
    }
    for is_aligned in [true, false] {
        let name = if is_aligned { "tree_aligned" } else { "tree_not_aligned" };
        let path = Path::new(&folder).join(name);
        let (bytes, text) = tree_device(is_aligned)?;
        std::fs::write(path.with_extension("tsfile"), bytes)?;
        std::fs::write(path.with_extension("jsonl"), text)?;
    }
    Ok(())
}

/// Two devices of the tree model in several pages and chunk groups, and their lines.
fn tree_device(is_aligned: bool) -> Result<(Vec<u8>, String), Box<dyn Error>> {
    let types = [DataType::Boolean, DataType::Double, DataType::Float, DataType::Int32, DataType::Int64, DataType::String];
    let columns: Vec<ColumnSchema> =
        types.iter().map(|data_type| ColumnSchema::field(format!("s_{data_type}"), *data_type)).collect();
    let paths = ["root.sg.d1", "root.sg.d2"];
    let mut text = String::new();
    for path in paths {
        let mut names: Vec<Value> =
            columns.iter().map(|column| json!({"name": column.name, "type": column.data_type.name()})).collect();
        names.sort_by_key(|column| column["name"].to_string());
        writeln!(text, "{}", json!({"schema": {"device": path, "columns": names}}))?;
    }
    let options = WriterOptions::builder().page_rows_max(20).build()?;
    let mut writer = FileWriter::new(Vec::new(), options)?;
    for path in paths {
        writer.add_device(&DeviceSchema::new(DeviceId::from_path(path), is_aligned, columns.clone())?)?;
    }
    let mut numbers = samples::Numbers(5);
    let mut lines: Vec<(&str, String)> = Vec::new();
    for start in [0, 70, 200] {
        for path in paths {
            let mut tablet = Tablet::for_device(path, columns.clone());
            for time in start..start + 60 {
                let cells: Vec<Cell> = types.iter().map(|data_type| samples::cell(*data_type, &mut numbers, 30)).collect();
                let values: Vec<tsloom_model::Value<'_>> = cells.iter().map(Cell::value).collect();
                tablet.push_row(time, &values)?;
                if is_aligned || cells.iter().any(|cell| *cell != Cell::Null) {
                    let field = |(column, cell): (&ColumnSchema, &Cell)| (column.name.clone(), cell_json(cell, column.data_type));
                    let fields: Map<String, Value> = columns.iter().zip(&cells).map(field).collect();
                    lines.push((path, json!({"device": path, "time": time, "fields": fields}).to_string()));
                }
            }
            writer.write(&tablet)?;
        }
        writer.flush_groups()?;
    }
    lines.sort_by_key(|(path, _)| *path);
    lines.iter().try_for_each(|(_, line)| writeln!(text, "{line}"))?;
    Ok((writer.finish()?.0, text))
}

/// Schema lines, then rows ordered by table, tags and time.
fn lines(sample: &Sample) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let mut tables: Vec<_> = sample.tables.iter().collect();
    tables.sort_by_key(|table| table.name().to_owned());
    for table in tables {
        let columns: Vec<Value> = table
            .columns()
            .iter()
            .map(|column| json!({"name": column.name, "type": column.data_type.name(), "category": column.category.name()}))
            .collect();
        writeln!(text, "{}", json!({"schema": {"table": table.name(), "columns": columns}}))?;
    }
    let mut rows: Vec<_> = sample.rows.iter().collect();
    rows.sort_by(|a, b| (&a.device, a.time).cmp(&(&b.device, b.time)));
    for row in rows {
        let table = sample.table(&row.device);
        let name = |index: usize| table.columns()[index].name.clone();
        let tags: Map<String, Value> =
            table.tags().enumerate().map(|(tag, index)| (name(index), row.device.tag(tag).into())).collect();
        let fields: Map<String, Value> = table
            .fields()
            .zip(&row.cells)
            .map(|(index, cell)| (name(index), cell_json(cell, table.columns()[index].data_type)))
            .collect();
        writeln!(text, "{}", json!({"table": table.name(), "time": row.time, "tags": tags, "fields": fields}))?;
    }
    Ok(text)
}

fn cell_json(cell: &Cell, data_type: DataType) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Boolean(value) => (*value).into(),
        Cell::Int32(day) if data_type == DataType::Date => {
            format!("{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100).into()
        }
        Cell::Int32(value) => (*value).into(),
        Cell::Int64(value) => (*value).into(),
        Cell::Float(value) => f64::from(*value).into(),
        Cell::Double(value) => (*value).into(),
        Cell::Text(bytes) if data_type == DataType::Blob => {
            json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()})
        }
        Cell::Text(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}
