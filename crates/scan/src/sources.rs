//! Opened sources: what gives rows of a device, in pieces that ascend in time.

use std::ops::Range;
use std::sync::Arc;

use tsloom_block::Block;
use tsloom_file::FileReader;
use tsloom_io::ReadAt;
use tsloom_memtable::{DeviceCursor, DeviceSnapshot, RowsView};
use tsloom_model::{DataType, Error, ErrorKind, Grouped, Result};

use crate::deletions::{Gone, SourceDeletions};
use crate::group::GroupReader;
use crate::plan::FilePlan;
use crate::projection::{Asked, FieldColumn};
use crate::reads::FileIo;
use crate::window::RowWindow;

/// Cells that are decoded at once from one page set: 1 GiB of eight bytes each. Absent columns take cells too, so rows and columns
/// that each keep their limits can still ask for too much together.
const CELL_COUNT_MAX: usize = 128 << 20;

/// A source of the scan, and how far it has been visited.
pub(crate) enum OpenSource<R: ReadAt> {
    File(Box<FileSource<R>>),
    Memtable(MemtableSource),
}

/// The devices of the table, in the order of the snapshot.
pub(crate) struct MemtableSource {
    pub(crate) devices: Vec<DeviceSnapshot>,
    pub(crate) deletions: SourceDeletions,
    /// What is gone of the current device.
    pub(crate) gone: Gone,
}

/// A file, the plan of its devices, and readers of its chunk groups.
pub(crate) struct FileSource<R: ReadAt> {
    pub(crate) file: FileIo<R>,
    pub(crate) plan: FilePlan,
    pub(crate) deletions: SourceDeletions,
    /// How many devices of the plan were visited.
    pub(crate) visited: usize,
    /// Groups whose statistics ruled them out.
    pub(crate) groups_pruned: u64,
    /// Of one reader.
    pub(crate) read_ahead_bytes: u64,
    /// The first streams and reads ahead; the others are for groups that must be merged.
    pub(crate) readers: Vec<GroupReader>,
}

/// What came of asking for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Some rows were appended.
    Rows,
    /// The next rows come as one page set, and there is not enough room for them.
    Full,
    /// There are no more.
    End,
}

/// Chunk groups of one device that ascend in time, and how far they have been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupRun {
    /// Which reader of the file.
    pub(crate) reader: usize,
    pub(crate) state: GroupState,
}

/// Where the reading of a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupState {
    /// No group is open.
    Closed,
    /// A group is open.
    Open,
    /// And rows of it are selected that were not taken yet.
    Selected,
}

impl<R: ReadAt> OpenSource<R> {
    /// The same source for another scan of the same devices.
    pub(crate) fn fork(&self) -> Self {
        match self {
            Self::File(file) => {
                Self::File(Box::new(FileSource::new(Arc::clone(&file.file.reader), file.deletions.fork(), file.read_ahead_bytes)))
            }
            Self::Memtable(memtable) => {
                let (devices, deletions) = (memtable.devices.clone(), memtable.deletions.fork());
                Self::Memtable(MemtableSource { devices, deletions, gone: Gone::default() })
            }
        }
    }
}

impl<R: ReadAt> FileSource<R> {
    pub(crate) fn new(reader: Arc<FileReader<R>>, deletions: SourceDeletions, read_ahead_bytes: u64) -> Self {
        let readers = vec![GroupReader::new(reader.options(), read_ahead_bytes)];
        let (file, plan) = (FileIo::new(reader), FilePlan::new());
        Self { file, plan, deletions, visited: 0, groups_pruned: 0, read_ahead_bytes, readers }
    }

    /// The groups of the next device of the plan.
    pub(crate) fn next_device(&mut self, fields: &[FieldColumn]) -> Result<Range<usize>> {
        let device = self.visited;
        self.visited += 1;
        self.plan.device(device, fields, &mut self.file).map_err(|error| self.file.reader.blame(error))
    }

    /// Appends the next rows of a run; `next_group` gives its groups one by one. With a test, rows of page sets in which none
    /// passes are left out, and their other columns are not decoded: only for rows that no other source overrides.
    pub(crate) fn step(
        &mut self,
        run: &mut GroupRun,
        mut next_group: impl FnMut() -> Option<usize>,
        window: &mut RowWindow,
        asked: Asked<'_>,
        out: &mut Block,
        room: usize,
    ) -> Result<Step> {
        let Asked { fields, test } = asked;
        let reader = &mut self.readers[run.reader];
        loop {
            while run.state != GroupState::Selected {
                if window.is_done() {
                    return Ok(Step::End);
                }
                if run.state == GroupState::Closed {
                    let Some(group) = next_group() else { return Ok(Step::End) };
                    let meta = &self.plan.groups()[group];
                    self.deletions.of_group(meta.times, meta.time.range.start, meta.field, reader.gone_mut());
                    if window.passes_over(meta.row_count, meta.times, reader.gone()) {
                        continue;
                    }
                    if test.is_some_and(|test| self.plan.is_ruled_out(group, test, fields, reader.gone())) {
                        self.groups_pruned += 1;
                        continue;
                    }
                    let rows_ahead = if run.reader == 0 { window.rows_wanted() } else { 0 };
                    let is_wanted = test.is_none() && window.wants_all(meta.row_count, meta.times) && reader.gone().is_empty();
                    let fits = |count: &usize| *count <= room && check_cell_count(*count, fields.len()).is_ok();
                    let whole = usize::try_from(meta.row_count).ok().filter(|_| is_wanted).filter(fits);
                    if let Some(row_count) = whole
                        && reader.append_whole(group, rows_ahead, &self.plan, fields, &mut self.file, out)?
                    {
                        window.take_rows(row_count);
                        return Ok(Step::Rows);
                    }
                    let some_rows = !window.times().covers(meta.times) || window.rows_wanted() < meta.row_count;
                    reader.open(group, some_rows, rows_ahead, &self.plan, fields, &mut self.file)?;
                    run.state = GroupState::Open;
                }
                let has_rows = reader.next_page_set(window, fields, test, &mut self.file)?;
                run.state = if has_rows { GroupState::Selected } else { GroupState::Closed };
            }
            if reader.selected_count() > room {
                return Ok(Step::Full);
            }
            check_cell_count(reader.selected_count(), fields.len())?;
            run.state = GroupState::Open;
            let from = out.row_count();
            out.reserve(reader.selected_count());
            reader.append_times(out);
            let Some(test) = test else {
                reader.append_fields(fields, |_| true, out)?;
                return Ok(Step::Rows);
            };
            reader.append_fields(fields, |field| field.test_position.is_some(), out)?;
            if test.passes_any(out, from) {
                reader.append_fields(fields, |field| field.test_position.is_none(), out)?;
                return Ok(Step::Rows);
            }
            out.truncate(from);
        }
    }
}

fn check_cell_count(row_count: usize, column_count: usize) -> Result<()> {
    if row_count.saturating_mul(column_count) <= CELL_COUNT_MAX {
        return Ok(());
    }
    let (rows, columns, limit) = (Grouped(row_count as u64), Grouped(column_count as u64), Grouped(CELL_COUNT_MAX as u64));
    let message =
        format!("a page set of {rows} rows and {columns} columns is past the limit of {limit} cells; ask for fewer columns");
    Err(Error::new(ErrorKind::LimitExceeded, message))
}

/// Appends the next rows of a memtable's device, at most `room`. Column `i` of the cursor is field `i`.
pub(crate) fn step_memtable(
    cursor: &mut DeviceCursor,
    window: &mut RowWindow,
    gone: &Gone,
    fields: &[FieldColumn],
    out: &mut Block,
    room: usize,
) -> Result<Step> {
    if room == 0 {
        return Ok(Step::Full);
    }
    loop {
        if window.is_done() {
            return Ok(Step::End);
        }
        let Some(rows) = cursor.next_rows(room) else { return Ok(Step::End) };
        let from = out.row_count();
        for (run, _) in gone.rows.runs(rows.times()).filter(|(_, is_gone)| !is_gone) {
            let (skipped, count) = window.take_rows(run.len());
            if count > 0 {
                append_rows(&rows.slice(run.start + skipped, count), gone, fields, out)?;
            }
        }
        if out.row_count() > from {
            return Ok(Step::Rows);
        }
    }
}

fn append_rows(rows: &RowsView<'_>, gone: &Gone, fields: &[FieldColumn], out: &mut Block) -> Result<()> {
    out.reserve(rows.row_count());
    let (times, columns) = out.parts_mut();
    times.extend_from_slice(rows.times());
    for (index, field) in fields.iter().enumerate() {
        let column = &mut columns[field.column];
        let Some(view) = rows.column(index) else {
            column.push_nulls(rows.row_count());
            continue;
        };
        for (run, is_gone) in gone.cells(field.index).runs(rows.times()) {
            if is_gone {
                column.push_nulls(run.len());
            } else if !column.extend(view.slice(run.start, run.len())) {
                return Err(another_type(field, view.data_type(), column.data_type()));
            }
        }
    }
    Ok(())
}

#[cold]
fn another_type(field: &FieldColumn, found: DataType, expected: DataType) -> Error {
    let message = format!("the memtable holds {found}, the scan expects {expected}");
    Error::new(ErrorKind::SchemaMismatch, message).in_column(&field.name)
}
