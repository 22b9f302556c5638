//! What was deleted of a source: of the device that is read, then of each of its chunk groups.
//!
//! ```text
//! SourceDeletions   all of a source; of the current device those that concern it, by field
//! └─ Gone           of one chunk group (or a memtable's device): times of rows that are gone, and for each field of cells
//! ```
//!
//! A deletion covers its own source only: rows are left out, and cells made null, before sources are merged. Where times and values
//! share a chunk there is no row without the value, so there a deleted cell takes the row with it.

use std::sync::Arc;

use tsloom_model::{ColumnBounds, Deleted, Deletion, TimeRange, TimeRanges};

use crate::filter::ALL_NULL;
use crate::projection::FieldColumn;

/// The deletions of one source.
pub(crate) struct SourceDeletions {
    all: Arc<[Deletion]>,
    /// Those of the current device.
    current: Vec<Part>,
}

/// A deletion as far as one field, or rows, go.
struct Part {
    times: TimeRange,
    below_offset: Option<u64>,
    /// The field; `None`: rows.
    field: Option<usize>,
}

/// What is gone of some rows.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    pub(crate) rows: TimeRanges,
    /// Of each field of the projection; fewer when nothing is gone of the last ones.
    cells: Vec<TimeRanges>,
    /// There may be something in `cells`.
    has_cells: bool,
}

impl SourceDeletions {
    pub(crate) fn new(all: Arc<[Deletion]>) -> Self {
        Self { all, current: Vec::new() }
    }

    /// The same, about no device yet.
    pub(crate) fn fork(&self) -> Self {
        Self::new(Arc::clone(&self.all))
    }

    /// Finds those that concern a device.
    pub(crate) fn turn_to<'a>(
        &mut self,
        segments: &(impl Iterator<Item = Option<&'a str>> + Clone),
        fields: &[FieldColumn],
        times: TimeRange,
    ) {
        self.current.clear();
        let concerns = |deletion: &&Deletion| deletion.times.overlaps(times) && deletion.concerns(segments.clone());
        for deletion in self.all.iter().filter(concerns) {
            let part = |field| Part { times: deletion.times, below_offset: deletion.below_offset, field };
            // A name that no column has: what it meets, meets the rows.
            if deletion.of_column(segments.clone(), "\0") == Deleted::Rows {
                self.current.push(part(None));
                continue;
            }
            let is_met = |field: &&FieldColumn| deletion.of_column(segments.clone(), &field.name) != Deleted::No;
            self.current.extend(fields.iter().filter(is_met).map(|field| part(Some(field.index))));
        }
    }

    /// What is gone of a chunk group with these times that begins at `offset`; `plain` is its field when it has only one, and its
    /// own times.
    pub(crate) fn of_group(&self, times: TimeRange, offset: u64, plain: Option<usize>, gone: &mut Gone) {
        gone.clear();
        let concerns = |part: &&Part| part.times.overlaps(times) && part.below_offset.is_none_or(|end| offset < end);
        if !self.current.iter().any(|part| concerns(&part)) {
            return;
        }
        let parts = || self.current.iter().filter(concerns);
        let is_row = |part: &&Part| part.field.is_none() || plain.is_some() && part.field == plain;
        gone.rows.set(parts().filter(is_row).map(|part| part.times));
        if plain.is_none() {
            let fields = parts().filter_map(|part| part.field);
            let field_count = fields.max().map_or(0, |last| last + 1);
            gone.has_cells = field_count > 0;
            gone.cells.resize_with(field_count.max(gone.cells.len()), TimeRanges::default);
            for (field, cells) in gone.cells[..field_count].iter_mut().enumerate() {
                cells.set(parts().filter(|part| part.field == Some(field)).map(|part| part.times));
            }
        }
    }
}

impl Gone {
    pub(crate) fn clear(&mut self) {
        self.rows.set([]);
        if std::mem::take(&mut self.has_cells) {
            self.cells.iter_mut().for_each(|cells| cells.set([]));
        }
    }

    /// True when nothing is gone.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_cells && self.rows.is_empty()
    }

    /// Times at which cells of a field are gone.
    pub(crate) fn cells(&self, field: usize) -> &TimeRanges {
        if self.has_cells { self.cells.get(field).unwrap_or(TimeRanges::NONE) } else { TimeRanges::NONE }
    }

    /// True when every cell of a field in this range is gone: its values are not looked at, and may be of any type.
    pub(crate) fn has_all_cells(&self, field: usize, times: TimeRange) -> bool {
        self.cells(field).within(times).first().is_some_and(|range| range.covers(times))
    }

    /// What statistics say of a field in this range, once some of its cells are gone.
    pub(crate) fn bounds<'a>(&self, field: usize, times: TimeRange, bounds: ColumnBounds<'a>) -> ColumnBounds<'a> {
        if self.has_all_cells(field, times) {
            return ALL_NULL;
        }
        ColumnBounds { has_null: bounds.has_null || !self.cells(field).within(times).is_empty(), ..bounds }
    }

    /// True when rows in this range may be gone, so that nobody knows how many are left.
    pub(crate) fn touches_rows(&self, times: TimeRange) -> bool {
        !self.rows.within(times).is_empty()
    }
}
