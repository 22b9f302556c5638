//! The lists of one table, or of one device of the tree model, and the way from a tablet to them.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use tsloom_bitmap::NullWords;
use tsloom_model::{ColumnCategory, ColumnSchema, DeviceId, Error, ErrorKind, Result, TextRef, TimeRange, ValuesRef};
use tsloom_tablet::Tablet;

use crate::columns::ColumnSet;
use crate::devices::Devices;
use crate::forecast::Forecast;
use crate::geometry::BlockRows;
use crate::list::AlignedList;
use crate::memtable::WriteReport;
use crate::pool::{Charge, Ledger};
use crate::shape::ListShape;
use crate::write::WriteColumns;

/// One table. In the tree model every device is a table of its own: its columns are nobody else's.
#[derive(Debug)]
pub(crate) struct Table {
    /// What tablets name: the table, or the path of the device.
    target: Box<str>,
    /// The first segment of its devices' ids.
    name: Box<str>,
    columns: Arc<ColumnSet>,
    devices: Devices,
    shape: ListShape,
    known: Option<Known>,
    /// Present columns of the tablet at hand: id and index in the tablet, ascending by id.
    present: Vec<(u32, u32)>,
    charge: Charge,
}

/// The tablet head that was mapped last. It is not kept: whoever made it may drop it, and nothing of it would be charged.
#[derive(Debug)]
struct Known {
    head: u64,
    /// Per column of the head its id; tags have none.
    ids: Vec<Option<u32>>,
}

impl Known {
    /// True when the tablet's columns were mapped: its head is the same, or has the same columns of `columns`.
    fn is_of(&self, tablet: &Tablet, columns: &ColumnSet) -> bool {
        self.head == tablet.head().id() || self.is_like(tablet, columns)
    }

    #[cold]
    fn is_like(&self, tablet: &Tablet, columns: &ColumnSet) -> bool {
        let is_same = |(id, column): (&Option<u32>, &ColumnSchema)| match id {
            Some(id) => is_stored(column.category) && columns.is(*id, &column.name, column.data_type),
            None => !is_stored(column.category),
        };
        let tags = tablet.head().tags();
        let name = |tag: &u32| &tablet.columns()[*tag as usize].name;
        self.ids.len() == tablet.columns().len()
            && self.ids.iter().zip(tablet.columns()).all(is_same)
            && (1..tags.len()).all(|index| tags[..index].iter().all(|tag| name(tag) != name(&tags[index])))
    }
}

/// The present columns of a tablet.
struct TabletColumns<'a> {
    tablet: &'a Tablet,
    present: &'a [(u32, u32)],
}

impl WriteColumns for TabletColumns<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.present.len()
    }
    #[inline]
    fn id(&self, index: usize) -> u32 {
        self.present[index].0
    }
    #[inline(always)]
    fn values(&self, index: usize) -> Option<ValuesRef<'_>> {
        self.tablet.values(self.present[index].1 as usize)
    }
    #[inline(always)]
    fn nulls(&self, index: usize) -> Option<NullWords<'_>> {
        self.tablet.nulls(self.present[index].1 as usize)
    }
    fn is_present(&self, _: usize) -> bool {
        true
    }
}

impl Table {
    pub(crate) fn new(ledger: &Arc<Ledger>, block_rows: BlockRows, tablet: &Tablet) -> Self {
        let target = tablet.target().unwrap_or_default();
        let name = if tablet.head().is_table() { target.into() } else { DeviceId::from_path(target).table().into() };
        Self {
            target: target.into(),
            name,
            columns: Arc::new(ColumnSet::new(ledger)),
            devices: Devices::new(ledger),
            shape: ListShape::with_ledger(ledger, block_rows, 0),
            known: None,
            present: Vec::new(),
            charge: Charge::new(ledger, 0),
        }
    }

    /// Charges what belongs to the table itself.
    fn note(&mut self) {
        let names = self.target.len() + self.name.len();
        let ids = self.known.as_ref().map_or(0, |known| known.ids.capacity() * size_of::<Option<u32>>());
        let present = self.present.capacity() * size_of::<(u32, u32)>();
        self.charge.set(size_of::<Self>() + names + ids + present + self.shape.scratch_bytes());
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn columns(&self) -> &Arc<ColumnSet> {
        &self.columns
    }

    pub(crate) fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The rows of a device of this table.
    pub(crate) fn list_of(&self, device: &DeviceId) -> Option<&AlignedList> {
        let index = self.devices.find(&self.name, &device.segments().skip(1))?;
        Some(self.devices.get(index).list())
    }

    pub(crate) fn devices_mut(&mut self) -> &mut Devices {
        &mut self.devices
    }

    /// Finds out whether the tablet's columns fit those of the table; nothing changes.
    pub(crate) fn check(&self, tablet: &Tablet) -> Result<()> {
        if self.known.as_ref().is_some_and(|known| known.is_of(tablet, &self.columns)) {
            return Ok(());
        }
        check_names(tablet)?;
        for column in tablet.columns() {
            if is_stored(column.category)
                && let Some((_, data_type)) = self.columns.find(&column.name)
                && data_type != column.data_type
            {
                let message = format!("it is {data_type} in {}, the tablet has {}", self.target, column.data_type);
                return Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(&column.name));
            }
        }
        Ok(())
    }

    /// Writes a tablet that [`check`](Self::check) let pass. Returns the times of the devices it was written to.
    pub(crate) fn write(&mut self, tablet: &Tablet, failed: Option<NullWords<'_>>, report: &mut WriteReport) -> TimeRange {
        self.map_columns(tablet, report);
        self.find_present(tablet);
        let row_count = tablet.row_count();
        let mut range = TimeRange::EMPTY;
        if tablet.is_single_device() {
            range = self.write_run(tablet, 0..row_count, failed, report);
        } else {
            let tags = Tags::new(tablet);
            let mut start = 0;
            while start < row_count {
                let end = (start + 1..row_count).find(|row| !tags.are_equal(*row - 1, *row)).unwrap_or(row_count);
                range = hull(range, self.write_run(tablet, start..end, failed, report));
                start = end;
            }
        }
        self.note();
        range
    }

    /// Bytes that the blocks of a tablet will take; see [`Memtable::reserve`](crate::Memtable::reserve).
    pub(crate) fn reserve(&mut self, tablet: &Tablet, failed: Option<NullWords<'_>>) -> usize {
        self.map_columns(tablet, &mut WriteReport::default());
        self.find_present(tablet);
        let tags = Tags::new(tablet);
        let row_count = tablet.row_count();
        // Devices that are there; a run of one that is not is taken by itself.
        let mut forecasts: Vec<(usize, Forecast)> = Vec::new();
        let (mut bytes, mut start) = (0, 0);
        while start < row_count {
            let is_end = |row: &usize| !tablet.is_single_device() && !tags.are_equal(*row - 1, *row);
            let end = (start + 1..row_count).find(is_end).unwrap_or(row_count);
            let Self { devices, shape, present, name, .. } = self;
            let source = TabletColumns { tablet, present };
            let device = match tablet.head().is_table() {
                true => devices.find(name, &tablet.tags_of(start)),
                false => (devices.len() == 1).then_some(0),
            };
            match device {
                None => bytes += Forecast::new(&AlignedList::new(shape)).append(shape, start..end, &source, failed),
                Some(device) => {
                    let known = forecasts.iter().position(|(index, _)| *index == device).unwrap_or_else(|| {
                        forecasts.push((device, Forecast::new(devices.get_mut(device).list_mut())));
                        forecasts.len() - 1
                    });
                    bytes += forecasts[known].1.append(shape, start..end, &source, failed);
                }
            }
            start = end;
        }
        self.note();
        bytes
    }

    /// Writes neighbouring rows of one device. Returns all its times.
    fn write_run(
        &mut self,
        tablet: &Tablet,
        rows: Range<usize>,
        failed: Option<NullWords<'_>>,
        report: &mut WriteReport,
    ) -> TimeRange {
        let Some(first) = rows.clone().next() else { return TimeRange::EMPTY };
        let Self { devices, shape, present, name, .. } = self;
        let found = match tablet.head().is_table() {
            true => devices.find(name, &tablet.tags_of(first)),
            false => (devices.len() == 1).then_some(0),
        };
        let device = found.unwrap_or_else(|| {
            report.new_devices += 1;
            let id = match tablet.head().is_table() {
                true => DeviceId::new(name, tablet.tags_of(first)),
                false => DeviceId::from_path(tablet.target().unwrap_or_default()),
            };
            devices.add(id, AlignedList::new(shape))
        });
        let source = TabletColumns { tablet, present };
        let list = devices.get_mut(device).list_mut();
        let in_order = list.is_ordered();
        list.append(shape, tablet.times(), rows, &source, failed);
        report.devices_out_of_order += usize::from(in_order && !list.is_ordered());
        report.implicit_columns += shape.take_implicit_columns();
        list.time_range()
    }

    /// Makes sure that every stored column of the tablet has an id.
    fn map_columns(&mut self, tablet: &Tablet, report: &mut WriteReport) {
        if let Some(known) = self.known.as_mut().filter(|known| known.is_of(tablet, &self.columns)) {
            known.head = tablet.head().id(); // most often the next tablet has it too
            return;
        }
        let stored = || tablet.columns().iter().filter(|column| is_stored(column.category));
        let new: Vec<&ColumnSchema> = stored().filter(|column| self.columns.find(&column.name).is_none()).collect();
        if !new.is_empty() {
            report.new_columns += new.len();
            let new = new.iter().map(|column| (column.name.as_str(), column.data_type));
            Arc::make_mut(&mut self.columns).extend(new);
            self.shape.set_column_count(self.columns.live_count());
        }
        let id_of = |column: &ColumnSchema| is_stored(column.category).then(|| self.columns.find(&column.name)).flatten();
        let ids = tablet.columns().iter().map(|column| id_of(column).map(|(id, _)| id)).collect();
        self.known = Some(Known { head: tablet.head().id(), ids });
    }

    /// Lists the columns of the tablet that are present, ascending by id.
    fn find_present(&mut self, tablet: &Tablet) {
        let Self { known: Some(known), present, .. } = self else { return };
        present.clear();
        let ids = &known.ids;
        present.extend(tablet.present_columns().filter_map(|index| Some((ids[index]?, index as u32))));
        if !present.is_sorted() {
            present.sort_unstable();
        }
    }

    /// Takes a column's name away: its cells are out of reach, and rows written later get a new column of this name.
    pub(crate) fn delete_column(&mut self, name: &str) -> bool {
        self.known = None;
        self.note();
        if self.columns.find(name).is_none() {
            return false;
        }
        Arc::make_mut(&mut self.columns).remove(name)
    }
}

/// The smallest range that covers both.
pub(crate) fn hull(left: TimeRange, right: TimeRange) -> TimeRange {
    TimeRange { start: left.start.min(right.start), end: left.end.max(right.end) }
}

/// True for columns whose cells are kept row by row.
fn is_stored(category: ColumnCategory) -> bool {
    matches!(category, ColumnCategory::Field | ColumnCategory::Attribute)
}

/// Two columns of one name cannot be told apart; schemas refuse them, bytes from outside may have them.
pub(crate) fn check_names(tablet: &Tablet) -> Result<()> {
    let mut names: Vec<&str> = tablet.columns().iter().map(|column| column.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let message = "the tablet has two columns of this name";
            Err(Error::new(ErrorKind::SchemaMismatch, message).in_column(pair[0]))
        }
    }
}

/// The TAG columns of a tablet, to compare rows by.
struct Tags<'a> {
    columns: SmallVec<[(TextRef<'a>, Option<NullWords<'a>>); 4]>,
}

impl<'a> Tags<'a> {
    fn new(tablet: &'a Tablet) -> Self {
        let columns = tablet.head().tags().iter().filter_map(|index| tablet.column(*index as usize));
        let texts = columns.filter_map(|column| match column.values() {
            ValuesRef::Text(text) => Some((text, column.nulls())),
            _ => None,
        });
        Self { columns: texts.collect() }
    }

    fn are_equal(&self, left: usize, right: usize) -> bool {
        self.columns.iter().all(|(text, nulls)| {
            let is_null = |row| nulls.is_some_and(|nulls| nulls.is_null(row));
            is_null(left) == is_null(right) && (is_null(left) || text.get(left) == text.get(right))
        })
    }
}
