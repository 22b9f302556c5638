//! Truths against SQL's table, and bounds against every row that they could stand for.

use super::*;

fn table() -> TableSchema {
    TableSchema::builder("t")
        .tag("id")
        .field("i", DataType::Int32)
        .field("d", DataType::Double)
        .field("s", DataType::String)
        .field("b", DataType::Boolean)
        .build()
        .unwrap()
}

fn truth(filter: &RowFilter, row: [Value<'_>; 5]) -> Option<bool> {
    filter.resolve(&table()).unwrap().truth(&|column| row[column])
}

#[test]
fn null_is_unknown_and_nan_is_unequal() {
    let row = |d: Value<'static>| [Value::Null, Value::Int32(3), d, "x".into(), Value::Null];
    let nan = row(f64::NAN.into());
    assert_eq!(truth(&field("d").gt(0.5), nan), Some(false));
    assert_eq!(truth(&field("d").gt(0.5).not(), nan), Some(true));
    assert_eq!(truth(&field("d").ne(0.5), nan), Some(true));
    assert_eq!(truth(&field("d").eq(f64::NAN), nan), Some(false));
    let null = row(Value::Null);
    assert_eq!(truth(&field("d").gt(0.5).not(), null), None);
    assert_eq!(truth(&field("d").gt(0.5).and(field("i").eq(4)), null), Some(false));
    assert_eq!(truth(&field("d").gt(0.5).or(field("i").eq(3)), null), Some(true));
    assert_eq!(truth(&field("d").is_null().and(field("s").is_in(["y", "x"])), null), Some(true));
    assert_eq!(truth(&field("b").eq(true).or(field("i").lt(3)), null), None);
    assert_eq!(truth(&field("d").le(7), row(7.0.into())), Some(true));
    assert_eq!(truth(&RowFilter::And(vec![]), null), Some(true));
    assert_eq!(truth(&RowFilter::Or(vec![]), null), Some(false));
}

#[test]
fn what_does_not_fit_is_refused() {
    let check = |filter: RowFilter, kind, message: &str| {
        let error = filter.resolve(&table()).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
    };
    check(field("id").eq("a"), ErrorKind::SchemaMismatch, "column id of table t is a TAG, not a FIELD");
    check(field("x").eq(1), ErrorKind::NotFound, "table t has no column x; it has id, i, d, s, b");
    check(field("i").gt(0.5), ErrorKind::SchemaMismatch, "column i: Number(0.5) cannot be compared with a INT32");
    check(
        field("d").gt(i64::MAX),
        ErrorKind::SchemaMismatch,
        "column d: Integer(9223372036854775807) cannot be compared with a DOUBLE",
    );
}

/// Bounds as statistics give them: NaN when the first value is, and then nothing is known.
fn bounds_of(cells: &[Option<f64>]) -> ColumnBounds<'static> {
    let values: Vec<f64> = cells.iter().flatten().copied().collect();
    let range = match values.first() {
        Some(first) if !first.is_nan() => {
            ValueRange::Numbers(values.iter().copied().fold(*first, f64::min), values.iter().copied().fold(*first, f64::max))
        }
        _ => ValueRange::Unknown,
    };
    ColumnBounds { has_null: cells.iter().any(Option::is_none), has_value: !values.is_empty(), range }
}

/// Every column of up to three cells out of a few values, every condition of two comparisons.
#[test]
fn bounds_never_rule_out_a_row_that_passes() {
    let cells = [None, Some(f64::NAN), Some(0.0), Some(1.0), Some(f64::NEG_INFINITY)];
    let ops = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
    let literals = [f64::NAN, 0.0, 0.5, 1.0, f64::INFINITY];
    let one = |op, literal| RowFilter::Compare(0, op, Literal::Number(literal));
    let mut filters: Vec<RowFilter<usize>> =
        ops.iter().flat_map(|op| literals.iter().map(move |literal| one(*op, *literal))).collect();
    filters.push(RowFilter::IsNull(0));
    let simple = filters.clone();
    for (index, filter) in simple.iter().enumerate() {
        filters.push(filter.clone().not());
        filters.push(filter.clone().and(simple[(index * 7 + 3) % simple.len()].clone().not()));
        filters.push(filter.clone().or(simple[(index * 5 + 1) % simple.len()].clone()).not());
    }
    let columns = (0..125).map(|index| [cells[index / 25], cells[index / 5 % 5], cells[index % 5]]);
    let mut ruled_out = 0;
    for column in columns.flat_map(|three| [three[..1].to_vec(), three[..2].to_vec(), three.to_vec()]) {
        let bounds = bounds_of(&column);
        for filter in &filters {
            let possible = filter.possible(&|_| bounds);
            for cell in &column {
                let truth = filter.truth(&|_| (*cell).into());
                assert!(possible.is_true || truth != Some(true), "{filter:?} of {column:?}");
                assert!(possible.is_false || truth != Some(false), "{filter:?} of {column:?}");
            }
            ruled_out += u32::from(!possible.is_true);
        }
    }
    assert!(ruled_out > 1_000, "bounds must be of use: {ruled_out}");
}

#[test]
fn bounds_of_integers_and_texts() {
    let filter = field("i").gt(10).and(field("s").lt("m")).resolve(&table()).unwrap();
    let possible = |i: (i64, i64), s: (&'static str, &'static str)| {
        filter
            .possible(&|column| ColumnBounds {
                has_null: false,
                has_value: true,
                range: match column {
                    1 => ValueRange::Integers(i.0, i.1),
                    _ => ValueRange::Texts(s.0.as_bytes(), s.1.as_bytes()),
                },
            })
            .is_true
    };
    assert!(possible((0, 11), ("a", "z")) && possible((11, 11), ("l", "l")));
    assert!(!possible((0, 10), ("a", "z")) && !possible((0, 99), ("m", "z")));
}
