//! The first program: a tablet goes through log, memtable and file, and comes back in one lent block.

use tsloom::{DataType, Store, StoreOptions, TableSchema, Tablet, Value};

fn main() -> tsloom::Result<()> {
    let directory = std::env::temp_dir().join(format!("hello-{}.tsloom", std::process::id()));

    let weather =
        TableSchema::builder("weather").tag("city").field("temp", DataType::Double).field("rain", DataType::Int32).build()?;
    let store = Store::open(&directory, StoreOptions::default())?;
    store.create_table(&weather)?; // the same schema again is no error

    let mut batch = Tablet::with_capacity(&weather, 2);
    batch.push_row(1_000, &["Oslo".into(), 3.5.into(), Value::Null])?;
    batch.push_row(2_000, &["Oslo".into(), Value::Null, 7.into()])?;
    store.write(&batch)?; // log, then memtable
    store.flush()?; // memtable to a TsFile

    let mut rows = Vec::new();
    let mut scan = store.scan("weather").columns(["temp", "rain"]).time(0..10_000).open()?;
    while let Some(block) = scan.next_block()? {
        // one block, lent until the next call
        for (row, time) in block.times().iter().enumerate() {
            println!("{time} {:?} {:?}", block.column(0).f64(row), block.column(1).i32(row));
            rows.push((*time, block.column(0).f64(row), block.column(1).i32(row)));
        }
    }
    assert_eq!(rows, [(1_000, Some(3.5), None), (2_000, None, Some(7))]);

    drop(scan);
    drop(store);
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}
