//! What a new file looks like that takes the rows of several: their tables, and their devices of the tree model.

use std::collections::BTreeSet;
use std::sync::Arc;

use tsloom::TableSchema;
use tsloom::file::{DeviceSeries, FileReader, writable};
use tsloom::model::{ColumnCategory, ColumnSchema, DeviceId, DeviceSchema};

use crate::failure::{Failure, Outcome};
use crate::opened::each_tree_device;
use crate::schema::device_columns;

/// Every table with the columns that it has in any of the files; the newest file says how they are written.
pub(super) fn tables(readers: &[Arc<FileReader>]) -> Outcome<Vec<TableSchema>> {
    let mut merged: Vec<TableSchema> = Vec::new();
    for reader in readers {
        for table in reader.tables() {
            let failed =
                |what| Failure::failed(format_args!("{}: table {} {what} than in the files before", reader.name(), table.name()));
            match merged.iter_mut().find(|known| known.name() == table.name()) {
                Some(known) => *known = join(known, table).map_err(failed)?,
                None => merged.push(table.clone()),
            }
        }
    }
    let rewritten = merged.iter().map(|table| {
        let columns = table.columns().iter().map(writable).collect();
        TableSchema::from_stored(table.name(), columns).map_err(Failure::failed)
    });
    rewritten.collect()
}

fn join(old: &TableSchema, new: &TableSchema) -> Result<TableSchema, String> {
    let tags = |table: &TableSchema| -> Vec<String> { table.tags().map(|tag| table.columns()[tag].name.clone()).collect() };
    if tags(old) != tags(new) {
        return Err("has other TAG columns".to_owned());
    }
    let mut columns = old.columns().to_vec();
    join_columns(&mut columns, new.columns().iter().filter(|column| column.category != ColumnCategory::Tag).cloned())?;
    TableSchema::from_stored(old.name(), columns).map_err(|error| error.to_string())
}

fn join_columns(columns: &mut Vec<ColumnSchema>, newer: impl Iterator<Item = ColumnSchema>) -> Result<(), String> {
    for column in newer {
        match columns.iter_mut().find(|known| known.name == column.name) {
            Some(known) if (known.data_type, known.category) != (column.data_type, column.category) => {
                return Err(format!("has column {} as another {} {}", column.name, column.category, column.data_type));
            }
            Some(known) => *known = column,
            None => columns.push(column),
        }
    }
    Ok(())
}

/// All devices of the tree model, and the names of their columns. A column has one type in all files.
pub(super) fn devices(readers: &[Arc<FileReader>]) -> Outcome<(Vec<DeviceId>, BTreeSet<String>)> {
    let (mut devices, mut columns) = (BTreeSet::new(), BTreeSet::new());
    let mut other_type = None;
    for (index, reader) in readers.iter().enumerate() {
        let mut before: Vec<_> = readers[..index].iter().map(|reader| (reader, reader.all_devices())).collect();
        let mut older = DeviceSeries::default();
        let gather = |device: DeviceId, series: &DeviceSeries| {
            for (name, _) in series.columns() {
                if !columns.contains(name) {
                    columns.insert(name.to_owned());
                }
            }
            for (reader, cursor) in &mut before {
                if cursor.seek(reader, &device)? {
                    cursor.read_series(reader, &mut older)?;
                    let type_of = |name| older.get(older.position(name)?).series_type().data_type();
                    let mut columns = series.columns();
                    let differs = columns.find(|(name, now)| type_of(name).is_some_and(|before| before != *now));
                    if let Some((name, data_type)) = differs {
                        other_type = Some(format!("device {device} has column {name} as another {data_type}"));
                    }
                }
            }
            devices.insert(device);
            Ok(())
        };
        each_tree_device(reader, gather).map_err(Failure::unreadable)?;
        if let Some(what) = &other_type {
            return Err(Failure::failed(format_args!("{}: {what} than in the files before", reader.name())));
        }
    }
    Ok((devices.into_iter().collect(), columns))
}

/// A device with the columns that it has in any of the files, by name; the newest file says how they are written, and whether they share
/// their times.
pub(super) fn device(readers: &[Arc<FileReader>], device: &DeviceId) -> Outcome<DeviceSchema> {
    let mut series = DeviceSeries::default();
    let mut columns: Vec<ColumnSchema> = Vec::new();
    let mut is_aligned = false;
    for reader in readers {
        if !reader.find_device(device, &mut series).map_err(Failure::unreadable)? {
            continue;
        }
        is_aligned = series.is_aligned();
        let newer = device_columns(reader, &series).map_err(|error| Failure::unreadable(reader.blame(error)))?;
        join_columns(&mut columns, newer.into_iter()).map_err(Failure::failed)?;
    }
    columns.sort_by(|left, right| left.name.cmp(&right.name));
    DeviceSchema::new(device.clone(), is_aligned, columns.iter().map(writable).collect()).map_err(Failure::failed)
}
