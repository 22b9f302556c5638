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
use tsloom_model::{Cell, DataType};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    for sample in samples::samples() {
        let (bytes, summary) = sample.write(Vec::new())?;
        let path = Path::new(&folder).join(sample.name);
        std::fs::write(path.with_extension("tsfile"), bytes)?;
        std::fs::write(path.with_extension("jsonl"), lines(&sample)?)?;
        println!("{}: {summary:?}", sample.name);
    }
    Ok(())
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
