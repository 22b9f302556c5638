//! A new file of the store: under a temporary name until it is whole and on disk.

use std::io::BufWriter;

use tsloom_file::FileWriter;
use tsloom_io::AppendFile;
use tsloom_model::{ColumnView, DeviceId, Error, Result, TableSchema, TimeRange};

use crate::files;
use crate::manifest::FileEntry;
use crate::store::Shared;

const BUFFER_SIZE: usize = 256 << 10;

/// A file that is being written. Dropped before it is finished, it is removed.
pub(crate) struct Output<'a> {
    shared: &'a Shared,
    number: u64,
    /// `None` once it is finished.
    writer: Option<FileWriter<BufWriter<AppendFile>>>,
    times: TimeRange,
}

impl<'a> Output<'a> {
    /// Begins the next file, with these tables.
    pub(crate) fn create(shared: &'a Shared, tables: &[TableSchema]) -> Result<Self> {
        let number = shared.memory.lock().take_file_number();
        let name = files::temporary_name(number);
        let file = shared.dir.create(&name).map_err(|error| Error::from(error).in_file(&name))?;
        let sink = BufWriter::with_capacity(BUFFER_SIZE, AppendFile::new(file));
        let mut output = Self { shared, number, writer: None, times: TimeRange::EMPTY };
        let writer = output.writer.insert(FileWriter::new(sink, shared.options.writer.clone())?);
        tables.iter().try_for_each(|table| writer.add_table(table))?;
        Ok(output)
    }

    /// Appends rows of a device, later than those it has of it.
    pub(crate) fn write(
        &mut self,
        table: &str,
        device: &DeviceId,
        times: &[i64],
        columns: &[Option<ColumnView<'_>>],
    ) -> Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write_rows(table, device, times, columns)?;
        if let (Some(first), Some(last)) = (times.first(), times.last()) {
            self.times = TimeRange { start: self.times.start.min(*first), end: self.times.end.max(*last) };
        }
        Ok(())
    }

    /// Makes the file durable under its name. No manifest knows it yet: the next open would remove it.
    pub(crate) fn finish(mut self, is_late: bool, erased_through: u64) -> Result<FileEntry> {
        let writer = self.writer.take().expect("a file is finished once");
        let done = self.commit(writer);
        if done.is_err() {
            self.remove();
        }
        let (size, row_count) = done?;
        Ok(FileEntry { number: self.number, size, row_count, times: self.times, is_late, erased_through })
    }

    fn commit(&self, writer: FileWriter<BufWriter<AppendFile>>) -> Result<(u64, u64)> {
        let (temporary, name) = (files::temporary_name(self.number), files::name(self.number));
        let (sink, summary) = writer.finish()?;
        let mut file = sink.into_inner().map_err(|error| Error::from(error.into_error()).in_file(&temporary))?;
        self.shared.synced(file.sync(), &temporary)?;
        self.shared.dir.rename(&temporary, &name).map_err(|error| Error::from(error).in_file(&name))?;
        self.shared.synced(self.shared.dir.sync(files::FOLDER), files::FOLDER)?;
        Ok((summary.size, summary.row_count))
    }

    /// If it stays it does no harm: the next open removes it.
    fn remove(&self) {
        drop(self.shared.dir.remove(&files::temporary_name(self.number)));
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        if self.writer.is_some() {
            self.remove();
        }
    }
}
