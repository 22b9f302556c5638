//! Conditions on rows: what statistics rule out, which rows pass, and how those that do come together.

use tsloom_bitmap::words;
use tsloom_block::{Block, BlockLayout, Column};
use tsloom_format::{StatisticValues, StatisticsRef};
use tsloom_io::ReadAt;
use tsloom_model::{ColumnBounds, CompareOp, Literal, Result, RowFilter, RowPolicy, ValueRange, ValuesRef};

use crate::projection::Projection;
use crate::rows::DeviceRows;
use crate::sources::{OpenSource, Step};
use crate::window::RowWindow;

/// A condition that rows must meet.
#[derive(Debug)]
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

/// What statistics say of a column in `row_count` rows.
pub(crate) fn bounds_of<'a>(statistics: &StatisticsRef<'a>, row_count: u64) -> ColumnBounds<'a> {
    let count = u64::from(statistics.count());
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

/// How far a row may lie from the statistics of its page. RLE and TS_2DIFF keep FLOAT and DOUBLE rounded to some decimals, while
/// statistics are taken before: half a unit when there are no decimals, and the last bits of the division. Neither the number of
/// decimals nor, in metadata, the encoding is known.
fn slack(bound: f64) -> f64 {
    0.5 + bound.abs() * f64::from(f32::EPSILON)
}

/// The same for keeping.
pub(crate) fn chunk_bounds(statistics: &StatisticsRef<'_>, row_count: u64) -> ChunkBounds {
    let ColumnBounds { has_null, has_value, range } = bounds_of(statistics, row_count);
    let range = match range {
        ValueRange::Integers(min, max) => ValueRange::Integers(min, max),
        ValueRange::Numbers(min, max) => ValueRange::Numbers(min, max),
        ValueRange::Texts(..) | ValueRange::Unknown => ValueRange::Unknown,
    };
    ColumnBounds { has_null, has_value, range }
}

/// The truths of up to 64 rows, low bit first; a row in neither is unknown.
#[derive(Clone, Copy)]
struct Truths {
    is_true: u64,
    is_false: u64,
}

impl RowTest {
    /// True when no row can pass of which this is known; `bounds` are asked for by position in `columns`.
    pub(crate) fn rules_out<'a>(&self, bounds: &impl Fn(usize) -> ColumnBounds<'a>) -> bool {
        self.prunes && !self.filter.possible(bounds).is_true
    }

    /// True when one of the rows from `from` on passes. Only the columns of the condition need be there.
    pub(crate) fn passes_any(&self, block: &Block, from: usize) -> bool {
        let end = block.row_count();
        (from..end).step_by(64).any(|start| self.truths(&self.filter, block, start, (end - start).min(64)).is_true != 0)
    }

    fn truths(&self, filter: &RowFilter<usize>, block: &Block, start: usize, count: usize) -> Truths {
        let all = words::low_mask(count);
        match filter {
            RowFilter::Compare(column, op, literal) => {
                let column = block.column(self.columns[*column]);
                let holds = compare(column, *op, literal, start, count);
                let valid = valid_word(column, start) & all;
                Truths { is_true: holds & valid, is_false: !holds & valid }
            }
            RowFilter::IsNull(column) => {
                let valid = valid_word(block.column(self.columns[*column]), start) & all;
                Truths { is_true: !valid & all, is_false: valid }
            }
            RowFilter::Not(member) => {
                let inner = self.truths(member, block, start, count);
                Truths { is_true: inner.is_false, is_false: inner.is_true }
            }
            RowFilter::And(members) => members.iter().fold(Truths { is_true: all, is_false: 0 }, |so_far, member| {
                let member = self.truths(member, block, start, count);
                Truths { is_true: so_far.is_true & member.is_true, is_false: so_far.is_false | member.is_false }
            }),
            RowFilter::Or(members) => members.iter().fold(Truths { is_true: 0, is_false: all }, |so_far, member| {
                let member = self.truths(member, block, start, count);
                Truths { is_true: so_far.is_true | member.is_true, is_false: so_far.is_false & member.is_false }
            }),
        }
    }
}

/// Valid bits of the rows from `start` on; bits past the last row may be set.
fn valid_word(column: &Column, start: usize) -> u64 {
    column.validity().map_or(u64::MAX, |validity| words::load(validity, start))
}

/// Which of `count` rows from `start` on compare like this; null rows may be among them.
fn compare(column: &Column, op: CompareOp, literal: &Literal, start: usize, count: usize) -> u64 {
    let rows = start..start + count;
    match (column.values().as_values(), literal) {
        (ValuesRef::Boolean(values), Literal::Boolean(literal)) => ordered(&values[rows], op, literal, |value| *value),
        (ValuesRef::Int32(values), Literal::Integer(literal)) => ordered(&values[rows], op, literal, |value| i64::from(*value)),
        (ValuesRef::Int64(values), Literal::Integer(literal)) => ordered(&values[rows], op, literal, |value| *value),
        (ValuesRef::Float(values), Literal::Number(literal)) => ordered(&values[rows], op, literal, |value| f64::from(*value)),
        (ValuesRef::Double(values), Literal::Number(literal)) => ordered(&values[rows], op, literal, |value| *value),
        (ValuesRef::Text(texts), Literal::Text(literal)) => {
            bits((start..start + count).map(|row| op.holds_for(Some(texts.get(row).cmp(literal)))))
        }
        _ => 0, // resolving has refused it
    }
}

/// One loop for each operator, so that none is chosen for each value.
fn ordered<T, L: PartialOrd>(values: &[T], op: CompareOp, literal: &L, widen: impl Fn(&T) -> L) -> u64 {
    match op {
        CompareOp::Eq => bits(values.iter().map(|value| widen(value) == *literal)),
        CompareOp::Ne => bits(values.iter().map(|value| widen(value) != *literal)),
        CompareOp::Lt => bits(values.iter().map(|value| widen(value) < *literal)),
        CompareOp::Le => bits(values.iter().map(|value| widen(value) <= *literal)),
        CompareOp::Gt => bits(values.iter().map(|value| widen(value) > *literal)),
        CompareOp::Ge => bits(values.iter().map(|value| widen(value) >= *literal)),
    }
}

fn bits(rows: impl Iterator<Item = bool>) -> u64 {
    rows.enumerate().fold(0, |word, (row, holds)| word | u64::from(holds) << row)
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
    pub(crate) fn new(projection: &Projection, policy: RowPolicy) -> Self {
        let layout = BlockLayout { row_budget: 0, columns: projection.work_layout.columns.clone() };
        Self { policy, work: Block::new(&layout), passing: Vec::new(), at: 0 }
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
                word &= test.truths(&test.filter, &self.work, start, count).is_true;
            }
            let mut judged = projection.visible_fields().peekable();
            if self.policy == RowPolicy::DropAllNull && judged.peek().is_some() {
                word &= judged.fold(0, |any, field| any | valid_word(self.work.column(field.column), start));
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
