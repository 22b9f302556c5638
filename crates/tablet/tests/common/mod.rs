//! The plainest model of a tablet, and its wire form written value by value: what the tests compare with.

#![expect(clippy::unwrap_used, reason = "code of tests")]
#![allow(dead_code, reason = "each test file uses its part")]

use tsloom_model::{Cell, ColumnCategory, ColumnSchema, DataType, TableSchema};

/// Rows as a list of rows.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) schema: TableSchema,
    pub(crate) times: Vec<i64>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// splitmix64: the same cells for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// A cell of a type: edge values as often as any others.
pub(crate) fn cell(data_type: DataType, random: &mut Random) -> Cell {
    let bits = random.next();
    let is_edge = random.below(4) == 0;
    match data_type {
        DataType::Boolean => Cell::Boolean(bits & 1 == 1),
        DataType::Int32 => Cell::Int32(if is_edge { [0, i32::MIN, i32::MAX][random.below(3)] } else { bits as i32 }),
        DataType::Int64 | DataType::Timestamp => {
            Cell::Int64(if is_edge { [0, i64::MIN, i64::MAX][random.below(3)] } else { bits as i64 })
        }
        DataType::Float => Cell::Float(if is_edge {
            [-0.0, f32::from_bits(0xffc1_2345), f32::INFINITY, f32::MIN_POSITIVE][random.below(4)]
        } else {
            f32::from_bits(bits as u32)
        }),
        DataType::Double => Cell::Double(if is_edge {
            [-0.0, f64::from_bits(0xfff8_dead_beef_0001), f64::NEG_INFINITY, f64::MIN_POSITIVE][random.below(4)]
        } else {
            f64::from_bits(bits)
        }),
        DataType::Date => {
            let (year, month, day) = (1000 + bits % 9000, 1 + (bits >> 20) % 12, 1 + (bits >> 40) % 28);
            Cell::Int32(if is_edge {
                [10_000_101, 99_991_231][random.below(2)]
            } else {
                (year * 10_000 + month * 100 + day) as i32
            })
        }
        DataType::Text | DataType::String | DataType::Blob => {
            let length = match random.below(40) {
                0 => 300,
                1..4 => 33 + random.below(10),
                4..8 => 16 + random.below(5),
                _ => random.below(20),
            };
            Cell::Text((0..length).map(|index| b'a' + ((bits >> (index % 50)) % 26) as u8).collect())
        }
    }
}

/// A table with a tag, an attribute and a field of each type; `null_percent` of the cells are null.
pub(crate) fn model(types: &[DataType], row_count: usize, null_percent: usize, seed: u64) -> Model {
    let mut random = Random(seed);
    let mut builder = TableSchema::builder("t").tag("tag").attribute("attribute");
    for (index, data_type) in types.iter().enumerate() {
        builder = builder.column(ColumnSchema::field(format!("f{index}"), *data_type));
    }
    let schema = builder.build().unwrap();
    let times = (0..row_count).map(|_| random.below(row_count.max(2)) as i64 * 1_000 - 50_000).collect();
    let rows = (0..row_count)
        .map(|_| {
            schema
                .columns()
                .iter()
                .map(|column| {
                    if random.below(100) < null_percent {
                        Cell::Null
                    } else if column.category == ColumnCategory::Tag {
                        Cell::Text(vec![b'd', b'0' + random.below(3) as u8])
                    } else {
                        cell(column.data_type, &mut random)
                    }
                })
                .collect()
        })
        .collect();
    Model { schema, times, rows }
}

impl Model {
    /// The wire form of the rows. A column that has no value in any row is absent, unless `is_present` says otherwise.
    pub(crate) fn wire(&self, is_present: impl Fn(usize) -> bool) -> Vec<u8> {
        let (columns, row_count) = (self.schema.columns(), self.rows.len());
        let mut out = Vec::new();
        put_istr(&mut out, Some(self.schema.name()));
        out.extend((row_count as i32).to_be_bytes());
        out.push(1);
        out.extend((columns.len() as i32).to_be_bytes());
        for column in columns {
            out.push(1);
            put_istr(&mut out, Some(&column.name));
            out.extend([column.data_type.code(), column.encoding.code(), column.compression.code(), 0, 0, 0, 0]);
            out.push(column.category.code());
        }
        out.push(1);
        self.times.iter().for_each(|time| out.extend(time.to_be_bytes()));
        let has_value = |index: usize| self.rows.iter().any(|row| row[index] != Cell::Null);
        out.push(1);
        for index in 0..columns.len() {
            let nulls: Vec<usize> = (0..row_count).filter(|row| self.rows[*row][index] == Cell::Null).collect();
            let is_marked = !nulls.is_empty() && (has_value(index) || is_present(index));
            put_bitmap(&mut out, row_count, if is_marked { &nulls } else { &[] });
        }
        out.push(1);
        for (index, column) in columns.iter().enumerate() {
            let is_sent = has_value(index) || is_present(index);
            out.push(u8::from(is_sent));
            if is_sent {
                self.rows.iter().for_each(|row| put_slot(&mut out, column.data_type, &row[index]));
            }
        }
        out
    }
}

/// A string, or Java's null.
pub(crate) fn put_istr(out: &mut Vec<u8>, text: Option<&str>) {
    out.extend(text.map_or(-1, |text| text.len() as i32).to_be_bytes());
    out.extend(text.unwrap_or_default().as_bytes());
}

/// The bitmap of one column; none when no row is null.
pub(crate) fn put_bitmap(out: &mut Vec<u8>, row_count: usize, nulls: &[usize]) {
    out.push(u8::from(!nulls.is_empty()));
    if !nulls.is_empty() {
        let mut bytes = vec![0_u8; row_count / 8 + 1];
        nulls.iter().for_each(|row| bytes[row / 8] |= 1 << (row % 8));
        out.extend((row_count as i32).to_be_bytes());
        out.extend((bytes.len() as i32).to_be_bytes());
        out.extend(bytes);
    }
}

/// One slot, with what the owned tablet writes for a null.
pub(crate) fn put_slot(out: &mut Vec<u8>, data_type: DataType, cell: &Cell) {
    match cell {
        Cell::Null if data_type == DataType::Date => out.extend(10_000_101_i32.to_be_bytes()),
        Cell::Null => out.extend(vec![0; data_type.physical().width().unwrap_or(1)]),
        Cell::Boolean(value) => out.push(u8::from(*value)),
        Cell::Int32(value) => out.extend(value.to_be_bytes()),
        Cell::Int64(value) => out.extend(value.to_be_bytes()),
        Cell::Float(value) if value.is_nan() => out.extend([0x7f, 0xc0, 0, 0]),
        Cell::Float(value) => out.extend(value.to_bits().to_be_bytes()),
        Cell::Double(value) if value.is_nan() => out.extend([0x7f, 0xf8, 0, 0, 0, 0, 0, 0]),
        Cell::Double(value) => out.extend(value.to_bits().to_be_bytes()),
        Cell::Text(bytes) => {
            out.push(1);
            out.extend((bytes.len() as i32).to_be_bytes());
            out.extend(bytes);
        }
    }
}
