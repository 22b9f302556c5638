//! Conditions on values, 64 rows at a time: each comparison is one loop over a column, and the three truths of a row are bits.

use tsloom_bitmap::words;
use tsloom_block::Column;
use tsloom_model::{CompareOp, Literal, RowFilter, ValuesRef};

/// The truths of up to 64 rows, low bit first; a row in neither is unknown.
#[derive(Clone, Copy)]
struct Truths {
    is_true: u64,
    is_false: u64,
}

/// Which of `count` rows from `start` on meet the condition: bit i is row `start + i`, 64 rows at most. `column` gives the columns that
/// the condition names; they must have these rows.
///
/// ```
/// use tsloom_block::{Block, BlockLayout};
/// use tsloom_model::{CompareOp, DataType, RowFilter, Value};
/// use tsloom_page_reader::passing_rows;
///
/// let mut block = Block::new(&BlockLayout::new(3, [("v", DataType::Int32)]));
/// for value in [Value::Int32(5), Value::Null, Value::Int32(9)] {
///     assert!(block.column_mut(0).push(value));
/// }
/// let above_six = RowFilter::Compare(0, CompareOp::Gt, 6_i64.into());
/// assert_eq!(passing_rows(&above_six, &|index| block.column(index), 0, 3), 0b100);
/// assert_eq!(passing_rows(&above_six.not(), &|index| block.column(index), 0, 3), 0b001); // null is neither
/// ```
pub fn passing_rows<'a>(filter: &RowFilter<usize>, column: &impl Fn(usize) -> &'a Column, start: usize, count: usize) -> u64 {
    truths(filter, column, start, count).is_true
}

fn truths<'a>(filter: &RowFilter<usize>, column: &impl Fn(usize) -> &'a Column, start: usize, count: usize) -> Truths {
    let all = words::low_mask(count);
    match filter {
        RowFilter::Compare(index, op, literal) => {
            let column = column(*index);
            let holds = compare(column, *op, literal, start, count);
            let valid = column.valid_word(start) & all;
            Truths { is_true: holds & valid, is_false: !holds & valid }
        }
        RowFilter::IsNull(index) => {
            let valid = column(*index).valid_word(start) & all;
            Truths { is_true: !valid & all, is_false: valid }
        }
        RowFilter::Not(member) => {
            let inner = truths(member, column, start, count);
            Truths { is_true: inner.is_false, is_false: inner.is_true }
        }
        RowFilter::And(members) => members.iter().fold(Truths { is_true: all, is_false: 0 }, |so_far, member| {
            let member = truths(member, column, start, count);
            Truths { is_true: so_far.is_true & member.is_true, is_false: so_far.is_false | member.is_false }
        }),
        RowFilter::Or(members) => members.iter().fold(Truths { is_true: 0, is_false: all }, |so_far, member| {
            let member = truths(member, column, start, count);
            Truths { is_true: so_far.is_true | member.is_true, is_false: so_far.is_false & member.is_false }
        }),
    }
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
