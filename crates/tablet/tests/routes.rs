//! The same rows by three independent routes (row by row, column by column, from slices) give the bytes of the plain model, through
//! every way out; and reading, sorting, merging and slicing agree with the model.

#![expect(clippy::unwrap_used, reason = "code of tests")]

mod common;

use bytes::{BufMut, BytesMut};
use common::{Model, Random, model};
use proptest::prelude::*;
use tsloom_bitmap::NullWords;
use tsloom_model::{Cell, ColumnView, DataType, Value, Values};
use tsloom_tablet::{Devices, Tablet, TabletHead, TabletView};

fn models() -> impl Strategy<Value = Model> {
    let types = proptest::collection::vec(proptest::sample::select(DataType::ALL), 0..6);
    let rows = prop_oneof![0..12_usize, 60..70_usize, 120..400_usize];
    let nulls = prop_oneof![Just(0_usize), Just(3), Just(50), Just(97), Just(100)];
    (types, rows, nulls, any::<u64>()).prop_map(|(types, rows, nulls, seed)| model(&types, rows, nulls, seed))
}

fn row_wise(model: &Model) -> Tablet {
    let mut tablet = Tablet::new(&model.schema);
    for (time, row) in model.times.iter().zip(&model.rows) {
        let values: Vec<Value<'_>> = row.iter().map(Cell::value).collect();
        tablet.push_row(*time, &values).unwrap();
    }
    tablet
}

/// In two batches of times; within a column, runs of values and of nulls by the bulk calls, and some rows overwritten.
fn column_wise(model: &Model, seed: u64) -> Tablet {
    let mut random = Random(seed);
    let mut tablet = Tablet::new(&model.schema);
    let cut = random.below(model.rows.len() + 1);
    for batch in [0..cut, cut..model.rows.len()] {
        tablet.extend_times(&model.times[batch.clone()]);
        for index in 0..model.schema.columns().len() {
            let mut column = tablet.column_mut(index);
            assert_eq!(column.next_row(), batch.start);
            let mut row = batch.start;
            while row < batch.end {
                let is_null = model.rows[row][index] == Cell::Null;
                let run = (row..batch.end).take_while(|row| (model.rows[*row][index] == Cell::Null) == is_null).count();
                if is_null {
                    column.extend_nulls(run).unwrap();
                } else if run == 1 {
                    column.push_value(model.rows[row][index].value()).unwrap();
                } else {
                    column.extend(values_of(model, index, row..row + run).as_values()).unwrap();
                }
                row += run;
            }
        }
    }
    for _ in 0..4.min(model.rows.len()) {
        let (row, index) = (random.below(model.rows.len()), random.below(model.schema.columns().len()));
        let value = model.rows[row][index].value();
        let mut column = tablet.column_mut(index);
        column.set_nulls(row, 1).unwrap(); // then a value over a null
        column.set(row, value).unwrap();
    }
    tablet
}

/// Values of some rows; null rows get junk that must never be seen.
fn values_of(model: &Model, index: usize, rows: std::ops::Range<usize>) -> Values {
    let data_type = model.schema.columns()[index].data_type;
    let mut values = Values::new(data_type.physical());
    let mut random = Random(index as u64);
    for row in rows {
        let is_pushed = match &model.rows[row][index] {
            Cell::Null => values.push(common::cell(data_type, &mut random).value()),
            cell => values.push(cell.value()),
        };
        assert!(is_pushed);
    }
    values
}

/// Columns outside of a tablet: values with junk in null slots, null words that begin inside a word.
struct Outside {
    columns: Vec<Option<(DataType, Values, Vec<u64>)>>,
}

const NULLS_START: usize = 13;

impl Outside {
    fn of(model: &Model) -> Self {
        let rows = 0..model.rows.len();
        let column = |index: usize| {
            model.rows.iter().any(|row| row[index] != Cell::Null).then(|| {
                let mut nulls = vec![u64::MAX; (NULLS_START + rows.len()).div_ceil(64)];
                for row in rows.clone() {
                    if model.rows[row][index] != Cell::Null {
                        tsloom_bitmap::words::clear(&mut nulls, NULLS_START + row);
                    }
                }
                (model.schema.columns()[index].data_type, values_of(model, index, rows.clone()), nulls)
            })
        };
        Self { columns: (0..model.schema.columns().len()).map(column).collect() }
    }

    fn views(&self) -> Vec<Option<ColumnView<'_>>> {
        self.columns
            .iter()
            .map(|column| {
                let (data_type, values, nulls) = column.as_ref()?;
                let nulls = NullWords::new(nulls, NULLS_START, values.len());
                Some(ColumnView::new(*data_type, values.as_values(), Some(nulls)))
            })
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn three_routes_give_the_models_bytes(model in models(), seed in any::<u64>()) {
        let expected = model.wire(|_| false);
        let rows = row_wise(&model);
        prop_assert_eq!(rows.serialized_size(), expected.len());
        prop_assert!(rows.to_bytes() == expected, "row-wise");
        prop_assert!(column_wise(&model, seed).to_bytes() == expected, "column-wise");

        let outside = Outside::of(&model);
        let views = outside.views();
        let head = TabletHead::for_table(&model.schema);
        let lent = Tablet::from_columns(&head, &model.times, &views).unwrap();
        prop_assert_eq!(lent.serialized_size(), expected.len());
        prop_assert!(lent.to_bytes() == expected, "from slices");
        prop_assert!(lent.to_tablet().to_bytes() == expected, "copied from slices");
        let mut streamed = Vec::new();
        lent.write_io(&mut streamed).unwrap();
        prop_assert!(streamed == expected, "streamed from slices");
    }

    #[test]
    fn every_way_out_gives_the_same_bytes(model in models()) {
        let tablet = row_wise(&model);
        let expected = model.wire(|_| false);
        let size = expected.len();

        let mut place = vec![0xee; size + 9];
        prop_assert_eq!(tablet.write_into(&mut place[4..]).unwrap(), size);
        prop_assert!(place[..4] == [0xee; 4] && place[4..4 + size] == expected && place[4 + size..] == [0xee; 5]);

        let mut exact = vec![0; size];
        tablet.write_into(&mut exact).unwrap();
        prop_assert!(exact == expected);

        let mut slice = &mut place[..];
        tablet.write_to(&mut slice).unwrap();
        prop_assert_eq!(slice.len(), 9);

        let mut vector = b"before".to_vec();
        tablet.write_to(&mut vector).unwrap();
        prop_assert!(vector[6..] == expected);

        let mut shared = BytesMut::with_capacity(3);
        shared.put_slice(b"abc");
        tablet.write_to(&mut shared).unwrap();
        prop_assert!(shared[3..] == expected);

        // A buffer in two parts has no place in one piece.
        let (mut front, mut back) = (vec![0; size / 3], vec![0; size - size / 3]);
        tablet.write_to(&mut front.as_mut_slice().chain_mut(back.as_mut_slice())).unwrap();
        prop_assert!([front, back].concat() == expected);

        let mut streamed = Vec::new();
        prop_assert_eq!(tablet.write_io(&mut streamed).unwrap(), size);
        prop_assert!(streamed == expected);

        // Too small by one byte: an error, and no byte is touched.
        let mut small = vec![0xee; size - 1];
        prop_assert!(tablet.write_into(&mut small).is_err());
        prop_assert!(tablet.write_to(&mut small.as_mut_slice()).is_err());
        prop_assert!(small.iter().all(|byte| *byte == 0xee));
    }

    #[test]
    fn what_is_sent_is_received(model in models()) {
        let bytes = model.wire(|_| false);
        let tablet = Tablet::parse(&bytes).unwrap();
        prop_assert!(tablet.to_bytes() == bytes);
        let view = TabletView::parse(&bytes).unwrap();
        prop_assert!(view.to_tablet().unwrap().to_bytes() == bytes);
        for (index, column) in view.columns().enumerate() {
            for row in 0..model.rows.len() {
                let is_null = model.rows[row][index] == Cell::Null;
                prop_assert_eq!(column.is_null(row), is_null);
                if let Some(own) = tablet.column(index) {
                    prop_assert_eq!(own.is_null(row), is_null);
                    prop_assert_eq!(cell_of(own.value(row)), canonical(&model.rows[row][index]));
                }
            }
        }
    }

    #[test]
    fn slices_are_tablets_of_their_rows(model in models(), seed in any::<u64>()) {
        let mut random = Random(seed);
        let tablet = row_wise(&model);
        let start = random.below(model.rows.len() + 1);
        let count = random.below(model.rows.len() - start + 1);
        let part = Model {
            schema: model.schema.clone(),
            times: model.times[start..start + count].to_vec(),
            rows: model.rows[start..start + count].to_vec(),
        };
        let expected = part.wire(|index| tablet.column(index).is_some());
        let slice = tablet.slice(start..start + count);
        prop_assert_eq!(slice.serialized_size(), expected.len());
        prop_assert!(slice.to_bytes() == expected);
        prop_assert!(slice.to_tablet().to_bytes() == expected);
        let mut streamed = Vec::new();
        slice.write_io(&mut streamed).unwrap();
        prop_assert!(streamed == expected);
    }

    #[test]
    fn sorting_and_merging_follow_the_model(model in models()) {
        let mut tablet = row_wise(&model);
        tablet.sort_by_device_and_time();
        let mut order: Vec<usize> = (0..model.rows.len()).collect();
        let tag = |row: usize| match &model.rows[row][0] { Cell::Text(bytes) => Some(bytes.clone()), _ => None };
        order.sort_by_key(|row| (tag(*row), model.times[*row]));
        let sorted = Model {
            schema: model.schema.clone(),
            times: order.iter().map(|row| model.times[*row]).collect(),
            rows: order.iter().map(|row| model.rows[*row].clone()).collect(),
        };
        prop_assert!(tablet.to_bytes() == sorted.wire(|_| false), "sorted");

        let mut merged = Model { schema: model.schema.clone(), times: vec![], rows: vec![] };
        for (time, row) in sorted.times.iter().zip(&sorted.rows) {
            match (merged.times.last(), merged.rows.last_mut()) {
                (Some(last), Some(into)) if last == time && into[0] == row[0] => {
                    into.iter_mut().zip(row).filter(|(_, from)| **from != Cell::Null).for_each(|(into, from)| *into = from.clone());
                }
                _ => {
                    merged.times.push(*time);
                    merged.rows.push(row.clone());
                }
            }
        }
        prop_assert_eq!(tablet.dedup(), sorted.rows.len() - merged.rows.len());
        prop_assert!(tablet.to_bytes() == merged.wire(|_| false), "merged");

        let tags: std::collections::BTreeSet<_> = (0..model.rows.len()).map(tag).collect();
        match tablet.devices() {
            Devices::One(_) => prop_assert!(tags.len() <= 1),
            Devices::Runs(runs) => {
                prop_assert_eq!(runs.len(), tags.len());
                prop_assert!(runs.is_sorted());
                prop_assert_eq!(runs.last().unwrap().1, merged.rows.len());
            }
        }
    }
}

/// What a cell is after it was sent: NaN has one form.
fn canonical(cell: &Cell) -> Cell {
    match cell {
        Cell::Float(value) => Cell::Int32(if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() as i32 }),
        Cell::Double(value) => Cell::Int64(if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() as i64 }),
        other => other.clone(),
    }
}

/// Floats by their bits.
fn cell_of(value: Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Boolean(value) => Cell::Boolean(value),
        Value::Int32(value) => Cell::Int32(value),
        Value::Int64(value) => Cell::Int64(value),
        Value::Float(value) => Cell::Int32(value.to_bits() as i32),
        Value::Double(value) => Cell::Int64(value.to_bits() as i64),
        Value::Text(bytes) => Cell::Text(bytes.to_vec()),
    }
}
