//! Random tablets of all types, with what breaks things at high odds: absent columns, all-null rows, empty text, NaN, extreme
//! numbers, null tags, repeated times and rows that go back.

use tsloom_model::{DataType, TableSchema, Value};
use tsloom_tablet::Tablet;

use crate::Random;

/// Makes tablets of one table. The same seed makes the same tablets.
#[derive(Clone, Debug)]
pub struct TabletGenerator {
    schema: TableSchema,
    random: Random,
}

const TAGS: [Option<&str>; 6] = [None, Some(""), Some("null"), Some("a"), Some("b"), Some("\u{e9}\u{1F4C8}")];

const TEXTS: [&str; 6] = ["", " ", "null", "a longer text that is past sixteen bytes", "\u{0}", "\u{e9}"];

impl TabletGenerator {
    /// Tablets of a table `all` with two tags and a field of every type.
    pub fn new(seed: u64) -> Self {
        let mut builder = TableSchema::builder("all").tag("t1").tag("t2");
        for data_type in DataType::ALL {
            builder = builder.field(format!("f_{}", data_type.name()), *data_type);
        }
        let schema = builder.build().expect("the names differ and every type has a default encoding");
        Self { schema, random: Random::new(seed) }
    }

    /// The table.
    pub fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// The next tablet: up to `row_max` rows, times from `0..time_max` in any order.
    pub fn next_tablet(&mut self, row_max: usize, time_max: usize) -> Tablet {
        let mut tablet = Tablet::new(&self.schema);
        let types: Vec<DataType> = self.schema.columns().iter().map(|column| column.data_type).collect();
        let is_absent: Vec<bool> = types.iter().map(|_| self.random.one_in(3)).collect();
        let null_odds = [1, 2, 5, 1000][self.random.below(4)];
        let is_one_device = self.random.one_in(2);
        let rises = self.random.one_in(2);
        let mut tags = [0, 0];
        let mut time = self.random.below(time_max);
        for row in 0..self.random.below(row_max + 1) {
            if row == 0 || !is_one_device {
                tags = [self.random.below(TAGS.len()), self.random.below(3)];
            }
            time = if rises { time + self.random.below(3) } else { self.random.below(time_max) };
            let text = self.text();
            let cells: Vec<Value<'_>> = types
                .iter()
                .enumerate()
                .map(|(index, data_type)| match index {
                    0 | 1 => TAGS[tags[index]].map_or(Value::Null, Value::from),
                    _ if is_absent[index] || self.random.one_in(null_odds) => Value::Null,
                    _ => self.cell(*data_type, &text),
                })
                .collect();
            tablet.push_row(time as i64, &cells).expect("every cell has the type of its column");
        }
        tablet
    }

    fn text(&mut self) -> Vec<u8> {
        match self.random.below(8) {
            index if index < TEXTS.len() => TEXTS[index].as_bytes().to_vec(),
            _ => self.random.next_u64().to_string().into_bytes(),
        }
    }

    fn cell<'a>(&mut self, data_type: DataType, text: &'a [u8]) -> Value<'a> {
        let bits = self.random.next_u64();
        match data_type {
            DataType::Boolean => Value::Boolean(bits & 1 == 1),
            DataType::Int32 => Value::Int32(*self.random.pick(&[0, 1, -1, i32::MIN, i32::MAX, bits as i32])),
            DataType::Date => Value::Int32(*self.random.pick(&[10_000_101, 99_991_231, 20_240_229, 19_700_101])),
            DataType::Int64 | DataType::Timestamp => {
                Value::Int64(*self.random.pick(&[0, 1, -1, i64::MIN, i64::MAX, bits as i64]))
            }
            DataType::Float => Value::Float(*self.random.pick(&[
                0.0,
                -0.0,
                f32::NAN,
                f32::INFINITY,
                f32::MIN_POSITIVE,
                f32::MAX,
                f32::from_bits(bits as u32),
            ])),
            DataType::Double => Value::Double(*self.random.pick(&[
                0.0,
                -0.0,
                f64::NAN,
                f64::NEG_INFINITY,
                f64::MIN_POSITIVE,
                f64::MAX,
                f64::from_bits(bits),
            ])),
            DataType::Text | DataType::String | DataType::Blob => Value::Text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_tablets() {
        let tablets = |seed| {
            let mut generator = TabletGenerator::new(seed);
            (0..20).map(|_| generator.next_tablet(50, 100).to_bytes()).collect::<Vec<_>>()
        };
        assert_eq!(tablets(1), tablets(1));
        assert_ne!(tablets(1), tablets(2));
    }

    #[test]
    fn what_breaks_things_comes_often() {
        let mut generator = TabletGenerator::new(3);
        let tablets: Vec<Tablet> = (0..100).map(|_| generator.next_tablet(50, 100)).collect();
        let column_count = generator.schema().columns().len();
        assert!(tablets.iter().any(|tablet| tablet.row_count() > 0 && tablet.present_columns().count() < column_count));
        assert!(tablets.iter().any(|tablet| !tablet.is_sorted_by_time()));
        let cells = tablets.iter().flat_map(|tablet| tablet.present_columns().filter_map(|index| tablet.column(index)));
        let mut nulls_and_nans = (0, 0);
        for column in cells {
            for row in 0..column.row_count() {
                nulls_and_nans.0 += usize::from(column.is_null(row));
                nulls_and_nans.1 += usize::from(matches!(column.value(row), Value::Double(value) if value.is_nan()));
            }
        }
        assert!(nulls_and_nans.0 > 100 && nulls_and_nans.1 > 100, "{nulls_and_nans:?}");
    }
}
