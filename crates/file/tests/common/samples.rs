//! Rows to write, and how: the same samples are read back by this crate and, by hand, by other readers.

use tsloom_bitmap::NullWords;
use tsloom_file::{FileSummary, FileWriter, WriterOptions};
use tsloom_model::{Cell, ColumnSchema, ColumnView, Compression, DataType, DeviceId, Encoding, Result, TableSchema, Values};

pub(crate) struct Row {
    pub(crate) device: DeviceId,
    pub(crate) time: i64,
    pub(crate) cells: Vec<Cell>,
}

pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) options: WriterOptions,
    pub(crate) tables: Vec<TableSchema>,
    /// In the order of writing.
    pub(crate) rows: Vec<Row>,
    /// Rows of one device in one call at most.
    pub(crate) batch_rows: usize,
    /// Rows after which all groups are written out, again and again; 0 for never.
    pub(crate) flush_rows: usize,
}

impl Sample {
    /// Writes the sample; neighbouring rows of one device go together.
    pub(crate) fn write<W: std::io::Write>(&self, sink: W) -> Result<(W, FileSummary)> {
        let mut writer = FileWriter::new(sink, self.options.clone())?;
        for table in &self.tables {
            writer.add_table(table)?;
        }
        let mut written = 0;
        for run in self.rows.chunk_by(|a, b| a.device == b.device) {
            for batch in run.chunks(self.batch_rows) {
                let table = self.table(&batch[0].device);
                write_batch(&mut writer, table, batch)?;
                written += batch.len();
                if self.flush_rows > 0 && written >= self.flush_rows {
                    writer.flush_groups()?;
                    written = 0;
                }
            }
        }
        writer.finish()
    }

    pub(crate) fn table(&self, device: &DeviceId) -> &TableSchema {
        self.tables.iter().find(|table| table.name() == device.table()).expect("every device has a table")
    }
}

pub(crate) fn write_batch<W: std::io::Write>(writer: &mut FileWriter<W>, table: &TableSchema, rows: &[Row]) -> Result<()> {
    let times: Vec<i64> = rows.iter().map(|row| row.time).collect();
    let columns: Vec<_> =
        table.fields().enumerate().map(|(field, column)| column_of(rows, field, &table.columns()[column])).collect();
    let views: Vec<_> = columns
        .iter()
        .zip(table.fields())
        .map(|((values, nulls), column)| {
            let nulls = NullWords::new(nulls, 0, rows.len());
            // A column without any value is absent in every other batch.
            let is_absent = nulls.all_null() && rows[0].time % 2 == 0;
            let data_type = table.columns()[column].data_type;
            (!is_absent).then(|| ColumnView::new(data_type, values.as_values(), nulls.any_null().then_some(nulls)))
        })
        .collect();
    writer.write_rows(table.name(), &rows[0].device, &times, &views)
}

fn column_of(rows: &[Row], field: usize, column: &ColumnSchema) -> (Values, Vec<u64>) {
    let mut values = Values::new(column.data_type.physical());
    let mut nulls = vec![0; rows.len().div_ceil(64)];
    for (index, row) in rows.iter().enumerate() {
        assert!(values.push(row.cells[field].value()), "cells fit their columns");
        if row.cells[field] == Cell::Null {
            nulls[index / 64] |= 1 << (index % 64);
        }
    }
    (values, nulls)
}

/// Numbers that look random and are the same every time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 32
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A cell of a type, null in `nulls` of a hundred.
pub(crate) fn cell(data_type: DataType, numbers: &mut Numbers, nulls: u64) -> Cell {
    if numbers.below(100) < nulls {
        return Cell::Null;
    }
    match data_type {
        DataType::Boolean => Cell::Boolean(numbers.below(2) == 1),
        DataType::Int32 => Cell::Int32(numbers.next() as i32 >> numbers.below(31)),
        DataType::Int64 => Cell::Int64(numbers.next() as i64 >> numbers.below(63)),
        DataType::Timestamp => Cell::Int64(1_700_000_000_000 + numbers.below(1 << 40) as i64),
        DataType::Float => Cell::Float((numbers.below(20_001) as f32 - 10_000.0) / 8.0),
        DataType::Double => Cell::Double((numbers.below(2_000_001) as f64 - 1_000_000.0) / 64.0),
        DataType::Date => Cell::Int32(
            (1900 + numbers.below(200) as i32) * 10_000 + (1 + numbers.below(12) as i32) * 100 + 1 + numbers.below(28) as i32,
        ),
        DataType::Text | DataType::String => {
            let words = ["", "a", "Oslo", "naïve", "温度", "a longer text that repeats a longer text"];
            Cell::Text(words[numbers.below(6) as usize].as_bytes().to_vec())
        }
        DataType::Blob => Cell::Text((0..numbers.below(9)).map(|_| numbers.next() as u8).collect()),
    }
}

/// A table with a column of every type.
pub(crate) fn all_types(name: &str, tags: usize) -> TableSchema {
    let mut table = TableSchema::builder(name);
    for tag in 0..tags {
        table = table.tag(format!("tag{tag}"));
    }
    for data_type in DataType::ALL {
        table = table.field(format!("f_{data_type}"), *data_type);
    }
    table.build().expect("the schema is sound")
}

fn rows_of(
    table: &TableSchema,
    device: &DeviceId,
    times: impl Iterator<Item = i64>,
    nulls: u64,
    numbers: &mut Numbers,
) -> Vec<Row> {
    let row = |time| {
        let cells = table.fields().map(|column| cell(table.columns()[column].data_type, numbers, nulls)).collect();
        Row { device: device.clone(), time, cells }
    };
    times.map(row).collect()
}

/// Rows of several devices of a table, taken in turns.
fn interleaved(table: &TableSchema, devices: &[DeviceId], row_count: i64, nulls: u64, step: usize) -> Vec<Row> {
    let mut numbers = Numbers(7);
    let mut queues: Vec<_> = devices
        .iter()
        .map(|device| rows_of(table, device, (0..row_count).map(|index| index * 10), nulls, &mut numbers).into_iter())
        .collect();
    let mut rows = Vec::new();
    while queues.iter().any(|queue| queue.len() > 0) {
        for queue in &mut queues {
            rows.extend(queue.take(step));
        }
    }
    rows
}

fn devices(table: &TableSchema, count: usize) -> Vec<DeviceId> {
    (0..count).map(|index| DeviceId::new(table.name(), [Some(format!("d{index:04}").as_str())])).collect()
}

fn small(name: &'static str, tables: Vec<TableSchema>, rows: Vec<Row>) -> Sample {
    Sample { name, options: WriterOptions::default(), tables, rows, batch_rows: 50, flush_rows: 0 }
}

fn options(set: impl FnOnce(tsloom_file::WriterOptionsBuilder) -> tsloom_file::WriterOptionsBuilder) -> WriterOptions {
    set(WriterOptions::builder()).build().expect("the options are sound")
}

/// All samples.
pub(crate) fn samples() -> Vec<Sample> {
    let one_tag = all_types("all", 1);
    let mut samples = vec![
        small("all_types", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 3), 120, 30, 25)),
        small("no_nulls", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 2), 130, 0, 130)),
        small("one_row", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 1), 1, 0, 1)),
        Sample {
            options: options(|builder| builder.page_rows_max(16)),
            ..small("pages", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 3), 200, 60, 7))
        },
        Sample {
            options: options(|builder| builder.page_rows_max(16)),
            flush_rows: 150,
            ..small("groups", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 4), 200, 60, 13))
        },
        Sample {
            options: options(|builder| builder.page_bytes_max(100).memory_bytes_max(120_000)),
            ..small("small_memory", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 5), 150, 40, 10))
        },
        small("mostly_null", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 3), 130, 99, 40)),
        small("all_null", vec![one_tag.clone()], interleaved(&one_tag, &devices(&one_tag, 2), 70, 100, 70)),
    ];
    samples.extend([absent_columns(false), absent_columns(true), null_tags(), no_tags(), tags_only(), three_tables()]);
    samples.push(long_strings());
    samples.extend([many_devices(256), many_devices(4), wide(256), wide(4), unicode(), long_text(), encodings()]);
    samples.extend(pairs());
    samples
}

/// Pairs of type and encoding that libtsfile 2.5 does not read, whoever wrote them: its factories lack them. Java reads them.
pub(crate) const NOT_READ_BY_CPP: &[(DataType, Encoding)] = &[
    (DataType::Boolean, Encoding::Rle),
    (DataType::Float, Encoding::Rle),
    (DataType::Double, Encoding::Rle),
    (DataType::Date, Encoding::ZigZag),
    (DataType::Timestamp, Encoding::ZigZag),
    (DataType::Date, Encoding::Sprintz),
    (DataType::Timestamp, Encoding::Sprintz),
];

/// Every pair of type and encoding that is written, in a file for each compression and shape. Those that C++ does not read are in
/// files of their own, whose names begin with `java_only`.
fn pairs() -> Vec<Sample> {
    use Compression as C;
    let mut samples = Vec::new();
    for compression in [C::Uncompressed, C::Snappy, C::Gzip, C::Lz4, C::Zstd, C::Lzma2] {
        for shape in ["no_nulls", "some_nulls", "null_pages", "one_row", "pages", "chunks"] {
            samples.push(pairs_of(&format!("pairs_{compression}_{shape}"), compression, shape, |pair| {
                !NOT_READ_BY_CPP.contains(&pair)
            }));
        }
        let name = format!("java_only_{compression}");
        samples.push(pairs_of(&name, compression, "null_pages", |pair| NOT_READ_BY_CPP.contains(&pair)));
    }
    samples
}

fn pairs_of(name: &str, compression: Compression, shape: &str, wanted: impl Fn((DataType, Encoding)) -> bool) -> Sample {
    let read_only = |encoding: &Encoding| matches!(encoding, Encoding::GorillaV1 | Encoding::Regular);
    let mut table = TableSchema::builder("pairs").tag("id");
    for data_type in DataType::ALL {
        let encodings = Encoding::ALL.iter().filter(|encoding| data_type.allows(**encoding) && !read_only(encoding));
        for encoding in encodings.filter(|encoding| wanted((*data_type, **encoding))) {
            let mut column = ColumnSchema::field(format!("{data_type}_{encoding}"), *data_type);
            column = column.encoding(*encoding).compression(compression);
            let decimals = if *data_type == DataType::Float { "3" } else { "6" };
            column.set_prop("max_point_number", Some(decimals.to_owned()));
            table = table.column(column);
        }
    }
    let table = table.build().expect("the schema is sound");
    let mut numbers = Numbers(11);
    let row_count = if shape == "one_row" { 1 } else { 90 };
    let mut rows = Vec::new();
    for device in devices(&table, 2) {
        for time in 0..row_count {
            let nulls = match shape {
                "some_nulls" | "chunks" => 30,
                "null_pages" if (16..48).contains(&time) => 100,
                _ => 0,
            };
            let cells = table.fields().map(|column| cell_for(&table.columns()[column], &mut numbers, nulls)).collect();
            rows.push(Row { device: device.clone(), time, cells });
        }
    }
    let page_rows = if matches!(shape, "no_nulls" | "one_row") { 10_000 } else { 16 };
    Sample {
        options: options(|builder| builder.page_rows_max(page_rows).time_compression(compression)),
        flush_rows: if shape == "chunks" { 30 } else { 0 },
        batch_rows: 30,
        ..small(name.to_owned().leak(), vec![table], rows)
    }
}

/// A cell that the encoding of its column holds.
fn cell_for(column: &ColumnSchema, numbers: &mut Numbers, nulls: u64) -> Cell {
    match cell(column.data_type, numbers, nulls) {
        // SPRINTZ has room for small steps only.
        Cell::Int32(value) if column.encoding == Encoding::Sprintz && column.data_type == DataType::Int32 => {
            Cell::Int32(value % 1_000)
        }
        Cell::Int64(value) if column.encoding == Encoding::Sprintz => Cell::Int64(value % 1_000),
        Cell::Float(value) if column.encoding == Encoding::Sprintz => Cell::Float(value.abs() + 1.0),
        Cell::Double(value) if column.encoding == Encoding::Sprintz => Cell::Double(value.abs() + 1.0),
        cell => cell,
    }
}

/// Each device has values in columns that the others lack; with groups, also in some of its groups only.
fn absent_columns(groups: bool) -> Sample {
    let table = TableSchema::builder("absent").tag("id").field("b", DataType::Int32).field("a", DataType::Double);
    let table = table.field("never", DataType::String).build().expect("the schema is sound");
    let mut rows = Vec::new();
    for (device, id) in devices(&table, 4).into_iter().enumerate() {
        for index in 0..60 {
            let (has_b, has_a) = if groups { (index >= 30, index < 40 && device != 1) } else { (device % 2 == 0, device < 2) };
            let b = if has_b { Cell::Int32(index) } else { Cell::Null };
            let a = if has_a { Cell::Double(f64::from(index) / 4.0) } else { Cell::Null };
            rows.push(Row { device: id.clone(), time: i64::from(index), cells: vec![b, a, Cell::Null] });
        }
    }
    let name = if groups { "absent_in_groups" } else { "absent" };
    Sample { batch_rows: 10, flush_rows: if groups { 20 } else { 0 }, ..small(name, vec![table], rows) }
}

fn null_tags() -> Sample {
    let table = all_types("nulls", 3);
    let tags = [
        [None, None, None],
        [Some("a"), None, None],
        [Some("a"), None, Some("b")],
        [Some("a"), Some("b"), None],
        [None, None, Some("b")],
        [Some("null"), Some(""), Some("x.y")],
    ];
    let ids: Vec<DeviceId> = tags.map(|tags| DeviceId::new("nulls", tags)).into();
    let rows = interleaved(&table, &ids, 12, 20, 5);
    small("null_tags", vec![table], rows)
}

fn no_tags() -> Sample {
    let table = all_types("plain", 0);
    let rows = interleaved(&table, &[DeviceId::new("plain", [])], 90, 10, 90);
    small("no_tags", vec![table], rows)
}

fn tags_only() -> Sample {
    let table = TableSchema::builder("ids").tag("a").build().expect("the schema is sound");
    let rows = interleaved(&table, &devices(&table, 2), 5, 0, 2);
    small("tags_only", vec![table], rows)
}

fn three_tables() -> Sample {
    let tables = ["zulu", "alpha", "mike", "empty"].map(|name| all_types(name, 1));
    let mut rows = Vec::new();
    for table in &tables[..3] {
        rows.extend(interleaved(table, &devices(table, 2), 30, 25, 30));
    }
    small("three_tables", tables.into(), rows)
}

fn many_devices(degree: usize) -> Sample {
    let table = TableSchema::builder("many").tag("id").field("v", DataType::Int64).field("w", DataType::Float);
    let table = table.build().expect("the schema is sound");
    let rows = interleaved(&table, &devices(&table, 700), 4, 10, 4);
    let name = if degree == 256 { "devices_700" } else { "devices_700_degree_4" };
    Sample { options: options(|builder| builder.index_degree(degree)), ..small(name, vec![table], rows) }
}

fn wide(degree: usize) -> Sample {
    let mut table = TableSchema::builder("wide").tag("id");
    for column in 0..400 {
        table = table.field(format!("c{column}"), DataType::ALL[column % DataType::ALL.len()]);
    }
    let table = table.build().expect("the schema is sound");
    let rows = interleaved(&table, &devices(&table, 3), 10, 30, 10);
    let name = if degree == 256 { "wide_400" } else { "wide_400_degree_4" };
    Sample { options: options(|builder| builder.index_degree(degree)), ..small(name, vec![table], rows) }
}

fn unicode() -> Sample {
    let table = TableSchema::builder("测温表_é").tag("größe").field("温度", DataType::Double).field("emoji😀", DataType::String);
    let table = table.build().expect("the schema is sound");
    let ids: Vec<_> = ["設備-1", "naïve\n\t", "😀", "d.2 `x`"].map(|tag| DeviceId::new(table.name(), [Some(tag)])).into();
    let rows = interleaved(&table, &ids, 20, 20, 6);
    small("unicode", vec![table], rows)
}

/// Texts that end pages by their bytes.
fn long_text() -> Sample {
    let table = TableSchema::builder("long").tag("id").field("s", DataType::String).field("b", DataType::Blob);
    let table = table.build().expect("the schema is sound");
    let mut numbers = Numbers(3);
    let mut rows = Vec::new();
    for time in 0..60 {
        let text = |numbers: &mut Numbers| match numbers.below(4) {
            0 => Cell::Null,
            _ => Cell::Text(vec![b'x'; numbers.below(3000) as usize]),
        };
        let cells = vec![text(&mut numbers), text(&mut numbers)];
        rows.push(Row { device: DeviceId::new("long", [Some("d")]), time, cells });
    }
    Sample { options: options(|builder| builder.page_bytes_max(8_000)), ..small("long_text", vec![table], rows) }
}

/// Now and then a text too long for the statistics of a page header.
fn long_strings() -> Sample {
    let table = TableSchema::builder("wide").tag("id").field("s", DataType::String).field("i", DataType::Int32);
    let table = table.field("t", DataType::Text).build().expect("the schema is sound");
    let mut rows = Vec::new();
    for time in 0..90 {
        let text = |size: usize| Cell::Text(vec![b'a' + (time % 26) as u8; size]);
        let s = if time % 23 == 0 {
            text(5_000)
        } else if time % 3 == 0 {
            Cell::Null
        } else {
            text(9)
        };
        let t = if time == 89 { text(4_000) } else { Cell::Null };
        rows.push(Row { device: DeviceId::new("wide", [Some("d")]), time, cells: vec![s, Cell::Int32(time as i32), t] });
    }
    Sample { options: options(|builder| builder.page_rows_max(10)), ..small("long_strings", vec![table], rows) }
}

/// Encodings and compressions that are not the defaults.
fn encodings() -> Sample {
    let field = |name: &str, data_type, encoding, compression| {
        ColumnSchema::field(name, data_type).encoding(encoding).compression(compression)
    };
    let mut scaled = field("scaled", DataType::Double, Encoding::Ts2Diff, Compression::Snappy);
    scaled.props.push(("max_point_number".to_owned(), Some("6".to_owned())));
    let table = TableSchema::builder("enc")
        .tag("id")
        .column(field("plain32", DataType::Int32, Encoding::Plain, Compression::Uncompressed))
        .column(field("plain64", DataType::Int64, Encoding::Plain, Compression::Snappy))
        .column(field("gorilla32", DataType::Int32, Encoding::Gorilla, Compression::Lz4))
        .column(field("gorilla64", DataType::Timestamp, Encoding::Gorilla, Compression::Uncompressed))
        .column(field("plain_f", DataType::Float, Encoding::Plain, Compression::Lz4))
        .column(scaled)
        .build()
        .expect("the schema is sound");
    let rows = interleaved(&table, &devices(&table, 2), 150, 20, 50);
    Sample { options: options(|builder| builder.time_compression(Compression::Snappy)), ..small("encodings", vec![table], rows) }
}
