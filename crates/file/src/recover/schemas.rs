//! Schemas for an unfinished file, which has none yet: made of what its chunks say.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use tsloom_format::ChunkKind;
use tsloom_model::{ColumnSchema, DeviceSchema, Result, TableSchema};

use super::{RecoveredGroup, Recovery};
use crate::writer::writable;

impl Recovery {
    /// Schemas that hold what is there: a table for each name, with TAG columns `tag1`, `tag2` and so on, and a device for each
    /// path of the tree model, which begins with `root`. Columns are encoded as their first chunk is, where that can be written.
    ///
    /// # Errors
    /// [`SchemaMismatch`](tsloom_model::ErrorKind::SchemaMismatch) when what is there makes no schema.
    pub fn schemas(&self) -> Result<(Vec<TableSchema>, Vec<DeviceSchema>)> {
        let (mut tables, mut devices) = (Vec::new(), Vec::new());
        let (mut table_of, mut device_of) = (HashMap::new(), HashMap::new());
        for group in &self.groups {
            if group.is_tree() {
                gather(&mut devices, device_of.entry(&group.device), group);
            } else {
                gather(&mut tables, table_of.entry(group.device.table()), group);
            }
        }
        let tables = tables.into_iter().map(Gathered::into_table).collect::<Result<_>>()?;
        let devices = devices.into_iter().map(Gathered::into_device).collect::<Result<_>>()?;
        Ok((tables, devices))
    }
}

impl RecoveredGroup {
    /// True when the device is one of the tree model: its path begins with `root`.
    pub fn is_tree(&self) -> bool {
        let table = self.device.table();
        table == "root" || table.starts_with("root.")
    }
}

/// What groups of one table or device have together.
struct Gathered<'a> {
    first: &'a RecoveredGroup,
    tag_count: usize,
    names: HashSet<&'a str>,
    fields: Vec<ColumnSchema>,
}

/// Adds a group to what is known at the place that `known` holds.
fn gather<'a, K>(list: &mut Vec<Gathered<'a>>, known: Entry<'_, K, usize>, group: &'a RecoveredGroup) {
    let index = *known.or_insert(list.len());
    if index == list.len() {
        list.push(Gathered { first: group, tag_count: 0, names: HashSet::new(), fields: Vec::new() });
    }
    list[index].add(group);
}

impl<'a> Gathered<'a> {
    fn add(&mut self, group: &'a RecoveredGroup) {
        self.tag_count = self.tag_count.max(group.device.segment_count() - 1);
        for chunk in &group.chunks {
            let Some(data_type) = chunk.series_type.data_type() else { continue };
            if self.names.insert(&chunk.measurement) {
                let field = ColumnSchema::field(&chunk.measurement, data_type);
                self.fields.push(writable(&field.encoding(chunk.encoding).compression(chunk.compression)));
            }
        }
    }

    fn into_table(self) -> Result<TableSchema> {
        let tags = (1..=self.tag_count).map(|number| ColumnSchema::tag(format!("tag{number}")));
        TableSchema::from_stored(self.first.device.table(), tags.chain(self.fields).collect())
    }

    fn into_device(self) -> Result<DeviceSchema> {
        let is_aligned = self.first.chunks.iter().any(|chunk| chunk.kind != ChunkKind::Plain);
        DeviceSchema::new(self.first.device.clone(), is_aligned, self.fields)
    }
}
