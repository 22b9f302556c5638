//! Taking rows: checked against the schema, routed to their device.

use std::io::Write;

use tsloom_model::{ColumnCategory, ColumnView, DeviceId, Error, ErrorKind, Result};
use tsloom_tablet::Tablet;

use super::FileWriter;
use super::device::OpenGroup;
use super::table::Table;

impl<W: Write> FileWriter<W> {
    /// Writes the rows of a tablet. Of a table, its TAG columns are those of the table; of the other columns some may be
    /// missing. Of a tree-model device, which is named by its path, the columns are measurements.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table or device that was not added, [`ErrorKind::SchemaMismatch`] for columns that do not
    /// fit it; nothing is taken then. [`ErrorKind::OutOfOrder`] when a row does not come after the last one of its device; rows
    /// of the devices before it in the tablet are taken. [`ErrorKind::Unsupported`] for values of ATTRIBUTE columns, which have
    /// no place in a file, unless the options say to leave them out.
    pub fn write(&mut self, tablet: &Tablet) -> Result<()> {
        let target = tablet.target().unwrap_or_default();
        let table = match self.table_index(target) {
            Ok(table) => table,
            Err(error) => {
                let id = DeviceId::from_path(target);
                let Some(device) = self.devices.find(id.table(), &id.segments().skip(1)) else { return Err(error) };
                let table = &self.tables[self.devices.get(device).table];
                let (columns, dropped_count) = columns_of(table, tablet, self.options.drops_attributes)?;
                self.append(device, tablet.times(), &columns, 0)?;
                self.summary.dropped_attribute_count += dropped_count;
                return Ok(());
            }
        };
        let (columns, dropped_count) = columns_of(&self.tables[table], tablet, self.options.drops_attributes)?;
        for run in tablet.device_runs() {
            let device = self.devices.find_or_add(table, target, tablet.tags_of(run.start));
            self.append(device, &tablet.times()[run.start..run.end], &columns, run.start)?;
        }
        self.summary.dropped_attribute_count += dropped_count;
        Ok(())
    }

    /// Writes rows of a device of the tree model. There is one column for each of its measurements, in the order in which they
    /// were added; `None` has no value in any of the rows.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_device_rows(&mut self, device: &DeviceId, times: &[i64], columns: &[Option<ColumnView<'_>>]) -> Result<()> {
        let index = self
            .devices
            .find(device.table(), &device.segments().skip(1))
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("the device {device} was not added to the file")))?;
        check_columns(&self.tables[self.devices.get(index).table], device.table(), times, columns)?;
        self.append(index, times, columns, 0)
    }

    /// Writes rows of one device. There is one column for each FIELD column of the table, in schema order; `None` has no
    /// value in any of the rows.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_rows(
        &mut self,
        table: &str,
        device: &DeviceId,
        times: &[i64],
        columns: &[Option<ColumnView<'_>>],
    ) -> Result<()> {
        let table_index = self.table_index(table)?;
        check_rows(&self.tables[table_index], device, times, columns)?;
        let device = self.devices.find_or_add(table_index, table, device.segments().skip(1));
        self.append(device, times, columns, 0)
    }

    /// Adds the rows `start..` of `columns`, one for each of `times`.
    fn append(&mut self, index: usize, times: &[i64], columns: &[Option<ColumnView<'_>>], start: usize) -> Result<()> {
        self.sink.check()?;
        self.devices.get_mut(index).pass(times)?;
        // What was taken cannot be given back, so no error may leave a group half filled and the file open.
        self.append_checked(index, times, columns, start).inspect_err(|_| self.sink.failed = true)
    }

    fn append_checked(&mut self, index: usize, times: &[i64], columns: &[Option<ColumnView<'_>>], start: usize) -> Result<()> {
        let mut done = 0;
        while done < times.len() {
            let device = self.devices.get_mut(index);
            let table = &mut self.tables[device.table];
            let group = match &mut device.group {
                Some(group) => group,
                none => {
                    let group = none.insert(table.take());
                    self.buffered += group.byte_count();
                    group
                }
            };
            let before = group.byte_count();
            let rest = &times[done..];
            let (count, is_full) = match group {
                OpenGroup::Aligned(group) => group.append(table, rest, columns, start + done),
                OpenGroup::Plain(group) => (group.append(table, rest, columns, start + done, &mut self.workers.own)?, false),
            };
            let chunk_bytes_max = table.chunk_bytes_max;
            self.buffered = self.buffered + group.byte_count() - before;
            done += count;
            if is_full {
                self.end_page(index)?;
            }
            let chunk_rows_max = self.options.chunk_rows_max;
            let is_whole = |group: &OpenGroup| group.byte_count() >= chunk_bytes_max || group.row_count() >= chunk_rows_max;
            if self.devices.get(index).group.as_ref().is_some_and(is_whole) {
                self.flush_device(index, false)?;
            }
        }
        self.summary.row_count += times.len() as u64;
        // Buffers grow by doubling: what is reserved can be twice what is used.
        if self.buffered > self.options.memory_bytes_max / 2 {
            self.flush_all(false)?;
        }
        Ok(())
    }
}

/// The columns of a tablet in the order of the table's fields, and how many values of other columns are left out.
fn columns_of<'a>(table: &Table, tablet: &'a Tablet, drops_attributes: bool) -> Result<(Vec<Option<ColumnView<'a>>>, u64)> {
    let mut dropped_count = 0;
    let mut tags = table.schema.tags().map(|index| table.schema.columns()[index].name.as_str());
    let mut columns = vec![None; table.fields.len()];
    for (index, column) in tablet.columns().iter().enumerate() {
        let mismatch = |message: &str| {
            let message = format!("{message} table {}", table.schema.name());
            Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(&column.name))
        };
        match column.category {
            ColumnCategory::Tag => {
                if tags.next() != Some(&column.name) {
                    return mismatch("this is not the next TAG of");
                }
            }
            ColumnCategory::Field => {
                let Some(field) = table.field_position(index, &column.name) else {
                    return mismatch("there is no such FIELD in");
                };
                if table.fields[field].data_type != column.data_type {
                    return mismatch(&format!("{} is not the type that the FIELD has in", column.data_type));
                }
                columns[field] = tablet.column(index);
            }
            ColumnCategory::Attribute | ColumnCategory::Time => {
                let value_count = tablet.column(index).map_or(0, |view| view.row_count() - view.null_count());
                if value_count > 0 && !drops_attributes {
                    let message = format!("values of a {} column have no place in a file", column.category);
                    return Err(Error::new(ErrorKind::Unsupported, message).in_column(&column.name));
                }
                dropped_count += value_count as u64;
            }
        }
    }
    if let Some(tag) = tags.next() {
        let message = format!("the tablet lacks this TAG of table {}", table.schema.name());
        return Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(tag));
    }
    Ok((columns, dropped_count))
}

fn check_rows(table: &Table, device: &DeviceId, times: &[i64], columns: &[Option<ColumnView<'_>>]) -> Result<()> {
    let mismatch = |message: String| Err(Error::new(ErrorKind::SchemaMismatch, message));
    let name = table.schema.name();
    if device.table() != name {
        return mismatch(format!("device {device} is not one of table {name}"));
    }
    if device.segment_count() > table.schema.tag_count() + 1 {
        return mismatch(format!("device {device} has more tags than table {name}"));
    }
    check_columns(table, name, times, columns)
}

/// Checks that there is a column for each field, of its type and with a row for each time. `owner` is what errors name.
fn check_columns(table: &Table, owner: &str, times: &[i64], columns: &[Option<ColumnView<'_>>]) -> Result<()> {
    if columns.len() != table.fields.len() {
        let message = format!("{} columns for the {} FIELDs of {owner}", columns.len(), table.fields.len());
        return Err(Error::new(ErrorKind::SchemaMismatch, message));
    }
    for (view, field) in columns.iter().zip(&table.fields) {
        let Some(view) = view else {
            continue;
        };
        if view.row_count() != times.len() {
            let message = format!("{} values for {} times", view.row_count(), times.len());
            return Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(&field.name));
        }
        if view.data_type() != field.data_type {
            let message = format!("{} values for a column of {}", view.data_type(), field.data_type);
            return Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(&field.name));
        }
    }
    Ok(())
}
