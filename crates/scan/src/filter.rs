//! Conditions on rows: what statistics rule out, which rows pass, and how those that do come together.

use tsloom_bitmap::words;
use tsloom_block::{Block, BlockLayout};
use tsloom_format::{StatisticValues, StatisticsRef};
use tsloom_io::ReadAt;
use tsloom_model::{ColumnBounds, Encoding, Result, RowFilter, RowPolicy, ValueRange};
use tsloom_page_reader::passing_rows;

use crate::projection::Projection;
use crate::rows::DeviceRows;
use crate::sources::{OpenSource, Step};
use crate::window::RowWindow;

/// A condition that rows must meet.
#[derive(Clone, Debug)]
pub(crate) struct RowTest {
    /// Its columns are positions in `columns`.
    pub(crate) filter: RowFilter<usize>,
    /// Columns of the block that the condition asks for.
    pub(crate) columns: Vec<usize>,
    /// Statistics may rule pages and chunks out.
    pub(crate) prunes: bool,
}

/// Bounds of a chunk that outlive its metadata: texts are not kept.
pub(crate) type ChunkBounds = ColumnBounds<'static>;

/// What is known of rows without a value.
pub(crate) const ALL_NULL: ChunkBounds = ColumnBounds { has_null: true, has_value: false, range: ValueRange::Unknown };

/// What statistics say of a column in `row_count` rows, in an encoding that is `None` where nobody knows it yet.
pub(crate) fn bounds_of<'a>(statistics: &StatisticsRef<'a>, row_count: u64, encoding: Option<Encoding>) -> ColumnBounds<'a> {
    let count = u64::from(statistics.count());
    let slack = |bound: f64| if encoding.is_some_and(keeps_every_bit) { 0.0 } else { slack(bound) };
    let numbers = |min: f64, max: f64| {
        // Either end is NaN when the first value was, and then bounds nothing.
        if min <= max { ValueRange::Numbers(min - slack(min), max + slack(max)) } else { ValueRange::Unknown }
    };
    let range = match statistics.values() {
        StatisticValues::Int32 { min, max, .. } => ValueRange::Integers(min.into(), max.into()),
        StatisticValues::Int64 { min, max, .. } => ValueRange::Integers(min, max),
        StatisticValues::Float { min, max, .. } => numbers(min.into(), max.into()),
        StatisticValues::Double { min, max, .. } => numbers(min, max),
        StatisticValues::String { min, max, .. } => ValueRange::Texts(min, max),
        StatisticValues::None | StatisticValues::Boolean { .. } | StatisticValues::Text { .. } => ValueRange::Unknown,
    };
    ColumnBounds { has_null: count < row_count, has_value: count > 0, range }
}

/// True when FLOAT and DOUBLE come back as they were when statistics were taken of them.
fn keeps_every_bit(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Plain | Encoding::GorillaV1 | Encoding::Gorilla | Encoding::Chimp)
}

/// How far a row may lie from the statistics of its page. RLE and TS_2DIFF keep FLOAT and DOUBLE rounded to some decimals, while
/// statistics are taken before: half a unit when there are no decimals, and the last bits of the division. The number of decimals is
/// not known, and metadata do not even name the encoding: chunk headers do.
fn slack(bound: f64) -> f64 {
    0.5 + bound.abs() * f64::from(f32::EPSILON)
}

/// The same for keeping.
pub(crate) fn chunk_bounds(statistics: &StatisticsRef<'_>, row_count: u64) -> ChunkBounds {
    let ColumnBounds { has_null, has_value, range } = bounds_of(statistics, row_count, None);
    let range = match range {
        ValueRange::Integers(min, max) => ValueRange::Integers(min, max),
        ValueRange::Numbers(min, max) => ValueRange::Numbers(min, max),
        ValueRange::Texts(..) | ValueRange::Unknown => ValueRange::Unknown,
    };
    ColumnBounds { has_null, has_value, range }
}

impl RowTest {
    /// True when no row can pass of which this is known; `bounds` are asked for by position in `columns`.
    pub(crate) fn rules_out<'a>(&self, bounds: &impl Fn(usize) -> ColumnBounds<'a>) -> bool {
        self.prunes && !self.filter.possible(bounds).is_true
    }

    /// True when one of the rows from `from` on passes. Only the columns of the condition need be there.
    pub(crate) fn passes_any(&self, block: &Block, from: usize) -> bool {
        let end = block.row_count();
        (from..end).step_by(64).any(|start| self.passing(block, start, (end - start).min(64)) != 0)
    }

    /// Which of `count` rows from `start` on pass, 64 at most.
    fn passing(&self, block: &Block, start: usize, count: usize) -> u64 {
        passing_rows(&self.filter, &|column| block.column(self.columns[column]), start, count)
    }
}

/// Reads rows into a block of its own and gives on those that pass, offset and limit counted behind the condition.
pub(crate) struct FilteredRows {
    policy: RowPolicy,
    work: Block,
    /// Which rows of `work` pass; those before `at` were given or left out.
    passing: Vec<u64>,
    at: usize,
}

impl FilteredRows {
    /// `None` when every row passes.
    pub(crate) fn new(projection: &Projection, policy: RowPolicy) -> Option<Self> {
        let is_needed = projection.test.is_some() || policy == RowPolicy::DropAllNull;
        let layout = || BlockLayout { row_budget: 0, columns: projection.work_layout().columns.clone() };
        is_needed.then(|| Self { policy, work: Block::new(&layout()), passing: Vec::new(), at: 0 })
    }

    /// Forgets what is left of the device before.
    pub(crate) fn clear(&mut self) {
        self.work.clear();
        self.at = 0;
    }

    /// Appends the next rows that pass to the times and fields of `out`, at most `room`; reads `row_budget` rows at a time.
    #[expect(clippy::too_many_arguments, reason = "the parts of a scan, borrowed one by one")]
    pub(crate) fn next<R: ReadAt>(
        &mut self,
        rows: &mut DeviceRows,
        sources: &mut [OpenSource<R>],
        projection: &Projection,
        window: &mut RowWindow,
        out: &mut Block,
        room: usize,
        row_budget: usize,
    ) -> Result<Step> {
        loop {
            if self.give(projection, window, out, room) > 0 {
                return Ok(Step::Rows);
            }
            if window.is_done() {
                return Ok(Step::End);
            }
            self.clear();
            match rows.next(sources, projection, &mut window.of_times(), &mut self.work, row_budget)? {
                Step::Rows => self.select(projection),
                Step::Full | Step::End => return Ok(Step::End),
            }
        }
    }

    fn select(&mut self, projection: &Projection) {
        let row_count = self.work.row_count();
        self.passing.clear();
        for start in (0..row_count).step_by(64) {
            let count = (row_count - start).min(64);
            let mut word = words::low_mask(count);
            if let Some(test) = &projection.test {
                word &= test.passing(&self.work, start, count);
            }
            let mut judged = projection.visible_fields().peekable();
            if self.policy == RowPolicy::DropAllNull && judged.peek().is_some() {
                word &= judged.fold(0, |any, field| any | self.work.column(field.column).valid_word(start));
            }
            self.passing.push(word);
        }
    }

    /// Moves passing rows on, as long as there is room; returns how many.
    fn give(&mut self, projection: &Projection, window: &mut RowWindow, out: &mut Block, room: usize) -> usize {
        let row_count = self.work.row_count();
        let mut left = room;
        let mut at = self.at;
        for run in words::runs(&self.passing, self.at, row_count - self.at) {
            let start = self.at + run.start;
            at = start + run.count;
            if !run.set {
                continue;
            }
            let (skipped, given) = window.take_rows_into(run.count, left);
            let first = start + skipped;
            at = first + given;
            left -= given;
            let (times, columns) = out.parts_mut();
            times.extend_from_slice(&self.work.times()[first..at]);
            for field in projection.visible_fields() {
                let from = self.work.column(field.column);
                assert!(columns[field.column].extend_from(from, first, given), "both blocks have the same types");
            }
            if at < start + run.count {
                break;
            }
        }
        self.at = at;
        room - left
    }
}
